"""``tacho install-hooks``."""

from __future__ import annotations

import argparse
import os

from tachograph.core.errors import UsageError
from tachograph.links import hooks

from .output import print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--notes", action="store_true", help=f"keep the same in git notes, too ({hooks.NOTES}), which follow amend and rebase"
    )
    parser.add_argument("--no-trailers", action="store_true", help="with --notes: leave the commit messages alone")
    parser.add_argument("--remove", action="store_true", help="take the hooks out, and put back what was there before")


def run(options: argparse.Namespace) -> int:
    if options.no_trailers and not options.notes:
        raise UsageError("neither trailers nor notes would be left; say --notes with --no-trailers")
    if options.remove and options.notes:
        raise UsageError("--remove takes the hooks out, and --notes puts more in; say one of them")
    here = os.getcwd()
    done = hooks.remove(here) if options.remove else hooks.install(here, notes=options.notes, trailers=not options.no_trailers)
    for line in done.done:
        print(line)
    print_notes(done.notes)
    return 0
