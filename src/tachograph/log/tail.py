"""Where the ledger ends: all that its next writer must know, from its last segment alone.

The first line of a later segment carries the *frontier*, the peaks of the Merkle tree over all lines before it. It is believed where the
newest seal of the segment, by the own key, covers all of the segment's lines and has the root that the frontier and those lines lead
to: then whoever holds the key wrote it. Where anything is otherwise (a dead writer, a tail, another key, a changed byte) the whole
ledger is read, as any log that is continued, and the next segment has a frontier again.

Lines behind the newest seal were never acknowledged: their writer died before it sealed them, or they are by somebody who could write the
store and had no key. The next writer must not vouch for them, so they become void (``docs/format/v1.md``, section 3.5).

The last segment is found by galloping: no listing, which takes long in a folder of many thousand files.
"""

from __future__ import annotations

from tachograph.core.errors import FormatError, NotFoundError, TamperedError
from tachograph.core.events import Gap
from tachograph.core.ports import Store
from tachograph.crypto import merkle, note
from tachograph.format import layout, line, torn

from . import recover
from .book import sealed_size, whole_notes
from .opening import OpenStore
from .reader import Recording, frames, lines_of, parsed, segments, valid_lines
from .recover import Left


def left_behind(opened: OpenStore) -> Left:
    """Where the ledger stands. Call it under its lock. Raises ``TamperedError`` for one that cannot be continued."""
    store = opened.store
    last = last_segment(store)
    if not last:
        if segments(store, layout.LEDGER):
            raise TamperedError(f"the first segment of the ledger is gone, {store.url}/ledger; run tacho verify ledger")
        return Left(line.genesis(layout.LEDGER))
    left = _from_last(opened, last) if last > 1 else None
    if left is None:
        Recording(opened, layout.LEDGER)  # raises where the chain breaks in the middle
        left = _sealed(opened, recover.left_behind(opened, layout.LEDGER))
    return left


def _sealed(opened: OpenStore, left: Left) -> Left:
    """As ``left``, but standing behind the newest seal by a trusted key."""
    store = opened.store
    numbers = segments(store, layout.LEDGER)
    tree, previous = merkle.Tree(), line.genesis(layout.LEDGER)
    leaves: list[bytes] = []
    ends = [(numbers[0], 0, previous)]
    for segment, data, _ in lines_of(store, layout.LEDGER, numbers):
        for offset, raw, digest in valid_lines(previous, data):
            previous = digest
            leaves.append(merkle.leaf(raw))
            tree.add(leaves[-1])
            ends.append((segment, offset + len(raw), digest))
    size = max((_point(opened, layout.seals(layout.LEDGER, number), tree) for number in numbers), default=0)
    if size == tree.size:
        return left
    segment, offset, previous = ends[size]
    frontier = merkle.Frontier()
    for leaf in leaves[:size]:
        frontier.add(leaf)
    void = Gap(
        reason=torn.WRITE_FAILED, file=layout.events(layout.LEDGER, segment).rpartition("/")[2], offset=offset,
        frontier=[peak.hex() for peak in frontier.peaks],
    )  # fmt: skip
    return Left(previous, segments=left.segments, tree=frontier, void=void)


def _point(opened: OpenStore, name: str, tree: merkle.Tree) -> int:
    """The most lines of this tree that a seal in this file is over."""
    most = 0
    for each in whole_notes(opened.store.read(name)) if opened.store.exists(name) else []:
        most = max(most, sealed_size(each, opened.trusted, tree))
    return most


def last_segment(store: Store) -> int:
    """The number of the last segment, 0 where there is none. Segments are numbered without a gap."""

    def there(number: int) -> bool:
        return store.exists(layout.events(layout.LEDGER, number))

    if not there(1):
        return 0
    low, high = 1, 2
    while there(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if there(middle) else (low, middle)
    return low


def _from_last(opened: OpenStore, segment: int) -> Left | None:
    """None where the last segment alone does not tell."""
    store = opened.store
    names = [kind(layout.LEDGER, segment) for kind in (layout.events, layout.content, layout.seals)]
    try:
        data, held, seals = (store.read(name) for name in names)
        found = _tail(data, held, seals, opened.trusted, f"{store.url}/{names[0]}")
    except (NotFoundError, FormatError, ValueError):
        return None
    if found is None:
        return None
    # The lines and their content were on the device before the seal over them was written; the seal itself may not be, if its writer was
    # killed at this very moment.
    store.sync(names[-1])
    return Left(found[0], segments=segment, tree=found[1])


def _tail(data: bytes, held: bytes, seals: bytes, public: frozenset[bytes], where: str) -> tuple[str, merkle.Frontier] | None:
    end = data.find(b"\n") + 1
    first = parsed(data[:end], where)
    frontier = first.get("frontier")
    if not isinstance(frontier, list):
        return None
    tree = merkle.Frontier(first["seq"] - 1, [bytes.fromhex(str(peak)) for peak in frontier])
    # The line before the first is not read: what its hash was, the seal vouches for.
    previous, at = str(first.get("hash")), end
    referred = 0
    tree.add(merkle.leaf(data[:end]))
    for offset, raw, digest in valid_lines(previous, data[end:]):
        tree.add(merkle.leaf(raw))
        previous, at = digest, end + offset + len(raw)
        referred = max([referred, *(frame["at"] + frame["len"] for frame in frames(parsed(raw, where)))])
    notes = whole_notes(seals)
    if not notes or sum(map(len, notes)) + len(notes) != len(seals) or at != len(data) or len(held) != referred:
        return None
    point = note.open_note(notes[-1].decode("utf-8"), public)
    if (point.origin, point.size, point.root) != (note.origin(layout.LEDGER), tree.size, tree.root()):
        return None
    return previous, tree
