"""``tacho verify``."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tachograph import wiring
from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, StoreError, UsageError
from tachograph.core.ports import Store
from tachograph.crypto import succession
from tachograph.format import layout
from tachograph.log import ledger, opening, proof
from tachograph.log.opening import OpenStore
from tachograph.log.verdict import Judge
from tachograph.log.verify import SEVERITY, Verification

from . import outside
from .app import NO
from .output import plural, print_json, print_notes

_OWN_WORD = ", and the signing key is the store's own word"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", metavar="SES|DIR|PROOF", nargs="?",
        help="an id, a unique prefix, @last, ledger, the folder of a store, or a file that tacho prove or tacho export has written (- reads it)",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="every session of the store, and its ledger")
    parser.add_argument("--seal", metavar="NOTE", help="a seal that was kept outside: a file, - or SIZE:ROOT")
    parser.add_argument(
        "--key",
        metavar="VKEY|FILE",
        help="the public key whose seals are believed, with those before and after it (else that of the key file)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    everything = options.all
    if outside.is_outside(options.session):
        if everything or options.seal is not None:
            raise UsageError("a proof is checked by itself; name a session, or take --all, for a store")
        return _proof(chosen, options)
    if options.session is not None and os.sep in options.session and os.path.isdir(options.session):
        chosen, everything = wiring.settings(options.session), True
    seal = outside.read_seal(options.seal) if options.seal is not None else None
    if options.session is None and not everything and (seal is None or seal.log is None):
        raise UsageError("which session; name one (tacho verify @last) or take --all")
    if everything and seal is not None and seal.log is None:
        raise UsageError("of which session is this seal; name it (tacho verify SES --seal SIZE:ROOT), or give the signed note")
    store = wiring.store_at(chosen.store)
    described = opening.describe(store)
    opened, why, damaged = _opened(chosen, store, described)
    try:
        public = _trusted(chosen, store, described, opened, options.key)
    except FormatError as error:
        public, damaged = frozenset(), damaged or (layout.STORE, str(error))
    judge = Judge(store, public=public, opened=opened)
    if everything:
        results, book = judge.everything({seal.log: [seal.anchor()]} if seal is not None and seal.log is not None else {})
    else:
        results, book = _named(judge, store, options.session, seal)
    checked = [*results, *([book] if book is not None else [])]
    for result in checked:
        if damaged is not None:
            result.problem("keys", damaged[0], 0, damaged[1])
        if seal is not None and result.session_id == (seal.log or results[0].session_id):
            seal.judge(public, result)
    print_notes(store.notices())
    if options.json:
        print_json(_document(results, book, everything=everything))
    else:
        for result in checked:
            _print(result)
            if seal is not None and result.session_id == (seal.log or results[0].session_id) and _agrees(result):
                print(f"  as the seal says that was kept outside: {plural(seal.size, 'line')}, root {seal.root}")
        if opened is None:
            print(f"content not checked{'' if options.key else _OWN_WORD}: {why}")
        elif why and not options.key:
            print(f"content checked{_OWN_WORD}: {why}")
    return 0 if checked and all(r.good for r in checked) else NO


def _named(judge: Judge, store: Store, named: str | None, seal: outside.Seal | None) -> tuple[list[Verification], Verification | None]:
    """The log that was named, and the ledger besides where the seal is of that."""
    name = _resolved(store, named) if named is not None else seal.log if seal is not None and seal.log is not None else ""
    anchors = [seal.anchor()] if seal is not None else []
    if seal is None or seal.log in (None, name):
        return [judge.judge(name, anchors)], None
    if seal.log == layout.LEDGER:
        return [judge.judge(name)], judge.judge(layout.LEDGER, anchors)
    raise UsageError(f"the seal is of {seal.log[:40]!r}, not of {name}; verify that one with it, or take --all")


def _document(results: list[Verification], book: Verification | None, *, everything: bool) -> dict[str, Any]:
    found = book.to_json() if book is not None else None
    if not everything:
        return {**results[0].to_json(), **({"ledger": found} if found is not None else {})}
    worst = max((r.verdict for r in [*results, *([book] if book is not None else [])]), key=SEVERITY.index, default="missing")
    return {"verdict": worst, "sessions": [r.to_json() for r in results], "ledger": found}


def _proof(chosen: wiring.Settings, options: argparse.Namespace) -> int:
    """What a file shows by itself, with the public key alone."""
    text = outside.read_text(options.session)
    public = outside.trusted(chosen, options.key)
    if proof.is_page(text):
        return _page(options, text, public)
    try:
        found = proof.check(text, public)
    except ValueError as error:
        if options.json:
            print_json({"verdict": "tampered", "what": str(error)})
        else:
            print(f"{options.session}  tampered  {error}")
        return NO
    if options.json:
        print_json(_shown(found))
    else:
        print(f"{options.session}  verified  {_said(found)}")
    return 0


def _page(options: argparse.Namespace, text: str, public: bytes | frozenset[bytes]) -> int:
    """Every proof that a page of ``tacho export`` holds. The words of the page are its sender's."""
    results: list[dict[str, Any]] = []
    for number, one in enumerate(proof.in_page(text), 1):
        try:
            found = proof.check(one, public)
        except ValueError as error:
            results.append({"verdict": "tampered", "what": str(error)})
            words = f"proof {number}  tampered  {error}"
        else:
            results.append(_shown(found))
            words = f"proof {number}  verified  {_said(found)}"
        if not options.json:
            print(words)
    if not results:
        raise UsageError(f"no proof in the page, {options.session}; tacho export SES --to html writes pages that hold some")
    good = all(one["verdict"] == "verified" for one in results)
    if options.json:
        print_json({"verdict": "verified" if good else "tampered", "proofs": results})
    else:
        print(
            f"{options.session}  {'verified' if good else 'tampered'}  {plural(len(results), 'proof')}; the words of the page are its sender's"
        )
    return 0 if good else NO


def _shown(found: proof.Proven) -> dict[str, Any]:
    more = {"seq": found.seq, "line": found.fields} if found.line is not None else {}
    return {"verdict": "verified", "session_id": found.session_id, "events": found.size, "root": found.root, **more}


def _said(found: proof.Proven) -> str:
    what = f"{found.session_id} had {plural(found.size, 'line')}, root {found.root}"
    if found.line is None:
        return what
    one = " ".join(str(found.fields.get(name, "")) for name in ("type", "id", "ts")).encode("unicode_escape").decode("ascii")
    return f"line {found.seq} of {found.session_id} is {one}; {what}"


def _opened(chosen: wiring.Settings, store: Store, described: dict[str, Any]) -> tuple[OpenStore | None, str, tuple[str, str] | None]:
    """(the store with its keys, why not or why without a key file, (damaged file, what)). Without the key the chain, the frames and the
    seals can still be checked, against the store's own word of its public key. With the key that the store names, keys that do not open
    were damaged."""
    why, own = "", None
    try:
        own = wiring.key(chosen)
    except KeyUnavailableError as error:
        why = str(error)
    try:
        opened = wiring.open_for_reading(chosen)
    except (KeyUnavailableError, FormatError, NotFoundError, StoreError) as error:
        damaged = own is not None and _of_its_line(store, described, own.public())
        return None, why or str(error), (layout.STORE_KEYS, str(error)) if damaged else None
    return opened, why, (layout.STORE, "the public key in it is not that of the key that opens the store") if opened.stranger else None


def _of_its_line(store: Store, described: dict[str, Any], public: bytes) -> bool:
    """Whether this is the key that the store names, or one of those before and after it."""
    try:
        first = opening.first_key(store, described)
    except FormatError:
        return False
    try:
        said = opening.statements(store)
    except FormatError:
        return first == public
    return first in succession.trusted(public, said, str(described.get("id")))


def _trusted(
    chosen: wiring.Settings, store: Store, described: dict[str, Any], opened: OpenStore | None, named: str | None
) -> frozenset[bytes]:
    """The public keys whose seals are believed: the one that was named, else the user's, else the store's own word, and its line."""
    if named is None and opened is not None:
        return opened.trusted
    root = outside.trusted(chosen, named) if named is not None else opening.first_key(store, described)
    roots = [root] if isinstance(root, bytes) else sorted(root)
    said, store_id = opening.statements(store), str(described.get("id"))
    return frozenset(key for one in roots for key in succession.trusted(one, said, store_id))


def _resolved(store: Store, name: str) -> str:
    try:
        return ledger.resolve_log(store, name)
    except NotFoundError:
        if name == layout.LEDGER or (name.startswith("ses_") and len(name) == 30):
            return name  # a full id that is not there is an answer ("missing"), not a typing error
        raise


def _agrees(result: Verification) -> bool:
    return result.good and not any(problem["check"] == "anchor" for problem in result.problems)


def _print(result: Verification) -> None:
    if result.verdict == "missing":
        print(f"{result.session_id}  missing")
    else:
        sealed = f"{result.sealed} of {plural(result.events, 'line')} sealed"
        print(f"{result.session_id}  {result.verdict}  {sealed}, content {result.content}")
    if result.events and not result.ended and result.session_id != layout.LEDGER:
        print("  no session_end: it is being recorded, or its writer was killed")
    for problem in result.problems:
        print(f"  {problem['check']}: {problem['what']} ({problem['file']}, offset {problem['offset']})")
