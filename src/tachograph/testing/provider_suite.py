"""The conformance suite for providers: subclass it with your provider and exchanges you recorded.

Needs pytest and hypothesis.

    from tachograph.testing.provider_suite import ProviderSuite

    class TestAcme(ProviderSuite):
        provider = Acme()
        content_keys = frozenset({"messages", "system", "tools"})
        exchanges = (plain, streamed, refused)     # tachograph.providers.Exchange, from real traffic

It checks what the recorder relies on: the provider finds its calls behind any base URL, never raises, changes nothing,
keeps every parameter and puts no content among them, and reads a stream that stopped anywhere as a part of the whole.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tachograph.providers import Conversational, Decoded, Exchange, Part, Provider, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

_MAX_CUTS = 400
_HOSTILE = settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
_statuses = st.none() | st.integers(100, 599)


class ProviderSuite:
    """Set the three class attributes; see the module's docstring."""

    provider: ClassVar[Provider]
    #: Real exchanges. Have at least one plain answer, one streamed, one with tool calls and results, and one error.
    exchanges: ClassVar[Sequence[Exchange]]
    #: Names, at any depth of the request, of fields that say *what* is asked and not *how* it is to be answered.
    content_keys: ClassVar[frozenset[str]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "exchange" in metafunc.fixturenames:
            ids = [f"{index}-{self.operation(exchange)}" for index, exchange in enumerate(self.exchanges)]
            metafunc.parametrize("exchange", self.exchanges, ids=ids)

    def operation(self, exchange: Exchange) -> str:
        operation = self.provider.identify(exchange.method, exchange.url, exchange.request_headers)
        assert operation, f"{exchange.method} {exchange.url} was recorded as yours, but identify does not know it"
        return operation

    def decode(self, exchange: Exchange) -> Decoded:
        operation = self.operation(exchange)
        decoded = self.provider.decode(exchange, operation)
        check_shape(decoded)
        assert (decoded.provider, decoded.operation) == (self.provider.name, operation)
        assert decoded.input == exchange.request, "input must be the request as it was sent"
        return decoded

    def said(self, decoded: Decoded) -> str:
        """The words of the answer, where the provider can show them."""
        if not isinstance(self.provider, Conversational):
            return ""
        parts = self.provider.reply(decoded.operation, decoded.output)
        assert all(isinstance(part, Part) for part in parts)
        return "".join(part.text for part in parts if part.type == "text")

    # --- identify

    def test_it_is_found_behind_any_base_url(self, exchange: Exchange) -> None:
        operation = self.operation(exchange)
        scheme, _, rest = exchange.url.partition("://")
        path = rest.partition("/")[2]
        for url in (
            f"http://127.0.0.1:8080/{path}",
            f"{scheme}://gateway.example/team-a/{path}",
            exchange.url + ("&" if "?" in exchange.url else "?") + "trace=1",
        ):
            assert self.provider.identify(exchange.method, url, exchange.request_headers) == operation, url

    def test_header_names_and_methods_have_no_case(self, exchange: Exchange) -> None:
        whole = self.decode(exchange)
        for change in (str.upper, str.lower):
            changed = replace(
                exchange,
                request_headers=tuple((change(name), value) for name, value in exchange.request_headers),
                answer_headers=tuple((change(name), value) for name, value in exchange.answer_headers),
            )
            assert self.decode(changed) == whole
            assert self.provider.identify(change(exchange.method), exchange.url, exchange.request_headers)

    def test_other_requests_are_left_alone(self, exchange: Exchange) -> None:
        assert self.provider.identify("DELETE", exchange.url, exchange.request_headers) is None
        for url in ("https://example.com/", "https://example.com/v1/models", "https://example.com/graphql", "", "/", "http://["):
            assert self.provider.identify("POST", url, exchange.request_headers) is None, url

    @_HOSTILE
    @given(st.text(max_size=10), st.text(max_size=60), st.lists(st.lists(st.text(max_size=12), max_size=3), max_size=3))
    def test_identify_never_raises(self, method: str, url: str, headers: list[list[str]]) -> None:
        assert isinstance(self.provider.identify(method, url, headers), (str, type(None)))

    # --- decode

    def test_it_reads_what_was_recorded(self, exchange: Exchange) -> None:
        before = copy.deepcopy(exchange)
        decoded = self.decode(exchange)
        assert exchange == before, "the exchange was changed"
        assert self.decode(exchange) == decoded, "decode must be a function of the exchange alone"
        assert not decoded.problems
        if exchange.status is not None and exchange.status < 400:
            assert decoded.output is not None
        if isinstance(self.provider, Conversational):
            shown = self.provider.conversation(decoded.operation, decoded.input)
            assert shown.messages or shown.system or exchange.request is None, "the request shows nothing"
            for part in [*shown.system, *(part for message in shown.messages for part in message.parts)]:
                _find(exchange.request, part.path)
            for part in self.provider.reply(decoded.operation, decoded.output):
                _find(decoded.output, part.path)

    def test_no_parameter_is_lost(self, exchange: Exchange) -> None:
        decoded = self.decode(exchange)
        kept = set(_leaves([decoded.params, decoded.prompt, decoded.guardrail, decoded.model_id]))
        asked = set(_leaves(exchange.request, without=self.content_keys))
        assert asked <= kept, f"in the request, but neither in params, prompt, guardrail nor model_id: {asked - kept}"

    def test_no_content_is_among_the_parameters(self, exchange: Exchange) -> None:
        # Parameters are kept in clear text. Short strings are left out: a role and a mode may be the same word.
        decoded = self.decode(exchange)
        content = set(_leaves(exchange.request)) - set(_leaves(exchange.request, without=self.content_keys))
        leaked = {leaf for leaf in content & set(_leaves(decoded.params)) if leaf[0] == "str" and len(leaf[1]) > 12}
        assert not leaked

    def test_without_an_answer_nothing_is_said_of_one(self, exchange: Exchange) -> None:
        answered = self.decode(exchange)
        decoded = self.decode(replace(exchange, status=None, answer_headers=(), answer=b"", complete=False))
        assert decoded.params == answered.params
        assert decoded.tool_results == answered.tool_results
        assert (decoded.output, decoded.finish_reason, decoded.response_id, decoded.error) == (None, None, None, None)
        assert (decoded.usage, decoded.tool_calls, decoded.served_model_id, decoded.request_id) == ({}, (), None, None)
        assert decoded.guardrail is None or decoded.guardrail["action"] is None

    def test_an_answer_cut_anywhere_is_a_part_of_the_whole(self, exchange: Exchange) -> None:
        whole = self.decode(exchange)
        words, calls = self.said(whole), [call.id for call in whole.tool_calls]
        last = ""
        for cut in _cuts(len(exchange.answer)):
            decoded = self.decode(replace(exchange, answer=exchange.answer[:cut], complete=False))
            assert decoded.finish_reason in (None, whole.finish_reason)
            assert [call.id for call in decoded.tool_calls] == calls[: len(decoded.tool_calls)]
            if whole.stream:
                now = self.said(decoded)
                assert words.startswith(now), f"cut at byte {cut}: {now!r} is not how the answer begins"
                assert len(now) >= len(last), f"cut at byte {cut}: words that had arrived are gone"
                last = now

    @_HOSTILE
    @given(st.integers(400, 599), st.binary(max_size=60) | _json.map(lambda value: json.dumps(value).encode()))
    def test_a_failed_call_is_an_error_whatever_its_body(self, status: int, body: bytes) -> None:
        for exchange in self.exchanges:
            decoded = self.decode(replace(exchange, status=status, answer=body))
            assert decoded.error is not None
            assert decoded.error["status"] == status

    @_HOSTILE
    @given(st.data())
    def test_decode_never_raises_on_odd_requests(self, data: st.DataObject) -> None:
        exchange = data.draw(st.sampled_from(self.exchanges))
        request = data.draw(st.binary(max_size=20) | st.text(max_size=20) | _json | st.just(_Somewhere(exchange.request)))
        if isinstance(request, _Somewhere):
            request = request.replaced(data)
        decoded = self.decode(replace(exchange, request=request))
        if isinstance(self.provider, Conversational):
            self.provider.conversation(decoded.operation, request)

    @_HOSTILE
    @given(st.data())
    def test_decode_never_raises_on_odd_answers(self, data: st.DataObject) -> None:
        exchange = data.draw(st.sampled_from(self.exchanges))
        answer = data.draw(st.binary(max_size=60) | _json.map(lambda value: json.dumps(value).encode()) | st.none())
        if answer is None:
            answer = self._damaged(exchange.answer, data)
        headers = exchange.answer_headers if data.draw(st.booleans()) else ()
        decoded = self.decode(replace(exchange, answer=answer, status=data.draw(_statuses), answer_headers=headers))
        self.said(decoded)

    def _damaged(self, answer: bytes, data: st.DataObject) -> bytes:
        try:
            return json.dumps(_Somewhere(json.loads(answer)).replaced(data)).encode()
        except ValueError:  # a stream
            at = data.draw(st.integers(0, len(answer)))
            return answer[:at] + data.draw(st.binary(max_size=8)) + answer[at + data.draw(st.integers(0, 40)) :]


def check_shape(decoded: Decoded) -> None:
    """What every ``Decoded`` must be, whatever it was made of."""
    assert isinstance(decoded, Decoded)
    assert decoded.kind in ("model", "guardrail")
    names = (decoded.model_id, decoded.served_model_id, decoded.finish_reason, decoded.request_id, decoded.response_id)
    assert all(name is None or isinstance(name, str) for name in names)
    assert all(isinstance(key, str) for key in decoded.params)
    if decoded.prompt is not None:
        assert decoded.prompt
        assert all(isinstance(value, str) for value in decoded.prompt.values())
    if decoded.guardrail is not None:
        assert {"id", "version", "action"} <= set(decoded.guardrail)
        assert decoded.guardrail["action"] is None or isinstance(decoded.guardrail["action"], str)
    assert all(type(number) is int and number >= 0 for number in decoded.usage.values())
    for call in decoded.tool_calls:
        assert isinstance(call, ToolUse)
        assert isinstance(call.id, str)
        assert isinstance(call.name, str)
    for result in (*decoded.tool_results, *decoded.provider_results):
        assert isinstance(result, ToolResult)
        assert isinstance(result.call_id, str)
    if decoded.error is not None:
        assert isinstance(decoded.error["type"], str)
        assert isinstance(decoded.error["message"], str)
        assert "status" in decoded.error
    msgspec.json.encode(decoded)  # whatever was read can be written


class _Somewhere:
    """A JSON value of which one node, anywhere, is replaced by another value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def replaced(self, data: st.DataObject) -> Any:
        return self._replaced(self.value, data)

    def _replaced(self, value: Any, data: st.DataObject) -> Any:
        if isinstance(value, (dict, list)) and value and data.draw(st.integers(0, 3)):
            key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
            changed = copy.copy(value)
            changed[key] = self._replaced(value[key], data)
            return changed
        return data.draw(_json)


def _leaves(value: Any, *, without: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Type and text of each scalar in a JSON value that is not null, except below the keys ``without``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in without:
                yield from _leaves(inner, without=without)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _leaves(inner, without=without)
    elif value is not None:
        yield type(value).__name__, str(value)


def _find(value: Any, path: str) -> Any:
    """The value at ``messages[3].content[0]``; fails where nothing is there."""
    for step in path.replace("[", ".[").split("."):
        if step.startswith("["):
            value = value[int(step[1:-1])]
        elif step:
            assert step in value, f"{path} is nowhere in the body"
            value = value[step]
    return value


def _cuts(length: int) -> list[int]:
    stride = max(1, length // _MAX_CUTS)
    return sorted({*range(0, length, stride), *range(max(0, length - 8), length)})
