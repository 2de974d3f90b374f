"""``tacho search``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph import wiring
from tachograph.core.errors import TachographError
from tachograph.log.opening import OpenStore
from tachograph.log.reader import resolve

from . import asking
from .app import FAILURE, NO
from .output import plural, print_json, print_notes

if TYPE_CHECKING:
    from tachograph.fleet.building import Listed
    from tachograph.fleet.needle import Needle
    from tachograph.fleet.scan import Found, Hit
    from tachograph.fleet.searching import Plan

#: Places that are printed where nothing else is said.
_MOST = 200


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", metavar="TEXT", help="what to look for, as it stands in what was said, read or answered (redacted as it was stored)"
    )
    parser.add_argument("--regex", action="store_true", help="TEXT is a regular expression, as Python's re has them")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="upper and lower case are the same")
    parser.add_argument("--session", metavar="SES", action="append", default=[], help="in this session only; may be given again")
    parser.add_argument("--sessions", action="store_true", help="print the sessions and how often it is in each, without the places")
    parser.add_argument("--limit", metavar="N", type=int, default=_MOST, help=f"places at most ({_MOST}; 0: all)")
    parser.add_argument("--no-filters", action="store_true", help="look through all of them, and neither use nor make filters")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    asking.filter_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from tachograph.fleet import needle as needles
    from tachograph.fleet import parquet, sessions

    parquet.library()  # before it is entered that somebody searches
    needle = needles.needle(options.text, regex=options.regex, ignore_case=options.ignore_case)
    chosen = wiring.settings(options.store)
    wanted = asking.wanted(options, chosen.clock.unix_ms())
    opened = wiring.open_for_reading(chosen)
    named = {resolve(opened.store, name) for name in options.session}
    enter(chosen, opened, options.text, next(iter(named)) if len(named) == 1 else None)

    def meant(asked: asking.Asked, listed: list[Listed]) -> list[Listed]:
        if not named and not wanted.any():
            return listed
        links = sessions.links_of(sessions.heard_of(asked.catalogue))
        rows = {row["session_id"]: row for row in sessions.of_catalogue(asked.catalogue)}
        return [
            each
            for each in listed
            if (not named or each.session_id in named) and wanted.matches(rows[each.session_id], links.get(each.session_id, []), None)
        ]

    done = search(chosen, opened, needle, meant, filters=not options.no_filters)
    return _tell(options, done, len(done.shredded & named) if named else len(done.shredded))


@dataclass(frozen=True)
class Search:
    """A search that was made. ``shredded``: sessions of the store with nothing left to look at."""

    todo: Plan
    found: list[Found]
    shredded: set[str]


def search(
    chosen: wiring.Settings,
    opened: OpenStore,
    needle: Needle,
    meant: Callable[[asking.Asked, list[Listed]], list[Listed]],
    *,
    filters: bool = True,
) -> Search:
    """Look through the sessions that are meant. The catalogue is not held meanwhile: that may take a while."""
    from tachograph.fleet import searching, sessions

    with asking.up_to_date(chosen, opened) as asked:
        look = meant(asked, searching.listed(asked.catalogue))
        shredded = {session_id for session_id, kind, _ in sessions.heard_of(asked.catalogue).links if kind == "shredded"}
        todo = searching.plan(asked.catalogue, look, needle) if filters else searching.Plan(look, 0, [])
    by_the_way = [] if sum(each.size for each in todo.without) > searching.BY_THE_WAY else todo.without
    found = []
    with asking.bar("sessions") as progress:
        for done, one in enumerate(searching.search(opened, todo.look, needle, by_the_way), 1):
            found.append(one)
            if progress is not None:
                progress(done, len(todo.look))
    if any(one.filter is not None for one in found):
        with asking.up_to_date(chosen, opened) as asked:
            gone = {session_id for session_id, kind, _ in sessions.heard_of(asked.catalogue).links if kind == "shredded"}
            searching.keep(asked.catalogue, found, lambda session_id: session_id in gone)
    return Search(todo, sorted(found, key=lambda one: one.session_id), shredded)


def enter(chosen: wiring.Settings, opened: OpenStore, said: str, subject: str | None) -> None:
    """A search is entered in the ledger before it is made, with what was searched for, encrypted, its secrets masked."""
    from tachograph.host import custody

    by = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    try:
        by.enter(by.entry("read", subject, detail={"verb": "search"}), said)
    except (TachographError, OSError) as error:
        print_notes([f"this search is not entered in the ledger: {error}"])


def _tell(options: argparse.Namespace, done: Search, shredded: int) -> int:
    todo, found = done.todo, done.found
    hits = [hit for one in found for hit in one.hits]
    count = sum(one.count for one in found)
    problems = [one for one in found if one.problem]
    code = 0 if count else FAILURE if problems else NO
    shown = hits[: options.limit] if options.limit > 0 else hits
    if options.json:
        print_json(
            {
                "count": count, "sessions": [{"session_id": one.session_id, "count": one.count} for one in found if one.count],
                "hits": [] if options.sessions else [_row(hit) for hit in shown], "looked_at": len(todo.look), "ruled_out": todo.ruled_out,
                "bytes": sum(one.read for one in found), "shredded": shredded + sum(one.shredded for one in found),
                "unreadable": [{"session_id": one.session_id, "why": one.problem} for one in problems],
            }
        )  # fmt: skip
        return code
    for one in problems:
        print(f"not looked at to its end: {one.session_id}: {one.problem}", file=sys.stderr)
    if options.sessions:
        for one in found:
            if one.count:
                print(f"{one.session_id}  {plural(one.count, 'place')}")
    else:
        for hit in shown:
            what = f"{hit.type} {_clean(hit.name)}" if hit.name else hit.type
            print(f"{hit.session_id}  #{hit.seq} {what}: {_clean(hit.before)}{_bold(_clean(hit.match))}{_clean(hit.after)}")
        if count > len(shown):
            print_notes([f"{len(shown):,} of {plural(count, 'place')}; --limit 0 prints all that are kept, --sessions counts them"])
    looked = f"{plural(len(todo.look), 'session')} looked through" + (
        f", {todo.ruled_out:,} ruled out by their filters" if todo.ruled_out else ""
    )
    hidden = shredded + sum(one.shredded for one in found)
    ending = f"; {plural(hidden, 'session')} shredded, with nothing left to look at" if hidden else ""
    print_notes([f"{looked}{ending}"]) if count else print(f"in none of them: {looked}{ending}")
    return code


def _row(hit: Hit) -> dict[str, Any]:
    return {
        "session_id": hit.session_id, "line": hit.seq, "event_id": hit.event_id, "type": hit.type, "name": hit.name, "before": hit.before, "match": hit.match,
        "after": hit.after,
    }  # fmt: skip


def _clean(text: str) -> str:
    """Text of others, in one line, that does not speak to the terminal."""
    return "".join(c if c.isprintable() else " " if c in "\r\n\t" else "\ufffd" for c in text)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text
