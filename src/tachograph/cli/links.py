"""``tacho links``."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tachograph import wiring
from tachograph.core.errors import NotFoundError, UsageError
from tachograph.links import linking, refs, repository
from tachograph.links.linking import Link
from tachograph.log import book as books
from tachograph.log.book import Book, entry_of, said_by
from tachograph.log.reader import resolve

from .app import NO
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="REF|SES", help="a commit (7 digits or more), a PR, a deploy, an incident, a build, or a session")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if not options.what.strip():
        raise UsageError("links of what; name a commit, a PR, a deploy, an incident, a build or a session")
    opened = wiring.open_for_reading(wiring.settings(options.store))
    store, book = opened.store, books.believed(opened.store, opened.trusted)
    try:
        sessions = [resolve(store, options.what)]
        found = linking.links(book, sessions[0])
    except (NotFoundError, UsageError):
        found = linking.meant(book, options.what)
        if not found and (full := repository.here(os.getcwd()).commit(options.what)) is not None:
            found = linking.meant(book, full)
        sessions = list(dict.fromkeys(each.session_id for each in found))
    if options.json:
        print_json([_row(each) for session_id in sessions for each in linking.links(book, session_id)])
        return 0 if found else NO
    for session_id in sessions:
        _print(book, session_id, found)
    if not found:
        whole = sessions[0] if sessions else f"no session with {options.what.encode('unicode_escape').decode('ascii')}"
        print(
            f"{whole} is linked; tacho link SES KIND=REF links one ({', '.join(refs.KINDS)})"
            if not sessions
            else f"{whole} is linked to nothing"
        )
    return 0 if found else NO


def _print(book: Book, session_id: str, found: list[Link]) -> None:
    mine = linking.links(book, session_id)
    print(f"{session_id}  {plural(len(mine), 'link')}" if mine else session_id)
    for each in mine:
        mark = "*" if each in found and len(found) < len(mine) else " "
        print(f" {mark} {each.ref.kind:8}  {each.ref.ref}  since {said_by(each.entry)}")


def _row(each: Link) -> dict[str, Any]:
    event = entry_of(each.entry)
    return {
        "session_id": each.session_id, "kind": each.ref.kind, "ref": each.ref.ref, "since": each.entry.ts, "user": event.user,
        "host": event.host, "line": each.entry.seq,
    }  # fmt: skip
