"""Calls to live models: where credentials may go, how requests are sent, what goes wrong in one line."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tachograph.core.errors import UsageError
from tachograph.host.live import Live, Question
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy

KEYS = {"ANTHROPIC_API_KEY": "anthropic-key-1", "OPENAI_API_KEY": "openai-key-1", "AZURE_OPENAI_API_KEY": "azure-key-1"}
MESSAGES = "https://api.anthropic.com/v1/messages"
CHAT = "https://api.openai.com/v1/chat/completions"
CONVERSE = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude%3A0/converse"


def question(url: str = MESSAGES, *headers: tuple[str, str], body: bytes = b"{}") -> Question:
    return Question(method="POST", url=url, headers=[list(pair) for pair in headers], body=body)


def sent(live: Live, of: Question) -> tuple[str, dict[str, str]]:
    url, headers = live._prepared(of)
    return url, {name.lower(): value for name, value in headers}


@pytest.mark.parametrize(
    ("url", "recorded", "expected"),
    [
        (MESSAGES, ("x-api-key", "[REDACTED:anthropic:00112233]"), ("x-api-key", "anthropic-key-1")),
        (CHAT, ("authorization", "Bearer [REDACTED:openai:00112233]"), ("authorization", "Bearer openai-key-1")),
        ("https://me.openai.azure.com/openai/deployments/a/chat/completions", ("api-key", "[REDACTED:k:00112233]"), ("api-key", "azure-key-1")),
    ],
)  # fmt: skip
def test_the_users_own_key_is_put_where_the_recorded_one_was(url: str, recorded: tuple[str, str], expected: tuple[str, str]) -> None:
    where, headers = sent(Live(KEYS), question(url, recorded, ("Content-Type", "application/json"), ("Host", "x"), ("Content-Length", "9")))
    assert where == url
    assert headers == {expected[0]: expected[1], "content-type": "application/json"}


def test_a_token_is_used_where_a_token_was_or_where_there_is_no_key() -> None:
    both = {**KEYS, "ANTHROPIC_AUTH_TOKEN": "token-1"}
    assert sent(Live(both), question(MESSAGES, ("authorization", "Bearer x")))[1]["authorization"] == "Bearer token-1"
    assert "authorization" not in sent(Live(both), question(MESSAGES, ("x-api-key", "x")))[1]
    assert sent(Live({"ANTHROPIC_AUTH_TOKEN": "token-1"}), question(MESSAGES, ("x-api-key", "x")))[1]["authorization"] == "Bearer token-1"


@pytest.mark.parametrize("url", [MESSAGES, CHAT])
def test_without_credentials_it_says_which_to_set(url: str) -> None:
    with pytest.raises(UsageError, match=r"set (ANTHROPIC|OPENAI)_API_KEY"):
        Live({}).check(question(url))


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/v1/messages", "http://api.anthropic.com/v1/messages", "https://api.anthropic.com.evil.example/v1/messages",
        "https://api.anthropic.com@evil.example/v1/messages", "https://anthropic.com.evil/v1/messages", "https://xanthropic.com/v1/messages",
        "https://evil.example/v1/chat/completions", "https://openai.com.evil.example/v1/chat/completions",
        "https://evil.example/model/m/converse", "https://bedrock-runtime.us-east-1.amazonaws.com.evil.example/model/m/converse",
        "http://127.0.0.1:9/v1/messages", "https://api.anthropic.com\\@evil.example/v1/messages",
    ],
)  # fmt: skip
def test_credentials_never_go_where_only_a_recording_says(url: str) -> None:
    with pytest.raises(UsageError, match="your credentials are not sent there"):
        Live({**KEYS, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}).check(question(url))


@pytest.mark.parametrize(
    ("variable", "base", "recorded", "expected"),
    [
        ("ANTHROPIC_BASE_URL", "https://gw.example/a/", "http://127.0.0.1:1/old/v1/messages?beta=true", "https://gw.example/a/v1/messages?beta=true"),
        ("OPENAI_BASE_URL", "https://gw.example/v1", "https://other.example/api/v1/responses", "https://gw.example/v1/responses"),
        ("OPENAI_BASE_URL", "https://gw.example/v1", CHAT, "https://gw.example/v1/chat/completions"),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "https://vpce.example", CONVERSE, "https://vpce.example/model/anthropic.claude%3A0/converse"),
    ],
)  # fmt: skip
def test_the_base_url_of_the_environment_holds(variable: str, base: str, recorded: str, expected: str) -> None:
    around = {**KEYS, variable: base, "AWS_BEARER_TOKEN_BEDROCK": "bedrock-token"}
    assert sent(Live(around), question(recorded))[0] == expected


def test_what_is_no_model_is_not_called() -> None:
    with pytest.raises(UsageError, match="only calls to models"):
        Live(KEYS).check(question("https://api.anthropic.com/v1/files"))


def test_bedrock_is_signed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    for name, value in (("AWS_ACCESS_KEY_ID", "AKIAOWN"), ("AWS_SECRET_ACCESS_KEY", "own-secret"), ("AWS_EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    old = (("Authorization", "AWS4-HMAC-SHA256 Credential=OLD/1/2"), ("X-Amz-Date", "20200101T000000Z"), ("X-Amz-Security-Token", "old"))
    headers = sent(Live(os.environ), question(CONVERSE, *old, ("Content-Type", "application/json"), body=b'{"messages":[]}'))[1]
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIAOWN/")
    assert "/eu-west-1/bedrock/aws4_request" in headers["authorization"]
    assert headers["x-amz-date"] > "2021"
    assert "x-amz-security-token" not in headers
    # The same signature as the SDK's own.
    import datetime

    import botocore.auth
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    class Then(datetime.datetime):
        @classmethod
        def utcnow(cls) -> Any:
            return cls.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.utcnow().replace(tzinfo=tz)

    again = AWSRequest("POST", CONVERSE, data=b'{"messages":[]}', headers={"Content-Type": "application/json"})
    if hasattr(botocore.auth, "get_current_datetime"):
        monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: Then.utcnow())
    else:
        monkeypatch.setattr(botocore.auth.datetime, "datetime", Then)
    SigV4Auth(Credentials("AKIAOWN", "own-secret"), "bedrock", "eu-west-1").add_auth(again)
    assert again.headers["Authorization"] == headers["authorization"]


def test_bedrock_takes_a_bearer_token() -> None:
    assert sent(Live({"AWS_BEARER_TOKEN_BEDROCK": "bedrock-token"}), question(CONVERSE))[1]["authorization"] == "Bearer bedrock-token"


def test_credentials_are_masked_wherever_they_turn_up() -> None:
    redactor = Redactor(Policy.default(), key=b"k" * 32, learns=True)
    Live({"OPENAI_API_KEY": "plain words here"}).teach(redactor)
    assert "plain words here" not in redactor.text("the answer says plain words here")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        return

    def do_POST(self) -> None:
        self.server.seen.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))  # type: ignore[attr-defined]
        getattr(self, "on_" + json.loads(self.server.seen[-1][2])["do"])()  # type: ignore[attr-defined]

    def on_stream(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(3):
            self.wfile.write(b"3\r\nn=%d\r\n" % number)
            self.wfile.flush()
            self.server.step.wait(5)  # type: ignore[attr-defined]
            self.server.step.clear()  # type: ignore[attr-defined]
        self.wfile.write(b"0\r\n\r\n")

    def on_length(self) -> None:
        self.send_response(200, "Fine")
        self.send_header("Content-Length", "5")
        self.send_header("X-Twice", "1")
        self.send_header("X-Twice", "2")
        self.end_headers()
        self.wfile.write(b"hello")

    def on_short(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "50")
        self.end_headers()
        self.wfile.write(b"hello")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def on_cut(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\nhello\r\n")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def on_noise(self) -> None:
        self.wfile.write(b"SSH-2.0-x\r\n")
        self.close_connection = True


@pytest.fixture
def endpoint() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.step = [], threading.Event()
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.live = Live({**KEYS, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}/gw"})
    yield server
    server.shutdown()
    server.server_close()


def answer(endpoint: Any, do: str) -> list[tuple[dict[str, Any], bytes]]:
    pieces: list[tuple[dict[str, Any], bytes]] = []
    endpoint.live.answer(question(MESSAGES, body=json.dumps({"do": do}).encode()), lambda header, data: pieces.append((header, data)))
    return pieces


def test_an_answer_comes_as_a_client_would_tell_it(endpoint: Any) -> None:
    head, chunk, end = answer(endpoint, "length")
    assert head[0]["m"] == "head"
    assert (head[0]["head"]["status"], head[0]["head"]["reason_phrase"], head[0]["head"]["http_version"]) == (200, "Fine", "HTTP/1.1")
    assert [value for name, value in head[0]["head"]["headers"] if name == "X-Twice"] == ["1", "2"]
    assert (chunk, end) == (({"m": "chunk"}, b"hello"), ({"m": "end", "state": "eof", "error": None}, b""))
    path, headers, _ = endpoint.seen[0]
    assert path == "/gw/v1/messages"
    assert headers["X-Api-Key"] == "anthropic-key-1"


@pytest.mark.parametrize("do", ["short", "cut"])
def test_an_answer_that_breaks_off_is_broken_and_no_end(endpoint: Any, do: str) -> None:
    pieces = answer(endpoint, do)
    assert pieces[1] == ({"m": "chunk"}, b"hello")
    assert pieces[-1][0]["state"] == "broken"
    assert pieces[-1][0]["error"]["message"].endswith("its answer broke off; try again")


def test_what_speaks_no_http_is_told(endpoint: Any) -> None:
    (only,) = answer(endpoint, "noise")
    assert only[0]["m"] == "fail"


@pytest.mark.parametrize(
    ("base", "why"),
    [("http://127.0.0.1:9", "Connection refused"), ("ftp://127.0.0.1", "no URL of a model"), ("http://127.0.0.1:x", "check the base URL")],
)
def test_what_cannot_be_reached_is_one_line(base: str, why: str) -> None:
    pieces: list[Any] = []
    Live({**KEYS, "ANTHROPIC_BASE_URL": base}).answer(question(), lambda header, _: pieces.append(header))
    assert [piece["m"] for piece in pieces] == ["fail"]
    assert why in pieces[0]["error"]["message"]
    assert "\n" not in pieces[0]["error"]["message"]


def collect(live: Live, told: list[Any], until: int) -> None:
    end = time.monotonic() + 10
    while len(told) < until and time.monotonic() < end:
        if select.select([live], [], [], 0.2)[0]:
            live.deliver()


def test_pieces_are_passed_on_as_they_come(endpoint: Any) -> None:
    told: list[Any] = []
    endpoint.live.begin()
    try:
        endpoint.live.ask(question(body=b'{"do":"stream"}'), lambda header, data: told.append((header["m"], data)))
        for number in range(3):
            collect(endpoint.live, told, number + 2)
            assert told[-1] == ("chunk", b"n=%d" % number)
            assert len(told) == number + 2
            endpoint.step.set()
        collect(endpoint.live, told, 5)
        assert told[-1] == ("end", b"")
    finally:
        endpoint.live.close()


def test_a_call_that_is_given_up_tells_nothing_more(endpoint: Any) -> None:
    told: list[Any] = []
    endpoint.live.begin()
    try:
        asked = endpoint.live.ask(question(body=b'{"do":"stream"}'), lambda header, data: told.append((header["m"], data)))
        collect(endpoint.live, told, 2)
        asked.give_up()
        endpoint.step.set()
        time.sleep(0.3)
        endpoint.live.deliver()
        assert len(told) == 2
    finally:
        endpoint.live.close()


def test_a_proxy_of_the_environment_is_used(endpoint: Any) -> None:
    pieces: list[Any] = []
    proxy = f"http://127.0.0.1:{endpoint.server_port}"
    live = Live({**KEYS, "ANTHROPIC_BASE_URL": "http://model.invalid/v", "HTTP_PROXY": proxy})
    live.answer(question(body=b'{"do":"length"}'), lambda header, _: pieces.append(header))
    assert pieces[-1]["state"] == "eof", pieces
    assert endpoint.seen[0][0] == "http://model.invalid/v/v1/messages"
    assert urlsplit(endpoint.seen[0][0]).netloc == endpoint.seen[0][1]["Host"]
