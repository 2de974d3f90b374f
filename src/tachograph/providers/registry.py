"""Who can read this exchange? The seam for providers, and the one place where it is guarded.

Base URLs point at gateways and at loopback servers, so a provider is found by the path's end and by headers, never by
the host. The functions here do not raise, whatever the exchange holds and whatever a provider does: a model call that
cannot be understood is still recorded as one, and says what went wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tachograph.providers import wire
from tachograph.providers.anthropic import Anthropic
from tachograph.providers.bedrock import Bedrock
from tachograph.providers.model import Conversation, Decoded, Exchange, Part
from tachograph.providers.openai import OpenAI

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Provider(Protocol):
    """One model provider's wire format. Implementations are pure: no I/O, no clock, no state between calls, no exceptions.

    ``tachograph.testing.provider_suite`` checks an implementation; ``docs/howto/write-a-provider.md`` is the guide.
    """

    @property
    def name(self) -> str:
        """Short and unique: ``anthropic``. It is what ``Decoded.provider`` says."""

    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        """The operation (``messages``) if this request is a call to a model or a guardrail of this provider, else None. Sees the
        request's line and headers only; compare header names without regard to case."""

    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        """What the exchange meant. ``operation`` is what ``identify`` said. Must not change or keep the exchange's values."""


@runtime_checkable
class Conversational(Protocol):
    """What a provider can do besides: show its bodies as a conversation. Used by ``show`` and by reports."""

    def conversation(self, operation: str, request: Any) -> Conversation: ...

    def reply(self, operation: str, output: Any) -> tuple[Part, ...]: ...


PROVIDERS: tuple[Provider, ...] = (Bedrock(), Anthropic(), OpenAI())


def identify(
    method: str, url: str, headers: Sequence[Sequence[str]], *, providers: Sequence[Provider] = PROVIDERS
) -> tuple[Provider, str] | None:
    """The first provider that knows this request, and what it calls it; None where it is no model call."""
    for provider in providers:
        try:
            operation = provider.identify(method, url, headers)
        except Exception:  # noqa: BLE001, S112 - a provider that fails knows nothing; it must not hide the others
            continue
        if operation is not None:
            return provider, operation
    return None


def decode(exchange: Exchange, *, providers: Sequence[Provider] = PROVIDERS) -> Decoded | None:
    """What the exchange meant; None where it is no model call."""
    found = identify(exchange.method, exchange.url, exchange.request_headers, providers=providers)
    if found is None:
        return None
    provider, operation = found
    try:
        return provider.decode(exchange, operation)
    except Exception as error:  # noqa: BLE001 - the call happened; a provider's mistake must not lose it
        return Decoded(
            provider=provider.name,
            operation=operation,
            input=exchange.request,
            output=wire.answer_value(exchange),
            request_id=wire.request_id(exchange),
            problems=(f"the provider {provider.name} could not read this exchange: {type(error).__name__}",),
        )
