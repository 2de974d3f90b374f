"""Where a value of a result was used: by an effect, or in an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.meaning.actions import Action, Reply
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.values import quoted

if TYPE_CHECKING:
    from tachograph.postmortem.case import Evidence


@dataclass(frozen=True, kw_only=True)
class Use:
    """Where a value was used."""

    what: Action | Reply
    value: str

    def evidence(self) -> Evidence:
        return self.what.cite(f"{self.value} was used")

    def words(self) -> str:
        return quoted(self.what.run.title, 100) if isinstance(self.what, Action) else f"the answer {said(self.what.text)}"
