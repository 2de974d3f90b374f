"""``tacho bisect``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import Any, NoReturn

from tachograph.core.errors import StoreError, UsageError
from tachograph.host import bisect, commits, replay, secrets
from tachograph.host.bisect import Answer, Result, Tried
from tachograph.host.versions import Version
from tachograph.log.reader import Recording
from tachograph.replay import tape

from . import reading, verified
from .app import NO
from .output import plural, print_json, print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "tacho bisect SES --good A --bad B [--repo DIR] [--data PATH]… [--unverified] [--report F] [--secret-from F]… [--json] [-- CMD…]"
    )
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("--good", metavar="A", required=True, help="a commit at which the session replays")
    parser.add_argument(
        "--bad",
        metavar="B",
        required=True,
        help="a commit at which it does not; where it is the older one, the first that replays is searched",
    )
    parser.add_argument("--repo", metavar="DIR", help="the repository of the agent's code (else the one around its program)")
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="PATH",
        help="a file or folder of the repository that stays as recorded: it is no code",
    )
    parser.add_argument("--unverified", action="store_true", help="replay a tape that does not verify")
    parser.add_argument("--report", metavar="F", help="write the answer to this file as JSON")
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(options: argparse.Namespace) -> int:
    given = secrets.collect(options.secret_from, os.environ)
    print_notes(given.notes)
    chosen, opened, recording, good = verified.recording(options)
    repository = _repository(options, recording)
    data = tuple(_inside(repository, path) for path in options.data)
    reading.enter(chosen, opened, [recording.session_id], "bisect")

    def attempt(sha: str) -> tuple[Result, str, dict[str, Any] | None]:
        plan = replay.Plan(
            recording=recording, verified=good, command=options.command, silent=True, given=given,
            version=Version(repository=repository, sha=sha, data=data),
        )  # fmt: skip
        try:
            report = replay.replay(plan)
        except UsageError as error:
            return "cannot tell", str(error), None  # its program is not there at this commit
        return (*bisect.result(report), report)

    def tell(tried: Tried, left: int) -> None:
        if not options.json:
            print(_line(tried, left), file=sys.stderr)

    signal.signal(signal.SIGTERM, _end)
    answer = bisect.bisect(repository, options.good, options.bad, attempt, tell)
    found = _json(recording.session_id, repository, answer)
    if options.report:
        _write(options.report, found)
    if options.json:
        print_json(found)
    else:
        print("\n".join(_said(recording.session_id, repository, answer, found)))
    return 0 if answer.culprit is not None else NO


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)  # so that what lies in temporary folders is removed


def _repository(options: argparse.Namespace, recording: Recording) -> str:
    read = tape.load(recording)
    command = options.command or [str(part) for part in read.facts.get("argv", [])]
    root = str(read.workspace["root"]) if read.workspace else str(read.facts.get("cwd") or os.getcwd())
    if options.repo is None:
        return bisect.home(root, replay.code_of(command, read), os.getcwd())
    found = commits.top(options.repo) if os.path.isdir(options.repo) else None
    if found is None:
        raise UsageError(f"no git repository with a working tree at {options.repo}; name one with --repo")
    return found


def _inside(repository: str, path: str) -> str:
    found = os.path.normpath(path)
    if os.path.isabs(found):
        found = os.path.relpath(found, repository)
    if found.startswith(".."):
        raise UsageError(f"--data {path} is not in {repository}; name a path in there")
    return found


def _line(tried: Tried, left: int) -> str:
    rest = f" ({plural(left, 'commit')} left)" if left else ""
    return f"tacho: {tried.sha[:12]} {tried.subject[:60]!r}: {_WORDS[tried.result]}{', ' + tried.why if tried.why else ''}{rest}"


_WORDS = {"replays": "replays", "differs": "does not replay", "cannot tell": "cannot tell"}


def _said(session_id: str, repository: str, answer: Answer, found: dict[str, Any]) -> list[str]:
    count = plural(len(answer.log), "replay")
    what = "replays again" if answer.starts else "no longer replays"
    if answer.culprit is None:
        lines = [
            f"{session_id}: one of these {len(answer.candidates)} commits is the first at which it {what}; the others cannot tell ({count})"
        ]
        return lines + [f"  {sha}" for sha in answer.candidates]
    culprit = found["culprit"]
    lines = [
        f"{session_id} {what} from this commit on ({count}):",
        f"  {culprit['sha']} {culprit['subject']}",
        f"  {culprit['author']}, {culprit['date']}",
    ]
    why = next((tried.why for tried in answer.log if tried.sha == answer.culprit and tried.why), "")
    return [*lines, *([f"  {why}"] if why else []), f"next: git -C {repository} show {culprit['sha'][:12]}"]


def _json(session_id: str, repository: str, answer: Answer) -> dict[str, Any]:
    culprit = None
    if answer.culprit is not None:
        said = (
            commits.git(repository, "show", "-s", "--format=%H%x00%an <%ae>%x00%aI%x00%s", answer.culprit)
            .decode("utf-8", "replace")
            .strip()
        )
        culprit = dict(zip(("sha", "author", "date", "subject"), said.split("\0"), strict=True))
    report = next((tried.report for tried in answer.log if tried.sha == answer.culprit), None)
    return {
        "session_id": session_id, "repository": repository, "starts": answer.starts, "culprit": culprit, "candidates": answer.candidates,
        "replays": len(answer.log), "log": [tried.to_json() for tried in answer.log], "divergence": report["divergence"] if report else None,
    }  # fmt: skip


def _write(path: str, found: dict[str, Any]) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")
    except OSError as error:
        raise StoreError(f"cannot write the answer to {path}, {error.strerror}; choose another --report") from None
