"""``tacho pr``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping

from tachograph import wiring
from tachograph.core.errors import NotFoundError, StoreError, TachographError, UsageError
from tachograph.crypto import note
from tachograph.links import pull_page, pulls, refs
from tachograph.links import repository as repositories
from tachograph.links.git import Repository
from tachograph.links.pull_page import Shown
from tachograph.links.sessions import Sessions
from tachograph.links.trailers import Origins
from tachograph.log import book as books
from tachograph.log import proof
from tachograph.log.reader import resolve
from tachograph.log.verdict import Judge

from . import reading
from .blame import progress
from .output import print_json, print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho pr comment [--pr URL|#N] [--base R] [--head R] [--session SES]… [--replay-report F]… [--platform github|gitlab] [--api URL] [--dry-run] [--json]"
    parser.add_argument(
        "act", metavar="comment", choices=("comment",), help="put what the sessions of a pull request did on it, in one comment"
    )
    parser.add_argument("--pr", metavar="URL|#N", help="which one (else that of the CI job: GitHub Actions, GitLab CI)")
    parser.add_argument("--base", metavar="R", help="the commit that it is to be merged into (else the CI's, else origin's default branch)")
    parser.add_argument("--head", metavar="R", help="its newest commit (else HEAD)")
    parser.add_argument(
        "--session", action="append", default=[], metavar="SES", help="a session that belongs to it, whatever commits and links say"
    )
    parser.add_argument(
        "--replay-report", action="append", default=[], metavar="F", help="a report of tacho replay --report, for its verdict"
    )
    parser.add_argument("--platform", choices=("github", "gitlab"), help="whose API it is (else by the host's name)")
    parser.add_argument("--api", metavar="URL", help="the root of the API (else GITHUB_API_URL, CI_API_V4_URL, or by the host's name)")
    parser.add_argument(
        "--token-file", metavar="F", help="a file with the token (else GITHUB_TOKEN, GH_TOKEN, GITLAB_TOKEN or CI_JOB_TOKEN)"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the comment, and send nothing")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    here = repositories.here(os.getcwd())
    wanted = options.pr or asked_by(os.environ)
    if wanted is None:
        raise UsageError("which pull request; name it with --pr (its URL, or #7 in a repository with a remote)")
    ref = refs.keep("pr", wanted, here)
    platform = options.platform or ("gitlab" if os.environ.get("GITLAB_CI") else "github" if os.environ.get("GITHUB_ACTIONS") else None)
    pull = pulls.pull_of(
        ref, platform=platform, api=options.api or os.environ.get("GITHUB_API_URL" if platform != "gitlab" else "CI_API_V4_URL")
    )
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    sessions = Sessions(opened, books.believed(opened.store, opened.trusted), progress)
    found: dict[str, str] = {resolve(opened.store, name): "it was named" for name in options.session}
    commits = _of_commits(options, sessions, found)
    for session_id in sessions.linked_to("pr", ref):
        found.setdefault(session_id, "it is linked to the pull request")
    reports = dict(filter(None, map(_report, options.replay_report)))
    reading.enter(chosen, opened, list(found), "pr")
    judge = Judge(opened.store, public=opened.trusted, opened=opened)
    shown = [_shown(session_id, how, sessions, judge, reports.get(session_id)) for session_id, how in found.items()]
    text = pull_page.page(shown, commits, pulls.LONGEST[pull.platform])
    print_notes(f"{session_id}: {why}" for session_id, why in sorted(sessions.damaged.items()))
    if options.dry_run:
        print(text)
        return 0
    token, job = _token(options, os.environ, pull.platform)
    put = pulls.Client(pull, token, job=job).put(text)
    if options.json:
        print_json({"pr": ref, "comment": put.what, "url": put.url, "sessions": list(found)})
    else:
        print(f"comment on {ref} {put.what}" + (f": {put.url}" if put.url else ""))
    return 0


def asked_by(environment: Mapping[str, str]) -> str | None:
    """The pull request that a CI job runs for."""
    if environment.get("GITHUB_ACTIONS"):
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        parts = environment.get("GITHUB_REF", "").split("/")
        number = parts[2] if len(parts) == 4 and parts[:2] == ["refs", "pull"] else None
        if number is None and (path := environment.get("GITHUB_EVENT_PATH")):
            try:
                with open(path, encoding="utf-8") as file:
                    event = json.load(file)
                number = str((event.get("pull_request") or event.get("issue") or {}).get("number") or "") or None
            except (OSError, ValueError, AttributeError):
                return None
        return f"{server}/{environment.get('GITHUB_REPOSITORY', '')}/pull/{number}" if number else None
    if environment.get("CI_MERGE_REQUEST_IID"):
        return f"{environment.get('CI_SERVER_URL', 'https://gitlab.com')}/{environment.get('CI_PROJECT_PATH', '')}/-/merge_requests/{environment['CI_MERGE_REQUEST_IID']}"
    return None


def _of_commits(options: argparse.Namespace, sessions: Sessions, found: dict[str, str]) -> tuple[int, int] | None:
    """Add the sessions of the commits; how many there are, and how many of no session. None where the commits cannot be told."""
    try:
        repository = Repository(Repository(os.getcwd()).top)
        base = options.base or os.environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA") or _target(os.environ)
        shas = repository.between(repository.commit(base), repository.commit(options.head or "HEAD"))
    except (UsageError, NotFoundError) as error:
        if options.base or options.head:
            raise
        print_notes([f"{error}; the sessions are those that are linked or named"])
        return None
    origins = Origins(repository, sessions)
    unknown = 0
    for sha in shas:
        known = origins.of(sha)
        unknown += not known and len(repository.parents(sha)) < 2
        for one in known:
            found.setdefault(one.session_id, f"commit {sha[:12]}, by {one.how}")
    return len(shas), unknown


def _target(environment: Mapping[str, str]) -> str:
    return f"origin/{environment['GITHUB_BASE_REF']}" if environment.get("GITHUB_BASE_REF") else "origin/HEAD"


def _shown(session_id: str, how: str, sessions: Sessions, judge: Judge, replay: str | None) -> Shown:
    story = sessions.story(session_id)
    if story is None:
        return Shown(session_id, how, None, "not in this store", None, replay)
    try:
        point = note.claimed(proof.newest_seal(sessions.opened.store, session_id, sessions.opened.trusted))
        seal = f"{point.size}:{point.root.hex()}"
    except (TachographError, ValueError):
        seal = None
    return Shown(session_id, how, story, judge.judge(session_id).verdict, seal, replay)


def _report(path: str) -> tuple[str, str] | None:
    try:
        with open(path, encoding="utf-8") as file:
            found = pull_page.replayed(json.load(file))
    except OSError as error:
        raise StoreError(f"cannot read {path}, {error.strerror}; tacho replay SES --report {path} writes it") from None
    except ValueError:
        found = None
    if found is None:
        raise UsageError(f"no report of a replay, {path}; tacho replay SES --report {path} writes one")
    return found


def _token(options: argparse.Namespace, environment: Mapping[str, str], platform: str) -> tuple[str, bool]:
    """(the token, whether it is a CI job's)."""
    if options.token_file is not None:
        try:
            with open(options.token_file, encoding="utf-8") as file:
                token = file.readline(4096).strip()
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"cannot read a token from {options.token_file}; name a file with the token in its first line") from None
        if token and token.isascii() and token.isprintable():
            return token, False
        raise UsageError(f"no token in the first line of {options.token_file}; write it there")
    names = ("GITHUB_TOKEN", "GH_TOKEN") if platform == "github" else ("GITLAB_TOKEN", "CI_JOB_TOKEN")
    for name in names:
        token = environment.get(name, "").strip()
        if token and token.isascii() and token.isprintable():
            return token, name == "CI_JOB_TOKEN"
    raise UsageError(f"no token; put one into {names[0]}, or name a file with --token-file")
