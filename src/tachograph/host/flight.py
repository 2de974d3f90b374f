"""A call in flight, as the recorder sees it: its request, and the pieces of its answer as they come."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from typing import Any

#: How a stream's end reads in an event's ``outcome``.
_OUTCOME = {"eof": "ok", "closed": "closed", "broken": "broken", "cancelled": "cancelled", "failed": "failed", "cut": "cut"}


@dataclass
class Piece:
    """``m``: head, chunk, end, fail or result; ``order``: its number among all completions of the session; ``ms`` since the begin."""

    m: str
    order: int
    ms: float
    fields: dict[str, Any]
    data: bytes = b""


@dataclass
class Flight:
    """``event_id``: the id that the call's event will have; ``started_id``: that of its ``started`` line."""

    kind: str
    operation: str
    lane: str
    event_id: str
    started_id: str
    began: int
    request: dict[str, Any]
    parent_id: str | None = None
    name: str | None = None
    effect: str | None = None
    site: str | None = None
    provider: Any = None
    tally: collections.Counter[str] = field(default_factory=collections.Counter)
    pieces: list[Piece] = field(default_factory=list)
    printed: list[tuple[int, int, str]] = field(default_factory=list)
    """(order, descriptor, text) of what a declared tool printed itself; one entry for all that was printed in a row."""

    def add(self, m: str, order: int, t: int, header: dict[str, Any], data: bytes) -> Piece:
        fields = {key: value for key, value in header.items() if key not in ("m", "c", "t", "i")}
        result = fields.get("result")
        if isinstance(result, dict) and result.pop("text", False):
            result["value"], data = data.decode("utf-8", "surrogatepass"), b""
        piece = Piece(m, order, round((t - self.began) / 1e6, 3), fields, data)
        self.pieces.append(piece)
        return piece

    def print(self, order: int, fd: int, data: bytes) -> None:
        text = data.decode("utf-8", "surrogatepass")
        if self.printed and self.printed[-1][1] == fd:
            # In one piece: a secret may be cut over several writes.
            first, _, before = self.printed.pop()
            self.printed.append((first, fd, before + text))
        else:
            self.printed.append((order, fd, text))

    @property
    def head(self) -> dict[str, Any]:
        """The head's fields, or nothing where no answer came."""
        for piece in self.pieces:
            if piece.m == "head":
                found = piece.fields.get("head")
                return found if isinstance(found, dict) else {}
        return {}

    @property
    def chunks(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.m == "chunk"]

    @property
    def last(self) -> Piece | None:
        """The piece that ended the call, if it has ended."""
        return self.pieces[-1] if self.pieces and self.pieces[-1].m in ("end", "fail", "result") else None

    @property
    def duration_ms(self) -> float | None:
        return self.pieces[-1].ms if self.pieces else None

    def outcome(self) -> str:
        last = self.last
        if last is None:
            return "cut"
        if last.m == "result":
            return "error" if isinstance(last.fields.get("result"), dict) and last.fields["result"].get("error") else "ok"
        return _OUTCOME.get(str(last.fields.get("state")), "failed" if last.m == "fail" else "ok")

    def error(self) -> Any:
        """What the last piece says went wrong, or None."""
        last = self.last
        if last is None:
            return None
        if last.m == "result":
            result = last.fields.get("result")
            return result.get("error") if isinstance(result, dict) else None
        return last.fields.get("error")


def wire(flight: Flight, head: dict[str, Any] | None, chunks: list[bytes], last: dict[str, Any] | None) -> dict[str, Any]:
    """The answer as replay gives it back (``docs/format/v1.md``, section 5.3), from its redacted parts.

    ``pieces``: ``[m, order, ms]``, for chunks ``[m, order, ms, length, fields?]`` where lengths cut ``data`` into chunks again.
    """
    pieces: list[list[Any]] = []
    at = 0
    for piece in flight.pieces:
        entry: list[Any] = [piece.m, piece.order, piece.ms]
        if piece.m == "chunk":
            entry.append(len(chunks[at]))
            if piece.fields:
                entry.append(piece.fields)
            at += 1
        pieces.append(entry)
    return {"head": head, "pieces": pieces, "data": b"".join(chunks), "last": last}
