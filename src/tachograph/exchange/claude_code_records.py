"""The vocabulary of Claude Code's transcripts: which records there are, and how to read one without trusting it.

The format has no specification; it is an append-only file per conversation, ``<project>/<session id>.jsonl``, one JSON object per
line, told apart by ``type``. What is listed here was seen in transcripts of versions 1.0 to 2.1. A type that is not listed is no
error: the importer keeps the record and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .jsonl import Piece

#: Records of the client's own bookkeeping. They say nothing to the model; each becomes a note of that name.
BOOKKEEPING = frozenset(
    {
        "agent-color", "agent-name", "agent-setting", "ai-title", "attachment", "attribution-snapshot", "bridge-session",
        "content-replacement", "custom-title", "file-history-delta", "file-history-snapshot", "frame-link", "last-prompt",
        "marble-origami-commit", "marble-origami-snapshot", "mode", "permission-mode", "pr-link", "progress", "queue-operation",
        "speculation-accept", "summary", "tag", "task-summary", "worktree-state",
    }
)  # fmt: skip

#: ``subtype`` of ``system`` records. None: the older form, which has only ``content`` and ``level``.
SYSTEM_SUBTYPES = frozenset(
    {
        None, "agents_killed", "api_error", "api_metrics", "away_summary", "bridge_status", "compact_boundary", "informational",
        "init", "local_command", "memory_saved", "microcompact_boundary", "model_refusal_fallback", "permission_retry",
        "scheduled_task_fire", "stop_hook_summary", "turn_duration",
    }
)  # fmt: skip

TYPES = BOOKKEEPING | {"user", "assistant", "system"}

#: Keys of which every record has at least one; content blocks and tool inputs, which may also have a ``type``, have none.
_IDENTITY = frozenset({"leafUuid", "messageId", "parentUuid", "sessionId", "timestamp", "uuid"})

SYNTHETIC = "<synthetic>"
"""``message.model`` of what the client itself wrote in the model's place."""

INTERRUPTED = "[Request interrupted by user"

#: How a tool result begins when the tool was not allowed to run, and who said so.
REFUSALS = (
    ("The user doesn't want to proceed with this tool use.", "user"),
    ("The user doesn't want to take this action right now.", "user"),
    ("Claude requested permissions to ", "policy"),
    ("Permission to use ", "policy"),
)

#: How a user record begins that holds no free text of the user's: its role and subtype as a message.
_ENVELOPES = (
    (INTERRUPTED, "user", "interrupted"),
    ("<command-name>", "user", "command"),
    ("<command-message>", "user", "command"),
    ("<bash-input>", "user", "bash_input"),
    ("<bash-stdout>", "system", "bash_output"),
    ("<bash-stderr>", "system", "bash_output"),
    ("<local-command-stdout>", "system", "local_command"),
    ("<local-command-stderr>", "system", "local_command"),
    ("<local-command-caveat>", "system", "local_command"),
    ("<task-notification>", "system", "task_notification"),
)

_COMMIT_COMMAND = re.compile(r"\bgit\b[^\n;|&]*\bcommit\b")
_COMMITTED = re.compile(r"^\[(?:detached HEAD|(?P<branch>[^\s\]]{1,255}))(?: \(root-commit\))? (?P<sha>[0-9a-f]{7,64})\]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A piece of the file and what the importer knows about its surroundings: ``replayed`` names the session that it was copied
    from, and its id there."""

    piece: Piece
    replayed: dict[str, str | None] | None = None

    @property
    def value(self) -> dict[str, Any]:
        """The record; empty for a piece that is none."""
        return self.piece.value if isinstance(self.piece.value, dict) else {}


#: The place of an event that no record stands for.
NOWHERE = Record(piece=Piece(offset=0, line=0, raw=b"", readable=False))


def is_record(value: dict[str, Any]) -> bool:
    """Whether an object found in a damaged line is a record, not something nested in one."""
    return text(value, "type") in TYPES and not _IDENTITY.isdisjoint(value)


def is_claude_code(value: Any) -> bool:
    """Whether a line's value can only have been written by Claude Code. Gemini CLI and others share ``type: "user"``; the Agent
    SDK's stream shares ``message``, but calls the session ``session_id``."""
    if not isinstance(value, dict) or "session_id" in value:
        return False
    kind = text(value, "type")
    if kind in ("user", "assistant"):
        message = value.get("message")
        return isinstance(message, dict) and "content" in message and not _IDENTITY.isdisjoint(value)
    if kind == "summary":
        return "leafUuid" in value
    if kind == "file-history-snapshot":
        return "snapshot" in value
    return kind in TYPES and "sessionId" in value


def text(value: dict[str, Any], key: str) -> str | None:
    """``value[key]`` where it is a string that is not empty."""
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def blocks(message: Any) -> list[Any] | None:
    """The content blocks of a message; a plain string is one text block. None where there is no message or no content."""
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else None


def is_block(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def plain(content: Any) -> str:
    """The text in a string or a list of blocks; empty where there is none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = (item.get("text") for item in content if is_block(item, "text"))
    return "\n".join(item for item in found if isinstance(item, str))


def spoken(record: dict[str, Any], content: Any) -> tuple[str, str | None]:
    """Role and subtype of what a user record says besides tool results. The API calls all of it ``user``; here only what a user
    said keeps that role."""
    if record.get("isCompactSummary") is True:
        return "system", "compaction"
    said = plain(content).lstrip()
    for start, role, subtype in _ENVELOPES:
        if said.startswith(start):
            return role, subtype
    return ("system", "meta") if record.get("isMeta") is True else ("user", None)


def refused_by(content: Any) -> str | None:
    """Who refused a tool call, read from its result."""
    said = plain(content).lstrip()
    return next((who for start, who in REFUSALS if said.startswith(start)), None)


def commits(name: str, tool_input: Any, output: Any) -> list[tuple[str | None, str]]:
    """(branch, abbreviated SHA) of each commit that a shell command made, from what ``git commit`` printed. Empty unless the
    command itself says ``git commit``: printed text alone is no evidence."""
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if name != "Bash" or not isinstance(command, str) or not _COMMIT_COMMAND.search(command):
        return []
    return [(found["branch"], found["sha"]) for found in _COMMITTED.finditer(plain(output))]
