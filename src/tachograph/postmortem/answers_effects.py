"""Questions 7 to 13: what came back, what was done, who allowed it, what held it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .case import Saying, counted, listed, sentence
from .marks import passed, refused
from .values import error_text, quoted, textual, visible
from .when import duration

if TYPE_CHECKING:
    from .shapes import Run, Step


def tools(saying: Saying) -> None:
    """7. Inputs, outputs, errors; the same call with other results; what the model was told instead."""
    runs = [(step, run) for step, run in saying.case.story.runs() if run.kind == "tool"]
    if not runs:
        saying.say("The record holds no tool calls.")
        return
    names = Counter(run.name for _, run in runs)
    saying.say(f"{counted(len(runs), 'tool call')}: {listed(f'{visible(name)} ×{count}' for name, count in names.most_common())}.")
    for step, run in [one for one in runs if one[1].bad and one[1].outcome != "asked"][:8]:
        words = _last_line(error_text(run.error) or run.output.text())
        said = f": {quoted(words)}" if words else ", without a word"
        cited = saying.cite(run.seq, "a tool that failed")
        saying.say(f"{_where(step)}{quoted(run.title, 80)} ended with {run.outcome}{said}{cited}.")
    asked = [run for _, run in runs if run.outcome == "asked"]
    if asked:
        saying.lack(
            f"The results of {counted(len(asked), 'tool call')} that were asked for{saying.cite([run.seq for run in asked], 'asked for')}."
        )
    for step, run in [one for one in runs if one[1].given.there][:8]:
        cited = saying.cite((run.seq, *run.also), "what the tool returned and what the model was told")
        saying.say(
            f"{_where(step)}The model was told something else than {quoted(run.title, 80)} returned: {quoted(run.given.text())}{cited}."
        )
    _repeats(saying, [run for _, run in runs])
    _commands(saying)
    silent = [run for _, run in runs if run.output.state == "unreadable" or run.input.state == "unreadable"]
    if silent:
        reason = next(value.why for value in (silent[0].output, silent[0].input) if value.state == "unreadable")
        saying.lack(f"The contents of {counted(len(silent), 'tool call')}, which cannot be read: {reason}.")
    saying.say("Whether a result was stale, malicious or misread is for the reader: tacho show prints each in full.")


def _repeats(saying: Saying, runs: list[Run]) -> None:
    """The same call more than once: whether its result stayed the same."""
    same: dict[str, list[Run]] = {}
    for run in runs:
        if run.input.there and run.output.there:
            same.setdefault(run.name + "\0" + textual(run.input.value), []).append(run)
    for group in [group for group in same.values() if len(group) > 1][:6]:
        results = len({run.output.text() for run in group})
        verdict = "returned the same each time" if results == 1 else f"returned {results} different results"
        saying.say(
            f"{quoted(group[0].title, 80)} ran {len(group)} times and {verdict}{saying.cite([run.seq for run in group], 'the same call')}."
        )


def _commands(saying: Saying) -> None:
    commands = [run for _, run in saying.case.story.runs() if run.kind == "process"]
    failed = [run for run in commands if run.exit_code]
    if not commands:
        return
    saying.say(
        f"{counted(len(commands), 'command')} ran, {len(failed) or 'none'} with an exit code other than "
        f"0{saying.cite([run.seq for run in failed], 'a command that failed')}."
    )
    for run in failed[:5]:
        last = _last_line(run.output.text())
        said = f", its last line {quoted(last)}" if last else ""
        cited = saying.cite(run.seq, "a command that failed")
        saying.say(f"{quoted(run.title, 80)} exited with {run.exit_code} after {duration(run.duration_ms)}{said}{cited}.")


def _last_line(text: str) -> str:
    return text.rstrip().rsplit("\n", 1)[-1]


def _where(step: Step | None) -> str:
    return f"Step {step.number}: " if step is not None else ""


def changed(saying: Saying) -> None:
    """8. Files, commits, requests that write."""
    case = saying.case
    files = [total for total in case.files if total.action != "none"]
    if files:
        listing = listed((f"{visible(one.path)} ({one.action}, +{one.added} −{one.removed})" for one in files), 10)
        saying.say(
            f"{counted(len(files), 'file')}: "
            f"{listing}{saying.cite([change.seq for one in files for change in one.changes], 'a file change')}."
        )
    elif case.story.start is not None and case.story.start.workspace_uri is not None:
        cited = saying.cite(case.story.start_seq, "the workspace at the start")
        saying.say(f"The record shows no change of a file in the workspace it watched{cited}.")
    else:
        saying.lack("Whether files changed: the workspace was not watched; tacho record watches the folder it is started in.")
    for action in case.git[:10]:
        saying.say(f"{sentence(visible(action.words))}{saying.cite(action.seq, 'the repository')}.")
    for _, run in case.effects()[:10]:
        saying.say(f"{quoted(run.title, 120)} ({_effect(run)}, {run.outcome}){saying.cite(run.seq, 'an effect')}.")
    commands = [run for _, run in case.story.runs() if run.kind == "process"]
    if commands:
        cited = saying.cite([run.seq for run in commands], "a command")
        saying.lack(f"What {counted(len(commands), 'command')} did outside the workspace beyond what they printed{cited}.")
    cut = [run for _, run in case.story.runs() if run.outcome == "cut"]
    if cut:
        cited = saying.cite([run.seq for run in cut], "a call that was cut")
        saying.lack(f"What {counted(len(cut), 'call')} did before the recording ended{cited}: only the beginning is there.")
    if not (files or case.git or case.effects()) and not commands and not saying.missing:
        saying.say("No commit, no request that writes and no tool declared to write is in the record.")


def _effect(run: Run) -> str:
    return f"{run.method} to {visible(run.host or 'an unnamed host')}" if run.kind == "http" else f"tool declared {run.effect}"


def reversible(saying: Saying) -> None:
    """9. What can be put back, and the last claim beside what the record shows."""
    case = saying.case
    files = [total for total in case.files if total.action != "none"]
    back = [total for total in files if total.restorable]
    if files:
        saying.say(
            f"{len(back)} of {counted(len(files), 'changed file')} can be put back from the record, which holds what was there before."
        )
    for action in case.git:
        if action.verb == "commit" and action.ok:
            name = f" {visible(action.sha[:12])}" if action.sha else ""
            saying.say(f"The commit{name} can be reverted{saying.cite(action.seq, 'a commit')}.")
        elif action.verb == "push" and action.ok:
            saying.lack(f"Whether what was pushed was taken back{saying.cite(action.seq, 'a push')}.")
    outside = case.effects()
    if outside:
        cited = saying.cite([run.seq for _, run in outside], "an effect")
        saying.lack(
            f"Whether {counted(len(outside), 'effect')} outside can be undone{cited}: that they happened is there, how to undo them is not."
        )
    claim = next((step for step in reversed(case.story.steps) if _text(step)), None)
    if claim is None:
        saying.lack("A final answer in words.")
        return
    saying.say(f"Its last claim: {quoted(_text(claim), 300)}{saying.cite(claim.seq, 'the last claim')}.")
    checks = case.checks()
    for _, run in checks[-3:]:
        ended = f"exit code {run.exit_code}" if run.exit_code is not None else run.outcome
        saying.say(f"The record beside it: {quoted(run.title, 100)} ended with {ended}{saying.cite(run.seq, 'a check')}.")
    if not checks:
        saying.say("No check (tests, lint, types) ran that the record could set beside it.")


def _text(step: Step) -> str:
    return " ".join(part.text for part in step.reply if part.type == "text").strip()


def approved(saying: Saying) -> None:
    """10. Approver, time, scope, the text shown."""
    marks = [mark for _, mark in saying.case.story.marks("approval")]
    for mark in marks:
        shown = f", having been shown {quoted(mark.body.text())}" if mark.body.there else ", with no record of what was shown"
        saying.say(f"{sentence(visible(mark.title))}{shown}{saying.cite(mark.seq, 'an approval')}.")
        if mark.body.state == "unreadable":
            saying.lack(f"What was shown, which cannot be read: {mark.body.why}.")
    if not marks:
        saying.lack("Any approval; tachograph.approval() or a harness that asks for permission writes one.")
        return
    allowed = {mark.detail.get("call_id") for mark in marks if not refused(str(mark.detail.get("decision")))}
    without = [run for _, run in saying.case.effects() if not allowed & {run.call_id, run.event_id}]
    if without:
        cited = saying.cite([run.seq for run in without], "no approval")
        saying.say(f"No approval names {counted(len(without), 'effect')}{cited}.")


def reach(saying: Saying) -> None:
    """11. The resources touched; what would find other sessions."""
    case = saying.case
    files = [total.path for total in case.files if total.action != "none"]
    hosts: dict[str, int] = {}
    for _, run in case.story.runs():
        if run.kind == "http" and run.host:
            hosts.setdefault(run.host, run.seq)
        for url in _URL.findall(run.title):
            name = _host_in(url)
            if name:
                hosts.setdefault(name, run.seq)
    if files:
        cited = saying.cite([change.seq for total in case.files for change in total.changes], "a file change")
        saying.say(f"Files: {listed(visible(path) for path in files)}{cited}.")
    if hosts:
        cited = saying.cite(hosts.values(), "a host that was reached or named")
        saying.say(f"Hosts other than the model's: {listed(visible(name) for name in hosts)}{cited}.")
    if case.git:
        cited = saying.cite([action.seq for action in case.git], "the repository")
        saying.say(f"{counted(len(case.git), 'git action')}: {listed(visible(action.words) for action in case.git)}{cited}.")
    if not (files or hosts or case.git):
        saying.say("The record shows no file, host or commit that was touched.")
    name = visible(case.story.session_id)
    if case.spread is None:
        saying.lack(f"Which other sessions saw the same: tacho catalogue makes the index that tells, tacho radius {name} asks it.")
        return
    for finding in saying.findings[:3]:
        others = case.spread(finding.first_event)
        cited = saying.cite(finding.first_seq, "what other sessions may have seen too")
        if not others:
            saying.say(f"No other session in the store saw what came in there{cited}.")
            continue
        named = listed((f"{visible(one.session_id)}{f' ({visible(one.did)})' if one.did else ''}" for one in others), 5)
        saying.say(f"{counted(len(others), 'other session')} saw the same{cited}: {named}.")
    if not saying.findings:
        saying.lack(
            f"From which event on other sessions are to be looked for: no cause was found; tacho radius {name} --event E asks for one."
        )


_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s'\"<>]+")


def _host_in(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def guardrails(saying: Saying) -> None:
    """12. Id, version, verdicts, and calls without one."""
    case = saying.case
    for fact in case.bundle.guardrails:
        verdicts = ", ".join(f"{visible(name)} ×{count}" for name, count in fact.value["verdicts"].items())
        version = f" version {visible(fact.value['version'])}" if fact.value["version"] else ""
        saying.say(f"Guardrail {quoted(fact.key)}{version}: {verdicts}{saying.cite(fact.seqs, 'a verdict')}.")
    fired = [(step, mark) for step, mark in case.story.marks("guardrail") if not passed(mark.detail.get("action"))]
    for step, mark in fired[:6]:
        detail = f": {quoted(mark.body.text(), 200)}" if mark.body.there else ""
        saying.say(f"{_where(step)}{visible(mark.title)}{detail}{saying.cite(mark.seq, 'a guardrail that fired')}.")
    without = [step for step in case.story.steps if not step.call.guardrail]
    if not case.bundle.guardrails:
        saying.lack(
            "Any guardrail: none was configured in a request and none told of itself; "
            "tachograph.guardrail() records one that runs in the agent."
        )
    elif without:
        saying.say(
            f"{counted(len(without), 'model call')} named no guardrail{saying.cite([step.seq for step in without], 'no guardrail')}."
        )
    if case.bundle.guardrails:
        saying.lack("Whether one should have fired and did not: no record can show that; test the guardrail with the recorded input.")


def enforcement(saying: Saying) -> None:
    """13. What the record shows of enforcement, and what it cannot."""
    case = saying.case
    held = [mark for _, mark in case.story.marks("guardrail") if mark.bad]
    denied = [mark for _, mark in case.story.marks("approval") if mark.bad]
    stopped = [run for _, run in case.story.runs() if run.status in (401, 403) or _denied(run)]
    if held:
        saying.say(
            f"Enforced: {counted(len(held), 'guardrail verdict')} that stopped or changed "
            f"something{saying.cite([m.seq for m in held], 'a guardrail that fired')}."
        )
    if denied:
        saying.say(f"Enforced: {counted(len(denied), 'refusal')} by an approver{saying.cite([m.seq for m in denied], 'a refusal')}.")
    if stopped:
        saying.say(f"Refused by a system: {counted(len(stopped), 'call')}{saying.cite([run.seq for run in stopped], 'a refusal')}.")
    if not (held or denied or stopped):
        saying.say("Nothing in the record was stopped by enforcement; what held the agent back, if anything, was instruction (question 4).")
    host = story_host(saying)
    if host:
        saying.say(f"It ran as the operating system's user {quoted(host)}{saying.cite(case.story.start_seq, 'the user')}.")
    saying.lack("The permissions of its credentials: secrets are redacted, and no record can ask a cloud what they allowed.")


def _denied(run: Run) -> bool:
    words = (error_text(run.error) + " " + run.output.text()[:2000] if run.bad else "").lower()
    return "permission denied" in words or "access denied" in words or "accessdenied" in words


def story_host(saying: Saying) -> str | None:
    """The operating system's user, where the facts name one."""
    facts = saying.case.story.facts.value
    host = facts.get("host") if isinstance(facts, dict) else None
    return str(host["user"]) if isinstance(host, dict) and host.get("user") else None
