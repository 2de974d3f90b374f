"""What a Claude Code session is about: its name, its branch, and the facts that its records repeat on every line."""

from __future__ import annotations

from typing import Any

from .claude_code_records import text
from .importing import label

#: Fields of records and the names they have among the facts.
_FACTS = (
    ("cwd", "cwd"),
    ("version", "version"),
    ("userType", "user_type"),
    ("entrypoint", "entrypoint"),
    ("slug", "slug"),
    ("permissionMode", "permission_mode"),
    ("attributionAgent", "agent_type"),
)

#: Records that name the session, the best first: what the user called it, what the model called it.
_TITLES = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("agent-name", "agentName"))


class About:
    """Collects as records go by."""

    def __init__(self) -> None:
        self.first_branch: str | None = None
        self._branch: str | None = None
        self._facts: dict[str, dict[str, None]] = {}
        self._titles: dict[str, str] = {}
        self._summaries: list[tuple[str | None, str | None]] = []

    def learn(self, record: dict[str, Any]) -> str | None:
        """Takes a record; returns the branch where it is another one than before."""
        for key, fact in _FACTS:
            found = text(record, key)
            if found is not None:
                self._facts.setdefault(fact, {})[found] = None
        kind = record.get("type")
        for title, key in _TITLES:
            if kind == title and text(record, key):
                self._titles[title] = record[key]
        if kind == "summary":
            self._summaries.append((text(record, "leafUuid"), text(record, "summary")))
        branch = label(record.get("gitBranch"))
        if branch is None or branch == self._branch:
            return None
        before, self._branch = self._branch, branch
        self.first_branch = self.first_branch or branch
        return branch if before is not None else None

    def name(self, known: dict[str, str]) -> str | None:
        """The session's title, if it has one. ``known`` holds the ids of its records: earlier versions put summaries of *other*
        conversations at the head of a file, told apart by the record that they summarise."""
        titles = [self._titles.get(title) for title, _ in _TITLES]
        titles += [summary for leaf, summary in reversed(self._summaries) if leaf in known]
        return next((name for name in (label(title, 120) for title in titles) if name), None)

    def first(self, fact: str) -> str | None:
        """The first value of a fact, fit for the envelope."""
        return label(next(iter(self._facts.get(fact, {})), None))

    def facts(self) -> dict[str, Any]:
        """All facts; one that changed on the way has all its values under ``all_…``."""
        found: dict[str, Any] = {}
        for fact, values in self._facts.items():
            found[fact] = next(iter(values))
            if len(values) > 1:
                found[f"all_{fact}"] = list(values)
        return found
