"""One of several like pairs is unlike the others: each time a value was looked up for a thing and then used for that same thing, unchanged; once, another
value was used, which nobody had said.

Pairs are told by what they have in common: the same tool, the same arguments' names, the same field of the records that were looked up. At least three
pairs that agree, with as many values, say that the field is what the argument takes; the one that does not agree is told where its value is a slip of the
looked-up one, or stands nowhere and cannot be worked out from the record and from what people said. One that was put right afterwards is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.computed import computable, is_number, numbers
from tachograph.postmortem.language.terms import names_one, terms
from tachograph.postmortem.meaning.records import Record, records

from .turned_out import is_slip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

#: Pairs that have to agree, passages before an action that are looked at for its record, calls of one tool that are laid side by side.
_AGREE, _NEAR, _MOST = 3, 40, 400
#: A value with fewer digits may be anything.
_DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class Odd:
    """``text``: the value that was used for ``path``; ``shown``: the one that ``seen`` has in ``field``; ``agree``: how many others are as looked up."""

    action: Action
    path: str
    text: str
    field: str
    shown: str
    seen: Passage
    agree: int


def odd_ones(known: Doings) -> Iterator[Odd]:
    """The pairs that are unlike their like, in the order of their tools."""
    alike: dict[tuple[str, tuple[str, ...]], list[Action]] = {}
    for action in known.acting:
        if action.step is not None and action.asked is not None and action.run.kind == "tool":
            alike.setdefault((action.name, tuple(sorted(path for path, _ in action.leaves))), []).append(action)
    for together in alike.values():
        if len(together) > _AGREE:
            yield from _of_tool(together[:_MOST], known)


def _of_tool(together: list[Action], known: Doings) -> Iterator[Odd]:
    looked_up = [(action, found) for action in together if (found := _record_of(action, known)) is not None]
    if len(looked_up) <= _AGREE:
        return
    for path, _ in together[0].leaves:
        for field in dict.fromkeys(name for _, (record, _) in looked_up for name, _ in record.fields):
            same: set[str] = set()
            other: list[Odd] = []
            for action, (record, seen) in looked_up:
                text, shown = next(one for where, one in action.leaves if where == path), record.get(field)
                if shown is None:
                    continue
                if terms(text) == terms(shown):
                    same.add(text)
                else:
                    other.append(Odd(action=action, path=path, text=text, field=field, shown=shown, seen=seen, agree=0))
            if len(same) < _AGREE or len(other) * _AGREE > len(same):
                continue
            for one in other:
                if _made_up(one, known) and not _put_right(one, together):
                    yield Odd(action=one.action, path=path, text=one.text, field=field, shown=one.shown, seen=one.seen, agree=len(same))


def _record_of(action: Action, known: Doings) -> tuple[Record, Passage] | None:
    """The latest record of the thing that an action names: it has the same identifier, or is all that a call for it returned."""
    names = frozenset(
        found[0] for _, text in action.leaves if len(found := terms(text)) == 1 and names_one(found[0]) and not is_number(text)
    )
    if not names:
        return None
    for passage in reversed(known.recent(action.before, _NEAR)):
        if passage.kind not in ("tool_result", "document", "file"):
            continue
        every = records(passage.text)
        mine = [one for one in every if names & one.terms and any(terms(value) and terms(value)[0] in names for _, value in one.fields)]
        if not mine and len(every) == 1 and passage.event_id in known.by_event and names & known.by_event[passage.event_id].terms:
            mine = list(every)
        if len(mine) == 1:
            return mine[0], passage
    return None


def _made_up(one: Odd, known: Doings) -> bool:
    """Whether nobody had said the value that was used, and it is none that a person would work out."""
    if sum(map(str.isdigit, one.text)) < _DIGITS or len(one.text) > 60 or len(found := terms(one.text)) != 1:
        return False
    place = known.first_told(found[0])
    if place is not None and place < one.action.before:
        return False
    if is_slip(found[0], one.shown.strip().lower()) or is_slip(one.text, one.shown):
        return True
    if not is_number(one.text) or not is_number(one.shown):
        return False
    said = "\n".join(known.own_words(passage)[:8000] for passage in known.users(one.action.before))
    said += "\n".join(
        passage.text[:8000] for passage in known.passages[:12] if passage.kind == "system" and not passage.position.endswith(".schema")
    )
    return not computable(float(found[0]), [], [*numbers(one.seen.text[:8000]), *numbers(said)])


def _put_right(one: Odd, together: list[Action]) -> bool:
    """Whether the same call was made again with the value that was looked up."""
    rest = [leaf for leaf in one.action.leaves if leaf[0] != one.path]
    return any(
        other.run.seq > one.action.run.seq
        and terms(one.shown) in [terms(text) for where, text in other.leaves if where == one.path]
        and rest == [leaf for leaf in other.leaves if leaf[0] != one.path]
        for other in together
    )
