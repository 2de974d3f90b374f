"""``tacho ls``."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tachograph import wiring
from tachograph.log.opening import OpenStore

from . import asking
from .app import NO
from .output import duration, plural, print_json, print_notes

if TYPE_CHECKING:
    from tachograph.fleet.heard import Heard
    from tachograph.fleet.prices import Prices
    from tachograph.links.refs import Ref

#: Sessions without a catalogue, above which a note says that there could be one.
MANY = 500


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document")
    asking.filter_arguments(parser)
    asking.cost_arguments(parser)
    asking.prices_argument(parser)


def run(options: argparse.Namespace) -> int:
    from tachograph.fleet import prices, sessions

    chosen = wiring.settings(options.store)
    wanted = asking.wanted(options, chosen.clock.unix_ms())
    opened = wiring.open_for_reading(chosen)
    table = prices.load(asking.prices_path(options))
    rows, heard = _sessions(chosen, opened)
    links = sessions.links_of(heard)
    shredded = {key[0]: str(row["since"]) for key, row in heard.links.items() if key[1] == "shredded"}
    found = [
        _row(row, links.get(row["session_id"], []), cost, table, shredded.get(row["session_id"]))
        for row in rows
        if wanted.matches(row, links.get(row["session_id"], []), cost := sessions.cost_of(row, table))
    ]
    if options.json:
        print_json(found)
        return 0 if found or not wanted.any() else NO
    if not rows:
        print(f"no session in {opened.store.url} yet; record one with tacho record -- CMD")
        return 0
    for row in found:
        print(_line(row))
    if not found:
        print(f'none of {plural(len(rows), "session")}; leave a condition out, or tacho sql "FROM sessions" to see what they have')
        return NO
    return 0


def _sessions(chosen: wiring.Settings, opened: OpenStore) -> tuple[list[dict[str, Any]], Heard]:
    """From the catalogue where there is one, else from the sessions themselves."""
    from tachograph.fleet import heard, sessions

    if sessions.is_there(opened.store) and has_library():
        with asking.up_to_date(chosen, opened) as asked:
            return sessions.of_catalogue(asked.catalogue), sessions.heard_of(asked.catalogue)
    said = heard.listen(opened.store, opened.trusted)
    if said.problem:
        print_notes([f"what the ledger says is known in part: {said.problem}"])
    rows = sessions.of_store(opened.store, said)
    if len(rows) > MANY:
        print_notes([f"{plural(len(rows), 'session')} were read one by one; tacho catalogue makes this quick"])
    return rows, said


def has_library() -> bool:
    try:
        import pyarrow
    except ImportError:
        return False
    return bool(pyarrow)


def _row(row: Mapping[str, Any], links: Sequence[Ref], cost: float | None, table: Prices, shredded: str | None) -> dict[str, Any]:
    """What ``--json`` prints of a session."""
    from tachograph.fleet import sessions

    found = {
        "session_id": row["session_id"], "status": row["status"], "events": row["events"], "started": _time(row["started"]),
        **{name: row[name] for name in ("name", "agent", "source", "repo_url", "repo_sha", "branch", "dirty", "parent_session_id")},
        "forked_from": sessions.forked_from(row),
        "links": [str(link) for link in links if link.kind not in ("hold", "shredded")],
        "exit_code": row["exit_code"], "duration_ms": row["duration_ms"], "calls": row["calls"] or {},
        **{name: row[name] for name in ("models", "prompts", "guardrails", "actions", "tools", "shas")},
        **{name: row[name] for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")},
        "cost": None if cost is None else round(cost, 6), "currency": table.currency,
        "held": [link.ref for link in links if link.kind == "hold"],
    }  # fmt: skip
    return found | ({"error": row["problem"]} if row["problem"] else {}) | ({"shredded": shredded} if shredded else {})


def _line(row: Mapping[str, Any]) -> str:
    calls = " ".join(f"{count} {kind}" for kind, count in sorted(row["calls"].items()))
    sha, what = (row["repo_sha"] or "")[:7], row["name"] or row["agent"] or ""
    return (
        f"{row['session_id']}  {(row['started'] or '')[:19]:19}  {row['status']:8}  {duration(row['duration_ms']):>9}  {sha:7}  {what}"
        + (f"  ({calls})" if calls else "")
        + _forked(row["forked_from"])
        + ("  content shredded" if "shredded" in row else "")
    )


def _forked(origin: dict[str, Any] | None) -> str:
    if not origin:
        return ""
    how = "asked again" if origin.get("by") == "reask" else "forked"
    changed = ", ".join(str(one) for one in origin.get("changed", [])) or "nothing changed"
    return f"  {how} from {origin.get('session_id')} at step {origin.get('step')}: {changed}"


def _time(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
