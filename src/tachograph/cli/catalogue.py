"""``tacho catalogue``."""

from __future__ import annotations

import argparse

from tachograph import wiring

from . import asking
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="make all of it anew from sessions and ledger")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    with asking.up_to_date(chosen, opened, rebuild=options.rebuild) as asked:
        report, where = asked.report, f"{asked.catalogue.home.url}/catalogue"
        files = asked.catalogue.state().files
    size = sum(told[0] for told in files.values())
    if options.json:
        print_json(
            {
                "sessions": report.sessions,
                "read": report.read,
                "dropped": report.dropped,
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
