"""The shapes a story is told in: turns, steps, runs and marks. Frozen, without behaviour that reads anything.

Times are milliseconds since the session's first event. ``seq`` is the number of the line that is cited as ``[#seq]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .redacted import Redacted, Repeated
from .values import ABSENT, Value

if TYPE_CHECKING:
    from tachograph.core.events import ModelCall, SessionEnd, SessionStart
    from tachograph.providers.conversation import Message, Part

History = Literal["new", "grew", "same", "rewritten", "shortened", "restarted", "kept_by_provider", "unknown"]
"""How a call's messages relate to those of the call before it in the same conversation. ``shortened``: earlier
messages are no longer there and fewer came in their place (compaction or truncation); ``rewritten``: earlier
messages were replaced; ``restarted``: the same lane and the same instructions, but none of the earlier messages (a
new conversation, or a summary in the place of the old one); ``kept_by_provider``: the request names the answer it
continues, and the provider holds what came before."""


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """One file's change, where it was seen. ``before`` and ``after`` are ``None`` where there was or is no file, or
    no text."""

    path: str
    action: str
    before: str | None = None
    after: str | None = None
    binary: bool = False
    size: int | None = None
    event_id: str
    seq: int


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened at one moment: a guardrail's verdict, a commit, an approval, a message, a note, a gap…"""

    kind: str
    title: str
    bad: bool = False
    body: Value = ABSENT
    detail: dict[str, Any] = msgspec.field(default_factory=dict)
    changes: tuple[FileChange, ...] = ()
    event_id: str
    seq: int
    at_ms: int
    lane: str | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A tool call, a command or an HTTP exchange. ``title`` reads as a call. ``event_id`` and ``seq`` cite the event
    that says most; ``also`` those of other events of the same run (a tool call seen both where it is declared
    and on the wire).

    ``outcome`` is the event's, or ``asked`` when the model asked for it and nothing else about it is recorded.
    ``source`` of a tool call: ``declared``, ``wire``, ``both``, ``asked``, or ``provider`` (the provider ran it
    itself). ``given``: what the model was told, where that differs from the output."""

    kind: Literal["tool", "process", "http"]
    name: str
    title: str
    outcome: str
    bad: bool
    source: str = ""
    effect: str | None = None
    call_id: str | None = None
    input: Value = ABSENT
    output: Value = ABSENT
    error: Value = ABSENT
    given: Value = ABSENT
    exit_code: int | None = None
    status: int | None = None
    method: str | None = None
    host: str | None = None
    duration_ms: float | None = None
    start_ms: int
    end_ms: int
    changes: tuple[FileChange, ...] = ()
    children: tuple[Run | Mark, ...] = ()
    redactions: int = 0
    redacted_kinds: dict[str, int] = msgspec.field(default_factory=dict)
    exact: bool = True
    lane: str | None = None
    event_id: str
    seq: int
    also: tuple[int, ...] = ()

    @property
    def trouble_inside(self) -> bool:
        """Whether something that happened within this run went wrong."""
        return any(child.bad or (isinstance(child, Run) and child.trouble_inside) for child in self.children)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A try at the same request that came to nothing, before the one that counts."""

    outcome: str
    status: int | None
    error: Value
    duration_ms: float | None
    start_ms: int
    end_ms: int
    event_id: str
    seq: int


class NewMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that the call before it did not have. ``echo``: it is that call's own answer, sent back as part of
    the history."""

    message: Message
    index: int
    echo: bool = False


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a model call saw, told as the difference to the call before it in the same conversation. ``state``:
    ``absent`` where the recording never had the request (an imported transcript), ``unreadable`` with ``why``
    where its content cannot be opened."""

    state: Literal["there", "absent", "unreadable"] = "absent"
    why: str = ""
    conversation: int = 0
    history: History = "unknown"
    since_step: int | None = None
    kept: int = 0
    dropped: int = 0
    messages: tuple[NewMessage, ...] = ()
    total_messages: int = 0
    total_chars: int = 0
    system: tuple[Part, ...] = ()
    system_chars: int = 0
    system_changed: bool = False
    tools: tuple[str, ...] = ()
    tools_chars: int = 0
    tools_added: tuple[str, ...] = ()
    tools_removed: tuple[str, ...] = ()
    tools_altered: tuple[str, ...] = ()


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One model call with what follows from it. ``inside``: the event of the tool call within which it happened."""

    number: int
    lane: str | None
    call: ModelCall
    seen: Seen
    reply: tuple[Part, ...]
    reply_value: Value
    error: Value
    attempts: tuple[Attempt, ...]
    items: tuple[Run | Mark, ...]
    inside: str | None
    start_ms: int
    end_ms: int
    event_id: str
    seq: int
    ts: str
    redacted_kinds: dict[str, int] = msgspec.field(default_factory=dict)
    repeated: tuple[Repeated, ...] = ()

    @property
    def first_event_id(self) -> str:
        """The event of its first attempt."""
        return self.attempts[0].event_id if self.attempts else self.event_id

    @property
    def bad(self) -> bool:
        """The model gave no usable answer."""
        return self.call.outcome != "ok"


Item = Step | Run | Mark


@dataclass(frozen=True, kw_only=True)
class Turn:
    """From an input until the agent rests. ``opening`` is the input's text, where it is known."""

    number: int
    opening: str
    items: tuple[Item, ...]


@dataclass(frozen=True, kw_only=True)
class Story:
    """A session as it is told. ``cut``: the recording ended before the agent did. ``ambient``: how often the agent
    read each kind of surroundings. ``unreadable``: contents that could not be opened, as (seq, field, why).
    ``redacted``: what was masked, by kind and event."""

    session_id: str
    start: SessionStart | None
    start_seq: int | None
    end: SessionEnd | None
    end_seq: int | None
    started_at: str | None
    ended_at: str | None
    duration_ms: int
    events: int
    redactions: int
    redacted: Redacted
    facts: Value
    turns: tuple[Turn, ...]
    ambient: dict[str, int]
    kinds: dict[str, int]
    unreadable: tuple[tuple[int, str, str], ...]
    cut: bool

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All steps in the order of their numbers."""
        found = [item for turn in self.turns for item in turn.items if isinstance(item, Step)]
        return tuple(sorted(found, key=lambda step: step.number))

    def runs(self) -> tuple[tuple[Step | None, Run], ...]:
        """Every run with the step it belongs to, outer before inner."""
        return self._runs

    def marks(self, *kinds: str) -> tuple[tuple[Step | None, Mark], ...]:
        """Every mark of these kinds (all when none is named)."""
        return tuple((step, mark) for step, mark in self._marks if not kinds or mark.kind in kinds)

    def walk(self) -> tuple[tuple[Step | None, Item], ...]:
        """Everything in the order it is told, each with its step (a step with itself)."""
        return self._walked

    # Many ask again and again: a story does not change, so it is walked once.

    @cached_property
    def _walked(self) -> tuple[tuple[Step | None, Item], ...]:
        found: list[tuple[Step | None, Item]] = []
        for turn in self.turns:
            for item in turn.items:
                if isinstance(item, Step):
                    found.append((item, item))
                    for part in item.items:
                        _walk(found, item, part)
                else:
                    _walk(found, None, item)
        return tuple(found)

    @cached_property
    def _runs(self) -> tuple[tuple[Step | None, Run], ...]:
        return tuple((step, item) for step, item in self._walked if isinstance(item, Run))

    @cached_property
    def _marks(self) -> tuple[tuple[Step | None, Mark], ...]:
        return tuple((step, item) for step, item in self._walked if isinstance(item, Mark))


def _walk(found: list[tuple[Step | None, Item]], step: Step | None, item: Run | Mark) -> None:
    found.append((step, item))
    if isinstance(item, Run):
        for child in item.children:
            _walk(found, step, child)
