"""The conformance suite must fail a provider that is wrong: each mistake here is caught by the check that is named for it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tachograph.providers import Decoded, Exchange, ToolResult, ToolUse
from tachograph.testing.provider_suite import ProviderSuite

if TYPE_CHECKING:
    from collections.abc import Sequence


class Acme:
    """A small provider as a third party would write it: lines of JSON for a stream."""

    name = "acme"

    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        return "chat" if method.upper() == "POST" and url.partition("?")[0].endswith("/acme/chat") else None

    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        body = exchange.request if isinstance(exchange.request, dict) else {}
        text, calls, reason = "", [], None
        for line in exchange.answer.split(b"\n")[:-1]:
            try:
                event = json.loads(line, parse_constant=lambda _: None)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                text += event["say"] if isinstance(event.get("say"), str) else ""
                if isinstance(event.get("call"), str):
                    calls.append(ToolUse(id=event["call"], name="tool", input={}))
                reason = event["end"] if isinstance(event.get("end"), str) else reason
        text = text.encode("utf-8", "replace").decode()
        failed = exchange.status is not None and exchange.status >= 400
        results = body.get("results") if isinstance(body.get("results"), list) else []
        return Decoded(
            provider=self.name,
            operation=operation,
            model_id=body.get("model") if isinstance(body.get("model"), str) else None,
            params={key: value for key, value in body.items() if key not in ("model", "say", "results")},
            input=exchange.request,
            output={"say": text} if exchange.answer else None,
            tool_calls=tuple(replace(call, id=call.id.encode("utf-8", "replace").decode()) for call in calls),
            tool_results=tuple(ToolResult(call_id="", output=result) for result in results),
            finish_reason=reason and reason.encode("utf-8", "replace").decode(),
            stream=True,
            error={"type": "error", "message": "", "status": exchange.status} if failed else None,
        )


EXCHANGE = Exchange(
    method="POST",
    url="https://acme.example/acme/chat",
    request_headers=(("X-Key", "k"),),
    request={"model": "m-1", "heat": 0.5, "say": "Why does the build fail?", "results": ["ok"]},
    status=200,
    answer=b'{"say": "I will "}\n{"say": "fix it."}\n{"call": "c1"}\n{"end": "done"}\n',
)


class AcmeSuite(ProviderSuite):
    provider = Acme()
    exchanges = (EXCHANGE,)
    content_keys = frozenset({"say", "results"})


class TestAcme(AcmeSuite):
    """The right one passes everything."""


class Broken(Acme):
    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        return self.spoil(super().decode(exchange, operation), exchange)

    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        raise NotImplementedError


class LosesParameter(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        return replace(decoded, params={})


class LeaksContent(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        said = exchange.request.get("say") if isinstance(exchange.request, dict) else None
        return replace(decoded, params={**decoded.params, "hint": said})


class ChangesExchange(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        if isinstance(exchange.request, dict):
            exchange.request["seen"] = True
        return decoded


class Guesses(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        return replace(decoded, finish_reason=decoded.finish_reason or "stop")


class IgnoresErrors(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        return replace(decoded, error=None)


class Counts(Broken):
    calls = 0

    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        self.calls += 1
        return replace(decoded, request_id=str(self.calls))


class RaisesOnOddRequests(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        return replace(decoded, params=dict(exchange.request.items()))


class RaisesOnCuts(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        for line in exchange.answer.split(b"\n"):
            json.loads(line or b"0")
        return decoded


class NeedsHeaderCase(Broken):
    def spoil(self, decoded: Decoded, exchange: Exchange) -> Decoded:
        return replace(decoded, request_id=dict(exchange.request_headers).get("X-Key"))


class NeedsHost(Acme):
    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        return super().identify(method, url, headers) if "acme.example" in url else None


class TakesAll(Acme):
    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        return "chat"


def check(provider: Any, name: str) -> None:
    suite = type("Suite", (AcmeSuite,), {"provider": provider})()
    test = getattr(suite, name)
    exchange = replace(EXCHANGE, request=dict(EXCHANGE.request))
    if hasattr(test, "hypothesis"):
        type(suite).exchanges = (exchange,)
        test()
    else:
        test(exchange)


@pytest.mark.parametrize(
    ("provider", "caught_by"),
    [
        (LosesParameter(), "test_no_parameter_is_lost"),
        (LeaksContent(), "test_no_content_is_among_the_parameters"),
        (ChangesExchange(), "test_it_reads_what_was_recorded"),
        (Counts(), "test_it_reads_what_was_recorded"),
        (Guesses(), "test_without_an_answer_nothing_is_said_of_one"),
        (Guesses(), "test_an_answer_cut_anywhere_is_a_part_of_the_whole"),
        (RaisesOnCuts(), "test_an_answer_cut_anywhere_is_a_part_of_the_whole"),
        (IgnoresErrors(), "test_a_failed_call_is_an_error_whatever_its_body"),
        (RaisesOnOddRequests(), "test_decode_never_raises_on_odd_requests"),
        (RaisesOnCuts(), "test_decode_never_raises_on_odd_answers"),
        (NeedsHeaderCase(), "test_header_names_and_methods_have_no_case"),
        (NeedsHost(), "test_it_is_found_behind_any_base_url"),
        (TakesAll(), "test_other_requests_are_left_alone"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_mistake_is_caught(provider: Any, caught_by: str) -> None:
    check(Acme(), caught_by)
    with pytest.raises((AssertionError, AttributeError, ValueError, ExceptionGroup)):
        check(provider, caught_by)
