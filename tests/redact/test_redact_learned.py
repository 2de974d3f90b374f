from __future__ import annotations

import base64
import json
from collections import Counter
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import GITHUB, HEX_KEY, KEY, PASSWORD, PEM, trace

from tachograph.redact import learned
from tachograph.redact.engine import Redactor
from tachograph.redact.names import named
from tachograph.redact.placeholder import placeholder
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import hexa, mixed

MARK = placeholder("password", KEY, PASSWORD)


def learner() -> Redactor:
    return Redactor(Policy.default(), key=KEY, learns=True)


@pytest.mark.parametrize(
    "said",
    [
        f"password={PASSWORD}",
        json.dumps({"password": PASSWORD}),
        f"postgres://app:{quote(PASSWORD, safe='')}@db/x and password: {PASSWORD}",
        f"curl -u app:{PASSWORD} https://x.example",
        f"Authorization: Basic {base64.b64encode(f'app:{PASSWORD}'.encode()).decode()}",
    ],
)
def test_what_was_found_once_is_masked_in_what_comes_later(said: str) -> None:
    red = learner()
    assert PASSWORD in red.text(f"it is {PASSWORD}")
    red.text(said)
    assert trace(PASSWORD, red.text(f"it is {PASSWORD}")) is None
    for form in (quote(PASSWORD, safe=""), base64.b64encode(f"app:{PASSWORD}".encode()).decode(), PASSWORD.encode().hex()):
        assert trace(form, red.text(f"it is {form} then"), 12) is None
    assert red.document([f"<{PASSWORD}>"]) == [f"<{MARK}>"]


def test_a_value_that_stands_alone_before_its_name() -> None:
    red = learner()
    value = {"first": PASSWORD, "then": {"db": {"password": PASSWORD}}, "raw": PASSWORD.encode(), PASSWORD: 1}
    tally: Counter[str] = Counter()
    out = red.document(value, tally)
    assert out == {"first": MARK, "then": {"db": {"password": MARK}}, "raw": MARK.encode(), MARK: 1}
    assert tally == {"password": 4}
    _, chunks = learner().answer([], [f"{PASSWORD} … ".encode(), f"password={PASSWORD}".encode()])
    assert chunks == [f"{MARK} … ".encode(), f"password={MARK}".encode()]
    assert learner().raw(f"{{{PASSWORD} password={PASSWORD}".encode()) == f"{{{MARK} password={MARK}".encode()
    body = learner().body(json.dumps(value | {"raw": 1}).encode(), content_type="application/json")
    assert PASSWORD not in json.dumps(body)


def test_nothing_is_learned_unless_it_is_asked_for() -> None:
    red = Redactor(Policy.default(), key=KEY)
    red.text(f"password={PASSWORD}")
    assert red.text(f"it is {PASSWORD}") == f"it is {PASSWORD}"
    assert red.generation == 0


@pytest.mark.parametrize(
    ("value", "rule", "lasts"),
    [
        (PASSWORD, "name:password", True),
        (PASSWORD, "command-flag", True),
        (PASSWORD, "url-userinfo", True),
        (HEX_KEY, "name:api_key", True),
        (GITHUB, "github-pat", True),
        (mixed(24), "header:authorization", True),
        (mixed(24), "service:acme", True),
        (mixed(24), "cookie", True),
        (PEM, "private-key", True),
        (hexa(40), "service:acme", False),
        ("123e4567-e89b-12d3-a456-426614174000", "cookie", False),
        ("123e4567-e89b-12d3-a456-426614174000", "name:client_secret", True),
        ("correcthorse", "name:password", False),
        ("hunter2", "name:password", False),
        ("0123456789012", "name:password", False),
        ("two words 1A", "name:password", False),
        ("someone@example.com", "pii:email", False),
        (PASSWORD, "cut-off", False),
        (PASSWORD, "", False),
    ],
)
def test_what_is_learned(value: str, rule: str, lasts: bool) -> None:
    assert learned.lasting(value, rule, named) is lasts


def test_the_lines_of_a_key_are_known_later() -> None:
    red = learner()
    red.text(f"cat key.pem\n{PEM}\n")
    line = PEM.splitlines()[1]
    assert line not in red.text(f"key.pem:1:{line}")


def test_what_stands_behind_a_key_that_was_cut_is_not_learned_with_it() -> None:
    """Masked to the end there, and by itself as far as it is a secret: else a replay, which learned less, would mask less."""
    red = learner()
    cut = "\n".join(PEM.splitlines()[:2])
    assert GITHUB not in red.text(f"{cut}\napi_key={GITHUB}\nordinary-line-of-text-17\n")
    assert red.text("ordinary-line-of-text-17") == "ordinary-line-of-text-17"
    assert red.text(f"api_key={GITHUB}").startswith("api_key=[REDACTED:")


def test_there_is_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "MOST", 2)
    red = learner()
    values = [f"{mixed(12)}-{number}{number}" for number in range(4)]
    for value in values:
        assert value not in red.text(f"password={value}")
    assert [value in red.text(f"it is {value}") for value in values] == [False, False, True, True]


@given(st.permutations([f"password={PASSWORD}", f"it is {PASSWORD}", f"token={GITHUB} {GITHUB}", "nothing", f"x{PASSWORD}x {MARK}"]))
def test_learning_keeps_redaction_idempotent(texts: list[str]) -> None:
    red = learner()
    out = [red.text(text) for text in texts]
    assert [red.text(text) for text in [red.text(text) for text in out]] == [red.text(text) for text in out]
