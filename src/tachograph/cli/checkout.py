"""``tacho checkout``."""

from __future__ import annotations

import argparse
import sys

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import checkout
from tachograph.log.reader import Recording, resolve
from tachograph.postmortem.story import tell
from tachograph.replay.timeline import Timeline

from . import reading
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho checkout SES [--step N [--after] | --event E] [--repo DIR] [--json] DIR"
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("folder", metavar="DIR", help="where to write: a new or empty folder")
    parser.add_argument(
        "--step", type=int, metavar="N", help="as it was when step N was answered, before the tools that it asked for (0: at the start)"
    )
    parser.add_argument(
        "--after", action="store_true", help="with --step: after the tools that it asked for, before the next step was answered"
    )
    parser.add_argument("--event", metavar="E", help="as it was right after this event: its id, or the number of its line")
    parser.add_argument("--repo", metavar="DIR", help="a clone that has the recorded commit, where the recorded place is gone or has not")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def run(options: argparse.Namespace) -> int:
    if options.step is not None and options.event is not None:
        raise UsageError("both --step and --event; one of them says when")
    if options.after and options.step is None:
        raise UsageError("--after without --step; say after which step")
    checkout.unused(options.folder)
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    recording = Recording(opened, session_id)
    reading.enter(chosen, opened, [session_id], "checkout")
    timeline = Timeline(recording.entries, recording.content, [step.seq for step in tell(recording).steps])
    _go(timeline, options)
    written = checkout.checkout(recording, timeline, options.folder, repository=options.repo)
    if options.json:
        print_json(written.to_json())
        return 0
    when = f"after step {written.step}" if options.after else f"at step {written.step}"
    if options.step is None and options.event is None:
        when = "at the end"
    print(f"tacho: {plural(written.files, 'file')} of {session_id}, {when} in {options.folder}", file=sys.stderr)
    if written.missing:
        print(f"  not kept in the recording: {', '.join(written.missing[:5])}{' …' if len(written.missing) > 5 else ''}", file=sys.stderr)
    if written.masked:
        print(
            f"  with placeholders where secrets were: {', '.join(written.masked[:5])}{' …' if len(written.masked) > 5 else ''}",
            file=sys.stderr,
        )
    return 0


def _go(timeline: Timeline, options: argparse.Namespace) -> None:
    """To where the options say; without any, to the end."""
    if options.step is not None:
        (timeline.after_step if options.after else timeline.to_step)(options.step)
    elif options.event is None:
        timeline.end()
    elif options.event.isdecimal():
        timeline.seek(int(options.event))
    else:
        timeline.to_event(options.event)
