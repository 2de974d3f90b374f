"""What is in force here and was not in the last good session, each with the event by which it came in and the words that it is about.

One file for each kind of thing: prompts and tools (``changes_texts.py``), models, parameters and guardrails (``changes_calls.py``), the agent's code and
its surroundings (``changes_code.py``). ``changed.py`` says which of them explains what came of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tachograph.postmortem.case import Evidence


@dataclass(frozen=True, kw_only=True)
class Found:
    """``cause``: the class; ``what``: as a clause; ``event_id`` and ``seq``: where it came in; ``evidence``: what shows it. ``about``: the stems of what
    differs; ``tools``: the tools concerned. ``weight``: how often such a change is what did it, by itself, between 0 and 1.
    ``texts``: the sentences that are gone, and those that came, of a text. ``container``: it stands for whatever it brought (a commit), which may be
    among the others."""

    cause: str
    what: str
    event_id: str
    seq: int
    evidence: tuple[Evidence, ...]
    about: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    weight: float = 0.5
    texts: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    container: bool = False
