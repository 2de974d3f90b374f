"""Which sessions are meant: conditions on their rows, the same with a catalogue and without."""

from __future__ import annotations

import datetime
import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.links import refs
from tachograph.links.refs import Ref

_AGO = re.compile(r"([1-9][0-9]{0,5})([mhdw])\Z")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SHA = re.compile(r"[0-9a-f]{4,64}\Z")
OUTCOMES = ("ok", "error", "killed", "lost", "stopped", "imported", "open", "damaged")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Names may have ``*`` and ``?``. Times in milliseconds since 1970 UTC; a session is of the time at which it started. Of what is given
    all must hold."""

    name: str | None = None
    agent: str | None = None
    model: str | None = None
    prompt: str | None = None
    guardrail: str | None = None
    tool: str | None = None
    repo: str | None = None
    sha: str | None = None
    pr: str | None = None
    deploy: str | None = None
    incident: str | None = None
    ci: str | None = None
    outcome: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    min_cost: float | None = None
    max_cost: float | None = None

    def any(self) -> bool:
        """Whether anything is asked at all."""
        return any(getattr(self, name) not in (None, ()) for name in self.__dataclass_fields__)

    def matches(self, row: Mapping[str, Any], links: Sequence[Ref], cost: float | None) -> bool:
        """``row``: of the table ``sessions``; ``links``: those in force. What something cost that has no known price is neither more nor
        less than any sum."""
        for asked, key in ((self.name, "name"), (self.agent, "agent")):
            if asked is not None and not _like(asked, [row.get(key) or ""]):
                return False
        for asked, key in ((self.model, "models"), (self.guardrail, "actions"), (self.tool, "tools")):
            if asked is not None and not _like(asked, list(row.get(key) or {})):
                return False
        if self.prompt is not None and not _prompt(self.prompt, row.get("prompts") or []):
            return False
        if self.repo is not None and not _repository(self.repo, row):
            return False
        if self.sha is not None and not _commit(self.sha, row, links):
            return False
        for kind in ("pr", "deploy", "incident", "ci"):
            asked = getattr(self, kind)
            if asked is not None and not any(refs.matches(link, f"{kind}={asked}") for link in links):
                return False
        if self.outcome and row.get("status") not in self.outcome:
            return False
        started = row.get("started")
        if (self.since is not None or self.until is not None) and (
            started is None or (self.since is not None and started < self.since) or (self.until is not None and started >= self.until)
        ):
            return False
        if self.min_cost is not None or self.max_cost is not None:
            return cost is not None and (self.min_cost or 0.0) <= cost and (self.max_cost is None or cost <= self.max_cost)
        return True


def commit_of(text: str) -> str:
    """A commit, or its first digits. Raises ``UsageError``."""
    if not _SHA.match(text.lower()):
        raise UsageError(f"not a commit, {text[:70]!r}; give at least the first 4 digits of its id")
    return text.lower()


def time_of(text: str, now: int) -> int:
    """``2026-09-11``, ``2026-09-11T07:12``, with or without a zone (UTC), or how long ago: ``90m``, ``12h``, ``7d``, ``2w``. Raises
    ``UsageError``."""
    if (match := _AGO.match(text)) is not None:
        return now - int(match[1]) * _UNITS[match[2]] * 1000
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"not a time, {text[:40]!r}; write 2026-09-11, 2026-09-11T07:12, or how long ago: 90m, 12h, 7d, 2w") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return round(moment.timestamp() * 1000)


def _like(asked: str, names: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, asked) for name in names)


def _prompt(asked: str, prompts: Sequence[str]) -> bool:
    """``P@V`` is that version, ``P`` any of them. An id may have an ``@`` of its own."""
    return any(fnmatch.fnmatchcase(name, asked) or fnmatch.fnmatchcase(name.rpartition("@")[0], asked) for name in prompts)


def _repository(asked: str, row: Mapping[str, Any]) -> bool:
    repository, url = row.get("repository") or "", row.get("repo_url") or ""
    wanted = refs.repository(asked) or asked.strip("/").removesuffix(".git")
    return repository == wanted or repository.endswith("/" + wanted) or url == asked or fnmatch.fnmatchcase(repository, wanted)


def _commit(asked: str, row: Mapping[str, Any], links: Sequence[Ref]) -> bool:
    named = [*(row.get("shas") or []), *(link.ref for link in links if link.kind == "commit")]
    return any(sha.startswith(asked) for sha in named)
