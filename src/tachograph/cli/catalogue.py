"""``tacho catalogue``."""

from __future__ import annotations

import argparse

from tachograph import wiring
from tachograph.log.opening import OpenStore

from . import asking, reading
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="make all of it anew from sessions and ledger")
    parser.add_argument(
        "--filters", action="store_true", help="make the filters that tacho search rules sessions out by; opens all contents once"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    made = 0
    if options.filters:
        made = _filters(chosen, opened, rebuild=options.rebuild)
    with asking.up_to_date(chosen, opened, rebuild=options.rebuild and not options.filters) as asked:
        report, where = asked.report, f"{asked.catalogue.home.url}/catalogue"
        files = asked.catalogue.state().files
    size = sum(told[0] for told in files.values())
    if options.json:
        print_json(
            {
                "sessions": report.sessions,
                "read": report.read,
                "dropped": report.dropped,
                "filters": made,
                "files": len(files),
                "bytes": size,
                "where": where,
            }
        )
        return 0
    print(
        f"{plural(report.sessions, 'session')} in {where}: {report.read:,} read now, {report.dropped:,} dropped; {plural(len(files), 'file')}, {size / 1e6:,.1f} MB"
    )
    return 0


def _filters(chosen: wiring.Settings, opened: OpenStore, *, rebuild: bool) -> int:
    """Make those that are missing, or are of what a session was before; how many."""
    from tachograph.fleet import needle, searching, sessions

    reading.enter(chosen, opened, [None], "catalogue")
    with asking.up_to_date(chosen, opened, rebuild=rebuild) as asked:
        missing = searching.plan(asked.catalogue, searching.listed(asked.catalogue), needle.needle("x")).without
    found = []
    with asking.bar("sessions filtered") as progress:
        for done, one in enumerate(searching.index(opened, missing), 1):
            found.append(one)
            if progress is not None:
                progress(done, len(missing))
    with asking.up_to_date(chosen, opened) as asked:
        gone = {session_id for session_id, kind, _ in sessions.heard_of(asked.catalogue).links if kind == "shredded"}
        return searching.keep(asked.catalogue, found, lambda session_id: session_id in gone)
