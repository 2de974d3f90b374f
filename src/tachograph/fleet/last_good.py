"""The last good session before one that went wrong: what it is to be compared with.

*Good* is a session that was recorded (no import, no what-if copy), ended ``ok``, is linked to no incident, and can still be read. Of the
*same kind* it is, best first:

1. of the same name and the same agent,
2. of the same name,
3. of the same agent (its script) in the same repository,
4. of the same agent, where one of the two was recorded outside of any repository.

And a subagent's session is compared with a subagent's, one in which a model was called with such a one. Of the best kind that has any, the
newest is taken, whatever it was asked to do: what was in force in it did no harm, so it has the fewest suspects.

What the catalogue says is taken as a hint: sessions that it does not know, or knows as unfinished, are looked at themselves, and whoever
reads the one that was found sees whether it is so (``confirmed``). Without a catalogue sessions are read one by one, newest first, so many
at most.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tachograph.core import events
from tachograph.core.errors import FormatError, NotFoundError, StoreError
from tachograph.links import refs
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids

from . import parquet, rows, sessions
from .catalogue import Catalogue
from .heard import Heard, listen

Row = dict[str, Any]

#: Sessions that are looked at one by one, and lines that are read for it, at most.
MOST, LINES = 500, 200_000
#: Sessions of the same kind that were passed over and are named.
NAMED = 3
_WHY = ("the same name and agent", "the same name", "the same agent and repository", "the same agent")
_COLUMNS = (
    "session_id", "started", "status", "name", "agent", "repository", "source", "parent_session_id", "forked_from", "exit_code", "models",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LastGood:
    """``started``: milliseconds since 1970 UTC; ``kind``: what makes it comparable; ``passed``: newer sessions of that kind that are not good,
    newest first, with why, ``more`` of them not named."""

    session_id: str
    started: int | None
    kind: str
    passed: tuple[tuple[str, str], ...] = ()
    more: int = 0

    @property
    def why(self) -> str:
        """As a clause: ``the same name and agent, ended ok, linked to no incident``."""
        return f"{self.kind}, ended ok, linked to no incident"

    def to_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id, "kind": self.kind, "why": self.why,
            "passed": [{"session_id": name, "why": why} for name, why in self.passed], "passed_in_all": len(self.passed) + self.more,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Search:
    """``found``: best first. ``looked``: sessions before this one that were looked at; ``unseen``: that were not. ``problem``: why
    not all of the ledger is known."""

    found: list[LastGood] = field(default_factory=list)
    looked: int = 0
    unseen: int = 0
    problem: str | None = None


def search(opened: OpenStore, recording: Recording) -> Search:
    """The good sessions before ``recording`` that it may be compared with."""
    this = _of(recording)
    catalogue = _catalogue(opened)
    heard, known = _known(opened, catalogue) if catalogue is not None else (listen(opened.store, opened.trusted), {})
    before = [
        name for name in reversed(session_ids(opened.store)) if name < recording.session_id and name not in heard.deleted
    ]  # their ids sort by time
    fresh = [name for name in before if name not in known or known[name]["status"] == "open"]
    links = sessions.links_of(heard)
    read, unseen = _read(opened, this, fresh, links, stop=not known)
    known |= read
    ranked: list[list[LastGood]] = [[] for _ in _WHY]
    passed: list[list[tuple[str, str]]] = [[] for _ in _WHY]
    for name in before:
        row = known.get(name)
        kind = _kind(this, row) if row is not None else None
        if row is None or kind is None:
            continue
        bad = _bad(row, links.get(name, ()))
        if bad is not None:
            passed[kind].append((name, bad))
            continue
        newer = passed[kind]
        ranked[kind].append(
            LastGood(
                session_id=name, started=row["started"], kind=_WHY[kind], passed=tuple(newer[:NAMED]), more=max(0, len(newer) - NAMED)
            )
        )  # fmt: skip
    return Search(found=[one for level in ranked for one in level], looked=len(before) - unseen, unseen=unseen, problem=heard.problem)


def confirmed(recording: Recording) -> bool:
    """Whether a session is what the catalogue said of it: recorded, no copy, ended ``ok``."""
    start, end = _ends(recording)
    return start is not None and end is not None and end.status == "ok" and start.source == "record" and not start.forked_from


# -- what is known of sessions -----------------------------------------------------------------------------------------------------


def _of(recording: Recording) -> Row:
    """What of a session decides which are of its kind."""
    start, _ = _ends(recording)
    start = start or events.SessionStart()
    return {
        "name": start.name, "agent": start.agent, "repository": refs.repository(start.repo_url),
        "inner": start.parent_session_id is not None,
        "models": any(isinstance(entry.event, events.ModelCall) for entry in recording.entries),
    }  # fmt: skip


def _ends(recording: Recording) -> tuple[events.SessionStart | None, events.SessionEnd | None]:
    start = next((entry.event for entry in recording.entries if isinstance(entry.event, events.SessionStart)), None)
    end = next((entry.event for entry in reversed(recording.entries) if isinstance(entry.event, events.SessionEnd)), None)
    return start, end


def _catalogue(opened: OpenStore) -> Catalogue | None:
    if not sessions.is_there(opened.store):
        return None
    try:
        import pyarrow
    except ImportError:
        return None
    return Catalogue(opened, clock=_NoClock()) if pyarrow else None


class _NoClock:
    """For a catalogue that is only read."""

    def unix_ms(self) -> int:
        return 0

    def monotonic(self) -> float:
        return 0.0


def _known(opened: OpenStore, catalogue: Catalogue) -> tuple[Heard, dict[str, Row]]:
    """What the catalogue says, without a lock: a file that is replaced meanwhile is as good as none, and its sessions are read."""
    state = catalogue.state()
    found: dict[str, Row] = {}
    for home in catalogue.homes(state):
        name = home.file("sessions")
        with contextlib.suppress(NotFoundError, StoreError, FormatError):
            for row in parquet.load(catalogue.home.read(name), name, _COLUMNS).to_pylist():
                started = row["started"]
                found[row["session_id"]] = row | {"started": round(started.timestamp() * 1000) if started is not None else None}
    return listen(opened.store, opened.trusted, state.heard if state.heard.size else None), found


def _read(
    opened: OpenStore, this: Row, names: Sequence[str], links: Mapping[str, Sequence[refs.Ref]], *, stop: bool
) -> tuple[dict[str, Row], int]:
    """Rows of sessions that are read now, as far as they may be of the kind, and how many of ``names`` (newest first) were not looked at.
    ``stop``: as soon as one is found than which no other can be better, since all that is left is older."""
    found: dict[str, Row] = {}
    best = 0 if this["name"] else 2
    lines = 0
    for count, name in enumerate(names):
        if count >= MOST or lines >= LINES:
            return found, len(names) - count
        if not _may_be(opened, this, name):
            continue
        row = found[name] = sessions.of_session(opened.store, name)
        lines += row["events"]
        kind = _kind(this, row)
        if stop and kind is not None and kind <= best and _bad(row, links.get(name, ())) is None:
            return found, 0
    return found, 0


def _may_be(opened: OpenStore, this: Row, session_id: str) -> bool:
    """Whether a session is of the same name or agent, by its first line."""
    try:
        _, first = next(rows.lines(opened.store, session_id, lambda _: None), (0, {}))
    except (FormatError, NotFoundError, StoreError):
        return False
    return any(this[name] and first.get(name) == this[name] for name in ("name", "agent"))


# -- which is of the kind, which is good -------------------------------------------------------------------------------------------


def _kind(this: Row, row: Row) -> int | None:
    """The place in ``_WHY``; None where they are not of a kind. What-if copies and what came from elsewhere are of none."""
    if row["forked_from"] or row["source"] not in (None, "record"):
        return None
    if (row["parent_session_id"] is not None) != this["inner"] or (this["models"] and not row["models"]):
        return None
    agent = this["agent"] is not None and row["agent"] == this["agent"]
    if this["name"] and row["name"] == this["name"]:
        return 0 if agent else 1
    if not agent:
        return None
    if this["repository"] is not None and row["repository"] == this["repository"]:
        return 2
    return 3 if this["repository"] is None or row["repository"] is None else None


def _bad(row: Row, links: Sequence[refs.Ref]) -> str | None:
    """Why a session is not good; None where it is."""
    if row["status"] != "ok":
        return {"open": "not ended", "damaged": "damaged"}.get(row["status"], f"ended {row['status']}")
    for link in links:
        if link.kind == "incident":
            return f"linked to {link.ref}"
        if link.kind == "shredded":
            return "its content was shredded"
    return None
