"""OpenAI's API and the many servers that speak it: finds the operation, then leaves the body to its reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tachograph.providers import openai_chat, openai_responses, wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.providers.model import Conversation, Decoded, Exchange, Part

_RESPONSES = re.compile(r"/responses(?:/(?P<rest>[^/]+))?$")
_ACTIONS = {"input_tokens", "compact"}


class OpenAI:
    """``…/chat/completions``; ``…/responses`` with ``/compact`` and ``/input_tokens``, and ``GET …/responses/{id}``, which is how
    the answer to a background response is fetched.

    Other services have paths that end in ``/responses``: unless ``/v1`` or ``/openai`` stands before it, a credential must come
    with the request, as the SDKs always send one.
    """

    name = "openai"

    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        path = wire.path_of(url)
        if path.endswith("/chat/completions"):
            return "chat.completions" if method.upper() == "POST" else None
        found = _RESPONSES.search(path)
        if found is None or not _is_openai(path[: found.start()], headers):
            return None
        rest = found["rest"]
        if method.upper() == "POST":
            return "responses" if rest is None else f"responses.{rest}" if rest in _ACTIONS else None
        return "responses.retrieve" if method.upper() == "GET" and rest is not None and rest not in _ACTIONS else None

    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        if operation == "chat.completions":
            return openai_chat.decode(exchange, operation)
        return openai_responses.decode(exchange, operation)

    def conversation(self, operation: str, request: Any) -> Conversation:
        body = wire.obj(request)
        return openai_chat.view_request(body) if operation == "chat.completions" else openai_responses.view_request(body)

    def reply(self, operation: str, output: Any) -> tuple[Part, ...]:
        answer = wire.obj(output)
        return openai_chat.view_answer(answer) if operation == "chat.completions" else openai_responses.view_answer(answer)


def _is_openai(before: str, headers: Sequence[Sequence[str]]) -> bool:
    return before.endswith(("/v1", "/openai")) or any(wire.header(headers, name) is not None for name in ("authorization", "api-key"))
