"""Redacts a text that comes in pieces, in bounded memory: ``feed`` what comes, ``finish`` at its end.

What is handed out is final, so nothing is handed out before its surroundings are known:

- Up to ``HOLD`` characters are kept and understood as a whole: a JSON document is read as JSON, a key block lies before us in full. So most
  texts are redacted exactly as ``Redactor.text`` does it.
- Beyond that, a part goes out up to a line's end at least ``AHEAD`` characters before the end of what is there, and never inside of a finding.
- ``live``: every whole line goes out at once, except inside a key block (``AHEAD`` characters at most) and after a line that the next one
  continues: a pipe that never ends shows something.
- What went out last stays as context: a name may stand on the line before its value.
"""

from __future__ import annotations

import re
from collections import Counter

from tachograph.redact import bodies
from tachograph.redact.engine import Redactor
from tachograph.redact.scanner import Depth

#: Characters that are understood as a whole.
HOLD = 16 << 20
#: Characters that must be seen behind a place where a text is cut: no key block is longer.
AHEAD = 64 << 10
#: Characters before it.
BEFORE = 4 << 10

_OPENER = re.compile(r"BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_END = re.compile(r"END [A-Z0-9 ]{0,40}PRIVATE KEY")
#: A line whose value may come on the next one.
_CONTINUED = re.compile(r"(?:[:=,\\(\[{|>]|[\"'] ?)[ \t]*\r?\n\Z")


class Pipe:
    """See the module. ``tally`` counts what was masked, by kind."""

    def __init__(self, redactor: Redactor, *, live: bool = False, hold: int = HOLD, ahead: int = AHEAD) -> None:
        self.tally: Counter[str] = Counter()
        self._redactor = redactor
        self._live = live
        self._hold = max(hold, 2 * ahead)
        self._ahead = ahead
        self._before = ""
        self._pieces: list[str] = []
        self._held = 0

    def feed(self, text: str) -> str:
        """Takes in more; returns what can be handed out by now."""
        if not text:
            return ""
        self._pieces.append(text)
        self._held += len(text)
        if self._held >= self._hold:
            return self._out(self._held - self._ahead)
        if self._live and "\n" in text:
            held = self._joined()
            if not self._waits(held):
                return self._out(held.rfind("\n") + 1, soft=False)
        return ""

    def finish(self) -> str:
        """The rest."""
        return self._out(self._held, soft=False)

    def _joined(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def _waits(self, held: str) -> bool:
        """Whether more must come before the last whole line can be judged."""
        lines = held[: held.rfind("\n") + 1]
        if len(lines) > self._ahead:
            return False
        opened = 0
        for match in _OPENER.finditer(lines):
            opened = match.end()
        return (opened > 0 and _END.search(lines, opened) is None) or _CONTINUED.search(lines, max(0, len(lines) - 8)) is not None

    def _out(self, upto: int, *, soft: bool = True) -> str:
        """Hands out ``upto`` characters of what is held, or somewhat fewer (``soft``), or more where a finding goes on."""
        held = self._joined()
        if not held:
            return ""
        base = len(self._before)
        whole = self._before + held
        edits = self._redactor.edits(whole, Depth.ALL if bodies.is_text(whole) else Depth.SHAPES)
        cut = base + (_joint(held, upto) if soft else upto)
        for edit in edits:
            if edit.start < cut < edit.end:
                cut = edit.start if edit.start > base else edit.end
        now = [edit._replace(start=max(edit.start, base)) for edit in edits if base < edit.end and edit.start < cut]
        # Placeholders are made of the whole text, whose values they name; what was handed out before is cut off again.
        out = self._redactor.apply(whole[:cut], now, self.tally)[base:]
        self._before = whole[max(0, cut - BEFORE) : cut]
        self._before = self._before[self._before.find("\n") + 1 :] if "\n" in self._before[:-1] else self._before
        rest = whole[cut:]
        self._pieces = [rest] if rest else []
        self._held = len(rest)
        return out


def _joint(text: str, upto: int) -> int:
    """The end of the last line before ``upto``, else the last blank, else ``upto``."""
    for mark in ("\n", " "):
        at = text.rfind(mark, upto // 2, upto)
        if at >= 0:
            return at + 1
    return upto
