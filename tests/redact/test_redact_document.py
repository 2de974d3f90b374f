from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from redact_samples import AWS, GITHUB, KEY, PASSWORD, PEM, SLACK, redactor

from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import PLACEHOLDER, fingerprint, neutral, placeholder
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import hexa, mixed

REDACTOR = redactor()


def mark(kind: str, value: Any) -> str:
    return placeholder(kind, KEY, str(value))


CASES: list[tuple[Any, Any]] = [
    ({"password": "hunter2"}, {"password": mark("password", "hunter2")}),
    ({"password": "correct horse battery staple"}, {"password": mark("password", "correct horse battery staple")}),
    ({"user": {"apiKey": hexa(32), "name": "me"}}, {"user": {"apiKey": mark("key", hexa(32)), "name": "me"}}),
    ({"passwords": ["hunter2", "hunter3"]}, {"passwords": [mark("password", "hunter2"), mark("password", "hunter3")]}),
    ({"pin": 123456, "n": 123456}, {"pin": mark("pin", 123456), "n": 123456}),
    ({"password": 12345678.5}, {"password": mark("password", 12345678.5)}),
    ({"pin": 1234, "password": None, "secret": True, "otp": False}, None),
    ({"env": [{"name": "DB_PASSWORD", "value": "s3cr3tpw"}]}, {"env": [{"name": "DB_PASSWORD", "value": mark("password", "s3cr3tpw")}]}),
    ({"Key": "ApiToken", "Value": mixed(30)}, {"Key": "ApiToken", "Value": mark("token", mixed(30))}),
    (
        {"key": "http.request.header.authorization", "value": {"stringValue": f"Bearer {mixed(30)}"}},
        {"key": "http.request.header.authorization", "value": {"stringValue": f"Bearer {mark('authorization', mixed(30))}"}},
    ),
    (
        {"headers": [["authorization", f"Bearer {mixed(30)}"], ["accept", "*/*"]]},
        {"headers": [["authorization", f"Bearer {mark('authorization', mixed(30))}"], ["accept", "*/*"]]},
    ),
    (
        {"headers": {"Authorization": f"Basic {mixed(24)}=", "Cookie": f"a={mixed(20)}; b=22222"}},
        {
            "headers": {
                "Authorization": f"Basic {mark('authorization', mixed(24) + '=')}",
                "Cookie": f"a={mark('cookie', mixed(20))}; b={mark('cookie', '22222')}",
            }
        },
    ),
    (
        {"headers": {"Authorization": [f"Bearer {mixed(30)}"]}},
        {"headers": {"Authorization": [f"Bearer {mark('authorization', mixed(30))}"]}},
    ),
    ({f"key {GITHUB}": 1}, {f"key {mark('github-token', GITHUB)}": 1}),
    ({"private_key": PEM}, {"private_key": mark("private-key", PEM)}),
    ({"out": b"x " + GITHUB.encode()}, {"out": b"x " + mark("github-token", GITHUB).encode()}),
    ({"arguments": json.dumps({"token": mixed(30)})}, {"arguments": json.dumps({"token": mark("token", mixed(30))})}),
    ([f"{GITHUB}", [GITHUB]], [mark("github-token", GITHUB), [mark("github-token", GITHUB)]]),
    # what a name does not prove
    ({"properties": {"password": {"type": "string", "description": "the password of the user"}}, "required": ["password"]}, None),
    ({"password": "string", "token": "The token to use for the call", "secret": "", "api_key": "<your key>"}, None),
    ({"max_tokens": 100000, "usage": {"input_tokens": 1234567, "output_tokens": 12}, "next_token": mixed(40)}, None),
    ({"username": "password", "list": ["password", "email"]}, None),
    ({"credentials": {"user": "me", "region": "eu"}}, None),
    ({"id": "toolu_01" + mixed(22), "call_id": "call_" + mixed(24), "session_id": hexa(32), "sha": hexa(40)}, None),
    ({"role": "tool", "name": "get_password", "content": "Error 404 entry missing"}, None),
    # what must stay byte for byte
    ({"type": "thinking", "thinking": "hm", "signature": mixed(400) + "=="}, None),
    ({"type": "redacted_thinking", "data": mixed(400)}, None),
    ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "EAACEdEose0" + mixed(400)}}, None),
    ({"image": {"format": "png", "source": {"bytes": mixed(400)}}}, None),
    ({"image_url": {"url": "data:image/png;base64," + mixed(400)}}, None),
    ({"packages": {"a": {"integrity": "sha512-" + mixed(86) + "==", "resolved": "https://r/a.tgz"}}}, None),
    ({"encrypted_content": mixed(500)}, None),
]


@pytest.mark.parametrize(("value", "expected"), CASES, ids=range(len(CASES)))
def test_document(value: Any, expected: Any) -> None:
    fresh = redactor()  # a value's kind is the first one it was found by
    out = fresh.document(value)
    if expected is None:
        assert out is value
    else:
        assert out == expected
        assert fresh.document(out) is out


def test_unchanged_parts_are_the_same_objects() -> None:
    kept = {"a": [1, 2, {"b": "fine"}]}
    value = {"kept": kept, "password": "hunter2"}
    out = REDACTOR.document(value)
    assert out is not value
    assert out["kept"] is kept
    assert value["password"] == "hunter2"


def test_order_of_keys_stays() -> None:
    assert list(REDACTOR.document({"z": 1, GITHUB: 2, "a": GITHUB})) == ["z", mark("github-token", GITHUB), "a"]


def test_a_media_type_that_is_text_is_no_shelter() -> None:
    value = {"type": "text", "media_type": "text/plain", "data": f"token {GITHUB}"}
    assert REDACTOR.document(value)["data"] == f"token {mark('github-token', GITHUB)}"
    value = {"type": "base64", "media_type": "image/png", "data": f"token {GITHUB}"}
    assert REDACTOR.document(value)["data"] == f"token {mark('github-token', GITHUB)}"
    assert GITHUB not in str(REDACTOR.document({"signature": GITHUB, "encrypted_content": PEM + GITHUB}))


def test_known_values_are_found_in_media_too() -> None:
    known = redactor(env="SuperSecretValue1")
    value = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": mixed(100) + "SuperSecretValue1" + mixed(100)},
    }
    assert "SuperSecretValue1" not in str(known.document(value))


def test_deeper_than_sense_is_masked_whole() -> None:
    deep: Any = GITHUB
    for _ in range(100_000):
        deep = [deep]
    out = REDACTOR.document(deep)
    for _ in range(200):
        out = out[0]
    assert PLACEHOLDER.fullmatch(out)


def test_one_value_has_one_kind() -> None:
    tally: Counter[str] = Counter()
    out = redactor().document({"token": GITHUB, "note": f"see {GITHUB}", "password": GITHUB}, tally)
    assert len({*PLACEHOLDER.findall(str(out))}) == 1
    assert tally.total() == 3


def test_names_of_ones_own() -> None:
    policy = Policy(rules=Policy.default().rules, secret_names=frozenset(("nonce",)), plain_names=frozenset(("password",)))
    own = Redactor(policy, key=KEY)
    assert own.document({"nonce": "abc123", "password": "hunter2"}) == {"nonce": mark("secret", "abc123"), "password": "hunter2"}
    assert own.text("NONCE=abc12345") == f"NONCE={mark('secret', 'abc12345')}"


def test_placeholders() -> None:
    assert fingerprint(b"k", "x") != fingerprint(b"l", "x")
    assert len(fingerprint(b"k", "\ud800")) == 8
    made = placeholder("github-token", b"k", "x")
    assert PLACEHOLDER.fullmatch(made)
    assert neutral(f"a {made} b") == f"a [REDACTED:{fingerprint(b'k', 'x')}] b"
    assert neutral("nothing") == "nothing"
    assert json.loads(json.dumps(made)) == made == json.dumps(made)[1:-1]


def test_aws_pair() -> None:
    secret = mixed(20) + "/" + mixed(19)
    out = REDACTOR.document(
        {
            "AccessKeyId": AWS,
            "SecretAccessKey": secret,
            "SessionToken": "IQoJ" + "b3JpZ2lu" + mixed(300),
            "Expiration": "2026-01-01T00:00:00Z",
        }
    )
    assert [PLACEHOLDER.fullmatch(str(v)) is not None for v in out.values()] == [True, True, True, False]
    assert PASSWORD not in str(out)


def test_a_web_key_keeps_its_public_members() -> None:
    private, public = mixed(43), mixed(44)
    key = {"kty": "RSA", "n": public, "e": "AQAB", "d": private, "k": private[:22]}
    masked = REDACTOR.document(key)
    assert masked["n"] == public
    assert masked["e"] == "AQAB"
    assert private[:22] not in str({**masked, "n": ""})
    assert REDACTOR.document({"d": public[:22], "k": "short"}) == {"d": public[:22], "k": "short"}


def test_a_placeholder_is_no_name_of_what_stands_beside_it() -> None:
    # A list of two texts is a name and its value, if the first is a name.
    red = redactor()
    value = [SLACK, "00000112345A"]
    once = red.document(value)
    assert once[1] == "00000112345A"
    assert red.document(once) is once
    text = json.dumps(value)
    assert red.text(red.text(text)) == red.text(text)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"password": {"old": "sun" + "flower42", "new": PASSWORD}}, {"password": {"old": None, "new": None}}),
        ({"secrets": {"db": "sun" + "flower42", "deep": {"x": [PASSWORD]}}}, {"secrets": {"db": None, "deep": {"x": [None]}}}),
        ({"credentials": {"user": "ann", "pw1": PASSWORD}}, {"credentials": {"user": "ann", "pw1": None}}),
        ({"cookies": {"sid": mixed(24), "theme": "dark"}}, {"cookies": {"sid": None, "theme": "dark"}}),
        ({"tokens": ["the", "cat", mixed(24)]}, {"tokens": ["the", "cat", None]}),
        ({"api_keys": [{"name": "ci", "value": mixed(24)}]}, {"api_keys": [{"name": "ci", "value": None}]}),
        ({"ParameterKey": "DbPassword", "ParameterValue": "sun" + "flower42"}, {"ParameterKey": "DbPassword", "ParameterValue": None}),
        ({"option_value": "sun" + "flower42", "option_name": "db_password"}, {"option_value": None, "option_name": "db_password"}),
        ({"password": {"type": "string", "minLength": "8", "description": "At least8"}}, None),
        ({"secret": {"name": "db-creds-x7", "key": "user1x"}}, None),
        ({"token": {"symbol": "USDC2", "address": "0x" + "ab12" * 10}}, None),
        ({"usage": {"tokens": {"prompt": 12, "model": "m4x9"}}}, None),
        ({"keys": ["ArrowLeft", "F12"]}, None),
        ({"secrets": {"items": ["aws", "db-creds"], "enabled": True}}, None),
    ],
)
def test_what_is_below_a_secret_name(value: Any, kept: Any) -> None:
    def same(new: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            return list(new) == list(expected) and all(same(new[key], expected[key]) for key in expected)
        if isinstance(expected, list):
            return len(new) == len(expected) and all(map(same, new, expected))
        return bool(new.startswith("[REDACTED:") if expected is None else new == expected)

    assert same(redactor().document(value), value if kept is None else kept)


def test_a_random_key_below_a_secret_name() -> None:
    token = mixed(24)
    out = redactor().document({"tokens": {token: "ann", "count": 2}})
    assert token not in out["tokens"]
    assert list(out["tokens"].values()) == ["ann", 2]
