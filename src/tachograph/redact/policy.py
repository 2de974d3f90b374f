"""A redaction policy: everything that decides what is masked, as one frozen value with a fingerprint.

A recording names the fingerprint of the policy that made it; a replay applies the same one to the live request before it is matched.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from tachograph.redact import headers, names, services, shapes
from tachograph.redact.names import Named
from tachograph.redact.rules import ALL, Rule

#: Raised when the code around the rules decides differently than before.
SCHEME = 1


@dataclass(frozen=True)
class Policy:
    """``secret_names`` and ``plain_names`` are the user's own additions and exceptions to what names say, lower-case;
    ``headers`` those whose values are always masked, lower-case."""

    rules: tuple[Rule, ...]
    secret_names: frozenset[str] = frozenset()
    plain_names: frozenset[str] = frozenset()
    headers: frozenset[str] = headers.DEFAULT

    @classmethod
    def default(cls) -> Policy:
        """All rules, no names of the user's own."""
        return cls(rules=ALL)

    def named(self, name: str) -> Named:
        """What a name says about its value, the user's own names first."""
        if self.secret_names or self.plain_names:
            lowered = name.lower()
            if lowered in self.plain_names:
                return names.NOTHING
            if lowered in self.secret_names:
                return Named(names.Strength.STRICT, "secret")
        return names.named(name)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits: the same in every process, another when any rule, name or header is."""
        rules = [
            [r.id, r.kind, r.keywords, r.pattern.pattern, r.pattern.flags, r.group, r.reach, r.inside, r.gate, r.entropy]
            for r in self.rules
        ]
        parts = [
            SCHEME,
            rules,
            sorted(self.secret_names),
            sorted(self.plain_names),
            sorted(self.headers),
            names.vocabulary(),
            shapes.vocabulary(),
            services.vocabulary(),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
