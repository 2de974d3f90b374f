"""Do these letters belong to words? A table of how probable each letter is after another one.

Random letters cost about 6.3 bits each, words of any western language and words joined without a separator about 3.8.
"""

from __future__ import annotations

#: Bits that each letter costs after each other one, 9 at most: a row per first letter, a column per second one. Counted over the words of
#: technical English (the sources and the documentation of Python's standard library).
BITS = """
95449759596343959343667769 37563898458267369446399959 39683893594469279463589979 47752779299587479546589869
47436568798453857334867579 49763379299477389455498969 48772854399564579446488988 29872999398667389464599979
55455559998452459543959696 39782898496899368727396989 47761857398485669736685979 37752799299387379855589949
25962899398658339857599979 48433539496686479833569979 66448669696442549355465799 39773786497388349354598969
79887998888796898659097989 38552769396656379544678959 59582784396677448842487959 38672794299678469445597959
54564669599443649333999999 29691899399878589878799999 38763784299694379346997999 46353597399559739762989569
56564678499443529533875978 39981896399666499866899878
"""

_ROWS = [[int(bits) for bits in row] for row in BITS.split()]
_COST = {chr(97 + a) + chr(97 + b): bits for a, row in enumerate(_ROWS) for b, bits in enumerate(row)}


def cost(letters: str) -> float:
    """Bits per letter after the first, of ASCII letters in any case; 0 for fewer than two."""
    lowered = letters.lower()
    return sum(_COST.get(lowered[i : i + 2], 0) for i in range(len(lowered) - 1)) / (len(lowered) - 1) if len(lowered) > 1 else 0.0


def unlikely(letters: str) -> bool:
    """Letters that are no words. Fewer than twelve prove nothing: about one of a thousand words is as odd as random letters."""
    n = len(letters)
    return n >= 12 and cost(letters) >= (5.7 if n < 16 else 5.4 if n < 20 else 5.2)
