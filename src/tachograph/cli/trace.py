"""``tacho trace``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.links.git import Repository
from tachograph.links.sessions import Sessions
from tachograph.links.trace import Chain, CommitOf, SessionOf, Trace
from tachograph.log import book as books
from tachograph.postmortem.values import one_line, visible

from . import reading
from .app import NO
from .blame import progress
from .output import plural, print_json, print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="INC|DEPLOY|PR|SHA", help="an incident, a deploy, a pull request or a commit")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if not options.what.strip():
        raise UsageError("trace what; name an incident, a deploy, a pull request or a commit")
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    sessions = Sessions(opened, books.believed(opened.store, opened.trusted), progress)
    reading.enter(chosen, opened, [None], "trace")
    try:
        repository = Repository(Repository(os.getcwd()).top)
    except UsageError:
        repository = None
    chain = Trace(sessions, repository).of(options.what.strip())
    if options.json:
        print_json(chain.to_json())
    else:
        for line in lines(chain):
            print(line)
        print_notes([*chain.notes, *(f"{session_id}: {why}" for session_id, why in sorted(sessions.damaged.items()))])
    return 0 if chain.found else NO


def lines(chain: Chain) -> Iterator[str]:
    """The chain, from what was asked down to steps; in brackets how each link is known."""
    yield f"{chain.kind} {visible(chain.asked)}"
    yield from _sessions(chain.sessions, "  ")
    for one in chain.deploys:
        about = ", ".join(part for part in (one.deploy.environment, one.deploy.at) if part)
        yield f"  deploy {visible(one.deploy.id)}" + (f" ({visible(about)})" if about else "") + f"  [{one.how}]"
        yield from _sessions(one.sessions, "    ")
        yield f"    {plural(len(one.commits), 'commit')}, up to {one.deploy.sha[:12]}  [{one.span}]"
        for commit in one.commits:
            yield from _commit(commit, "    ")
    for commit in chain.commits:
        yield from _commit(commit, "  ")
    if not chain.found:
        yield "  no session is known behind it: a person, or an agent that was not recorded"
        return
    behind = list(dict.fromkeys(one.session_id for one in _behind(chain) if one.name is not None))  # without: its record is not here
    if behind:
        more = f"; likewise for the {plural(len(behind) - 1, 'session')} above it" if len(behind) > 1 else ""
        yield f"next: tacho postmortem {behind[-1]}{more}"


def _behind(chain: Chain) -> Iterator[SessionOf]:
    commits = [*(commit for one in chain.deploys for commit in one.commits), *chain.commits]
    yield from chain.sessions
    for one in chain.deploys:
        yield from one.sessions
    for commit in commits:
        yield from commit.sessions


def _commit(commit: CommitOf, indent: str) -> Iterator[str]:
    yield f"{indent}commit {commit.sha[:12]} {visible(one_line(commit.subject, 80))}"
    for ref, how in commit.prs:
        yield f"{indent}  pr {visible(ref)}  [{how}]"
    if not commit.sessions:
        yield f"{indent}  no session: {visible(commit.author)}, or an agent that was not recorded"
    yield from _sessions(commit.sessions, indent + "  ")


def _sessions(found: tuple[SessionOf, ...] | list[SessionOf], indent: str) -> Iterator[str]:
    for one in found:
        yield f"{indent}{one.session_id}" + (f" {visible(one_line(one.name, 40))}" if one.name else "") + f"  [{one.how}]"
        for step in one.steps:
            where = f"step {step.step}" if step.step is not None else f"line {step.seq}"
            yield f"{indent}  {where} {step.what}  [#{step.seq}]"
