"""Secrets are compared by their places where the key of their fingerprints is not at hand."""

from __future__ import annotations

from collections import Counter

import pytest

from planted import ALL
from tachograph.host.byplace import KnownByPlace, PlaceRedactor
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy

ONE, OTHER = next(each.secret for each in ALL if each.kind == "github"), "AKIA" + "Q7Z4M2X9B5N8T1V6"


def told(redactor: Redactor, text: str) -> str:
    return redactor.text(text, Counter())


def masked(text: str) -> str:
    return told(Redactor(Policy.default(), key=b"the store's", learns=True), text)


def replayed(recorded: list[str], live: list[str]) -> list[str]:
    redactor = PlaceRedactor(Policy.default(), key=b"another", learns=True)
    known = KnownByPlace(redactor)
    for then, now in zip(recorded, live, strict=True):
        known.align({"a": [then]}, {"a": [told(redactor, now)]})
    return [told(redactor, now) for now in live]


def neutral(texts: list[str]) -> list[str]:
    from tachograph.redact.placeholder import neutral as plain

    return [plain(text) for text in texts]


def test_the_same_secrets_in_the_same_places_are_the_same() -> None:
    live = [f"key {ONE} end", f"{OTHER}", f"both {ONE} and {OTHER}"]
    recorded = [masked(text) for text in live]
    assert ONE not in "".join(recorded)
    assert neutral(replayed(recorded, live)) == neutral(recorded)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ([f"a {ONE}", f"b {OTHER}"], [f"a {ONE}", f"b {ONE}"]),  # one value where two were
        ([f"a {ONE}", f"b {ONE}"], [f"a {ONE}", f"b {OTHER}"]),  # two where one was
        ([f"a {ONE} x"], [f"a {ONE} y"]),
        ([f"a {ONE} x"], ["a no secret"]),
    ],
)
def test_other_secrets_or_other_words_are_a_difference(then: list[str], now: list[str]) -> None:
    recorded = [masked(text) for text in then]
    assert neutral(replayed(recorded, now)) != neutral(recorded)


def test_a_value_that_only_the_recorder_knew_to_be_secret() -> None:
    known = Redactor(Policy.default(), key=b"the store's", known={"plain-looking-value": "env"}, learns=True)
    live = ["say plain-looking-value twice", "plain-looking-value again"]
    recorded = [told(known, text) for text in live]
    assert "plain-looking" not in "".join(recorded)
    assert neutral(replayed(recorded, live)) == neutral(recorded)


def test_placeholders_side_by_side() -> None:
    redactor = PlaceRedactor(Policy.default(), key=b"another", learns=True)
    KnownByPlace(redactor).align("x[REDACTED:env:00000001][REDACTED:env:00000002]", "x[REDACTED:env:0000000a][REDACTED:env:0000000b]")
    assert redactor.renamed == {"0000000a": "00000001", "0000000b": "00000002"}
