"""``tacho verify``."""

from __future__ import annotations

import argparse
import os

from tachograph import wiring
from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, UsageError
from tachograph.core.ports import Store
from tachograph.crypto import note
from tachograph.format import layout
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.reader import resolve, session_ids
from tachograph.log.verify import SEVERITY, Verification, public_key, verify

from .app import NO
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES|DIR", nargs="?", help="an id, a unique prefix, @last, or the folder of a store")
    parser.add_argument("--all", action="store_true", help="every session of the store")
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
        public = opened.key.public() if opened is not None else public_key(str(described.get("verifier", "")))
    except ValueError:
        public, damaged = b"", damaged or ("store.json", "its public key is none")
    names = session_ids(store) if everything else [_named(store, options.session)]
    results = [_one(store, name, public, opened) for name in names]
    for result in results:
        if damaged is not None:
            result.problem("keys", damaged[0], 0, damaged[1])
    if everything:
        verdict = max((r.verdict for r in results), key=SEVERITY.index, default="missing")
        if options.json:
            print_json({"verdict": verdict, "sessions": [r.to_json() for r in results]})
    elif options.json:
        print_json(results[0].to_json())
    if not options.json:
        for result in results:
            _print(result)
        if opened is None:
            print(f"content not checked, and the signing key is the store's own word: {why}")
    return 0 if results and all(r.good for r in results) else NO


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
        return resolve(store, name)
    except NotFoundError:
        if name.startswith("ses_") and len(name) == 30:
            return name  # a full id that is not there is an answer ("missing"), not a typing error
        raise


def _one(store: Store, session_id: str, public: bytes, opened: OpenStore | None) -> Verification:
    data_key = None
    lost = damaged = None
    if opened is not None:
        try:
            data_key = opened.data_key(session_id)
        except NotFoundError as error:
            lost = str(error)  # shredded, or lost: the record can still be checked
        except (KeyUnavailableError, FormatError) as error:
            damaged = str(error)
    result = verify(store, session_id, public=public, data_key=data_key)
    if lost is not None and result.verdict != "missing":
        result.content = f"not checked: {lost}"
    if damaged is not None and result.verdict != "missing":
        result.problem("keys", layout.keys(session_id), 0, damaged)
    return result


def _print(result: Verification) -> None:
    sealed = f"{result.sealed} of {plural(result.events, 'line')} sealed"
    print(f"{result.session_id}  {result.verdict}  {sealed}, content {result.content}")
    if result.events and not result.ended:
        print("  no session_end: it is being recorded, or was cut; a seal kept elsewhere would tell")
    for problem in result.problems:
        print(f"  {problem['check']}: {problem['what']} ({problem['file']}, offset {problem['offset']})")
