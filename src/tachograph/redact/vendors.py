"""Finds what the rules describe, at the cost of a few passes over the text however many rules there are.

1. *Narrow*: keep only unbroken runs of at least ``RUN`` token characters. Every token with a prefix lies in one, ordinary words do not.
2. Look for all keywords in what is left, with one expression built as a tree of their letters.
3. Only for the rules whose keyword is there: find the keyword in the whole text and match the rule's pattern at it.

Rules whose keyword is not part of such a run are looked for by plain search in the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tachograph.redact import shapes
from tachograph.redact.rules import ALL, Rule
from tachograph.redact.rules.rule import LEFT, LEFT_BASE64, LEFT_WORD, RUN
from tachograph.redact.spans import Found

_KEEP = bytes(c if chr(c).isascii() and (chr(c).isalnum() or chr(c) in "_-.~") else 0x20 for c in range(256))


class Vendors:
    """An index over rules. Immutable, shared."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        inside: dict[str, list[Rule]] = {}
        outside: dict[str, list[Rule]] = {}
        for rule in self.rules:
            for keyword in rule.keywords:
                (inside if rule.inside else outside).setdefault(keyword, []).append(rule)
        # A keyword that another one begins with answers for both: the tree stops at the first that is whole.
        heads = sorted(k for k in inside if not any(k != other and k.startswith(other) for other in inside))
        self._inside = {head: tuple((k, tuple(rules)) for k, rules in inside.items() if k.startswith(head)) for head in heads}
        gates: dict[str, list[tuple[str, tuple[Rule, ...]]]] = {}
        for keyword, found in outside.items():
            gates.setdefault(found[0].gate or keyword, []).append((keyword, tuple(found)))
        self._outside = tuple((gate, tuple(behind)) for gate, behind in gates.items())
        tree = _tree(heads) if heads else r"(?!)"
        # A token begins a run, or follows a separator in it, or the letters of an escape before it.
        self._heads = re.compile(rf"(?<=[ _.~-])(?:{tree})")
        self._escaped = re.compile(rf" (?:[nrtbf]|[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}|\d{{0,3}}m)({tree})")
        # Patterns made of token characters alone match a narrowed text exactly where they match the text.
        self._whole = frozenset(rule.id for rule in self.rules if rule.inside and not rule.reach and not _WIDER.search(_body(rule)))
        # Marks in the middle of a token may stand anywhere.
        self._marks = tuple(head for head in heads if any(rule.reach for _, found in self._inside[head] for rule in found))

    def find(self, text: str, narrow: str) -> list[Found]:
        """What the rules find; ranges may overlap. ``narrow`` is ``self.narrow(text)``."""
        out: list[Found] = []
        if narrow:
            present = {*self._escaped.findall(narrow), *[mark for mark in self._marks if mark in narrow]}
            for match in self._heads.finditer(narrow):
                head = match.group()
                if head not in present and self._worth(head, narrow, match.start()):
                    present.add(head)
            for head in present:
                for keyword, rules in self._inside[head]:
                    _collect(text, keyword, rules, out)
        for gate, behind in self._outside:
            if gate in text:
                for keyword, rules in behind:
                    _collect(text, keyword, rules, out)
        return out

    def _worth(self, head: str, narrow: str, at: int) -> bool:
        """Whether the whole text must be searched for a head: not if all its patterns can be tried here, and fail."""
        return any(rule.id not in self._whole or rule.pattern.match(narrow, at) for _, rules in self._inside[head] for rule in rules)

    def head(self, run: str) -> int:
        """Where in a run of token characters a token seems to begin; -1 for nowhere."""
        match = self._heads.search(" " + _OTHER.sub(" ", run))
        return match.start() - 1 if match else -1

    @staticmethod
    def narrow(text: str) -> str:
        """The long runs of token characters, a blank before each."""
        runs = text.encode("ascii", "replace").translate(_KEEP).split()
        return b" ".join([b"", *[run for run in runs if len(run) >= RUN]]).decode("ascii")


def _collect(text: str, keyword: str, rules: tuple[Rule, ...], out: list[Found]) -> None:
    for rule in rules:
        at = text.find(keyword)
        while at >= 0:
            match = rule.pattern.match(text, at)
            for start in range(max(0, at - rule.reach), at):
                if (earlier := rule.pattern.match(text, start)) is not None:
                    match = earlier
                    break
            end = at + len(keyword)
            if match is not None:
                start, stop = match.span(rule.group)
                value = text[start:stop]
                if stop > start and (not rule.entropy or shapes.entropy(value) >= rule.entropy) and not stand_in(value):
                    out.append(Found(start, stop, rule.kind, rule.id))
                    end = max(end, stop)
            at = text.find(keyword, end)


def stand_in(token: str) -> bool:
    """``ghp_xxxxxxxx``: the shape of a token and nothing in it."""
    tail = token[-16:]
    return len(set(tail.lower())) <= 2 and tail[-1] in "xX*.0"


_OTHER = re.compile(r"[^A-Za-z0-9_.~-]")
_WIDER = re.compile(r"[/+=%:@$ ,;\"']|\\[sSDW]|\[\^")


def _body(rule: Rule) -> str:
    """A rule's pattern without what it says about its surroundings."""
    return re.sub(
        r"\(\?[=!<][^()]*\)|\(\?:|\{\d+,?\d*\}", "", rule.pattern.pattern.replace(LEFT, "").replace(LEFT_WORD, "").replace(LEFT_BASE64, "")
    )


def _tree(keywords: list[str]) -> str:
    """One expression for many literals, sharing their beginnings."""
    branches: dict[str, list[str]] = {}
    for keyword in keywords:
        branches.setdefault(keyword[0], []).append(keyword[1:])
    parts = []
    for letter, tails in sorted(branches.items()):
        rest = [tail for tail in tails if tail]
        parts.append(re.escape(letter) + (_tree(rest) if len(rest) == len(tails) else ""))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


DEFAULT = Vendors(ALL)
