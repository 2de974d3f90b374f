"""``tacho retain``."""

from __future__ import annotations

import argparse
import collections
import datetime

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import custody, retaining
from tachograph.host.retaining import Row
from tachograph.log import retention
from tachograph.log.reader import resolve
from tachograph.log.retention import State

from .app import FAILURE
from .output import confirm, plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    profiles = ", ".join(f"{days}d" for days in retention.PROFILES)
    parser.add_argument("session", metavar="SES", nargs="?", help="with --keep: only this session")
    parser.add_argument("--keep", metavar="DAYS", help=f"choose how long sessions are kept ({profiles}, or another number of days)")
    parser.add_argument("--reason", metavar="TEXT", help="with --keep: why; the ledger keeps it")
    parser.add_argument("--dry-run", action="store_true", help="say what would be deleted, and delete nothing")
    parser.add_argument(
        "--grace", metavar="DAYS", default=f"{retention.GRACE}d",
        help="days between the end of a session's time, or its release from a hold, and its deletion (7d; 0 for none)",
    )  # fmt: skip
    parser.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_writing(chosen) if options.keep is not None else wiring.open_for_reading(chosen)
    keeper = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    session_id = resolve(opened.store, options.session) if options.session else None
    if options.keep is not None:
        days = retention.days_of(options.keep)
        line = retaining.keep(keeper, session_id, days, custody.reason_of(options.reason))
        whom = f"{session_id} is kept" if session_id else "sessions opened from now on are kept"
        print(f"{whom} for {plural(days, 'day')} after the end, line {line} of the ledger.")
        return 0
    if session_id is not None:
        raise UsageError("retention runs over the whole store; name a session only with --keep, or hold it with tacho hold add")
    grace = 0 if options.grace in ("0", "0d") else retention.days_of(options.grace)
    rows = retaining.run(keeper, grace=grace, dry=True)
    going = [row for row in rows if row.done in ("deleted", "finished")]
    if not options.dry_run:
        if going and not options.yes:
            confirm(
                f"Delete {plural(len(going), 'session')} for good, {', '.join(row.session_id for row in going[:3])}{'…' if going[3:] else ''}?"
            )
        rows = retaining.run(keeper, grace=grace)
    if options.json:
        print_json({"dry_run": options.dry_run, "grace_days": grace, "sessions": [_shown(row) for row in rows]})
    else:
        _print(rows, dry=options.dry_run, chosen=bool(keeper.book().about(None, "retention")))
    return FAILURE if any(row.done == "failed" for row in rows) else 0


def _shown(row: Row) -> dict[str, object]:
    return {
        "session_id": row.session_id, "state": str(row.state), "matters": list(row.matters), "days": row.days,
        "expires": _time(row.expires), "due": _time(row.due), "done": row.done, "why": row.why,
    }  # fmt: skip


def _print(rows: list[Row], *, dry: bool, chosen: bool) -> None:
    for row in rows:
        if row.done != "kept" or row.matters or row.why or row.state is State.EXPIRED:
            print(f"{row.session_id}  {'would be ' if dry and row.done in ('deleted', 'finished') else ''}{_said(row)}")
    done = collections.Counter(row.done for row in rows)
    parts = [f"{done.pop(kind)} {kind}" for kind in ("deleted", "finished", "locked", "failed") if done[kind]]
    print(f"{plural(len(rows), 'session')}: {', '.join([*parts, str(done['kept']) + ' kept'])}" + (" (nothing was done)" if dry else ""))
    if rows and not chosen and all(row.days is None for row in rows):
        print(
            "No retention is chosen, so all of them are kept for ever; tacho retain --keep 183d --reason TEXT chooses one for new sessions."
        )


def _said(row: Row) -> str:
    held = f", held for {', '.join(row.matters)}" if row.matters else ""
    more = f" ({row.why})" if row.why else ""
    if row.state is State.EXPIRED and not held:
        more = f", deleted from {(_time(row.due) or '')[:10]} on"
    return f"{row.done if row.done != 'kept' else row.state}{held}{more}"


def _time(unix_ms: int | None) -> str | None:
    if unix_ms is None:
        return None
    return datetime.datetime.fromtimestamp(unix_ms / 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
