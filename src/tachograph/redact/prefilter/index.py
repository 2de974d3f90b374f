"""All triggers of a policy, and the best matcher at hand.

A new index starts with the matcher that needs no preparation. ``compile`` (slow, may run in a thread) or ``load`` (fast, from what an earlier
``compile`` gave) puts Hyperscan in its place. Nobody who scans has to know: findings are the same.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from functools import cached_property

from tachograph.redact.prefilter.engines import AhoCorasick, Databases, Engine, Hyperscan, Plain, compiled, module
from tachograph.redact.prefilter.trigger import Trigger

#: Raised when a database is made in another way from the same triggers.
_SCHEME = 3
#: Bytes of the length of a database, which stands before it.
_LENGTH = 8


def _split(data: bytes) -> Iterator[bytes]:
    """The databases out of what ``compile`` gave; raises ValueError for anything else."""
    if not data:
        raise ValueError("nothing")
    while data:
        end = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
        if len(data) < end:
            raise ValueError("cut off")
        yield data[_LENGTH:end]
        data = data[end:]


class Index:
    """Triggers, shared by everybody who scans for them."""

    def __init__(self, triggers: Sequence[Trigger]) -> None:
        self.triggers = tuple(triggers)
        self._databases: Databases | None = None

    @property
    def ready(self) -> bool:
        """Whether the fast matcher is in place."""
        return self._databases is not None

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
        self._databases = compiled(self.triggers)
        dumps = [bytes(hs.dumpb(one)) if one is not None else b"" for one in self._databases]
        return b"".join(len(dump).to_bytes(_LENGTH, "big") + dump for dump in dumps)

    def load(self, data: bytes) -> bool:
        """Puts the fast matcher in place from what ``compile`` gave; False where that does not fit this machine or this version.

        The library trusts these bytes: give it only what is known to be unchanged."""
        hs = module("hyperscan")
        if hs is None:
            return False
        try:
            self._databases = tuple(hs.loadb(dump, hs.HS_MODE_BLOCK) if dump else None for dump in _split(data))
        except (hs.HyperscanError, ValueError):
            return False
        return True

    def engine(self, before: Engine | None) -> Engine:
        """The best matcher now, for one user: ``before`` where that is still the best."""
        if isinstance(before, Hyperscan):
            return before
        if self._databases is not None:
            return Hyperscan(self.triggers, self._databases)
        return before or self._simple

    @cached_property
    def _simple(self) -> Engine:
        return AhoCorasick(self.triggers) if module("ahocorasick_rs") is not None else Plain(self.triggers)
