"""The sessions of a store as rows, from the catalogue or from the sessions themselves: the same rows."""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tachograph.core.ports import Store
from tachograph.format import layout
from tachograph.links.refs import Ref
from tachograph.log.ahead import Ahead
from tachograph.log.reader import session_ids
from tachograph.log.retention import unix_ms

from . import parquet, rows
from .catalogue import Catalogue
from .columns import SESSIONS
from .heard import Heard
from .prices import Prices, Tokens, counted

Row = dict[str, Any]
_TIMES = tuple(column.name for column in SESSIONS if column.kind == "time")
_COUNTS = tuple(column.name for column in SESSIONS if column.kind == "counts")


def of_catalogue(catalogue: Catalogue) -> list[Row]:
    """By id. Call it while the catalogue is held."""
    found: list[Row] = []
    for home in catalogue.homes(catalogue.state()):
        name = home.file("sessions")
        found += parquet.load(catalogue.home.read(name), f"{catalogue.home.url}/{name}").to_pylist()
    for row in found:
        for name in _TIMES:
            if row[name] is not None:
                row[name] = round(row[name].timestamp() * 1000)
        for name in _COUNTS:
            row[name] = dict(row[name] or ())
    return sorted(found, key=lambda row: str(row["session_id"]))


def of_store(store: Store, heard: Heard) -> list[Row]:
    """By id, read now."""
    if store.segments is None:
        return [_row(store, name) for name in session_ids(store) if name not in heard.deleted]
    with Ahead(store) as far:
        found = [_row(far, name) for name in session_ids(far) if name not in heard.deleted]
    # What could not be read may be what somebody is writing at this moment: it is looked at again where it lies.
    return [_row(store, row["session_id"]) if row["status"] == "damaged" else row for row in found]


def of_session(store: Store, session_id: str) -> Row:
    """One, read now."""
    return _row(store, session_id)


def _row(store: Store, session_id: str) -> Row:
    row: Row = dict.fromkeys((column.name for column in SESSIONS), None) | rows.read(store, session_id, only_session=True).session
    for name in _TIMES:
        row[name] = unix_ms(row[name]) or None if isinstance(row[name], str) else None
    return row


def links_of(heard: Heard) -> dict[str, list[Ref]]:
    """By session, the links in force; with its holds and its shredding, as the table ``links`` has them."""
    found: dict[str, list[Ref]] = {}
    for session_id, kind, ref in sorted(heard.links):
        found.setdefault(session_id, []).append(Ref(kind, ref))
    return found


def day_of(row: Mapping[str, Any]) -> datetime.date | None:
    """The day (UTC) on which a session started."""
    started = row.get("started")
    return None if started is None else datetime.datetime.fromtimestamp(started / 1000, datetime.UTC).date()


def cost_of(row: Mapping[str, Any], prices: Prices) -> float | None:
    """What a session's model calls cost; None where one of its models has no price."""
    total = 0.0
    for used in usage_of(row):
        tokens = counted(used) or Tokens()
        cost = prices.cost(used.get("provider"), (used.get("served_model_id"), used.get("model_id")), day_of(row), tokens)
        if cost is None:
            return None
        total += cost
    return total


def usage_of(row: Mapping[str, Any]) -> Iterator[Row]:
    """Tokens by provider and model."""
    with contextlib.suppress(ValueError, TypeError):
        for used in json.loads(row.get("usage") or "[]"):
            if isinstance(used, dict):
                yield used


def forked_from(row: Mapping[str, Any]) -> Row | None:
    """Of a what-if copy: of which session, from which step on, with what changed."""
    with contextlib.suppress(ValueError, TypeError):
        found = json.loads(row.get("forked_from") or "null")
        return found if isinstance(found, dict) and found else None
    return None


def heard_of(catalogue: Catalogue) -> Heard:
    """What the catalogue knows of the ledger."""
    return catalogue.state().heard


def is_there(store: Store) -> bool:
    """Whether a store has a catalogue."""
    return store.exists(f"{layout.CATALOGUE}state.json")
