"""Many sessions looked through at once, those first left out that a filter rules out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tachograph.core.errors import ShreddedError, TachographError
from tachograph.format import layout
from tachograph.log.opening import OpenStore

from . import building, ngrams, parquet, scan, workers
from .building import Listed
from .catalogue import MANY, Catalogue, State
from .needle import Needle
from .scan import Found

#: Sessions that one worker takes at once, and below how many bytes there is too little to do for several.
_PART, _LITTLE = 25, 8 << 20
#: A search that has to look at no more bytes than this in sessions without a filter makes filters for them by the way.
BY_THE_WAY = 64 << 20

_COLUMNS = ("session_id", "bytes", "filter")


@dataclass(frozen=True)
class Plan:
    """``look``: sessions that must be looked through; ``ruled_out``: how many need not be; ``without``: those that have no filter that is of
    what they are now."""

    look: list[Listed]
    ruled_out: int
    without: list[Listed]


def plan(catalogue: Catalogue, wanted: Sequence[Listed], needle: Needle) -> Plan:
    """Which sessions may hold it. Call it while the catalogue is held."""
    state = catalogue.state()
    key, grams = ngrams.key_of(catalogue.opened.content_key), ngrams.asked(needle.required)
    sizes = {each.session_id: each.size for each in wanted}
    filtered: set[str] = set()
    may: set[str] = set()
    for name, told in state.filters.items():
        if not any(sizes.get(session_id) == size for session_id, size in told.items()):
            continue
        if not grams.size:
            filtered |= {session_id for session_id, size in told.items() if sizes.get(session_id) == size}
            continue
        table = parquet.load(catalogue.home.read(name), f"{catalogue.home.url}/{name}").to_pydict()
        ids, good = table["session_id"], ngrams.may_hold(key, grams, table["session_id"], table["filter"])
        for session_id, size, hold in zip(ids, table["bytes"], good, strict=True):
            if sizes.get(session_id) == size:
                filtered.add(session_id)
                if hold:
                    may.add(session_id)
    if not grams.size:
        may = filtered
    look = [each for each in wanted if each.session_id in may or each.session_id not in filtered]
    return Plan(look, len(wanted) - len(look), [each for each in wanted if each.session_id not in filtered])


def search(opened: OpenStore, look: Sequence[Listed], needle: Needle, filters: Sequence[Listed] = ()) -> Iterator[Found]:
    """What is in them, session by session, in any order. ``filters``: of these a filter is made, too."""
    key, made = ngrams.key_of(opened.content_key), {each.session_id for each in filters}

    def work(part: list[Listed]) -> list[Found]:
        done = []
        for each in part:
            found = scan.search(opened, each.session_id, needle)
            if each.session_id in made and not found.shredded:
                found.filter = _filter(opened, key, each.session_id)
            found.size = each.size
            done.append(found)
        return done

    for part in workers.spread(work, _parts(look), alone=sum(each.size for each in look) < _LITTLE):
        yield from part


def index(opened: OpenStore, wanted: Sequence[Listed]) -> Iterator[Found]:
    """Filters of these, and nothing else."""
    key = ngrams.key_of(opened.content_key)

    def work(part: list[Listed]) -> list[Found]:
        return [Found(each.session_id, each.size, filter=_filter(opened, key, each.session_id)) for each in part]

    for part in workers.spread(work, _parts(wanted), alone=sum(each.size for each in wanted) < _LITTLE):
        yield from part


def keep(catalogue: Catalogue, found: Sequence[Found], shredded: Callable[[str], bool]) -> int:
    """Keep the filters that were made; how many those are. Call it while the catalogue is held."""
    state = catalogue.state()
    kept = sorted((one for one in found if one.filter is not None and not shredded(one.session_id)), key=lambda one: one.session_id)
    for listed in building.batches([Listed(one.session_id, one.size, 0) for one in kept]):
        ids = {each.session_id for each in listed}
        _put(catalogue, state, [(one.session_id, one.size, one.filter) for one in kept if one.session_id in ids])
    _merge(catalogue, state)
    return len(kept)


def _put(catalogue: Catalogue, state: State, rows: Sequence[tuple[str, int, bytes | None]]) -> None:
    """A file of filters. Others lose theirs of the same sessions: those were of an earlier state, or are in this one now."""
    import pyarrow as pa

    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), (pa.string(), pa.int64(), pa.binary()), strict=True)]
    home = building.home_of([row[0] for row in rows])
    name = home.file("filters")
    sizes = {row[0]: row[1] for row in rows}
    catalogue.keep_filters(state, name, parquet.dump("filters", pa.table(dict(zip(_COLUMNS, columns, strict=True)))), sizes)
    for other, told in list(state.filters.items()):
        if other != name and not told.keys() - sizes.keys():
            catalogue.drop_filters(state, other)
        elif other != name and told.keys() & sizes.keys():
            state.filters[other] = {session_id: size if session_id not in sizes else -1 for session_id, size in told.items()}


def _merge(catalogue: Catalogue, state: State) -> None:
    days: dict[str, list[str]] = {}
    for name in state.filters:
        days.setdefault(name.split("/")[2], []).append(name)
    for names in days.values():
        small = [name for name in names if len(state.filters[name]) < building.BATCH]
        if len(small) < MANY:
            continue
        rows: dict[str, tuple[str, int, bytes | None]] = {}
        for name in small:
            table = parquet.load(catalogue.home.read(name), f"{catalogue.home.url}/{name}").to_pydict()
            for session_id, size, made in zip(*(table[column] for column in _COLUMNS), strict=True):
                if state.filters[name].get(session_id) == size:
                    rows[session_id] = session_id, size, made
        if rows:
            _put(catalogue, state, [rows[session_id] for session_id in sorted(rows)])


def _filter(opened: OpenStore, key: bytes, session_id: str) -> bytes | None:
    try:
        return ngrams.build(key, session_id, scan.parts(opened, session_id))
    except scan.LargeError:
        return b""  # it may hold anything
    except (ShreddedError, TachographError, ValueError, KeyError, RecursionError):
        return None  # it has to be looked at each time, and said each time that it cannot be


def _parts(look: Sequence[Listed]) -> list[list[Listed]]:
    """Parts of about the same size, the large ones first."""
    found: list[list[Listed]] = []
    size = 0
    for each in sorted(look, key=lambda one: -one.size):
        if not found or len(found[-1]) >= _PART or size > _LITTLE:
            found.append([])
            size = 0
        found[-1].append(each)
        size += each.size
    return found


def listed(catalogue: Catalogue) -> list[Listed]:
    """All sessions with their sizes, those left out whose key was destroyed. Call it while the catalogue is held, and up to date."""
    state = catalogue.state()
    gone = {session_id for session_id, kind, _ in state.heard.links if kind == "shredded"}
    found = []
    for home in catalogue.homes(state):
        name = home.file("sessions")
        table = parquet.load(catalogue.home.read(name), f"{layout.CATALOGUE}{name}", ("session_id", "bytes")).to_pydict()
        found += [
            Listed(session_id, size, 0)
            for session_id, size in zip(table["session_id"], table["bytes"], strict=True)
            if session_id not in gone
        ]
    return sorted(found, key=lambda one: one.session_id)
