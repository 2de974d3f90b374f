"""An answer claims that something was done which the record's effects contradict or lack.

*Cause and consequence* are one: a claim of an act (``claims.py``: sent, paid, deployed, cancelled, tests passed) in an answer. It is held
against everything that ran before it, by the kind of doing and by the words: nothing of the kind ran; it ran and failed, or was refused; the last
tests failed, or none ran; or what ran had other amounts or addresses than those claimed.

Where another analysis explains the claim (a failure that was misread), that one stands first (``ranking.py``).

*Cannot see*: a claim about something that tools were not asked for and that leaves no effect; claims in another language than English. In a transcript
of another tool, where calls may be missing, only contradictions are named.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import quoted

from .actions import Action, Doings, doings
from .citing import said
from .claims import Claim, claims
from .contract import LIKELY, STRONG, Analysis, Finding
from .results import check_failed, checks, failure
from .terms import identifiers, terms
from .verbs import groups, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case

_MONEY = re.compile(r"(?:[$€£]|\b(?:EUR|USD|GBP|CHF)\s?)\s?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?)\s?(?:[€$£]|(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds)\b)")  # fmt: skip
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def find(case: Case) -> Iterator[Finding]:
    """The first claim of each answer that does not hold."""
    known = doings(case)
    for reply in known.replies:
        done = [action for action in known.actions if action.step is None or action.step.number < reply.step.number]
        for claim in claims(reply):
            shown = _of_tests(done, case) if claim.tests else _of_acts(claim, done, known, case)
            if shown is None:
                continue
            why, confidence, evidence = shown
            yield Finding(
                cause="claim", analysis="false_claim", confidence=confidence, first_event=reply.step.event_id, first_seq=reply.step.seq,
                evidence=(*evidence, reply.cite(f"it claims: {said(claim.sentence)}")),
                statement=f"The answer claims {said(claim.sentence)}, but {why}.",
            )  # fmt: skip
            break


_Shown = tuple[str, float, tuple[Evidence, ...]]


def _of_tests(done: list[Action], case: Case) -> _Shown | None:
    ran = [action for action in done if checks(action.run) or any(checks(run) for run in _inside(action))]
    if not ran:
        named = any("test" in action.stems for action in done)
        return None if case.imported or named or not _could_test(done) else ("no test was run", STRONG - 0.05, ())
    latest = ran[-1]
    if latest.run.outcome == "asked":
        return ("the tests were asked for and never ran", STRONG, (latest.cite("they never ran"),)) if not case.imported else None
    same = [action for action in ran if action.run.title == latest.run.title]
    if check_failed(same[-1].run) or any(check_failed(run) for run in _inside(latest) if checks(run)):
        return f"the last check failed ({quoted(latest.run.title, 80)})", STRONG + 0.08, (latest.cite("the last check failed"),)
    return None


def _could_test(done: list[Action]) -> bool:
    """Whether the session worked on files or code at all, so that “tested” means a run."""
    return any(action.run.changes or action.run.kind == "process" or action.groups & {"change", "run", "commit"} for action in done)


def _inside(action: Action) -> Iterator[Run]:
    for child in action.run.children:
        if isinstance(child, Run):
            yield child


def _of_acts(claim: Claim, done: list[Action], known: Doings, case: Case) -> _Shown | None:
    alike = [action for action in done if _does(action, claim)]
    good = [action for action in alike if action.run.outcome == "ok" and failure(action.run) is None]
    if not alike:
        return _lacking(claim, done, known, case)
    if not good:
        latest = alike[-1]
        if latest.run.outcome in ("asked", "cut"):
            return None if case.imported else (f"{quoted(latest.run.title, 80)} never ran", STRONG, (latest.cite("it never ran"),))
        told = failure(latest.run)
        return f"{quoted(latest.run.title, 80)} failed" + (f" ({said(told.what)})" if told is not None else ""), STRONG, (latest.cite("it failed"),)  # fmt: skip
    return _otherwise(claim, good)


def _does(action: Action, claim: Claim) -> bool:
    """Whether an action may be what a claim speaks of."""
    if claim.verb in action.stems or claim.groups & action.groups:
        return True
    if action.run.kind != "tool" or action.groups & {"run"} or not action.groups:
        return bool(claim.groups & groups(action.stems)) or bool(action.effect and claim.about & action.stems)
    return any(claim.groups & groups(stems(child.title)) for child in action.run.children if hasattr(child, "title"))


def _lacking(claim: Claim, done: list[Action], known: Doings, case: Case) -> _Shown | None:
    if case.imported or claim.reply.step.seen.state != "there":
        return None
    if any(action.effect is not None and not action.groups and action.ok for action in done):
        return None  # a tool whose name says nothing may have done it
    if not claim.first:
        spoken = {
            stem for passage in known.passages[: claim.reply.before] if passage.kind != "model" for stem in stems(passage.text[:20_000])
        }
        if claim.verb in spoken or any(action.effect is not None and action.ok and claim.about & action.stems for action in done):
            return None
    elif any(action.effect is not None and action.ok and len(claim.about & action.stems) >= 2 for action in done):
        return None
    if not claim.first and not done:
        return None
    return "nothing of the kind was done", STRONG if claim.first else LIKELY, ()


def _otherwise(claim: Claim, good: list[Action]) -> _Shown | None:
    """What ran had other amounts or addresses."""
    amounts = {term for match in _MONEY.finditer(claim.sentence) for term in terms(match.group(1) or match.group(2))}
    latest = good[-1]
    seen = frozenset().union(*(action.terms | frozenset(terms(action.run.output.text()[:20_000])) for action in good))
    numbers = {term for action in good for term in action.terms if re.fullmatch(r"\d+(?:\.\d+)?", term)}
    if amounts and numbers and not amounts & seen and not _in_cents(amounts, numbers):
        return f"what ran has other amounts ({quoted(latest.run.title, 100)})", STRONG, (latest.cite("with other amounts"),)
    mails = {found.lower().rstrip(".") for found in _MAIL.findall(claim.sentence)}
    given = {found.lower() for action in good for _, text in action.leaves for found in _MAIL.findall(text)}
    if mails and given and not mails & given and not mails & seen:
        return f"it went elsewhere ({quoted(latest.run.title, 100)})", STRONG, (latest.cite("with another address"),)
    named = identifiers(claim.sentence)
    shapes = {_shape(one): one for action in good for one in action.identifiers}
    other = [one for one in named if one not in seen and _shape(one) in shapes and any(character.isalpha() for character in one)]
    if other and not named & seen:
        return f"it was done to {shapes[_shape(other[0])]}, not to {other[0]} ({quoted(latest.run.title, 100)})", LIKELY, (latest.cite("with another identifier"),)  # fmt: skip
    return None


def _in_cents(amounts: set[str], numbers: set[str]) -> bool:
    return any(float(one) * 100 == float(other) or float(other) * 100 == float(one) for one in amounts for other in numbers)


def _shape(term: str) -> str:
    return re.sub(r"\d+", "9", term)


ANALYSIS = Analysis(name="false_claim", looks_for="an answer that claims what the record's effects contradict or lack", run=find)
