"""What verbs that ask about all sessions share: the catalogue brought up to date, options that say which sessions are meant, progress."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph import wiring
from tachograph.core.errors import ConflictError, StoreError, UsageError
from tachograph.log.opening import OpenStore

from .output import print_notes

if TYPE_CHECKING:
    from tachograph.fleet.catalogue import Catalogue, Report
    from tachograph.fleet.filters import Wanted


@dataclass
class Asked:
    """A catalogue that is up to date, and held. ``copies``: a folder for what lies elsewhere."""

    catalogue: Catalogue
    report: Report
    copies: str


@contextlib.contextmanager
def up_to_date(chosen: wiring.Settings, opened: OpenStore, *, rebuild: bool = False) -> Iterator[Asked]:
    """The catalogue of a store, made or brought up to date, and held until all is asked. Of a store that may only be read it lies in the
    user's cache."""
    from tachograph.fleet import query
    from tachograph.fleet.catalogue import Catalogue

    caches = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tachograph")
    copies = os.path.join(caches, "copies", opened.id)
    catalogue = Catalogue(opened, clock=chosen.clock)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(catalogue.held())
            report = _updated(catalogue, rebuild)
        except ConflictError:
            raise
        except StoreError as error:
            stack.close()
            print_notes([f"the catalogue cannot be kept in the store, and is made in {caches}: {error}"])
            catalogue = Catalogue(opened, clock=chosen.clock, home=query.private(opened.id, os.path.join(caches, "catalogues")))
            stack.enter_context(catalogue.held())
            report = _updated(catalogue, rebuild)
        if report.problem:
            print_notes([f"what the ledger says is known in part: {report.problem}"])
        yield Asked(catalogue, report, copies)


def _updated(catalogue: Catalogue, rebuild: bool) -> Report:
    with bar("sessions read") as progress:
        return catalogue.update(rebuild=rebuild, progress=progress)


@contextlib.contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def filter_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that ``wanted`` reads."""
    which = parser.add_argument_group("which sessions; names may have * and ?, and of what is given all must hold")
    which.add_argument("--name", metavar="NAME", help="recorded under this name")
    which.add_argument("--agent", metavar="PROGRAM", help="of this agent")
    which.add_argument("--model", metavar="M", help="with a call of this model")
    which.add_argument("--prompt", metavar="P[@V]", help="with this prompt, or this version of it")
    which.add_argument("--guardrail", metavar="ACTION", help="in which a guardrail took this action (GUARDRAIL_INTERVENED)")
    which.add_argument("--tool", metavar="NAME", help="in which this tool was called")
    which.add_argument("--repo", metavar="REPO", help="recorded in this repository: its URL, host/owner/repo, owner/repo or repo")
    which.add_argument("--sha", metavar="SHA", help="that name this commit, or are linked to it (4 digits or more)")
    which.add_argument("--pr", metavar="PR", help="linked to this pull request: URL, owner/repo#7 or #7")
    which.add_argument("--deploy", metavar="D", help="linked to this deploy")
    which.add_argument("--incident", metavar="I", help="linked to this incident")
    which.add_argument("--ci", metavar="BUILD", help="linked to this build")
    which.add_argument(
        "--outcome",
        metavar="STATUS",
        action="append",
        default=[],
        help="ok, error, killed, lost, stopped, imported, open or damaged; may be given again",
    )
    which.add_argument(
        "--since", metavar="TIME", help="started then or later: 2026-09-11, 2026-09-11T07:12, or 7d for seven days ago (also m, h, w)"
    )
    which.add_argument("--until", metavar="TIME", help="started before then")


def cost_arguments(parser: argparse.ArgumentParser) -> None:
    """More options of ``wanted``."""
    parser.add_argument("--min-cost", metavar="SUM", type=_sum, help="that cost so much or more, by the price table")
    parser.add_argument("--max-cost", metavar="SUM", type=_sum, help="that cost so much or less, by the price table")


def prices_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prices", metavar="FILE", help="a price table of your own (else TACHO_PRICES, else the list prices of this version)"
    )


def prices_path(options: argparse.Namespace) -> str | None:
    return options.prices or os.environ.get("TACHO_PRICES") or None


def wanted(options: argparse.Namespace, now: int) -> Wanted:
    """What the options say. Raises ``UsageError``."""
    from tachograph.fleet import filters

    if unknown := [each for each in options.outcome if each not in filters.OUTCOMES]:
        raise UsageError(f"not an outcome, {unknown[0][:40]!r}; one of {', '.join(filters.OUTCOMES)}")
    fields: dict[str, Any] = {
        name: getattr(options, name)
        for name in ("name", "agent", "model", "prompt", "guardrail", "tool", "repo", "pr", "deploy", "incident", "ci")
    }
    return filters.Wanted(
        **fields, outcome=tuple(options.outcome), sha=filters.commit_of(options.sha) if options.sha is not None else None,
        since=filters.time_of(options.since, now) if options.since is not None else None,
        until=filters.time_of(options.until, now) if options.until is not None else None,
        min_cost=getattr(options, "min_cost", None), max_cost=getattr(options, "max_cost", None),
    )  # fmt: skip


def _sum(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise argparse.ArgumentTypeError(f"not a sum of money, {text[:40]!r}")
    return value


def money(cost: float | None, currency: str) -> str:
    """For people."""
    from tachograph.postmortem import wording

    return "unknown" if cost is None else wording.money(cost, currency)
