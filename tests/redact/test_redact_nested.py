"""Secrets below their names: block scalars, values on the next line, lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import PASSWORD, redactor

from tachograph.redact.finders import nested
from tachograph.redact.rules.examples import mixed

REDACTOR = redactor()
WORD = "sun" + "flower42"
TOKEN = mixed(24)


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(nested.find(text))]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (f"db:\n  password: |\n    {PASSWORD}\n  user: x\n", [PASSWORD]),
        (f"db:\n  password: >-\n    {WORD}\n  user: x\n", [WORD]),
        (f"password: |2- # of the database\r\n    {WORD}\r\nuser: x\r\n", [WORD]),
        (f"- password: |\n    {WORD}\n- x: y\n", [WORD]),
        (f"key:\nsigning_key: |\n  {TOKEN}\n  {TOKEN[::-1]}\n\n  abcdefgh\nuser: x\n", [f"{TOKEN}\n  {TOKEN[::-1]}\n\n  abcdefgh"]),
        (f"db:\n  password:\n    {PASSWORD}\n  user: x\n", [PASSWORD]),
        (f'db:\n  "password":\n    "{WORD}"\n', [WORD]),
        (f"tokens:\n  - {TOKEN}\n  # the second\n  - {TOKEN[::-1]}\n  - word\nuser: x\n", [TOKEN, TOKEN[::-1]]),
        (f"passwords:\n- {PASSWORD}\n- '{WORD}'\nusers:\n- ann\n", [PASSWORD, WORD]),
        (f"api_keys: [{TOKEN}, {TOKEN[::-1]}]\n", [TOKEN, TOKEN[::-1]]),
        (f'x {{"passwords": ["{WORD}", "{PASSWORD}"]', [WORD, PASSWORD]),
        (f'PASSWORDS = ("{WORD}", "ann")\n', [WORD]),
        (f'String[] apiKeys = new String[] {{"{TOKEN}", "x"}};\n', [TOKEN]),
        (f"tokens: list[str] = ['{TOKEN}']\n", [TOKEN]),
        (f"пароль:\n  {WORD}\n", [WORD]),
    ],
)
def test_below_and_behind_a_name(text: str, values: list[str]) -> None:
    assert masked(text) == values
    for value in values:
        assert value not in REDACTOR.text(text)


@pytest.mark.parametrize(
    "text",
    [
        "password:\n  type: string\n  minLength: 8\n",
        "password:\n\n  text2go of the next paragraph\n",
        "password:\nuser2name\n",
        "secrets:\n  - source: db1\n    target: x2\n",
        "secrets:\n- db-password\n- ssl_cert_2\n",
        "if password:\n    return check2\n",
        "def f(password):\n    x1y2z3 = 1\n",
        "password: |\n  The password of the user, which must have 8 characters.\n",
        "password: |\n  ${DB_PASSWORD}\n",
        "password:\n  <your password>\n",
        "token:\n  from_secret: my_token2\n",
        "description:\n  sunflower42\n",
        "keys: [ArrowUp, F12, Enter]\n",
        "max_tokens: [1024, 2048]\n",
        "tokens = [tok1, tok2, self.x3]\n",
        "passwords = [user1.password2, get2(x)]\n",
        "secrets = ['aws', 'gcp', 'db-creds']\n",
        "tokens = ['the', 'cat', 'sat2']\n",
        "const { password, token2 } = props2;\n",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert masked(text) == []


def test_texts_of_nothing_but_keys_are_read_once() -> None:
    assert nested.find("password:\n" * 50_000) == []
    assert nested.find(" password: |\n" * 50_000) == []
    assert nested.find("password:#" * 50_000) == []
    assert nested.find("passwords: [" * 50_000) == []
    assert len(nested.find("passwords:\n" + "- aB3dE6gH9\n" * 3000)) >= 2000


@given(
    st.lists(
        st.sampled_from(["password", "tokens", ":", "\n", " ", "  ", "- ", "|", ">", "[", "]", ",", "'", "aB3dE6gH9", "\r", "\t", "="]),
        max_size=40,
    ).map("".join)
)
def test_any_text(text: str) -> None:
    for found in nested.find(text):
        assert 0 <= found.start < found.end <= len(text)
