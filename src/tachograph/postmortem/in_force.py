"""What was in force in one session and not in another, down to the line, the parameter and the field that differ.

``bundle.difference`` compares hashes; where those differ, the texts are read from the requests that show them, and from those alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tachograph.core import events
from tachograph.providers.conversation import Conversation, conversation

from .bundle import Bundle, Change, Detail, bundle, difference, system_text
from .changes import diff_lines
from .definitions import schema_changes
from .seen import tool_texts
from .values import read, textual

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .bundle import Fact
    from .ports import Recording

#: Of the recorder, and of the run, not of what was in force.
_NO_ENVIRONMENT = ("PWD", "OLDPWD", "_", "SHLVL", "PYTHONHASHSEED", "TACHO_STORE", "TACHO_KEY")
#: System prompts of one session that are laid beside those of the other. One that says the time is another one at each call.
_MOST_TEXTS = 8
#: A line that is longer is compared by its sentences: a prompt often is one line, and nobody finds a word in it.
_LONG = 160
_SENTENCE = re.compile(r"(?<=[.!?;:])[ \t]+")
#: Of texts whose likeness is looked at: this much.
_ENOUGH = 20_000


def changes(before: Recording, after: Recording, *, bundles: tuple[Bundle, Bundle] | None = None) -> tuple[Change, ...]:
    """What differs in ``after``. ``bundles``: theirs, where they are at hand."""
    old, new = bundles or (bundle(before), bundle(after))
    sides = _Side(before, old), _Side(after, new)
    found = (replace(change, details=tuple(_details(change, *sides))) for change in difference(old, new))
    return (*found, *_environment(before, after))


class _Side:
    """A session whose requests are viewed where they are needed, each once."""

    def __init__(self, recording: Recording, in_force: Bundle) -> None:
        self.recording = recording
        self.bundle = in_force
        self._talks: dict[int, Conversation | None] = {}

    def talk(self, seq: int) -> Conversation | None:
        """The request of that line; None where it cannot be read."""
        if seq not in self._talks:
            entries = self.recording.entries
            at = bisect_left(entries, seq, key=lambda entry: entry.seq)
            call = entries[at].event if at < len(entries) and entries[at].seq == seq else None
            request = read(self.recording, call.prompt_redacted_uri) if isinstance(call, events.ModelCall) else None
            there = request is not None and request.there and isinstance(call, events.ModelCall)
            self._talks[seq] = conversation(call.provider, call.operation, request.value) if there else None  # type: ignore[union-attr]
        return self._talks[seq]

    def system(self, fact: Fact) -> str | None:
        talk = self.talk(fact.seqs[0])
        return system_text(talk.system) if talk is not None else None

    def tool(self, fact: Fact) -> dict[str, Any] | None:
        talk = self.talk(fact.seqs[0])
        return dict(zip(tool_texts(talk), talk.tools, strict=True)).get(fact.key) if talk is not None else None


def _details(change: Change, before: _Side, after: _Side) -> Iterator[Detail]:
    if change.what == "prompts" and change.key == "system text":
        yield from _systems(before, after)
    elif change.what == "tools":
        yield from _tools(change.key, before, after)
    elif change.what == "parameters" and change.before is not None and change.after is not None:
        yield from _parameters(change.before, change.after)


# -- texts -------------------------------------------------------------------------------------------------------------------


def _systems(before: _Side, after: _Side) -> Iterator[Detail]:
    """Each system prompt that only one session has, beside the likest that only the other has. Nothing where one of them cannot be read: the
    other would seem to have come or gone."""
    old, new = _only(before, after), _only(after, before)
    if old is None or new is None:
        return
    for fact, text in new:
        like = max(old, key=lambda one: _likeness(one[1], text), default=None)
        if like is not None:
            old.remove(like)
        was, was_text = like or (None, "")
        yield Detail(
            name="system prompt", before=was.value["hash"] if was is not None else None, after=fact.value["hash"],
            lines=tuple(text_lines(was_text, text)), seqs=(was.seqs[0] if was is not None else None, fact.seqs[0]),
        )  # fmt: skip
    for fact, text in old:
        yield Detail(
            name="system prompt", before=fact.value["hash"], after=None, lines=tuple(text_lines(text, "")), seqs=(fact.seqs[0], None)
        )


def _only(side: _Side, other: _Side) -> list[tuple[Fact, str]] | None:
    there = {fact.value["hash"] for fact in other.bundle.prompts if fact.key == "system text"}
    found = [fact for fact in side.bundle.prompts if fact.key == "system text" and fact.value["hash"] not in there]
    texts = [(fact, text) for fact in found[:_MOST_TEXTS] if (text := side.system(fact)) is not None]
    return texts if len(texts) == len(found[:_MOST_TEXTS]) else None


def _likeness(one: str, other: str) -> float:
    first, second = set(one[:_ENOUGH].split()), set(other[:_ENOUGH].split())
    return len(first & second) / max(len(first | second), 1)


def text_lines(before: str, after: str) -> list[str]:
    """The hunks of the difference of two texts, ``@@`` between them. Long lines are compared by their sentences, so there are no numbers of
    lines. Empty where the two are the same, or too long."""
    one, other = _cut(before), _cut(after)
    found = diff_lines(one, other) if one != other else diff_lines(before, after)
    return ["@@" if line.startswith("@@") else line for line in found][1:]


def _cut(text: str) -> str:
    return "\n".join("\n".join(_SENTENCE.split(line)) if len(line) > _LONG else line for line in text.split("\n"))


def _tools(name: str, before: _Side, after: _Side) -> Iterator[Detail]:
    old, new = _definition(name, before, after), _definition(name, after, before)
    was, now = (old[1] if old else None), (new[1] if new else None)
    seqs = old[0].seqs[0] if old else None, new[0].seqs[0] if new else None
    first, second = (str(one.get("description") or "") if one is not None else None for one in (was, now))
    if first != second and (first or second):
        lines = tuple(text_lines(first, second)) if first is not None and second is not None else ()
        yield Detail(name="description", before=first, after=second, lines=lines, seqs=seqs)
    if was is not None and now is not None:
        for path, one, other in schema_changes(was, now):
            yield Detail(name=f"schema {path}".strip(), before=one, after=other, seqs=seqs)


def _definition(name: str, side: _Side, other: _Side) -> tuple[Fact, dict[str, Any]] | None:
    """The tool's definition that the other session does not have, else its first."""
    there = {fact.value["hash"] for fact in other.bundle.tools if fact.key == name}
    found = sorted((fact for fact in side.bundle.tools if fact.key == name), key=lambda fact: fact.value["hash"] in there)
    tool = side.tool(found[0]) if found else None
    return (found[0], tool) if tool is not None else None


# -- values ------------------------------------------------------------------------------------------------------------------


def _parameters(before: Any, after: Any) -> Iterator[Detail]:
    """By name; None where it was left to the provider."""
    old, new = _sets(before), _sets(after)
    for name in sorted({name for one in (*old, *new) for name in one}):
        was, now = _each(old, name), _each(new, name)
        if was != now:
            yield Detail(name=name, before=_value(was), after=_value(now))


def _sets(value: Any) -> list[dict[str, Any]]:
    return [one["set"] for one in (value if isinstance(value, list) else [value])]


def _each(sets: Sequence[dict[str, Any]], name: str) -> list[Any]:
    found: list[Any] = []
    for one in sets:
        if one.get(name) not in found:
            found.append(one.get(name))
    return sorted(found, key=lambda value: (value is not None, textual(value)))


def _value(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else {"one of": found}


def _environment(before: Recording, after: Recording) -> Iterator[Change]:
    old, new = _variables(before), _variables(after)
    if not old or not new:
        return  # of one of them none was recorded
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name) and name not in _NO_ENVIRONMENT:
            yield Change(what="environment", key=name, before=old.get(name), after=new.get(name))


def _variables(recording: Recording) -> dict[str, Any]:
    start = next((entry.event for entry in recording.entries if isinstance(entry.event, events.SessionStart)), None)
    facts = read(recording, start.facts_uri if start is not None else None)
    found = facts.value.get("env") if isinstance(facts.value, dict) else None
    return found if isinstance(found, dict) else {}
