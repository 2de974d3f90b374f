"""What verbs that write reports share about signals: their options, asking the sources, and masking what they said before anything else sees it."""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.core.events import Git
from tachograph.core.signals import Missing, Signal, Signals, Window
from tachograph.links.git import Repository
from tachograph.links.shipping import shipped
from tachograph.log.book import Book
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.postmortem.when import unix_ms
from tachograph.signals import registry
from tachograph.signals.making import signal
from tachograph.signals.window import MARGIN, moment, parse

from .output import print_notes
from .redacting import redactor

if TYPE_CHECKING:
    from tachograph.redact.engine import Redactor

#: A minute on each side of what the ledger says, where no source was asked.
_NARROW = "1m"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--signals", action="append", default=[], metavar="KIND:…",
        help="what other systems said around that time: file:F, cloudwatch:[REGION][?…], prometheus:URL[?query=…], pagerduty:[?…]; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--window",
        metavar="T",
        help=f"the time of the signals: a margin around the session ({MARGIN}, which is taken else), or FROM/TO in ISO 8601",
    )


def gathered(
    options: argparse.Namespace, chosen: wiring.Settings, opened: OpenStore, recording: Recording, *, book: Book, refs: Sequence[str]
) -> Signals | None:
    """The signals, masked; those that are missing are also said on standard error. ``refs``: what the session is linked to. None where no
    source was named and the ledger knows no deploy of it. Raises ``UsageError``."""
    times = [at for entry in recording.entries if (at := unix_ms(entry.ts)) is not None]
    if options.window is not None and not options.signals:
        raise UsageError("--window is the time of the signals; name a source with --signals")
    if not times:
        if options.signals:
            raise UsageError(
                f"{recording.session_id} has no line with a time; name the time with --window FROM/TO and look at the sources yourself"
            )
        return None
    window = parse(options.window or (MARGIN if options.signals else _NARROW), times[0], times[-1])
    own = _deploys(recording, book, refs)
    if not options.signals:
        if not own:
            return None
        ends = [one.at for one in own]
        return Signals(window=Window(min(window.start, *ends), max(window.end, *ends)), found=tuple(own))
    found = registry.gather(options.signals, window, environment=os.environ, clock=chosen.clock, pause=time.sleep)
    found = masked(found, redactor(opened))
    for one in found.missing:
        print_notes([f"signals missing, {one.source}: {one.why}"])
    every = [*found.found, *(one for one in own if window.holds(one.at))]
    return dataclasses.replace(found, found=tuple(sorted(every, key=lambda one: one.at)))


def masked(found: Signals, by: Redactor) -> Signals:
    """The signals without their secrets: they come from outside, and nothing has looked at them."""
    return dataclasses.replace(
        found,
        found=tuple(_without(one, by) for one in found.found),
        missing=tuple(Missing(one.source, by.text(one.why)) for one in found.missing),
    )


def _without(one: Signal, by: Redactor) -> Signal:
    def text(value: str | None) -> str | None:
        return by.text(value) if value else value

    return dataclasses.replace(
        one, name=by.text(one.name), state=text(one.state), unit=text(one.unit), text=by.text(one.text), by=text(one.by),
        url=by.url(one.url) if one.url else None,
    )  # fmt: skip


def _deploys(recording: Recording, book: Book, refs: Sequence[str]) -> list[Signal]:
    """Deploys of what the session committed, as signals of the ledger."""
    made = [entry.event for entry in recording.entries if isinstance(entry.event, Git) and entry.event.cause != "seen"]
    commits = [event.sha for event in made if event.sha and (event.action or "").startswith("commit")]
    if not commits and not any(ref.startswith("deploy=") for ref in refs):
        return []
    try:
        repository = Repository(os.getcwd())
    except UsageError:
        repository = None
    return [
        signal(
            at=at, source="ledger", kind="deploy", name=one.deploy.id, state=one.deploy.environment,
            text=f"{one.deploy.sha[:12]}: {one.how}",
        )
        for one in shipped(book, commits, refs, repository)
        if (at := moment(one.at)) is not None
    ]  # fmt: skip
