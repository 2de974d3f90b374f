"""Whether an approver could know how much a call is about that names its things alone: payments by their numbers, orders by theirs.

A record that came in before says of each thing how much it is. An approver knows of it by its name, its amount, or by the sum of all; or by what points to
it (a link, a file, the number of a batch). A title and a count are none of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tachograph.postmortem.language.figures import figures
from tachograph.postmortem.language.terms import identifiers, terms, words_of
from tachograph.postmortem.language.tongues import english_of
from tachograph.postmortem.language.verbs import groups, stem
from tachograph.postmortem.meaning.actions import doings
from tachograph.postmortem.meaning.once import entered, once

from .thresholds import of_things

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.effects import Effect

    from .gates import Gate

#: What a name needs that points to something of which the approver may read more.
_POINTS = ("://", ".pdf", ".csv", ".xls", ".doc", ".htm", "@")
#: Who approves as the one that is spoken with.
_SPOKEN_WITH = frozenset(["user", "customer", "human", "requester", "client", "caller", "owner"])
#: Calls before an effect that may have told somebody of it.
_NEAR = 60


def kept_from(case: Case, effect: Effect, gate: Gate) -> tuple[str, float, bool] | None:
    """The thing with the largest amount of which the approver was shown nothing: its name, the amount, and whether they were shown others of the call or
    how many there are. ``None`` where nothing that matters was kept from them."""
    shown = gate.shown
    if shown is None or not shown.strip() or gate.broad or any(point in shown.lower() for point in _POINTS):
        return None
    about = of_things(case, effect)
    if not about or not _moves_it(effect, about):
        return None
    seen, much = set(terms(shown[:8000])), _numbers(shown[:8000])
    untold = {name: amount for name, amount in about.items() if name.lower() not in seen and not _has(much, amount)}
    if not untold or _has(much, sum(about.values())) or _has(much, sum(untold.values())):
        return None
    most = max(untold, key=lambda name: untold[name])
    told = [amount for name, amount in about.items() if name not in untold]
    if told and max(told) >= untold[most]:
        return None
    if _points_elsewhere(case, shown, about) or _told_otherwise(case, effect, gate, most, untold[most]):
        return None
    return most, untold[most], bool(told) or float(len(about)) in much


def _moves_it(effect: Effect, about: dict[str, float]) -> bool:
    """Whether the amounts are what a call is about: by its name, or since its answer has one of them or their sum."""
    named = {stem(english_of(word) or word) for word in words_of(effect.run.name)}
    if "money" in groups(named):
        return True
    there = _numbers(effect.run.output.text()[:8000])
    return _has(there, sum(about.values())) or _has(there, max(about.values()))


def _numbers(text: str) -> frozenset[float]:
    return frozenset(number for figure in figures(text) for number in figure.readings)


def _has(numbers: frozenset[float], amount: float) -> bool:
    """Whether an amount is among numbers, in wholes or in hundredths."""
    return any(abs(number - amount) < 0.005 or abs(number - amount * 100) < 0.5 for number in numbers)


def _points_elsewhere(case: Case, shown: str, about: dict[str, float]) -> bool:
    """Whether what was shown names something else that the session knows, such as a batch, in which the things stand."""
    named = {one for one in identifiers(shown) if any(c.isalpha() for c in one) and any(c.isdigit() for c in one)}
    named -= {name.lower() for name in about}
    return bool(named & _told(case)) if named else False


@once
def _told(case: Case) -> frozenset[str]:
    """What results and documents name."""
    return frozenset(
        one
        for passage in entered(case)
        if passage.kind in ("tool_result", "document", "file")
        for one in identifiers(passage.text[:20_000])
    )


def _told_otherwise(case: Case, effect: Effect, gate: Gate, name: str, amount: float) -> bool:
    """Whether a message or a form that a call was given before says it; or the talk with the one who approves."""
    known = doings(case)
    own = known.by_event.get(effect.run.event_id)
    before = own.before if own is not None else len(known.passages)
    texts = [
        text
        for action in known.actions_before(before, _NEAR)
        if action.run.seq < effect.run.seq and action.run.name != effect.run.name
        for _, text in action.leaves
        if len(text.split()) > 3
    ]
    if not gate.approver.strip() or set(words_of(gate.approver)) & _SPOKEN_WITH:
        texts += [passage.text for passage in known.recent(before) if passage.kind in ("user", "model")]
    return any(name.lower() in terms(text[:8000]) or _has(_numbers(text[:8000]), amount) for text in texts)
