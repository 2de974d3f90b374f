"""One view of any provider's request and answer: who said what, and where it stands in the body.

Used by whatever shows a session to a person. Pure, and as patient with odd bodies as the providers are: what is not understood
becomes a part of type ``other`` that holds the value.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tachograph.providers.model import Conversation, Message, Part
from tachograph.providers.registry import PROVIDERS, Conversational, Provider

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Conversation", "Message", "Part", "conversation", "reply"]


def conversation(
    provider: str,
    operation: str,
    input: Any,  # noqa: A002 - the name of the field it is read from, Decoded.input
    *,
    providers: Sequence[Provider] = PROVIDERS,
) -> Conversation:
    """What the model was shown: ``Decoded.input`` of an exchange of this provider and operation."""
    view = _view(provider, providers)
    if view is None:
        whole = Part(type="other", path="", value=input)
        return Conversation(messages=(Message(role="user", parts=(whole,), path=""),) if input is not None else ())
    return view.conversation(operation, input)


def reply(provider: str, operation: str, output: Any, *, providers: Sequence[Provider] = PROVIDERS) -> tuple[Part, ...]:
    """What the model said: ``Decoded.output``. The paths are positions in the answer."""
    view = _view(provider, providers)
    if view is None:
        return (Part(type="other", path="", value=output),) if output is not None else ()
    return view.reply(operation, output)


def _view(name: str, providers: Sequence[Provider]) -> Conversational | None:
    return _first(name, tuple(providers))


@functools.lru_cache(maxsize=256)  # asking a protocol whether it fits is slow, and a session asks for every call
def _first(name: str, providers: tuple[Provider, ...]) -> Conversational | None:
    for provider in providers:
        if provider.name == name and isinstance(provider, Conversational):
            return provider
    return None
