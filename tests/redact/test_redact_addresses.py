from __future__ import annotations

import pytest
from redact_samples import redactor

from tachograph.redact.finders import addresses
from tachograph.redact.rules.examples import hexa, mixed

WORD = mixed(14)


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(addresses.find(text))]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (f"postgres://app:{WORD}@db:5432/prod", [WORD]),
        (f"amqp://admin:{WORD}@rabbit.example.com/queue", [WORD]),
        ("amqp://admin:password@rabbit.example.com/queue", ["password"]),
        ("https://user:password@api.vendor.io/", ["password"]),
        (f"redis://:{WORD}@cache:6379/0", [WORD]),
        (f"jdbc:mysql://app:{WORD}@db:3306/x", [WORD]),
        (f"jdbc:oracle:thin:app/{WORD}@//db:1521/x", [WORD]),
        (f"jdbc:postgresql://db/x?user=app&password={WORD}", [WORD]),
        (f"app:{WORD}@tcp(db:3306)/prod", [WORD]),
        (f"git clone https://ci:{WORD}@git.example.com/a.git", [WORD]),
        (f"[remote]\n\turl = https://{mixed(24)}@git.example.com/a.git\n", [mixed(24)]),
        (f"https://{mixed(24)}:x-oauth-basic@git.example.com/a", [mixed(24) + ":x-oauth-basic"]),
        (f"https://{mixed(24)}:@api.example.com/v1", [mixed(24)]),
        # signs in a password that should have been escaped
        ("mysql://app:m4p!o@2wd@db.vendor.io:3306/x", ["m4p!o@2wd"]),
        ("mongodb+srv://app:Zxcvbnm@12345)@c0.abc.mongodb.net/e", ["Zxcvbnm@12345)"]),
        ("postgres://app:p4/ss#W@db.vendor.io/x", ["p4/ss#W"]),
        (f"smtps://me@example.com:{WORD}@smtp.example.com:465", [WORD]),
        # user names that are secret, too
        (f"http://{hexa(8)}:{hexa(16)[8:]}@gems.example.com/", [f"{hexa(8)}:{hexa(16)[8:]}"]),
        ("http://cafebabe:deadbeef@gems.example.com", ["cafebabe:deadbeef"]),
        # several hosts, several addresses
        (f"postgresql://app:{WORD}@h1:1,app:{WORD}@h2:2/x", [WORD, WORD]),
        (f"mongodb://app:{WORD}@h1:1,h2:2,h3/x", [WORD]),
        (f"a://b:{WORD}@c d://e:{WORD}@f", [WORD, WORD]),
    ],
)
def test_what_is_masked(text: str, secrets: list[str]) -> None:
    assert masked(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "postgres://user:password@localhost:5432/db",
        "https://user:pass@example.com",
        "ftp://username:password@host",
        "http://abc:xyz@example.com",
        "amqp://guest:guest@broker.vendor.io/",
        "https://${USER}:${PASSWORD}@db.vendor.io/",
        "https://{user}:{password}@db.vendor.io/",
        "https://{{ user }}:{{ password }}@db.vendor.io/",
        "https://%s:%s@db.vendor.io/",
        "https://$U:$P@db.vendor.io/",
        "https://me:<password>@db.vendor.io/",
        "https://me:********@db.vendor.io/",
        "ssh://git@github.com:22/a/b.git",
        "git+ssh://git@github.com/a/b@v1.2.3",
        "https://cdn.example.com:8443/npm/@scope/pkg@1.2.3/index.js",
        "https://cdn.example.com/npm/@scope/pkg@1.2.3?x=@y",
        "https://medium.com/@someone/a-title-1234567890ab",
        "see http://localhost:8000, mail me@example.com",
        "https://me@example.com/x",
        "s3://bucket/key@2x.png",
        '"https://url:8000";@something else',
        "app:password_here(tcp)",
    ],
)
def test_what_is_kept(text: str) -> None:
    assert masked(text) == []
    assert redactor().text(text) == text


def test_the_host_stays() -> None:
    out = redactor().text(f"postgresql://app:{WORD}@calling.eu-1.rds.amazonaws.com:5439/lake?sslmode=require")
    assert out.startswith("postgresql://app:[REDACTED:password:")
    assert out.endswith("@calling.eu-1.rds.amazonaws.com:5439/lake?sslmode=require")


@pytest.mark.parametrize("password", ["xxxxxxxxxxxx", "********", "00000"])
def test_one_character_over_and_over_stands_for_a_password(password: str) -> None:
    assert addresses.find(f"redis://user:{password}@host.example.net:6379") == []
