"""Finds the secrets of one text: runs the finders in order of their sureness and merges what they find."""

from __future__ import annotations

import enum
import re

from tachograph.redact import addresses, assignments, commands, decode, files, headers, manifests, pem, pii, services
from tachograph.redact.known import BEGUN, Known
from tachograph.redact.policy import Policy
from tachograph.redact.repeats import again
from tachograph.redact.spans import Edit, Ranked, merge, ranked
from tachograph.redact.vendors import DEFAULT, Vendors

#: Characters. Nothing shorter can hold a secret and its name.
_SHORTEST = 6

#: Rescans of the masked text: what stood beside a secret may only now be a token of its own.
_ROUNDS = 4

_LOWER = {c: c + 32 for c in range(65, 91)}


class Depth(enum.IntEnum):
    """How much is looked for."""

    KNOWN = 0  #: known values only: media, signatures, other opaque strings
    SHAPES = 1  #: also tokens and key blocks, for what is no text or was understood piece by piece before
    ALL = 2  #: also by names, in addresses and in commands


class Scanner:
    """The finders under one policy."""

    def __init__(self, policy: Policy, known: Known) -> None:
        self._policy = policy
        self._known = known
        self._vendors = DEFAULT if policy.rules is DEFAULT.rules else Vendors(policy.rules)
        self._stems = (*assignments.STEMS, *sorted(policy.secret_names))

    def scan(self, text: str, depth: Depth = Depth.ALL) -> list[Edit]:
        """What to mask in a text that is taken as it stands, sorted, in characters."""
        edits = self._once(text, depth)
        if not edits:
            return edits
        edits = again(text, edits)
        for _ in range(_ROUNDS):
            masked, places = _masked(text, edits)
            more = self._once(masked, depth)
            if not more:
                break
            mapped = [Ranked(_back(e.start, places), _back(e.end, places), e.kind, 0, e.rule) for e in more]
            edits = again(text, merge([*(Ranked(e.start, e.end, e.kind, 0, e.rule) for e in edits), *mapped], text))
        return edits

    def tail(self, text: str) -> Edit | None:
        """The end of a text that broke off, from where it may be the beginning of a known value or of a token."""
        at = self._known.beginning(text)
        run = _LAST_RUN.search(text, max(0, len(text) - 4096))
        if run is not None and any(c.isdigit() for c in run.group()):
            head = self._vendors.head(run.group())
            if 0 <= head <= len(run.group()) - BEGUN:
                at = run.start() + head if at < 0 else min(at, run.start() + head)
        return Edit(at, len(text), "cut-off", rule="cut-off") if at >= 0 else None

    def _once(self, text: str, depth: Depth, layer: int = 0) -> list[Edit]:
        if (len(text) < _SHORTEST or depth is Depth.KNOWN) and not self._known:
            return []
        found: list[Ranked] = []
        narrow = self._vendors.narrow(text)
        if self._known:
            found += ranked(self._known.find(text, narrow), 0)
        if depth >= Depth.SHAPES:
            if "PRIVATE KEY" in text:
                found += [Ranked(start, end, "private-key", 1, "private-key") for start, end in pem.find(text)]
            found += ranked(self._vendors.find(text, narrow), 2)
        if depth >= Depth.ALL:
            found += ranked(addresses.find(text), 3)
            found += ranked((*manifests.find(text), *files.find(text), *headers.find(text)), 3)
            lowered = text.lower()
            if len(lowered) != len(text):
                lowered = text.translate(_LOWER)
            found += ranked(assignments.find(text, lowered, named=self._policy.named, stems=self._stems), 4)
            found += ranked(commands.find(text), 4)
            found += ranked(services.find(text, lowered), 5)
            if self._policy.pii:
                found += ranked(pii.find(text, self._policy.pii), 5)
            if layer < decode.LAYERS:
                found += ranked(decode.find(text, lambda decoded: self._once(decoded, depth, layer + 1)), 5)
        if found and self._policy.allow:
            found = [each for each in found if not self._policy.allows(text[each.start : each.end])]
        return merge(found, text) if found else []


_LAST_RUN = re.compile(r"[A-Za-z0-9_.~+/=-]{8,4096}\Z")

#: Stands for a masked range while its surroundings are scanned again: protected, and no part of any token.
_BLANK = "[REDACTED:00000000]"


def _masked(text: str, edits: list[Edit]) -> tuple[str, list[tuple[int, int, int]]]:
    """The text with blanks for its secrets, and per kept piece where it begins in the new text, in the old one, and its length."""
    pieces, places = [], []
    at = new = 0
    for edit in edits:
        pieces += [text[at : edit.start], _BLANK]
        places.append((new, at, edit.start - at))
        new += edit.start - at + len(_BLANK)
        at = edit.end
    pieces.append(text[at:])
    places.append((new, at, len(text) - at))
    return "".join(pieces), places


def _back(index: int, places: list[tuple[int, int, int]]) -> int:
    """An index of the masked text in the original one; inside a blank it is the end of what the blank stands for."""
    best = 0
    for new, old, length in places:
        if index < new:
            return best
        best = old + min(index - new, length)
        if index - new <= length:
            return best
    return best
