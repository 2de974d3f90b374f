"""``tacho prove``."""

from __future__ import annotations

import argparse
import sys

from tachograph import wiring
from tachograph.core.errors import KeyUnavailableError, StoreError
from tachograph.core.ports import Store
from tachograph.log import ledger, opening, proof
from tachograph.log.verify import public_key


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, @last, or ledger")
    parser.add_argument("--event", metavar="E", help="prove that this event is in the record: its id, or its number")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to FILE instead of printing (name it .tlog-proof)")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    store = wiring.store_at(chosen.store)
    public = _public(chosen, store)
    session_id = ledger.resolve_log(store, options.session)
    event = options.event
    text = proof.newest_seal(store, session_id, public) if event is None else proof.prove(store, session_id, event, public)
    if options.output is None:
        sys.stdout.write(text)
        return 0
    try:
        with open(options.output, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise StoreError(f"cannot write the proof to {options.output}, {error.strerror}; choose another place with -o") from None
    print(f"tacho: {options.output} written; tacho verify {options.output} checks it", file=sys.stderr)
    return 0


def _public(chosen: wiring.Settings, store: Store) -> bytes | frozenset[bytes]:
    """The keys of which a seal is believed: a proof needs no secret, so the store's own word does where there is no key file."""
    try:
        return opening.open_store(store, wiring.key(chosen)).trusted
    except KeyUnavailableError:
        return public_key(str(opening.describe(store).get("verifier", "")))
