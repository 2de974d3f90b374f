"""Server-sent events: bytes ⇄ events (WHATWG HTML, section 9.2.6, "Interpreting an event stream").

Rules:

- Lines end in CRLF, LF or CR; a byte order mark at offset 0 is skipped; bytes that are not UTF-8 become U+FFFD.
- An event is *dispatched* by a blank line, and only if at least one ``data`` field came. Comments, ``id``, ``retry``
  and blocks without data make no event of their own: their bytes belong to the event that follows.
- The events tile the body: the first starts at 0, each starts where the one before ends, the last ends at
  ``len(body)``.
- What follows the last dispatched event (a stream cut short, a closing comment) is one last event with
  ``complete=False``. A client never saw it; its data are what came, without a character whose bytes were cut.

>>> [(e.event, e.data, e.start, e.end) for e in parse(b"event: ping\\ndata: {}\\n\\ndata: [DONE]\\n\\n")]
[('ping', '{}', 0, 22), (None, '[DONE]', 22, 36)]
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_TEXT_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class SseEvent:
    """One event. ``event`` is None where none (or an empty one) was named; ``data`` has its lines joined with LF;
    ``start`` and ``end`` are byte offsets into the body, the blank line that ends the event included."""

    event: str | None
    data: str
    start: int
    end: int
    complete: bool


def parse(body: bytes) -> list[SseEvent]:
    """All events of a body, in order. Takes any bytes and never raises; an empty body has no events."""
    events: list[SseEvent] = []
    name: bytes | None = None
    data: list[bytes] = []
    start = 0  # of the event under way
    line_start = len(_BOM) if body.startswith(_BOM) else 0
    for line_end in _LINE_END.finditer(body, line_start):
        line = body[line_start : line_end.start()]
        line_start = line_end.end()
        if line:
            field, value = _field(line)
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = value
        elif data:
            events.append(SseEvent(_name(name), _text(data), start, line_start, complete=True))
            name, data, start = None, [], line_start
        else:
            name = None  # a block without data is dropped, its name with it
    if start < len(body):
        field, value = _field(body[line_start:])  # a line whose end never came
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
        # final=False leaves out a last character whose bytes did not all arrive.
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(b"\n".join(data), final=False)
        events.append(SseEvent(_name(name), text, start, len(body), complete=False))
    return events


def encode(event: str | None, data: str) -> bytes:
    """The bytes of one event: one ``data`` line per line of ``data``, ended by a blank line.

    The format has one line break, so CR and CRLF within ``data`` come back as LF. Raises ValueError for an event name
    with a line break and for text that is not Unicode (lone surrogates).
    """
    lines = []
    if event is not None:
        if _TEXT_LINE_END.search(event):
            raise ValueError("an event name cannot hold a line break; encode it as data")
        lines.append(f"event: {event}\n")
    lines.extend(f"data: {line}\n" for line in _TEXT_LINE_END.split(data))
    lines.append("\n")
    return "".join(lines).encode("utf-8")


def _field(line: bytes) -> tuple[bytes, bytes]:
    # A comment starts with a colon and so has the field name b"".
    field, _, value = line.partition(b":")
    return field, value.removeprefix(b" ")


def _name(value: bytes | None) -> str | None:
    return value.decode("utf-8", "replace") if value else None


def _text(data: list[bytes]) -> str:
    return b"\n".join(data).decode("utf-8", "replace")
