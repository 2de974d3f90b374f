"""The catalogue and the search by themselves: ``python bench/catalogue.py [SESSIONS]``. Prints JSON. Takes some minutes, most of them to make the stores.

1. 10,000 sessions with 1 M events: made from nothing, brought up to date with nothing new and with one new session, a content looked up, made anew.
2. 10,000 sessions with 1 GB of contents: looked through without filters, the filters made, a rare phrase with them.

Seconds are of the clock (``wall``) and of all processors together (``cpu``): on a machine that others use, only the second says something.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import catalogue_store as stores

from tachograph.fleet import needle, searching
from tachograph.fleet.catalogue import Catalogue
from tachograph.fleet.query import Query
from tachograph.wiring import SystemClock

PHRASE = "the ZYGOTE-4711 incident, as she said"


class Lap:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), _cpu()

    def __call__(self) -> dict[str, float]:
        return {"wall": round(time.perf_counter() - self._wall, 3), "cpu": round(_cpu() - self._cpu, 3)}


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def events_store(folder: Path, sessions: int) -> dict[str, Any]:
    opened = stores.make(str(folder / "events"), sessions, 100)
    found = Catalogue(opened, clock=SystemClock())
    out: dict[str, Any] = {"sessions": sessions, "events": sessions * 100}
    with found.held():
        lap = Lap()
        found.update()
        out["built"] = lap()
        lap = Lap()
        found.update()
        out["nothing_new"] = lap()
        stores.add(opened, 1, 100, seed=7)
        lap = Lap()
        out["read_for_one_new"] = found.update().read
        out["one_new"] = lap()
        before = _answers(found)
        out["lookup_ms"] = _lookup(found)
        lap = Lap()
        found.update(rebuild=True)
        out["rebuilt"] = lap()
        out["same_after_rebuild"] = _answers(found) == before
        out["bytes"] = sum(size for size, _ in found.state().files.values())
    return out


def _answers(found: Catalogue) -> list[Any]:
    query = Query(found, found.home.url)
    try:
        return [
            query.ask("SELECT count(*), sum(hash(s)) FROM sessions s").rows, query.ask("SELECT count(*), sum(hash(e)) FROM events e").rows,
            query.ask("SELECT count(*), sum(hash(c)) FROM contents c").rows,
        ]  # fmt: skip
    finally:
        query.close()


def _lookup(found: Catalogue) -> dict[str, float]:
    query = Query(found, found.home.url)
    names = [row[0] for row in query.ask("SELECT id FROM contents USING SAMPLE 20 ROWS").rows]
    times = []
    for name in names:
        began = time.perf_counter()
        query.ask("SELECT session_id, seq FROM contents WHERE id = ?", [name])
        times.append(1000 * (time.perf_counter() - began))
    query.close()
    return {"median": round(statistics.median(times), 1), "worst": round(max(times), 1)}


def contents_store(folder: Path, sessions: int) -> dict[str, Any]:
    opened = stores.make(str(folder / "contents"), 0, 0)
    stores.add(opened, sessions, 12, 10_000, marks={sessions * 7 // 9: PHRASE})
    found, wanted = Catalogue(opened, clock=SystemClock()), needle.needle(PHRASE)
    with found.held():
        found.update()
        listed = searching.listed(found)
    lap = Lap()
    read = places = 0
    for one in searching.search(opened, listed, wanted):
        read, places = read + one.read, places + one.count
    took = lap()
    out: dict[str, Any] = {
        "bytes": read,
        "places": places,
        "all": took,
        "mb_per_cpu_second": round(read / 1e6 / took["cpu"]),
        "mb_per_second": round(read / 1e6 / took["wall"]),
    }
    lap = Lap()
    made = list(searching.index(opened, listed))
    out["filters"] = lap()
    out["bytes_of_filters"] = sum(len(one.filter or b"") for one in made)
    with found.held():
        searching.keep(found, made, lambda _: False)
    lap = Lap()
    with found.held():
        found.update()
        todo = searching.plan(found, searching.listed(found), wanted)
    hits = sum(one.count for one in searching.search(opened, todo.look, wanted, todo.without))
    out["rare"] = {**lap(), "looked_at": len(todo.look), "places": hits}
    return out


def main() -> None:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    stores.quick()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        print(json.dumps({"events": events_store(Path(folder), sessions), "contents": contents_store(Path(folder), sessions)}, indent=1))


if __name__ == "__main__":
    main()
