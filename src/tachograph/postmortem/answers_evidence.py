"""Questions 14 to 21: how sure it is, what changed, how it came through, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tachograph.core.events import SessionStart

from . import answers_signals
from .case import Saying, counted, listed, sentence
from .values import one_line, quoted, textual, visible
from .wording import change_words, ending

if TYPE_CHECKING:
    from .ports import Recording


def deterministic(saying: Saying) -> None:
    """14. The replay's verdict, and what a replay would have to guess."""
    case = saying.case
    replay = case.replay
    if replay is None:
        saying.lack("A replay: none was run for this report; tacho replay gives the verdict.")
    else:
        _replayed(saying, replay)
    sampled = [fact for fact in case.bundle.parameters if fact.value["set"].get("temperature") != 0]
    if sampled:
        what = "left to the default or other than 0"
        cited = saying.cite([seq for fact in sampled for seq in fact.seqs], "a temperature that is not 0")
        saying.say(
            f"The model itself need not decide the same again: the temperature was {what} in "
            f"{counted(sum(f.count for f in sampled), 'call')}{cited}."
        )
    elif case.bundle.parameters:
        saying.say("The temperature was 0 in all calls whose parameters are known, which makes the same answer likely, not certain.")
    reads = ", ".join(f"{visible(kind)} ×{count}" for kind, count in case.story.ambient.items())
    if reads:
        saying.say(f"Surroundings that were read and recorded: {reads}.")
    gaps = [mark.seq for _, mark in case.story.marks("gap")]
    if gaps:
        saying.lack(f"What happened in {counted(len(gaps), 'gap')}{saying.cite(gaps, 'a gap')}; it cannot be replayed.")


def _replayed(saying: Saying, replay: Mapping[str, Any]) -> None:
    verdict = str(replay.get("verdict", "unknown"))
    calls = replay.get("calls")
    matched = replay.get("matched")
    how_many = f", {matched} calls matched" if isinstance(matched, int) else ""
    saying.say(f"The replay was {visible(verdict)}{how_many} (tape {visible(str(replay.get('tape', 'of unknown standing')))}).")
    if isinstance(calls, dict) and any(calls.values()):
        saying.say(f"It asked for {listed(f'{count} {visible(str(kind))} calls' for kind, count in calls.items() if count)}.")
    divergence = replay.get("divergence")
    if isinstance(divergence, dict):
        seq = next((entry.seq for entry in saying.case.recording.entries if entry.event.id == divergence.get("event_id")), None)
        where = f" at step {divergence['step']}" if divergence.get("step") is not None else ""
        cited = saying.cite(seq, "where the replay diverged")
        place = f" at {quoted(str(divergence['path']))}" if divergence.get("path") else ""
        expected, actual = (quoted(one_line(textual(divergence.get(name)), 120)) for name in ("expected", "actual"))
        saying.say(f"It first differed{where}{place}: expected {expected}, got {actual}{cited}.")
    unused = replay.get("unused")
    if isinstance(unused, list) and unused:
        saying.say(f"{counted(len(unused), 'recorded call')} were not asked for again.")
    blocked = replay.get("blocked")
    if isinstance(blocked, list) and blocked:
        saying.say(f"The guard refused {counted(len(blocked), 'attempt')} to reach outside.")


def cause(saying: Saying) -> None:
    """15. What the analyses say; only an experiment that changes one thing proves it."""
    case = saying.case
    name = visible(case.story.session_id)
    for finding in saying.findings[:5]:
        cited = saying.cite([finding.first_seq, *(one.seq for one in finding.evidence[:3])], f"evidence of {finding.analysis}")
        saying.say(f"{sentence(finding.cause)} ({finding.analysis}, confidence {finding.confidence:.2f}): {finding.statement}{cited}")
    if not saying.findings:
        saying.say("No analysis found a cause whose consequence the record shows.")
    if case.baseline is not None:
        kinds = list(dict.fromkeys(change.what for change in case.changes))
        if kinds:
            saying.say(f"What differs from the baseline, and so can be the cause: {', '.join(kinds)}.")
        else:
            saying.say("Nothing that was in force differs from the baseline: the inputs or the model's own choice remain.")
    tried = [start.forked_from for fork in case.forks if (start := _start(fork)) is not None]
    for by, words in (("reask", "asked again"), ("vary", "varied"), ("fork", "forked")):
        steps = [str(origin.get("step")) for origin in tried if origin.get("by") == by]
        if steps:
            at = listed(sorted(set(steps), key=lambda step: (len(step), step)))
            saying.say(f"It was {words} {counted(len(steps), 'time')}, at step {visible(at)}; tacho diff FORK shows where each departs.")
    if not tried:
        saying.lack(
            "An experiment that changes one thing and shows whether the outcome changes: "
            f"tacho fork {name} --at STEP --set …, or tacho reask {name} --step STEP -n 10, each with --live-model."
        )


def changed_since(saying: Saying) -> None:
    """16. The difference of the two bundles."""
    case = saying.case
    if case.baseline is None:
        saying.lack("A last good session: none before it in the store has its name, or its agent and repository; --baseline names one.")
        return
    name = visible(case.baseline.session_id)
    changes = case.changes
    if not changes:
        saying.say(f"Nothing that was in force differs from {name}.")
        return
    cited = saying.cite(case.bundle.start_seq, "what was in force")
    saying.say(f"{counted(len(changes), 'difference')} to {name}{cited}: {'; '.join(change_words(change) for change in changes[:12])}.")
    if len(changes) > 12:
        saying.say(f"{len(changes) - 12} more are in the comparison of the bundles.")


def not_caught(saying: Saying) -> None:
    """17. The checks that the agent ran, and when in relation to its changes."""
    case = saying.case
    checks = case.checks()
    last_change = max((change.seq for total in case.files for change in total.changes), default=None)
    for step, run in checks[-5:]:
        ended = f"exit code {run.exit_code}" if run.exit_code is not None else run.outcome
        when = f" in step {step.number}" if step is not None else ""
        saying.say(f"{quoted(run.title, 100)} ran{when} and ended with {ended}{saying.cite(run.seq, 'a check')}.")
    if last_change is not None:
        after = [run for _, run in checks if run.seq > last_change]
        if not after:
            saying.say(f"No check ran after the last file change{saying.cite(last_change, 'the last file change')}.")
        elif all(run.bad for run in after):
            saying.say(f"Every check after the last file change failed{saying.cite([run.seq for run in after], 'a check that failed')}.")
    for action in case.git:
        earlier = [run for _, run in checks if run.seq < action.seq]
        if action.verb in ("commit", "push") and action.ok and earlier and earlier[-1].bad:
            done, check = saying.cite(action.seq, "done in spite of it"), saying.cite(earlier[-1].seq, "a check that failed")
            saying.say(f"{sentence(visible(action.words))}{done} came although the last check before it had failed{check}.")
    if not checks:
        saying.say("The record shows no check (tests, lint, types) that the agent ran.")
    answers_signals.watched(saying)


def detected(saying: Saying) -> None:
    """18. What in the session itself pointed at it, and what the signals around it say."""
    case = saying.case
    saying.say(f"The session ended: {ending(case.story)}{saying.cite(case.story.end_seq, 'the end of the session')}.")
    fired = [mark.seq for _, mark in case.story.marks("guardrail") if mark.bad]
    if fired:
        saying.say(
            f"Within it {counted(len(fired), 'guardrail verdict')} pointed at something{saying.cite(fired, 'a guardrail that fired')}."
        )
    answers_signals.detected(saying)


def shipped(saying: Saying) -> None:
    """19. Links, commits, pushes."""
    case = saying.case
    links = case.links
    if links:
        given = set(case.story.start.links) if case.story.start is not None else set()
        cited = (
            saying.cite(case.story.start_seq, "links") if given & set(links) else " (in the store's ledger: tacho links says who linked it)"
        )
        saying.say(f"Linked: {listed(quoted(link) for link in links)}{cited}.")
    for action in case.git:
        saying.say(f"{sentence(visible(action.words))}{saying.cite(action.seq, 'the repository')}.")
    if not any(link.split("=")[0] in ("pr", "deploy") for link in links):
        saying.lack("A PR or a deploy; tacho link SES pr=… deploy=… names them, and tacho trace finds them by the commits.")


def complete(saying: Saying) -> None:
    """20. Chain, seals, gaps, cuts, redactions, unreadable contents."""
    case, story = saying.case, saying.case.story
    report = case.verification
    if report is None:
        saying.lack("A verification: none was made for this report; tacho verify gives the verdict.")
    else:
        sealed = f", {report['sealed']} of {report.get('events', '?')} events under a seal" if "sealed" in report else ""
        saying.say(f"The verifier says {visible(str(report.get('verdict', 'nothing')))}{sealed}.")
        problems = [one for one in report.get("problems") or [] if isinstance(one, Mapping)]
        if problems:
            words = listed(f"{visible(str(one.get('check', '?')))}: {quoted(str(one.get('what', '')), 120)}" for one in problems)
            saying.say(f"{counted(len(problems), 'problem')}: {words}.")
    gaps = [mark for _, mark in story.marks("gap")]
    for mark in gaps[:6]:
        saying.say(f"{sentence(visible(mark.title))}{saying.cite(mark.seq, 'a gap')}.")
    if not gaps:
        saying.say("The log declares no gap.")
    cut = [run.seq for _, run in story.runs() if run.outcome == "cut"] + [s.seq for s in story.steps if s.call.outcome == "cut"]
    if cut:
        saying.say(f"{counted(len(cut), 'call')} had begun and never ended in the record{saying.cite(cut, 'a call that was cut')}.")
    saying.say(
        f"{counted(story.redactions, 'redaction')} in {counted(story.events, 'event')}; "
        f"{ending(story)}{saying.cite(story.end_seq, 'the end')}."
    )
    if story.end is None:
        saying.lack("The end: what happened after the last line is unknown.")
    if case.imported:
        saying.lack("How true the transcript was before its import; a seal shows only that it was not changed since.")
    if story.unreadable:
        seqs = [seq for seq, _, _ in story.unreadable]
        saying.lack(
            f"{counted(len(story.unreadable), 'content')}, which cannot be "
            f"read{saying.cite(seqs, 'an unreadable content')}: {story.unreadable[0][2]}."
        )


def test(saying: Saying) -> None:
    """21. What can become a test; owners are for the team."""
    case = saying.case
    if case.replay is not None and case.replay.get("verdict") == "identical":
        saying.say("The session replays identically, so the recording itself can be the regression test.")
    elif case.replay is not None:
        saying.say(
            "The session does not replay identically as it stands; the divergence (question 14) has to be "
            "understood before it can be a test."
        )
    command = f"tacho fixture {visible(case.story.session_id)} -o tests/incidents/NAME"
    saying.lack(f"A test in CI and an owner: {command} writes a test that replays this session offline; the action items name the owner.")


def _start(recording: Recording) -> SessionStart | None:
    return next((entry.event for entry in recording.entries if isinstance(entry.event, SessionStart)), None)
