"""Exchanges as the real SDKs make them: each SDK sends its request into a transport of ours and reads the answer from it.

No socket is opened. ``SdkRun.exchange`` is what a recorder would have seen; ``SdkRun.value`` what the SDK made of the answer.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anthropic
import boto3
import botocore.config
import httpx2
import openai
from botocore.awsrequest import AWSResponse

from tachograph.format import eventstream, sse
from tachograph.providers import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SSE = {"content-type": "text/event-stream; charset=utf-8"}
FRAMES = {"content-type": "application/vnd.amazon.eventstream"}


@dataclass(frozen=True)
class SdkRun:
    exchange: Exchange
    value: Any


def events(*datas: Any, named: bool = False, done: bool = False) -> bytes:
    """A body of server-sent events; ``named``: each has the name of its data's ``type``."""
    body = b"".join(sse.encode(data["type"] if named else None, json.dumps(data)) for data in datas)
    return body + (sse.encode(None, "[DONE]") if done else b"")


def frames(*payloads: tuple[str, Any]) -> bytes:
    return b"".join(
        eventstream.encode(
            {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, json.dumps(payload).encode()
        )
        for kind, payload in payloads
    )


def exception(kind: str, payload: Any) -> bytes:
    return eventstream.encode({":exception-type": kind, ":message-type": "exception"}, json.dumps(payload).encode())


def chunks(*payloads: Any) -> bytes:
    """The body of InvokeModelWithResponseStream: the vendor's events, base64 in frames, with Bedrock's padding beside them."""
    return frames(*(("chunk", {"bytes": base64.b64encode(json.dumps(p).encode()).decode(), "p": "abcdef"}) for p in payloads))


def _json(answer: Any) -> bytes:
    return answer if isinstance(answer, bytes) else json.dumps(answer).encode()


def _over_httpx2(answer: Any, status: int, headers: dict[str, str], act: Callable[[httpx2.Client], Any], errors: type[Exception]) -> SdkRun:
    sent: list[httpx2.Request] = []
    body = _json(answer)

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(status, headers={"content-type": "application/json", **headers}, content=body)

    with httpx2.Client(transport=httpx2.MockTransport(handle)) as http:
        try:
            value = act(http)
        except errors as error:
            value = error
    (request,) = sent
    exchange = Exchange(
        method=request.method,
        url=str(request.url),
        request_headers=tuple(request.headers.items()),
        request=json.loads(request.content) if request.content else None,
        status=status,
        answer_headers=(("content-type", "application/json"), *headers.items())
        if "content-type" not in headers
        else tuple(headers.items()),
        answer=body,
    )
    return SdkRun(exchange, value)


def over_anthropic(
    act: Callable[[anthropic.Anthropic], Any], answer: Any, *, status: int = 200, headers: dict[str, str] | None = None
) -> SdkRun:
    def with_client(http: httpx2.Client) -> Any:
        return act(anthropic.Anthropic(api_key="sk-test", base_url="http://127.0.0.1:9", http_client=http, max_retries=0))

    return _over_httpx2(answer, status, {"request-id": "req_1", **(headers or {})}, with_client, anthropic.APIError)


def over_anthropic_bedrock(
    act: Callable[[anthropic.AnthropicBedrock], Any], answer: Any, *, status: int = 200, headers: dict[str, str] | None = None
) -> SdkRun:
    def with_client(http: httpx2.Client) -> Any:
        client = anthropic.AnthropicBedrock(
            aws_access_key="AKIATEST",
            aws_secret_key="secret",
            aws_region="us-east-1",
            base_url="http://127.0.0.1:9",
            http_client=http,
            max_retries=0,
        )
        return act(client)

    return _over_httpx2(answer, status, {"x-amzn-requestid": "rid-1", **(headers or {})}, with_client, anthropic.APIError)


def over_openai(act: Callable[[openai.OpenAI], Any], answer: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> SdkRun:
    def with_client(http: httpx2.Client) -> Any:
        return act(openai.OpenAI(api_key="sk-test", base_url="http://127.0.0.1:9/v1", http_client=http, max_retries=0))

    return _over_httpx2(answer, status, {"x-request-id": "req_1", **(headers or {})}, with_client, openai.APIError)


class _Raw:
    """What botocore reads an answer from."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def read(self, amount: int | None = None) -> bytes:
        taken, self.body = (self.body, b"") if amount is None else (self.body[:amount], self.body[amount:])
        return taken

    def stream(self, *_: Any, **__: Any) -> Iterable[bytes]:
        while self.body:
            yield self.read(100)

    def close(self) -> None:
        self.body = b""


def over_boto3(act: Callable[[Any], Any], answer: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> SdkRun:
    """``act`` is given a bedrock-runtime client; its error, if it raises one of botocore's, becomes the value."""
    sent: list[Any] = []
    body = _json(answer)
    answer_headers = {"content-type": "application/json", "x-amzn-RequestId": "rid-1", **(headers or {})}

    def before_send(request: Any, **_: Any) -> AWSResponse:
        sent.append(request)
        return AWSResponse(request.url, status, answer_headers, _Raw(body))

    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url="http://127.0.0.1:9",
        aws_access_key_id="AKIATEST",
        aws_secret_access_key="secret",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )
    client.meta.events.register("before-send.bedrock-runtime", before_send)
    try:
        value = act(client)
    except Exception as error:
        if not type(error).__module__.startswith("botocore"):
            raise
        value = error
    (request,) = sent
    exchange = Exchange(
        method=request.method,
        url=request.url,
        request_headers=tuple((k, v.decode() if isinstance(v, bytes) else str(v)) for k, v in request.headers.items()),
        request=json.loads(request.body) if request.body else None,
        status=status,
        answer_headers=tuple(answer_headers.items()),
        answer=body,
    )
    return SdkRun(exchange, value)
