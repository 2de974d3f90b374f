"""Views of requests that resend their history: what was viewed before is not viewed again.

A reader that shares contents (``TreeReader.shared``) gives the messages that two requests have in common as the same objects. Then the view of the
earlier one has the messages of the later one already, and only those behind them are viewed. Where anything else about the request is different
(another system prompt, other tools), or nothing is shared, the whole request is viewed; the view is the same either way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tachograph.providers.conversation import Conversation, Message, conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.core.events import ModelCall

#: The keys under which requests have their messages, one item for each.
_LISTS = ("messages", "input")
_PLACE = re.compile(r"(messages|input)\[([0-9]+)\]")
#: Histories with fewer messages in common are as quickly viewed anew.
_FEWEST = 4


@dataclass(frozen=True)
class _Viewed:
    key: str
    items: list[Any]
    rest: dict[str, Any]
    talk: Conversation


class Views:
    """The views of a session's requests, asked for in their order."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str, int], _Viewed] = {}

    def view(self, call: ModelCall, body: Any) -> Conversation:
        """The request as a conversation."""
        key = next((key for key in _LISTS if isinstance(body, dict) and isinstance(body.get(key), list) and body[key]), None)
        if key is None:
            return conversation(call.provider, call.operation, body)
        items = body[key]
        rest = {name: value for name, value in body.items() if name != key}
        place = call.provider, call.operation, id(items[0])  # the first item is kept with what was viewed, and its id stays its own
        known = self._latest.get(place)
        talk = _continued(call, known, key, items, rest) if known is not None else None
        if talk is None:
            talk = conversation(call.provider, call.operation, body)
        self._latest[place] = _Viewed(key, items, rest, talk)
        return talk


class Standing:
    """What requests say in front of their first message: system prompts and tools. Of each request no more is viewed than that needs."""

    def __init__(self) -> None:
        self._latest: tuple[str, str, list[Any], dict[str, Any], Conversation] | None = None

    def view(self, call: ModelCall, body: Any) -> Conversation:
        """The request as a conversation, whose ``system`` and ``tools`` alone are whole. The same object where they are as in the request before."""
        key = next((key for key in _LISTS if isinstance(body, dict) and isinstance(body.get(key), list)), None)
        items: list[Any] = body[key] if key is not None else []
        # A system prompt among the messages is one in front of the first of anybody else; what has no role is nobody's.
        first = next(
            (place for place, item in enumerate(items) if isinstance(item, dict) and item.get("role") in ("user", "assistant")), None
        )
        if key is None or first is None:
            return conversation(call.provider, call.operation, body)
        lead, rest = items[:first], {name: value for name, value in body.items() if name != key}
        if self._latest is not None and self._latest[:4] == (call.provider, call.operation, lead, rest):
            return self._latest[4]
        talk = conversation(call.provider, call.operation, rest | {key: items[: first + 1]})
        self._latest = call.provider, call.operation, lead, rest, talk
        return talk


def _continued(call: ModelCall, known: _Viewed, key: str, items: list[Any], rest: dict[str, Any]) -> Conversation | None:
    """The view of a request from that of an earlier one, where one follows from the other."""
    same = _same(known.items, items)
    if known.key != key or same < _FEWEST or rest != known.rest or not known.talk.messages:
        return None
    first = _place(known.talk.messages[0].path, key)
    if first is None or first + 1 >= same or _place(known.talk.messages[-1].path, key) is None:
        return None  # a message is made of something else than the list
    kept = known.talk.messages[: same - first]  # an item is a message, else this is not for us
    if len(kept) < same - first or _place(kept[-1].path, key) != same - 1:
        return None
    if any((where := _place(part.path, key)) is not None and where > first for part in known.talk.system):
        return None
    lead = first + 1
    added = conversation(call.provider, call.operation, {key: [*items[:lead], *items[same:]]})
    if any((where := _place(part.path, key)) is not None and where > first for part in added.system):
        return None
    new = [_moved(message, key, same - lead) for message in added.messages if _place(message.path, key) != first]
    if len(added.messages) - len(new) != 1 or any(_place(message.path, key) is None for message in added.messages):
        return None
    return Conversation(system=known.talk.system, messages=(*kept, *new), tools=known.talk.tools)


def _same(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items both begin with, as the same objects."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left is not right:
            break
        count += 1
    return count


def _place(path: str, key: str) -> int | None:
    """The index of the item that a path leads into."""
    match = _PLACE.match(path)
    return int(match[2]) if match is not None and match[1] == key else None


def _moved(message: Message, key: str, by: int) -> Message:
    """The message, ``by`` items further on."""

    places: dict[str, str] = {}  # the parts of a message mostly stand in one item

    def moved(path: str) -> str:
        end = path.find("]") + 1
        item = path[:end]
        if item not in places:
            index = _place(item, key)
            places[item] = f"{key}[{index + by}]" if index is not None else item
        return places[item] + path[end:]

    return Message(role=message.role, parts=tuple(replace(part, path=moved(part.path)) for part in message.parts), path=moved(message.path))
