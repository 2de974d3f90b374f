"""A sieve never keeps from a pattern what it would find: read off the patterns themselves, and tried."""

from __future__ import annotations

import importlib
import pkgutil
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tachograph import postmortem
from tachograph.postmortem.language.sieve import Sieve

_parser: Any = importlib.import_module("re._parser")

Words = frozenset[str]
#: More words than this are not put together of their parts.
MOST = 400


def _sieves() -> dict[str, Sieve]:
    found = {}
    for module in pkgutil.walk_packages(postmortem.__path__, f"{postmortem.__name__}."):
        here = importlib.import_module(module.name)
        found |= {f"{module.name.rpartition('.')[2]}.{name}": one for name, one in vars(here).items() if isinstance(one, Sieve)}
    return found


SIEVES = _sieves()


def exactly(node: Any) -> Words | None:
    """All that a part of a pattern can match, where that is known."""
    kind, value = str(node[0]), node[1]
    if kind == "LITERAL":
        return frozenset([chr(value).lower()])
    if kind in ("AT", "ASSERT", "ASSERT_NOT"):
        return frozenset([""])
    if kind == "IN" and all(str(one[0]) == "LITERAL" for one in value) and len(value) <= 4:
        return frozenset(chr(one[1]).lower() for one in value)
    if kind == "SUBPATTERN":
        return _exactly(value[3])
    if kind == "BRANCH":
        each = [_exactly(one) for one in value[1]]
        return frozenset().union(*each) if all(one is not None for one in each) else None  # type: ignore[arg-type]
    if kind == "MAX_REPEAT" and tuple(value[:2]) == (0, 1):
        inner = _exactly(value[2])
        return inner | {""} if inner is not None else None
    return None


def _exactly(nodes: Any) -> Words | None:
    found: Words = frozenset([""])
    for node in nodes:
        more = exactly(node)
        if more is None or len(found) * len(more) > MOST:
            return None
        found = frozenset(a + b for a, b in product(found, more))
    return found


def needed(nodes: Any) -> Words | None:
    """Words of which each match has at least one: those of the longest, where there are several such lists; ``None`` where there is none."""
    lists: list[Words] = []
    here: Words = frozenset([""])
    for node in nodes:
        more = exactly(node)
        if more is not None and len(here) * len(more) <= MOST:
            here = frozenset(a + b for a, b in product(here, more))
            continue
        lists.append(here)
        here = more if more is not None else frozenset([""])
        if more is None and (inner := _inside(node)) is not None:
            lists.append(inner)
    lists.append(here)
    good = [one for one in lists if one and "" not in one]
    return max(good, key=lambda one: (min(map(len, one)), -len(one)), default=None)


def _inside(node: Any) -> Words | None:
    kind, value = str(node[0]), node[1]
    if kind == "SUBPATTERN":
        return needed(value[3])
    if kind == "BRANCH":
        each = [needed(one) for one in value[1]]
        return frozenset().union(*each) if all(each) else None  # type: ignore[arg-type]
    if kind in ("MAX_REPEAT", "MIN_REPEAT") and value[0] >= 1:
        return needed(value[2])
    return None


def fewest(words: Words) -> list[str]:
    """The words without those that have another one in them."""
    return sorted(word for word in words if not any(other != word and other in word for other in words))


@pytest.mark.parametrize("name", sorted(SIEVES))
def test_each_match_of_a_pattern_has_one_of_the_words_of_its_sieve(name: str) -> None:
    sieve = SIEVES[name]
    wanted = needed(_parser.parse(sieve.pattern.pattern, sieve.pattern.flags))
    assert wanted is not None, "each branch needs a word"
    missing = [one for one in wanted if not any(word in one for word in sieve.words)]
    assert not missing, f"the words of {name} are to be {'|'.join(fewest(wanted))!r}"
    assert all(word and word.isascii() and word == word.lower() for word in sieve.words)


def test_there_are_sieves() -> None:
    assert len(SIEVES) >= 4


@example("KİSS")
@example("noſ kıss")
@given(st.text(alphabet="kKKsSſiıIİNnotT ", max_size=12))
def test_letters_that_count_as_others_are_no_way_around(text: str) -> None:
    pattern = re.compile("kiss|not", re.IGNORECASE)
    sieve = Sieve(pattern, "kiss|not")
    assert (sieve.search(text) is None) == (pattern.search(text) is None)
    assert [one.span() for one in sieve.finditer(text)] == [one.span() for one in pattern.finditer(text)]


@pytest.mark.parametrize("text", ["is K" + "I\u017f\u017f", "k\u0131ss", "NOT", "n\u00f6t not"])
def test_what_a_pattern_finds_regardless_of_case_is_found(text: str) -> None:
    assert Sieve(re.compile("kiss|not", re.IGNORECASE), "kiss|not").search(text) is not None
