"""What the agent's own code did wrong between the model and its tools.

Each rule compares two things that must be the same, and asks for what came of it:

* *wrong result*: what the model was told of a call is what another call returned, by itself or by the exchange that was made for it (PROVEN), or names what
  another call was asked about and the other way round (STRONG; ``swapped.py``). Consequence: the model went on.
* *never told*: a call ran, and the model was never told its result though the conversation went on; or its result was told and it never ran, where other
  calls of that tool are recorded where they run. Consequence: a later answer or effect speaks of it.
* *other arguments*: the call ran with other values than the model had asked for, and than somebody had approved. Consequence: the call itself.
* *misread figure*: what the tool's code sent on for a call has the number that comes of reading the argument by the rules of another place
  (``misparsed.py``). Consequence: the exchange or command.
* *cut result*: the model was told only a part of what the tool returned, and a later answer says that there is nothing, or does something that the rest
  contradicts.
* *never sent*: a message of a person is recorded, and no model call had it. Consequence: the model went on.
* *history*: a message in the middle is missing, stands twice, or stands in another order than it was said in, while what is before and behind it is
  still there. (A history that loses its beginning or is summed up is ``lost_history``.) Consequence: an effect or an answer after it.

First event: for results and calls, the tool call; for the history, the first model call that has it.

*Cannot see*: what a tool that is not declared returned before the agent's code changed it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import identifiers, terms, values, words
from tachograph.postmortem.language.verbs import stem, stems
from tachograph.postmortem.meaning.actions import Action, Doings, doings, first_of
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import claims
from tachograph.postmortem.meaning.directives import against, directives
from tachograph.postmortem.meaning.results import failure
from tachograph.postmortem.meaning.unjoined import unjoined
from tachograph.postmortem.seen import same_message
from tachograph.postmortem.shapes import Run, Step
from tachograph.postmortem.values import quoted, read
from tachograph.providers.conversation import conversation

from .contract import LIKELY, PROVEN, STRONG, Analysis, Finding
from .gates import gates
from .misparsed import misparsed
from .swapped import bare, swapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tachograph.postmortem.case import Case
    from tachograph.providers.conversation import Message

NAME = "agent_code"
_NONE = re.compile(r"\b(?:no|none|nothing|not|neither|never|only|all|every|total of|there (?:is|are) \d+|0)\b|n't\b", re.IGNORECASE)
_CUT = re.compile(
    r"(?:(?:…|\.\.\.)\s{0,3})?(?:…|\.\.\.|\[?\(?(?:output |result )?(?:truncated|clipped|cut|omitted)[^\n]{0,40})\s*\Z", re.IGNORECASE
)


def find(case: Case) -> Iterator[Finding]:
    """What each rule finds."""
    known = doings(case)
    for action in known.actions:
        found = _wrong_result(action, known) or _cut(action, known) or _misread_figure(action, known)
        if found is not None:
            yield found
    yield from _other_arguments(case, known)
    yield from _given_to_another(known)
    yield from _never_ran(known)
    yield from _never_told(known)
    yield from _history(case, known)
    yield from _never_sent(case, known)


def _finding(cause_of: Run, confidence: float, evidence: tuple[Evidence, ...], statement: str) -> Finding:
    return Finding(
        cause="harness", analysis=NAME, confidence=confidence, first_event=cause_of.event_id, first_seq=cause_of.seq, evidence=evidence, statement=statement,
    )  # fmt: skip


# -- results ---------------------------------------------------------------------------------------------------------------------


def _wrong_result(action: Action, known: Doings) -> Finding | None:
    """What was told is another call's result."""
    run = action.run
    if not run.given.there or not run.output.there:
        return None
    told = bare(run.given.text())
    if len(told) < 2:
        return None
    number = action.step.number if action.step is not None else 0
    for other in (each for near in range(max(number - 8, 0), number + 9) for each in known.by_step.get(near, ())):
        if other is action or not other.run.output.there or other.run.seq == run.seq:
            continue
        if bare(other.run.output.text()) == told and told != bare(run.output.text()):
            return _finding(
                run, PROVEN,
                (action.cite("what it returned is something else"), other.cite("what the model was told of it is the result of this call")),
                f"The model was told the result of {quoted(other.run.title, 90)} as that of {quoted(run.title, 90)}.",
            )  # fmt: skip
    return None


#: Characters of a result that are looked at.
_READ = 50_000


def _given_to_another(known: Doings) -> Iterator[Finding]:
    """Undeclared calls of one answer that were told each other's results: the first of them."""
    every = list(swapped(known))
    if every:
        one = every[0]
        more = f" So were those of {len(every) - 1} more of its calls." if len(every) > 1 else ""
        yield _finding(one.run, PROVEN if one.proven else STRONG + 0.1, one.evidence, one.statement + more)


def _cut(action: Action, known: Doings) -> Finding | None:
    """The model was told a part, and what was left out mattered."""
    run = action.run
    if not run.given.there or not run.output.there:
        return None
    told, whole = run.given.text(), run.output.text()
    head = _CUT.sub("", told.rstrip()).rstrip()
    if len(head) < 20 or len(told) >= len(whole):
        return None
    start = whole.find(head[: min(len(head), 200)])
    if start < 0 or head[-40:] not in whole:
        return None
    rest = whole.replace(head, "", 1)
    missing = frozenset(terms(rest)) - frozenset(terms(told))
    asked = (
        frozenset(
            term for passage in known.passages[: action.before] if passage.kind == "user" for term in identifiers(passage.text[:20_000])
        )
        | action.identifiers
    )
    for reply in known.replies:
        if action.step is None or reply.step.number <= action.step.number or not reply.rests:
            continue
        about = asked & missing
        if about and _NONE.search(reply.text):
            return _finding(
                run, STRONG, (action.cite(f"what it returned beyond what was told has {min(about)}"), reply.cite(f"it answers: {said(reply.text)}")),
                f"The agent's code cut the result of {quoted(run.title, 90)} to {len(told):,} of {len(whole):,} characters; what was asked for stood in the rest, and the answer is {said(reply.text)}.",
            )  # fmt: skip
    for later in known.actions:
        if action.step is None or later.step is None or later.step.number <= action.step.number or later.effect is None:
            continue
        if later.identifiers & missing or not _contradicts(later, rest):
            continue
        return _finding(
            run, LIKELY, (action.cite("a part of its result was not told"), later.cite("what was left out speaks of this")),
            f"The agent's code cut the result of {quoted(run.title, 90)} to {len(told):,} of {len(whole):,} characters; what was left out is against {quoted(later.run.title, 90)}.",
        )  # fmt: skip
    return None


def _contradicts(action: Action, rest: str) -> bool:
    return any(against(one, action) >= 0.5 for one in directives(rest))


# -- calls -----------------------------------------------------------------------------------------------------------------------


def _other_arguments(case: Case, known: Doings) -> Iterator[Finding]:
    """A call ran with other values than asked for. Where the values differ, the recorder could not join the run to the request for it."""
    for wire, ran in unjoined(known):
        made = _otherwise(case, wire, wire.given, ran)
        if made is not None:
            yield made
    for action in known.actions:
        if action.step is not None and action.asked is not None and action.run.source in ("both", "declared"):
            made = _otherwise(case, action, action.asked.value, action)
            if made is not None:
                yield made


def _misread_figure(action: Action, known: Doings) -> Finding | None:
    """What was sent for a call has another number than it was asked with."""
    found = misparsed(action, known)
    if found is None:
        return None
    run, path, text, where, other = found
    shown = Evidence(event_id=run.event_id, seq=run.seq, what=f"it has {where} = {said(other)}")
    return _finding(
        action.run, PROVEN - (0.1 if run is action.run else 0),
        (action.cite(f"asked with {path} = {said(text)}"), shown),
        f"{quoted(action.run.title, 100)} was asked with {path} = {said(text)}; the agent's code made {said(other)} of it ({where} in {quoted(run.title, 80)}).",
    )  # fmt: skip


def _otherwise(case: Case, asked: Action, wanted: Any, ran: Action) -> Finding | None:
    given, step = ran.run.input.value, asked.step
    if not isinstance(wanted, dict) or not isinstance(given, dict) or step is None:
        return None
    for key in sorted(wanted.keys() & given.keys()):
        if _alike(wanted[key], given[key]) or _approved_so(case, key, str(given[key]), asked, ran):
            continue
        one, other = said(str(wanted[key])), said(str(given[key]))
        evidence = Evidence(event_id=step.event_id, seq=step.seq, what=f"asked for: {key} = {one}")
        return _finding(
            ran.run, PROVEN, (evidence, ran.cite(f"it ran with {key} = {other}")),
            f"The model asked for {ran.run.name} with {key} = {one}; the agent's code ran it with {other}.",
        )  # fmt: skip
    return None


def _approved_so(case: Case, key: str, value: str, asked: Action, ran: Action) -> bool:
    """Whether somebody approved the call with this value, and the model was told so: then it is the approval that changed it."""
    told = asked.run.given if asked.run.given.there else asked.run.output
    own = set(terms(value[:_READ]))
    if not own or not own <= set(terms(told.text()[:_READ])):
        return False
    for gate in gates(case):
        here = ran.run.event_id in (gate.within, gate.call_id) or asked.run.call_id == gate.call_id is not None
        beside = gate.step is not None and asked.step is not None and gate.step.number == asked.step.number and gate.seq < ran.run.seq
        if gate.decision != "granted" or not (here or beside):
            continue
        shown = _field(gate.value, key)
        if (
            _alike(shown, value)
            if shown is not None
            else set(terms(value[:_READ])) <= set(terms(f"{gate.shown or ''} {gate.word}"[:_READ]))
        ):
            return True
    return False


def _field(shown: object, key: str) -> Any:
    """What an approver was shown under a name, at whatever depth; ``None`` where there is no such name."""
    if not isinstance(shown, dict):
        return None
    for path, text in values(shown):
        if path.rpartition(".")[2] == key:
            return text
    return None


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same up to form: blanks, case, a number as text, a path made absolute, a default filled in."""
    if one == other or one in (None, "") or (isinstance(one, bool) and str(one).lower() == str(other).lower()):
        return True
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        left, right = sorted(text for _, text in values(one)), sorted(text for _, text in values(other))
        if isinstance(one, str):
            return _alike(parsed(one), other) if parsed(one) != one else True
        return len(left) > len(right) * 3 or left == right or not left or not right or all(any(_alike(a, b) for b in right) for a in left)
    old, new = "".join(str(one).split()).casefold(), "".join(str(other).split()).casefold()
    if old == new or (new.endswith(old) and not old.isdigit() and len(old) > 2) or "redacted" in old + new:
        return True
    try:
        return float(old) == float(new)
    except ValueError:
        return bool(re.search(r"\d{4}-\d\d", old + new)) and old[:10] == new[:10]


def _never_ran(known: Doings) -> Iterator[Finding]:
    """The model was told a result of a call that is nowhere recorded to have run, where the others of its kind are."""
    where = {action.run.name for action in known.actions if action.run.kind == "tool" and action.run.source in ("both", "declared")}
    if not where:
        return
    wires = [action for action in known.actions if action.run.kind == "tool" and action.run.source == "wire"]
    declared = [action.run for action in known.actions if action.run.source == "declared"]
    for action in wires:
        run = action.run
        alone = all(other.run.name == run.name for other in wires)
        # Where every other tool is recorded as it runs, one that acts and of which nothing at all is seen between its asking and its telling did not run.
        if run.name not in where and not (alone and action.groups and action.effect is not None and not _anything(action, known)):
            continue
        ran = any(one.name == run.name and one.seq > (action.step.seq if action.step else 0) for one in declared)
        if run.bad or failure(run) is not None or run.children or ran:
            continue
        evidence = _spoken_of(action, known)
        if evidence is not None:
            yield _finding(
                run, STRONG + 0.05 if run.name in where else STRONG,
                (action.cite("the model was told a result; no run of it is recorded, as there is of the others"), evidence),
                f"The model was told that {quoted(run.title, 100)} had answered, but the agent's code never ran it.",
            )  # fmt: skip


def _anything(action: Action, known: Doings) -> bool:
    """Whether anything else ran in the step of a call: a command, an exchange, a run that no request is joined to, a change of a file."""
    return bool(action.run.changes) or any(
        other is not action and (other.run.kind != "tool" or other.asked is None)
        for other in known.by_step[action.step.number if action.step is not None else 0]
    )


def _spoken_of(action: Action, known: Doings) -> Evidence | None:
    for reply in known.replies:
        if action.step is not None and reply.step.number > action.step.number:
            for claim in claims(reply):
                if claim.groups & action.groups or claim.verb in action.stems:
                    return reply.cite(f"it claims: {said(claim.sentence)}")
            if stems(action.name) & stems(reply.text) and reply.rests:
                return reply.cite(f"it answers: {said(reply.text)}")
    return None


def _never_told(known: Doings) -> Iterator[Finding]:
    """A call that ran, or was asked for, and of which the model never heard, though it was asked to go on."""
    for action in known.actions:
        run, step = action.run, action.step
        if step is None or action.asked is None or run.source not in ("asked", "declared") or run.outcome in ("cut", "cancelled"):
            continue
        later = next(
            (one for one in known.replies if one.step.number > step.number and one.step.seen.conversation == step.seen.conversation), None
        )
        if later is None or step.seen.state != "there" or later.step.seen.state != "there":
            continue
        siblings = [other for other in known.by_step[step.number] if other is not action and other.run.source in ("wire", "both")]
        if run.source == "asked" and not siblings:
            continue
        evidence = _spoken_of(action, known)
        if evidence is not None and not any(_repeats(action, other) for other in known.actions if other is not action):
            what = (
                "ran, and the model was never told its result"
                if run.source == "declared"
                else "was asked for and never ran, and the model was told nothing of it"
            )
            yield _finding(run, STRONG, (action.cite(what), evidence), f"{quoted(run.title, 100)} {what}; {evidence.what}.")


def _repeats(action: Action, other: Action) -> bool:
    return other.run.name == action.run.name and other.run.seq > action.run.seq and other.terms == action.terms


# -- the history -----------------------------------------------------------------------------------------------------------------


def _history(case: Case, known: Doings) -> Iterator[Finding]:
    """A message in the middle that is missing, twice there, or in another place."""
    steps = {step.number: step for step in case.story.steps}
    for step in case.story.steps:
        seen = step.seen
        if seen.state != "there" or seen.history not in ("rewritten", "shortened", "grew") or seen.since_step is None:
            continue
        if seen.history == "grew" and not _twice(seen.messages):
            continue
        before = steps.get(seen.since_step)
        if before is None:
            continue
        old, new = _messages(case, before), _messages(case, step)
        what = _disturbed(old, new) if seen.history != "grew" else "a message stands in it twice"
        after = _after(step, known)
        if what is None or after is None:
            continue
        event_id, seq = first_of(step)
        yield Finding(
            cause="harness", analysis=NAME, confidence=STRONG + 0.05, first_event=event_id, first_seq=seq,
            evidence=(
                Evidence(event_id=before.event_id, seq=before.seq, what="the history as it was"),
                Evidence(event_id=event_id, seq=seq, what=f"the history that was sent: {what}"), after,
            ),
            statement=f"The agent's code sent a history that is not what was said: {what}; the model went on from it.",
        )  # fmt: skip
        return


def _never_sent(case: Case, known: Doings) -> Iterator[Finding]:
    """What a person said, as the agent's code has recorded it, and no model call was ever told."""
    if case.imported:
        return
    texts: list[tuple[int, str]] = []
    for step in case.story.steps:
        if step.seen.state != "there":
            return
        texts += [(step.number, " ".join(part.text.split())) for new in step.seen.messages for part in new.message.parts if part.text]
        texts += [(step.number, " ".join(part.text.split())) for part in step.seen.system if part.text]
    for _, mark in case.story.marks("message"):
        if mark.detail.get("role") != "user" or mark.detail.get("subtype") or not mark.body.there:
            continue
        said_so = " ".join(mark.body.text().split())
        later = [step for step in case.story.steps if step.seq > mark.seq]
        if len(said_so) < 2 or not later or any(said_so in text for _, text in texts):
            continue
        whole = " ".join(text for number, text in texts if number >= later[0].number)
        own, sent = {stem(word) for word in words(said_so)}, {stem(word) for word in words(whole)}
        if not identifiers(said_so) - identifiers(whole) and len(own & sent) * 10 > len(own) * 8:
            continue  # it was put into other words
        after = _after(later[0], known)
        if after is None:
            continue
        event_id, seq = first_of(later[0])
        yield Finding(
            cause="harness", analysis=NAME, confidence=STRONG, first_event=event_id, first_seq=seq,
            evidence=(Evidence(event_id=mark.event_id, seq=mark.seq, what=f"a person said {said(said_so)}"), after),
            statement=f"The agent's code never sent the model what a person said: {said(said_so)}.",
        )  # fmt: skip


def _messages(case: Case, step: Step) -> Sequence[Message]:
    request = read(case.recording, step.call.prompt_redacted_uri)
    return conversation(step.call.provider, step.call.operation, request.value).messages if request.there else ()


def _twice(messages: Sequence[Any]) -> bool:
    """Whether a message with content stands twice in a row among the new ones."""
    new = [one.message for one in messages]
    return any(same_message(one, other) and any(part.text.strip() or part.value for part in one.parts) and one.role != "assistant" for one, other in itertools.pairwise(new))  # fmt: skip


def _disturbed(old: Sequence[Message], new: Sequence[Message]) -> str | None:
    """What is wrong with a history behind another one, where it is no shortening: most of it is kept, its beginning too."""
    places: list[int | None] = []
    used: set[int] = set()
    for message in old:
        at = next((place for place, other in enumerate(new) if place not in used and same_message(message, other)), None)
        if at is not None:
            used.add(at)
        places.append(at)
    kept = [place for place in places if place is not None]
    if len(old) < 3 or not kept or places[0] is None or len(kept) * 2 < len(old):
        return None
    if kept != sorted(kept):
        return "its messages stand in another order"
    missing = [index for index, place in enumerate(places) if place is None]
    if not missing or len(missing) > max(2, len(old) // 4):
        return None
    behind = any(place is not None for place in places[missing[-1] + 1 :])
    fresh = [place for place in range(kept[0], kept[-1]) if place not in used]
    if fresh or (not behind and missing[-1] != len(old) - 1):
        return None
    if missing[0] < 2 and _whole([old[index] for index in missing]):
        return None  # a window that keeps the task and the latest
    roles = {old[index].role for index in missing}
    return f"{len(missing)} message{'s' if len(missing) > 1 else ''} of the {' and the '.join(sorted(roles))} {'are' if len(missing) > 1 else 'is'} missing from its middle"


def _whole(messages: Sequence[Message]) -> bool:
    """Whether messages have each tool call with its result, or none at all: what a window leaves out."""
    parts = [part for message in messages for part in message.parts]
    asked = Counter(part.call_id for part in parts if part.type == "tool_use")
    return asked == Counter(part.call_id for part in parts if part.type == "tool_result")


def _after(step: Step, known: Doings) -> Evidence | None:
    """An effect, else an answer, at or after a step."""
    for action in known.actions:
        if action.step is not None and action.step.number >= step.number and action.effect is not None:
            return action.cite("what was done then")
    for reply in known.replies:
        if reply.step.number >= step.number and reply.rests:
            return reply.cite(f"it answers: {said(reply.text)}")
    return None


ANALYSIS = Analysis(name=NAME, looks_for="results, arguments or messages that the agent's code mixed up, lost or changed", run=find)
