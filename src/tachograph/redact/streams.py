"""Secrets in streamed answers: put the pieces of a text together, find, and cut out of each piece what belongs to a secret.

Which pieces belong together is read off their place, whatever the provider: the same kind of event, the same identifying numbers
(``index``, ``output_index``, ``item_id`` …), the same path of keys, and a key that carries text. That covers Anthropic's content blocks,
OpenAI's chat choices and tool calls and its ``*.delta`` events, Bedrock's Converse stream, Gemini's parts. All other strings of an event
are scanned one by one.

Two carriers: server-sent events, and AWS event streams, in which ``InvokeModel`` wraps each event in base64.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tachograph.format import eventstream, sse
from tachograph.redact import jsontext
from tachograph.redact.document import Walk
from tachograph.redact.lazy import expression, raw_expression
from tachograph.redact.scanner import Depth
from tachograph.redact.spans import Edit, secret_of
from tachograph.redact.words import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.redact.engine import Redactor

#: Keys whose string is a piece of a longer text.
_PIECES = table(
    """
    text content thinking partial_json arguments delta input output reasoning reasoning_content refusal completion output_text
    outputText generation transcript summary_text response code
    """
)

#: Keys that say which text a piece belongs to.
_IDENTITY = ("type", "index", "item_id", "output_index", "content_index", "summary_index", "contentBlockIndex")

_MAX_DEPTH = 40


class Cut(NamedTuple):
    """A range of characters of one event's text and what takes its place."""

    start: int
    end: int
    text: str


@dataclass
class Event:
    """One event's text. ``suffix`` is what would complete JSON that was cut off."""

    name: str
    text: str
    suffix: str = ""
    value: Any = None
    survey: _Survey = field(default_factory=lambda: _Survey([], []))
    cuts: list[Cut] = field(default_factory=list)


class _Survey(NamedTuple):
    """The leaves of an event: pieces as path, shape and string, others as path and value."""

    pieces: list[tuple[tuple[Any, ...], tuple[Any, ...], str]]
    others: list[tuple[tuple[Any, ...], Any]]


class _Piece(NamedTuple):
    """A string within an event: where it stands, and the string."""

    event: int
    path: tuple[Any, ...]
    text: str


def rewrite(redactor: Redactor, events: list[Event], tally: Counter[str] | None, *, cut: bool) -> None:
    """Fills the ``cuts`` of the events. ``cut``: the stream broke off, so that a secret may have, too."""
    groups: dict[tuple[Any, ...], list[_Piece]] = {}
    for number, event in enumerate(events):
        _read(event)
        if isinstance(event.value, (dict, list)):
            identity = tuple(str(event.value.get(key)) for key in _IDENTITY) if isinstance(event.value, dict) else ()
            _survey(event.value, (), (), None, event.survey)
            for path, shape, text in event.survey.pieces:
                groups.setdefault((event.name, identity, shape), []).append(_Piece(number, path, text))
        else:
            groups.setdefault((event.name, None, ()), []).append(_Piece(number, (), event.text))
    found: dict[int, list[tuple[tuple[Any, ...], list[Cut]]]] = {}
    cut = cut or not _ended(events)
    for pieces in groups.values():
        for number, path, cuts in _joined(redactor, pieces, tally, cut=cut):
            found.setdefault(number, []).append((path, cuts))
    clean: set[tuple[Any, ...]] = set()
    for number, event in enumerate(events):
        if isinstance(event.value, (dict, list)):
            _place(redactor, event, found.get(number, []), tally, clean)
        else:
            event.cuts = [each for _, cuts in found.get(number, []) for each in cuts]


#: What the last events of a whole stream are called, in one dialect or another, and the key that says why a model stopped.
_END = expression(r"stop|complete|finish|done|error|exception|metadata", re.IGNORECASE)
_REASON = expression(r"stop|finish|done", re.IGNORECASE)


def _ended(events: list[Event]) -> bool:
    """Whether the stream said that it was over. If not, it may have been cut between two events."""
    return not events or any(_says_end(event) for event in events[-3:] if not event.suffix)


def _says_end(event: Event) -> bool:
    kind = event.value.get("type") if isinstance(event.value, dict) else event.text
    if _END.search(event.name) or (isinstance(kind, str) and len(kind) < 64 and _END.search(kind)):
        return True
    return any(path and value and isinstance(path[-1], str) and _REASON.search(path[-1]) for path, value in event.survey.others)


def _read(event: Event) -> None:
    """Parses an event's text, if it is JSON, and completes it if it was cut off."""
    if event.text.lstrip()[:1] not in ("{", "["):
        return
    try:
        event.value = jsontext.loads(event.text)
    except ValueError:
        event.suffix = completion(event.text)
        if event.suffix:
            event.value = jsontext.loads(event.text + event.suffix)


def _survey(value: Any, path: tuple[Any, ...], shape: tuple[Any, ...], key: str | None, out: _Survey) -> None:
    """Sorts the leaves of an event into pieces and others. In the ``shape`` of a path an element's own ``index`` stands in the place of
    its position."""
    if isinstance(value, str) and key in _PIECES:
        out.pieces.append((path, shape, value))
    elif isinstance(value, dict) and len(path) < _MAX_DEPTH:
        for name, item in value.items():
            _survey(item, (*path, name), (*shape, name), name, out)
    elif isinstance(value, list) and len(path) < _MAX_DEPTH:
        for position, item in enumerate(value):
            index = item.get("index") if isinstance(item, dict) else None
            _survey(item, (*path, position), (*shape, index if isinstance(index, int) else position), key, out)
    else:
        out.others.append((path, value if isinstance(value, (str, int, float)) or value is None else repr(value)))


def _joined(
    redactor: Redactor, pieces: list[_Piece], tally: Counter[str] | None, *, cut: bool
) -> Iterator[tuple[int, tuple[Any, ...], list[Cut]]]:
    """The cuts in each piece, in characters of the piece."""
    text = "".join(piece.text for piece in pieces)
    edits = redactor.edits(text)
    if cut:
        edits = redactor.with_tail(text, edits)
    if not edits:
        return
    masks = [redactor.placeholder(edit, text, tally) for edit in edits]
    low = first = 0
    for piece in pieces:
        high = low + len(piece.text)
        while first < len(edits) and edits[first].end <= low:
            first += 1
        cuts = []
        for number in range(first, len(edits)):
            edit = edits[number]
            if edit.start >= high:
                break
            start, end = max(edit.start, low), min(edit.end, high)
            cuts.append(Cut(start - low, end - low, masks[number] if edit.start >= low else ""))
        if cuts:
            yield piece.event, piece.path, cuts
        low = high


def _place(
    redactor: Redactor,
    event: Event,
    pieces: list[tuple[tuple[Any, ...], list[Cut]]],
    tally: Counter[str] | None,
    clean: set[tuple[Any, ...]],
) -> None:
    """The cuts of an event that is JSON: those in its pieces, and what its other strings hold by themselves. ``clean`` collects what
    others were found to hold nothing: most events of a stream differ in their piece only."""
    skip = {path for path, _, _ in event.survey.pieces}
    others = tuple(event.survey.others)
    any_other = False
    if others not in clean:
        seen = _Others(redactor, event.value, skip)
        Walk(redactor.policy, seen).value(event.value)
        any_other = seen.any
        if not any_other:
            clean.add(others)
    if not any_other and not pieces:
        return
    text = event.text + event.suffix
    located = jsontext.parse(text)
    cuts = []
    for path, found in pieces:
        string = _follow(located, path)
        cuts += [Cut(string.place(each.start, text), string.place(each.end, text), json.dumps(each.text)[1:-1]) for each in found]
    if any_other:
        placed = _Others(redactor, located, skip)
        Walk(redactor.policy, placed).value(located)
        cuts += [Cut(edit.start, edit.end, redactor.placeholder(edit, text, tally)) for edit in placed.places(text)]
    event.cuts = [Cut(c.start, min(c.end, len(event.text)), c.text) for c in sorted(cuts) if c.start < len(event.text)]


def _follow(value: Any, path: tuple[Any, ...]) -> jsontext.Located:
    for step in path:
        value = value[step]
    assert isinstance(value, jsontext.Located)
    return value


class _Others:
    """Leaves of a walk over the strings of an event that are no pieces."""

    def __init__(self, redactor: Redactor, value: Any, skip: set[tuple[Any, ...]]) -> None:
        self._redactor = redactor
        # By identity: a piece may have the same characters as another string.
        self._skip = {id(_string_at(value, path)) for path in skip}
        self._found: list[tuple[jsontext.Located, list[Edit]]] = []
        self._numbers: list[Edit] = []
        self.any = False

    def string(self, value: str, edits: list[Edit]) -> str:
        if id(value) not in self._skip:
            self.any = True
            if isinstance(value, jsontext.Located):
                self._found.append((value, edits))
        return value

    def number(self, value: float, kind: str) -> Any:
        self.any = True
        if isinstance(value, (jsontext.LocatedInt, jsontext.LocatedFloat)):
            self._numbers.append(Edit(value.start, value.end, kind, str(value), number=True, rule="name"))
        return value

    def scan(self, value: str, depth: Depth) -> list[Edit]:
        return [] if id(value) in self._skip else self._redactor.edits(value, depth)

    def raw(self, value: bytes) -> bytes:
        return value

    def places(self, text: str) -> list[Edit]:
        """What was found, in characters of the JSON text."""
        return self._numbers + [
            Edit(value.place(edit.start, text), value.place(edit.end, text), edit.kind, secret_of(edit, value), rule=edit.rule)
            for value, edits in self._found
            for edit in edits
        ]


def _string_at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def completion(text: str) -> str:
    """What makes JSON of JSON that was cut off; empty where nothing does."""
    closers = []
    quoted = escaped = False
    for c in text:
        if escaped:
            escaped = False
        elif quoted:
            escaped = c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "{[":
            closers.append("}" if c == "{" else "]")
        elif c in "}]":
            if not closers:
                return ""
            closers.pop()
    if not closers or escaped:
        return ""
    closing = "".join(reversed(closers))
    for middle in _QUOTED if quoted else _OPEN:
        try:
            jsontext.loads(text + middle + closing)
        except ValueError:
            continue
        return middle + closing
    return ""


#: What may be missing before the brackets: inside a string (a value, or a key), and outside of one.
_QUOTED = ('"', '":null')
_OPEN = ("", ":null", "null", '"":null', "0", "e", "ue", "rue", "se", "lse", "alse", "l", "ll", "ull")


# -- server-sent events --------------------------------------------------------------------------------------------------


def sse_patches(redactor: Redactor, body: bytes, tally: Counter[str] | None, *, cut: bool) -> list[tuple[int, int, bytes]]:
    """Byte ranges of a body of server-sent events and what takes their place, sorted."""
    parsed = sse.parse(body)
    events = [Event(event.event or "", _whole(event)) for event in parsed]
    broken = cut or (bool(parsed) and not parsed[-1].complete and bool(parsed[-1].data))
    rewrite(redactor, events, tally, cut=broken)
    patches: list[tuple[int, int, bytes]] = []
    for wire, event in zip(parsed, events, strict=True):
        raw = body[wire.start : wire.end]
        if event.cuts:
            patches += _in_place(raw, wire, event)
        patches += _beside(redactor, raw, wire.start, tally)
    return sorted(patches)


def _whole(event: sse.SseEvent) -> str:
    # An escape that was cut off cannot be completed; it is one character of the text at most.
    return event.data if event.complete else re.sub(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z", "", event.data)


def _in_place(raw: bytes, wire: sse.SseEvent, event: Event) -> list[tuple[int, int, bytes]]:
    """Patches within the event's one data line; where its data are in several lines, the event anew."""
    data = event.text.encode("utf-8", "surrogatepass")
    at = raw.find(data)
    if at < 0 or raw.find(data, at + 1) >= 0:
        text = _spliced(event)
        fresh = sse.encode(wire.event, text.encode("utf-8", "replace").decode("utf-8"))
        return [(wire.start, wire.end, fresh if wire.complete else fresh.removesuffix(b"\n\n"))]
    out = []
    for each in event.cuts:
        start = at + len(event.text[: each.start].encode("utf-8", "surrogatepass"))
        end = at + len(event.text[: each.end].encode("utf-8", "surrogatepass"))
        out.append((wire.start + start, wire.start + end, each.text.encode()))
    return out


def _spliced(event: Event) -> str:
    pieces = []
    at = 0
    for each in event.cuts:
        pieces += [event.text[at : each.start], each.text]
        at = each.end
    return "".join([*pieces, event.text[at:]])


_FIELD = raw_expression(rb"(?:data|event)(?::|$)|retry:|$")


def _beside(redactor: Redactor, raw: bytes, base: int, tally: Counter[str] | None) -> list[tuple[int, int, bytes]]:
    """Comments, ids and unknown fields."""
    out = []
    at = 0
    for line in raw.splitlines(keepends=True):
        if not _FIELD.match(line.rstrip(b"\r\n")):
            out += _raw_patches(redactor, line, base + at, tally)
        at += len(line)
    return out


# -- AWS event streams ---------------------------------------------------------------------------------------------------


def eventstream_patches(redactor: Redactor, body: bytes, tally: Counter[str] | None, *, cut: bool) -> list[tuple[int, int, bytes]]:
    """Byte ranges of an AWS event stream and what takes their place, sorted. Changed messages get new checksums."""
    messages: list[eventstream.Message] = []
    try:
        messages.extend(eventstream.iterate(body))
    except ValueError:
        cut = True  # damaged: nobody reads on after this, and what is left is scanned as text
    end = messages[-1].end if messages else 0
    tail = body[end:]
    wrapped = [_wrapped(message.payload) for message in messages]
    events = [
        Event(message.headers.get(":event-type", ""), inner if inner is not None else message.payload.decode("utf-8", "surrogateescape"))
        for message, inner in zip(messages, wrapped, strict=True)
    ]
    last = _unfinished(tail) if tail else None
    if last is not None:
        # The name of an unfinished message is in headers that may be cut, too: its kind of event is the one before it.
        events.append(Event(events[-1].name if events else "", last.text))
    rewrite(redactor, events, tally, cut=cut or bool(tail))
    patches = []
    for message, inner, event in zip(messages, wrapped, events, strict=False):
        if event.cuts:
            payload = _spliced(event).encode("utf-8", "surrogateescape")
            if inner is not None:
                payload = _wrap(message.payload, payload)
            patches.append((message.start, message.end, eventstream.encode_raw(message.raw_headers, payload)))
    if last is not None:
        patches += _tail_patches(redactor, tail, end, last, events[-1], tally)
    elif tail:
        patches += _raw_patches(redactor, tail, end, tally)
    return patches


_BYTES = raw_expression(rb'"bytes"\s*:\s*"([A-Za-z0-9+/]*={0,2})')


def _wrapped(payload: bytes) -> str | None:
    """The event inside ``{"bytes": "<base64>"}``, None where the payload is no such thing."""
    try:
        value = json.loads(payload)
        return base64.b64decode(value["bytes"], validate=True).decode("utf-8")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _wrap(payload: bytes, inner: bytes) -> bytes:
    match = _BYTES.search(payload)
    assert match is not None
    return payload[: match.start(1)] + base64.b64encode(inner) + payload[match.end(1) :]


class _Unfinished(NamedTuple):
    """What is left of a message that was cut off: its text, where that begins in the tail, and whether it was wrapped in base64."""

    text: str
    start: int
    end: int
    wrapped: bool


def _unfinished(tail: bytes) -> _Unfinished | None:
    match = _BYTES.search(tail)
    if match is not None:
        whole = match.group(1).rstrip(b"=")
        whole = whole[: len(whole) // 4 * 4]
        try:
            text = base64.b64decode(whole).decode("utf-8", "ignore")
        except binascii.Error:
            return None
        return _Unfinished(re.sub(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z", "", text), match.start(1), match.end(1), wrapped=True)
    start = tail.find(b"{", 12)
    if start < 0:
        return None
    text = tail[start:].decode("utf-8", "surrogateescape")
    try:
        text = text[: json.JSONDecoder().raw_decode(text)[1]]  # only the checksum is cut
    except (ValueError, RecursionError):
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "ignore")
    return _Unfinished(re.sub(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z", "", text), start, len(tail), wrapped=False)


def _tail_patches(
    redactor: Redactor, tail: bytes, base: int, last: _Unfinished, event: Event, tally: Counter[str] | None
) -> list[tuple[int, int, bytes]]:
    if not event.cuts:
        return [] if last.wrapped else _raw_patches(redactor, tail, base, tally)
    # No client decodes an unfinished message, so its content may go as a whole.
    mask = redactor.placeholder(Edit(0, 0, "unfinished", event.text), "", tally).encode()
    return [(base + last.start, base + last.end, mask)]


def _raw_patches(redactor: Redactor, data: bytes, base: int, tally: Counter[str] | None) -> list[tuple[int, int, bytes]]:
    text = data.decode("utf-8", "surrogateescape")
    out = []
    for edit in redactor.edits(text):
        start = base + len(text[: edit.start].encode("utf-8", "surrogateescape"))
        end = base + len(text[: edit.end].encode("utf-8", "surrogateescape"))
        out.append((start, end, redactor.placeholder(edit, text, tally).encode()))
    return out
