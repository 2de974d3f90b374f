"""Texts that are nearly another one: a few words changed, words left out, cut off with three dots.

What counts is stated, so that a reader can judge it: of the telling words of the text (no articles, no "please"), ``THRESHOLD`` must stand in the
passage in the same order and near each other, and every number or name with a digit in it must be among them: "120 francs" is not nearly
"100 francs". A text with fewer than ``FEWEST`` telling words has no near matches.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import TYPE_CHECKING

from .haystack import Hit
from .textforms import skeleton, spots

if TYPE_CHECKING:
    from collections.abc import Callable

    from .haystack import Haystack

THRESHOLD = 0.75
FEWEST = 4
#: Words of a text that are compared, anchors that candidates are looked for by, candidates that are compared word by word.
MOST_WORDS, MOST_ANCHORS, MOST_CANDIDATES = 400, 24, 16
_WORD = re.compile(r"\w+")
_DOTS = re.compile(r"\s{0,8}(?:…|\[\s?(?:\.\.\.|…)\s?\]|\.\.\.|\[truncated\]|<truncated>|\(truncated\)|\[snip\])\s{0,8}", re.IGNORECASE)
_WORDS = """
a about after all also an and any are as at be been before but by can could did do does for from had has have he her his how i if in into is it its just let me
more must my now of on one only or our out over please s shall she should so some such t than that the their them then there these they this those to up us use
very was we were what when where which who will with would yes you your
"""
COMMON = frozenset(_WORDS.split())
#: The least skeleton of a piece between dots, and of the piece that a cut leaves.
SHORTEST_PIECE = 12


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [bare for word in _WORD.findall(text) if (bare := skeleton(word))]


def telling(words: list[str]) -> list[str]:
    """Those of the words that say something."""
    return [word for word in words if word not in COMMON]


def pieces(text: str) -> list[str]:
    """What a text with dots in it quotes: its pieces. Empty where there are no dots, or next to nothing between them."""
    parts = [part for part in _DOTS.split(text) if part.strip()]
    if (len(parts) < 2 and not _DOTS.search(text)) or not parts:
        return []
    return parts if all(len(skeleton(part)) >= SHORTEST_PIECE for part in parts) else []


def cut(haystack: Haystack, text: str) -> dict[int, Hit]:
    """By passage, where it has all the pieces of a text with dots in it, in their order."""
    parts = pieces(text)
    if not parts:
        return {}
    found = haystack.alike(skeleton(parts[0]))
    for index, hit in list(found.items()):
        bare, at = skeleton(hit.text), len(skeleton(hit.text[: hit.end]))
        for part in parts[1:]:
            bones = skeleton(part)
            at = bare.find(bones, at)
            if at < 0:
                del found[index]
                break
            at += len(bones)
        else:
            end = spots(hit.text)[at - 1] + 1
            found[index] = Hit(index, hit.how, hit.text, hit.begin, end, hit.bounded)
    return found


def shortened(haystack: Haystack, text: str, known: dict[int, Hit]) -> dict[int, Hit]:
    """By passage, where it quotes the beginning of the text and then breaks off with dots."""
    bones = skeleton(text)
    if len(bones) < 2 * SHORTEST_PIECE:
        return {}
    found: dict[int, Hit] = {}
    for index, hit in haystack.alike(bones[: SHORTEST_PIECE + 4], known).items():
        dots = _DOTS.search(hit.text, hit.end)
        quoted = skeleton(hit.text[hit.begin : dots.start()]) if dots is not None else bones
        if dots is not None and len(quoted) < len(bones) and bones.startswith(quoted):
            found[index] = Hit(index, hit.how, hit.text, hit.begin, dots.end(), hit.bounded)
    return found


def near(haystack: Haystack, text: str, allowed: Callable[[int], bool]) -> dict[int, tuple[Hit, float]]:
    """By allowed passage, where it nearly has the text, and how nearly (share of its telling words, at least ``THRESHOLD``). Of very many candidates,
    those that have most of the words, and of these the earliest, are compared."""
    wanted = words_of(text)[:MOST_WORDS]
    said = telling(wanted)
    if len(said) < FEWEST:
        return {}
    facts = {word for word in said if any(map(str.isdigit, word))}
    anchors = sorted(set(said), key=lambda word: (word not in facts, -len(word), word))[:MOST_ANCHORS]
    anchors = [word for word in anchors if len(word) >= 3]
    counts: Counter[int] = Counter()
    for anchor in anchors:
        counts.update(haystack.having_one(anchor))
    enough = (index for index, count in counts.items() if count * 2 >= len(anchors) and allowed(index))
    candidates = sorted(enough, key=lambda index: (-counts[index], index))
    scored = {index: _score(haystack.passages[index].text, index, wanted, facts) for index in sorted(candidates[:MOST_CANDIDATES])}
    return {index: found for index, found in scored.items() if found is not None and found[1] >= THRESHOLD}


def _score(text: str, index: int, wanted: list[str], facts: set[str]) -> tuple[Hit, float] | None:
    """The window of a passage that has most of the words, and what share of the telling ones stands in it in the same order."""
    places = [(bare, match.start(), match.end()) for match in _WORD.finditer(text) if (bare := skeleton(match[0]))]
    have = set(telling(wanted))
    width = len(wanted) + len(wanted) // 2 + 2
    count = most = start = 0
    for at, (word, _, _) in enumerate(places):
        count += word in have
        if at >= width:
            count -= places[at - width][0] in have
        if count > most:
            most, start = count, max(0, at - width + 1)
    if most * 4 < len(telling(wanted)) * 3:
        return None
    window = places[start : start + width]
    blocks = difflib.SequenceMatcher(None, wanted, [word for word, _, _ in window], autojunk=False).get_matching_blocks()
    shared = [place for block in blocks for place in range(block.a, block.a + block.size)]
    if not shared or not facts <= {wanted[place] for place in shared}:
        return None
    telling_shared = sum(wanted[place] not in COMMON for place in shared)
    first, last = min(block.b for block in blocks if block.size), max(block.b + block.size for block in blocks if block.size)
    hit = Hit(index, (), text, window[first][1], window[last - 1][2], True)
    return hit, telling_shared / len(telling(wanted))
