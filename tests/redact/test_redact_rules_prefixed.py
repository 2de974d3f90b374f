from __future__ import annotations

import re

import pytest

from tachograph.redact.finders.vendors import Vendors
from tachograph.redact.rules.examples import hexa, lower, mixed, uuid
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import Rule


def found(rule: Rule, text: str) -> list[str]:
    return [text[start:end] for start, end, *_ in Vendors([rule]).find(text)]


def test_a_range_of_lengths() -> None:
    rule = prefixed("a-token", "acme_", "mixed", 20, 30)
    assert found(rule, "x=acme_" + mixed(25)) == ["acme_" + mixed(25)]
    assert found(rule, "x=acme_" + mixed(19)) == []


def test_a_fixed_length_has_a_right_edge() -> None:
    rule = prefixed("a-token", "acme_", "lower", 20, 20)
    assert found(rule, "acme_" + lower(20) + ".") == ["acme_" + lower(20)]
    assert found(rule, "acme_" + lower(21)) == []


def test_every_prefix_is_a_keyword() -> None:
    rule = prefixed("a-token", "acme. acme_v2.", "hex", 24)
    assert rule.keywords == ("acme.", "acme_v2.")
    assert found(rule, "acme." + hexa(24)) == ["acme." + hexa(24)]
    assert found(rule, "acme_v2." + hexa(24)) == ["acme_v2." + hexa(24)]
    assert found(rule, "acmex" + hexa(24)) == []


def test_a_prefix_that_ends_words() -> None:
    anywhere, apart = (prefixed("a-token", "pa-", "mixed", 24, word=word) for word in (False, True))
    assert found(anywhere, "grand-pa-" + mixed(24))
    assert not found(apart, "grand-pa-" + mixed(24))
    assert found(apart, "key pa-" + mixed(24))


@pytest.mark.parametrize("alphabet", ["url", "base64", "dotted"])
def test_a_long_name_of_words_is_no_token(alphabet: str) -> None:
    rule = prefixed("a-token", "acme_", alphabet, 20)
    assert found(rule, "acme_the-name-of-a_thing_with_many-words") == []
    assert found(rule, "acme_" + mixed(24))


def test_a_uuid() -> None:
    rule = prefixed("a-token", "acme-", "uuid")
    assert found(rule, "acme-" + uuid()) == ["acme-" + uuid()]
    assert found(rule, "acme-" + uuid()[:-1]) == []


def test_padding_belongs_to_base64() -> None:
    assert found(prefixed("a-token", "acme_", "base64", 20), "acme_" + mixed(24) + "==") == ["acme_" + mixed(24) + "=="]


def test_it_brings_its_own_examples() -> None:
    rule = prefixed("a-token", "acme_ acm_", "hex", 24)
    assert all(found(rule, text) for text in rule.positive)
    assert len(rule.positive) == 2
    assert not any(found(rule, text) for text in rule.negative)
    assert not re.search(r"[+*}]\)[+*]", rule.pattern.pattern)
