"""``tacho record``."""

from __future__ import annotations

import argparse
import os
import sys

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import launch, record, secrets
from tachograph.host.policy import find
from tachograph.links import refs, repository

from .output import plural, policy_argument, print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho record [--name N] [--id-file F] [--link KIND=REF]… [--policy FILE] [--secret-from F]… [--vault] [--on-host-loss continue|stop] [--host SOCKET] -- CMD…"
    parser.add_argument("--name", help="a name for the session")
    parser.add_argument("--id-file", metavar="F", help="write the session's id to this file before the command starts")
    parser.add_argument("--link", action="append", default=[], metavar="KIND=REF", help="tie the session to a " + ", ".join(refs.KINDS))
    policy_argument(parser)
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--vault", action="store_true", help="keep the originals of what is masked, sealed for the key of tacho vault init")
    parser.add_argument(
        "--on-host-loss", choices=("continue", "stop"), default="continue",
        help="if the recorder dies: let the command go on unrecorded (default), or stop it",
    )  # fmt: skip
    parser.add_argument(
        "--host", metavar="SOCKET", help="have the tacho host at this socket record it (else TACHO_HOST, else a recorder of this run's own); its store, its "
        "key, and its policies: --policy then names one of them",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    here = repository.here(os.getcwd()) if options.link else refs.NOWHERE
    links = [str(refs.parse(link, here)) for link in options.link]
    launch.executable(options.command, os.environ)
    where = options.host or os.environ.get("TACHO_HOST")
    done = _record_there(options, where, links) if where else _record_here(options, links)
    calls = ", ".join(plural(count, f"{kind} call") for kind, count in sorted(done.calls.items())) or "no calls"
    print_notes(done.notices)
    if done.error is not None:
        print(f"error: recording of {done.session_id} stopped early, {done.error}", file=sys.stderr)
        if options.on_host_loss == "stop":
            return 2
    elif not done.calls:
        print(
            f"tacho: {done.session_id} recorded, but it made no call that a tap knows (is it Python, without -I or -E?); "
            f"next: tacho show {done.session_id}",
            file=sys.stderr,
        )
    else:
        print(f"tacho: {done.session_id} recorded, {calls}; next: tacho show {done.session_id}", file=sys.stderr)
    if done.waiting:
        print(
            f"tacho: {plural(done.waiting, 'file')} of {done.session_id} could not be brought to the store yet and wait on this machine; "
            "the next tacho record with this store brings them there",
            file=sys.stderr,
        )
    return launch.leave_as(done.ended)


def _record_here(options: argparse.Namespace, links: list[str]) -> record.Recorded:
    policy = wiring.policy(options.policy)
    given = secrets.collect([*policy.secret_from, *options.secret_from], os.environ)
    print_notes(given.notes)
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_writing(chosen)
    done = record.record(
        record.Plan(
            opened=opened, command=options.command, environment=os.environ, clock=chosen.clock,
            entropy=chosen.entropy, name=options.name, links=links, on_loss=options.on_host_loss, id_file=options.id_file,
            given=given, policy=policy, vault=options.vault, keys=_keys(chosen),
        )
    )  # fmt: skip
    print_notes(dict.fromkeys(opened.ring.notes))
    return done


def _keys(chosen: wiring.Settings) -> tuple[str, ...]:
    return str(chosen.key_file), str(chosen.vault_key_file)


def _record_there(options: argparse.Namespace, where: str, links: list[str]) -> record.Recorded:
    from tachograph.host import calling

    if options.store:
        raise UsageError(f"the host at {where} has a store of its own; leave out --store, or the host (--host, TACHO_HOST)")
    given = secrets.collect(options.secret_from, os.environ)
    print_notes(given.notes)
    if options.policy is None and (found := os.environ.get("TACHO_POLICY") or find(os.getcwd())) is not None:
        print_notes([f"the host's policy holds, and not {found}"])
    return calling.record_there(
        calling.Asked(
            where=os.path.abspath(where), command=options.command, environment=os.environ, entropy=os.urandom, name=options.name, links=links,
            on_loss=options.on_host_loss, id_file=options.id_file, given=given, policy=options.policy, vault=options.vault, keys=_keys(wiring.settings(None)),
        )
    )  # fmt: skip
