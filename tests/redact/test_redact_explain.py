"""An explanation says where and why, and nothing of the value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import AWS, GITHUB, JWT, KEY, PASSWORD, PEM, SHAPED, SLACK, redactor, trace

from tachograph.redact.engine import Redactor
from tachograph.redact.explain import explain, lines, near, place
from tachograph.redact.policy import Policy
from tachograph.redact.rules import ALL
from tachograph.redact.rules.examples import lower

TEXTS = {
    f"export DB_PASSWORD='{PASSWORD}'": ("name:DB_PASSWORD", "DB_PASSWORD"),
    f"curl -H 'X-Api-Key: {PASSWORD}' https://api.example": ("", ""),
    f"https://bob:{PASSWORD}@db.example/x": ("url-userinfo", "before the @"),
    f"GET /x?api_key={PASSWORD}": ("", "api_key"),
    f"the key is {GITHUB}.": ("github-token", "begins with gh" + "p_"),
    f"{PEM}": ("private-key", "opener"),
    f'{{"client_secret": "{PASSWORD}"}}': ("name", "says that its value is secret"),
    f"psql --password {PASSWORD}": ("", ""),
}


@pytest.mark.parametrize("text", TEXTS)
def test_why(text: str) -> None:
    rule, words = TEXTS[text]
    found = explain(redactor(), text)
    assert found
    assert found[0].rule.startswith(rule)
    assert words in found[0].why
    said = "\n".join(lines(found, []))
    for secret in (PASSWORD, GITHUB, PEM):
        assert trace(secret.removeprefix("gh" + "p_"), said, 6) is None
    assert "{}" not in said


@pytest.mark.parametrize("rule", ALL, ids=[rule.id for rule in ALL])
def test_no_rule_tells_more_than_its_keyword(rule: object) -> None:
    positive = rule.positive[0]  # type: ignore[attr-defined]
    red = redactor()
    found = explain(red, positive)
    said = "\n".join(lines(found, near(red, positive)))
    for each in found:
        value = positive[each.start : each.end]
        public = max((word for word in rule.keywords if value.startswith(word)), key=len, default="")  # type: ignore[attr-defined]
        assert each.picture.rstrip("…") in value
        if len(value) - len(public) >= 8 and not value[len(public) :].isalpha():
            assert value not in said
            assert value[len(public) :] not in said


@given(st.lists(st.sampled_from([GITHUB, AWS, JWT, SLACK, PASSWORD, "password=", "token: ", "\n", " ", '"', "é"]), max_size=12))
def test_nothing_of_a_value(parts: list[str]) -> None:
    text = "".join(parts)
    red = redactor()
    found = explain(red, text)
    assert [(each.start, each.end, each.kind) for each in found] == [(s.start, s.end, s.kind) for s in red.spans(text)]
    said = "\n".join(lines(found, near(red, text)))
    for secret in (*SHAPED, PASSWORD):
        if trace(secret[6:], red.text(text), 10) is None:
            assert trace(secret[6:], said, 10) is None
    for each in found:
        assert place(text, each.start) == (each.line, each.column)
        assert text.split("\n")[each.line - 1][each.column - 1] == text[each.start]


def test_a_name_that_is_a_secret_is_not_told() -> None:
    assert trace(GITHUB[4:], "\n".join(lines(explain(redactor(), f"{GITHUB}_password={PASSWORD}x"), []))) is None


def test_of_a_rule_of_ones_own() -> None:
    rule = {"id": "acme-key", "pattern": r"acme_[a-z0-9]{24}", "positive": ["acme_" + lower(24)]}
    [found] = explain(Redactor(Policy.of({"rules": {"add": [rule]}}), key=KEY), "x acme_" + lower(24))
    assert (found.rule, found.picture) == ("acme-key", "acme_…")


def test_near() -> None:
    [found] = near(redactor(), "a\n password = os.environ['X']")
    assert (found.line, found.column, found.name, found.kind) == (2, 2, "password", "password")
    assert near(redactor(), f"password = {PASSWORD}") == []
