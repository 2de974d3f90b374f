from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import GITHUB, KEY, redactor, trace

from tachograph.redact.engine import Redactor, known_from_environment
from tachograph.redact.known import acceptable, forms
from tachograph.redact.placeholder import PLACEHOLDER, placeholder
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import mixed

VALUE = 'p/w +&"\\Ünï çode!'


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        quote(VALUE),
        quote(VALUE, safe=""),
        quote_plus(VALUE),
        VALUE.encode().hex(),
        json.dumps(json.dumps(VALUE, ensure_ascii=False))[1:-1],
    ],
)
def test_every_form_of_a_value(form: str) -> None:
    out = redactor(env=VALUE).text(f"before {form} after")
    assert trace(form, out) is None


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
def test_base64_at_every_offset(before: str) -> None:
    secret = "correct horse battery"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(f"{before}{secret}".encode()).decode()
        out = redactor(env=secret).text(f"data {encoded} end")
        (mark,) = PLACEHOLDER.finditer(out)
        head, tail = out[len("data ") : mark.start()], out[mark.end() : -len(" end")]
        assert base64.b64decode(head[: len(head) // 4 * 4]) == f"{before}{secret}".encode()[: len(head) // 4 * 3]
        assert len(head) <= -(-len(before) * 4 // 3)
        assert tail == ""


def test_the_longest_wins_and_no_tail_stays() -> None:
    known = Redactor(Policy.default(), key=KEY, known={"secret-abc": "env", "secret-abc-and-more": "env"})
    assert (
        known.text("x secret-abc-and-more y secret-abc z")
        == f"x {placeholder('env', KEY, 'secret-abc-and-more')} y {placeholder('env', KEY, 'secret-abc')} z"
    )


def test_learning_forgets_what_was_cached() -> None:
    red = redactor()
    text = "the word is swordfish77 today"
    assert red.text(text) is text
    red.learn("swordfish77", "user")
    assert red.text(text) == f"the word is {placeholder('user', KEY, 'swordfish77')} today"


@pytest.mark.parametrize(
    "value", ["", "abc", "12345", "true", "aaaaaaaa", "password", "localhost", "${TOKEN}", "your-key", "      ", "127.0.0"]
)
def test_short_and_trivial_values_are_refused(value: str) -> None:
    red = redactor()
    red.learn(value, "env")
    text = f"x {value} y {value}"
    assert red.text(text) is text
    assert not acceptable(value)


def test_environment() -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/root",
        "USER": "root",
        "SHLVL": "1",
        "DEBUG": "true",
        "LANG": "C.UTF-8",
        "EDITOR": "vim",
        "PORT": "8080",
        "PROJECT": "tachograph-main",
        "ANTHROPIC_API_KEY": "sk-ant-dummy-1234",
        "DB_PASSWORD": "hunter2x",
        "DATABASE_URL": "postgres://app:s3cretpw@db/x",
        "SOMETHING": GITHUB,
        "MAX_TOKENS": "1000000",
        "SECRET_FILE": "/run/secrets/db",
        "AUTH_TOKEN": "true",
        "API_KEY": "test",
        "TOKEN": "<token>",
        "NPM_TOKEN": "${NPM_TOKEN}",
        "SSH_AUTH_SOCK": "/tmp/ssh-abc123/agent.1",
    }
    assert known_from_environment(env) == {"sk-ant-dummy-1234": "env", "hunter2x": "env", "s3cretpw": "env", GITHUB: "env"}


def test_known_values_split_over_lines_of_json() -> None:
    red = redactor(env="hunter2x")
    assert json.loads(red.text(json.dumps({"a": "x hunter2x y", "hunter2x": 1}))) == {
        "a": f"x {placeholder('env', KEY, 'hunter2x')} y",
        placeholder("env", KEY, "hunter2x"): 1,
    }


@given(st.text(min_size=6, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_a_known_value_never_stays(value: str, before: str, after: str) -> None:
    red = redactor()
    red.learn(value, "env")
    if acceptable(value):
        out = red.text(f"{before}{value}{after}")
        assert value not in PLACEHOLDER.sub("\0", out)
        assert red.text(out) == out


def test_forms_are_no_doubles() -> None:
    found = [form for form, _ in forms(mixed(20))]
    assert len(found) == len(set(found)) == 6  # itself, three offsets of base64, two spellings of hex
