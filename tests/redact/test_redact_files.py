from __future__ import annotations

import base64
import json

import pytest
from redact_samples import redactor

from tachograph.redact.finders import files
from tachograph.redact.rules.examples import mixed

REDACTOR = redactor()
WORD = "swordfish"
PAIR = base64.b64encode(b"me:" + WORD.encode()).decode()
SHA = mixed(27) + "="


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(files.find(text))]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (f"machine api.example.com login ziggy^stardust password {WORD}", [WORD]),
        (f"machine api.example.com\n  login me\n  password {WORD}\n", [WORD]),
        (f"machine api.example.com\n\tpassword {WORD}\n\tlogin me\n\taccount x\n", [WORD]),
        (f"default login me password {WORD}\n", [WORD]),
        (f'machine a login me password "{WORD} 9"\n', [f"{WORD} 9"]),
        (f"machine a login b password {WORD}\nmachine c login d password {WORD}2\n", [WORD, WORD + "2"]),
        (f"machine a\\nlogin b\\npassword {WORD}\\nmachine c", [WORD]),
        (f"db.example.com:5432:prod:app:{WORD}\n", [WORD]),
        (f"# pgpass\n*:*:*:app:{WORD}\nlocalhost:5432:*:app:a\\:b\\\\c\n", [WORD, "a\\:b\\\\c"]),
        (f"me:{{SHA}}{SHA}\n", [SHA]),
        (f"userPassword: {{SSHA}}{mixed(38)}==\n", [mixed(38) + "=="]),
        (f'{{"auths": {{"ghcr.io": {{"auth": "{PAIR}"}}}}', [PAIR]),
        (f"_auth = {PAIR}\n", [PAIR]),
    ],
)
def test_what_is_masked(text: str, secrets: list[str]) -> None:
    assert masked(text) == secrets
    assert all(secret not in REDACTOR.text(text) for secret in secrets)


@pytest.mark.parametrize(
    "text",
    [
        "machine learning login pages and password forms",
        "machine a login me password <password>",
        "machine a login me password $PASSWORD",
        "the default login and password",
        "src/x.py:5432:1: E501 line too long",
        "12:30:5432:x",
        '{"auth": "none"}',
        '{"auth": "bearer"}',
        "algorithm: {SHA} or {SSHA}",
    ],
)
def test_what_is_kept(text: str) -> None:
    assert masked(text) == []
    assert REDACTOR.text(text) == text


def test_the_position_in_a_docker_configuration_is_enough() -> None:
    short = base64.b64encode(b"a:b7" + b"c").decode()
    value = {"auths": {"index.docker.io": {"auth": short}, "ghcr.io": {"auth": PAIR, "email": "me@example.com"}}}
    out = REDACTOR.document(value)
    assert out["auths"]["index.docker.io"]["auth"].startswith("[REDACTED:authorization:")
    assert out["auths"]["ghcr.io"]["auth"].startswith("[REDACTED:authorization:")
    assert out["auths"]["ghcr.io"]["email"] == "me@example.com"
    assert list(json.loads(REDACTOR.text(json.dumps(value)))["auths"]) == ["index.docker.io", "ghcr.io"]
    assert REDACTOR.document({"auth": "basic"}) == {"auth": "basic"}


def test_key_shares_and_pairs_by_position() -> None:
    share = mixed(43) + "="
    assert masked(f"Unseal Key 1: {share}\nInitial Root Token: x\n") == [share]
    pair = "cafe" + "babe:dead" + "beef"
    for joint in ("=", ': "', ' = "', '" => "', ' ::= "'):
        assert masked(f"BUNDLE_GEMS__EXAMPLE__COM{joint}{pair}") == [pair]
    assert masked("BUNDLE_WITHOUT=development:test") == []
    assert masked("BUNDLE_GEMS__EXAMPLE__COM=https://example.com") == []
