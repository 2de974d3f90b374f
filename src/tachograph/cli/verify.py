"""``tacho verify``."""

from __future__ import annotations

import argparse
import os

from tachograph import wiring
from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, UsageError
from tachograph.core.ports import Store
from tachograph.crypto import note
from tachograph.format import layout
from tachograph.log import ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.reader import session_ids
from tachograph.log.verdict import verdict
from tachograph.log.verify import SEVERITY, Verification, public_key

from .app import NO
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES|DIR", nargs="?", help="an id, a unique prefix, @last, the folder of a store, or ledger")
    parser.add_argument("--all", action="store_true", help="every session of the store, and its ledger")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    everything = options.all
    if options.session is not None and os.sep in options.session and os.path.isdir(options.session):
        chosen, everything = wiring.settings(options.session), True
    elif options.session is None and not everything:
        raise UsageError("which session; name one (tacho verify @last) or take --all")
    store = wiring.store_at(chosen.store)
    described = opening.describe(store)
    opened, why, damaged = _opened(chosen, store, str(described.get("verifier", "")))
    try:
        public = opened.trusted if opened is not None else frozenset({public_key(str(described.get("verifier", "")))})
    except ValueError:
        public, damaged = frozenset(), damaged or ("store.json", "its public key is none")
    names = session_ids(store) if everything else [_named(store, options.session)]
    results = [verdict(store, name, public=public, opened=opened) for name in names]
    book = verdict(store, layout.LEDGER, public=public, opened=opened) if everything and ledger.exists(store) else None
    checked = [*results, *([book] if book is not None else [])]
    for result in checked:
        if damaged is not None:
            result.problem("keys", damaged[0], 0, damaged[1])
    if everything:
        worst = max((r.verdict for r in checked), key=SEVERITY.index, default="missing")
        if options.json:
            sessions = [r.to_json() for r in results]
            print_json({"verdict": worst, "sessions": sessions, "ledger": book.to_json() if book is not None else None})
    elif options.json:
        print_json(results[0].to_json())
    if not options.json:
        for result in checked:
            _print(result)
        if opened is None:
            print(f"content not checked, and the signing key is the store's own word: {why}")
    return 0 if results and all(r.good for r in checked) else NO


def _opened(chosen: wiring.Settings, store: Store, verifier: str) -> tuple[OpenStore | None, str, tuple[str, str] | None]:
    """(the store with its keys, why not, (damaged file, what)). Without the key the chain, the frames and the seals can still be checked,
    against the store's own word of its public key. With the key that the store names, keys that do not open were damaged."""
    try:
        key = wiring.key(chosen)
    except KeyUnavailableError as error:
        return None, str(error), None
    mine = verifier == note.verifier("tachograph/" + key.id, key.public())
    try:
        opened = opening.open_store(store, key)
    except (KeyUnavailableError, FormatError, NotFoundError) as error:
        return None, str(error), (layout.STORE_KEYS, str(error)) if mine else None
    return opened, "", None if mine else (layout.STORE, "the public key in it is not that of the key that opens the store")


def _named(store: Store, name: str) -> str:
    try:
        return ledger.resolve_log(store, name)
    except NotFoundError:
        if name.startswith("ses_") and len(name) == 30:
            return name  # a full id that is not there is an answer ("missing"), not a typing error
        raise


def _print(result: Verification) -> None:
    sealed = f"{result.sealed} of {plural(result.events, 'line')} sealed"
    print(f"{result.session_id}  {result.verdict}  {sealed}, content {result.content}")
    if result.events and not result.ended and result.session_id != layout.LEDGER:
        print("  no session_end: it is being recorded, or was cut; a seal kept elsewhere would tell")
    for problem in result.problems:
        print(f"  {problem['check']}: {problem['what']} ({problem['file']}, offset {problem['offset']})")
