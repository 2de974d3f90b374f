"""Material for the rules' own examples. Made of pieces, so that no scanner takes this source for a leak."""

from __future__ import annotations

_MIXED = "q7Rz2LmX9bTc4VhK8wYd3NpF6sGj5AeU1oHiZ0vBQkMxWnCrtDyPfSgJaElOu"
_LOWER = "k3v9q2xz7m1c8b4w6h5t0ydnrfpjgslaeiou"
_UPPER = "K3V7Q2XZ4M5CBWHTYDNRFPJGSLAEIOU6"


def _take(source: str, n: int) -> str:
    return (source * (n // len(source) + 1))[:n]


def mixed(n: int) -> str:
    """``n`` letters of both cases and digits."""
    return _take(_MIXED, n)


def lower(n: int) -> str:
    """``n`` lower-case letters and digits."""
    return _take(_LOWER, n)


def upper(n: int) -> str:
    """``n`` upper-case letters and the digits 2 to 7 (base 32)."""
    return _take(_UPPER, n)


def letters(n: int) -> str:
    """``n`` letters of both cases."""
    return _take("".join(c for c in _MIXED if c.isalpha()), n)


def digits(n: int) -> str:
    """``n`` digits."""
    return _take("7318204965", n)


def hexa(n: int) -> str:
    """``n`` lower-case hex digits."""
    return _take("9f3a1c7be04d82655d28ac17b3f4e096", n)


def uuid() -> str:
    """A UUID."""
    return "-".join((hexa(8), hexa(4), "4" + hexa(3), "8" + hexa(3), hexa(12)))
