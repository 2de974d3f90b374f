"""All triggers of a policy, and the best matcher at hand.

A new index starts with the matcher that needs no preparation. ``compile`` (slow, may run in a thread) or ``load`` (fast, from what an earlier
``compile`` gave) puts Hyperscan in its place. Nobody who scans has to know: findings are the same.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from tachograph.redact.prefilter.engines import AhoCorasick, Engine, Hyperscan, Plain, compiled, module
from tachograph.redact.prefilter.trigger import Trigger

#: Raised when a database is made in another way from the same triggers.
_SCHEME = 1


class Index:
    """Triggers, shared by everybody who scans for them."""

    def __init__(self, triggers: Sequence[Trigger]) -> None:
        self.triggers = tuple(triggers)
        self._database: Any = None

    @property
    def ready(self) -> bool:
        """Whether the fast matcher is in place."""
        return self._database is not None

    @cached_property
    def name(self) -> str:
        """32 hex digits for the triggers, the matcher's version and this kind of machine: where ``compile``'s bytes may be loaded again.
        Empty where there is no fast matcher."""
        hs = module("hyperscan")
        if hs is None:
            return ""
        parts = (_SCHEME, hs.__version__, platform.system(), platform.machine(), platform.python_version(), self.triggers)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    def compile(self) -> bytes:
        """Puts the fast matcher in place and gives what ``load`` takes; empty where there is none."""
        hs = module("hyperscan")
        if hs is None:
            return b""
        database = compiled(self.triggers)
        self._database = database
        return bytes(hs.dumpb(database))

    def load(self, data: bytes) -> bool:
        """Puts the fast matcher in place from what ``compile`` gave; False where that does not fit this machine or this version.

        The library trusts these bytes: give it only what is known to be unchanged."""
        hs = module("hyperscan")
        if hs is None:
            return False
        try:
            self._database = hs.loadb(data, hs.HS_MODE_BLOCK)
        except hs.HyperscanError:
            return False
        return True

    def engine(self, before: Engine | None) -> Engine:
        """The best matcher now, for one user: ``before`` where that is still the best."""
        if isinstance(before, Hyperscan):
            return before
        if self._database is not None:
            return Hyperscan(self.triggers, self._database)
        return before or self._simple

    @cached_property
    def _simple(self) -> Engine:
        return AhoCorasick(self.triggers) if module("ahocorasick_rs") is not None else Plain(self.triggers)
