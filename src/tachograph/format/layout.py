"""Where things are in a store: the only place that spells paths (``docs/format/v1.md``, section 2)."""

from __future__ import annotations

import re

VERSION = 1
STORE = "store.json"
STORE_KEYS = "keys/store.json"
KEYS = "keys/"
#: For whom new keys are wrapped, where it is not for the key file alone.
RECIPIENTS = "keys/recipients.json"
#: Signing keys that followed one another, where one did.
VERIFIERS = "keys/verifiers.json"
#: Held by whoever changes recipients or keys.
KEYS_LOCK = "keys/lock"
VAULT_KEY = "keys/vault.json"
VAULTS = "vault/"
SESSIONS = "sessions/"
#: Derived from the rest, and no part of the record: docs/reference/catalogue.md.
CATALOGUE = "catalogue/"
#: In the place of a session's id: the store's own log, in the format of a session.
LEDGER = "ledger"

_SEGMENT = re.compile(r"([0-9]{8})\.(events\.jsonl|content\.pack|seals)\Z")


def session(session_id: str) -> str:
    """The folder of a session's log, or of the ledger."""
    return "ledger/" if session_id == LEDGER else f"sessions/{session_id}/"


def events(session_id: str, segment: int) -> str:
    return f"{session(session_id)}{segment:08d}.events.jsonl"


def content(session_id: str, segment: int) -> str:
    return f"{session(session_id)}{segment:08d}.content.pack"


def seals(session_id: str, segment: int) -> str:
    """Each writer opens its own file of seals, as it opens its own segment: a file is opened for append once."""
    return f"{session(session_id)}{segment:08d}.seals"


def lock(session_id: str) -> str:
    return f"{session(session_id)}lock"


def keys(session_id: str) -> str:
    return f"keys/{session_id}.json"


def vault(session_id: str) -> str:
    """The originals of what was masked in a session, where they are kept."""
    return f"{VAULTS}{session_id}.vault"


def segment_of(name: str) -> tuple[int, str] | None:
    """(number, kind) of the name of a segment's file within its session's folder, kind ``events.jsonl``, ``content.pack`` or
    ``seals``; None for any other name."""
    match = _SEGMENT.match(name)
    return (int(match[1]), match[2]) if match else None
