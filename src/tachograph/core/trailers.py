"""The trailers that tie a commit to the sessions it came from.

    Agent-Session: ses_01J…
    Agent-Seal: ses_01J… 57:4f1c…

The seal is what ``tacho verify`` takes: session, number of lines, and the Merkle root over them when the commit was made. A squash indents the
messages that it joins, a person adds text behind them, and git itself then parses none or the last block only: they are found anywhere in a
message, all of them. The commit hook runs on any Python from 3.9 on: standard library alone.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # as type checkers know it: the hook pays for each module

if TYPE_CHECKING:
    from typing import Optional

SESSION, SEAL = "Agent-Session", "Agent-Seal"
_ID = r"ses_[0-7][0-9A-HJKMNP-TV-Z]{25}"
_LINE = re.compile(
    rf"^[ \t>*#-]{{0,40}}(?:{SESSION}:[ \t]{{0,20}}({_ID})|{SEAL}:[ \t]{{0,20}}({_ID})[ \t]{{1,20}}([1-9][0-9]{{0,18}}):([0-9a-f]{{64}}))[ \t\r]{{0,20}}$",
    re.IGNORECASE | re.MULTILINE,
)


class Named:
    """A session that a commit names, and its seal at that time where that is said, too. No dataclass: the hook is started for a commit, and pays
    for each module."""

    __slots__ = ("root", "session_id", "size")

    def __init__(self, session_id: str, size: "Optional[int]" = None, root: "Optional[str]" = None) -> None:
        self.session_id = session_id
        self.size = size
        self.root = root

    @property
    def lines(self) -> "list[str]":
        """As trailers."""
        seal = [f"{SEAL}: {self.session_id} {self.size}:{self.root}"] if self.size is not None else []
        return [f"{SESSION}: {self.session_id}", *seal]


def find(message: str) -> "list[Named]":
    """All sessions that a message names, in the order in which they come first; of several seals of one the longest."""
    found: "dict[str, Named]" = {}
    for match in _LINE.finditer(message):
        session_id = (match[1] or match[2]).upper().replace("SES_", "ses_", 1)
        known = found.setdefault(session_id, Named(session_id))
        if match[3] is not None and int(match[3]) > (known.size or 0):
            found[session_id] = Named(session_id, int(match[3]), match[4].lower())
    return list(found.values())


def without(message: str, session_ids: "set[str]") -> str:
    """A message without the trailers of these sessions, where they stand as trailers: not those of a squash, which are part of its text."""
    kept = []
    for line in message.split("\n"):
        match = _LINE.match(line)
        if match is None or line[:1] != "A" or (match[1] or match[2]) not in session_ids:
            kept.append(line)
    return "\n".join(kept)
