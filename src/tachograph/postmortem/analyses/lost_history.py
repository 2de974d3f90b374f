"""What was said is no longer in what the model sees, and it then acts as if it had not been said.

*Cause*: the history was shortened, rewritten or begun anew (``seen.py``), by a window, a compaction or a summary, and an instruction or a fact of
it is no longer there, not in other words either. *Consequence*: a later action or answer of the same conversation breaks the instruction; or it uses
another identifier where a lost message had one of that form; or it does again what it had already done. First event: the first model
call without it. A history that was cut without such a consequence is no finding.

Of messages lost from the middle of a history by a mistake of the agent's code, see ``agent_code``.

*Cannot see*: what was lost before the recording began; facts that are no identifiers, amounts or instructions (a mood, a preference told in passing).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.format import canonical
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.terms import identifiers, names_one, terms, words
from tachograph.postmortem.language.verbs import stems
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, doings, first_of
from tachograph.postmortem.meaning.breaches import broken, said_against
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.directives import Directive, directives
from tachograph.postmortem.values import plain, quoted, read
from tachograph.providers.conversation import conversation

from .contract import LIKELY, STRONG, Analysis, Finding
from .lost_ban import broken_ban, broken_name
from .lost_restriction import Clause, broken_clause, broken_number, lost_clauses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Step

_CUT = ("shortened", "rewritten", "restarted")
#: So many losses are looked at; a window that slides loses something with each call.
_MOST = 200
#: Actions around the beginning of a conversation that are looked at for what it begins with.
_NEAR = 80
#: An answer of so many characters that stands in a later prompt was put there.
_MADE = 60


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """``gone``: texts that the call before had and this one has not, as (role, text); ``visible``: all that this one has; ``told``: of that what is no
    tool's result; ``handed``: another conversation goes on with what a model made of the one before; ``brief``: of one message;
    ``last``: what came in with the call that made it."""

    step: Step
    before: Step
    gone: tuple[tuple[str, str], ...]
    visible: str
    told: str
    handed: bool = False
    brief: bool = False
    last: str = ""


def find(case: Case) -> Iterator[Finding]:
    """The first loss with a consequence, of each conversation."""
    known = doings(case)
    told: set[int] = set()
    for loss in _losses(case):
        talk = loss.step.seen.conversation
        if talk in told:
            continue
        found = (
            _instruction(loss, known, case)
            or _restriction(loss, known)
            or (None if loss.brief else _fact(loss, known) or _again(loss, known) or _to_be_kept(loss, known))
        )
        if found is not None:
            told.add(talk)
            yield found


def _losses(case: Case) -> Iterator[_Loss]:
    steps = {step.number: step for step in case.story.steps}
    count = 0
    for step in case.story.steps:
        seen = step.seen
        before = steps.get(seen.since_step or -1)
        handed = _handed_on(case, step) if before is None and seen.history == "new" and count < _MOST else None
        if handed is not None:
            count += 1
            yield handed
            continue
        if before is None or (seen.history not in _CUT and not seen.system_changed) or count >= _MOST:
            continue
        old, new = _texts(case, before), _texts(case, step)
        visible = "\n".join(text for _, text in new)
        now = {text for _, text in new}
        gone = tuple((role, text) for role, text in old if text not in now and text.strip())
        if seen.history == "restarted" and not _goes_on(visible, gone, step, doings(case)):
            continue  # another task
        if gone:
            count += 1
            told = "\n".join(text for role, text in new if role != "result")
            yield _Loss(step=step, before=before, gone=gone, visible=visible, told=told)


def _handed_on(case: Case, step: Step) -> _Loss | None:
    """A conversation that begins with what a model made of an earlier one (an answer, or a text that it gave a tool): lost is what people had said in that."""
    known = doings(case)
    new = _texts(case, step)
    opening = "\n".join(text for role, text in new if role == "user")
    made = _made_by(known, step, opening) if opening.strip() else None
    if made is None:
        return None
    given = "\n".join(text for role, text in _texts(case, made) if role != "system")
    plain = given.replace('\\"', '"')
    before = bisect_right(known.passages, made.seq, key=lambda passage: passage.seq)
    every = [
        passage
        for passage in known.users(before)
        if passage.seq <= made.seq and passage.text.strip() and passage.text not in opening and passage.text in plain
    ]
    # What came in with the very call that made it asks for it to be made, unless there was nothing before.
    said_before = [passage for passage in every if passage.step != made.number]
    brief = not said_before and made.seen.history == "new"
    gone = tuple(("user", passage.text) for passage in (every if brief else said_before))
    last = " ".join(passage.text for passage in every if passage.step == made.number) if made.seen.history == "grew" else ""
    visible = "\n".join(text for _, text in new)
    told = "\n".join(text for role, text in new if role != "result")
    return _Loss(step=step, before=made, gone=gone, visible=visible, told=told, handed=True, brief=brief, last=last) if gone else None


def _made_by(known: Doings, step: Step, opening: str) -> Step | None:
    """The model call whose answer, or whose argument of a tool, stands in how another conversation begins."""
    end = bisect_left(known.replies, step.number, key=lambda reply: reply.step.number)
    for reply in reversed(known.replies[max(end - _MOST, 0) : end]):
        if step.inside is None and len(reply.text) >= _MADE and reply.text.strip() in opening:
            return reply.step
    whole = opening.strip()
    end = (
        bisect_left(known.actions, step.seq, key=lambda action: action.run.seq) + _NEAR
    )  # a call that is still under way has its line behind
    for action in reversed(known.actions[max(end - 2 * _NEAR, 0) : end]):
        asker = action.step
        if asker is None or asker.number >= step.number or asker.seen.conversation == step.seen.conversation or action.asked is None:
            continue
        if any(text.strip() == whole or (len(text) >= _MADE and text.strip() in opening) for _, text in action.leaves if len(text) >= 12):
            return asker
    return None


def _goes_on(visible: str, gone: tuple[tuple[str, str], ...], step: Step, known: Doings) -> bool:
    """Whether a conversation that was begun anew goes on with the one before: it says so, or speaks of the same things."""
    if re.search(
        r"\b(?:summary|so far|previous(?:ly)?|earlier|continu\w+|recap|compacted|resum\w+|history|handover|handoff|progress)\b",
        visible,
        re.IGNORECASE,
    ):
        return True
    if any(one.step.number < step.number and len(one.text) >= _MADE and one.text.strip() in visible for one in known.replies[-_MOST:]):
        return True  # an answer was put in the place of what was said
    mine = identifiers(visible[-20_000:])
    return any(not mine.isdisjoint(identifiers(text[:20_000])) for _, text in gone)


def _texts(case: Case, step: Step) -> list[tuple[str, str]]:
    request = read(case.recording, step.call.prompt_redacted_uri)
    if not request.there:
        return []
    talk = conversation(step.call.provider, step.call.operation, request.value)
    found = [("system", part.text) for part in talk.system if part.text]
    for message in talk.messages:
        for part in message.parts:
            role = "result" if part.type == "tool_result" else message.role
            found.append((role, part.text or ("" if part.value is None else canonical.dumps(plain(part.value)).decode("utf-8", "replace"))))
    return found


def _finding(loss: _Loss, confidence: float, what: str, evidence: Evidence, lost: str) -> Finding:
    event_id, seq = first_of(loss.step)
    how = {"shortened": "was shortened", "rewritten": "was rewritten", "restarted": "was begun anew"}.get(
        loss.step.seen.history, "was handed on" if loss.handed else "was changed"
    )
    cut = loss.handed or loss.step.seen.history in _CUT
    what_of = "the history" if cut else "the system prompt"
    return Finding(
        cause="context" if cut else "prompt", analysis="lost_history", confidence=confidence, first_event=event_id, first_seq=seq,
        evidence=(
            Evidence(event_id=loss.before.event_id, seq=loss.before.seq, what=f"the model still saw {lost}"),
            Evidence(event_id=event_id, seq=seq, what=f"{what_of} {how}; that is no longer in it"), evidence,
        ),
        statement=f"{what_of[:1].upper()}{what_of[1:]} {how}, and {lost} is no longer in what the model saw; {what}.",
    )  # fmt: skip


# -- instructions ----------------------------------------------------------------------------------------------------------------


def _instruction(loss: _Loss, known: Doings, case: Case) -> Finding | None:
    rules = [rule for role, text in loss.gone if role != "assistant" for rule in directives(text) if not _still_there(rule, loss.visible)]
    if not rules:
        return None
    best: tuple[float, Directive, Action | Reply] | None = None
    cut = loss.step.seen.history in _CUT
    for action in _later(loss, known):
        if not cut and action.run.kind == "tool" and action.name not in loss.before.seen.tools:
            continue  # another agent took over, with its own prompt and tools
        for rule in rules:
            # A person who speaks again behind the loss may have allowed it.
            sure = broken(rule, action, known, case, _since(loss))
            if sure >= 0.5 and (best is None or sure > best[0]) and not _told_again(rule, action, known, loss):
                best = (sure, rule, action)
    for reply in known.replies:
        if reply.step.number < loss.step.number or reply.step.seen.conversation != loss.step.seen.conversation:
            continue
        for rule in rules:
            sure = said_against(rule, reply)
            if sure >= 0.5 and (best is None or sure > best[0]):
                best = (sure, rule, reply)
    if best is None:
        return None
    sure, rule, what = best
    confidence = STRONG + 0.08 if sure >= 0.7 else STRONG
    done = quoted(what.run.title, 100) if isinstance(what, Action) else f"the answer {said(what.text)}"
    return _finding(
        loss,
        confidence,
        f"it then went against it with {done}",
        what.cite("goes against what was lost"),
        f"the instruction {said(rule.text)}",
    )


def _restriction(loss: _Loss, known: Doings) -> Finding | None:
    """An exception or a wish that a person had said, broken by the record of what was then chosen."""
    lost = lost_clauses([text for role, text in loss.gone if role == "user"], loss.told)
    found = broken_clause(lost, _later(loss, known), known, loss.step.number if loss.handed else None) if lost else None
    if found is None:
        gone = [text for role, text in loss.gone if role == "user"]
        out = broken_number(gone, loss.told, _later(loss, known), known, loss.step.seq)
        if out is None and lost:
            out = broken_name(lost, _later(loss, known), known, loss.step.seq)
        if out is None:
            return _ban(loss, lost, gone, known)
        text, action, number = out
        return _finding(
            loss, STRONG + 0.05, f"it then went against it with {quoted(action.run.title, 100)} (by {said(number)})",
            action.cite("goes against what was lost"), f"what was to be kept to, {said(text)}",
        )  # fmt: skip
    clause, action, word = found
    return _finding(
        loss,
        STRONG + 0.05,
        f"it then went against it with {quoted(action.run.title, 100)} (by {said(word)} in its record)",
        action.cite("goes against what was lost"),
        f"what was to be kept to, {said(clause.text)}",
    )


def _ban(loss: _Loss, lost: list[Clause], gone: list[str], known: Doings) -> Finding | None:
    """A deed that a person had said is not to be done."""
    but = loss.step.number if loss.handed else None
    found = broken_ban([*gone, loss.last], lost, loss.told, _later(loss, known), known, loss.step.seq, but) if lost else None
    if found is None:
        return None
    clause, action, word = found
    return _finding(
        loss, STRONG, f"it then went against it with {quoted(action.run.title, 100)}",
        action.cite(f"does what was not to be done ({said(word)})"), f"what a person had said, {said(clause.text)}",
    )  # fmt: skip


def _later(loss: _Loss, known: Doings) -> list[Action]:
    """The actions of the conversation, from the loss on."""
    return [
        action
        for action in known.by_talk.get(loss.step.seen.conversation, ())
        if action.step is not None and action.step.number >= loss.step.number
    ]


def _since(loss: _Loss) -> int:
    return loss.step.seq


def _still_there(rule: Directive, visible: str) -> bool:
    """Whether a text still says what a rule says, if in other words."""
    if rule.text in visible:
        return True
    if rule.limit is not None:
        return any(other.limit == rule.limit and (other.about & rule.about or not rule.about) for other in directives(visible))
    wanted = rule.about | rule.verbs
    for other in directives(visible):
        if (
            other.polarity == rule.polarity
            and (rule.names <= other.names)
            and len(wanted & (other.about | other.verbs)) * 5 >= len(wanted) * 3
        ):
            return True
    return (
        bool(rule.names)
        and rule.polarity == "require"
        and rule.names <= frozenset(terms(visible))
        and len(wanted & stems(visible)) * 5 >= len(wanted) * 4
    )


def _told_again(rule: Directive, action: Action, known: Doings, loss: _Loss) -> bool:
    """Whether a person asked for the action behind the loss, in the words of the rule."""
    for passage in known.passages[: action.before]:
        if passage.kind == "user" and passage.seq > loss.before.seq and passage.text not in dict(loss.gone).values():
            words = stems(passage.text)
            if rule.verbs & words and (rule.about & words or not rule.about) and passage.text in loss.visible:
                return True
    return False


# -- facts -----------------------------------------------------------------------------------------------------------------------


def _fact(loss: _Loss, known: Doings) -> Finding | None:
    """An effect with an identifier that stands nowhere in what was said before the loss, where what was lost has one of that form."""
    acting = [action for action in _later(loss, known) if action.effect is not None]
    if not acting:
        return None
    gone = {term for role, text in loss.gone if role in ("user", "result", "system") for term in identifiers(text[:50_000])}
    gone = {term for term in gone - set(terms(loss.visible)) if not term.replace(".", "").isdigit() or len(term) >= 5}  # others are amounts
    if not gone:
        return None
    shapes: dict[str, str] = {}
    for term in sorted(gone):
        shapes.setdefault(_shape(term), term)
    began = next((place for place, passage in enumerate(known.passages) if passage.seq >= loss.step.seq), len(known.passages))
    for action in acting:
        for path, text in action.leaves:
            if len(text) > 80:
                continue
            for term in terms(text):
                first = known.first(term)
                fits = _shape(term) in shapes and names_one(term)
                if fits and term not in gone and (first is None or first >= began) and not _new_by_user(known, first, action):
                    lost = shapes[_shape(term)]
                    return _finding(
                        loss, STRONG - 0.04, f"it then used {said(text)} for {path or 'it'} in {quoted(action.run.title, 90)}",
                        action.cite(f"another value than {lost}"), f"{lost}",
                    )  # fmt: skip
    return None


def _new_by_user(known: Doings, first: int | None, action: Action) -> bool:
    """Whether a value came in behind the loss by a person or a tool, rather than by the summary or the model."""
    return first is not None and first < action.before and known.passages[first].kind not in ("memory", "model")


def _shape(term: str) -> str:
    return (
        re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", term))
        if not term.replace(".", "").isdigit()
        else f"{len(term.split('.', maxsplit=1)[0])} digits"
    )


# -- what was done ---------------------------------------------------------------------------------------------------------------


def _again(loss: _Loss, known: Doings) -> Finding | None:
    """An effect that had been made before the loss, and is made again."""
    lost: set[str] | None = None
    before = {
        action.call: action
        for action in known.acting
        if action.effect is not None and action.step is not None and action.step.number < loss.step.number and action.ok and action.effect.reach == "outside"
    }  # fmt: skip
    for action in known.acting if before else ():
        if action.step is None or action.step.number < loss.step.number or not action.ok:
            continue
        earlier = before.get(action.call)
        if earlier is None or action.run.kind != "tool" or not action.terms:
            continue
        if lost is None:
            lost = {term for _, text in loss.gone for term in terms(text[:50_000])} - set(terms(loss.visible))
        if action.terms & lost and not any(p.kind == "user" and earlier.run.seq < p.seq <= action.step.seq and stems(p.text) & stems(action.name) for p in known.passages):  # fmt: skip
            return _finding(
                loss,
                LIKELY + 0.05,
                f"it then did again {quoted(action.run.title, 90)}",
                action.cite("the same a second time"),
                "that it had been done",
            )
    return None


# -- what a person asked to be kept in mind -----------------------------------------------------------------------------------------

_REMEMBER = re.compile(
    r"\b(?:(?:please )?(?:note|remember|keep in mind|bear in mind|do not forget|don't forget|take note|be aware)\b(?: that)?|before anything else|most important(?:ly)?|this is (?:very )?important|it is vital"
    r"|allerg\w+|anaphyla\w+|life[- ]threatening|under no circumstances|no matter what)",
    re.IGNORECASE,
)


def _to_be_kept(loss: _Loss, known: Doings) -> Finding | None:
    """A person had asked to keep something in mind; nothing of it is left when an effect is made. Whether it went against it takes knowledge of the
    world; that it was decided without it is what the record shows."""
    for role, text in loss.gone:
        match = _REMEMBER.search(text[:4000]) if role == "user" else None
        if match is None:
            continue
        sentence = next((line for line in re.split(r"(?<=[.!?])\s+|\n+", text) if _REMEMBER.search(line)), text)
        own = {word for word in words(_REMEMBER.sub(" ", sentence)) if len(word) > 3}
        if not own or len(own & words(loss.visible)) * 3 > len(own):
            continue
        for action in _later(loss, known):
            if action.effect is not None:
                return _finding(
                    loss,
                    LIKELY - 0.05,
                    f"it then decided {quoted(action.run.title, 90)} without it",
                    action.cite("decided without what was lost"),
                    f"what was to be kept in mind ({said(sentence)})",
                )
    return None


ANALYSIS = Analysis(
    name="lost_history", looks_for="an instruction or a fact that was lost when the history was cut, and was then missed", run=find
)
