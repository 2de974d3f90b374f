"""A postmortem as data: summary, timeline, what changed, what was in force, the answers, and how good the evidence is.

``assemble`` decides what a postmortem says; ``markdown.py`` and ``html.py`` only decide how it looks.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import runbooks, signalled
from .analyses import registry
from .answers import answers
from .bundle import Bundle, Change
from .case import Answer, Case, Spread, counted, listed, open_case
from .changes import FileTotal, diff_lines
from .shapes import Mark, Run, Step
from .story import headline
from .telling import worth_telling
from .values import one_line, plain, visible
from .wording import ending, run_verdict, total_usage, usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tachograph.core.signals import Signals

    from .analyses.contract import Finding
    from .narrative import Narrative
    from .ports import Recording
    from .runbooks import Runbook


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A line of the timeline. ``kind``: ``input``, ``model``, ``tool``, ``process``, ``http``, that of a mark, or ``signal``: such a one has the
    number of the ``signal`` in the report, and is on no line of the log."""

    at_ms: int
    kind: str
    what: str
    seq: int | None
    step: int | None = None
    lane: str | None = None
    bad: bool = False
    duration_ms: float | None = None
    signal: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The moment as JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Plain facts. ``asked``: the first input; ``answered``: the last words; ``did``: one clause per fact; ``ended``:
    how."""

    asked: str | None
    answered: str | None
    did: tuple[str, ...]
    ended: str

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON."""
        return {"asked": self.asked, "did": list(self.did), "answered": self.answered, "ended": self.ended}


@dataclass(frozen=True, kw_only=True)
class Report:
    """A postmortem. ``findings``: the causes, the likeliest root cause first; ``failed``: analyses that could not be made; ``narrative``: what a model
    wrote about them, where somebody asked for it; ``compared``: which session was taken as the last good one and why, or why none was, in words."""

    case: Case
    summary: Summary
    timeline: tuple[Moment, ...]
    files: tuple[FileTotal, ...]
    answers: tuple[Answer, ...]
    changes: tuple[Change, ...]
    redactions: dict[str, int]
    findings: tuple[Finding, ...] = ()
    failed: tuple[dict[str, Any], ...] = ()
    narrative: Narrative | None = None
    compared: tuple[str, ...] = ()
    actions: tuple[str, ...] = field(default=())

    @property
    def bundle(self) -> Bundle:
        """What was in force."""
        return self.case.bundle

    def to_json(self) -> dict[str, Any]:
        """The whole report as one JSON document (DESIGN §9)."""
        story, verification = self.case.story, self.case.verification
        gaps = [{"seq": mark.seq, "event_id": mark.event_id, "what": mark.title, **mark.detail} for _, mark in story.marks("gap")]
        seal = None
        if verification is not None:
            seal = {name: verification[name] for name in ("verdict", "sealed", "unsealed") if name in verification}
        found = {
            "session_id": story.session_id,
            "summary": self.summary.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "narrative": self.narrative.to_json() if self.narrative is not None else None,
            "answers": {str(answer.number): answer.to_json() for answer in self.answers},
            "bundle": self.bundle.to_json(),
            "baseline": None
            if self.case.baseline is None
            else {"session_id": self.case.baseline.session_id, "changes": [change.to_json() for change in self.changes]},
            "files": [_file_json(total) for total in self.files],
            "timeline": [moment.to_json() for moment in self.timeline],
            **signalled.to_json(self.case.signals),
            "evidence": {
                "verification": self.case.verification,
                "replay": self.case.replay,
                "redactions": {"total": story.redactions, "by_kind": self.redactions, **story.redacted.to_json()},
                "gaps": gaps,
                "cut": story.cut,
                "unreadable": [{"seq": seq, "field": name, "why": why} for seq, name, why in story.unreadable],
                "seal": seal,
                "analyses_failed": list(self.failed),
            },
            "actions": list(self.actions),
        }
        return dict(plain(found))


def _file_json(total: FileTotal) -> dict[str, Any]:
    return {
        "path": total.path,
        "action": total.action,
        "added": total.added,
        "removed": total.removed,
        "binary": total.binary,
        "restorable": total.restorable,
        "diff": "\n".join(diff_lines(total.before, total.after)),
        "seqs": [change.seq for change in total.changes],
    }


def assemble(
    recording: Recording,
    *,
    verification: Mapping[str, Any] | None = None,
    replay: Mapping[str, Any] | None = None,
    good: Recording | None = None,
    forks: Iterable[Recording] = (),
    links: Iterable[str] = (),
    spread: Spread | None = None,
    signals: Signals | None = None,
    books: tuple[Runbook, ...] = (),
    compared: Iterable[str] = (),
) -> Report:
    """The postmortem of a recording. ``verification`` and ``replay`` are the reports of those verbs (DESIGN §9),
    ``good`` the last good session, ``forks`` those that were forked from this one, ``links`` what the team attached to it, as ``kind=ref``; each
    may be missing, and the report then says so. ``signals``: redacted, what other systems said around that time;
    ``books``: the team's runbooks; ``compared``: why ``good`` was taken, or none was."""
    case = open_case(
        recording, verification=verification, replay=replay, good=good, forks=forks, links=links, spread=spread, signals=signals
    )
    findings, failed = registry.look(case)
    findings = runbooks.attach(findings, books, case)
    found = answers(case, findings)
    return Report(
        case=case,
        summary=_summary(case),
        timeline=tuple(_timeline(case)),
        files=tuple(total for total in case.files if total.action != "none"),
        answers=found,
        changes=case.changes,
        redactions=_redactions(case),
        findings=findings,
        failed=failed,
        compared=tuple(compared),
        actions=tuple(_actions(case, findings, found)),
    )


# -- summary -----------------------------------------------------------------------------------------------------------------


def _summary(case: Case) -> Summary:
    story = case.story
    words = (" ".join(part.text for part in step.reply if part.type == "text").strip() for step in reversed(story.steps))
    return Summary(
        asked=next((turn.opening for turn in story.turns if turn.opening.strip()), None),
        answered=next((text for text in words if text), None),
        did=tuple(_did(case)),
        ended=ending(story),
    )


def _did(case: Case) -> Iterator[str]:
    story = case.story
    steps = story.steps
    tokens = usage(total_usage(steps))
    retries = sum(len(step.attempts) for step in steps)
    again = f", {counted(retries, 'failed attempt')} before them" if retries else ""
    turns = f" in {counted(len(story.turns), 'turn')}" if len(story.turns) > 1 else ""
    yield f"{counted(len(steps), 'model call')}{turns}{again}{f', {tokens}' if tokens else ''}"
    for kind, word in (("tool", "tool call"), ("process", "command"), ("http", "HTTP request")):
        runs = [run for _, run in story.runs() if run.kind == kind]
        failed = sum(run.bad and run.outcome != "asked" for run in runs)
        if runs:
            names = f" ({_names(runs)})" if kind == "tool" else ""
            yield f"{counted(len(runs), word)}{names}{f', {failed} failed' if failed else ''}"
    files = [total for total in case.files if total.action != "none"]
    if files:
        lines = f"+{sum(total.added for total in files)} −{sum(total.removed for total in files)}"
        yield f"{counted(len(files), 'file')} changed ({lines}): {listed((visible(total.path) for total in files), 5)}"
    if case.git:
        yield listed((visible(action.words) for action in case.git), 3)
    outside = [run for _, run in case.effects()]
    if outside:
        yield f"{counted(len(outside), 'effect')} beyond reading: {listed((visible(one_line(run.title, 60)) for run in outside), 4)}"
    fired = Counter(mark.title for _, mark in story.marks("guardrail") if mark.bad)
    if fired:
        verdicts = listed((f"{visible(title)}{f' ×{count}' if count > 1 else ''}" for title, count in fired.most_common()), 3)
        yield f"{counted(fired.total(), 'guardrail verdict')} other than “passed”: {verdicts}"


def _names(runs: list[Run]) -> str:
    return listed((f"{visible(one_line(name, 40))} ×{count}" for name, count in Counter(run.name for run in runs).most_common()), 6)


# -- timeline ----------------------------------------------------------------------------------------------------------------


def _timeline(case: Case) -> Iterator[Moment]:
    story = case.story
    moments = [_moment(step, item) for step, item in story.walk() if worth_telling(item)]
    for turn in story.turns:
        first = turn.items[0]
        begins = first.start_ms if isinstance(first, Step | Run) else first.at_ms
        if turn.opening and not (isinstance(first, Mark) and first.kind == "message"):
            moments.append(Moment(at_ms=begins, kind="input", what=one_line(turn.opening, 160), seq=first.seq))
    moments += [
        Moment(at_ms=one.at_ms, kind="signal", what=one.what, seq=None, bad=one.bad, signal=one.number) for one in signalled.moments(case)
    ]
    rank = {"input": 0}
    return iter(sorted(moments, key=lambda one: (one.at_ms, one.seq or 0, rank.get(one.kind, 1))))


def _moment(step: Step | None, item: Step | Run | Mark) -> Moment:
    number = step.number if step is not None else None
    if isinstance(item, Step):
        return Moment(
            at_ms=item.start_ms,
            kind="model",
            what=headline(item, 160),
            seq=item.seq,
            step=number,
            lane=item.lane,
            bad=item.bad,
            duration_ms=item.call.duration_ms,
        )
    if isinstance(item, Run):
        return Moment(
            at_ms=item.start_ms,
            kind=item.kind,
            what=f"{one_line(item.title, 140)} – {run_verdict(item)}",
            seq=item.seq,
            step=number,
            lane=item.lane,
            bad=item.bad,
            duration_ms=item.duration_ms,
        )
    said = f"{item.title}: {one_line(item.body.text(), 120)}" if item.kind in ("message", "printed") else item.title
    return Moment(at_ms=item.at_ms, kind=item.kind, what=said, seq=item.seq, step=number, lane=item.lane, bad=item.bad)


def chips(report: Report) -> list[tuple[str, str]]:
    """The verdicts at a glance: words and how they look (``good``, ``bad``, ``warn``, ``soft``)."""
    story = report.case.story
    found: list[tuple[str, str]] = []
    verdict = report.case.verification.get("verdict") if report.case.verification is not None else None
    looks = {"verified": "good", "unsealed": "warn", "torn": "warn"}
    found.append((str(verdict), looks.get(str(verdict), "bad")) if verdict is not None else ("not verified", "soft"))
    replayed = report.case.replay.get("verdict") if report.case.replay is not None else None
    found.append((f"replay {replayed}", "good" if replayed == "identical" else "bad") if replayed else ("not replayed", "soft"))
    if story.end is None:
        found.append(("cut: the log has no end", "bad"))
    elif story.end.status == "ok":
        found.append(("ended by itself", "good"))
    else:
        found.append((report.summary.ended.removeprefix("it "), "soft" if story.end.status == "imported" else "bad"))
    gaps = sum(1 for _ in story.marks("gap"))
    if gaps:
        found.append((counted(gaps, "gap"), "bad"))
    if story.unreadable:
        found.append((f"{counted(len(story.unreadable), 'content')} unreadable", "warn"))
    if report.case.imported:
        found.append(("imported", "soft"))
    found.append((counted(story.redactions, "redaction"), "soft"))
    return found


# -- evidence and actions ----------------------------------------------------------------------------------------------------


def _redactions(case: Case) -> dict[str, int]:
    """How many distinct secrets of each kind were taken out, counted by their fingerprints over all readable contents."""
    return {one.kind: len(one.fingerprints) for one in sorted(case.story.redacted.kinds, key=lambda one: one.kind) if one.fingerprints}


def _actions(case: Case, findings: tuple[Finding, ...], found: tuple[Answer, ...]) -> Iterator[str]:
    """What is known to be left to do: what keeps it from coming back, the product's own remedies for what the report could not say, then the team's
    part."""
    name = visible(case.story.session_id)
    for cause in list(dict.fromkeys(finding.cause for finding in findings)):
        yield f"{REMEDIES[cause]}; owner: —"
    if findings:
        incident = next((link.split("=", 1)[1] for link in case.links if link.startswith("incident=")), "incident")
        folder = re.sub(r"[^a-z0-9]+", "-", incident.lower()).strip("-") or "incident"
        yield f"Keep it from coming back: tacho fixture {name} -o tests/incidents/{folder}, which replays it offline in CI; owner: —"
    verdict = str(case.verification.get("verdict")) if case.verification is not None else None
    if verdict is None:
        yield f"Verify the recording: tacho verify {name}"
    elif verdict != "verified":
        yield f"Look into the verifier's verdict “{visible(verdict)}” before relying on this report (question 20)"
    if case.replay is None:
        yield f"Replay the session: tacho replay {name}"
    elif case.replay.get("verdict") != "identical":
        yield f"Explain the replay's verdict “{visible(str(case.replay.get('verdict')))}” (question 14)"
    if case.good is None:
        yield f"Compare with the last good session: tacho postmortem {name} --baseline SES"
    asked = [run for _, run in case.story.runs() if run.outcome in ("asked", "cut")]
    if asked:
        yield f"Find out what became of {counted(len(asked), 'call')} without a recorded end (question 7)"
    if not case.links:
        yield f"Name the PR, the deploy and the incident beside this session: tacho link {name} pr=… deploy=… incident=…"
    if not findings and any(answer.number == 21 and answer.not_recorded for answer in found):
        yield f"Keep it as a test: tacho fixture {name} -o tests/incidents/NAME; owner: —"
    yield "Name the cause, the owner and the date of each remedy; owner: —"


#: What a class of causes asks for, whatever the case. The team's runbooks say more (``runbooks.toml``).
REMEDIES = {
    "input": "Check inputs before the agent acts on them: required fields, their form, and what a user may not ask for",
    "context": "Treat what tools and documents say as data: mark it as such, strip or flag instructions in it, and pin standing instructions so that no "
    "compaction loses them",
    "prompt": "Review the prompt's change as code is reviewed, and run the recorded sessions against it before it ships",
    "model": "Pin the model's version, alarm when another one serves, and have values that it names checked against the record before they are used",
    "parameters": "Pin the parameters, and treat an answer that ended at its limit as a failed one",
    "tool": "Make the tool say how old its answer is and when it failed, and refuse arguments that do not belong together",
    "policy": "Enforce the guardrail outside the agent, so that nothing runs past a verdict, and alarm on calls without one",
    "approval": "Let the tool itself refuse to run without an approval of exactly these arguments",
    "harness": "Mend the agent's code, and keep this session as its regression test",
    "nondeterminism": "Do not let one draw decide: ask again (tacho reask), lower the temperature, or have a rule decide",
    "claim": "Check what the agent says it did against what its tools recorded, before a person relies on it",
    "secret": "Rotate what was shown, and keep it out of prompts and tool results at their source",
}
