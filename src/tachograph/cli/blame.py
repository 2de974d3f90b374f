"""``tacho blame``."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.links.blame import Blame, Row
from tachograph.links.git import Repository
from tachograph.links.sessions import Sessions
from tachograph.log import book as books
from tachograph.postmortem.values import one_line, visible

from . import reading
from .app import NO
from .output import plural, print_json, print_notes

_LINES = re.compile(r"(.+):([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?\Z")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:LINE[-LINE]]", help="a file of the repository here, and which lines of it")
    parser.add_argument("--rev", metavar="R", help="the file as it is in this commit (else as it lies here)")
    parser.add_argument("--anchors-only", action="store_true", help="go by the lines alone, as if no commit named a session")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    file, first, last = which(options.file)
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    repository = Repository(
        os.path.dirname(os.path.abspath(file)) if os.path.isdir(os.path.dirname(os.path.abspath(file))) else os.getcwd()
    )
    name = os.path.relpath(os.path.realpath(file), os.path.realpath(repository.top))
    repository = Repository(repository.top)
    rev = repository.commit(options.rev) if options.rev is not None else None
    sessions = Sessions(opened, books.believed(opened.store, opened.trusted), progress)
    reading.enter(chosen, opened, [None], "blame")
    rows = Blame(repository, sessions, anchors_only=options.anchors_only).file(name, rev=rev, first=first, last=last)
    sessions.keep()
    print_notes(f"{session_id}: {why}" for session_id, why in sorted(sessions.damaged.items()))
    if options.json:
        print_json([row.to_json() for row in rows])
    else:
        for text in lines(rows):
            print(text)
    return 0 if any(row.who == "session" for row in rows) else NO


def which(asked: str) -> tuple[str, int | None, int | None]:
    """(file, first line, last line) of ``FILE[:LINE[-LINE]]``. Raises ``UsageError``."""
    match = _LINES.match(asked) if not os.path.exists(asked) else None
    if match is None:
        return asked, None, None
    first, last = int(match[2]), int(match[3] or match[2])
    if last < first:
        raise UsageError(f"lines {first}-{last} end before they begin; write FILE:FIRST-LAST")
    return match[1], first, last


def progress(done: int, every: int) -> None:
    """On a terminal, while many sessions are read."""
    if every > 50 and sys.stderr.isatty():
        sys.stderr.write(f"\rreading sessions {done}/{every}" + ("\n" if done == every else ""))
        sys.stderr.flush()


def lines(rows: list[Row]) -> list[str]:
    """For people: neighbouring lines of one origin under one heading."""
    out: list[str] = []
    for _, group in itertools.groupby(rows, lambda row: (row.who, row.session_id, row.told.seq, row.line.sha, row.confidence)):
        found = list(group)
        out += [*([""] if out else []), *_heading(found[0])]
        out += [f"  {row.line.number:>5}  {visible(row.line.text)}" for row in found]
    known = sum(row.who == "session" for row in rows)
    human = sum(row.who == "human" for row in rows)
    return [*out, "", f"{plural(len(rows), 'line')}: {known} of recorded sessions, {human} of people, {len(rows) - known - human} unknown"]


def _heading(row: Row) -> list[str]:
    commit = f"commit {row.line.sha[:12]}" if row.line.sha is not None else "not committed"
    if row.who != "session":
        who = f"a person ({visible(row.line.author)})" if row.who == "human" else "unknown"
        return [f"{who}  {commit}: {row.why}"]
    told = row.told
    where = [f"step {told.step}"] if told.step is not None else []
    where += [told.tool] if told.tool else []
    where += [f"#{told.seq}"] if told.seq is not None else []
    out = [f"{row.session_id}  {', '.join(where)}  {commit}  [{row.confidence}: {row.why}]".replace("  ,", "")]
    about = [("prompt", told.prompt and one_line(told.prompt, 100)), ("prompt version", told.prompt_version), ("model", told.model),
             ("approved by", told.approver), ("pr", ", ".join(row.prs)), ("deploy", ", ".join(row.deploys))]  # fmt: skip
    return out + [f"  {name}: {visible(str(value))}" for name, value in about if value]
