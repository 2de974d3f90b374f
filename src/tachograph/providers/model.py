"""What a provider reads and what it makes of it: plain, frozen facts.

An ``Exchange`` is one HTTP request with the answer it got. A ``Decoded`` says what that exchange meant, in words that
are the same for every provider. ``Conversation`` and ``Part`` are the same again for a reader: who said what, and where
in the request it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

INVALID = "$invalid"
"""The key under which a tool's arguments are kept as text where they are not JSON (or were cut): ``{"$invalid": '{"pa'}``."""

USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "total_tokens")
"""The names of token counts. ``input_tokens`` is what the provider calls so: with Anthropic and Bedrock it leaves out tokens read
from or written to the cache, with OpenAI it includes them."""

CACHED_WITHIN = ("openai",)
"""The providers whose ``input_tokens`` hold what was read from or written to a cache, too."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One HTTP request and its answer, redacted already and with any content encoding removed.

    ``request`` is the parsed JSON body, or str, bytes or None where the body is not JSON. ``status`` is None where no
    answer came. ``answer`` may be cut short, which ``complete=False`` says.
    """

    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request: Any = None
    status: int | None = None
    answer_headers: tuple[tuple[str, str], ...] = ()
    answer: bytes = b""
    complete: bool = True


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A tool call that the model asked for. ``provider_run``: the provider runs this tool itself (a web search, a remote MCP
    server); otherwise the agent must."""

    id: str
    name: str
    input: Any
    provider_run: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What a tool gave back, as it stands on the wire: a string, or the provider's content blocks."""

    call_id: str
    output: Any
    is_error: bool = False


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """What an exchange meant.

    ``params`` is everything in the request that decides *how* the model answers, under OpenTelemetry GenAI's short names
    where it has one, and never *what* was said: it is kept in clear text. ``guardrail`` is ``{"id", "version", "action",
    …}`` where ``action`` is ``NONE``, ``INTERVENED`` or None for "not known"; its ``assessments`` quote content. ``input``
    and ``output`` are the bodies; a stream is put together into the shape of an answer that was not streamed, with what
    came of it. ``tool_results`` are those in the request, all of them, in order; ``provider_results`` those of tools that
    the provider ran itself while it answered. ``error`` is ``{"type", "message", "status"}``. ``problems`` lists what
    could not be read, one line each.
    """

    provider: str
    operation: str
    kind: Literal["model", "guardrail"] = "model"
    model_id: str | None = None
    served_model_id: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    prompt: dict[str, str] | None = None
    guardrail: dict[str, Any] | None = None
    input: Any = None
    output: Any = None
    usage: dict[str, int] = field(default_factory=dict)
    tool_calls: tuple[ToolUse, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    provider_results: tuple[ToolResult, ...] = ()
    finish_reason: str | None = None
    request_id: str | None = None
    response_id: str | None = None
    stream: bool = False
    error: dict[str, Any] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AnswerFacts:
    """What an answer's body alone says; each shape of answer has one reader that makes these."""

    output: Any = None
    served_model_id: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    tool_calls: tuple[ToolUse, ...] = ()
    provider_results: tuple[ToolResult, ...] = ()
    finish_reason: str | None = None
    response_id: str | None = None
    error: dict[str, Any] | None = None


PartType = Literal["text", "thinking", "tool_use", "tool_result", "image", "document", "other"]


class Part(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One piece of a message. ``text`` is what it says in words, if anything; ``value`` the tool's input or output, or the block
    itself where it is neither; ``path`` where it stands in the body: ``messages[3].content[0]``."""

    type: PartType
    path: str
    text: str = ""
    name: str | None = None
    call_id: str | None = None
    value: Any = None
    is_error: bool = False


class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    role: str
    parts: tuple[Part, ...]
    path: str


class Conversation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request as a reader sees it. ``tools`` are ``{"name", "description", "schema"}``."""

    system: tuple[Part, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
