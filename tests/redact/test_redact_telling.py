"""Which places of stems are passed over, and that nothing is found there."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from redact_samples import PASSWORD

from tachograph.redact.finders import assignments, nested, pairs, prose, tables
from tachograph.redact.finders.assignments import everywhere
from tachograph.redact.rules.examples import mixed
from tachograph.redact.spans import Found
from tachograph.redact.telling import Telling, telling

TOKEN = mixed(24)


def found(text: str, which: Telling) -> list[Found]:
    return sorted(
        [
            *assignments.find(text, which.assigned),
            *tables.find(text, which.below),
            *nested.find(text, which.nested),
            *pairs.find(text, which.paired),
            *prose.told(text, which.told),
        ]
    )


def everything(text: str) -> Telling:
    places = everywhere(text)
    return Telling(places, places, places, places, places)


@pytest.mark.parametrize(
    "text",
    ["keyword = x", "if passed:", "self._sampwidth", "\n    key, ", "(keys)", "for key in", "author: x", "cache key = x", "path_key_name"],
)
def test_words_that_say_nothing_are_passed_over(text: str) -> None:
    assert not any(telling(text, everywhere(text)))


@pytest.mark.parametrize(
    "text",
    [
        "api key",
        "Secret Key: ",
        "the API  key",
        "| API Key |",
        "\\nkey",
        "tokens:",
        "-Dkey",
        "key-a1",
        "contraseña",
        "pass",
        "cookie",
        "x" * 80 + "key",
    ],
)
def test_words_that_may_say_something_are_kept(text: str) -> None:
    assert any(telling(text, everywhere(text)))


def test_what_the_user_calls_a_secret_is_kept() -> None:
    assert telling("membership", [(0, "membership")]).assigned


PIECES = (
    "key", "keys", "Key", "token", "pass", "password", "passed", "api", "API", "secret", "cache", "author", "auth", "sonar", "Login", "_", "-", ".", "$", "-D", "--",
    " ", "  ", "\n", "\t", ",", ";", "|", "---", "=", ":", ": ", " = ", "[", "]", "(", ")", "{", "}", '"', "'", "`", "*", "\\n", '\\"', "<", ">", "</", "name=", "value", "default",
    '"value": "', '"name": "', "<name>", "</name><value>", "</value>", " -> ", "null", " is ", " to ", " for ", "/", "ñ", "пароль", "2", "#", "arn:", "%3D", "%20", "&", "?",
    TOKEN, PASSWORD, f'"{TOKEN}"', f" {TOKEN}\n", f"{PASSWORD}\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
@example(f'$sonarLogin = "{TOKEN}"')
@example(f"API Key,id\n{TOKEN},1\n")
@example(f"-Dkey={TOKEN}")
def test_nothing_is_found_at_what_is_passed_over(text: str) -> None:
    assert found(text, telling(text, everywhere(text))) == found(text, everything(text))
