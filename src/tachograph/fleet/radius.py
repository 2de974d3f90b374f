"""Who else saw the same: from something that one session saw to all sessions that saw it, and to what each of them then did.

Equal contents have equal ids in all sessions of a store, so this needs no key, and opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import NotFoundError, UsageError

from .query import Query

#: Fields of content that an agent or a model saw, as against what a recorder writes for itself.
SEEN = ("output", "content", "prompt_redacted", "shown", "text", "detail")
#: What a tool did that stays.
LASTING = ("write", "external")
#: Questions with more keys are asked in parts.
_PART = 5000


@dataclass(frozen=True)
class Key:
    """``kind``: ``content`` (an id), ``prompt``, ``guardrail`` (``id@version``, or an id with any version), ``model``, or ``text`` (whose places a
    search has found). ``about``: where it came from, for people."""

    kind: str
    value: str
    about: str = ""


@dataclass
class After:
    """What a session did from its first sighting on: commits, links, lasting calls of tools, requests other than GET, commands."""

    commits: list[str] = field(default_factory=list)
    links: dict[str, list[str]] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    programs: dict[str, int] = field(default_factory=dict)


@dataclass
class Exposed:
    """A session that saw some of the keys (``saw``: by index, the first line that has it)."""

    session_id: str
    saw: dict[int, int] = field(default_factory=dict)
    started: Any = None
    status: str = ""
    name: str | None = None
    after: After = field(default_factory=After)

    @property
    def first(self) -> int:
        """The first line that has any of them."""
        return min(self.saw.values())


# -- from what was named to keys -----------------------------------------------------------------------------------------------


def keys_of_event(query: Query, session_id: str, named: str) -> list[Key]:
    """What one event shows: contents, and the versions of its prompt and guardrail. (A model is shared by so many sessions that it is asked
    for by name.) ``named``: its id, a unique part of one, or the number of its line."""
    event = _event(query, session_id, named)
    number, kind, name = event["seq"], event["type"], event["name"]
    where = f"#{number} {kind}" + (f" {name}" if name else "")
    found = [Key("content", content, f"{fieldname} of {where}") for content, fieldname in _contents(query, session_id, number)]
    for what in ("prompt", "guardrail"):
        if event[f"{what}_id"]:
            found.append(Key(what, _version(event[f"{what}_id"], event[f"{what}_version"]), where))
    if not found:
        raise UsageError(f"line {number} of {session_id}, a {kind}, shows nothing that another session could have seen; name one that does")
    return found


def keys_of_session(query: Query, session_id: str) -> list[Key]:
    """All that a session saw, each once."""
    sql = (
        "SELECT c.id, c.field, c.seq, c.type, e.name FROM contents c JOIN events e ON e.session_id = c.session_id AND e.seq = c.seq "
        "WHERE c.session_id = ? AND list_contains(?, c.field) ORDER BY c.seq"
    )
    found: dict[tuple[str, str], Key] = {}
    for content, fieldname, seq, kind, name in query.ask(sql, [session_id, list(SEEN)]).rows:
        found.setdefault(("content", content), Key("content", content, f"{fieldname} of #{seq} {kind}" + (f" {name}" if name else "")))
    for what in ("prompt", "guardrail"):
        sql = f"SELECT DISTINCT {what}_id, {what}_version FROM events WHERE session_id = ? AND {what}_id IS NOT NULL ORDER BY ALL"  # noqa: S608 - words of this file
        for name, version in query.ask(sql, [session_id]).rows:
            found.setdefault((what, _version(name, version)), Key(what, _version(name, version)))
    return list(found.values())


def content_id(text: str) -> str:
    """The id in ``content:<id>``, ``hmac-sha256:<id>`` or alone. Raises ``UsageError``."""
    name = text.removeprefix("content:").removeprefix("hmac-sha256:").lower()
    if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
        raise UsageError(f'not the id of content, {text[:80]!r}; it has 64 hexadecimal digits: tacho sql "FROM contents" shows them')
    return name


def _event(query: Query, session_id: str, named: str) -> dict[str, Any]:
    wanted = ("seq", "type", "id", "name", "prompt_id", "prompt_version", "guardrail_id", "guardrail_version")
    condition, value = (
        ("seq = ?", int(named)) if named.isdigit() and len(named) < 12 else ("contains(id, ?)", named.upper().replace("EVT_", "evt_"))
    )
    sql = f"SELECT {', '.join(wanted)} FROM events WHERE session_id = ? AND {condition} ORDER BY seq LIMIT 2"  # noqa: S608 - words of this file
    rows = query.ask(sql, [session_id, value]).rows
    if not rows:
        raise NotFoundError(f"no event {named[:60]} in {session_id}; tacho cat {session_id} shows their ids")
    if len(rows) > 1:
        raise UsageError(f"{named[:60]} could be several events of {session_id}; give more of the id, or the number of its line")
    return dict(zip(wanted, rows[0], strict=True))


def _contents(query: Query, session_id: str, seq: int) -> list[tuple[str, str]]:
    sql = "SELECT id, field FROM contents WHERE session_id = ? AND seq = ? AND list_contains(?, field) ORDER BY field"
    return [(content, fieldname) for content, fieldname in query.ask(sql, [session_id, seq, list(SEEN)]).rows]


def _version(name: str, version: str | None) -> str:
    return f"{name}@{version}" if version else name


# -- from keys to sessions --------------------------------------------------------------------------------------------------------


def exposed(query: Query, keys: Sequence[Key], places: Mapping[str, int] | None = None) -> list[Exposed]:
    """The sessions that saw any of these, the oldest first, with what each did then. ``places``: by session, the first line that holds the
    text, where one of the keys is a text."""
    found: dict[str, Exposed] = {}

    def saw(number: int, rows: Iterable[Sequence[Any]]) -> None:
        for session_id, seq in rows:
            found.setdefault(session_id, Exposed(session_id)).saw[number] = seq

    numbers = {key.value: number for number, key in enumerate(keys) if key.kind == "content"}
    contents = list(numbers)
    for at in range(0, len(contents), _PART):
        sql = "SELECT id, session_id, min(seq) FROM contents WHERE id IN (SELECT unnest(?)) GROUP BY ALL"
        part = contents[at : at + _PART]
        if len(part) == 1:
            sql, part = "SELECT id, session_id, min(seq) FROM contents WHERE id = ? GROUP BY ALL", part[0]  # type: ignore[assignment]
        for content, session_id, seq in query.ask(sql, [part]).rows:
            saw(numbers[content], [(session_id, seq)])
    for number, key in enumerate(keys):
        if key.kind == "model":
            saw(
                number,
                query.ask(
                    "SELECT session_id, min(seq) FROM events WHERE model_id = $1 OR served_model_id = $1 GROUP BY ALL", [key.value]
                ).rows,
            )
        elif key.kind in ("prompt", "guardrail"):
            saw(number, _versions(query, key))
        elif key.kind == "text":
            saw(number, (places or {}).items())
    if found:
        _about(query, found)
        _after(query, found)
    return sorted(found.values(), key=lambda one: one.session_id)


def _versions(query: Query, key: Key) -> list[tuple[Any, ...]]:
    name, version = f"{key.kind}_id", f"{key.kind}_version"
    sql = f"SELECT session_id, min(seq) FROM events WHERE {name} = $1 OR ({name} = $2 AND {version} = $3) GROUP BY ALL"  # noqa: S608 - words of this file
    whole, _, number = key.value.rpartition("@")
    return query.ask(sql, [key.value, whole, number]).rows


def _about(query: Query, found: dict[str, Exposed]) -> None:
    sql = "SELECT session_id, started, status, name FROM sessions WHERE session_id IN (SELECT unnest(?))"
    for session_id, started, status, name in query.ask(sql, [list(found)]).rows:
        one = found[session_id]
        one.started, one.status, one.name = started, status, name


def _after(query: Query, found: dict[str, Exposed]) -> None:
    firsts = [[one.session_id for one in found.values()], [one.first for one in found.values()]]
    sql = (
        "WITH seen AS (SELECT unnest($1) AS session_id, unnest($2) AS first) "
        "SELECT e.session_id, e.type, e.action, e.sha, e.name, e.effect, e.method, e.host, count(*) FROM events e JOIN seen USING (session_id) "
        "WHERE e.seq >= seen.first AND (e.type IN ('git', 'process', 'http') OR (e.type = 'tool_call' AND e.declared_id IS NULL AND list_contains($3, e.effect))) "
        "GROUP BY ALL ORDER BY ALL"
    )
    for session_id, kind, action, sha, name, _, method, host, count in query.ask(sql, [*firsts, list(LASTING)]).rows:
        after = found[session_id].after
        if kind == "git":
            if sha and (action or "").startswith("commit") and sha not in after.commits:
                after.commits.append(sha)
        elif kind == "tool_call":
            _count(after.tools, name, count)
        elif kind == "http" and (method or "").upper() not in ("GET", "HEAD", "OPTIONS"):
            _count(after.requests, f"{method} {host}", count)
        elif kind == "process" and action == "ran":
            _count(after.programs, name, count)
    sql = "SELECT session_id, kind, ref FROM links WHERE session_id IN (SELECT unnest(?)) AND kind NOT IN ('hold', 'shredded') ORDER BY ALL"
    for session_id, kind, ref in query.ask(sql, [list(found)]).rows:
        found[session_id].after.links.setdefault(kind, []).append(ref)


def _count(into: dict[str, int], name: str | None, count: int) -> None:
    into[name or "?"] = into.get(name or "?", 0) + count
