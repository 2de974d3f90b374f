"""JSON that is passed over in one step, and JSON that must not be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import PASSWORD, SHAPED, redactor

from tachograph.redact.engine import Redactor
from tachograph.redact.innocent import undone

NAMES = (
    "id",
    "name",
    "value",
    "key",
    "password",
    "input_tokens",
    "client_secret",
    "kty",
    "d",
    "v",
    "path",
    "Key",
    "x-api-key",
    "token",
    "pin",
)
VALUES = (
    "",
    "\n",
    "\t",
    '"',
    "\\",
    "/",
    "a\nb",
    "\\n",
    '{"pin": "4711"}',
    '["authorization", "x"]',
    "a: |\n b",
    f"\n{SHAPED[0]}",
    f"\n{PASSWORD}\n",
    "a b",
    PASSWORD,
    SHAPED[0],
    "password",
    "authorization",
    "12",
    "a/b",
    "k",
    "aB3dE6gH9jK2mN5qR8tV1xY4",
)


def walked(red: Redactor, text: str) -> Any:
    """What is found by reading everything."""
    red.forget()
    return sorted(red._json(text))


def passed(red: Redactor, text: str) -> bool:
    return red._innocent(text)


@pytest.mark.parametrize(
    "value",
    [
        [{"id": 7, "path": "/srv/data/1.bin", "tags": ["a", "b"]}],
        {"usage": {"input_tokens": 12, "output_tokens": 3}, "content": [{"type": "text", "text": "hello"}]},
        [],
        {"key": "menu"},
        {"role": "tool", "content": 'if x:\n\treturn "a\\b"\r\n', "usage": {"prompt_tokens": 3}},
        {"text": "\\n{\n"},
    ],
)
def test_most_of_what_a_service_answers_is_passed_over(value: Any) -> None:
    assert passed(redactor(), json.dumps(value))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"password": PASSWORD}),
        json.dumps({"text": "a\x0cb"}),
        json.dumps({"text": json.dumps({"pin": "4711"})}),
        json.dumps({"text": "\n " + json.dumps(["x"])}),
        json.dumps({"a\n": "b"}),
        json.dumps({"text": f"\n{SHAPED[0]}"}),
        json.dumps({"text": f"\\n{SHAPED[0]}"}),
        json.dumps({"text": "the token\n"}),
        '{"text": "a\\n" "b"}',
        '{"text": "a\\n", "text": "b"}',
        json.dumps(["authorization", "x"]),
        json.dumps({"name": "a", "value": "b"}),
        json.dumps({"kty": "oct", "k": "x"}),
        json.dumps({"a": "my token"}),
        json.dumps({"a-token-b": "x"}),
        '{"pass\\u0077ord": "x"}',
        json.dumps({"a": SHAPED[0]}),
        json.dumps({"a": "ä"}),
        json.dumps({"a": "пароль"}, ensure_ascii=False),
    ],
)
def test_what_may_hold_a_secret_is_read(text: str) -> None:
    assert not passed(redactor(), text)


def test_a_known_value_is_seen() -> None:
    red = redactor(env="menu-of-the-day")
    assert not passed(red, '{"a": "menu-of-the-day"}')
    assert "menu" not in red.text('{"a": "menu-of-the-day"}')


RED = redactor()
RED.index.compile()

TEXTS = st.sampled_from(VALUES)
LEAVES = TEXTS | st.lists(TEXTS, max_size=4).map("".join) | st.none() | st.integers() | st.text(max_size=6)
VALUE = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(VALUE.filter(lambda value: isinstance(value, (dict, list))), st.booleans())
def test_nothing_is_passed_over_in_which_something_is_found(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    if passed(RED, text):
        assert walked(RED, text) == []


@given(st.text(alphabet='\n\t\r"/\\na', max_size=20), st.text(max_size=5))
def test_a_text_with_its_escapes_undone_holds_each_string(first: str, second: str) -> None:
    text = json.dumps({"a": first, "b": [second]})
    plain = undone(text)
    assert plain is None or (f'"{first}"' in plain and f'["{second}"]' in plain)
    assert undone(json.dumps(first)) == f'"{first}"'


@pytest.mark.parametrize("text", ['"\\u0041"', '"\\b"', '"\\\\\\u0041"', '"\\'])
def test_other_escapes_are_not_undone(text: str) -> None:
    assert undone(text) is None
