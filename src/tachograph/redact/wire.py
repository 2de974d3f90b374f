"""The wire bytes of an answer, redacted chunk by chunk.

A replay gives the client exactly what it once received, so as little as possible is changed:

- Nothing secret: the very same chunks.
- A secret: its characters are replaced where they stand, in as many chunks as there were. Text that a model streams in pieces is put
  together first (by content block, choice, tool call), searched, and each finding replaced by a placeholder in the piece where it begins;
  its rest is cut out of the pieces that follow. No piece is dropped, no JSON is printed anew.
- A content encoding is undone only if something changed; then its header goes and the length is corrected.

It fails closed: what does not parse is scanned as text, an end that was cut off is masked when it may be the beginning of a secret, an
answer whose encoding cannot be undone is masked whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tachograph.redact import bodies, encodings
from tachograph.redact.scanner import Depth
from tachograph.redact.streams import eventstream_patches, sse_patches

if TYPE_CHECKING:
    from tachograph.redact.engine import Redactor


class Patch(NamedTuple):
    """A range of bytes of the decoded body and what takes its place."""

    start: int
    end: int
    data: bytes


def redacted(
    redactor: Redactor, headers: Sequence[Sequence[str]], chunks: Sequence[bytes], tally: Counter[str] | None
) -> tuple[list[list[str]], list[bytes]]:
    """Headers and chunks, as many as there were."""
    out = redactor.headers(headers, tally)
    chunks = list(chunks)
    if not any(chunks):
        return out, chunks
    lowered = {str(name).lower(): str(value) for name, value in headers}
    encoding = lowered.get("content-encoding", "").strip().lower()
    try:
        parts = encodings.decode(chunks, encoding)
    except encodings.UndecodableError:
        mask = bodies.undecodable(redactor, b"".join(chunks), tally).encode()
        return _plain(out, len(mask)), [mask, *[b""] * (len(chunks) - 1)]
    whole = lowered.get("content-length", "")
    cut = whole.isdigit() and int(whole) > sum(map(len, chunks))
    body = b"".join(parts)
    patches = _patches(redactor, lowered.get("content-type", ""), body, tally, cut=cut)
    if patches:
        parts = apply(parts, patches)
    rest = b"".join(parts) if patches else body
    more = _text_patches(redactor, rest, tally, depth=Depth.KNOWN, cut=False)
    if more:
        parts = apply(parts, more)
    if not patches and not more:
        return out, chunks
    return _plain(out, sum(map(len, parts))), parts


def _patches(redactor: Redactor, content_type: str, body: bytes, tally: Counter[str] | None, *, cut: bool) -> list[Patch]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/event-stream" or (not kind and body.startswith((b"data:", b"event:"))):
        return [Patch(*patch) for patch in sse_patches(redactor, body, tally, cut=cut)]
    if kind == "application/vnd.amazon.eventstream":
        return [Patch(*patch) for patch in eventstream_patches(redactor, body, tally, cut=cut)]
    return _text_patches(redactor, body, tally, depth=Depth.ALL, cut=cut)


def _text_patches(redactor: Redactor, body: bytes, tally: Counter[str] | None, *, depth: Depth, cut: bool) -> list[Patch]:
    if depth is Depth.ALL and encodings.wide(body):
        new = redactor.raw(body, tally)
        return [] if new == body else [Patch(0, len(body), new)]
    text = body.decode("utf-8", "surrogateescape")
    if depth is Depth.ALL and not bodies.is_text(text):
        depth = Depth.SHAPES
    edits = redactor.edits(text, depth)
    if cut:
        edits = redactor.with_tail(text, edits)
    out = []
    at = place = 0
    for edit in edits:
        place += _size(text, at, edit.start)
        size = _size(text, edit.start, edit.end)
        out.append(Patch(place, place + size, redactor.placeholder(edit, text, tally).encode()))
        place, at = place + size, edit.end
    return out


def _size(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8", "surrogateescape"))


def apply(parts: Sequence[bytes], patches: Sequence[Patch]) -> list[bytes]:
    """The patched parts. A patch belongs to the part in which it begins; parts that it covers further on lose their share."""
    out = []
    low = number = 0
    for part in parts:
        high = low + len(part)
        pieces: list[bytes] = []
        at = low
        while number < len(patches) and patches[number].start < high:
            patch = patches[number]
            if patch.start >= low:
                pieces += [part[at - low : patch.start - low], patch.data]
            at = min(patch.end, high)
            if patch.end > high:
                break  # it goes on in the next part
            number += 1
        pieces.append(part[at - low :])
        joined = b"".join(pieces)
        out.append(part if joined == part else joined)
        low = high
    return out


def _plain(headers: list[list[str]], length: int) -> list[list[str]]:
    """The headers of a body that is not encoded and has another length."""
    return [
        [name, str(length) if name.lower() == "content-length" else value] for name, value in headers if name.lower() != "content-encoding"
    ]
