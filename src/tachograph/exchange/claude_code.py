"""Import of Claude Code's transcripts (``~/.claude/projects/<project>/<session id>.jsonl``).

One file may hold several sessions, and one session several files. Which record belongs to which session:

| the record | session (``source_id``) | parent |
|---|---|---|
| has ``sessionId`` | ``<sessionId>`` | the session it was forked from or continues (below) |
| … and ``agentId``, or stands in a file ``agent-<id>.jsonl`` | ``<sessionId>/<agentId>`` | ``<sessionId>`` |
| … and ``isSidechain`` without an ``agentId`` (before version 2) | ``<sessionId>/sidechain-<n>`` | ``<sessionId>`` |
| has no ``sessionId`` (bookkeeping), or is no record at all | that of the record before, or else of the first after it | |

A file ``<sid>/subagents/agent-<id>.jsonl`` whose records name themselves ``agent-<id>`` takes ``<sid>`` from its path. Without
any ``sessionId`` in the file, its name is the id.

*Inlined sidechains* are told apart by ``parentUuid``: a prompt without a parent begins a new one; where the links were never
written, any other record belongs to the sidechain that was written last.

*Forks* carry a copy of their parent's history. A copied record has ``forkedFrom``, or a ``uuid`` that another session of the same
file has already used; its events say so in ``extra.replayed_from`` and count no tokens. A session that hangs on another one's
records by ``parentUuid`` continues it. A copy without either mark, in a file of its own, cannot be told from the original.

What becomes of each record is the business of ``claude_code_session``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tachograph.core.errors import ImportFailedError

from . import jsonl
from .claude_code_records import Record, blocks, is_block, is_claude_code, is_record, text
from .claude_code_session import SessionDrafts
from .importing import HEAD, label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.core.drafts import ImportedSession

    from .jsonl import Piece

_AGENT_FILE = re.compile(r"(?:(?:^|[/\\])(?P<parent>[^/\\]+)[/\\]subagents[/\\]|^|[/\\])agent-(?P<agent>[^/\\]+)\.jsonl\Z")
#: The beginning of a first line that is longer than the head: only this client writes these names.
_LONG_FIRST_LINE = re.compile(rb'\A\s*\{"(?:parentUuid|isSidechain|leafUuid|type":"file-history-snapshot)"')

Key = tuple[str, str | None]


class ClaudeCodeImporter:
    """The importer (``tachograph.core.drafts.Importer``)."""

    name = "claude-code"

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the content decides, not the name
        """Whether any whole line of the head can only be Claude Code's."""
        found = list(jsonl.pieces(head, is_record=is_record))
        return any(is_claude_code(piece.value) for piece in found) or (
            len(found) == 1 and _LONG_FIRST_LINE.search(head.removeprefix(b"\xef\xbb\xbf")) is not None
        )

    def read(self, name: str, data: bytes) -> Iterator[ImportedSession]:
        """Every session of the file, in the order in which they begin."""
        split = _Split(name)
        known = False
        for piece in jsonl.pieces(data, is_record=is_record):
            known = known or is_claude_code(piece.value)
            split.add(piece)
        if not known and not self.recognises(name, data[:HEAD]):
            raise ImportFailedError(
                f"{label(name) or 'the file'} is no Claude Code transcript: no line of it is one of its records; "
                "name the right format, or leave the choice to `tacho import`"
            )
        file = {"name": re.split(r"[/\\]", name)[-1], "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for part in split.parts():
            drafts = SessionDrafts(part.source_id, parent=part.parent, agent_id=part.agent_id, file=file)
            yield drafts.build(part.records)


@dataclass
class _Part:
    """The records of one session."""

    source_id: str
    agent_id: str | None = None
    parent: str | None = None
    records: list[Record] = field(default_factory=list)


class _Split:
    """Deals the pieces of a file out to its sessions."""

    def __init__(self, name: str) -> None:
        found = _AGENT_FILE.search(name)
        self._file_agent = _id(found["agent"]) if found else None
        self._file_parent = _id(found["parent"]) if found else None
        self._file_id = _id(re.split(r"[/\\]", name)[-1].removesuffix(".jsonl")) or "unknown"
        self._parts: dict[Key, _Part] = {}
        self._keys: dict[str, Key] = {}  # of records by their uuid
        self._current: Key | None = None
        self._early: list[Record] = []  # before the first record that names its session
        self._sidechains: dict[str, int] = {}  # how many, by session

    def add(self, piece: Piece) -> None:
        record = Record(piece=piece)
        value = record.value
        named = _id(value.get("sessionId"))
        sid = named or (self._current[0] if self._current else None)
        if sid is None:
            self._early.append(record)
            return
        names_session = named is not None or text(value, "uuid") is not None
        key = self._key(sid, value) if names_session or self._current is None else self._current
        self._current = key
        self._append(key, record)

    def parts(self) -> list[_Part]:
        if self._early:  # nobody in this file says which session it is
            self._append((self._file_parent or self._file_id, self._file_agent if self._file_parent else None), None)
        return list(self._parts.values())

    def _append(self, key: Key, record: Record | None) -> None:
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = self._new_part(key)
        part.records += self._early
        self._early = []
        if record is None:
            return
        value = record.value
        uuid = text(value, "uuid")
        first = self._keys.setdefault(uuid, key) if uuid is not None else key
        stamp = value.get("forkedFrom")
        forked: dict[str, Any] = stamp if isinstance(stamp, dict) else {}
        origin = _id(forked.get("sessionId"))
        if origin is not None and origin != key[0]:
            replayed: dict[str, str | None] = {"session": origin, "uuid": label(forked.get("messageUuid", uuid))}
            record = Record(piece=record.piece, replayed=replayed)
        elif first[0] != key[0]:
            record = Record(piece=record.piece, replayed={"session": self._parts[first].source_id, "uuid": label(uuid)})
        if part.parent is None and key[1] is None:
            part.parent = origin if origin not in (None, key[0]) else self._continued(key, value)
        part.records.append(record)

    def _continued(self, key: Key, value: dict[str, Any]) -> str | None:
        """The session whose record this one follows, if that began before."""
        before = self._keys.get(text(value, "parentUuid") or text(value, "logicalParentUuid") or "")
        if before is None or before[0] == key[0] or before[1] is not None:
            return None
        order = list(self._parts)
        return self._parts[before].source_id if order.index(before) < order.index(key) else None

    def _new_part(self, key: Key) -> _Part:
        sid, agent = key
        if agent is None:
            return _Part(sid)
        if sid == f"agent-{agent}":
            parent = self._file_parent
            return _Part(f"{parent}/{agent}" if parent else sid, agent_id=agent, parent=parent)
        return _Part(f"{sid}/{agent}", agent_id=agent, parent=sid)

    def _key(self, sid: str, value: dict[str, Any]) -> Key:
        agent = _id(value.get("agentId")) or self._file_agent
        if agent is None and value.get("isSidechain") is True:
            return self._sidechain(sid, value)
        return sid, agent

    def _sidechain(self, sid: str, value: dict[str, Any]) -> Key:
        parent = text(value, "parentUuid")
        before = self._keys.get(parent or "")
        if before is not None and before[0] == sid and before[1] is not None:
            return before
        said = blocks(value.get("message"))
        prompt = value.get("type") == "user" and not any(is_block(block, "tool_result") for block in said or ())
        number = self._sidechains.get(sid, 0)
        if number == 0 or before is not None or (prompt and parent is None):
            number += 1
        self._sidechains[sid] = number
        return sid, f"sidechain-{number}"


def _id(value: Any) -> str | None:
    """The id of a session or an agent, as it may stand in the envelope."""
    return label(value, 120)
