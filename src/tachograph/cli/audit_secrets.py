"""``tacho audit-secrets``."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import Any

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host.audit import Audit, Missed

from . import reading
from .app import FAILURE, NO
from .output import plural, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="STORE", nargs="?", help="the store (else --store, TACHO_STORE, or the XDG data folder)")
    parser.add_argument("--policy", metavar="FILE", help="the redaction policy (else TACHO_POLICY, else the nearest tachograph.toml)")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if options.folder and options.store:
        raise UsageError("two stores are named; name one, as STORE or with --store")
    settings = wiring.settings(options.folder or options.store)
    opened = wiring.open_for_reading(settings)
    chosen = wiring.policy(options.policy)
    audit = Audit(opened, chosen.policy, chosen.known(os.environ))
    reading.enter(settings, opened, [None], "audit-secrets")
    progress = sys.stderr.isatty()
    kinds: Counter[str] = Counter()
    hit: set[str] = set()
    kept: list[dict[str, Any]] = []

    def take(found: Missed) -> None:
        kinds[found.kind] += found.count
        hit.add(found.session_id or found.place)
        if options.json:
            kept.append(found.to_json())
        else:
            if progress:
                sys.stderr.write("\r\x1b[K")
            print(_line(found))

    names = audit.names()
    for number, name in enumerate(names, 1):
        if progress:
            sys.stderr.write(f"\r\x1b[K{number} of {len(names)}  {name}")
            sys.stderr.flush()
        for found in audit.session(name):
            take(found)
    if progress:
        sys.stderr.write("\r\x1b[K")
    for found in audit.files():
        take(found)
    code = NO if kinds else FAILURE if audit.unreadable else 0
    if options.json:
        print_json(
            {
                "sessions": audit.sessions, "found": kept, "kinds": dict(sorted(kinds.items())), "shredded": audit.shredded,
                "unreadable": [{"where": where, "why": why} for where, why in audit.unreadable], "policy": chosen.policy.fingerprint,
            }
        )  # fmt: skip
        return code
    for where, why in audit.unreadable:
        print(f"not looked at: {where}: {' '.join(why.split())}", file=sys.stderr)
    looked = f"{plural(audit.sessions, 'session')} looked at" + (f", {len(audit.shredded)} of them shredded" if audit.shredded else "")
    if not kinds:
        print(f"{looked}; nothing that today's rules would mask")
        return code
    words = ", ".join(f"{kind} ×{count}" for kind, count in kinds.most_common())
    print(f"{looked}; kept unmasked in {plural(len(hit), 'place')}: {words}")
    print("next: change each secret where it is in force, then tacho shred SES --reason TEXT; what is recorded from now on is masked")
    return code


def _line(found: Missed) -> str:
    where = f"{found.session_id}  #{found.seq} {found.event_id}" if found.seq is not None else found.session_id or "store"
    place = "".join(c if c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in found.place)
    times = f" ×{found.count}" if found.count > 1 else ""
    return f"{where}  {place}  {found.kind} {found.fingerprint}{times}, rule {found.rule or 'not named'}"
