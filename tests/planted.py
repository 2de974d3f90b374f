"""Secrets of every kind to plant, and a watch that finds them wherever they come up again.

The secrets are made anew from a seed, so that no scanner takes this source for a leak and no two share a piece.
"""

from __future__ import annotations

import base64
import json
import os
import random
import string
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

_RANDOM = random.Random(20260911)


def _some(alphabet: str, length: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


_MIXED = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def _password() -> str:
    """What a generator of passwords makes: letters, a digit and a sign that needs no escape in a shell or a URL."""
    return _some(string.ascii_letters, 9) + "_" + _some(string.digits, 3) + _some(string.ascii_letters, 4)


class Planted(NamedTuple):
    """One secret as people meet it: ``text`` is the line in which it stands."""

    kind: str
    text: str
    secret: str


def _pem(begin: str = "RSA PRIVATE KEY", lines: int = 4) -> tuple[str, str]:
    body = [_some(_MIXED + "+/", 64) for _ in range(lines)]
    return f"-----BEGIN {begin}-----\n" + "\n".join(body) + f"\n-----END {begin}-----", body[lines // 2]


def _all() -> list[Planted]:
    def planted(kind: str, form: str, secret: str) -> Planted:
        return Planted(kind, form.replace("@@", secret), secret)

    whole, inner = _pem()
    cut, cut_inner = _pem("PRIVATE KEY")
    wrapped, _ = _pem("EC PRIVATE KEY")
    wrapped64 = base64.b64encode(wrapped.encode()).decode()
    escaped, escaped_inner = _pem("OPENSSH PRIVATE KEY")
    pair = "deploy:" + _password()
    basic = base64.b64encode(pair.encode()).decode()
    docker = base64.b64encode(("robot:" + _some(_MIXED, 24)).encode()).decode()
    jwt = (
        "eyJhbGciOiJIUzI1NiJ9."
        + base64.urlsafe_b64encode(json.dumps({"sub": _some(_HEX, 12)}).encode()).decode().rstrip("=")
        + "."
        + _some(_MIXED, 43)
    )
    return [
        planted("cookie", "Cookie: theme=dark; sessionid=@@; lang=en", _some(_MIXED, 32)),
        planted("set-cookie", "Set-Cookie: auth_session=@@; Path=/; HttpOnly", _some(_MIXED, 40)),
        planted("url-userinfo", "postgresql://app:@@@db.internal:5432/orders", _password()),
        planted("url-token", "https://@@@git.internal/team/repo.git", _some(_HEX, 40)),
        planted("url-query", "GET https://api.internal/v1/items?page=2&api_key=@@&sort=asc", _some(_MIXED, 32)),
        planted("signed-url", "https://files.internal/a.zip?X-Amz-Expires=60&X-Amz-Signature=@@", _some(_HEX, 64)),
        planted("cli-mysql", "$ mysql -h db -u root -p@@ orders", _password()),
        planted("cli-curl", "$ curl -s -u deploy:@@ https://api.internal/", _password()),
        planted("cli-flag", "$ deployctl login --user ci --password @@ --yes", _password()),
        planted("cli-assigned", "$ deployctl login --api-token=@@", _some(_MIXED, 30)),
        planted("cli-variable", "$ PGPASSWORD=@@ psql -h db orders", _password()),
        planted("bearer", "Authorization: Bearer @@", _some(_MIXED, 40)),
        planted("basic", "authorization: Basic @@", basic),
        planted("x-api-key", "X-Api-Key: @@", _some(_MIXED, 36)),
        planted("netrc", "machine api.internal\n  login deploy\n  password @@", _password()),
        planted("env-file", "export DATABASE_PASSWORD='@@'", _password()),
        planted("json-key", '{"name": "billing", "client_secret": "@@", "scope": "all"}', _some(_MIXED, 40)),
        planted("json-pair", '{"env": [{"name": "SMTP_PASSWORD", "value": "@@"}]}', _password()),
        planted("yaml", "database:\n  user: app\n  password: @@\n  pool: 5", _password()),
        planted("docker-config", '{"auths": {"registry.internal": {"auth": "@@"}}}', docker),
        planted("connection-string", "Server=db;User Id=app;Password=@@;Encrypt=true", _password()),
        planted("azure-account", "DefaultEndpointsProtocol=https;AccountName=logs;AccountKey=@@", _some(_MIXED + "+/", 86) + "=="),
        planted("xml", "<server><id>repo</id><password>@@</password></server>", _password()),
        Planted("pem", whole, inner),
        Planted("pem-truncated", cut[: len(cut) // 2 + 60], cut_inner[:20]),
        Planted("pem-base64", "tls.key: " + wrapped64, wrapped64[60:120]),
        Planted("pem-json", json.dumps({"private_key": escaped}), escaped_inner),
        planted("aws", "aws_access_key_id = @@", "AK" + "IA" + _some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        planted("aws-secret", "aws_secret_access_key = @@", _some(_MIXED + "/+", 40)),
        planted("github", "remote: token @@ is about to expire", "gh" + "p_" + _some(_MIXED, 36)),
        planted("gitlab", "fatal: @@ was refused", "glp" + "at-" + _some(_MIXED, 20)),
        planted(
            "slack", "posting with @@", "xo" + "xb-" + _some(string.digits, 12) + "-" + _some(string.digits, 12) + "-" + _some(_MIXED, 24)
        ),
        planted("stripe", "charging with @@", "sk_" + "live_" + _some(_MIXED, 24)),
        planted("jwt", "the token was @@ until noon", jwt),
        planted("npm", "//registry.npmjs.org/:_authToken=@@", "np" + "m_" + _some(_MIXED, 36)),
        planted("anthropic", "calling with @@", "sk-" + "ant-api03-" + _some(_MIXED + "_", 93) + "AA"),
        planted("openai", "calling with @@", "sk-" + "proj-" + _some(_MIXED, 74) + "T3Blbk" + "FJ" + _some(_MIXED, 74)),
        planted("google", "calling with @@", "AI" + "za" + _some(_MIXED, 35)),
        planted("huggingface", "calling with @@", "hf" + "_" + _some(string.ascii_letters, 34)),
        planted("groq", "calling with @@", "gs" + "k_" + _some(_MIXED, 52)),
    ]


ALL: list[Planted] = _all()


def needles(secrets: Iterable[str]) -> list[bytes]:
    """Each secret, its inside, and its forms in base64 (at three offsets), hex and a URL."""
    found: set[bytes] = set()
    for secret in secrets:
        data = secret.encode()
        found |= {data, data[4:], quote(secret, safe="").encode(), data.hex().encode()}
        for offset in range(3):
            encoded = base64.b64encode(b"\0" * offset + data)
            found.add(encoded[4:-4])
    return sorted(needle for needle in found if len(needle) >= 8)


class Watch(threading.Thread):
    """Reads every file below some folders over and over, and notes in which one a needle was; file names count, too."""

    def __init__(self, searched: list[bytes], *folders: Path, ignore: tuple[Path, ...] = ()) -> None:
        super().__init__(daemon=True)
        self._needles = searched
        self._folders = folders
        self._ignore = tuple(str(path) for path in ignore)
        self._over = threading.Event()
        self._known: dict[str, tuple[int, int]] = {}
        self.found: dict[str, list[bytes]] = {}
        self.files: set[str] = set()
        self.looks = 0

    def look(self) -> None:
        for folder in self._folders:
            for root, _, names in os.walk(folder):
                for name in names:
                    path = os.path.join(root, name)
                    if not path.startswith(self._ignore):
                        self._read(path)
        self.looks += 1

    def _read(self, path: str) -> None:
        try:
            stat = os.stat(path)
            if self._known.get(path) == (stat.st_size, stat.st_mtime_ns):
                return
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return  # it is gone again
        self._known[path] = (stat.st_size, stat.st_mtime_ns)
        self.files.add(path)
        if bad := leaks(data + b"\n" + path.encode(), self._needles):
            self.found[path] = bad

    def run(self) -> None:
        while not self._over.is_set():
            self.look()
            time.sleep(0.001)

    def end(self) -> None:
        self._over.set()
        self.join()
        self.look()


def leaks(data: bytes, searched: list[bytes]) -> list[bytes]:
    """The needles that are in the data."""
    return [needle for needle in searched if needle in data]
