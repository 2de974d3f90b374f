"""Recorded answers with the live values in the place of the recorded ones. Pure.

The work is the redactor's: it knows how to find a value in a body, in JSON inside of JSON, in the pieces of a text that a model streams, in
server-sent events and in AWS event streams (whose frames get new lengths and checksums), and how to put another one there without touching
anything else. What is looked for here is not secrets, but what was unified. Nothing of a value that is not renamed changes: without one,
pieces come back as the same objects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tachograph.redact import encodings, names, wire
from tachograph.redact.cache import Cache
from tachograph.redact.engine import Redactor
from tachograph.redact.known import Known
from tachograph.redact.policy import Policy
from tachograph.redact.scanner import Depth
from tachograph.redact.spans import Edit, secret_of

from . import volatile
from .tape import Piece

#: (kind, recorded value) → the live one, where that is another.
Lookup = Callable[[str, str], str | None]

_JOINTS = re.compile(r"[-_]")
_NAMED = re.compile(r"[a-z]{3,16}[-_]")
#: Parts of a piece's header that are the protocol's, and no content.
_OURS = frozenset({"m", "c", "t", "fd", "pid", "lane", "state", "type", "module", "errno", "status", "exit", "signal", "timeout", "poll"})


class Renaming:
    """Puts live values in. ``lookup`` is asked each time, so what is unified later counts from then on."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def answer(self, kind: str, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces of one call, as many as there were."""
        renamer = _Renamer(self._lookup)
        headers: list[list[str]] = next((piece.header["head"].get("headers", []) for piece in pieces if piece.header["m"] == "head"), [])
        headers = headers if kind == "http" else []
        new_headers, data = (
            renamer.wire_bytes(headers, [piece.data for piece in pieces]) if kind != "process" else (headers, _streams(renamer, pieces))
        )
        out = []
        for piece, new in zip(pieces, data, strict=True):
            header = {name: item if name in _OURS else renamer.value(item) for name, item in piece.header.items()}
            if kind == "http" and piece.header["m"] == "head":
                header["head"] = {**header["head"], "headers": new_headers}
            changed = new != piece.data or header != piece.header
            out.append(replace(piece, header=header, data=new) if changed else piece)
        return out

    def values(self, pieces: Sequence[Piece]) -> Iterator[tuple[str, str]]:
        """What an answer holds that may be volatile, as (kind, value)."""
        body = b"".join(piece.data for piece in pieces).decode("utf-8", "replace")
        for text in (body, *(text for piece in pieces for text in _texts(piece.header))):
            for part in volatile.split(text)[1]:
                yield from volatile.values(part.sort, text[part.start : part.end])

    def document(self, value: Any) -> Any:
        """A JSON-like value."""
        return _Renamer(self._lookup).value(value)


def _streams(renamer: _Renamer, pieces: Sequence[Piece]) -> list[bytes]:
    """What a command said, each of its outputs by itself; what the agent wrote to it stays."""
    out = [piece.data for piece in pieces]
    for fd in (1, 2):
        places = [n for n, piece in enumerate(pieces) if piece.header["m"] == "chunk" and piece.header.get("fd", 1) == fd]
        for place, data in zip(places, renamer.wire_bytes([], [out[n] for n in places])[1], strict=True):
            out[place] = data
    return out


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(name)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


class _Numbers(Policy):
    """Names say nothing here, but that a number under any of them may be a time that is another one now; which ones, ``allows`` says."""

    def __init__(self, lookup: Lookup) -> None:
        super().__init__(rules=())
        object.__setattr__(self, "_lookup", lookup)

    def named(self, name: str) -> names.Named:  # noqa: ARG002
        return names.Named(names.Strength.STRICT, "secret")

    def plain(self, name: str) -> bool:  # noqa: ARG002
        return True

    def allows(self, value: str) -> bool:
        return bool(self._lookup("epoch", value) is None)  # type: ignore[attr-defined]


class _Scanner:
    """Finds recorded values that are other ones now. Each is found as it is found in a request."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.whole = True
        """Whether numbers may be looked for in a body as it stands: not where its frames have checksums."""

    def scan(self, text: str, depth: Depth = Depth.ALL) -> list[Edit]:
        """With ``Depth.KNOWN`` the text is a body as it came, and was understood before: what is left are numbers."""
        out: list[Edit] = []
        if depth is Depth.KNOWN and not self.whole:
            return out
        for part in volatile.split(text)[1]:
            if depth is Depth.ALL or depth is Depth.SHAPES or part.sort in ("port", "pid", "epoch"):
                out += self._part(part, text[part.start : part.end])
        return out

    def _part(self, part: volatile.Part, text: str) -> Iterator[Edit]:
        if part.sort != "word":
            kind = "id" if part.sort in ("name", "tmp", "uuid") else part.sort
            if self._lookup(kind, text) is not None:
                yield Edit(part.start, part.end, kind)
            return
        named = _NAMED.match(text)
        for at in (0, *([named.end()] if named is not None else [])):
            if self._lookup("id", text[at:]) is not None:
                yield Edit(part.start + at, part.end, "id")
                return
        at = 0
        for piece in _JOINTS.split(text):
            kind = "epoch" if self._lookup("epoch", piece) is not None else "id"
            if len(piece) >= volatile.SHORTEST and self._lookup(kind, piece) is not None:
                yield Edit(part.start + at, part.start + at + len(piece), kind)
            at += len(piece) + 1

    def stems(self, text: str) -> None:
        """Nothing can be said about a text without a look at it."""

    def tail(self, text: str) -> None:
        """What was cut off is not what was unified."""


class _Renamer(Redactor):
    """A redactor whose secrets are what was unified, and whose placeholders are the live values."""

    def __init__(self, lookup: Lookup) -> None:
        self.policy = _Numbers(lookup)
        self._lookup = lookup
        self._known = Known()
        self._scanner: Any = _Scanner(lookup)
        self._cache: Cache[tuple[int, list[Edit]]] = Cache()
        self._nesting = 0

    def wire_bytes(self, headers: Sequence[Sequence[str]], chunks: Sequence[bytes]) -> tuple[list[list[str]], list[bytes]]:
        """The wire bytes of an answer; see ``redact.wire``."""
        said = {str(name).lower(): str(value) for name, value in headers}
        try:
            encodings.decode(chunks, said.get("content-encoding", ""))
        except encodings.UndecodableError:
            return self.headers(headers), list(chunks)
        self._scanner.whole = "eventstream" not in said.get("content-type", "")
        return wire.redacted(self, headers, chunks, None)

    def headers(self, headers: Sequence[Sequence[str]], tally: Counter[str] | None = None) -> list[list[str]]:  # noqa: ARG002
        return [[str(name), self.text(str(value))] for name, value in headers]

    def value(self, value: Any, key: str = "") -> Any:
        """A JSON-like value, with its names; the same object where nothing is renamed."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            new: Any = {self.text(str(name)): self.value(item, str(name)) for name, item in value.items()}
        elif isinstance(value, (list, tuple)):
            new = [self.value(item, key) for item in value]
        elif isinstance(value, (int, float)) and (kind := volatile.numeric(key, value)) is not None:
            live = self._lookup(*kind)
            return value if live is None else float(live) if "." in live else int(live)
        elif isinstance(value, (bytes, bytearray)):
            return self.raw(bytes(value))
        else:
            return value
        return value if new == value else new

    def placeholder(self, edit: Edit, text: str, tally: Counter[str] | None = None) -> str:  # noqa: ARG002
        live = self._lookup("epoch" if edit.number else edit.kind, secret_of(edit, text))
        return text[edit.start : edit.end] if live is None else live
