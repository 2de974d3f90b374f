"""A guardrail that was ignored, bypassed, or set so that it stops nothing.

Cause: a guardrail said no (or flagged, or did not run), or calls of one conversation were made with it and without it. Consequence: an effect of what it
had judged followed nonetheless: asked for by the very answer that it stopped, the same call again, or one that has what its verdict names; or the effect
came by the call that was made without it.

Or what it had stopped went out by another tool, in the same words; or it said yes to what its own rule forbids (``passed_blind.py``).

Or it broke (an error, a time-out) and its answer, or the exchange that the answer had asked for, went on as if it had passed: it failed open.

What one does because something was stopped (escalate, notify, hold) is no such effect, nor is a call whose result says that it was held back, that failed,
or that never reached the function of its name (which is recorded where it runs, and ran for other calls only); nor one within which it was said, and which
made no exchange behind it. A guardrail that should have said no and said yes is not seen here, unless its own assessment shows that it found something,
or its own rule that it should have.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import identifiers, values
from tachograph.postmortem.meaning.citing import called, cite, joined
from tachograph.postmortem.meaning.effects import Effect, effects
from tachograph.postmortem.meaning.instructions import stems
from tachograph.postmortem.meaning.once import entered, once
from tachograph.postmortem.meaning.outgoing import arguments_of
from tachograph.postmortem.meaning.results import failure
from tachograph.postmortem.meaning.stopped import happened
from tachograph.postmortem.meaning.symptoms import contains_only, hard
from tachograph.postmortem.shapes import Mark, Run, Step
from tachograph.postmortem.values import textual, visible

from .contract import LIKELY, PROVEN, STRONG, Analysis, Finding
from .passed_blind import blind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence

NAME = "guardrail_not_heeded"

Said = Literal["stopped", "flagged", "not run"]
_STOPPED = re.compile(r"interven|block|den(?:y|ied)|refus|reject|fail|stop|violat|forbid|disallow|abort", re.IGNORECASE)
_FLAGGED = re.compile(
    r"flag|detect|warn|observ|monitor|alert|shadow|audit|dry[_ -]?run|report|log(?:ged|_only)?\b|suspicious|review", re.IGNORECASE
)
_NOT_RUN = re.compile(
    r"disabl|skip|bypass|\boff\b|error|time[d_ ]*out|unavailable|not[_ ]run|unreachable|exempt|override|ignored", re.IGNORECASE
)
_REFUSES = re.compile(
    r"\b(?:cannot|can't|can’t|unable|not able|sorry,? but|won't|declin\w+|refus\w+|not (?:share|help|possible|allowed))\b", re.IGNORECASE
)
_DEEP = 12
_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
_OPEN = ", as that very answer asked for"
_BARE = ", by a model call that was made without it"
_TOLD = re.compile(
    r"\b(?:was|were|is|are|been|got|has|have|did)(?: not|n['’]t)? (?:blocked|stopped|refused|rejected|denied|held back|flagged|let)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
#: Words that make a text one that can be told again, and the share of them (of both texts) that has to be there.
_WORDS_LEAST, _SHARE = 6, 0.8


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """``said``: what it comes to; ``about``: its words (what it found, where), ``item``: the event that carries it; ``step``: the model call it belongs to or
    follows; ``inside``: the call within which it was given."""

    name: str
    said: Said
    action: str
    text: str
    item: Mark | Step
    step: Step | None
    inside: Run | None
    of_answer: bool

    @property
    def seq(self) -> int:
        return self.item.seq


def run(case: Case) -> Iterator[Finding]:
    """For each guardrail its surest finding."""
    made: dict[str, Finding] = {}
    for verdict in verdicts(case):
        found = _of_verdict(case, verdict)
        if found is not None and (verdict.name not in made or made[verdict.name].confidence < found.confidence):
            made[verdict.name] = found
    yield from made.values()
    passed = [(step, mark) for step, mark in case.story.marks("guardrail") if not mark.bad and _detected(mark.body.value) is None]
    for mark, sure, statement, shown in blind(case, passed) if passed else ():
        name = str(mark.detail.get("id") or "(unnamed)")
        if name not in made:
            made[name] = _finding(mark, "the guardrail's verdict: it let it pass", sure, statement, shown)
            yield made[name]
    if not made:
        yield from _answered_open(case)
        yield from _without(case)


def verdicts(case: Case) -> list[Verdict]:
    """Those that were not a plain yes, in order."""
    found: list[Verdict] = []
    told: set[str] = set()
    steps = {step.event_id: step for step in case.story.steps}
    for step, mark in case.story.marks("guardrail"):
        call = steps.get(str(mark.detail.get("call_id")))
        if call is not None:
            told.add(call.event_id)
        said = _reading(str(mark.detail.get("action") or "")) if mark.bad else _detected(mark.body.value)
        if said is not None:
            name, source = str(mark.detail.get("id") or "(unnamed)"), str(mark.detail.get("source") or "")
            found.append(
                Verdict(
                    name=name, said=said, action=str(mark.detail.get("action") or ""), text=textual(mark.body.value)[:8000], item=mark, step=call or step,
                    inside=_inside(case, mark), of_answer=call is not None and source.upper() != "INPUT",
                )
            )  # fmt: skip
    for step in case.story.steps:
        guard = step.call.guardrail
        if not guard or step.event_id in told:
            continue
        trace = _trace(step)
        said = "stopped" if str(guard.get("action")) == "INTERVENED" else _detected(trace)
        if said is not None:
            found.append(
                Verdict(
                    name=str(guard.get("id") or "(unnamed)"), said=said, action=str(guard.get("action") or ""), text=textual(trace)[:8000] if trace else "",
                    item=step, step=step, inside=None, of_answer=True,
                )
            )  # fmt: skip
    return sorted(found, key=lambda verdict: verdict.seq)


def _reading(action: str) -> Said | None:
    return (
        "not run" if _NOT_RUN.search(action) else "stopped" if _STOPPED.search(action) else "flagged" if _FLAGGED.search(action) else None
    )


def _inside(case: Case, mark: Mark) -> Run | None:
    return next((one for _, one in case.story.runs() if mark in one.children), None)


def _trace(step: Step) -> Any:
    value = step.reply_value.value
    if not isinstance(value, dict):
        return None
    trace = value.get("trace") or value.get("amazon-bedrock-trace")
    return trace.get("guardrail") if isinstance(trace, dict) else None


def _detected(value: Any, depth: int = _DEEP) -> Said | None:
    """Whether an assessment that let something pass says that it had found something (Bedrock: ``detected`` with the action ``NONE``)."""
    if isinstance(value, dict) and depth:
        if value.get("detected") is True and str(value.get("action", "NONE")).upper() == "NONE":
            return "flagged"
        return next((found for item in value.values() if (found := _detected(item, depth - 1))), None)
    if isinstance(value, list) and depth:
        return next((found for item in value if (found := _detected(item, depth - 1))), None)
    return None


def _passes(case: Case, name: str) -> list[int]:
    """The lines at which a guardrail let something pass without having found anything."""
    found = [
        mark.seq
        for _, mark in case.story.marks("guardrail")
        if str(mark.detail.get("id") or "(unnamed)") == name and not mark.bad and _detected(mark.body.value) is None
    ]
    found += [
        step.seq
        for step in case.story.steps
        if (guard := step.call.guardrail) and str(guard.get("id") or "(unnamed)") == name and str(guard.get("action") or "").upper() == "NONE"
        and _detected(_trace(step)) is None
    ]  # fmt: skip
    return found


def _of_verdict(case: Case, verdict: Verdict) -> Finding | None:
    passes = [seq for seq in _passes(case, verdict.name) if seq > verdict.seq]
    stopped = list(_stopped(verdict)) if verdict.said == "stopped" else []
    for effect in effects(case):
        if contains_only(effect) or _REFUSES.search(arguments_of(effect.run)[:2000]) or not _came_about(case, verdict, effect.run):
            continue
        if (
            verdict.said == "stopped"
            and verdict.inside is not None
            and verdict.inside.event_id == effect.run.event_id
            and _heeded(verdict, effect.run)
        ):
            continue
        joins = _another_way(case, verdict, effect, passes, stopped) or _joins(case, verdict, effect)
        if joins is None:
            continue
        sure, how = joins
        if (
            how in ("", ", the same call again", _OPEN)
            and verdict.inside is None
            and any(seq <= effect.run.seq for seq in passes)
            and not _repeats(verdict, effect)
        ):
            continue  # what was stopped was changed, and the guardrail had nothing against it then
        words = {"stopped": "stopped it", "flagged": "flagged it and let it pass", "not run": "did not run"}[verdict.said]
        statement = f"The guardrail “{visible(verdict.name)}” {words} ({visible(verdict.action) or 'no action'}); {called(effect.run).what} was done nonetheless{how}."
        what = f"the guardrail's verdict: {visible(verdict.action) or 'found something'}"
        if how == _BARE and effect.step is not None:  # the cause is the call that was made without it
            return _finding(effect.step, "no guardrail in this request", sure, statement, [cite(verdict.item, what), called(effect.run)])
        return _finding(verdict.item, what, sure, statement, [called(effect.run)])
    return None


#: A guardrail that could not say anything; one that was left out on purpose is another matter.
_BROKE = re.compile(r"error|time[d_ ]*out|unavailable|unreachable|exception", re.IGNORECASE)


def _answered_open(case: Case) -> Iterator[Finding]:
    """A guardrail broke, and the answer that it was to judge was given nonetheless: the last one, which asked for nothing more and declines nothing; and
    neither this guardrail nor another let it pass later."""
    broke = [one for one in verdicts(case) if one.said == "not run" and _BROKE.search(one.action)]
    if not broke or not case.story.steps:
        return
    verdict, last = broke[-1], case.story.steps[-1]
    text = " ".join(part.text for part in last.reply if part.type == "text")
    if last.bad or any(part.type == "tool_use" for part in last.reply) or not text.strip() or _REFUSES.search(text) or _LATER.search(text):
        return
    if verdict.step is None or verdict.step.number != last.number:
        return
    later = [mark for _, mark in case.story.marks("guardrail") if mark.seq > verdict.seq]
    if later or (case.story.end is not None and case.story.end.status != "ok"):
        return
    statement = f"The guardrail “{visible(verdict.name)}” did not run ({visible(verdict.action)}); the answer was given nonetheless."
    what = f"the guardrail's verdict: {visible(verdict.action)}"
    yield _finding(verdict.item, what, LIKELY, statement, [cite(last, "the answer")])


_LATER = re.compile(
    r"\b(?:later|again in|moment|try again|colleague|person|human|support|später|plus tard|más tarde|più tardi|mais tarde)\b", re.IGNORECASE
)


def _came_about(case: Case, verdict: Verdict, run: Run) -> bool:
    """Whether a call came about: it ran, and its result is neither the block itself nor an error."""
    if not happened(run) or run.outcome == "error" or failure(run) is not None:
        return False
    back = f"{run.output.text()[:400]} {run.given.text()[:400]}".lower()
    if verdict.said == "stopped" and len(verdict.name) > 3 and verdict.name.lower() in back:
        return False  # its result tells of the guardrail
    return run.kind != "tool" or run.source != "wire" or run.name not in _declared(case)


def _heeded(verdict: Verdict, run: Run) -> bool:
    """Whether the call within which a verdict was given did nothing behind it: it works by exchanges that are on the record and made none, or its result has
    a plain no."""
    inner = [child for child in run.children if isinstance(child, Run)]
    if run.changes or any(
        child.seq > verdict.seq and (child.kind != "http" or (child.method or "GET").upper() not in _SAFE) for child in inner
    ):
        return False
    value = parsed(run.output.text()[:4000])
    return bool(inner) or (isinstance(value, dict) and any(item is False for item in value.values()))


@once
def _declared(case: Case) -> frozenset[str]:
    """The tools whose function is recorded where it runs."""
    return frozenset(run.name for _, run in case.story.runs() if run.kind == "tool" and run.source in ("declared", "both"))


def _another_way(case: Case, verdict: Verdict, effect: Effect, passes: list[int], stopped: list[Counter[str]]) -> tuple[float, str] | None:
    """What was stopped went out by another tool: the same words, and hardly any others; and nobody, and no guardrail, had a say in between."""
    if not stopped or effect.reach != "outside" or effect.since < verdict.seq or any(seq <= effect.run.seq for seq in passes):
        return None
    own = _given(case)[effect.run.event_id]
    if not any(_same_words(text, own) for text in stopped):
        return None
    asked = verdict.step.number if verdict.step is not None else 0
    later = effect.step.number if effect.step is not None else asked
    spoken = any(passage.kind == "user" and asked < (passage.step or 0) <= later for passage in entered(case))
    allowed = any(verdict.seq < mark.seq < effect.run.seq for _, mark in case.story.marks("approval"))
    if spoken or allowed:
        return None
    tools = {part.name for part in verdict.step.reply if part.type == "tool_use"} if verdict.step is not None else set()
    return STRONG + 0.1, ", in the words that it had stopped" + (", by another tool" if tools and effect.run.name not in tools else "")


def _stopped(verdict: Verdict) -> Iterator[Counter[str]]:
    """The texts that were stopped: those in the verdict, and what the tools of that answer were to be given."""
    body = verdict.item.body.value if isinstance(verdict.item, Mark) else None
    for _, text in values(body):
        if len(told := _spoken(text)) >= _WORDS_LEAST:
            yield told
    for part in verdict.step.reply if verdict.step is not None else ():
        if part.type == "tool_use":
            yield _spoken(part.value)


def _spoken(value: Any) -> Counter[str]:
    texts = [value] if isinstance(value, str) else [text for _, text in values(value)]
    return Counter(word for text in texts for word in _WORD.findall(text[:8000].lower()))


@once
def _given(case: Case) -> dict[str, Counter[str]]:
    """The words that each effect was given."""
    return {effect.run.event_id: _spoken(effect.run.input.value) for effect in effects(case)}


def _same_words(one: Counter[str], other: Counter[str]) -> bool:
    fewer, more = sorted((one.total(), other.total()))
    return fewer >= _WORDS_LEAST and fewer >= _SHARE * more and (one & other).total() >= _SHARE * more


def _joins(case: Case, verdict: Verdict, effect: Effect) -> tuple[float, str] | None:
    """Why an effect is what a guardrail had judged: how sure that is, and a clause."""
    run = effect.run
    weaker = 0.0 if verdict.said == "stopped" else 0.05
    if verdict.inside is not None and verdict.inside.event_id == run.event_id:
        return PROVEN - weaker, ", by the call within which it was asked"
    if verdict.step is None or effect.step is None:
        return (LIKELY, "") if run.seq > verdict.seq and _names(verdict, effect) else None
    if effect.step.number == verdict.step.number:
        if (run.source in ("declared", "both") or run.kind != "tool") and run.seq < verdict.seq:
            return None
        if isinstance(verdict.item, Mark) and not verdict.of_answer and _stopped_another(case, verdict, effect):
            return None
        asked = any(part.type == "tool_use" and part.name == run.name for part in effect.step.reply)
        if asked and (isinstance(verdict.item, Step) or verdict.of_answer):
            return PROVEN - weaker, ", asked for by that very answer"
        if verdict.said == "not run" and not asked and run.seq > verdict.seq and _is_asked_for(effect, effect.step):
            return STRONG + 0.05, _OPEN
        if not asked and not _names(verdict, effect) and not _carries(effect, effect.step):
            return None  # what the agent's code does by itself is often because of the verdict
        return (STRONG + 0.1 - weaker, "") if _names(verdict, effect) or not _other_tool(verdict, effect) else None
    if effect.step.number < verdict.step.number or _tells(verdict, effect):
        return None
    if any(part.type == "tool_use" and part.name == run.name and part.value == run.input.value for part in verdict.step.reply):
        return STRONG + 0.05 - weaker, ", the same call again"
    if (
        verdict.said == "stopped"
        and not effect.step.call.guardrail
        and verdict.step.call.guardrail
        and _same_talk(verdict.step, effect.step)
    ):
        return STRONG + 0.05, _BARE
    if verdict.said != "not run" and _names(verdict, effect) and effect.reach == "outside":
        return LIKELY + 0.05, ""
    return (LIKELY, "") if verdict.said == "not run" and effect.step.number == verdict.step.number + 1 and verdict.inside is None else None


def _stopped_another(case: Case, verdict: Verdict, effect: Effect) -> bool:
    """Whether a verdict is on another call of the same answer: one that came to nothing, or whose own words the verdict has, and not this one's."""
    asked = [part for part in effect.step.reply if part.type == "tool_use"] if effect.step is not None else []
    mine = _spoken(effect.run.input.value)
    others = [part.value for part in asked if part.name != effect.run.name or part.value != effect.run.input.value]
    had = _spoken(verdict.text)
    if mine - had and any(len(told := _spoken(value)) >= 2 and not told - had for value in others):
        return True
    return verdict.said == "stopped" and any(
        run.event_id != effect.run.event_id and run.input.value in others and not _came_about(case, verdict, run)
        for run in _by_step(case).get(effect.step.number if effect.step is not None else 0, ())
    )


@once
def _by_step(case: Case) -> dict[int, list[Run]]:
    """The tool calls that ran, by the number of the step that asked for them."""
    found: dict[int, list[Run]] = {}
    for step, run in case.story.runs():
        if step is not None and run.kind == "tool" and run.outcome != "asked":
            found.setdefault(step.number, []).append(run)
    return found


def _tells(verdict: Verdict, effect: Effect) -> bool:
    """Whether an effect tells somebody that something was stopped."""
    given = arguments_of(effect.run)[:8000]
    name = _spoken(verdict.name)
    return bool(sum(name.values()) >= 2 and not name - _spoken(given)) or bool(_TOLD.search(given))


def _repeats(verdict: Verdict, effect: Effect) -> bool:
    """Whether an effect is, word for word, the call that was stopped."""
    asked = verdict.step.reply if verdict.step is not None else ()
    return any(part.type == "tool_use" and part.name == effect.run.name and part.value == effect.run.input.value for part in asked)


def _same_talk(one: Step, other: Step) -> bool:
    return one.seen.conversation == other.seen.conversation or one.lane == other.lane


def _names(verdict: Verdict, effect: Effect) -> bool:
    """Whether a verdict's own words name the effect: its tool, or what only this call has."""
    text = verdict.text + " " + verdict.name
    given = arguments_of(effect.run)[:8000]
    tool = effect.run.name.lower()
    if identifiers(given) & identifiers(text) or (effect.run.kind == "tool" and len(tool) > 3 and tool in text.lower()):
        return True
    own = stems(given) | stems(effect.run.title[:2000])
    shared = len(stems(text) & own)
    return shared >= 3 and shared * 3 >= len(own)


def _carries(effect: Effect, step: Step) -> bool:
    """Whether an effect of the agent's own code has what the model had answered."""
    text = " ".join(part.text for part in step.reply if part.type == "text")
    given = arguments_of(effect.run)[:8000]
    return bool(identifiers(text) & identifiers(given)) or len(stems(text[:8000]) & stems(given)) >= 3


def _is_asked_for(effect: Effect, step: Step) -> bool:
    """Whether an exchange or a command has what a tool was to be given: all of it that says anything."""
    sent = " ".join(text for _, text in values(effect.run.input.value))[:20_000] + " " + effect.run.title[:2000]
    for part in step.reply:
        if part.type == "tool_use" and part.name:
            given = [text for _, text in values(part.value) if len(text) > 2]
            if given and all(text in sent for text in given):
                return True
    return False


def _other_tool(verdict: Verdict, effect: Effect) -> bool:
    """Whether the verdict names another call of the same answer."""
    asked = [part for part in verdict.step.reply if part.type == "tool_use"] if verdict.step is not None else []
    text = verdict.text.lower()
    return any(part.name and part.name != effect.run.name and part.name.lower() in text for part in asked)


def _without(case: Case) -> Iterator[Finding]:
    """Calls of one conversation with a guardrail and without; the effect came by one without."""
    guarded: dict[tuple[str, int], list[Step]] = {}
    bare: list[Step] = []
    for step in case.story.steps:
        key = (step.call.operation.lower().removesuffix("stream"), step.seen.conversation)
        if step.call.guardrail:
            guarded.setdefault(key, []).append(step)
        elif not step.bad:
            bare.append(step)
    for step in bare if guarded else ():
        same = guarded.get((step.call.operation.lower().removesuffix("stream"), step.seen.conversation))
        others = same or [one for steps in guarded.values() for one in steps]
        wrong = hard(case)
        for effect in effects(case):
            mine = effect.step is not None and effect.step.number == step.number
            if not mine or effect.reach != "outside" or not happened(effect.run) or not (same or wrong):
                continue
            name = str((others[0].call.guardrail or {}).get("id") or "(unnamed)")
            statement = f"Step {step.number} was asked without the guardrail “{visible(name)}”, which {len(others)} other calls have; {called(effect.run).what} came by it."
            shown = [cite(others[0], "a call with the guardrail"), called(effect.run), *(one.evidence() for one in wrong[:2])]
            yield _finding(step, "no guardrail in this request", STRONG if same and wrong else LIKELY + 0.05, statement, shown)
            return


def _finding(item: Mark | Step, what: str, sure: float, statement: str, shown: list[Evidence]) -> Finding:
    return Finding(
        cause="policy", analysis=NAME, confidence=sure, first_event=item.event_id, first_seq=item.seq, evidence=joined([cite(item, what), *shown]),
        statement=statement,
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="a guardrail that was ignored, bypassed or stopped nothing", run=run)
