"""Secrets on a command line, word by word: ``--password x``, ``--token=x``, ``-H 'Authorization: …'``, ``mysql -px``, ``curl -u a:b``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tachograph.redact import shapes
from tachograph.redact.finders import commands
from tachograph.redact.lazy import expression
from tachograph.redact.names import NOTHING, Named
from tachograph.redact.spans import Edit, Ranked, merge

_ASSIGNED = expression(r"(-{0,2}[A-Za-z_][\w.-]{0,127})=(.+)\Z", re.DOTALL)
_FLAG = expression(r"--?[A-Za-z][\w-]{1,127}\Z")


def find(argv: Sequence[str], named: Callable[[str], Named], scan: Callable[[str], list[Edit]]) -> list[list[Edit]]:
    """What to mask in each word."""
    found: list[list[Ranked]] = [[Ranked(e.start, e.end, e.kind, 0, e.rule) for e in scan(word)] for word in argv]
    before: Named | None = None
    for number, word in enumerate(argv):
        assigned = _ASSIGNED.match(word)
        if before is not None and not word.startswith("-") and shapes.secret(word, before, quoted=True):
            found[number].append(Ranked(0, len(word), before.kind, 1, "command-flag"))
        elif assigned is not None:
            said = named(assigned.group(1).strip("-"))
            if said.strength and shapes.secret(assigned.group(2), said, quoted=True):
                found[number].append(Ranked(*assigned.span(2), said.kind, 1, "command-flag"))
        flag = named(word.strip("-")) if _FLAG.match(word) else NOTHING
        before = flag if flag.strength else None
    for number, (start, end, kind, rule) in commands.of(argv):
        found[number].append(Ranked(start, end, kind, 2, rule))
    return [merge(ranked, word) if ranked else [] for ranked, word in zip(found, argv, strict=True)]
