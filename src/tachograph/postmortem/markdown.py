"""A postmortem as Markdown that a team can paste into its tracker and go on writing.

It has the sections of the usual templates (summary, impact, timeline, causes, evidence, action items), is short where
the HTML page is long, and cites lines of the log as ``#seq`` in code spans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tachograph.core.signals import iso

from . import signalled
from .bundle import relevant
from .case import counted, listed, sentence
from .changes import diff_lines
from .markdown_text import cited, code, fence, table, words
from .report import Report, chips
from .shapes import Mark, Run, Step
from .story import headline
from .telling import Known, blocks, warnings
from .values import arguments, clip, one_line
from .when import duration, offset
from .wording import brief, change_lines, change_words, confidence_words, model_name, model_words, run_verdict, usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Longer things are cut, and the cut says so: a tracker is for reading, the record is for the rest.
MOST_MOMENTS = 60
MOST_STEPS = 40
MOST_DIFF_LINES = 60
MOST_SIGNALS = 100


def render(report: Report) -> str:
    """The document."""
    parts = [part for section in _SECTIONS for part in section(report)]
    return "\n\n".join(parts) + "\n"


def _head(report: Report) -> Iterator[str]:
    story = report.case.story
    start = story.start
    name = (start.name or start.agent if start is not None else None) or story.session_id
    yield f"# Postmortem: {words(name, 120)}"
    yield f"Session {code(story.session_id)}, {words(story.started_at or 'at an unknown time')}, {duration(story.duration_ms)}. " + (
        " · ".join(words(chip) for chip, _ in chips(report))
    )


def _summary(report: Report) -> Iterator[str]:
    yield "## Summary"
    if report.summary.asked:
        yield f"Asked: {words(report.summary.asked, 600)}"
    yield "\n".join(f"- {words(one, 500)}" for one in (*report.summary.did, report.summary.ended))
    if report.summary.answered:
        yield f"Its last words: {words(report.summary.answered, 600)}"


def _impact(report: Report) -> Iterator[str]:
    yield "## Impact"
    effects = [run for _, run in report.case.effects()]
    lines = [f"- {words(action.words)} `#{action.seq}`" for action in report.case.git]
    lines += [f"- {code(run.title)} {run_verdict(run)} `#{run.seq}`" for run in effects[:20]]
    lines += [f"- {len(effects) - 20} more effects"] if len(effects) > 20 else []
    if lines:
        yield "\n".join(lines)
    answer = next(one for one in report.answers if one.number == 8)
    if not report.files and not lines and answer.answer:
        yield cited(answer.answer)
    if answer.not_recorded:
        yield f"Not recorded: {cited(answer.not_recorded)}"
    for total in report.files:
        size = "binary" if total.binary else f"+{total.added} −{total.removed}"
        seqs = " ".join(f"`#{seq}`" for seq in dict.fromkeys(change.seq for change in total.changes))
        yield f"{code(total.path)} {total.action}, {size} {seqs}"
        shown, more = clip("\n".join(diff_lines(total.before, total.after)), MOST_DIFF_LINES)
        if shown:
            yield fence("\n".join(shown), "diff")
        if more:
            yield f"… {more:,} more lines of this difference are in the record."


def _timeline(report: Report) -> Iterator[str]:
    yield "## Timeline"
    rows = [
        (
            offset(one.at_ms),
            words(one.kind),
            ("**failed** " if one.bad else "") + words(one.what, 160),
            duration(one.duration_ms) if one.duration_ms is not None else "",
            f"`#{one.seq}`" if one.signal is None else f"`#s{one.signal}`",
        )
        for one in report.timeline[:MOST_MOMENTS]
    ]
    yield table(("when", "kind", "what", "took", "line"), rows)
    if len(report.timeline) > MOST_MOMENTS:
        yield f"… {len(report.timeline) - MOST_MOMENTS:,} more lines; the HTML report has them all."


def _signals(report: Report) -> Iterator[str]:
    """What other systems said: a row for each that is on the timeline, so that ``#s3`` leads somewhere, and what could not be had."""
    signals = report.case.signals
    if signals is None:
        return
    yield "## Signals"
    rows = [
        (f"`#s{one.number}`", words(iso(one.signal.at)), words(one.what, 300), words(one.signal.url or "", 300))
        for one in list(signalled.told(report.case))[:MOST_SIGNALS]
    ]
    yield table(("signal", "when", "what", "where"), rows) if rows else "None in the time that was asked for."
    if len(rows) == MOST_SIGNALS:
        yield "… The JSON report has all of them."
    lines = [f"- not had: {words(one.source)}: {words(one.why, 300)}" for one in signals.missing]
    span = f"{words(iso(signals.window.start))} to {words(iso(signals.window.end))}"
    yield "\n".join([f"- asked for {span}; no signal is sealed" if signals.asked else f"- deploys of the ledger, {span}", *lines])


def _steps(report: Report) -> Iterator[str]:
    story = report.case.story
    yield "## What the agent saw and did"
    known = Known.of(story)
    for turn in story.turns:
        if len(story.turns) > 1:
            says = f": {words(turn.opening, 160)}" if turn.opening else ""
            yield f"### Turn {turn.number}{says}"
        for item in turn.items:
            if isinstance(item, Step) and item.number <= MOST_STEPS:
                yield "\n".join(_step(item, known))
            elif isinstance(item, Mark) and item.kind in ("message", "gap"):
                said = f": {words(item.body.text(), 200)}" if item.body.there else ""
                yield f"{words(item.title)}{said} `#{item.seq}`"
    if len(story.steps) > MOST_STEPS:
        yield f"… {len(story.steps) - MOST_STEPS} more steps; the HTML report has them all."


def _step(step: Step, known: Known) -> Iterator[str]:
    tokens = usage(step.call.usage, step.call.provider)
    took = duration(step.call.duration_ms) if step.call.duration_ms is not None else ""
    facts = ", ".join(filter(None, (model_name(step), took, tokens)))
    yield f"**Step {step.number}**, {words(facts)} `#{step.seq}`"
    yield ""
    for attempt in step.attempts:
        yield f"- an attempt failed: {words(attempt.outcome)} {attempt.status or ''} `#{attempt.seq}`"
    for warning in warnings(step):
        yield f"- **{words(warning)}**"
    said = [block for block in blocks(step, known) if block.kind in ("user", "other", "reply", "missing")]
    for block in said:
        yield f"- {words(block.label)}: {words(block.text, 240)}"
    for one in step.repeated:
        yield f"- {words(one.words())}"
    if step.bad:
        yield f"- **{words(headline(step, 240))}**"
    for item in step.items:
        if isinstance(item, Run):
            verdict = words(run_verdict(item))
            yield f"- {code(item.title, 140)} → {f'**{verdict}**' if item.bad else verdict} `#{item.seq}`"
        elif item.kind in ("guardrail", "approval", "git", "gap", "workspace"):
            yield f"- {words(item.title)} `#{item.seq}`"


def _in_force(report: Report) -> Iterator[str]:
    yield "## What was in force"
    bundle = report.bundle
    repository = " ".join(str(bundle.repository[key]) for key in ("url", "sha", "branch") if bundle.repository.get(key))
    dirty = " with uncommitted changes" if bundle.repository.get("dirty") else ""
    main = [f"{name} {version}" for name, version in bundle.packages.items() if relevant(name)]
    rows = [
        ("Agent", words(bundle.agent or "")),
        ("Command", code(bundle.argv or "")),
        ("Code", code(repository) + dirty),
        *(("Prompt", f"{code(fact.key)} {words(brief(fact.value))} {_seqs(fact.seqs)}") for fact in bundle.prompts),
        *(("Model", f"{words(model_words(fact.value))} {_seqs(fact.seqs)}") for fact in bundle.models),
        *(
            ("Parameters", f"{code(arguments(fact.value['set'], 300))} {_left(fact.value)} {_seqs(fact.seqs)}")
            for fact in bundle.parameters
        ),
        *(("Guardrail", f"{code(fact.key)} {words(brief(fact.value))} {_seqs(fact.seqs)}") for fact in bundle.guardrails),
        ("Tools", ", ".join(code(f"{fact.key} {fact.value['hash'][7:15]}") for fact in bundle.tools[:40])),
        ("Python", words(", ".join(filter(None, (bundle.python, listed(main, 12)))))),
        ("Redaction policy", code(bundle.policy or "")),
        ("Recorder", words(bundle.recorder or "")),
    ]
    yield table(("what", "value"), [(name, value.strip() or "not in the record") for name, value in rows])
    if report.case.baseline is not None:
        yield f"### What changed since {code(report.case.baseline.session_id)}"
    elif report.compared:
        yield "### What changed since the last good session"
    yield from (f"{words(sentence(line), 1000)}." for line in report.compared)
    if report.case.baseline is not None and not report.changes:
        yield "Nothing that was in force differs."
    for one in report.changes:
        yield f"- {words(change_words(one), 1200)}"
        shown, more = clip("\n".join(change_lines(one)), MOST_DIFF_LINES)
        if shown:
            yield fence("\n".join(shown), "diff")
        if more:
            yield f"… {more:,} more lines of this difference are in the JSON report."


def _left(value: Mapping[str, list[str]]) -> str:
    return f"left to defaults: {', '.join(value['defaults'])}" if value["defaults"] else ""


def _seqs(seqs: tuple[int, ...]) -> str:
    return " ".join(f"`#{seq}`" for seq in seqs[:3])


def _findings(report: Report) -> Iterator[str]:
    yield "## Findings"
    if not report.findings:
        yield "No analysis found a cause that this record shows."
    for number, one in enumerate(report.findings, 1):
        head = f"{number}. **{one.cause}**: {words(one.statement, 600)} `#{one.first_seq}` ({confidence_words(one.confidence)}, {one.confidence:.2f}; {code(one.analysis)})"
        lines = [f"   - {words(each.what, 200)} `#{each.seq}`" for each in one.evidence if each.signal is None]
        if one.runbook:
            title, url = words(str(one.runbook.get("title") or ""), 200), one.runbook.get("url")
            lines.append(f"   - Runbook: [{title}](<{url}>)" if url else f"   - Runbook: {title}")
            lines += [f"     - [ ] {words(str(step), 300)}" for step in one.runbook.get("steps") or ()]
        yield "\n".join([head, *lines])
    if report.failed:
        yield f"Analyses that could not be made: {', '.join(code(str(one.get('analysis'))) for one in report.failed)}."


def _narrative(report: Report) -> Iterator[str]:
    if report.narrative is None:
        return
    yield "## Narrative"
    yield f"*Written by {words(report.narrative.model)}, not by the analyses. Each sentence was held against the lines that it cites; struck out is what they do not bear out.*"
    yield "\n".join(
        f"- {words(one.text, 1000)} {_seqs(one.cites)}" if one.why is None else f"- ~~{words(one.text, 1000)}~~ ({words(one.why, 400)})"
        for one in report.narrative.sentences
    )


def _questions(report: Report) -> Iterator[str]:
    yield "## Questions"
    for answer in report.answers:
        yield f"### {answer.number}. {answer.question}"
        if answer.answer is not None:
            yield cited(answer.answer)
        if answer.not_recorded is not None:
            yield f"*Not recorded:* {cited(answer.not_recorded)}"


def _evidence(report: Report) -> Iterator[str]:
    story, verification, replay = report.case.story, report.case.verification, report.case.replay
    yield "## Evidence"
    lines = []
    if verification is None:
        lines.append("not verified for this report (`tacho verify`)")
    else:
        lines.append(
            f"verification: **{words(str(verification.get('verdict')))}**, {verification.get('sealed', '?')} of "
            f"{verification.get('events', '?')} events sealed"
        )
        lines += [f"problem: {words(brief(one), 300)}" for one in verification.get("problems") or ()]
    lines.append("not replayed for this report (`tacho replay`)" if replay is None else f"replay: **{words(str(replay.get('verdict')))}**")
    kinds = ", ".join(f"{kind} ×{count}" for kind, count in report.redactions.items())
    lines.append(f"{counted(story.redactions, 'redaction')}" + (f"; different secrets by kind: {words(kinds)}" if kinds else ""))
    if story.redacted.kinds:
        lines.append(words(story.redacted.who_saw))
    lines += [f"{words(mark.title)} `#{mark.seq}`" for _, mark in story.marks("gap")] or ["no gap is declared"]
    if story.unreadable:
        lines.append(f"{counted(len(story.unreadable), 'content')} cannot be read: {words(story.unreadable[0][2])}")
    lines.append(words(one_line(report.summary.ended)))
    yield "\n".join(f"- {line}" for line in lines)
    if story.redacted.kinds:
        rows = [
            (code(one.kind), f"{one.count:,}", str(len(one.fingerprints) or "?"), f"{len(one.events):,}", f"`#{one.first}`")
            for one in story.redacted.kinds
        ]
        yield table(("redacted", "masked", "secrets", "events", "first"), rows)


def _actions(report: Report) -> Iterator[str]:
    yield "## Action items"
    yield "\n".join(f"- [ ] {words(action, 300)}" for action in report.actions)


_SECTIONS = (_head, _summary, _findings, _narrative, _impact, _timeline, _signals, _steps, _in_force, _questions, _evidence, _actions)
