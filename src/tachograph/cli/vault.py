"""``tacho vault``: the originals of what was masked, for those who must be able to unmask."""

from __future__ import annotations

import argparse
import json
import stat
from pathlib import Path

from tachograph import wiring
from tachograph.core.errors import NotFoundError, TachographError, UsageError
from tachograph.host import custody
from tachograph.log import vault
from tachograph.log.opening import OpenStore
from tachograph.log.reader import resolve

from .output import confirm, plural, print_json, print_notes

_WHAT = ("init", "ls", "open", "drop")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "tacho vault init [--key FILE] | ls | open SES [--fingerprint FP]… [--key FILE] --reason TEXT | drop SES --reason TEXT [--yes]"
    )
    parser.add_argument(
        "what", metavar="init|ls|open|drop", choices=_WHAT,
        help="make the key pair; list the vaults; unmask; make a vault empty",
    )  # fmt: skip
    parser.add_argument("session", metavar="SES", nargs="?", help="an id, a unique prefix of one, or @last")
    parser.add_argument(
        "--key", metavar="FILE", help="the private key (else TACHO_VAULT_KEY, else vault-key.json beside the key file); never in the store"
    )
    parser.add_argument("--fingerprint", metavar="FP", action="append", default=[], help="only the one whose placeholder ends in :FP]")
    parser.add_argument("--reason", metavar="TEXT", help="why; the ledger keeps it")
    parser.add_argument("--yes", action="store_true", help="do not ask before a drop; needed where there is no terminal")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_writing(chosen) if options.what == "init" else wiring.open_for_reading(chosen)
    by = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    if options.what == "init":
        return _init(chosen, by, options.key)
    if options.what == "ls":
        return _list(opened, as_json=options.json)
    if options.session is None:
        raise UsageError(f"which session; name one (tacho vault {options.what} @last)")
    session_id = resolve(opened.store, options.session)
    reason = custody.reason_of(options.reason)
    kept = vault.count(opened.store, session_id)  # says so where there is none, before anything is asked for
    if options.what == "drop":
        if not options.yes:
            confirm(f"Drop {plural(kept, 'original')} of {session_id}? Nobody can unmask them after this.")
        line = custody.drop_vault(by, session_id, reason)
        print(f"vault of {session_id} dropped, line {line} of the ledger; copies of vault/{session_id}.vault must go, too.")
        return 0
    wanted = [_fingerprint(one) for one in options.fingerprint]
    private = wiring.vault_key(chosen, options.key)
    print_notes(_exposed(private.path))
    found = custody.unmask(by, session_id, private.key, wanted, reason)
    if options.json:
        print_json([{"fingerprint": one.fingerprint, "kind": one.kind, "value": one.value} for one in found])
        return 0
    for one in found:
        # Quoted: a value may hold anything, and must not drive the terminal.
        print(f"[REDACTED:{one.kind}:{one.fingerprint}]  {json.dumps(one.value)}")
    return 0


def _init(chosen: wiring.Settings, by: custody.Keeper, named: str | None) -> int:
    private = wiring.vault_key(chosen, named, make=lambda: custody.no_vault_yet(by))
    key, path = private.key, private.path
    print_notes(_exposed(path))
    try:
        line = custody.make_vault(by, key)
    except (TachographError, OSError):
        # A private key that opens nothing is not left lying about; one that the store did take is all there is to unmask with.
        if private.made and not custody.is_vault_key(by, key):
            path.unlink()
        raise
    if line is None:
        print(f"the vault key {key.id} is in force already; its private half is {path}")
    else:
        print(f"vault key {key.id} made; its private half is {path}: move it to those who may unmask, and keep a backup")
    return 0


def _exposed(path: Path) -> list[str]:
    """A line about a private key that is not its owner's alone. No refusal: a group of those who may unmask is a fair use."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return [f"the private key {path} is open to other users, mode {mode:04o}; chmod 600 it"] if mode & 0o077 else []


def _list(opened: OpenStore, *, as_json: bool) -> int:
    rows: list[tuple[str, int | None]] = []
    for session_id in vault.session_ids(opened.store):
        try:
            rows.append((session_id, vault.count(opened.store, session_id)))
        except NotFoundError:
            rows.append((session_id, None))
    if as_json:
        print_json([{"session_id": name, "originals": kept} for name, kept in rows])
        return 0
    for name, kept in rows:
        print(f"{name}  {'dropped' if kept is None else plural(kept, 'original')}")
    if not rows:
        print(f"no vault in {opened.store.url}; tacho record --vault keeps one")
    return 0


def _fingerprint(text: str) -> str:
    """The fingerprint in a placeholder, or by itself."""
    return text.strip().removesuffix("]").rpartition(":")[2]
