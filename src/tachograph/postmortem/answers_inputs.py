"""Questions 1 to 6: who started it, and what went into it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tachograph.providers.conversation import conversation

from .bundle import SAMPLING, params_recorded, relevant, system_text
from .case import Saying, counted, listed, sentence
from .values import arguments, one_line, quoted, read, textual, visible
from .wording import forked

if TYPE_CHECKING:
    from .shapes import Step

#: Sentences of instructions that forbid or permit something.
_NORMATIVE = re.compile(
    r"\b(never|must not|mustn't|do not|don't|cannot|can't|should not|shouldn't|may not|forbidden|prohibited|not allowed"
    r"|only|must|always|may|allowed|permitted|authori[sz]ed|without (asking|approval|confirmation))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_MOST_SENTENCES = 6


def started_by(saying: Saying) -> None:
    """1. Trigger, user, session, parent agent."""
    case, story = saying.case, saying.case.story
    start = story.start
    if start is None:
        saying.lack("A session_start line; a session that is recorded from its beginning has one.")
        return
    here = saying.cite(story.start_seq, "the start of the session")
    if case.imported:
        saying.say(f"Imported from {quoted(start.imported_from or 'a transcript')}, agent {quoted(start.agent or 'unnamed')}{here}.")
        saying.lack("Who started the agent: a transcript does not say; tacho record writes argv, environment and host down.")
    else:
        facts: dict[str, Any] = story.facts.value if isinstance(story.facts.value, dict) else {}
        command = quoted(case.bundle.argv) if case.bundle.argv else "a command whose arguments are not readable"
        where = f" in {quoted(case.bundle.cwd)}" if case.bundle.cwd else ""
        saying.say(f"The command {command}{where}, started at {story.started_at or 'an unknown time'}{here}.")
        host = facts.get("host")
        who = [f"{name} {quoted(str(host[key]))}" for key, name in _HOST if host.get(key)] if isinstance(host, dict) else []
        if who:
            saying.say(f"It ran as {', '.join(who)}.")
        elif story.facts.state == "unreadable":
            saying.lack(f"User and host, which cannot be read: {story.facts.why}.")
        else:
            saying.lack("User and host; tacho record writes them into session_start.")
        saying.lack(
            "Which person or event triggered it, beyond the account and the command; tacho record --link names a ticket or an alert."
        )
    if start.forked_from:
        saying.say(f"This session is {visible(forked(start.forked_from))}{saying.cite(story.start_seq, 'forked_from')}.")
    if start.parent_session_id:
        saying.say(f"It is a subagent of the session {visible(start.parent_session_id)}.")
    if start.links:
        saying.say(f"It is linked to {listed(quoted(link) for link in start.links)}.")
    opening = next((turn.opening for turn in story.turns if turn.opening), None)
    if opening is not None:
        saying.say(f"The first input was {quoted(opening, 240)}.")


_HOST = (("user", "user"), ("hostname", "on host"))


def in_force(saying: Saying) -> None:
    """2. The bundle, in one paragraph."""
    bundle = saying.case.bundle
    repository = bundle.repository
    if repository.get("sha"):
        dirty = {True: ", with uncommitted changes", False: ", clean"}.get(repository.get("dirty"), "")  # type: ignore[arg-type]
        branch = f" on {quoted(repository['branch'])}" if repository.get("branch") else ""
        saying.say(f"Code at {visible(str(repository['sha']))}{branch}{dirty}{saying.cite(bundle.start_seq, 'the repository')}.")
    else:
        saying.lack("The git SHA: the session did not run inside a repository, or its source does not hold one.")
    for fact in bundle.prompts:
        value = fact.value.get("version") or fact.value.get("hash")
        cited = saying.cite(fact.seqs, f"the {fact.key}")
        saying.say(f"{sentence(visible(fact.key))}, {visible(str(value or 'without a version'))}{cited}.")
    if not bundle.prompts:
        saying.lack("A system prompt: none was sent, or the requests are not in the record; a recording on the wire holds them.")
    for fact in bundle.models:
        name = fact.value["served"] or fact.value["requested"] or "not named"
        saying.say(f"Model {quoted(name)}{saying.cite(fact.seqs, 'the model')}.")
    for fact in bundle.guardrails:
        version = f" version {fact.value['version']}" if fact.value["version"] else ""
        saying.say(f"Guardrail {quoted(fact.key)}{visible(version)}{saying.cite(fact.seqs, 'the guardrail')}.")
    if bundle.tools:
        names = listed((f"{visible(fact.key)} ({fact.value['hash'][7:15]})" for fact in bundle.tools), 12)
        seqs = list(dict.fromkeys(fact.seqs[0] for fact in bundle.tools if fact.seqs))
        saying.say(f"{counted(len(bundle.tools), 'tool schema')}: {names}{saying.cite(seqs, 'tool schemas')}.")
    packages = [f"{visible(name)} {visible(version)}" for name, version in bundle.packages.items() if relevant(name)]
    if bundle.packages:
        named = f", among them {listed(packages)}" if packages else ""
        python = f"{visible(bundle.python)}, " if bundle.python else ""
        saying.say(f"{python}{counted(len(bundle.packages), 'package')}{named}.")
    else:
        saying.lack("Package versions; tacho record reads them from the agent's own Python.")


def saw(saying: Saying) -> None:
    """3. The full request of each step, and where the history was altered."""
    story = saying.case.story
    steps = story.steps
    if not steps:
        saying.lack("Any model call.")
        return
    full = [step for step in steps if step.seen.state == "there"]
    if full:
        all_of_them = "every step" if len(full) == len(steps) else f"{len(full)} of {len(steps)} steps"
        last = full[-1]
        held = f"{counted(last.seen.total_messages, 'message')} of {last.seen.total_chars:,} characters"
        cited = saying.cite(last.seq, "a request")
        saying.say(
            f"The full request of {all_of_them} is in the record; tacho show --step N prints it. "
            f"The last one, step {last.number}, held {held}{cited}."
        )
    for step in full:
        _altered(saying, step)
    compactions = [mark for _, mark in story.marks("message") if "compact" in str(mark.detail.get("subtype"))]
    if compactions:
        saying.say(f"The history was compacted{saying.cite([mark.seq for mark in compactions], 'a compaction')}.")
    unreadable = [step for step in steps if step.seen.state == "unreadable"]
    if unreadable:
        saying.lack(f"The requests of {counted(len(unreadable), 'step')}, which cannot be read: {unreadable[0].seen.why}.")
    absent = len(steps) - len(full) - len(unreadable)
    if absent:
        saying.lack(f"The requests of {counted(absent, 'step')}: a transcript holds answers only; a recording on the wire holds both.")


def _altered(saying: Saying, step: Step) -> None:
    seen = step.seen
    cited = saying.cite(step.seq, f"the request of step {step.number}") if _is_altered(step) else ""
    if seen.history == "shortened":
        saying.say(
            f"At step {step.number} the history was shortened: {counted(seen.dropped, 'message')} of step "
            f"{seen.since_step} were gone{cited}."
        )
    elif seen.history == "rewritten":
        saying.say(f"At step {step.number} {counted(seen.dropped, 'message')} of step {seen.since_step} had been replaced{cited}.")
    elif seen.history == "restarted":
        saying.say(
            f"At step {step.number} none of the {counted(seen.dropped, 'message')} of step {seen.since_step} were sent any more{cited}."
        )
    if seen.system_changed:
        saying.say(f"At step {step.number} the system prompt was another one than at step {seen.since_step}{cited}.")
    tools = [*seen.tools_added, *seen.tools_removed, *seen.tools_altered]
    if tools:
        saying.say(f"At step {step.number} the tools were others: {listed(quoted(name, 40) for name in tools)}{cited}.")


def _is_altered(step: Step) -> bool:
    seen = step.seen
    lists = seen.tools_added or seen.tools_removed or seen.tools_altered
    return bool(seen.history in ("shortened", "rewritten", "restarted") or seen.system_changed or lists)


def instructions(saying: Saying) -> None:
    """4. Sentences of system prompts that forbid or permit, those first that name what was done."""
    case = saying.case
    acts = _acts(saying)
    found: list[tuple[int, str, int, int]] = []
    known: set[str] = set()
    for step in case.story.steps:
        if not step.seen.system:
            continue
        request = read(case.recording, step.call.prompt_redacted_uri)
        text = system_text(conversation(step.call.provider, step.call.operation, request.value).system) if request.there else ""
        for match in _SENTENCE.finditer(text):
            words = match.group().strip()
            if words and words not in known and _NORMATIVE.search(words):
                known.add(words)
                found.append((len(acts & set(_words(words))), words, match.start(), step.seq))
    if found:
        found.sort(key=lambda one: -one[0])
        shown = [
            f"{quoted(words, 200)} at character {at:,} of the system prompt{saying.cite(seq, 'an instruction')}"
            for _, words, at, seq in found[:_MOST_SENTENCES]
        ]
        more = f" ({len(found) - _MOST_SENTENCES} more)" if len(found) > _MOST_SENTENCES else ""
        saying.say(f"The system prompt forbids or permits in {counted(len(found), 'sentence')}: {'; '.join(shown)}{more}.")
        saying.say("Sentences that share words with what was done come first; whether one applies is for the reader.")
    elif any(step.seen.state == "there" for step in case.story.steps):
        saying.say("No sentence of a system prompt that was sent forbids or permits anything in plain words.")
    else:
        saying.lack("The system prompts; a recording on the wire holds them with every request.")


def _acts(saying: Saying) -> set[str]:
    """The words of what was done: tools, commands, paths."""
    found: set[str] = set()
    for _, run in saying.case.story.runs():
        found.update(_words(run.title[:2000]))
    for total in saying.case.files:
        found.update(_words(total.path))
    return found


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", text.lower()) if len(word) >= 4]


def models(saying: Saying) -> None:
    """5. Requested and served, response ids."""
    facts = saying.case.bundle.models
    if not facts:
        saying.lack("Any model call.")
        return
    for fact in facts:
        requested, served = fact.value["requested"], fact.value["served"]
        cited = saying.cite(fact.seqs, "a model call")
        calls = counted(fact.count, "call")
        if served is None:
            saying.say(f"{calls} asked for {quoted(requested or 'no model by name', 200)}{cited}.")
            saying.lack(f"Which model served {quoted(requested or 'them', 80)}: the answers do not name one, or there are none.")
        else:
            by = "it" if served == requested else quoted(served, 200)
            saying.say(f"{calls} asked for {quoted(requested or 'no model by name', 200)}, served by {by}{cited}.")
    ids = [step for step in saying.case.story.steps if step.call.response_id]
    if ids:
        last = ids[-1]
        saying.say(
            f"{counted(len(ids), 'answer')} with a response id, the last "
            f"{quoted(last.call.response_id or '')}{saying.cite(last.seq, 'a response id')}."
        )


def parameters(saying: Saying) -> None:
    """6. Each distinct set, and what was left to defaults."""
    facts = saying.case.bundle.parameters
    for fact in facts:
        given = visible(arguments(fact.value["set"], 400)) or "no parameters"
        defaults = fact.value["defaults"]
        rest = f"; left to the provider's defaults: {', '.join(defaults)}" if defaults else ""
        saying.say(f"{counted(fact.count, 'call')} of {quoted(fact.key)} with {given}{rest}{saying.cite(fact.seqs, 'parameters')}.")
    unknown = [step.seq for step in saying.case.story.steps if not params_recorded(step.call)]
    if unknown:
        saying.lack(f"The parameters of {counted(len(unknown), 'step')} ({', '.join(SAMPLING[:3])}…); a recording on the wire holds them.")
    elif not facts:
        saying.lack("Any model call.")
    values = Counter(textual(fact.value["set"].get("temperature")) for fact in facts if "temperature" in fact.value["set"])
    if len(values) > 1:
        saying.say(f"The temperature was not the same in all calls: {listed(one_line(value) for value in values)}.")
