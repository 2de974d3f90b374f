"""Instructions of one prompt that cannot both be followed.

Cause: two sentences of the system prompt that one request holds: one forbids what the other asks for or allows; one says to do something first, or to ask, and the other to go ahead without it;
two name different limits of the same thing; two want another language, format or unit. Consequence: an effect on the matter that follows the one and breaks
the other; or, where it is about the answer, a session that shows by itself that it went wrong.

A rule with its exception is no contradiction, and neither are the lines of a table of tiers. What contradicts in meaning alone, without a common word, is not
seen; an instruction that comes in later, from elsewhere, is another analysis' matter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.commands import is_check
from tachograph.postmortem.language.amounts import amounts
from tachograph.postmortem.language.terms import identifiers, words, words_of
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.actions import allowed, doings
from tachograph.postmortem.meaning.citing import called, joined, said
from tachograph.postmortem.meaning.effects import effects
from tachograph.postmortem.meaning.instructions import instructions, stems
from tachograph.postmortem.meaning.once import once
from tachograph.postmortem.meaning.symptoms import doing, hard, touched, violates

from .contract import LIKELY, STRONG, Analysis, Finding
from .lifted_rule import followed, may_lift, prevails, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.actions import Action
    from tachograph.postmortem.meaning.effects import Effect
    from tachograph.postmortem.meaning.instructions import Instruction

NAME = "contradicting_instructions"

_ASK_FIRST = re.compile(
    r"\b(?:ask|confirm\w*|approv\w*|permission|sign[- ]?off|authori[sz]ation|consent|review(?:ed)?|human|manager|supervisor|wait for)\b",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\b(?:immediately|right away|at once|straight away|directly|automatically|autonomously|on your own|yourself|without (?:asking|approval|confirmation|confirming|waiting|permission|review|delay|further)"
    r"|(?:do not|don't|don’t|never) (?:ask|wait|confirm|request)|no (?:approval|confirmation|need))\b",
    re.IGNORECASE,
)
#: What has to come before something, and what says to leave it out.
_FIRST = re.compile(r"\b(?:without|before|until|unless|only after|only once|only when)\b([^.;:]{3,160})", re.IGNORECASE)
_LEAVES_OUT = re.compile(
    r"\b(?:skip\w*|leave out|omit\w*|without|instead of|rather than|no need|not (?:need|necessary|required|worth)|(?:do not|don't|don’t|never|not) (?:run|wait|do|check|verify|test|bother)"
    r"|later|afterwards?|at once|immediately|right away|straight away|straight|directly|as soon as|in (?:a )?(?:hurry|one go)|not run)\b",
    re.IGNORECASE,
)
#: What one kind of people or things gets and another does not.
_TIER = re.compile(
    r"\b(?:unless|except\w*|otherwise|if|when|in case|during|outside|only|vip|gold|silver|premium|enterprise|basic|tier|level|priority|severity|sev\d|p\d|class|category|new customers?|members?|emergenc\w+|managers?)\b"
    r"|\bfor (?!the\b|all\b|any\b|every\b|each\b|a\b|an\b)\w+",
    re.IGNORECASE,
)
#: What makes an instruction hold whatever comes.
_ALWAYS = re.compile(
    r"\b(?:without (?:any )?exceptions?|no exceptions?|regardless(?: of [\w ]{1,40})?|no matter (?:what|who|which|how)|in (?:all|any|every) cases?"
    r"|under (?:all|any) circumstances|at all times)\b",
    re.IGNORECASE,
)
#: “… every one, including the first”: what is named behind it is no exception.
_EVEN = re.compile(r"\b(?:every|each|all|any)\b[^.;]{1,120}?\b(?:including|even)\b([^.;,]{2,60})", re.IGNORECASE)
#: Of each set an answer can have one.
_EITHER = tuple(
    frozenset(words.split())
    for words in (
        "english german french spanish italian portuguese dutch japanese chinese polish", "json yaml xml csv markdown prose html", "formal informal casual", "metric imperial",
        "celsius fahrenheit", "usd eur gbp dollars euros pounds", "miles kilometers kilometres", "cents euros dollars",
    )
)  # fmt: skip
_ANSWERING = re.compile(r"\b(?:answer|respond|reply|write|output|return|use|give|report|speak|format|express|convert)\w*\b", re.IGNORECASE)
#: What a command that checks work is called in a prompt.
_CHECKED = stems("test tests suite checks check lint build verification")
#: Sentences before and behind the one that says that its part of the prompt goes before others.
_BLOCK = 8
#: Sentences of a prompt that are compared with one another.
_MOST = 250


def run(case: Case) -> Iterator[Finding]:
    """At most one finding for each prompt: its surest."""
    prompts: dict[str, list[Instruction]] = {}
    for each in instructions(case):
        if ".tools[" not in each.position:
            prompts.setdefault(each.event_id, []).append(each)
    for rules in prompts.values():
        made = [*_of_prompt(case, rules[:_MOST]), *_lifted(case, rules[:_MOST])]
        if made:
            yield max(made, key=lambda found: found.confidence)


def _of_prompt(case: Case, rules: Sequence[Instruction]) -> Iterator[Finding]:
    telling = [rule for rule in rules if rule.tone != "tells" or rule.about]
    for place, one in enumerate(telling):
        for other in telling[place + 1 :]:
            if one.text != other.text and (one.about & other.about or _either(one, other)):
                yield from of_pair(case, one, other)


def _lifted(case: Case, rules: Sequence[Instruction]) -> Iterator[Finding]:
    """A later sentence lifts an earlier one, says the contrary or stands in a part that is to go before others, and an effect follows it."""
    halves = [(half, rule) for rule in rules for half in split(rule.text)]
    ahead = {near for place, (sentence, _) in enumerate(halves) if prevails(sentence) for near in range(place - _BLOCK, place + _BLOCK + 1)}
    for place, (sentence, other) in enumerate(halves):
        if not place or prevails(sentence) or not (place in ahead or may_lift(sentence, flatly=True)):
            continue
        known = doings(case)
        actions = [one for one in known.acting if (one.step is None or one.step.seq >= rules[0].seq) and not allowed(case, one.run)][:_MOST]
        beside = " ".join(half for half, _ in halves[place : place + 2])
        flatly = place not in ahead
        for text, action in followed(
            known, [half for half, _ in halves[:place]], sentence, beside, actions, flatly=flatly, ahead=not flatly
        ):
            rule = next(one for half, one in halves if half == text)
            shown = [called(action.run)]
            yield _finding(rule, other, STRONG, f"{shown[0].what} follows the later one, against the first", shown)
            return


def of_pair(case: Case, one: Instruction, other: Instruction) -> Iterator[Finding]:
    """What is to be said of two sentences."""
    if {one.tone, other.tone} & {"forbids"} and one.tone != other.tone:
        forbids, wants = (one, other) if one.tone == "forbids" else (other, one)
        yield from _opposed(case, forbids, wants)
    yield from _ask_or_not(case, one, other)
    yield from _before_or_without(case, one, other)
    yield from _limits(case, one, other)
    yield from _answers(case, one, other)


def _opposed(case: Case, forbids: Instruction, wants: Instruction) -> Iterator[Finding]:
    """One forbids what the other wants."""
    shared = forbids.about & wants.about
    always = _ALWAYS.sub(" ", wants.text)
    if forbids.bound or forbids.beyond is not None or not forbids.verbs & wants.about or len(shared) < 2 or _TIER.search(always):
        return
    # What is wanted whatever comes leaves no room for what is forbidden of it; else the effect has to be about just that.
    even = _EVEN.search(wants.text)
    flat = always != wants.text or (even is not None and bool(words(even[1]) & words(forbids.text)))
    done = next(
        (
            effect
            for effect in effects(case)
            if effect.since >= forbids.seq
            and wants.about & _doing(case, effect)
            and (
                violates(effect, forbids)
                or (flat and forbids.verbs & _doing(case, effect) and shared - forbids.verbs & (touched(effect) | _read_for(case, effect)))
            )
        ),
        None,
    )
    if done is not None:
        yield _finding(
            forbids, wants, STRONG + 0.05, f"{called(done.run).what} does what the one forbids and the other wants", [called(done.run)]
        )
    elif len(shared) * 2 >= len(forbids.about | wants.about) and (wrong := hard(case)):
        yield _finding(forbids, wants, LIKELY, wrong[0].what, [wrong[0].evidence()])


def _doing(case: Case, effect: Effect) -> frozenset[str]:
    """What an effect does, and what the tool call says in which it was made."""
    outer = _outer(case).get(effect.run.seq)
    return doing(effect) | (frozenset(stem(word) for word in words_of(outer.run.name)) if outer is not None else frozenset())


@once
def _outer(case: Case) -> dict[int, Action]:
    return {
        action.effect.run.seq: action for action in doings(case).acting if action.effect is not None and action.effect.run is not action.run
    }


def _read_for(case: Case, effect: Effect) -> frozenset[str]:
    """The stems of the names of those calls before an effect that were about the same thing, by an identifier."""
    outer = _outer(case).get(effect.run.seq)
    mine = identifiers((outer.run if outer is not None else effect.run).title[:2000])
    found: set[str] = set()
    for _, run in case.story.runs():
        if run.seq < effect.run.seq and mine & identifiers(run.title[:2000]):
            found |= {stem(word) for word in words_of(run.name)}
    return frozenset(found)


def _ask_or_not(case: Case, one: Instruction, other: Instruction) -> Iterator[Finding]:
    """One says to ask first, the other to go ahead."""
    for asks, acts in ((one, other), (other, one)):
        if (
            not _ASK_FIRST.search(asks.text)
            or _AT_ONCE.search(asks.text)
            or not _AT_ONCE.search(acts.text)
            or _TIER.search(_without_forbidding(acts.text))
        ):
            continue
        if asks.beyond is not None and acts.at_most is not None and acts.at_most <= asks.beyond:
            continue  # up to the limit by itself, above it with approval
        for effect in effects(case):
            if (
                effect.since >= max(asks.seq, acts.seq)
                and asks.about & acts.about & doing(effect)
                and _concerned(effect.run.input.value, asks.beyond)
            ):
                yield _finding(asks, acts, STRONG, f"{called(effect.run).what} was done", [called(effect.run)])
                return


def _before_or_without(case: Case, one: Instruction, other: Instruction) -> Iterator[Finding]:
    """One says to do something first, the other to go ahead without it; and it was not done first."""
    for rule, haste in ((one, other), (other, one)):
        wanted = _FIRST.search(rule.text)
        if wanted is None or rule.tone not in ("forbids", "asks") or not _LEAVES_OUT.search(haste.text):
            continue
        # “Never X without Y” and “Y before you X” have them the other way round.
        first, then = stems(rule.text[: wanted.start()]), stems(wanted[1])
        if rule.tone != "forbids" and wanted[0].lower().startswith("before"):
            first, then = then, first
        needed, deed = then - first, first - then
        if not needed & haste.about or not (deed & haste.about):
            continue
        for effect in effects(case):
            missing = needed - doing(effect)
            if missing and effect.since >= max(rule.seq, haste.seq) and deed & doing(effect):
                if not _done_before(case, missing, effect):
                    yield _finding(rule, haste, STRONG, f"{called(effect.run).what} was done without it", [called(effect.run)])
                return


def _done_before(case: Case, needed: frozenset[str], effect: Effect) -> bool:
    """Whether some call before an effect is about what has to come first."""
    for _, run in case.story.runs():
        if run.seq != effect.run.seq and run.start_ms <= effect.run.start_ms and run.outcome != "asked":
            about = stems(run.title[:1000])
            if needed & about or (is_check(run) and needed & _CHECKED):
                return True
    return False


def _concerned(value: object, beyond: float | None) -> bool:
    return beyond is None or any(amount > beyond for _, amount in amounts(value))


def _without_forbidding(text: str) -> str:
    return re.sub(r"\b(?:if|when) (?:asked|possible|needed)\b", " ", text)


def _limits(case: Case, one: Instruction, other: Instruction) -> Iterator[Finding]:
    """Two limits of the same thing, and an effect between them."""
    first, second = (rule.at_most if rule.at_most is not None else rule.beyond for rule in (one, other))
    if first is None or second is None or first == second or _TIER.search(one.text) or _TIER.search(other.text):
        return
    apart, together = one.about ^ other.about, one.about | other.about
    differ = {word for word in apart if not word.replace(".", "").isdigit()}
    if differ and len(one.about & other.about) * 5 >= len(together) * 3:
        return  # lines of a table: alike but for what each is about
    low, high = sorted((first, second))
    for effect in effects(case):
        if effect.since < max(one.seq, other.seq) or not one.about & other.about & (doing(effect)):
            continue
        if any(low < amount <= high for _, amount in amounts(effect.run.input.value)):
            yield _finding(one, other, STRONG, f"{called(effect.run).what} is within the one and beyond the other", [called(effect.run)])
            return


def _either(one: Instruction, other: Instruction) -> bool:
    return any(_choice(one, choices) and _choice(other, choices) for choices in _EITHER)


def _choice(rule: Instruction, choices: frozenset[str]) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", rule.text.lower())) & choices


def _answers(case: Case, one: Instruction, other: Instruction) -> Iterator[Finding]:
    """Two kinds of answer, of which it can be one."""
    if (
        one.bound
        or other.bound
        or "forbids" in (one.tone, other.tone)
        or not (_ANSWERING.search(one.text) and _ANSWERING.search(other.text))
    ):
        return
    for choices in _EITHER:
        first, second = _choice(one, choices), _choice(other, choices)
        if len(first) == 1 and len(second) == 1 and first != second and not _TIER.search(one.text) and not _TIER.search(other.text):
            wrong = hard(case)
            if wrong:
                yield _finding(one, other, LIKELY + 0.05, wrong[0].what, [wrong[0].evidence()])
            return


def _finding(one: Instruction, other: Instruction, sure: float, clause: str, shown: list[Evidence]) -> Finding:
    first = [Evidence(event_id=rule.event_id, seq=rule.seq, what=f"{rule.position}: {said(rule.text)}") for rule in (one, other)]
    return Finding(
        cause="prompt", analysis=NAME, confidence=sure, first_event=one.event_id, first_seq=one.seq, evidence=joined([*first, *shown]),
        statement=f"The system prompt says {said(one.text)} and {said(other.text)}; {clause}.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="instructions of a prompt that cannot both be followed", run=run)
