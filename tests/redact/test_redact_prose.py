"""Sentences that tell a secret, and those that only speak of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import PASSWORD, redactor

from tachograph.redact.finders import prose
from tachograph.redact.rules.examples import mixed

WORD = "sun" + "flower42"
TOKEN = mixed(24)


def masked(text: str) -> list[str]:
    return [text[span.start : span.end] for span in redactor().spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "the password for the staging db is {}.",
        "The password for db.example.com is {}",
        "I changed it: your password is now `{}`, do not share it.",
        "**Password for ann** is **{}**",
        "The wifi passphrase was {}, once",
        "I have set the password to {}.",
        "password was reset by the admin to '{}'",
        "Passwort für den Server ist {}",
        "log in with admin / {}",
        "You can login as admin with password {} on the console",
        "credentials: admin / {}",
        "user admin, pass {}",
        "sign in as ann@example.org / {} please",
        "the password for ann is {}\nand the rest",
    ],
)
@pytest.mark.parametrize("value", [PASSWORD, WORD, "Tr0ub4dor&3x"])
def test_a_password(text: str, value: str) -> None:
    assert masked(text.format(value)) == [value]


def test_a_word_in_quotes_whose_owner_is_said() -> None:
    assert masked("Ensure the password for user 'postgres' is 'tangerine' or change the file.") == ["tangerine"]


@pytest.mark.parametrize(
    ("text", "pin"),
    [
        ("your new PIN is 4711.", "4711"),
        ("Your new PIN: 482913", "482913"),
        ("Your verification code is 482 913", "482 913"),
        ("OTP: 123987", "123987"),
    ],
)
def test_a_pin(text: str, pin: str) -> None:
    assert masked(text) == [pin]


@pytest.mark.parametrize(
    "text", ["the access token for the bot is {}", "Your new API key for production is: {}", "the secret was rotated to {}"]
)
def test_keys_and_tokens(text: str) -> None:
    assert masked(text.format(TOKEN)) == [TOKEN]


@pytest.mark.parametrize(
    "text",
    [
        "the password for the database is stored in vault2.",
        "The password is required.",
        "a password of this kind is 8-character, the next is 256bit long",
        "passwords are hashed; the default for passwords is sha512crypt",
        "The password field is user_password2 in the form",
        "the password is `None` by default",
        "the password for the user is <password>",
        "set password to ${DB_PASSWORD}",
        "the token is IDENTIFIER2",
        "The next token is STRING_LITERAL",
        "the secret to success is perseverance",
        "the key for x is b2",
        "log in with GitHub / GitLab",
        "login at github.com/acme7x",
        "user root:1000",
        "user www-data:docker2",
        "pin 4711 of the board",
        "PIN: see below",
        "The password policy was changed from 8 to 12",
        "password reset is at /users/reset2",
        "the password is at least 12 characters",
    ],
)
def test_what_is_only_spoken_of(text: str) -> None:
    assert masked(text) == []


def test_a_text_of_nothing_but_beginnings_is_read_once() -> None:
    assert prose.told("password " * 30_000) == []
    assert prose.told("password is " * 30_000) == []
    assert prose.find("login as user / " * 30_000) == []


@given(
    st.lists(
        st.sampled_from(["password", "PIN", " is ", " to ", "for", " ", "'", "`", "login", " / ", ":", "aB3dE6gH9", "4711", ".", "\n"]),
        max_size=30,
    ).map("".join)
)
def test_any_text(text: str) -> None:
    for found in (*prose.find(text), *prose.told(text)):
        assert 0 <= found.start < found.end <= len(text)
