"""What the dialects have in common: requests, answers, and how to read a conversation."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import shake_256
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tachograph.testing.model_server.script import Script, Turn

#: Seconds since 1970, where an answer says when it was made: the same in every run.
CREATED = 1767225600

_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"\s*\S+\s*|\s+")
#: The keys under which a conversation keeps what is said, in any of the dialects.
_SAID = ("text", "content", "output", "toolResult", "guardContent")


@dataclass(frozen=True)
class Request:
    """A request as it came. Header names are lower case; ``body`` is the JSON value, or the bytes where it is none."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Ask:
    """A request as a dialect understands it.

    ``spoken``: the number of assistant messages in it; ``heard``: what was said since the last one; ``opening``: the
    first thing said, which together with the model tells conversations apart.
    """

    operation: str
    model: str
    body: dict[str, Any]
    stream: bool
    spoken: int
    heard: str
    opening: str
    request: Request


@dataclass(frozen=True)
class Reply:
    """``chunks`` is the body: one chunk per event where ``streamed``. ``error_event`` is how this stream reports an error."""

    status: int
    headers: list[tuple[str, str]]
    chunks: Sequence[bytes]
    streamed: bool = False
    error_event: bytes = field(default=b"", repr=False)


class RefusedError(Exception):
    """A request that the real service would turn down. ``str()`` is the message it would send."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Dialect(Protocol):
    """One provider's API. A dialect is a pure function from requests and turns to replies."""

    def mine(self, request: Request) -> bool:
        """Whether this path belongs to the dialect."""

    def read(self, request: Request) -> Ask | Reply:
        """What is asked; a Reply where no turn is needed for the answer. Raises RefusedError."""

    def answer(self, ask: Ask, turn: Turn, names: Names) -> Reply: ...

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        """The error answer of this provider, without retry headers."""


class Service(Protocol):
    """What is asked beside the conversation and takes no turn."""

    def mine(self, request: Request) -> bool: ...

    def answer(self, request: Request, script: Script, names: Names) -> Reply:
        """Raises RefusedError."""

    def refuse(self, status: int, message: str, names: Names) -> Reply: ...


@dataclass(frozen=True)
class Names:
    """Ids for one attempt: the same seed gives the same ids, in the shapes that the providers give theirs."""

    seed: str

    def token(self, label: str, length: int) -> str:
        return "".join(_ALPHANUMERIC[byte % 62] for byte in self._digest(label, length))

    def hexadecimal(self, label: str, length: int) -> str:
        return self._digest(label, (length + 1) // 2).hex()[:length]

    def uuid(self, label: str) -> str:
        return str(UUID(bytes=self._digest(label, 16), version=4))

    def number(self, label: str, below: int) -> int:
        return int.from_bytes(self._digest(label, 4), "big") % below

    def _digest(self, label: str, length: int) -> bytes:
        return shake_256(f"{self.seed}\0{label}".encode("utf-8", "surrogatepass")).digest(length)


def dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def whole(value: object, headers: Iterable[tuple[str, str]], *, status: int = 200) -> Reply:
    """A JSON answer in one piece."""
    return Reply(status, [("content-type", "application/json"), *headers], [dumps(value)])


def pieces(text: str, turn: Turn) -> list[str]:
    """A text as a model streams it."""
    size = turn.chunk_chars
    if size is None:
        return _WORD.findall(text)
    return [text[at : at + size] for at in range(0, len(text), size)]


def arguments(call: Mapping[str, Any]) -> str:
    """A tool call's input as the text that models stream."""
    return json.dumps(call["input"], ensure_ascii=False)


def tokens(value: object) -> int:
    """A plausible count: four bytes to a token."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def output_tokens(turn: Turn) -> int:
    return max(1, tokens(turn.text + turn.thinking) + sum(tokens(dict(call)) for call in turn.tool_calls))


def latency_ms(turn: Turn) -> int:
    """What the service says it took: not measured, so that it is the same in every run."""
    return turn.first_delay_ms + 12 * output_tokens(turn)


def obj(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RefusedError(f"{what}: Input should be an object")
    return value


def seq(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise RefusedError(f"{what}: Input should be a valid list")
    return value


def need(body: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if name not in body:
            raise RefusedError(f"{name}: Field required")


def said(value: object) -> str:
    """All text in a message's content, one line each."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(said, value)))
    if isinstance(value, dict):
        parts = [said(value[key]) for key in _SAID if key in value]
        if "json" in value:
            parts.append(json.dumps(value["json"], ensure_ascii=False))
        return "\n".join(filter(None, parts))
    return ""


@dataclass(frozen=True)
class Line:
    """A message: who said it, its text, and the ids of the tool calls that it makes and answers."""

    assistant: bool
    text: str
    calls: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()


def follow(lines: Sequence[Line]) -> tuple[int, str, str]:
    """``spoken``, ``heard`` and ``opening`` of a conversation."""
    since = len(lines)
    while since > 0 and not lines[since - 1].assistant:
        since -= 1
    spoken = sum(line.assistant for line in lines)
    return spoken, "\n".join(line.text for line in lines[since:]), lines[0].text if lines else ""


def unpaired(lines: Sequence[Line]) -> tuple[int, frozenset[str], frozenset[str]] | None:
    """The first message whose tool calls the next one does not answer: its index, the calls without a result and the
    results without a call. Providers turn such a conversation down."""
    silence = Line(assistant=False, text="")
    for index, (line, after) in enumerate(zip([silence, *lines], [*lines, silence], strict=True), start=-1):
        if line.calls != after.results:
            return index, line.calls - after.results, after.results - line.calls
    return None
