"""A guardrail that said yes to what its own rule forbids, because it looked at a field that is not there.

*Cause*: a verdict that let something pass holds its rule (a name and a limit: ``discount <= 15``, ``max_discount: 15``), and either the value that it looked
at is empty, or the field that it names is none of the arguments. *Consequence*: the effect that follows was given a number, under a name of that rule, that breaks
the limit.

None where a value was looked at and keeps the limit (it may be in another unit), nor where somebody approved it in between.
*Cannot see*: rules in words without a number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.amounts import number
from tachograph.postmortem.language.terms import values, words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.citing import called, said
from tachograph.postmortem.meaning.effects import Effect, effects
from tachograph.postmortem.meaning.once import once
from tachograph.postmortem.meaning.stopped import happened
from tachograph.postmortem.shapes import Mark, Run
from tachograph.postmortem.values import visible

from .contract import LIKELY, STRONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.shapes import Step

_AT_MOST = r"<=|=<|≤|<|at most|no more than|not more than|not above|must not exceed|may not exceed|up to|max(?:imum|imal|\.)?(?: of)?|below|under|höchstens|unter|au plus|maximum|jusqu['’]à|como máximo|hasta|al massimo|fino a|no máximo|até|hoogstens|ten hoogste|najwyżej"
_AT_LEAST = r">=|=>|≥|>|at least|not below|no less than|min(?:imum|imal|\.)?(?: of)?|above|over|mindestens|über|au moins|al menos|almeno|pelo menos|minstens|co najmniej"
_RULE = re.compile(
    rf"(?:(?<=[\s\d])|\b|\A)(?:(?P<most>{_AT_MOST})|(?P<least>{_AT_LEAST}))\s{{0,3}}(?:[A-Z]{{3}}|[$€£])?\s?(?P<limit>\d[\d_]{{0,12}}(?:[.,]\d{{1,4}}){{0,3}})",
    re.IGNORECASE,
)
_MOST, _LEAST = frozenset(["max", "maximum", "limit", "cap", "ceiling", "most"]), frozenset(["min", "minimum", "floor", "least"])
#: What a verdict calls the value that it looked at, the field that it took it from, and what was to be done.
_LOOKED = frozenset(
    ["value", "actual", "observed", "found", "got", "seen", "checked", "evaluated", "input", "wert", "valeur", "valor", "valore", "waarde"]
)
_FIELD = frozenset(["field", "key", "path", "attribute", "parameter", "argument", "feld", "champ", "campo", "veld", "property"])
_ANY = frozenset(
    stem(word)
    for word in ["number", "id", "value", "max", "min", "limit", "total", "count", "maximum", "minimum", "rule", "without", "per"]
)


#: Effects behind a verdict among which its own is looked for.
_NEAR = 20


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """``names``: stems of what it is about; ``most`` or ``least`` of it that is allowed; ``text``: as it stands there."""

    names: frozenset[str]
    most: float | None
    least: float | None
    text: str

    def broken(self, amount: float) -> bool:
        return (self.most is not None and amount > self.most) or (self.least is not None and amount < self.least)


def blind(case: Case, passed: list[tuple[Step | None, Mark]]) -> Iterator[tuple[Mark, float, str, list[Evidence]]]:
    """Of the verdicts that let something pass those that should not have: how sure, what to say, and what shows it."""
    for step, mark in passed:
        body = mark.body.value
        rules = list(_rules(body)) if isinstance(body, dict) else []
        effect = _judged(case, step, mark) if rules else None
        if effect is None or _approved(case, mark, effect):
            continue
        given = [(path, text) for path, text in values(effect.run.input.value)]
        sight = _sight(body, {path.rpartition(".")[2].lower() for path, _ in given})
        if sight is None:
            continue
        sure, looked = sight
        for rule in rules:
            hit = next((f"{path}={text}" for path, text in given if rule.names & _names(path) and _breaks(rule, text)), None)
            if hit is None:
                continue
            name, action = visible(str(mark.detail.get("id") or "(unnamed)")), visible(str(mark.detail.get("action") or "no action"))
            statement = (
                f"The guardrail “{name}” let it pass ({action}) although its rule is {said(rule.text)}{looked}; "
                f"{called(effect.run).what} was done with {said(hit)}, which breaks it."
            )
            yield mark, sure, statement, [called(effect.run)]
            break


def _rules(body: dict[str, Any]) -> Iterator[_Rule]:
    subject = frozenset(
        stem(fold(word)) for key, item in body.items() if str(key).lower() in _FIELD and isinstance(item, str) for word in words_of(item)
    )
    for path, text in list(values(body))[:60]:
        key = path.rpartition(".")[2]
        words = set(words_of(key.lower()))
        amount = number(text)
        if amount is not None and words & (_MOST | _LEAST) and "." not in path:
            names = frozenset(stem(fold(word)) for word in words - _MOST - _LEAST) or subject
            bound = bool(words & _MOST)
            yield _Rule(names=names - _ANY, most=amount if bound else None, least=None if bound else amount, text=f"{key}: {text}")
            continue
        for found in _RULE.finditer(text[:400]) if amount is None and any(character.isdigit() for character in text) else ():
            limit = number(found["limit"])
            near = text[max(found.start() - 60, 0) : found.end() + 30]
            names = frozenset(stem(fold(word)) for word in words_of(near)) - _ANY
            if limit is not None:
                bound = found["most"] is not None
                yield _Rule(names=names, most=limit if bound else None, least=None if bound else limit, text=text)


def _names(path: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in words_of(path.rpartition(".")[2])) - _ANY


def _breaks(rule: _Rule, text: str) -> bool:
    amount = number(text)
    return amount is not None and rule.broken(amount)


def _sight(body: dict[str, Any], given: set[str]) -> tuple[float, str] | None:
    """How sure it is that the verdict saw nothing of the value, and a clause; ``None`` where it looked at one."""
    field = next((str(item) for key, item in body.items() if str(key).lower() in _FIELD and isinstance(item, str) and item), "")
    looked = [item for key, item in body.items() if str(key).lower() in _LOOKED and not isinstance(item, dict | list)]
    if any(item is not None and str(item).strip() for item in looked):
        return None
    if looked:
        return STRONG + 0.08, f", and what it looked at{f', {said(field)},' if field else ''} was empty"
    if field and field.rpartition(".")[2].lower() not in given:
        return STRONG, f", and it looked at {said(field)}, which is none of the arguments"
    return (LIKELY + 0.05, "") if not field else None


def _judged(case: Case, step: Step | None, mark: Mark) -> Effect | None:
    """The effect that a verdict was about: the call within which it was given, else the next one of its step."""
    within, every = _places(case)
    effect = within.get(mark.event_id)
    if effect is not None:
        return effect if happened(effect.run) and _went_on(effect.run, mark) else None
    for effect in every[bisect_right(every, mark.seq, key=lambda one: one.run.seq) :][:_NEAR]:
        if step is None or effect.step is None or effect.step.number == step.number:
            return effect if happened(effect.run) else None
    return None


@once
def _places(case: Case) -> tuple[dict[str, Effect], list[Effect]]:
    """By a verdict's event the effect within which it was given; and all effects by their lines."""
    within = {child.event_id: effect for effect in effects(case) for child in effect.run.children if isinstance(child, Mark)}
    return within, sorted(effects(case), key=lambda one: one.run.seq)


def _went_on(run: Run, mark: Mark) -> bool:
    later = [child for child in run.children if isinstance(child, Run) and child.seq > mark.seq]
    return bool(later) or not any(isinstance(child, Run) for child in run.children)


def _approved(case: Case, mark: Mark, effect: Effect) -> bool:
    return any(not other.bad and mark.seq < other.seq < effect.run.seq for _, other in case.story.marks("approval"))
