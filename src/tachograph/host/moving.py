"""The ``git`` events of a session: what happened to the repository's heads while it was recorded, and what says that the session did it."""

from __future__ import annotations

import collections
from collections.abc import Iterator

from tachograph.core import trailers
from tachograph.core.drafts import Draft
from tachograph.core.events import Git
from tachograph.redact.engine import Redactor

from .git_watch import Move
from .workspace import Watcher


class Moving:
    """Of one session."""

    def __init__(self, watcher: Watcher, redactor: Redactor, session_id: str) -> None:
        self._watcher = watcher
        self._redactor = redactor
        self._session_id = session_id
        self._sealed: set[int] = set()

    def sealed(self, size: int, *, maker: bool) -> None:
        """A commit hook was given the seal at this length; ``maker``: because a process of this session commits."""
        if maker:
            self._sealed.add(size)

    def drafts(self, lane: str | None, call: str | None) -> Iterator[Draft]:
        """What happened since the last look: during ``call``, if that is named. Commits that name other sessions and not this one are theirs."""
        for move in self._watcher.moves():
            named = {one.session_id: one for one in trailers.find(move.message)}
            mine = named.get(self._session_id)
            if named and mine is None and move.action.startswith("commit"):
                continue
            made = mine is not None and mine.size in self._sealed
            yield self._draft(move, lane, call, "made" if made else "call" if call is not None else "seen")

    def _draft(self, move: Move, lane: str | None, call: str | None, cause: str) -> Draft:
        tally: collections.Counter[str] = collections.Counter()
        branch = self._redactor.document(move.branch, tally)
        paths = [self._watcher.name(path, tally) for path in move.paths]
        event = Git(
            lane=lane, parent_id=call, sha=move.new, previous=move.old, branch=branch, action=move.action, cause=cause,
            redactions=tally.total(), redacted_kinds=dict(sorted(tally.items())),
        )  # fmt: skip
        detail = {"tree": move.tree, "parents": list(move.parents), "patch_id": move.patch_id, "paths": paths}
        return Draft(event=event, contents={"detail_uri": detail} if move.tree is not None else {})
