"""``tacho ls``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from tachograph import wiring
from tachograph.core import events
from tachograph.core.errors import KeyUnavailableError, TachographError
from tachograph.log.ahead import Ahead
from tachograph.log.opening import OpenStore, shredded_at
from tachograph.log.reader import Recording, session_ids

from .output import duration, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    opened = wiring.open_for_reading(wiring.settings(options.store))
    rows = _rows(opened)
    if options.json:
        print_json(rows)
        return 0
    if not rows:
        print(f"no session in {opened.store.url} yet; record one with tacho record -- CMD")
        return 0
    for row in rows:
        sha = (row.get("repo_sha") or "")[:7]
        calls = " ".join(f"{count} {kind}" for kind, count in sorted(row.get("calls", {}).items()))
        what = row.get("name") or row.get("agent") or ""
        print(
            f"{row['session_id']}  {row.get('started', '')[:19]:19}  {row['status']:8}  {duration(row.get('duration_ms')):>9}  {sha:7}  {what}"
            + (f"  ({calls})" if calls else "")
            + _forked(row.get("forked_from"))
            + ("  content shredded" if "shredded" in row else "")
        )
    return 0


def _forked(origin: dict[str, Any] | None) -> str:
    if not origin:
        return ""
    how = "asked again" if origin.get("by") == "reask" else "forked"
    changed = ", ".join(str(one) for one in origin.get("changed", [])) or "nothing changed"
    return f"  {how} from {origin.get('session_id')} at step {origin.get('step')}: {changed}"


def _rows(opened: OpenStore) -> list[dict[str, Any]]:
    if opened.store.segments is None:
        return [_row(opened, session_id) for session_id in session_ids(opened.store)]
    with Ahead(opened.store) as far:
        listed = replace(opened, store=far, with_ring=opened.ring)
        rows = [_row(listed, session_id) for session_id in session_ids(far)]
    # What could not be read may be what somebody is writing at this moment: it is looked at again where it lies.
    return [_row(opened, row["session_id"]) if row["status"] == "damaged" else row for row in rows]


def _row(opened: OpenStore, session_id: str) -> dict[str, Any]:
    try:
        recording = Recording(opened, session_id)
    except KeyUnavailableError:
        raise
    except TachographError as error:
        return {"session_id": session_id, "status": "damaged", "error": str(error)}
    row: dict[str, Any] = {"session_id": session_id, "status": "open", "events": len(recording.entries)}
    models: dict[str, int] = {}
    for entry in recording.entries:
        event = entry.event
        if isinstance(event, events.SessionStart):
            row |= {
                "started": entry.ts, "name": event.name, "agent": event.agent, "source": event.source, "repo_url": event.repo_url,
                "repo_sha": event.repo_sha, "branch": event.branch, "dirty": event.dirty, "links": event.links,
                "forked_from": event.forked_from or None,
            }  # fmt: skip
        elif isinstance(event, events.ModelCall):
            model = event.served_model_id or event.model_id or "?"
            models[model] = models.get(model, 0) + 1
        elif isinstance(event, events.SessionEnd):
            row |= {"status": event.status, "exit_code": event.exit_code, "duration_ms": event.duration_ms, "calls": event.calls}
    if (at := shredded_at(opened.store, session_id)) is not None:
        row["shredded"] = at
    return {**row, "models": models}
