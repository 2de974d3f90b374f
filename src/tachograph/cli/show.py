"""``tacho show``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.log.reader import Recording, resolve
from tachograph.postmortem import show_json, show_text
from tachograph.postmortem.story import tell

from . import reading
from .output import print_json

MAX_WIDTH = 120


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("--step", type=int, metavar="N", help="exactly what the model saw at step N, in full")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if options.step is not None and options.step < 1:
        raise UsageError(f"steps count from 1, --step {options.step}; tacho show {options.session} lists them")
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    recording = Recording(opened, session_id)
    reading.enter(chosen, opened, [session_id], "show")
    story = tell(recording)
    if options.json:
        print_json(show_json.show_json(story) if options.step is None else show_json.step_json(recording, story, options.step))
        return 0
    width = max(40, min(shutil.get_terminal_size((100, 40)).columns, MAX_WIDTH))
    lines = (
        show_text.render(story, width=width) if options.step is None else show_text.render_step(recording, story, options.step, width=width)
    )
    from rich.console import Console

    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=True)
    if sys.stdout.isatty() and len(lines) > shutil.get_terminal_size().lines:
        os.environ.setdefault("LESS", "-FRX")
        with console.pager(styles=True):
            for line in lines:
                console.print(line)
        return 0
    for line in lines:
        console.print(line)
    return 0
