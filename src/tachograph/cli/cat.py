"""``tacho cat``: the decrypted, self-contained JSONL (DESIGN §9, "Shapes that others rely on")."""

from __future__ import annotations

import argparse
import sys

from tachograph import wiring
from tachograph.log.ledger import resolve_log
from tachograph.log.reader import Recording

from . import reading
from .output import json_line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, @last, or ledger")
    parser.add_argument("--json", action="store_true", help="one JSON array instead of one event a line")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve_log(opened.store, options.session)
    recording = Recording(opened, session_id)
    reading.enter(chosen, opened, [session_id], "cat")
    lines = (json_line(event) for event in recording.expanded())
    if options.json:
        sys.stdout.write("[" + ",\n".join(lines) + "]\n")
        return 0
    for line in lines:
        sys.stdout.write(line + "\n")
    return 0
