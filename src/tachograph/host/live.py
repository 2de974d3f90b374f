"""Calls to a live model, made by the host of a fork: to the endpoint that was recorded, with the user's own credentials.

Only ``tacho fork`` and ``tacho reask`` with ``--live-model`` import this module; it is the only one of a replay that can reach a network.
The credentials are those of the environment that ``tacho`` runs in (``ANTHROPIC_API_KEY`` or ``ANTHROPIC_AUTH_TOKEN``, ``OPENAI_API_KEY``,
``AZURE_OPENAI_API_KEY``, AWS's own chain or ``AWS_BEARER_TOKEN_BEDROCK``). They are put on a request after it was recorded, and are sent
to the provider's own hosts, or to the base URL that this environment names (``ANTHROPIC_BASE_URL``, ``OPENAI_BASE_URL``,
``AWS_ENDPOINT_URL_BEDROCK_RUNTIME``): a recording must not be able to have them sent to a place of its choice.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib
import os
import queue
import re
import socket
import ssl
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tachograph import providers
from tachograph.core.errors import UsageError
from tachograph.redact.engine import Redactor

#: So many calls at once; others wait.
AT_ONCE = 8
#: Seconds for a connection, and between two pieces of an answer.
CONNECT, SILENCE = 30.0, 600.0
#: Bytes of an answer that are handed on at once.
PIECE = 1 << 16

#: Where a provider's own credentials may go besides the base URL that the user names.
_OWN_HOSTS = {
    "anthropic": re.compile(r"(?:[\w-]{1,60}\.)?anthropic\.com"),
    "openai": re.compile(r"(?:[\w-]{1,60}\.)?openai\.com|[\w-]{1,63}\.openai\.azure\.com|[\w-]{1,63}\.services\.ai\.azure\.com"),
    "bedrock": re.compile(r"bedrock(?:-runtime|-mantle)?(?:-fips)?\.[\w-]{1,40}\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"),
}
_BASE = {
    "anthropic": ("ANTHROPIC_BASE_URL",),
    "openai": ("OPENAI_BASE_URL",),
    "bedrock": ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
}
#: Variables whose values are never to be seen in a record, whatever an endpoint does with them.
SECRETS = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
)  # fmt: skip
#: What belongs to the connection or to the recorded credentials, and is made anew.
_NOT_SENT = frozenset({
    "host", "content-length", "connection", "transfer-encoding", "keep-alive", "te", "expect", "upgrade", "proxy-connection", "proxy-authorization",
    "authorization", "x-api-key", "api-key", "cookie", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256",
})  # fmt: skip
_REGION = re.compile(r"bedrock[\w-]{0,20}\.([a-z0-9-]{1,40})\.(?:amazonaws|api\.aws)")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A request as it is to be sent, without credentials."""

    method: str
    url: str
    headers: Sequence[Sequence[str]]
    body: bytes


@dataclass
class Asked:
    """One call under way. ``give_up`` ends it from outside."""

    tell: Callable[[dict[str, Any], bytes], None]
    given_up: bool = False
    connection: http.client.HTTPConnection | None = None

    def give_up(self) -> None:
        self.given_up = True
        connection = self.connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)


@dataclass
class Live:
    """The way to live models. ``environment``: whose credentials are used. Pieces of answers are told as a client tells them (``head``, ``chunk``,
    ``end``, ``fail``), by ``deliver`` on the caller's own thread; ``fileno`` is readable when there are some."""

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def __post_init__(self) -> None:
        self._told: queue.SimpleQueue[tuple[Asked, dict[str, Any], bytes]] = queue.SimpleQueue()
        self._reader: socket.socket | None = None
        self._writer: socket.socket | None = None
        self._pool: ThreadPoolExecutor | None = None

    def teach(self, redactor: Redactor) -> None:
        """So that the credentials are masked wherever they turn up."""
        for name in SECRETS:
            value = self.environment.get(name, "").strip()
            if len(value) >= 8:
                redactor.learn(value, "env", sure=True)

    def check(self, question: Question) -> str:
        """The host that would be asked. Raises ``UsageError`` where it cannot be, or must not."""
        url, _ = self._prepared(question)
        return urlsplit(url).netloc

    def begin(self) -> None:
        """In the process that asks (after a fork of it)."""
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tacho-live")

    def fileno(self) -> int:
        assert self._reader is not None
        return self._reader.fileno()

    def ask(self, question: Question, tell: Callable[[dict[str, Any], bytes], None]) -> Asked:
        """Begin a call."""
        assert self._pool is not None
        asked = Asked(tell)
        self._pool.submit(self._call, asked, question)
        return asked

    def deliver(self) -> None:
        """Tell what has come."""
        assert self._reader is not None
        with contextlib.suppress(OSError):
            while self._reader.recv(4096):
                continue
        while True:
            try:
                asked, header, data = self._told.get_nowait()
            except queue.Empty:
                return
            if not asked.given_up:
                asked.tell(header, data)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        for end in (self._reader, self._writer):
            if end is not None:
                end.close()

    def answer(self, question: Question, tell: Callable[[dict[str, Any], bytes], None]) -> None:
        """A call from beginning to end, in this thread."""
        self._run(Asked(tell), question, tell)

    # -- one call --------------------------------------------------------------------------------------------------------

    def _call(self, asked: Asked, question: Question) -> None:
        def tell(header: dict[str, Any], data: bytes) -> None:
            self._told.put((asked, header, data))
            with contextlib.suppress(OSError):
                assert self._writer is not None
                self._writer.send(b"x")

        self._run(asked, question, tell)

    def _run(self, asked: Asked, question: Question, tell: Callable[[dict[str, Any], bytes], None]) -> None:
        began, host = False, "the model"
        try:
            url, headers = self._prepared(question)
            host = urlsplit(url).netloc
            connection, target = _connection(url, self.environment)
            asked.connection = connection
            if asked.given_up:
                return
            connection.connect()
            connection.sock.settimeout(SILENCE)
            connection.putrequest(question.method, target, skip_host=False, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(question.body)))
            connection.putheader("Connection", "close")
            connection.endheaders(question.body)
            answer = connection.getresponse()
            began = True
            tell({"m": "head", "head": _head(answer)}, b"")
            left = None if answer.chunked else answer.length
            while (left is None or left > 0) and (data := answer.read1(PIECE if left is None else min(PIECE, left))):
                left = None if left is None else left - len(data)
                tell({"m": "chunk"}, data)
            if left:
                raise http.client.IncompleteRead(b"", left)
            connection.close()
            tell({"m": "end", "state": "eof", "error": None}, b"")
        except UsageError as error:
            tell({"m": "fail", "state": "failed", "error": _error(error, str(error))}, b"")
        except (OSError, http.client.HTTPException, ValueError) as error:
            what = _error(error, f"{host}: {_why(error)}")
            tell({"m": "end", "state": "broken", "error": what} if began else {"m": "fail", "state": "failed", "error": what}, b"")
        except BaseException as error:  # noqa: BLE001 - the agent must not wait for ever for a thread that is gone; the text may quote anything
            what = {"type": type(error).__name__, "module": type(error).__module__, "message": f"{host}: a defect of tachograph"}
            tell({"m": "end", "state": "broken", "error": what} if began else {"m": "fail", "state": "failed", "error": what}, b"")

    def _prepared(self, question: Question) -> tuple[str, list[tuple[str, str]]]:
        """URL and headers, with credentials."""
        found = providers.identify(question.method, question.url, question.headers)
        if found is None:
            raise UsageError(f"no model is known at {question.url.partition('?')[0]}; only calls to models can be made live")
        provider = found[0].name
        url = self._endpoint(provider, question.url)
        headers = [
            (str(name), str(value))
            for name, value in question.headers
            if str(name).lower() not in _NOT_SENT and "[REDACTED:" not in str(value)
        ]
        if provider == "bedrock":
            return url, self._signed(question, url, headers)
        return url, [*headers, self._key(provider, question.headers)]

    def _endpoint(self, provider: str, recorded: str) -> str:
        parts = urlsplit(recorded)
        for name in _BASE.get(provider, ()):
            if base := self.environment.get(name, "").strip():
                return _moved(provider, base, recorded)
        host = (parts.hostname or "").lower()
        own = _OWN_HOSTS.get(provider)
        if own is None or not own.fullmatch(host) or parts.scheme != "https":
            variable = (_BASE.get(provider) or ("its base URL's variable",))[0]
            raise UsageError(
                f"the recorded endpoint {parts.scheme}://{host} is not {provider}'s own, so your credentials are not sent there; "
                f"if it is to have them, name it: {variable}=…"
            )
        return urlunsplit(("https", parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))

    def _key(self, provider: str, recorded: Sequence[Sequence[str]]) -> tuple[str, str]:
        names = {str(name).lower() for name, _ in recorded}

        def get(name: str) -> str:
            return self.environment.get(name, "").strip()

        if provider == "anthropic":
            if (token := get("ANTHROPIC_AUTH_TOKEN")) and (
                ("authorization" in names and "x-api-key" not in names) or not get("ANTHROPIC_API_KEY")
            ):
                return "Authorization", f"Bearer {token}"
            if key := get("ANTHROPIC_API_KEY"):
                return "X-Api-Key", key
            raise UsageError("no credentials for Anthropic in this environment; set ANTHROPIC_API_KEY")
        if "api-key" in names:
            if key := get("AZURE_OPENAI_API_KEY") or get("OPENAI_API_KEY"):
                return "Api-Key", key
            raise UsageError("no credentials for Azure OpenAI in this environment; set AZURE_OPENAI_API_KEY")
        if key := get("OPENAI_API_KEY"):
            return "Authorization", f"Bearer {key}"
        raise UsageError("no credentials for OpenAI in this environment; set OPENAI_API_KEY")

    def _signed(self, question: Question, url: str, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        if token := self.environment.get("AWS_BEARER_TOKEN_BEDROCK", "").strip():
            return [*headers, ("Authorization", f"Bearer {token}")]
        try:
            auth, request, failures, sessions = (
                _any(importlib.import_module(f"botocore.{name}")) for name in ("auth", "awsrequest", "exceptions", "session")
            )
        except ImportError:
            raise UsageError("calls to Bedrock are signed by botocore, which is not installed; pip install 'tachograph[s3]'") from None
        found = _REGION.search(urlsplit(question.url).netloc)
        try:
            session = sessions.Session()
            region = found[1] if found else self.environment.get("AWS_REGION") or session.get_config_variable("region")
            credentials = session.get_credentials()
            if credentials is None:
                raise UsageError("no AWS credentials in this environment; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            if not region:
                raise UsageError("no AWS region in the recorded endpoint nor in this environment; set AWS_REGION")
            signed = request.AWSRequest(method=question.method, url=url, data=question.body, headers=dict(headers))
            auth.SigV4Auth(credentials.get_frozen_credentials(), "bedrock", region).add_auth(signed)
        except failures.BotoCoreError as error:
            raise UsageError(f"no AWS credentials could be had, {' '.join(str(error).split())}; correct the AWS configuration") from None
        return [(str(name), str(value)) for name, value in signed.headers.items()]


def _any(module: Any) -> Any:
    return module


def _moved(provider: str, base: str, recorded: str) -> str:
    """The recorded URL below another base."""
    parts = urlsplit(recorded)
    path = parts.path
    if provider == "anthropic":
        at = path.rfind("/v1/messages") if "/v1/messages" in path else path.rfind("/messages")
    elif provider == "openai":
        at = max(path.rfind("/chat/completions"), path.rfind("/responses"))
    else:
        at = max(path.rfind("/model/"), path.rfind("/guardrail/"))
    return base.rstrip("/") + path[max(at, 0) :] + (f"?{parts.query}" if parts.query else "")


def _connection(url: str, environment: Mapping[str, str]) -> tuple[http.client.HTTPConnection, str]:
    """To the URL's host, by the proxy that the environment names, if any; and what to ask it for."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(f"no URL of a model, {parts.scheme}://{host}; correct the base URL in the environment")
    target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    proxy = _proxy(parts.scheme, host, environment)
    if parts.scheme == "https":
        context = ssl.create_default_context()
        if proxy is None:
            return http.client.HTTPSConnection(host, port, timeout=CONNECT, context=context), target
        through = http.client.HTTPSConnection(proxy[0], proxy[1], timeout=CONNECT, context=context)
        through.set_tunnel(host, port or 443)
        return through, target
    if proxy is None:
        return http.client.HTTPConnection(host, port, timeout=CONNECT), target
    return http.client.HTTPConnection(proxy[0], proxy[1], timeout=CONNECT), url


def _proxy(scheme: str, host: str, environment: Mapping[str, str]) -> tuple[str, int] | None:
    named = environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY")
    if not named or urllib.request.proxy_bypass_environment(host):  # type: ignore[attr-defined]
        return None
    parts = urlsplit(named if "://" in named else f"http://{named}")
    return (parts.hostname or "", parts.port or 80) if parts.hostname else None


def _head(answer: http.client.HTTPResponse) -> dict[str, Any]:
    return {
        "status": answer.status, "reason_phrase": answer.reason, "http_version": "HTTP/1.0" if answer.version == 10 else "HTTP/1.1",
        "headers": [[name, value] for name, value in answer.headers.items()],
    }  # fmt: skip


def _error(error: BaseException, message: str) -> dict[str, Any]:
    return {"type": type(error).__name__, "module": type(error).__module__, "message": message}


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time; try again"
    if isinstance(error, socket.gaierror):
        return "there is no such host; check the base URL and the network"
    if isinstance(error, ssl.SSLError):
        return f"no secure connection, {getattr(error, 'reason', None) or 'TLS failed'}; check the certificates (SSL_CERT_FILE)"
    if isinstance(error, http.client.HTTPException):
        return "its answer broke off; try again"
    if isinstance(error, OSError):
        return f"{error.strerror or type(error).__name__}; check the base URL and the network"
    return f"{type(error).__name__}; check the base URL"
