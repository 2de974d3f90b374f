from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

import pytest
from redact_samples import AWS, AWS_SECRET, GITHUB, HEX_KEY, KEY, PASSWORD, PEM, redactor, trace

from tachograph.redact.placeholder import PLACEHOLDER, placeholder
from tachograph.redact.rules.examples import hexa, mixed, upper

REDACTOR = redactor()


def mark(kind: str, value: str) -> str:
    return placeholder(kind, KEY, value)


def test_headers() -> None:
    sent = [
        ("Host", "api.example.com"),
        ("Authorization", f"Bearer {mixed(40)}"),
        ("authorization", f"Basic {mixed(16)}=="),
        ("Authorization", "opaque"),
        ("X-Api-Key", "k"),
        ("x-amz-security-token", mixed(200)),
        ("Cookie", f"a={mixed(10)}; theme=dark"),
        ("Set-Cookie", f"sid={mixed(20)}; Path=/; HttpOnly"),
        ("Referer", f"https://x/?api_key={hexa(32)}"),
        ("x-request-id", "req_01" + mixed(22)),
        ("anthropic-ratelimit-tokens-remaining", "123456789"),
        ("x-amzn-bedrock-input-token-count", "1234567"),
        (
            "Authorization",
            f"AWS4-HMAC-SHA256 Credential={AWS}/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature={hexa(64)}",
        ),
    ]
    tally: Counter[str] = Counter()
    out = REDACTOR.headers(sent, tally)
    assert [name for name, _ in out] == [name for name, _ in sent]
    got = [value for _, value in out]
    assert got[:12] == [
        "api.example.com",
        f"Bearer {mark('authorization', mixed(40))}",
        f"Basic {mark('authorization', mixed(16) + '==')}",
        mark("authorization", "opaque"),
        mark("key", "k"),
        mark("authorization", mixed(200)),
        f"a={mark('cookie', mixed(10))}; theme={mark('cookie', 'dark')}",
        f"sid={mark('cookie', mixed(20))}; Path=/; HttpOnly",
        f"https://x/?api_key={mark('key', hexa(32))}",
        "req_01" + mixed(22),
        "123456789",
        "1234567",
    ]
    assert got[12].startswith("AWS4-HMAC-SHA256 [REDACTED:")
    assert trace(AWS, got[12]) is None
    assert trace(hexa(64), got[12]) is None
    assert REDACTOR.headers(out) == out
    assert tally.total() == 10


def test_url() -> None:
    plain = "https://api.example.com/v1/messages?limit=10&page_token=abc&q=password"
    assert REDACTOR.url(plain) == plain
    for url, secret in (
        (f"https://u:{mixed(12)}@h/x", mixed(12)),
        (f"https://{GITHUB}@github.com/o/r.git", GITHUB),
        (f"https://h/x?key=AIza{mixed(35)}", "AIza" + mixed(35)),
        (f"https://h/cb#access_token={mixed(40)}&state=1", mixed(40)),
        (f"https://api.telegram.org/bot1234567890:A{'A' + mixed(33)}/getMe", "A" + "A" + mixed(33)),
        (f"https://h/?a=1&client_secret={mixed(24)}&b=2", mixed(24)),
        (f"otpauth://totp/a:b?secret={upper(32)}&issuer=x", upper(32)),
    ):
        out = REDACTOR.url(url)
        assert trace(secret, out) is None
        assert REDACTOR.url(out) == out


def test_arguments() -> None:
    for argv, hidden in (
        (["mysql", "-uroot", f"-p{PASSWORD}", "db"], PASSWORD),
        (["curl", "-u", f"me:{PASSWORD}", "https://x"], PASSWORD),
        (["curl", "-H", f"Authorization: Bearer {mixed(40)}", "https://x"], mixed(40)),
        (["tool", "--password", "correcthorse"], "correcthorse"),
        (["tool", f"--api-key={hexa(32)}"], hexa(32)),
        (["env", f"DB_PASSWORD={PASSWORD}", "run"], PASSWORD),
        (["sshpass", "-p", PASSWORD, "ssh", "h"], PASSWORD),
        (["sh", "-c", f"export TOKEN={GITHUB}; run"], GITHUB),
        (["psql", f"postgres://u:{mixed(12)}@h/d"], mixed(12)),
    ):
        out = REDACTOR.arguments(argv)
        assert len(out) == len(argv)
        assert trace(hidden, " ".join(out)) is None, argv
        assert REDACTOR.arguments(out) == out
    for argv in (
        ["pytest", "-p", "no:cacheprovider", "-k", "token"],
        ["docker", "run", "-p", "8080:80", "img"],
        ["tool", "--password-file", "/run/x", "--max-tokens", "4096"],
        ["cp", "-p", "a", "b"],
        ["git", "log", "--author", "me"],
        ["tool", "--password", "--verbose"],
    ):
        assert REDACTOR.arguments(argv) == argv


def test_environment() -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/root",
        "OPENAI_API_KEY": "sk-x",
        "DB_PASSWORD": PASSWORD,
        "DATABASE_URL": f"postgres://u:{mixed(12)}@h/d",
        "GITHUB_TOKEN": GITHUB,
        "MISC": GITHUB,
        "AUTH_TOKEN": "true",
        "PASSWORD": "",
        "SECRET_FILE": "/run/secrets/x",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "TOKENIZERS_PARALLELISM": "false",
        "API_KEY_PATH": "./key",
        "MAX_TOKENS": "4096",
    }
    out = REDACTOR.environment(env)
    changed = {name for name in env if out[name] != env[name]}
    assert changed == {"OPENAI_API_KEY", "DB_PASSWORD", "DATABASE_URL", "GITHUB_TOKEN", "MISC"}
    assert out["OPENAI_API_KEY"] == mark("key", "sk-x")
    assert out["GITHUB_TOKEN"] == out["MISC"]
    assert REDACTOR.environment(out) == out


BODY = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": f"key {GITHUB}"}]}


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "application/vnd.x+json", ""])
def test_json_bodies(content_type: str) -> None:
    out = REDACTOR.body(json.dumps(BODY).encode(), content_type=content_type)
    assert out == {**BODY, "messages": [{"role": "user", "content": f"key {mark('github-token', GITHUB)}"}]}


def test_packed_bodies() -> None:
    out = REDACTOR.body(gzip.compress(json.dumps(BODY).encode()), content_type="application/json", content_encoding="gzip")
    assert out["max_tokens"] == 10
    assert GITHUB not in str(out)
    # An encoding that does not fit hides nothing.
    for data, encoding in (
        (b"no gzip " + GITHUB.encode(), "gzip"),
        (GITHUB.encode(), "unheard-of"),
        (gzip.compress(b"\0" * (65 << 20)), "gzip"),
    ):
        assert PLACEHOLDER.fullmatch(REDACTOR.body(data, content_type="text/plain", content_encoding=encoding))


def test_form() -> None:
    out = REDACTOR.body(f"a=1&password=hunter2&note=see+{GITHUB}&empty=".encode(), content_type="application/x-www-form-urlencoded")
    assert out == {
        "$form": [["a", "1"], ["password", mark("password", "hunter2")], ["note", f"see {mark('github-token', GITHUB)}"], ["empty", ""]]
    }


def test_multipart() -> None:
    parts = [
        (['Content-Disposition: form-data; name="password"'], b"hunter2"),
        (['Content-Disposition: form-data; name="meta"', "Content-Type: application/json"], json.dumps({"token": mixed(30)}).encode()),
        (['Content-Disposition: form-data; name="file"; filename="k.pem"', "Content-Type: text/plain"], PEM.encode()),
        (['Content-Disposition: form-data; name="bin"; filename="x"', "Content-Type: image/png"], b"\x89PNG\xff\x00"),
    ]
    for boundary in ("----x123", "other"):
        body = b"".join(
            b"--" + boundary.encode() + b"\r\n" + "\r\n".join(head).encode() + b"\r\n\r\n" + data + b"\r\n" for head, data in parts
        )
        out = REDACTOR.body(body + b"--" + boundary.encode() + b"--\r\n", content_type=f'multipart/form-data; boundary="{boundary}"')
        assert [part["body"] for part in out["$multipart"]] == [
            mark("password", "hunter2"),
            {"token": mark("token", mixed(30))},
            mark("private-key", PEM),
            b"\x89PNG\xff\x00",
        ]
        assert out["$multipart"][1]["headers"] == [["Content-Disposition", 'form-data; name="meta"'], ["Content-Type", "application/json"]]
        assert boundary not in str(out)


@pytest.mark.parametrize(
    "body",
    [
        '{"password":"hunter2x","password":"none"}',
        f'{{"password":"{PASSWORD}","cut":"of',
        "[" * 5000 + f'"{GITHUB}"',
        f'{{"a":NaN,"password":"{PASSWORD}"}}',
    ],
)
def test_json_that_is_none_is_text(body: str) -> None:
    out = REDACTOR.body(body.encode(), content_type="application/json")
    assert isinstance(out, str)
    for secret in ("hunter2x", PASSWORD, GITHUB):
        assert trace(secret, out) is None


def test_other_bodies() -> None:
    assert REDACTOR.body(f"hello {GITHUB}".encode(), content_type="text/plain") == f"hello {mark('github-token', GITHUB)}"
    assert REDACTOR.body(b"\xff\xfe\x00" * 9, content_type="application/octet-stream") == b"\xff\xfe\x00" * 9
    out: Any = REDACTOR.body(b"\xff\xfe\x00" * 9 + GITHUB.encode(), content_type="application/octet-stream")
    assert isinstance(out, bytes)
    assert GITHUB.encode() not in out
    assert REDACTOR.body(b"", content_type="application/json") == ""
    assert REDACTOR.body(b"3", content_type="application/json") == 3


def test_text_that_is_only_labelled_a_form_is_read_as_text() -> None:
    # urllib labels every body a form. Taken for one, `AccountKey=a+b` would lose its plus and the cookie its name.
    text = f"Cookie: theme=dark; sessionid={HEX_KEY}\nAccountName=x;AccountKey={AWS_SECRET}+{AWS_SECRET}=="
    out = redactor().body(text.encode(), content_type="application/x-www-form-urlencoded")
    assert isinstance(out, str)
    assert trace(HEX_KEY, out) is None
    assert trace(AWS_SECRET, out) is None
