"""Finds what the rules describe: each rule's pattern where one of its keywords stands, for the rules that a prefilter lets through.

A rule's trigger is its keywords and its own pattern; one without keywords is looked for by its pattern alone. So a new rule needs nothing else to be looked for quickly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from tachograph.redact import shapes
from tachograph.redact.prefilter.engines import Hit
from tachograph.redact.prefilter.trigger import ANYWHERE, Trigger
from tachograph.redact.rules import ALL, Rule
from tachograph.redact.rules.rule import SIGN
from tachograph.redact.spans import Found


class Vendors:
    """Rules in their order. Immutable, shared."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        """What must be in a text for each of the rules, by their numbers."""
        return tuple(
            Trigger(rule.keywords, rule.sign or rule.pattern.pattern, rule.pattern.flags, tail=1 if rule.sign and not rule.keywords else 0)
            for rule in self.rules
        )

    def find(self, text: str, hits: Iterable[Hit] | None = None) -> list[Found]:
        """What the rules find whose triggers were hit, all of them without any; ranges may overlap."""
        out: list[Found] = []
        places: dict[int, list[int]] = {}
        for number, at in ((number, ANYWHERE) for number in range(len(self.rules))) if hits is None else hits:
            places.setdefault(number, []).append(at)
        for number, its in places.items():
            rule = self.rules[number]
            for keyword in rule.keywords:
                _collect(text, keyword, rule, out)
            if not rule.keywords:
                matches = _near(text, its, rule) if rule.sign and ANYWHERE not in its else rule.pattern.finditer(text)
                out += [Found(*m.span(rule.group), rule.kind, rule.id) for m in matches if _counts(m.group(rule.group), rule)]
        return out

    def head(self, run: str) -> int:
        """Where in a run of token characters a token seems to begin; -1 for nowhere."""
        match = self._heads.search(" " + _OTHER.sub(" ", run))
        return match.start() - 1 if match else -1

    @cached_property
    def _heads(self) -> re.Pattern[str]:
        keywords = sorted({keyword for rule in self.rules if rule.inside for keyword in rule.keywords})
        # A keyword that another one begins with answers for both: the tree stops at the first that is whole.
        heads = [k for k in keywords if not any(k != other and k.startswith(other) for other in keywords)]
        return re.compile(rf"(?<=[ _.~-])(?:{_tree(heads)})" if heads else r"(?!)")


def _near(text: str, places: Iterable[int], rule: Rule) -> Iterator[re.Match[str]]:
    """The matches that begin at most ``SIGN`` characters before the places."""
    done = 0
    for at in sorted(set(places)):
        for found in rule.pattern.finditer(text, max(done, at - SIGN), at + SIGN):
            match = rule.pattern.match(text, found.start())  # what stands behind it counts, too
            if match is not None:
                yield match
        done = max(done, at)


def _collect(text: str, keyword: str, rule: Rule, out: list[Found]) -> None:
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
            if _counts(value, rule):
                out.append(Found(start, stop, rule.kind, rule.id))
                end = max(end, stop)
            else:  # what varies too little as a whole varies no more in its parts; without this a long run is read again from each keyword
                end = max(end, stop - len(keyword))
        at = text.find(keyword, end)


def _counts(value: str, rule: Rule) -> bool:
    """Whether what a rule's pattern matched is more than a name or a stand-in."""
    return value != "" and (not rule.entropy or shapes.entropy(value) >= rule.entropy) and not stand_in(value)


def stand_in(token: str) -> bool:
    """``ghp_xxxxxxxx``: the shape of a token and nothing in it."""
    tail = token[-16:]
    return len(set(tail.lower())) <= 2 and tail[-1] in "xX*.0"


_OTHER = re.compile(r"[^A-Za-z0-9_.~-]")


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
