from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import GITHUB, KEY, redactor, trace

from tachograph.redact.engine import Redactor, known_from_environment
from tachograph.redact.known import Known, acceptable, forms
from tachograph.redact.placeholder import PLACEHOLDER, neutral, placeholder
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
        "TACHO_SECRETS": "TENANT_ID,DB_HOST7",
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


def test_a_value_that_a_person_named_may_be_any_word() -> None:
    red = redactor()
    red.learn("password", "user", sure=True)
    red.learn("blue", "user", sure=True)
    out = red.text("the password is blue, blueish")
    assert out == f"the {placeholder('user', KEY, 'password')} is {placeholder('user', KEY, 'blue')}, blueish"
    assert red.document({"blue": ["blue", 1]}) == {placeholder("user", KEY, "blue"): [placeholder("user", KEY, "blue"), 1]}


def test_the_lines_of_a_value_are_known() -> None:
    red = redactor()
    red.learn("{\n  }\nfirst-line-of-it-9x\nsecond-line-of-it-8y\n-----END-----", "env")
    out = red.text("grep: second-line-of-it-8y } {")
    assert out == f"grep: {placeholder('env', KEY, 'second-line-of-it-8y')} }} {{"


@given(st.lists(st.text(min_size=6, max_size=12), max_size=8), st.lists(st.text(max_size=30), max_size=6))
def test_learning_late_is_learning_early(values: list[str], texts: list[str]) -> None:
    """What was cached before a value was known is as if it had been known."""
    late, early = redactor(), redactor()
    texts = [f"{text}{value} {base64.b64encode(value.encode()).decode()}" for text in texts for value in values] + texts
    for text in texts:
        late.text(text)
    for value in values:
        early.learn(value, "user")
        late.learn(value, "user")
    assert [neutral(late.text(text)) for text in texts] == [neutral(early.text(text)) for text in texts]


def test_a_value_in_two_layers_is_found_after_it_was_learned() -> None:
    red = redactor()
    text = base64.b64encode(f"x: {base64.b64encode(b'user swordfish77').decode()}".encode()).decode()
    assert red.text(text) is text
    red.learn("swordfish77", "user")
    assert PLACEHOLDER.fullmatch(red.text(text))


def test_the_beginning_of_any_form_at_a_cut_end() -> None:
    known = Known()
    known.learn("correct horse battery", "env")
    encoded = base64.b64encode(b"correct horse battery").decode()
    for form in ("correct horse battery", encoded, "correct%20horse%20battery"):
        for length in range(1, len(form) + 1):
            expected = 3 if 8 <= length < len(form) else -1
            if form == encoded and length >= len(encoded) - 4:
                continue  # its last characters are another value's, too
            assert known.beginning("ab " + form[:length]) == expected, form[:length]


def test_names_of_secret_variables_are_no_secrets() -> None:
    red = redactor()
    assert red.environment({"TACHO_SECRETS": "TENANT_ID,DB_HOST7"}) == {"TACHO_SECRETS": "TENANT_ID,DB_HOST7"}
