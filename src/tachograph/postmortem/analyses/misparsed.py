"""A figure that a tool was asked with, as the tool's own code read it: what it sent on has another number in its place.

Told by comparing: the argument is one figure that can be read in one way only (``1.250,00``); the exchange or command that was made for the call (within it,
or between the request for it and its result) does not have that number, and has the one that comes of reading it by the rules of another place
(``figures.py``). The same argument with the same text, or in hundredths, is what it should be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.figures import figures, misread, readings, whole
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import values, words_of
from tachograph.postmortem.shapes import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.meaning.actions import Action, Doings

#: Units of which one is a thousand of another.
_THOUSANDS = frozenset(["kg", "km", "kw", "kwh", "mwh", "mw", "kb", "mb", "gb", "tb", "l", "t", "ton", "tons", "tonnes", "k", "thousand", "thousands", "seconds", "sec", "s", "m"])  # fmt: skip


def misparsed(action: Action, known: Doings) -> tuple[Run, str, str, str, str] | None:
    """The run that has another number: it, the argument's path and text, where the other number stands, and it. ``None`` where there is none."""
    if action.run.kind != "tool" or action.step is None or not isinstance(action.given, dict):
        return None
    for path, text in action.leaves:
        written = whole(text) if _is_text(action.given, path) else None
        wrong = misread(written) if written is not None else frozenset()
        if written is None or not wrong:
            continue
        (right,) = readings(written)
        theirs = {one for where, other in action.leaves if where != path for figure in figures(other) for one in figure.readings}
        for run in (*_made_for(action, known), action.run):
            sent = list(_sent(run) if run is not action.run else values(parsed(run.output.text()[:20_000])))
            numbers = [(where, other, readings(figure)) for where, other in sent if (figure := whole(other)) is not None]
            if not _of_call(action, path, sent) or any(_has(right, text, other) for _, other in sent):
                continue
            for where, other, found in numbers:
                value = next(iter(found & wrong - theirs), None)
                if value is not None and not (abs(value * 1000 - right) < 1e-6 and _THOUSANDS & set(words_of(where))):
                    return run, path, text, where.rpartition(".")[2] or where, other
    return None


def _is_text(given: Any, path: str) -> bool:
    return isinstance(given.get(path), str)


def _made_for(action: Action, known: Doings) -> Iterator[Run]:
    """The exchanges and commands within a call; of one that is seen on the wire alone those of its step."""
    waiting = [one for one in action.run.children if isinstance(one, Run)]
    while waiting:
        run = waiting.pop(0)
        if run.kind != "tool":
            yield run
        waiting += [one for one in run.children if isinstance(one, Run)]
    assert action.step is not None
    if not action.run.children and action.run.source in ("wire", "asked"):
        for other in known.by_step.get(action.step.number, ()):
            if other.run.kind in ("http", "process"):
                yield other.run


def _sent(run: Run) -> Iterator[tuple[str, str]]:
    """What an exchange or a command was given, value by value."""
    given = run.input.value
    if isinstance(given, dict) and "body" in given:
        body = given["body"]
        yield from values(parsed(body) if isinstance(body, str) else body)
    elif given is not None:
        yield from values(given)
    if run.kind == "process":
        yield from ((f"[{place}]", word) for place, word in enumerate(run.title.split()[:200]))


def _of_call(action: Action, path: str, sent: list[tuple[str, str]]) -> bool:
    """Whether what was sent is of this call: it has another argument of it as it is."""
    others = {text.strip().lower() for where, text in action.leaves if where != path and len(text.strip()) > 1}
    return any(text.strip().lower() in others for _, text in sent)


def _has(right: float, text: str, other: str) -> bool:
    """Whether a value is the argument: as it is, as a number, in hundredths."""
    if text.strip() in other:
        return True
    return any(abs(one - right * by) < 1e-6 for figure in figures(other) for one in figure.readings for by in (1, 100))
