"""Which sessions a commit came from, and how that is known: from the surest to the weakest.

| how        | is |
|------------|----|
| `trailer`  | the commit's message names the session, anywhere, indented or not, however many it names |
| `note`     | a git note of the commit does |
| `link`     | somebody tied the session to it (`tacho link SES commit=…`), in the ledger |
| `recorded` | the session's record has this very commit |
| `tree`     | the session's record has a commit with the same tree: its message or its parents were changed since |
| `patch`    | the session's record has a commit with the same patch: it was picked or rebased since |
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from tachograph.core import trailers

from .git import Repository
from .sessions import Sessions


@dataclass(frozen=True)
class Origin:
    """A session that a commit came from. ``size`` and ``root``: of the seal, where one is named."""

    session_id: str
    how: str
    size: int | None = None
    root: str | None = None


class Origins:
    """Of the commits of a repository."""

    def __init__(self, repository: Repository, sessions: Sessions) -> None:
        self._repository = repository
        self._sessions = sessions

    @functools.cache  # noqa: B019 - as long as one command
    def of(self, sha: str) -> list[Origin]:
        """The sessions of a commit. What a session's record alone says is only looked for where nothing else is said."""
        found = [Origin(one.session_id, "trailer", one.size, one.root) for one in trailers.find(self._repository.message(sha))]
        found += [Origin(one.session_id, "note", one.size, one.root) for one in trailers.find(self._repository.notes(sha))]
        found += [Origin(session_id, "link") for session_id in self._sessions.linked_to("commit", sha)]
        if not found:
            found = self._recorded(sha)
        best: dict[str, Origin] = {}
        for one in found:
            best.setdefault(one.session_id, one)
        return list(best.values())

    def _recorded(self, sha: str) -> list[Origin]:
        if (exact := self._made.get(sha)) is not None:
            return [Origin(session_id, "recorded") for session_id in exact]
        if not self._made:
            return []
        if len(self._repository.parents(sha)) > 1:
            return []  # who merges has the tree of what he merges, and made none of it
        tree, patch = self._repository.tree(sha), self._repository.patch_id(sha)
        found = [Origin(session_id, "tree") for session_id in self._anchors.get(f"tree {tree}", ())] if tree else []
        return found or ([Origin(session_id, "patch") for session_id in self._anchors.get(f"patch {patch}", ())] if patch else [])

    @functools.cached_property
    def _made(self) -> dict[str, list[str]]:
        """The sessions that made a commit, by its id. Where the hook says who made it, nobody else did."""
        found: dict[str, dict[str, bool]] = {}
        for session_id in self._sessions.of(self._repository):
            for event in self._sessions.heads(session_id):
                if _makes(event.action) and event.sha:
                    found.setdefault(event.sha, {})[session_id] = event.cause == "made"
        return {sha: [one for one, made in by.items() if made or not any(by.values())] for sha, by in found.items()}

    @functools.cached_property
    def _anchors(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for session_id in sorted({one for sessions in self._made.values() for one in sessions}):
            for event in self._sessions.heads(session_id):
                if not _makes(event.action) or session_id not in self._made.get(event.sha or "", ()):
                    continue
                detail = event.detail
                for name in (f"tree {detail.get('tree')}", f"patch {detail.get('patch_id')}"):
                    if not name.endswith("None") and session_id not in found.setdefault(name, []):
                        found[name].append(session_id)
        return found


def _makes(action: str | None) -> bool:
    """Whether git's word for what happened to a head is that a new commit was made by whoever did it. A rebase or a pick makes others' again."""
    return (action or "").split(" ", 1)[0] in ("commit", "revert", "merge")
