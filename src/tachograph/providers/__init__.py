"""Wire bytes → meaning: which HTTP exchanges are calls to a model or a guardrail, and what they said.

``identify`` and ``decode`` are the entry points; ``tachograph.providers.conversation`` shows a body as who said what.
"""

from __future__ import annotations

from tachograph.providers.model import Conversation, Decoded, Exchange, Message, Part, ToolResult, ToolUse
from tachograph.providers.registry import PROVIDERS, Conversational, Provider, decode, identify

__all__ = [
    "PROVIDERS",
    "Conversation",
    "Conversational",
    "Decoded",
    "Exchange",
    "Message",
    "Part",
    "Provider",
    "ToolResult",
    "ToolUse",
    "decode",
    "identify",
]
