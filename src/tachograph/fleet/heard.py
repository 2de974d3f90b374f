"""What the ledger says of all sessions, kept from one look to the next: links, holds, and which were shredded or deleted.

A ledger of ten thousand sessions has some twenty thousand segments. So what was read stays read: the state that is kept ends at a seal,
which nothing can make void any more (``docs/format/v1.md``, section 10), and the next look goes on from there. What has no seal by a
trusted key is not believed, and is looked at again next time.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import FormatError, NotFoundError, StoreError
from tachograph.core.ports import Store
from tachograph.crypto import merkle, note
from tachograph.format import layout, line, torn
from tachograph.log import tail
from tachograph.log.book import whole_notes
from tachograph.log.reader import lines_of, parsed, valid_lines

Row = dict[str, Any]
_LINKED = ("linked", "unlinked")
_HELD = ("held", "released")


@dataclass
class Heard:
    """``links``: rows of the table ``links``, by (session, kind, ref); ``deleted``: sessions with a tombstone; ``problem``: why not all of the
    ledger was read. The rest says where the next look begins."""

    links: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    problem: str | None = None
    segment: int = 1
    offset: int = 0
    previous: str = field(default_factory=lambda: line.genesis(layout.LEDGER))
    size: int = 0
    peaks: list[str] = field(default_factory=list)

    def rows(self) -> list[Row]:
        """The table ``links``, sorted."""
        return [self.links[key] for key in sorted(self.links) if key[0] not in self.deleted]

    def to_json(self) -> dict[str, Any]:
        """To be kept."""
        return {
            "links": list(self.links.values()), "deleted": sorted(self.deleted), "segment": self.segment, "offset": self.offset,
            "previous": self.previous, "size": self.size, "peaks": self.peaks,
        }  # fmt: skip

    @classmethod
    def from_json(cls, kept: Any) -> Heard:
        """What was kept; nothing where it is of another kind: then all is read."""
        try:
            found = cls(
                {(row["session_id"], row["kind"], row["ref"]): dict(row) for row in kept["links"]}, set(kept["deleted"]), None,
                int(kept["segment"]), int(kept["offset"]), str(kept["previous"]), int(kept["size"]), [str(one) for one in kept["peaks"]],
            )  # fmt: skip
            merkle.Frontier(found.size, map(bytes.fromhex, found.peaks))
        except (KeyError, TypeError, ValueError):
            return cls()
        return found

    def take(self, fields: Row) -> None:
        """One entry of the ledger."""
        action, subject, detail = fields.get("action"), fields.get("subject"), fields.get("detail")
        if not isinstance(subject, str):
            return
        detail = detail if isinstance(detail, dict) else {}
        if action in _LINKED:
            self._tie(fields, action == "linked", str(detail.get("kind")), str(detail.get("ref")))
        elif action in _HELD:
            self._tie(fields, action == "held", "hold", str(detail.get("matter")))
        elif action == "shredded":
            self._tie(fields, True, "shredded", "")
        elif action == "deleted":
            self.deleted.add(subject)

    def _tie(self, fields: Row, tied: bool, kind: str, ref: str) -> None:
        key = (str(fields["subject"]), kind, ref)
        if tied:
            row = {"session_id": key[0], "kind": kind, "ref": ref, "since": fields.get("ts"), "line": fields.get("seq")}
            self.links.setdefault(key, row | {"user": fields.get("user"), "host": fields.get("host")})
        else:
            self.links.pop(key, None)


def listen(store: Store, trusted: frozenset[bytes], before: Heard | None = None) -> Heard:
    """What the ledger says by now, as far as it is sealed by one of these keys. ``before``: what was heard last time."""
    heard = before if before is not None else Heard()
    try:
        last = tail.last_segment(store)
        if last < heard.segment - (heard.size == 0):
            return _all(store, trusted) if before is not None and before.size else heard  # it was cut, or there is none yet
        numbers = list(range(heard.segment, last + 1))
        if not numbers:
            return heard
        held = {number: store.read(layout.events(layout.LEDGER, number)) for number in numbers}
        void = any(b'"write_failed"' in data[: data.find(b"\n") + 1] for data in held.values())
        if void and heard.size:
            return _all(store, trusted)  # it speaks of places before those that are read here
        if void:
            held = {number: data for number, data, _ in lines_of(store, layout.LEDGER, numbers)}
        found = _read(store, trusted, heard, held)
        if found.problem is not None and before is not None and before.size:
            return _all(store, trusted)
        return found
    except (StoreError, NotFoundError, FormatError, ValueError) as error:
        heard.problem = str(error)
        return heard


def _all(store: Store, trusted: frozenset[bytes]) -> Heard:
    return listen(store, trusted)


def _read(store: Store, trusted: frozenset[bytes], heard: Heard, held: dict[int, bytes]) -> Heard:
    tree = merkle.Frontier(heard.size, map(bytes.fromhex, heard.peaks))
    previous, entries, points = heard.previous, [], []
    problem = None
    for number, data in held.items():
        start = heard.offset if number == heard.segment else 0
        if start > len(data):
            problem = f"{store.url}/{layout.events(layout.LEDGER, number)} is shorter than it was; run tacho verify ledger"
            break
        seals = _points(store, number)
        at = start
        for offset, raw, digest in valid_lines(previous, data[start:]):
            fields = parsed(raw, f"{store.url}/{layout.events(layout.LEDGER, number)} offset {start + offset}")
            tree.add(merkle.leaf(raw))
            previous, at = digest, start + offset + len(raw)
            if fields.get("type") == "ledger_entry":
                entries.append(fields)
            signed = seals.get(tree.size)
            if signed is not None and signed[0] == tree.root():
                points.append((signed[1], len(entries), number, at, previous, tree.size, tree.peaks))
        if at < len(data) and not torn.torn_line(data, at):
            problem = f"the chain breaks at {store.url}/{layout.events(layout.LEDGER, number)} offset {at}; run tacho verify ledger"
            break
    for signed_note, count, number, at, digest, size, peaks in reversed(points):
        if not _good(signed_note, trusted):
            continue
        for fields in entries[:count]:
            heard.take(fields)
        heard.segment, heard.offset, heard.previous, heard.size = number, at, digest, size
        heard.peaks = [peak.hex() for peak in peaks]
        break
    heard.problem = problem
    return heard


def _points(store: Store, segment: int) -> dict[int, tuple[bytes, bytes]]:
    """By size: (root, note) of the seals in a segment, by whomever: to check each signature would take longer than to read the ledger."""
    try:
        notes = whole_notes(store.read(layout.seals(layout.LEDGER, segment)))
    except NotFoundError:
        return {}  # its writer died while it made them
    found = {}
    for signed in notes:
        with contextlib.suppress(ValueError):
            point = note.claimed(signed.decode("utf-8"))
            found[point.size] = point.root, signed
    return found


def _good(signed: bytes, trusted: frozenset[bytes]) -> bool:
    try:
        return note.open_note(signed.decode("utf-8"), trusted).origin == note.origin(layout.LEDGER)
    except ValueError:
        return False
