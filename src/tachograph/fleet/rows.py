"""The rows of one session, from its lines alone: no key is needed, and no content is opened.

A line that others wrote may hold anything: a value that does not fit its column becomes null there, and nothing fails. A session that
cannot be read on is read up to there, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from tachograph.core.errors import FormatError, NotFoundError, StoreError
from tachograph.core.ports import Store
from tachograph.format import canonical, layout, line, torn
from tachograph.links import refs
from tachograph.log.reader import lines_of, parsed, segments, valid_lines

Row = dict[str, Any]
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass
class Rows:
    """Of the tables ``sessions``, ``events`` and ``contents``. ``settled``: it has an end."""

    session: Row
    events: list[Row] = field(default_factory=list)
    contents: list[Row] = field(default_factory=list)
    settled: bool = False


def read(store: Store, session_id: str, size: int = 0, *, only_session: bool = False) -> Rows:
    """The rows of a session. ``size``: of its files, as they were listed before; ``only_session``: no rows of its events."""
    found = _Reading(session_id, size, only_session)
    try:
        for _, fields in lines(store, session_id, found.damaged):
            found.take(fields)
    except (FormatError, NotFoundError, StoreError) as error:
        found.damaged(str(error))
    return found.done()


def lines(store: Store, session_id: str, damaged: Callable[[str], None]) -> Iterator[tuple[int, Row]]:
    """(segment, line), as ``log.reader.Recording`` reads them. A tail that a writer may be about to finish is nothing to speak of."""
    numbers = segments(store, session_id)
    if numbers != list(range(1, len(numbers) + 1)):
        damaged(f"a segment is missing, {store.url}/{layout.session(session_id)}; run tacho verify {session_id}")
        return
    previous = line.genesis(session_id)
    for segment, data, void in lines_of(store, session_id, numbers):
        name, at = f"{store.url}/{layout.events(session_id, segment)}", 0
        for offset, raw, digest in valid_lines(previous, data):
            yield segment, parsed(raw, f"{name} offset {offset}")
            previous, at = digest, offset + len(raw)
        if at < len(data) and (void or not torn.torn_line(data, at)):
            damaged(f"the chain breaks at {name} offset {at}; run tacho verify {session_id}")
            return


class _Reading:
    def __init__(self, session_id: str, size: int, only_session: bool) -> None:
        self._rows = Rows({"session_id": session_id, "status": "open", "bytes": size, "events": 0, "redactions": 0, "calls": {}})
        self._only = only_session
        self._models: Counter[str] = Counter()
        self._actions: Counter[str] = Counter()
        self._tools: Counter[str] = Counter()
        self._effects: Counter[str] = Counter()
        self._usage: dict[tuple[str, str, str], dict[str, int]] = {}
        self._prompts: set[str] = set()
        self._guardrails: set[str] = set()
        self._shas: dict[str, None] = {}
        self._last: Any = None

    def damaged(self, why: str) -> None:
        self._rows.session |= {"status": "damaged", "problem": why}

    def take(self, fields: Row) -> None:
        kind, session = fields.get("type"), self._rows.session
        session["events"] += 1
        self._last = fields.get("ts")
        if type(masked := fields.get("redactions")) is int:
            session["redactions"] += masked
        summary = _SUMMARIES.get(kind) if isinstance(kind, str) else None
        if summary is not None:
            summary(self, fields)
        if self._only:
            return
        seq, session_id = fields["seq"], session["session_id"]
        row: Row = {"session_id": session_id, "seq": seq, "ts": self._last, "type": kind}
        for name, value in fields.items():
            if name in _PLAIN:
                row[name] = value
            # What came over the wire holds its own timing, so no two of them are equal.
            elif name[-4:] == "_uri" and name != "wire_uri" and isinstance(value, str) and value[:8] == "content:":
                self._rows.contents.append({"id": value[8:], "session_id": session_id, "seq": seq, "type": kind, "field": name[:-4]})
        if kind in _DETAILS:
            _DETAILS[kind](row, fields)
        if kind in _CALLS:
            row.setdefault("outcome", "ok")
        self._rows.events.append(row)

    def done(self) -> Rows:
        found = self._rows
        found.session |= {
            "last": self._last, "models": dict(self._models), "actions": dict(self._actions), "tools": dict(self._tools),
            "effects": dict(self._effects), "prompts": sorted(self._prompts), "guardrails": sorted(self._guardrails),
            "shas": list(self._shas), "usage": _dumped([dict(zip(("provider", "model_id", "served_model_id"), by, strict=True)) | used for by, used in sorted(self._usage.items())]),
            **{name: sum(used.get(name, 0) for used in self._usage.values()) for name in _TOKENS},
        }  # fmt: skip
        return found

    # -- what a session's row takes from its lines ---------------------------------------------------------------------------

    def _start(self, fields: Row) -> None:
        session = self._rows.session
        for name in ("name", "agent", "repo_url", "repo_sha", "branch", "dirty", "recorder", "policy", "parent_session_id"):
            session[name] = fields.get(name)
        session |= {"started": fields.get("ts"), "source": fields.get("source", "record"), "given_links": fields.get("links", [])}
        if fields.get("forked_from"):
            session["forked_from"] = _dumped(fields["forked_from"])
        url = session["repo_url"]
        session["repository"] = refs.repository(url) if isinstance(url, str) else None
        self._sha(fields.get("repo_sha"))

    def _model_call(self, fields: Row) -> None:
        self._models[_text(fields.get("served_model_id")) or _text(fields.get("model_id")) or "?"] += 1
        by = _text(fields.get("provider")), _text(fields.get("model_id")), _text(fields.get("served_model_id"))
        used, usage = self._usage.setdefault(by, {}), fields.get("usage")
        if isinstance(usage, dict):
            for name in _TOKENS:
                if type(usage.get(name)) is int:
                    used[name] = used.get(name, 0) + usage[name]
        if named := version_of(fields.get("prompt")):
            self._prompts.add(named)
        if named := version_of(fields.get("guardrail")):
            self._guardrails.add(named)
        self._sha(fields.get("repo_sha"))

    def _tool_call(self, fields: Row) -> None:
        # What was declared is seen on the wire, too: one run counts once.
        if fields.get("declared_id") is None and (name := _text(fields.get("name"))):
            self._tools[name] += 1
            if effect := _text(fields.get("effect")):
                self._effects[effect] += 1

    def _guardrail(self, fields: Row) -> None:
        if action := _text(fields.get("action")):
            self._actions[action] += 1
        if named := version_of({"id": fields.get("guardrail_id"), "version": fields.get("version")}):
            self._guardrails.add(named)

    def _git(self, fields: Row) -> None:
        self._sha(fields.get("sha"))

    def _end(self, fields: Row) -> None:
        self._rows.settled = True
        self._rows.session |= {
            "status": fields.get("status", "ok"), "exit_code": fields.get("exit_code"), "duration_ms": fields.get("duration_ms"),
            "calls": fields.get("calls", {}),
        }  # fmt: skip

    def _sha(self, sha: object) -> None:
        if isinstance(sha, str) and sha:
            self._shas[sha] = None


def version_of(named: object) -> str | None:
    """``id@version`` of a prompt or a guardrail, ``id`` where it has no version."""
    if not isinstance(named, dict) or not (name := _text(named.get("id"))):
        return None
    version = named.get("version")
    return f"{name}@{version}" if isinstance(version, (str, int)) and not isinstance(version, bool) and version != "" else name


def _dumped(value: Any) -> str | None:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates, numbers beyond 64 bits
        return canonical.dumps_ordered(value).decode()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# -- what an event's row takes from its line ---------------------------------------------------------------------------------------

#: Fields that have a column of their own name.
_PLAIN = frozenset((
    "id", "parent_id", "lane", "outcome", "duration_ms", "site", "name", "kind", "source", "effect", "call_id", "asked_by", "told_to",
    "declared_id", "provider", "operation", "model_id", "served_model_id", "guardrail_id", "action", "finish_reason", "sha", "branch",
    "method", "host", "exit_code", "decision", "approver", "reason", "redactions",
))  # fmt: skip
_CALLS = ("model_call", "tool_call", "http", "process")


def _of_model_call(row: Row, fields: Row) -> None:
    prompt, guardrail, usage, params = (fields.get(name) for name in ("prompt", "guardrail", "usage", "params"))
    if isinstance(prompt, dict):
        row |= {"prompt_id": prompt.get("id"), "prompt_version": _version(prompt)}
    if isinstance(guardrail, dict):
        row |= {"guardrail_id": guardrail.get("id"), "guardrail_version": _version(guardrail), "action": guardrail.get("action")}
    if isinstance(usage, dict):
        for name in _TOKENS:
            row[name] = usage.get(name)
    if params:
        row["params"] = _dumped(params)
    row |= {"sha": fields.get("repo_sha"), "status": _status(fields)}


def _of_start(row: Row, fields: Row) -> None:
    row |= {"sha": fields.get("repo_sha"), "source": fields.get("source", "record")}


def _of_guardrail(row: Row, fields: Row) -> None:
    row["guardrail_version"] = _version(fields)


def _of_status(row: Row, fields: Row) -> None:
    row["status"] = _status(fields)


def _of_end(row: Row, fields: Row) -> None:
    row["status"] = fields.get("status", "ok")


def _of_process(row: Row, fields: Row) -> None:
    row["name"] = fields.get("program")


def _of_tool_call(row: Row, fields: Row) -> None:
    row["source"] = fields.get("source", "declared")


def _version(named: Row) -> str | None:
    version = named.get("version")
    return str(version) if isinstance(version, (str, int)) and not isinstance(version, bool) else None


def _status(fields: Row) -> str | None:
    status = fields.get("status")
    return str(status) if type(status) is int else None


_SUMMARIES: dict[str, Callable[[_Reading, Row], None]] = {
    "session_start": _Reading._start, "model_call": _Reading._model_call, "tool_call": _Reading._tool_call,
    "guardrail": _Reading._guardrail, "git": _Reading._git, "session_end": _Reading._end,
}  # fmt: skip
_DETAILS: dict[Any, Callable[[Row, Row], None]] = {
    "session_start": _of_start, "model_call": _of_model_call, "guardrail": _of_guardrail, "http": _of_status, "session_end": _of_end,
    "process": _of_process, "tool_call": _of_tool_call,
}  # fmt: skip
