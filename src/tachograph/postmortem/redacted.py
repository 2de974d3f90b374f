"""What was masked in a session: how many values of which kind in which event, and whether a model repeated one.

An event counts itself what was masked while it was recorded (``redacted_kinds``); where it does not (an older recording), the placeholders
in its contents are counted. Which secrets are the same, and where one turned up first, only the fingerprints in the contents tell: of a
shredded session nothing but the counts is left.

Redaction happens in the record. The model and the tools were given the originals, unless the agent masked them itself; so a placeholder in
an answer stands for what the model really said. If the same one is in its input, the model copied it; if no input has it, the model never
saw it there: it made it up, or had it from elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tachograph.core import events
from tachograph.redact.placeholder import PLACEHOLDER

from .values import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .ports import Entry, Recording
    from .values import Value

RAW = "In the record only: the model and the tools were given the originals, unless the agent masked them itself."
IMPORTED = "Masked when the transcript was imported: the model, the tools and the transcript itself had the originals."

Origin = Literal["input", "earlier", "nowhere"]

#: Several fields of an event hold the same text: as it came over the wire, and as it was understood. One of them counts.
_REQUEST = ("request_uri", "prompt_redacted_uri", "input_uri")
_ANSWER = ("wire_uri", "output_uri", "error_uri")
_MARK = "[REDACTED:"
_MOST_DEEP = 300


@dataclass(frozen=True, kw_only=True)
class KindOf:
    """One kind over the whole session. ``count``: maskings; ``fingerprints``: of the different values, as far as contents can be read;
    ``events``: lines in which something was masked; ``first``: the first of them."""

    kind: str
    count: int
    fingerprints: tuple[str, ...]
    events: tuple[int, ...]

    @property
    def first(self) -> int:
        return self.events[0]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "count": self.count, "secrets": len(self.fingerprints), "fingerprints": list(self.fingerprints),
            "events": list(self.events), "first": self.first,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """A placeholder in a model's answer. ``origin``: it is in the ``input`` of this call, or stood ``earlier`` in the session (at line
    ``since``), or ``nowhere`` before."""

    seq: int
    kind: str
    fingerprint: str
    origin: Origin
    since: int | None = None

    def words(self) -> str:
        """As a clause about the answer."""
        what = f"its answer has {self.kind} {self.fingerprint}"
        if self.origin == "input":
            return f"{what}, copied from its input"
        if self.origin == "earlier":
            return f"{what}, which is not in this input and stood earlier, #{self.since}"
        return f"{what}, which no input in the record has: made up, or from elsewhere"

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class Redacted:
    """``by_event``: line → kind → how many."""

    by_event: dict[int, dict[str, int]]
    kinds: tuple[KindOf, ...] = ()
    answers: tuple[Repeated, ...] = ()
    imported: bool = False

    @property
    def who_saw(self) -> str:
        """Who had the originals."""
        return IMPORTED if self.imported else RAW

    def answers_of(self, seq: int) -> tuple[Repeated, ...]:
        return tuple(one for one in self.answers if one.seq == seq)

    def to_json(self) -> dict[str, Any]:
        """``{"kinds", "events", "answers", "note"}``."""
        return {
            "kinds": [kind.to_json() for kind in self.kinds],
            "events": [{"seq": seq, "kinds": kinds} for seq, kinds in self.by_event.items()],
            "answers": [one.to_json() for one in self.answers],
            "note": self.who_saw,
        }


NOTHING = Redacted(by_event={})


def kind_words(kinds: dict[str, int]) -> str:
    """``github-token ×2, password``."""
    return ", ".join(kind if count == 1 else f"{kind} ×{count}" for kind, count in sorted(kinds.items()))


def look(recording: Recording, known: Mapping[str, Value] | None = None) -> Redacted:
    """What was masked in a recording. ``known``: contents that were read already. Never raises for a content that cannot be read."""
    found = _Found(recording, known)
    by_event: dict[int, dict[str, int]] = {}
    marks_of: dict[str, dict[str, None]] = {}
    since: dict[str, int] = {}
    answers: list[Repeated] = []
    imported = False
    for entry in recording.entries:
        event = entry.event
        imported = imported or (isinstance(event, events.SessionStart) and event.source == "import")
        if not event.redactions and not event.redacted_kinds and not isinstance(event, (events.ModelCall, events.SessionStart)):
            continue
        fields = {name: found.of(value) for name, value in _contents(entry)}
        seen = _counted(fields)
        if kinds := _kinds_in(event, fields):
            by_event[entry.seq] = kinds
        for kind, fingerprint in sorted(seen):
            marks_of.setdefault(kind, {})[fingerprint] = None
        if isinstance(event, events.ModelCall):
            answers += _repeated(entry.seq, fields, since)
        for _, fingerprint in seen:
            since.setdefault(fingerprint, entry.seq)
    return Redacted(by_event=by_event, kinds=_kinds(by_event, marks_of), answers=tuple(answers), imported=imported)


def look_at(recording: Recording, seq: int) -> Redacted:
    """Of ``look``, what it says about the model call at this line, without reading more than that needs."""
    entry = next((one for one in recording.entries if one.seq == seq), None)
    if entry is None:
        return NOTHING
    found, event = _Found(recording), entry.event
    fields = {name: found.of(value) for name, value in _contents(entry)}
    if any(one.origin != "input" for one in _repeated(seq, fields, {})):
        whole = look(recording)  # whether it stood anywhere before
        return Redacted(
            by_event={seq: whole.by_event[seq]} if seq in whole.by_event else {}, answers=whole.answers_of(seq), imported=whole.imported
        )
    kinds = _kinds_in(event, fields)
    return Redacted(by_event={seq: kinds} if kinds else {}, answers=tuple(_repeated(seq, fields, {})))


def _kinds_in(event: events.Event, fields: dict[str, Counter[tuple[str, str]]]) -> dict[str, int]:
    """How many of which kind: as the event counted itself, else as its contents have them."""
    kinds: Counter[str] = Counter(event.redacted_kinds)
    if not kinds and event.redactions:
        for (kind, _), count in _counted(fields).items():
            kinds[kind] += count
    return dict(sorted(kinds.items()))


def _kinds(by_event: dict[int, dict[str, int]], marks_of: dict[str, dict[str, None]]) -> tuple[KindOf, ...]:
    made = []
    for kind in sorted({kind for kinds in by_event.values() for kind in kinds}):
        lines = tuple(seq for seq, kinds in by_event.items() if kind in kinds)
        count = sum(by_event[seq][kind] for seq in lines)
        made.append(KindOf(kind=kind, count=count, fingerprints=tuple(marks_of.get(kind, ())), events=lines))
    return tuple(sorted(made, key=lambda one: (-one.count, one.kind)))


def _repeated(seq: int, fields: dict[str, Counter[tuple[str, str]]], since: dict[str, int]) -> Iterator[Repeated]:
    given = {fingerprint for name in _REQUEST for _, fingerprint in fields.get(name, ())}
    for kind, fingerprint in sorted(fields.get("output_uri", ())):
        origin: Origin = "input" if fingerprint in given else "earlier" if fingerprint in since else "nowhere"
        yield Repeated(
            seq=seq, kind=kind, fingerprint=fingerprint, origin=origin, since=since.get(fingerprint) if origin == "earlier" else None
        )


def _contents(entry: Entry) -> Iterator[tuple[str, str]]:
    for name in type(entry.event).__struct_fields__:
        value = getattr(entry.event, name)
        if name.endswith("_uri") and isinstance(value, str):
            yield name, value


def _counted(fields: dict[str, Counter[tuple[str, str]]]) -> Counter[tuple[str, str]]:
    out: Counter[tuple[str, str]] = Counter()
    for group in (_REQUEST, _ANSWER):
        most: Counter[tuple[str, str]] = Counter()
        for name in group:
            most |= fields.get(name, Counter())
        out += most
    for name, marks in fields.items():
        if name not in _REQUEST and name not in _ANSWER:
            out += marks
    return out


class _Found:
    """The placeholders in the contents of a recording, (kind, fingerprint). Each content is looked through once, and so is each message that several
    contents have in common (``TreeReader.shared``)."""

    def __init__(self, recording: Recording, values: Mapping[str, Value] | None = None) -> None:
        self._recording = recording
        self._values = values or {}
        self._known: dict[str, Counter[tuple[str, str]]] = {}
        self._looked: dict[int, tuple[Any, tuple[tuple[str, str], ...]]] = {}

    def of(self, uri: str) -> Counter[tuple[str, str]]:
        if uri not in self._known:
            content = self._values.get(uri) or read(self._recording, uri)
            self._known[uri] = Counter(self._texts(content.value)) if content.there else Counter()
        return self._known[uri]

    def _texts(self, value: Any) -> Iterator[tuple[str, str]]:
        """Of a content: the lists in its first level are looked through item by item."""
        if not isinstance(value, dict):
            yield from _texts(value)
            return
        for key, item in value.items():
            if not isinstance(item, list):
                yield from _texts([key, item])
                continue
            yield from _texts(key)
            for one in item:
                if isinstance(one, str):
                    yield from _texts(one)
                    continue
                looked = self._looked.get(id(one))
                if looked is None:
                    looked = self._looked[id(one)] = one, tuple(_texts(one, 2))  # kept, so that its id stays its own
                yield from looked[1]


def _texts(value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    stack: list[tuple[Any, int]] = [(value, depth)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, bytes):
            item = item.decode("latin-1") if _MARK.encode() in item else ""
        if isinstance(item, str):
            if _MARK in item:
                for match in PLACEHOLDER.finditer(item):
                    _, kind, fingerprint = match[0][1:-1].split(":")
                    yield kind, fingerprint
        elif depth < _MOST_DEEP and isinstance(item, dict):
            stack += [(part, depth + 1) for pair in item.items() for part in pair]
        elif depth < _MOST_DEEP and isinstance(item, (list, tuple)):
            stack += [(part, depth + 1) for part in item]
