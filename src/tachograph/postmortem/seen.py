"""What a model call saw, told as what is new since the call before it.

Agents resend their whole history with every call, and a transcript that repeats it is unreadable. So calls are sorted
into conversations by their longest common prefix of messages, and each call tells only what its predecessor did not
have:

1. A call whose messages begin with *all* the messages of an earlier call continues that one, whatever its lane (a
   thread pool gives each call another lane). Of several, the longest, then the same lane, then the latest.
2. Else, in the same lane, a call that shares a beginning or any later message with the one before it continues it
   with an altered history: ``shortened`` when fewer messages are left (compaction, truncation), otherwise
   ``rewritten``.
3. A request that names the answer it continues (``previous_response_id`` of the OpenAI Responses API) carries only
   what is new.
4. Everything else begins a conversation; where the lane had one with the same instructions before, that is said
   (``restarted``), because a summary in the place of the whole history looks like this.

Messages are compared by meaning (role and parts), not by their place in the request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .resent import Views
from .shapes import History, NewMessage, Seen
from .values import Value, textual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.core.events import ModelCall
    from tachograph.providers.conversation import Conversation, Message, Part


@dataclass(eq=False)
class _Head:
    """The latest call of one conversation."""

    number: int
    step: int
    lane: str | None
    messages: tuple[Message, ...]
    sizes: list[int]
    reply: tuple[Part, ...]
    system: tuple[Part, ...]
    tools: dict[str, str]
    response_id: str | None
    defined: tuple[dict[str, Any], ...]


class Conversations:
    """Sorts the calls of a session, handed in one by one in the order of their steps."""

    def __init__(self) -> None:
        self._heads: list[_Head] = []
        self._views = Views()
        self._by_first: dict[tuple[str, str], list[_Head]] = {}
        self._by_lane: dict[str | None, _Head] = {}
        self._by_response: dict[str, _Head] = {}

    def look(self, call: ModelCall, request: Value, reply: tuple[Part, ...], step: int) -> Seen:
        """What this call saw. It becomes what the next call of its conversation is compared with."""
        if not request.there:
            return Seen(state="unreadable" if request.state == "unreadable" else "absent", why=request.why)
        talk = self._views.view(call, request.value)
        head, kept, history = self._place(call, request.value, talk)
        earlier = self._restarted(call, talk) if head is None else None
        prefix = 0 if head is None or history == "kept_by_provider" else kept
        sizes = [*(head.sizes[:prefix] if head is not None else []), *map(message_chars, talk.messages[prefix:])]
        tools = head.tools if head is not None and head.defined is talk.tools else tool_texts(talk)
        before = head.tools if head is not None else {}
        seen = Seen(
            state="there",
            conversation=head.number if head is not None else len(self._heads) + 1,
            history="restarted" if earlier is not None else history,
            since_step=head.step if head is not None else earlier.step if earlier is not None else None,
            kept=kept,
            dropped=_dropped(head, kept, history) if earlier is None else len(earlier.messages),
            messages=_news(talk.messages, prefix, head),
            total_messages=len(talk.messages),
            total_chars=sum(sizes),
            system=talk.system if head is None or not same_parts(talk.system, head.system) else (),
            system_chars=parts_chars(talk.system),
            system_changed=head is not None and not same_parts(talk.system, head.system),
            tools=tuple(tools),
            tools_chars=sum(map(len, tools.values())),
            tools_added=tuple(name for name in tools if name not in before) if head is not None else (),
            tools_removed=tuple(name for name in before if name not in tools),
            tools_altered=tuple(name for name, text in tools.items() if before.get(name, text) != text),
        )
        self._remember(head, call, talk, sizes, tools, reply, step)
        return seen

    def _place(self, call: ModelCall, body: Any, talk: Conversation) -> tuple[_Head | None, int, History]:
        named = body.get("previous_response_id") if isinstance(body, dict) else None
        if isinstance(named, str) and named in self._by_response:
            head = self._by_response[named]
            return head, len(head.messages), "kept_by_provider"
        best: tuple[int, bool, int] | None = None
        found: _Head | None = None
        for head in self._by_first.get(_first(talk.messages), ()) if talk.messages else ():
            if len(head.messages) > len(talk.messages):
                continue
            common = common_prefix(head.messages, talk.messages)
            if common and common == len(head.messages):
                rank = (common, head.lane == call.lane, head.step)
                if best is None or rank > best:
                    best, found = rank, head
        lane_head = self._by_lane.get(call.lane)
        if found is not None:
            return found, len(found.messages), "same" if len(found.messages) == len(talk.messages) else "grew"
        if lane_head is not None and _akin(lane_head.messages, talk.messages):
            kept = common_prefix(lane_head.messages, talk.messages)
            return lane_head, kept, "shortened" if len(talk.messages) < len(lane_head.messages) else "rewritten"
        return None, 0, "new"

    def _restarted(self, call: ModelCall, talk: Conversation) -> _Head | None:
        same = [head for head in self._heads if head.lane == call.lane and talk.system and same_parts(head.system, talk.system)]
        return max(same, key=lambda head: head.step, default=None)

    def _remember(
        self,
        head: _Head | None,
        call: ModelCall,
        talk: Conversation,
        sizes: list[int],
        tools: dict[str, str],
        reply: tuple[Part, ...],
        step: int,
    ) -> None:
        latest = _Head(
            number=head.number if head is not None else len(self._heads) + 1,
            step=step,
            lane=call.lane,
            messages=talk.messages,
            sizes=sizes,
            reply=reply,
            system=talk.system,
            tools=tools,
            response_id=call.response_id,
            defined=talk.tools,
        )
        if head is None:
            self._heads.append(latest)
        else:
            self._heads[head.number - 1] = latest
            if head.messages:
                self._by_first[_first(head.messages)].remove(head)
            if head.response_id is not None and self._by_response.get(head.response_id) is head:
                del self._by_response[head.response_id]
            if self._by_lane.get(head.lane) is head and head.lane != latest.lane:
                self._by_lane.pop(head.lane)
                others = [one for one in self._heads if one.lane == head.lane]
                if others:
                    self._by_lane[head.lane] = max(others, key=lambda one: one.step)
        if latest.messages:
            self._by_first.setdefault(_first(latest.messages), []).append(latest)
        self._by_lane[latest.lane] = latest
        if latest.response_id is not None:
            self._by_response.setdefault(latest.response_id, latest)


def _first(messages: Sequence[Message]) -> tuple[str, str]:
    """What two histories must have in common for one to go on from the other: how their first message begins."""
    message = messages[0]
    return message.role, message.parts[0].text if message.parts else ""


def _news(messages: tuple[Message, ...], prefix: int, head: _Head | None) -> tuple[NewMessage, ...]:
    found = []
    echo_possible = head is not None
    for index, message in enumerate(messages[prefix:], start=prefix):
        echo = echo_possible and head is not None and message.role == "assistant" and same_answer(message.parts, head.reply)
        echo_possible = echo_possible and not echo
        found.append(NewMessage(message=message, index=index, echo=echo))
    return tuple(found)


def _dropped(head: _Head | None, kept: int, history: History) -> int:
    return len(head.messages) - kept if head is not None and history in ("rewritten", "shortened") else 0


def _akin(old: Sequence[Message], new: Sequence[Message]) -> bool:
    """Whether two histories have anything in common: a beginning, or any message of the old one further on."""
    if common_prefix(old, new):
        return True
    return any(same_message(one, other) for one in old[-8:] for other in new)


def common_prefix(old: Sequence[Message], new: Sequence[Message]) -> int:
    """How many messages both begin with."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if not same_message(one, other):
            break
        count += 1
    return count


def same_message(one: Message, other: Message) -> bool:
    """The same role and the same parts."""
    return one is other or (one.role == other.role and same_parts(one.parts, other.parts))


def same_parts(one: Sequence[Part], other: Sequence[Part]) -> bool:
    """The same content; where it stands in the request does not matter."""
    return len(one) == len(other) and all(map(_same_part, one, other))


def _same_part(one: Part, other: Part) -> bool:
    return one is other or (
        one.type == other.type
        and one.text == other.text
        and one.name == other.name
        and one.call_id == other.call_id
        and one.is_error == other.is_error
        and one.value == other.value
    )


def same_answer(sent_back: Sequence[Part], reply: Sequence[Part]) -> bool:
    """Whether a message of the history is an answer given earlier: the same text and the same tool calls. Thinking is
    left out (some agents do not send it back), and so is white space around the text (some strip it)."""

    def said(parts: Sequence[Part]) -> str:
        return "".join(part.text for part in parts if part.type == "text").strip()

    def asked(parts: Sequence[Part]) -> list[tuple[str | None, str | None]]:
        return [(part.call_id, part.name) for part in parts if part.type == "tool_use"]

    return bool(reply) and said(sent_back) == said(reply) and asked(sent_back) == asked(reply)


def part_chars(part: Part) -> int:
    """The size of a part as characters of text."""
    return len(part.text) or len(textual(part.value))


def parts_chars(parts: Sequence[Part]) -> int:
    """The size of several parts."""
    return sum(map(part_chars, parts))


def message_chars(message: Message) -> int:
    """The size of a message."""
    return parts_chars(message.parts)


def tool_texts(talk: Conversation) -> dict[str, str]:
    """Tool definitions by name, as text; equal definitions give equal text."""
    found: dict[str, str] = {}
    for tool in talk.tools:
        name = str(tool.get("name") or "?")
        while name in found:
            name += "'"
        found[name] = textual(tool)
    return found
