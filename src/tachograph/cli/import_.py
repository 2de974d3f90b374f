"""``tacho import``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from tachograph import wiring
from tachograph.core.errors import TachographError, UsageError
from tachograph.exchange.registry import recognise
from tachograph.host import importing
from tachograph.host.secrets import Given, collect
from tachograph.redact.policy import Policy

from .app import NO
from .output import plural, policy_argument, print_json, print_notes

_HEAD = 64 << 10
_LIMIT = 4 << 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files, or folders with files in them")
    policy_argument(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    policy = wiring.policy(options.policy)
    given = collect(policy.secret_from, os.environ)
    print_notes(given.notes)
    chosen = wiring.settings(options.store)
    files = list(_files(options.paths))
    opened = wiring.open_for_writing(chosen)
    rows: list[dict[str, Any]] = []
    for path in files:
        try:
            rows.extend(_one(opened, chosen, policy.policy, given, path))
        except TachographError as error:
            rows.append({"file": path, "error": str(error)})
    print_notes(dict.fromkeys(opened.ring.notes))
    if options.json:
        print_json(rows)
    else:
        for row in rows:
            _print(row)
    failed = [row for row in rows if "error" in row]
    return 2 if failed and len(failed) == len(rows) else NO if failed else 0


def _files(paths: list[str]) -> Iterator[str]:
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith((".jsonl", ".json")))
        elif os.path.exists(path):
            yield path
        else:
            raise UsageError(f"no such file, {path}; nothing was imported")


def _one(opened: Any, chosen: wiring.Settings, policy: Policy, given: Given, path: str) -> list[dict[str, Any]]:
    try:
        if os.path.getsize(path) > _LIMIT:
            raise UsageError(f"{path} is larger than {_LIMIT >> 30} GiB; split it")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UsageError(f"cannot read {path}, {error.strerror}; check its owner and mode") from None
    importer = recognise(path, data[:_HEAD])
    if importer is None:
        raise UsageError(f"nothing that this version can import, {path}; it reads Claude Code's JSONL")
    sessions = list(importer.read(path, data))
    names = {session.source_id: importing.session_id_of(session, data) for session in sessions}
    rows = []
    for session in sessions:
        parent = names.get(session.parent_source_id) if session.parent_source_id else None
        done = importing.write(opened, session, data, parent=parent, clock=chosen.clock, entropy=chosen.entropy, policy=policy, given=given)
        rows.append({
            "file": path, "format": importer.name, "session_id": done.session_id, "source_id": done.source_id, "events": done.events,
            "understood": done.understood, "kept": done.kept, "already_there": done.known,
        })  # fmt: skip
    return rows


def _print(row: dict[str, Any]) -> None:
    if "error" in row:
        print(f"error: {row['error']}", file=sys.stderr)
        return
    if row["already_there"]:
        print(f"{row['session_id']}  there already  {row['file']}")
        return
    kept = f", {row['kept']} kept without being understood" if row["kept"] else ""
    print(
        f"{row['session_id']}  {plural(row['events'], 'event')} from {plural(row['understood'] + row['kept'], 'record')}{kept}  {row['file']}"
    )
