"""``tacho show``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.log.reader import Recording, resolve
from tachograph.postmortem import picking, show_json, show_text
from tachograph.postmortem.story import tell

from . import asking, pricing, reading
from .app import NO
from .output import print_json

MAX_WIDTH = 120


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("--step", type=int, metavar="N", help="exactly what the model saw at step N, in full")
    parser.add_argument("--from", dest="first", type=int, metavar="N", help="from step N on")
    parser.add_argument("--to", dest="last", type=int, metavar="N", help="up to step N")
    parser.add_argument("--tool", metavar="NAME", help="only calls of this tool, program or host; may have * and ?")
    parser.add_argument("--lane", metavar="LANE", help="only this lane; may have * and ?")
    parser.add_argument("--errors", action="store_true", help="only what went wrong")
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="KIND",
        choices=picking.KINDS,
        help=f"only these: {', '.join(picking.KINDS)}; may be given again",
    )
    asking.prices_argument(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if options.step is not None and options.step < 1:
        raise UsageError(f"steps count from 1, --step {options.step}; tacho show {options.session} lists them")
    wanted = picking.Picked(
        tool=options.tool, lane=options.lane, errors=options.errors, first=options.first, last=options.last, kinds=tuple(options.kind)
    )
    if options.step is not None and wanted.any():
        raise UsageError("one step is shown whole; leave --step out, or what picks some of the story")
    if options.first is not None and options.last is not None and options.first > options.last:
        raise UsageError(f"no step is from {options.first} on and up to {options.last}; --from is the smaller one")
    reading.quickly()
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    recording = Recording(opened, session_id)
    reading.enter(chosen, opened, [session_id], "show")
    story = tell(recording, step=options.step)
    costs = pricing.costs(story, asking.prices_path(options))
    only, left_out = picking.pick(story, wanted) if wanted.any() else (None, 0)
    nothing = NO if only is not None and not only.turns else 0
    if options.json:
        if options.step is not None:
            print_json(show_json.step_json(recording, story, options.step, costs=costs))
        else:
            print_json(show_json.show_json(only or story, left_out=left_out, costs=costs))
        return nothing
    width = max(40, min(shutil.get_terminal_size((100, 40)).columns, MAX_WIDTH))
    lines = (
        show_text.render(story, width=width, only=only, left_out=left_out, costs=costs)
        if options.step is None
        else show_text.render_step(recording, story, options.step, width=width, costs=costs)
    )
    from rich.console import Console

    console = Console(file=sys.stdout, width=width, highlight=False, soft_wrap=True)
    if sys.stdout.isatty() and len(lines) > shutil.get_terminal_size().lines:
        os.environ.setdefault("LESS", "-FRX")
        with console.pager(styles=True):
            for line in lines:
                console.print(line)
        return nothing
    if console.color_system is None:  # a file, or a pipe: the words alone, which need no library to be laid out again
        sys.stdout.writelines(line.plain + "\n" for line in lines)
        return nothing
    for line in lines:
        console.print(line)
    return nothing
