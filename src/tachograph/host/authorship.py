"""What a session that is being recorded has written so far, as far as a commit hook must know: by the names of lines, not by their text.

Three strengths. ``said``: the line stands in what the model said, so this session wrote it, whoever saved it. ``call``: it appeared in a file
during a call of this session, which a person or another session at work in the same folder can have caused as well. What changed outside of any
call is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tachograph.core import authored

#: Lines that are kept in mind. An agent that writes more is known by these.
MOST = 1_000_000


class Authorship:
    """Of one session."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._call: set[str] = set()

    def said(self, output: Any) -> None:
        """A model's answer, or the input of a tool."""
        for text in authored.written(output):
            self._keep(self._said, authored.keys(text))

    def changed(self, changes: dict[str, Any] | None) -> None:
        """What a call changed in the workspace (``Watcher.look``)."""
        for change in (changes or {}).get("changes", ()):
            after, before = change.get("after"), change.get("before")
            if isinstance(after, str):
                there = set(authored.keys(before)) if isinstance(before, str) else set()
                self._keep(self._call, (name for name in authored.keys(after) if name not in there))

    def claims(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Which of these lines are this session's."""
        asked = set(names)
        said = asked & self._said
        return {"said": sorted(said), "call": sorted((asked & self._call) - said)}

    @staticmethod
    def _keep(known: set[str], names: Iterable[str]) -> None:
        for name in names:
            if len(known) >= MOST:
                return
            known.add(name)
