"""What a verifier is given, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

SEVERITY = ("verified", "unsealed", "torn", "missing", "tampered")


class Source(Protocol):
    """All that the verifier asks of a store."""

    def read(self, name: str, *, limit: int | None = None) -> bytes: ...
    def names(self, prefix: str) -> Any: ...


@dataclass(frozen=True)
class Anchor:
    """What somebody else says of a log: its first ``size`` lines have the Merkle root ``root`` (hex). ``by``: who, for people."""

    size: int
    root: str
    by: str


@dataclass
class Verification:
    """The outcome. ``sealed``: lines covered by the newest good seal; ``declared``: every torn or unsealed tail is declared by the log
    itself; ``ended``: the last line that is no gap is ``session_end`` (a log cut exactly behind one of its seals, and rid of all later ones, is
    whole in itself: only this, the ledger, or a later seal kept elsewhere, tells); ``root``: the Merkle root over all lines, hex;
    ``first``: the fields of the first line."""

    session_id: str
    verdict: str = "verified"
    events: int = 0
    sealed: int = 0
    declared: bool = True
    ended: bool = False
    content: str = "not checked"
    root: str = ""
    first: dict[str, Any] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)

    def problem(self, check: str, file: str, offset: int, what: str, verdict: str = "tampered") -> None:
        self.problems.append({"check": check, "file": file, "offset": offset, "what": what})
        self.verdict = max(self.verdict, verdict, key=SEVERITY.index)

    @property
    def good(self) -> bool:
        """Whether the answer is yes: verified, or torn or unsealed where the log itself says so."""
        return self.verdict == "verified" or (self.verdict in ("torn", "unsealed") and self.declared)

    def to_json(self) -> dict[str, Any]:
        """The shape of DESIGN §9."""
        return {
            "session_id": self.session_id,
            "verdict": self.verdict,
            "events": self.events,
            "sealed": self.sealed,
            "unsealed": self.events - self.sealed,
            "ended": self.ended,
            "content": self.content,
            "root": self.root,
            "problems": self.problems,
        }
