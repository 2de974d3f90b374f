"""Whether a value stands in what was seen, in any form, or can be worked out from it.

Forms: blanks, separators, case, a prefix or a unit. Worked out: sums, differences, products, shares of two numbers; the sum, the mean and the
count of a column; a number in hundredths; rounding.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from .terms import Pieces, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BARE = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,_]*(?:\.\d+)?")
_BARE_PIECES = Pieces(lambda piece: _BARE.sub("", piece.lower()))
#: Numbers of what was seen that are combined with each other.
_MOST = 160


def bare(text: str) -> str:
    """A text's letters and digits, in lower case."""
    return "".join(_BARE_PIECES.of(text))


def stands_in(value: str, texts: Iterable[str], squeezed: Sequence[str]) -> bool:
    """Whether a value stands in any of these texts. ``squeezed``: their bare forms, in the same order."""
    wanted = bare(value)
    if not wanted:
        return True
    return any(wanted in text for text in squeezed) or any(value.lower() in text.lower() for text in texts)


def pieces_stand(value: str, known: frozenset[str] | set[str]) -> bool:
    """Whether a value is put together of terms that are known: ``ann.lee@corp.example`` is not, ``A-12/7`` is where both are."""
    parts = [part for part in re.split(r"[^\w.-]+|(?<=\w)[-_/](?=\w)", value.lower()) if part]
    return len(parts) > 1 and all(part in known or (len(part) < 3 and not part.isdigit()) for part in parts)


def numbers(text: str) -> list[float]:
    """The numbers in a text, in order."""
    found = []
    for word in _NUMBER.findall(text):
        try:
            found.append(float(word.replace(",", "").replace("_", "")))
        except ValueError:
            continue
    return found


def computable(value: float, columns: Iterable[Sequence[float]], loose: Sequence[float]) -> bool:
    """Whether a number can be worked out. ``columns``: numbers that belong together; ``loose``: all of them, the latest first."""
    if value in (0, 1):
        return True
    for column in columns:
        if len(column) > 1 and (_near(value, sum(column)) or _near(value, sum(column) / len(column)) or value == len(column)):
            return True
        if len(column) <= 12:
            for size in range(2, min(len(column), 5) + 1):
                if any(_near(value, sum(some)) for some in itertools.islice(itertools.combinations(column, size), 1500)):
                    return True
    some = list(dict.fromkeys([*loose[:_MOST], 100.0, 12.0, 60.0, 24.0, 7.0, 365.0, 1000.0, 1024.0, 2.0]))
    for one in some:
        if _near(value, one) or _near(value, one * 100) or _near(value * 100, one) or _near(value, -one) or _near(value, 100 - one):
            return True
    for one, other in itertools.combinations(some, 2):
        if _near(value, one + other) or _near(abs(value), abs(one - other)) or _near(value, one * other):
            return True
        if (other and _near(value, one / other)) or (one and _near(value, other / one)):
            return True
        if _near(value, one * other / 100) or _near(value, one - one * other / 100) or _near(value, other - one * other / 100) or _near(value, one + one * other / 100) or _near(value, other + one * other / 100):  # fmt: skip
            return True
        if (other and _near(value, one / other * 100)) or (one and _near(value, other / one * 100)):
            return True
        if (other and _near(value, (one - other) / other * 100)) or (one and _near(value, (other - one) / one * 100)):
            return True
    return False


def _near(one: float, other: float) -> bool:
    if one == other:
        return True
    scale = 1.0 if one == int(one) else 10.0 if round(one * 10, 6) == int(round(one * 10, 6)) else 100.0
    return round(other * scale) == round(one * scale) and abs(one - other) <= max(0.51 / scale, 1e-9) and abs(other) >= 1


def shape(value: str) -> str:
    """A value's form: runs of letters as ``a``, each digit as ``9``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", value.lower()))


def is_number(text: str) -> bool:
    """Whether a text is a number and nothing else."""
    found = terms(text.strip())
    return len(found) == 1 and re.fullmatch(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?", found[0]) is not None
