"""What a model was asked and what it decided, as forks and ``tacho reask`` compare it: of a recorded call, and of a live one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tachograph import providers
from tachograph.replay import agreement
from tachograph.replay.agreement import Answer
from tachograph.replay.tape import TapeCall

from . import facts

if TYPE_CHECKING:
    from .live import Question

_COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def question(request: Mapping[str, Any], body: bytes) -> Question:
    """What is sent of a request document."""
    from .live import Question

    return Question(method=str(request["method"]), url=str(request["url"]), headers=request.get("headers") or [], body=body)


def recorded_answer(call: TapeCall) -> Answer:
    """What the recording's model decided."""
    head: dict[str, Any] = next((piece.header["head"] for piece in call.pieces if piece.header["m"] == "head"), {})
    last = call.pieces[-1].header if call.pieces else {}
    return answer_of(
        call.request, head, [piece.data for piece in call.pieces if piece.header["m"] == "chunk"], whole=last.get("state") == "eof"
    )[0]


def answer_of(request: Mapping[str, Any], head: Mapping[str, Any], chunks: Sequence[bytes], *, whole: bool) -> tuple[Answer, int]:
    """What an answer decided, and how many tokens it says that it cost."""
    headers = [[str(k), str(v)] for k, v in head.get("headers", [])]
    decoded = providers.decode(
        providers.Exchange(
            method=str(request["method"]), url=str(request["url"]), request_headers=tuple((str(k), str(v)) for k, v in request["headers"]),
            request=request.get("body"), status=head.get("status"), answer_headers=tuple((k, v) for k, v in headers),
            answer=facts.decoded(headers, b"".join(chunks)), complete=whole,
        )
    )  # fmt: skip
    if decoded is None or not head:
        return Answer(failed="no answer"), 0
    usage = decoded.usage
    tokens = usage.get("total_tokens") or sum(usage.get(name, 0) for name in _COUNTED)
    return (agreement.answer(decoded) if whole or decoded.error else Answer(failed="the answer broke off")), tokens
