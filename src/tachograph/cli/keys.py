"""``tacho keys``: who can read a store, and who seals it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from tachograph import wiring
from tachograph.core.errors import TachographError, UsageError
from tachograph.crypto import keys, note, succession, wraps
from tachograph.host import custody, recipients, rotation
from tachograph.host.custody import Keeper
from tachograph.host.keyplace import KeyPlace, write_new
from tachograph.host.recipients import Rewrapped
from tachograph.log import opening
from tachograph.log.opening import OpenStore

from .app import NO
from .output import plural, print_json, print_notes

_WHAT = ("ls", "add", "remove", "rewrap", "rotate", "export-public", "export")
_KINDS = ("passphrase", "age", "kms", "keyring", "key_file")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "tacho keys ls | add (--passphrase | --age RECIPIENT | --kms ARN | --keyring | --key-file FILE) [--reason TEXT] | "
        "remove ID --reason TEXT | rewrap [--anew] | rotate --reason TEXT | export-public | export --read-only -o FILE"
    )
    parser.add_argument(
        "what", metavar="|".join(_WHAT), choices=_WHAT,
        help="list the recipients; add or remove one; bring all wraps up to date; a new key file; its public half; the key file without its seed",
    )  # fmt: skip
    parser.add_argument("id", metavar="ID", nargs="?", help="of a recipient, as ls prints it")
    parser.add_argument("--passphrase", action="store_true", help="typed, or the first line of the file TACHO_PASSPHRASE_FILE")
    parser.add_argument("--age", metavar="RECIPIENT", help="an age recipient, age1…; who has its identity reads with TACHO_AGE_IDENTITY")
    parser.add_argument("--kms", metavar="ARN", help="a symmetric key of AWS KMS")
    parser.add_argument("--keyring", action="store_true", help="a key in this user's key ring")
    parser.add_argument("--key-file", metavar="FILE", help="a key file that reads; made where there is none")
    parser.add_argument("--read-only", action="store_true", help="without the seed: it reads and verifies, and seals nothing")
    parser.add_argument("-o", metavar="FILE", dest="output", help="where to; a file that is there is never written over")
    parser.add_argument("--anew", action="store_true", help="make also those wraps anew that are there")
    parser.add_argument("--reason", metavar="TEXT", help="why; the ledger keeps it")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    if (options.what == "remove") != (options.id is not None):
        raise UsageError("remove takes the id of a recipient, and nothing else does; tacho keys ls prints them")
    if options.what == "export-public":
        return _export_public(chosen, as_json=options.json)
    if options.what == "export":
        return _export(chosen, options)
    opened = wiring.open_for_reading(chosen)
    by = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    if options.what == "ls":
        return _list(opened, KeyPlace(chosen.key_file), as_json=options.json)
    opened.key.signer()
    opening.check_signer(opened)
    if options.what == "add":
        return _add(by, chosen, options)
    if options.what == "remove":
        done = recipients.remove(by, options.id, custody.reason_of(options.reason), report=_report)
        return _told(
            opened, done, f"{options.id} removed; whoever had its secret and a copy of the store can still read what was there then"
        )
    if options.what == "rewrap":
        return _told(opened, recipients.rewrap(by, anew=options.anew, report=_report), "all wraps are up to date")
    place = KeyPlace(chosen.key_file)
    reason = custody.reason_of(options.reason)
    rotated = rotation.rotate(by, place, lambda key: wiring.ring(key, place), reason, report=_report)
    what = f"the key file is {rotated.new} now" + (f", it was {rotated.old}" if rotated.old else ", an earlier rotation is finished")
    code = _told(opened, rotated.rewrapped, f"{what}; back it up, tacho keys export-public prints its public half")
    if rotated.left:
        print_notes([f"old key files are kept beside {place.path} until all is rewrapped; run tacho keys rotate again to finish"])
    return code


def _add(by: Keeper, chosen: wiring.Settings, options: argparse.Namespace) -> int:
    given = [name for name in _KINDS if getattr(options, name)]
    if len(given) != 1:
        raise UsageError("one kind of recipient at a time: --passphrase, --age RECIPIENT, --kms ARN, --keyring or --key-file FILE")
    undo: list[Any] = []
    recipient = _recipient(by, chosen, options, given[0], undo)
    reason = custody.reason_of(options.reason or "one more who can read")
    try:
        done = recipients.add(by, recipient, reason, report=_report)
    except (TachographError, OSError):
        # A secret that opens nothing is not left lying about; one that the store wraps for already is all there is to read with.
        if undo and not any(one["id"] == recipient["id"] for one in by.opened.recipients()):
            undo[0]()
        raise
    return _told(by.opened, done, f"{recipient['type']} {recipient['id']} added")


def _recipient(by: Keeper, chosen: wiring.Settings, options: argparse.Namespace, kind: str, undo: list[Any]) -> dict[str, Any]:
    """The recipient; ``undo`` gets what takes back what was made for it."""
    if kind == "passphrase":
        return wraps.passphrase_recipient(wiring.new_passphrase(), chosen.entropy)
    if kind == "age":
        from tachograph.wraps import age

        return age.recipient(options.age)
    if kind == "kms":
        from tachograph.wraps import kms

        return kms.recipient(options.kms)
    if kind == "keyring":
        from tachograph.wraps import keyring

        private, recipient = wraps.box_recipient("keyring", chosen.entropy)
        name = f"{by.opened.id}/{recipient['id']}"
        keyring.put(name, private)
        undo.append(lambda: keyring.drop(name))
        return recipient
    return _key_file(by.opened, chosen, Path(options.key_file), undo)


def _key_file(opened: OpenStore, chosen: wiring.Settings, path: Path, undo: list[Any]) -> dict[str, Any]:
    if path.exists():
        found = keys.load(path.read_bytes(), str(path))
        if found.kek is None:
            raise UsageError(f"the key file {path} has no key that reads; name another one")
        if found.public() != opened.key.public():
            raise UsageError(f"the key file {path} is of another store's seals; name a file that is not there, and one that reads is made")
        return wraps.key_file_recipient(found)
    if os.path.commonpath([os.path.realpath(chosen.store), os.path.realpath(path)]) == os.path.realpath(chosen.store):
        raise UsageError(f"a key file must not lie in the store, {path}; name a place outside of {chosen.store}")
    made = keys.KeyFile(chosen.entropy(32), None, opened.key.public())
    write_new(path, keys.dump(made))
    undo.append(path.unlink)
    print_notes([f"there was no {path}, so it was made; give it to the reader, and to nobody else"])
    return wraps.key_file_recipient(made)


def _list(opened: OpenStore, place: KeyPlace, *, as_json: bool) -> int:
    found = recipients.state(opened)
    old = [one.id for one in place.replaced() if one.id != opened.key.id]
    if as_json:
        rows = [{**one, "lacking": found.lacking[one["id"]]} for one in found.recipients]
        unread = [{"name": name, "why": why} for name, why in found.unread]
        print_json(
            {"store": opened.id, "recipients": rows, "keys": found.names, "beyond": found.beyond, "unread": unread, "old_key_files": old}
        )
    else:
        for one in found.recipients:
            lacking = found.lacking[one["id"]]
            what = (
                f"lacks {plural(len(lacking), 'key')} of {found.names}: {', '.join(lacking[:3])}{'…' if lacking[3:] else ''}"
                if lacking
                else "all keys"
            )
            more = "  yours" if one["id"] == opened.key.id else "".join(f"  {one[name]}" for name in ("recipient", "arn") if name in one)
            print(f"{one['id']}  {one['type']:<10}  {what}{more}")
        for name, files in found.beyond.items():
            print(f"{name}  no recipient any more, and {plural(len(files), 'key')} wrapped for it still")
        for name, why in found.unread:
            print(f"{name}: {why}")
    if not as_json and (found.beyond or any(found.lacking.values())):
        print_notes(["tacho keys rewrap brings all keys up to date"])
    if not as_json and old:
        print_notes([f"a rotation is not finished, the key file {', '.join(old)} is kept; run tacho keys rotate again"])
    return 0 if not found.unread else NO


def _export_public(chosen: wiring.Settings, *, as_json: bool) -> int:
    store = wiring.store_at(chosen.store)
    described = opening.describe(store)
    said = opening.statements(store)
    try:
        newest = wiring.key(chosen).public()
    except TachographError:
        newest = opening.first_key(store, described)
        newest = (succession.forward(newest, said, str(described.get("id"))) or [newest])[-1]
    line = [newest, *succession.back(newest, said, str(described.get("id")))]
    names = {note.public_of(name): name for name in (str(described.get("verifier")), *(n for one in said for n in (one.old, one.new)))}
    found = [names[one] for one in reversed(line) if one in names]
    if as_json:
        print_json([{"verifier": one, "current": one == names.get(newest)} for one in found])
    else:
        for one in found:
            print(one)
    return 0 if found else NO


def _export(chosen: wiring.Settings, options: argparse.Namespace) -> int:
    if not options.read_only or not options.output:
        raise UsageError("export writes the key file without its signing key; say --read-only and where to, with -o FILE")
    own = wiring.key(chosen)
    if own.kek is None:
        raise UsageError(f"the key file {own.id} has no key that reads, so nothing would be left of it; name another one with TACHO_KEY")
    write_new(Path(options.output), keys.dump(own.reading()))
    print(f"{options.output} reads what the key file {own.id} reads, and seals nothing; its holder names it with TACHO_KEY")
    return 0


def _told(opened: OpenStore, done: Rewrapped, what: str) -> int:
    print_notes(dict.fromkeys(opened.ring.notes))
    print_notes(f"the key of {name} is as it was, {why}" for name, why in done.failed[:20])
    counts = f"{plural(done.changed, 'key')} wrapped, {done.kept:,} were up to date, {done.shredded:,} shredded"
    if done.failed:
        print(f"{counts}, {len(done.failed):,} not done; run tacho keys rewrap again")
        return NO
    print(f"{what} ({counts})")
    return 0


def _report(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\rkeys: {text} ")
        sys.stderr.flush()
