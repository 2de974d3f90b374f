"""``tacho import``: a foreign file's sessions, redacted and sealed like our own.

The same bytes give the same session ids, so importing a file twice adds nothing.
"""

from __future__ import annotations

import collections
import hashlib
import os
from dataclasses import dataclass, replace
from typing import Any

import msgspec

import tachograph
from tachograph.core import events, ids
from tachograph.core.drafts import Draft, ImportedSession
from tachograph.core.ports import Clock, Entropy
from tachograph.format import layout
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SETTLE, SessionWriter
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy

from . import patterns
from .entering import Entering
from .recorder import masked
from .secrets import Given


@dataclass(frozen=True)
class Imported:
    """One session's outcome. ``kept``: records kept without being understood."""

    session_id: str
    source_id: str
    events: int
    understood: int
    kept: int
    known: bool


def session_id_of(session: ImportedSession, data: bytes) -> str:
    """The id under which a foreign session is kept: its first moment, and the bytes that it came in."""
    first = next((draft.unix_ms for draft in session.drafts if draft.unix_ms is not None), 0)
    return ids.session_id(max(first, 0), hashlib.sha256(session.source_id.encode("utf-8", "surrogatepass") + b"\0" + data).digest()[:10])


def write(
    opened: OpenStore,
    session: ImportedSession,
    data: bytes,
    *,
    parent: str | None,
    clock: Clock,
    entropy: Entropy,
    policy: Policy,
    given: Given,
) -> Imported:
    """Write one imported session, whole and sealed."""
    session_id = session_id_of(session, data)
    if opened.store.exists(layout.events(session_id, 1)):
        return Imported(session_id, session.source_id, 0, session.understood, session.kept, known=True)
    redactor = Redactor(policy, key=opened.fingerprint_key, learns=True)
    patterns.load(redactor.index, patterns.folder(os.environ), opened.fingerprint_key)
    given.teach(redactor)
    writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, entropy), clock=clock, entropy=entropy)
    entering = Entering(opened, session_id, clock=clock, entropy=entropy)
    try:
        pin = entering.begin()
        for draft in session.drafts:
            writer.append(_redacted(draft, redactor, policy, parent, pin))
        writer.seal()
        entering.sealed(writer.size, writer.root, ended=True)
        return Imported(session_id, session.source_id, writer.size, session.understood, session.kept, known=False)
    finally:
        writer.close()
        opened.store.settle(SETTLE)


def _redacted(draft: Draft, redactor: Redactor, policy: Policy, parent: str | None, pin: dict[str, Any]) -> Draft:
    tally: collections.Counter[str] = collections.Counter()
    contents: dict[str, Any] = {name: redactor.document(value, tally) for name, value in draft.contents.items()}
    # The envelope of a foreign record may say anything, too.
    fields = redactor.document(msgspec.to_builtins(draft.event), tally)
    event = msgspec.convert(fields, type(draft.event))
    changes: dict[str, Any] = masked(tally)
    if isinstance(event, events.SessionStart):
        changes |= {
            "recorder": f"tachograph {tachograph.__version__}",
            "policy": policy.fingerprint,
            "parent_session_id": parent,
            "ledger": pin,
        }
    return replace(draft, event=msgspec.structs.replace(event, **changes), contents=contents)
