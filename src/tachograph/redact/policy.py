"""A redaction policy: everything that decides what is masked, as one frozen value with a fingerprint.

A recording names the fingerprint of the policy that made it, and holds its *document*: what it adds to the built-in one and takes away from
it. A replay makes the same policy of it again, on any machine, and applies it to the live request before that is matched.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.redact import custom, linear, names, shapes
from tachograph.redact.finders import headers, pii, presidio, services
from tachograph.redact.names import Named
from tachograph.redact.rules import ALL, Rule

#: Raised when the code around the rules decides differently than before.
SCHEME = 2

#: Marks the digest of a value that is never masked.
DIGEST = "sha256:"
_HEX = re.compile(r"[0-9a-f]{64}\Z")

_KEYS = ("rules", "secret_names", "plain_names", "headers", "allow", "pii")


@dataclass(frozen=True)
class Policy:
    """``secret_names`` and ``plain_names`` are the user's own additions and exceptions to what names say, lower-case;
    ``headers`` those whose values are always masked, lower-case. ``allow``: values that are never masked, each as ``sha256:`` and
    64 hex digits, or as a pattern of the whole value. ``pii``: kinds of personal data to look for (``pii.KINDS``)."""

    rules: tuple[Rule, ...]
    secret_names: frozenset[str] = frozenset()
    plain_names: frozenset[str] = frozenset()
    headers: frozenset[str] = headers.DEFAULT
    allow: frozenset[str] = frozenset()
    pii: frozenset[str] = frozenset()

    @classmethod
    def default(cls) -> Policy:
        """All rules, nothing of the user's own."""
        return cls(rules=ALL)

    # -- deciding --------------------------------------------------------------------------------------------------------

    def named(self, name: str) -> Named:
        """What a name says about its value, the user's own names first."""
        if self.secret_names or self.plain_names:
            lowered = name.lower()
            if lowered in self.plain_names:
                return names.NOTHING
            if lowered in self.secret_names:
                return Named(names.Strength.STRICT, "secret")
        return names.named(name)

    def plain(self, name: str) -> bool:
        """Whether the user says that what is called so is no secret."""
        return bool(self.plain_names) and name.lower() in self.plain_names

    def allows(self, value: str) -> bool:
        """Whether a value is never masked."""
        if not self.allow:
            return False
        digests, patterns = self._allowed
        return any(pattern.fullmatch(value) for pattern in patterns) or (bool(digests) and digest(value) in digests)

    @cached_property
    def _allowed(self) -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
        digests = frozenset(each for each in self.allow if each.startswith(DIGEST))
        return digests, tuple(re.compile(each) for each in sorted(self.allow - digests))

    # -- as a value ------------------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, document: Mapping[str, Any], where: str = "", *, proven: bool = False, more: Iterable[str] = ()) -> Policy:
        """The built-in policy with what a document (the table ``redact`` of a file) adds and takes away. Raises ``UsageError``: ``where``,
        the key, what is wrong with it, and what to do. ``proven``: it comes from a record; rules need no examples, and what is unknown to
        this version was known to the one that wrote it. ``more``: keys that are dealt with elsewhere."""
        at = f"{where}: " if where else ""
        custom.unknown_keys(document, (*_KEYS, *more), where or "redact")
        rules = document.get("rules", {})
        if not isinstance(rules, Mapping):
            raise UsageError(f'{at}rules is a table with add and remove; write [[redact.rules.add]] and rules.remove = ["id"]')
        custom.unknown_keys(rules, ("add", "remove"), f"{at}rules")
        present = {rule.id: rule for rule in ALL}
        for identity in custom.strings(rules.get("remove", []), f"{at}rules.remove"):
            if present.pop(identity, None) is None and not proven:
                raise UsageError(f"{at}rules.remove: there is no rule {identity!r}{custom.nearest(identity, present)}")
        added: dict[str, Rule] = {}
        tables = rules.get("add", [])
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            raise UsageError(f"{at}rules.add is a list of tables; write [[redact.rules.add]] before each of them")
        for number, table in enumerate(tables, 1):
            label = f"{at}rules.add {table.get('id') if isinstance(table.get('id'), str) else number}"
            rule = custom.rule(table, label, taken=() if proven else {*present, *added}, proven=proven)
            present.pop(rule.id, None)
            added[rule.id] = rule
        kinds = frozenset(custom.strings(document.get("pii", []), f"{at}pii"))
        for kind in sorted(kinds):
            if kind.startswith(presidio.PREFIX):
                if (why := presidio.trouble(kind)) is not None:
                    raise UsageError(f"{at}pii: {why}")
            elif kind not in pii.KINDS:
                raise UsageError(f"{at}pii: there is no kind {kind!r}{custom.nearest(kind, pii.KINDS)}")
        secret, plain = (
            frozenset(name.lower() for name in custom.strings(document.get(key, []), f"{at}{key}"))
            for key in ("secret_names", "plain_names")
        )
        if both := sorted(secret & plain):
            raise UsageError(f"{at}{both[0]!r} is in secret_names and in plain_names; take it out of one of them")
        more = frozenset(name.lower() for name in custom.strings(document.get("headers", []), f"{at}headers"))
        return cls(
            rules=(*present.values(), *added.values()) if added or len(present) != len(ALL) else ALL, secret_names=secret, plain_names=plain,
            headers=(headers.DEFAULT | more) - plain, allow=_allow(document.get("allow", []), f"{at}allow"), pii=kinds,
        )  # fmt: skip

    def document(self) -> dict[str, Any]:
        """What ``of(…, proven=True)`` makes this policy of, given the same built-in one. Holds no value, only digests and patterns."""
        builtin = {rule.id: rule for rule in ALL}
        own = {rule.id: rule for rule in self.rules}
        return {
            "rules": {
                "add": [custom.document(rule) for rule in self.rules if builtin.get(rule.id) is not rule],
                "remove": sorted(builtin.keys() - own.keys()),
            },
            "secret_names": sorted(self.secret_names),
            "plain_names": sorted(self.plain_names),
            "headers": sorted(self.headers - headers.DEFAULT),
            "allow": sorted(self.allow),
            "pii": sorted(self.pii),
        }

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits: the same in every process, another when any rule, name, header or exception is."""
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
            sorted(self.allow),
            sorted(self.pii),
            presidio.version() if any(kind.startswith(presidio.PREFIX) for kind in self.pii) else "",
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def digest(value: str) -> str:
    """How a value is written in ``allow`` without saying it."""
    return DIGEST + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def _allow(given: Any, where: str) -> frozenset[str]:
    out = []
    for entry in custom.strings(given, where):
        if entry.startswith(DIGEST):
            if not _HEX.match(entry.removeprefix(DIGEST).lower()):
                raise UsageError(f"{where}: after sha256: come 64 hex digits; printf %s VALUE | sha256sum makes them")
            out.append(entry.lower())
        elif (wrong := linear.trouble(entry)) is not None:
            raise UsageError(f"{where}: the pattern {wrong}")
        elif re.fullmatch(entry, _ANYTHING) is not None:
            raise UsageError(f"{where}: the pattern allows any value at all; make it one that only the values meant match")
        else:
            out.append(entry)
    return frozenset(out)


#: Whoever allows this allows everything.
_ANYTHING = "q7Rz2LmX9bTc4VhK8wYd3NpF6sGj5AeU"
