"""``tacho sql``."""

from __future__ import annotations

import argparse
import csv
import datetime
import decimal
import sys
import uuid
from typing import Any

from tachograph import wiring
from tachograph.core.errors import UsageError

from . import asking
from .output import plural, print_json, print_notes

#: Rows that are printed where nothing else is said.
LIMIT = 1000
#: Characters of a value in a table for people.
_WIDE = 60


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="?", help="one statement that reads (- reads it from standard input)")
    parser.add_argument("--tables", action="store_true", help="print the tables and their columns")
    parser.add_argument("--limit", metavar="N", type=int, default=LIMIT, help=f"rows at most ({LIMIT}; 0: all)")
    parser.add_argument("--time", metavar="SECONDS", type=float, default=60.0, help="give up after so long (60)")
    parser.add_argument("--memory", metavar="MB", type=int, default=2048, help="give up beyond so much memory (2048)")
    parser.add_argument("--csv", action="store_true", help="comma-separated values with a head")
    parser.add_argument("--json", action="store_true", help="one JSON document: a list of objects")


def run(options: argparse.Namespace) -> int:
    from tachograph.fleet.columns import TABLES
    from tachograph.fleet.query import asking as query_over

    if options.tables:
        return _tables(TABLES, options.json)
    if not options.query:
        raise UsageError('no question; write tacho sql "SELECT …", or --tables to see what there is')
    if options.csv and options.json:
        raise UsageError("--csv and --json at once; take one")
    if options.limit < 0 or not 0 < options.time < 1e6 or not 16 <= options.memory < 1 << 24:
        raise UsageError("a limit of 0 or more rows, a time above 0 seconds, a memory of 16 MB or more")
    sql = sys.stdin.read() if options.query == "-" else options.query
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    with (
        asking.up_to_date(chosen, opened) as asked,
        query_over(asked.catalogue, asked.copies, memory=options.memory, seconds=options.time) as query,
    ):
        answer = query.ask(sql, limit=options.limit or None)
    if answer.more:
        print_notes([f"only the first {plural(options.limit, 'row')}; --limit 0 prints all"])
    if options.json:
        print_json([dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows])
    elif options.csv:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(answer.columns)
        out.writerows([["" if value is None else value for value in map(_plain, row)] for row in answer.rows])
    else:
        _print(answer.columns, [[_shown(value) for value in row] for row in answer.rows])
    return 0


def _tables(tables: Any, as_json: bool) -> int:
    if as_json:
        print_json({name: [{"name": c.name, "kind": c.kind, "about": c.about} for c in columns] for name, columns in tables.items()})
        return 0
    for name, columns in tables.items():
        print(name + ("" if name == "links" else "  (and day, the day of the session's id)"))
        for column in columns:
            print(f"  {column.name:20} {column.kind:7} {column.about}")
    return 0


def _print(columns: list[str], rows: list[list[str]]) -> None:
    widths = [max([len(name), *(len(row[number]) for row in rows)]) for number, name in enumerate(columns)]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, datetime.datetime):
        text = value.astimezone(datetime.UTC).isoformat(timespec="milliseconds") if value.tzinfo is not None else value.isoformat()
        return text.replace("+00:00", "Z")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (datetime.timedelta, uuid.UUID)):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _shown(value: Any) -> str:
    plain = _plain(value)
    text = "" if plain is None else plain if isinstance(plain, str) else str(plain)
    # What others wrote must not speak to the terminal.
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return text if len(text) <= _WIDE else text[: _WIDE - 1] + "…"
