"""``tacho deploy``."""

from __future__ import annotations

import argparse
import os
import sys

from tachograph import wiring
from tachograph.core.errors import StoreError, UsageError
from tachograph.host import custody
from tachograph.links import deploys, refs, repository
from tachograph.links.deploys import LIMIT, Deploy
from tachograph.log import book as books
from tachograph.log.book import said_by
from tachograph.postmortem.values import visible

from .app import NO
from .output import print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "tacho deploy record (--sha SHA [--id ID] [--environment E] [--at TIME] [--previous SHA] | --github FILE | --oci FILE | --argocd FILE) "
        "[--incident INC]… | link DEPLOY INC [--remove --reason TEXT] | ls [--json]"
    )
    parser.add_argument(
        "act", metavar="record|link|ls", choices=("record", "link", "ls"), help="enter deploys; tie an incident to one; list them"
    )
    parser.add_argument("deploy", metavar="DEPLOY", nargs="?", help="link: the deploy")
    parser.add_argument("tied", metavar="INC", nargs="?", help="link: the incident that came with it")
    parser.add_argument("--sha", metavar="SHA", help="the commit, as git names it here, or its full id")
    parser.add_argument("--id", metavar="ID", help="how your platform names the deploy (else the environment and the commit)")
    parser.add_argument("--environment", metavar="E", help="where it went: production")
    parser.add_argument("--at", metavar="TIME", help="when, in ISO 8601 with an offset (else now)")
    parser.add_argument("--previous", metavar="SHA", help="the commit that was there before (else that of the last deploy there)")
    parser.add_argument("--github", metavar="FILE", help="read deployments of GitHub's API from a file, or - for standard input")
    parser.add_argument("--oci", metavar="FILE", help="read an image's labels, as docker inspect prints them")
    parser.add_argument(
        "--argocd", metavar="FILE", help="read the history of an Application of Argo CD, as argocd app get -o json prints it"
    )
    parser.add_argument("--incident", action="append", default=[], metavar="INC", help="an incident that came with it")
    parser.add_argument("--remove", action="store_true", help="link: take it back; the ledger keeps that it was said")
    parser.add_argument("--reason", metavar="TEXT", help="with --remove: why; the ledger keeps it")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    if options.act == "ls":
        return _list(options, books.believed(opened.store, opened.trusted))
    by = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    if options.act == "link":
        if options.deploy is None or options.tied is None:
            raise UsageError("which deploy, which incident; tacho deploy link DEPLOY INC-7")
        incident = refs.keep("incident", options.tied.removeprefix("incident="))
        if options.remove:
            deploys.clear(by, options.deploy, incident, custody.reason_of(options.reason))
            print(f"{options.deploy} is no longer tied to {incident}.")
            return 0
        if options.reason is not None:
            raise UsageError("a reason is for --remove; a link says what it is by itself")
        new = deploys.blame(by, options.deploy, incident)
        print(f"{options.deploy} tied to {incident}" + ("" if new else ", as it was already") + f"; next: tacho trace {incident}")
        return 0
    if options.deploy is not None:
        raise UsageError(f"what is {options.deploy[:40]!r}; a deploy is recorded with --sha SHA and --id ID, or from a file")
    here = repository.here(os.getcwd())
    done = deploys.record(by, _asked(options, chosen.clock.unix_ms()), here, options.incident)
    if options.json:
        print_json([{**_row(one), "new": new} for one, new in done])
    else:
        for one, new in done:
            print(
                f"{one.id} is {one.sha[:12]}"
                + (f" in {one.environment}" if one.environment else "")
                + ("" if new else ", as was recorded already")
            )
    return 0


def _asked(options: argparse.Namespace, now: int) -> list[Deploy]:
    read = [(kind, getattr(options, kind)) for kind in ("github", "oci", "argocd") if getattr(options, kind) is not None]
    if len(read) + (options.sha is not None) != 1:
        raise UsageError("which deploy; say --sha SHA, or one of --github, --oci and --argocd with a file")
    at = deploys.time_of(options.at) if options.at is not None else None
    if options.at is not None and at is None:
        raise UsageError(f"not a time with an offset, --at {options.at[:40]!r}; write it as 2026-11-30T12:00:00Z")
    if read:
        found = deploys.read(read[0][0], _text(read[0][1]))
        if options.id is not None and len(found) > 1:
            raise UsageError(f"--id names one deploy, and there are {len(found)} in it; leave it out")
        return [
            Deploy(
                id=options.id or one.id, sha=one.sha, environment=options.environment or one.environment, at=at or one.at,
                previous=options.previous or one.previous, source=one.source,
            )
            for one in found
        ]  # fmt: skip
    at = at or deploys.time_of(_iso(now))
    name = options.id or f"{options.environment or 'deploy'}-{options.sha[:12]}"
    return [Deploy(id=name, sha=options.sha, environment=options.environment, at=at, previous=options.previous)]


def _iso(now: int) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(now / 1000, datetime.UTC).isoformat()


def _text(named: str) -> str:
    try:
        if named == "-":
            return sys.stdin.buffer.read(LIMIT).decode("utf-8", "replace")
        with open(named, "rb") as file:
            return file.read(LIMIT).decode("utf-8", "replace")
    except OSError as error:
        raise StoreError(f"cannot read {named}, {error.strerror}; check the path and its mode") from None


def _list(options: argparse.Namespace, book: books.Book) -> int:
    found = deploys.deployed(book)
    if options.json:
        print_json([{**_row(one.deploy), "line": one.entry.seq} for one in found])
    for one in found if not options.json else ():
        deploy = one.deploy
        print(
            visible(
                f"{deploy.at or one.entry.ts}  {deploy.environment or '-':12}  {deploy.sha[:12]}  {deploy.id}  recorded {said_by(one.entry)}"
            )
        )
    if not found and not options.json:
        print("no deploy is recorded; tacho deploy record --sha SHA --environment E records one")
    return 0 if found else NO


def _row(one: Deploy) -> dict[str, str | None]:
    return {"id": one.id, "sha": one.sha, "environment": one.environment, "at": one.at, "previous": one.previous, "source": one.source}
