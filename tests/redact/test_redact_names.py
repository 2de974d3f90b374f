from __future__ import annotations

import pytest
from redact_samples import PASSWORD, redactor

from tachograph.redact.names import Named, Strength, named, singular, words
from tachograph.redact.rules.examples import hexa, lower, mixed, upper, uuid
from tachograph.redact.shapes import entropy, hollow, password_like, random

STRICT = [
    "password",
    "PASSWORD",
    "db_password",
    "userPassword",
    "DB_PASSWD",
    "PGPASSWORD",
    "pwd",
    "MYSQL_PWD",
    "passphrase",
    "secret",
    "client_secret",
    "clientSecret",
    "my-secret",
    "api_key",
    "apiKey",
    "apikey",
    "X-Api-Key",
    "API_KEY_PROD",
    "secret_key",
    "SECRET_KEY_BASE",
    "AWS_SECRET_ACCESS_KEY",
    "private_key",
    "access_token",
    "auth_token",
    "refreshToken",
    "authorization",
    "Proxy-Authorization",
    "cookie",
    "Set-Cookie",
    "x-amz-security-token",
    "encryption_key",
    "signing-key",
    "otp",
    "pin",
    "stripe.api.key",
    "db_pass",
    "PSWD",
    "psswrd",
    "paasword",
    "비밀번호",
    "пароль",
    "contraseña",
    "session_token",
]
LIKELY = [
    "token",
    "STRIPE_KEY",
    "first_pass",
    "auth",
    "credentials",
    "GITHUB_TOKENS_TOKEN",
    "zulip_token",
    "deepgram_key",
    "sig",
    "smtp_auth",
    "jwt",
]
NONE = [
    "max_tokens",
    "maxTokens",
    "token_count",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cached_tokens",
    "next_token",
    "nextToken",
    "page_token",
    "continuation_token",
    "eos_token",
    "pad_token",
    "stop_token",
    "tokenizer",
    "token_type",
    "token_limit",
    "public_key",
    "publicKey",
    "primary_key",
    "foreign_key",
    "sort_key",
    "cache_key",
    "partition_key",
    "key",
    "keys",
    "secret_name",
    "secretName",
    "secretKeyRef",
    "password_hash",
    "password_policy",
    "password_field",
    "passwordless",
    "api_key_id",
    "private_key_id",
    "aws_access_key_id",
    "key_id",
    "idempotency_key",
    "translation_key",
    "monkey",
    "keyboard",
    "compass",
    "tokens",
    "author",
    "authors",
    "authored",
    "authority",
    "basic_author",
    "session",
    "session_id",
    "sid",
]


@pytest.mark.parametrize("name", STRICT)
def test_strict(name: str) -> None:
    assert named(name).strength is Strength.STRICT


@pytest.mark.parametrize("name", LIKELY)
def test_likely(name: str) -> None:
    assert named(name).strength is Strength.LIKELY


@pytest.mark.parametrize("name", NONE)
def test_none(name: str) -> None:
    assert named(name).strength is Strength.NONE


def test_words() -> None:
    assert words("fooBarHTTPKey2_x") == ["foo", "bar", "http", "key", "2", "x"]


@pytest.mark.parametrize(
    "value",
    [
        "${X}",
        "$X",
        "$(cat f)",
        "{{ x }}",
        "{x}",
        "<your key>",
        "<token>",
        "xxxxxxxx",
        "XXXX-XXXX",
        "****",
        "...",
        "your-api-key",
        "YOUR_TOKEN",
        "changeme",
        "%(password)s",
        "%s",
        "none",
        "null",
        "placeholder",
        "[REDACTED]",
        "[REDACTED:x:00000000]",
        "op://vault/item",
        "password",
        "my-password",
        "api_key",
        "00000000-0000-0000-0000-000000000000",
    ],
)
def test_hollow(value: str) -> None:
    assert hollow(value)


@pytest.mark.parametrize("value", ["hunter2", "correct horse battery", mixed(20), "p@ssw0rd", uuid(), "letmein", "s3cr3t"])
def test_not_hollow(value: str) -> None:
    assert not hollow(value)


@pytest.mark.parametrize(
    "value",
    [mixed(16), hexa(32), lower(24), upper(32), uuid(), "b_" + lower(10) + "-" + lower(12) + "_" + lower(11), mixed(20) + "/" + mixed(19)],
)
def test_random(value: str) -> None:
    assert random(value)


@pytest.mark.parametrize(
    "value",
    [
        "CloudFrontOriginAccessIdentityList",
        "AsyncClientSecretsWithRawResponse",
        "Python3InterpreterVersion2",
        "us-east-1",
        "gpt-4o-mini-2024-07-18",
        "claude-sonnet-4-20250514",
        "my_application_name_in_words",
        "2026-01-01T00:00:00",
        "1234567890123456",
        "node-modules-cache-linux-x64",
    ],
)
def test_not_random(value: str) -> None:
    assert not random(value)


def test_passwords() -> None:
    assert password_like("IhqSb1Gg")
    assert password_like("wE_x" + "e%Eg30")
    assert not password_like("hunter")
    assert not password_like("two words 1A")


def test_entropy() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abab") == 1
    assert entropy("abcd") == 2


@pytest.mark.parametrize(
    "name",
    ["contrasena", "contraseña", "geheimnis", "passwort", "kennwort", "bindpw", "psk", "wifi_psk", "mdp", "DB_MDP", "senha", "wachtwoord", "heslo", "salasana",
     "parool", "lozinka", "jelszo", "sifre", "adgangskode", "losenord", "passord", "пароль", "密码", "密碼", "パスワード", "비밀번호"],
)  # fmt: skip
def test_password_in_other_languages(name: str) -> None:
    assert named(name).strength is Strength.STRICT
    text = f"{name}=sun" + "flower42\n"
    assert "flower42" not in redactor().text(text)


@pytest.mark.parametrize("name", ["clave", "parola", "sandi", "mot_de_passe"])
def test_words_that_mean_other_things_too(name: str) -> None:
    assert named(name) == Named(Strength.LIKELY, "password")
    assert PASSWORD not in redactor().text(f"{name} = '{PASSWORD}'")
    assert "gatto" in redactor().text(f"{name} = 'gatto'")


def test_one_of_several() -> None:
    assert singular("api_keys") == "api_key"
    assert singular("TOKENS") == "TOKEN"
    assert singular("pass") == "pass"
