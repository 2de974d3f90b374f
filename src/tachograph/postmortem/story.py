"""Tell a recording as a story: turns, steps, and what followed from each model call.

The rules, in the order in which they apply:

1. A *step* is a model call. Attempts that failed and were followed, in the same lane, by the identical request are
   folded under the one that counts. Steps are numbered from 1 in the order of their model_call events, whatever their
   lane.
2. A step tells only what its request had that the call before it in the same conversation did not (``seen.py``).
3. Tool calls, commands and HTTP exchanges become runs and find their place by ``runs.py``: under the run they
   happened in, else under the step that asked for them.
4. Everything else becomes a mark (``marks.py``) under the call it names, else after the last step of its lane.
5. A *turn* begins with an input: a user's message event, or new user text in the main conversation after an answer
   that asked for no tools (the agent had come to rest).

Nothing is left out but single reads of clock, entropy and environment, which are counted. Nothing is made up: a tool
that was asked for and of which no result is recorded says exactly that.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import msgspec

from tachograph.core import events
from tachograph.providers.conversation import Part, reply

from . import marks, redacted
from .runs import RunDraft, Runs, related
from .seen import Conversations
from .shapes import Attempt, FileChange, Item, Mark, NewMessage, Run, Seen, Step, Story, Turn
from .values import ABSENT, Value, error_text, one_line, read, there
from .when import offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ports import Entry, Recording

__all__ = ["Attempt", "FileChange", "Item", "Mark", "NewMessage", "Run", "Seen", "Step", "StepDraft", "Story", "Teller", "Turn", "tell"]

_RETRIED = ("error", "failed")


def tell(recording: Recording, *, redactions: bool = True, step: int | None = None) -> Story:
    """The story of a recording. Never raises for what a log may hold: contents that cannot be read are told as
    unreadable. ``redactions``: whether all contents are looked through for what was masked, which takes a quarter of the time.
    ``step``: the step of that number is told alone, just as it stands in the whole story; where there is none, everything is told."""
    return Teller(recording, redactions=redactions, only=step).story()


@dataclass
class StepDraft:
    """A step while what belongs to it is being looked for."""

    number: int
    entries: list[Entry]
    call: events.ModelCall
    seen: Seen
    reply: tuple[Part, ...]
    reply_value: Value
    items: list[tuple[float, RunDraft | Mark]] = field(default_factory=list)

    @property
    def seq(self) -> int:
        return self.entries[-1].seq


def in_order_of(pair: tuple[float, object]) -> float:
    """What comes first, by the place in a pair."""
    return pair[0]


class Teller:
    """Gives everything in a recording its place. ``seen``: whether requests are read, and what happened at one moment is told."""

    def __init__(self, recording: Recording, *, redactions: bool, only: int | None = None, seen: bool = True) -> None:
        self._recording = recording
        self._entries = list(recording.entries)
        self._redactions = redactions
        self._only = only
        self._look = seen
        self._unreadable: list[tuple[int, str, str]] = []
        self._known: dict[str, Value] = {}
        self._steps: list[StepDraft] = []
        self._step_of_call: dict[str, StepDraft] = {}
        self._stray: list[tuple[float, RunDraft | Mark]] = []
        self._asking: dict[str, list[StepDraft]] = {}
        self._before: dict[str | None, tuple[list[StepDraft], list[StepDraft]]] = {}

    @cached_property
    def _offsets(self) -> dict[int, int]:
        return offsets(self._entries)

    def _at(self, seq: int) -> int:
        """Milliseconds from the session's beginning to a line."""
        return self._offsets[seq]

    @cached_property
    def _redacted(self) -> redacted.Redacted:
        if not self._redactions:
            return redacted.NOTHING
        if self._only is not None:
            return redacted.look_at(self._recording, self._steps[self._only - 1].seq)
        return redacted.look(self._recording, self._known)

    def story(self) -> Story:
        self.place()
        if self._only is not None:
            return self._frame((Turn(number=1, opening="", items=(self._step(self._steps[self._only - 1]),)),))
        return self._frame(self._turns())

    def place(self) -> None:
        """Make steps, runs and marks, and give each its place."""
        self._make_steps()
        runs = Runs(self._entries, self._at, self._value)
        runs.fold()
        asked = {draft.number: (draft.call, draft.seq, draft.reply) for draft in self._steps}
        runs.add_asked(asked, self._step_by_asking)
        self._place_runs(runs)
        if self._look:
            self._place_marks(runs)

    def in_order(self) -> list[StepDraft | RunDraft | Mark]:
        """Steps, and what belongs to none."""
        items: list[tuple[float, StepDraft | RunDraft | Mark]] = [(draft.seq, draft) for draft in self._steps]
        return [item for _, item in sorted([*items, *self._stray], key=in_order_of)]

    # -- steps -------------------------------------------------------------------------------------------------------------

    def _make_steps(self) -> None:
        groups: list[list[Entry]] = []
        latest: dict[str | None, list[Entry]] = {}
        for entry in self._entries:
            call = entry.event
            if not isinstance(call, events.ModelCall):
                continue
            group = latest.get(call.lane)
            if group is not None and _is_retry(group[-1].event, call):
                group.append(entry)
                continue
            group = [entry]
            groups.append(group)
            latest[call.lane] = group
        groups.sort(key=lambda group: group[-1].seq)
        if self._only is not None and not 1 <= self._only <= len(groups):
            self._only = None
        conversations = Conversations()
        for number, group in enumerate(groups, 1):
            call = group[-1].event
            assert isinstance(call, events.ModelCall)
            output = self._value(group[-1], "output_uri")
            parts = tuple(reply(call.provider, call.operation, output.value)) if output.there else ()
            seen = Seen()
            if self._look and (self._only is None or number <= self._only):  # what a call saw newly depends on those before it
                seen = conversations.look(call, self._value(group[-1], "prompt_redacted_uri"), parts, number)
            draft = StepDraft(number, group, call, seen, parts, output)
            self._steps.append(draft)
            for entry in group:
                self._step_of_call[entry.event.id] = draft
            asked = {one.get("id") for one in call.tool_calls} | {part.call_id for part in parts if part.type == "tool_use"}
            for call_id in asked:
                if isinstance(call_id, str):
                    self._asking.setdefault(call_id, []).append(draft)

    def _step_by_asking(self, event: events.ToolCall, seq: int) -> int | None:
        """The number of the step that asked for this tool call: by the event it names, else by the call's id."""
        if event.asked_by is not None and event.asked_by in self._step_of_call:
            return self._step_of_call[event.asked_by].number
        if event.call_id is not None:
            for draft in reversed(self._asking.get(event.call_id, ())):
                if draft.seq < seq:
                    return draft.number
        return None

    def _step_before(self, lane: str | None, seq: float) -> StepDraft | None:
        """The last step before a line: of the same lane, else of a lane above or below, else any."""
        if lane not in self._before:
            same = [draft for draft in self._steps if draft.call.lane == lane]
            near = [draft for draft in self._steps if draft.call.lane != lane and related(draft.call.lane, lane)]
            self._before[lane] = same, near
        for drafts in (*self._before[lane], self._steps):
            at = bisect.bisect_right(drafts, seq, key=lambda draft: draft.seq)
            if at:
                return drafts[at - 1]
        return None

    # -- places ------------------------------------------------------------------------------------------------------------

    def _place_runs(self, runs: Runs) -> None:
        for draft in runs.drafts:
            if draft.parent is not None:
                continue
            owner = self._step_of_call.get(runs.outer_call(draft.event) or "")
            if draft.step is not None:
                owner = self._steps[draft.step - 1]
            if owner is None:
                owner = self._step_before(draft.event.lane, draft.order)
            (owner.items if owner is not None else self._stray).append((draft.order, draft))

    def _place_marks(self, runs: Runs) -> None:
        for entry in self._entries:
            event = entry.event
            if type(event) in marks.NONE:
                continue
            made = marks.mark(event, seq=entry.seq, at_ms=self._at(entry.seq), read=partial(self._value, entry))
            if made is None:
                continue
            if made.kind == "message" and isinstance(event, events.Message) and _is_input(event):
                self._stray.append((entry.seq, made))
                continue
            named = getattr(event, "call_id", None) or event.parent_id
            run = runs.by_call_id(named) if named is not None else None
            if run is not None and made.kind != "approval":  # an approval reads best beside the call it allows
                run.children.append((entry.seq, made))
                continue
            owner = runs.step_number(run) if run is not None else None
            step = self._steps[owner - 1] if owner is not None else self._step_of_call.get(named or "")
            step = step or self._step_before(event.lane, entry.seq)
            (step.items if step is not None else self._stray).append((entry.seq, made))

    # -- turns -------------------------------------------------------------------------------------------------------------

    def _turns(self) -> tuple[Turn, ...]:
        main = self._main_conversation()
        turns: list[Turn] = []
        current: list[Item] = []
        opening = ""
        has_step = rested = False

        def close() -> None:
            if current:
                turns.append(Turn(number=len(turns) + 1, opening=opening, items=tuple(_merged(current))))

        for item in self.in_order():
            text = self._input_text(item, main)
            begins = has_step and text is not None and (rested or isinstance(item, Mark))
            if begins:
                close()
                current, opening, has_step = [], "", False
            if text is not None and not opening:
                opening = text
            if isinstance(item, StepDraft):
                has_step = True
                if not main or item.seen.conversation in main:
                    rested = item.call.outcome == "ok" and not item.call.tool_calls and not _asks(item.reply)
                current.append(self._step(item))
            else:
                current.append(item.freeze() if isinstance(item, RunDraft) else item)
        close()
        return tuple(turns)

    def _main_conversation(self) -> set[int]:
        """The numbers of the first conversation and of those that took its place."""
        known = [draft for draft in self._steps if draft.seen.state == "there"]
        main = {known[0].seen.conversation} if known else set()
        for draft in known:
            since = draft.seen.since_step
            if draft.seen.history == "restarted" and since is not None and self._steps[since - 1].seen.conversation in main:
                main.add(draft.seen.conversation)
        return main

    def _input_text(self, item: StepDraft | RunDraft | Mark, main: set[int]) -> str | None:
        """The text of an input that may begin a turn, or ``None`` where there is none."""
        if isinstance(item, Mark):
            return item.body.text() if item.kind == "message" else None
        if isinstance(item, StepDraft) and item.seen.conversation in main:
            texts = [
                part.text or ""
                for new in item.seen.messages
                if new.message.role == "user"
                for part in new.message.parts
                if part.type == "text" and part.text
            ]
            return texts[0] if texts else None
        return None

    def _step(self, draft: StepDraft) -> Step:
        last = draft.entries[-1]
        items = [item.freeze() if isinstance(item, RunDraft) else item for _, item in sorted(draft.items, key=in_order_of)]
        return Step(
            number=draft.number,
            lane=draft.call.lane,
            call=draft.call,
            seen=draft.seen,
            reply=draft.reply,
            reply_value=draft.reply_value,
            error=self._value(last, "error_uri"),
            attempts=tuple(self._attempt(entry) for entry in draft.entries[:-1]),
            items=tuple(item for item in _merged(items) if not isinstance(item, Step)),
            inside=draft.call.parent_id,
            start_ms=self._start(last),
            end_ms=self._at(last.seq),
            event_id=draft.call.id,
            seq=last.seq,
            ts=last.ts,
            redacted_kinds=self._redacted.by_event.get(last.seq, {}),
            repeated=self._redacted.answers_of(last.seq),
        )

    def _attempt(self, entry: Entry) -> Attempt:
        call = entry.event
        assert isinstance(call, events.ModelCall)
        error = self._value(entry, "error_uri")
        return Attempt(
            outcome=call.outcome,
            status=call.status,
            error=error if error.state != "absent" else self._value(entry, "output_uri"),
            duration_ms=call.duration_ms,
            start_ms=self._start(entry),
            end_ms=self._at(entry.seq),
            event_id=call.id,
            seq=entry.seq,
        )

    def _start(self, entry: Entry) -> int:
        length = getattr(entry.event, "duration_ms", None) or 0
        return max(self._at(entry.seq) - round(length), 0)

    # -- the frame ---------------------------------------------------------------------------------------------------------

    def _frame(self, turns: tuple[Turn, ...]) -> Story:
        start = next((entry for entry in self._entries if isinstance(entry.event, events.SessionStart)), None)
        end = next((entry for entry in reversed(self._entries) if isinstance(entry.event, events.SessionEnd)), None)
        ambient = Counter(
            entry.event.kind
            for entry in self._entries
            if isinstance(entry.event, events.Ambient) and entry.event.kind not in ("stdout", "stderr")
        )
        kinds = Counter(entry.event.type_name if isinstance(entry.event, events.Unknown) else entry.event.TYPE for entry in self._entries)
        ended = end.event if end is not None else None
        begun = start.event if start is not None else None
        assert ended is None or isinstance(ended, events.SessionEnd)
        assert begun is None or isinstance(begun, events.SessionStart)
        facts = self._value(start, "facts_uri") if start is not None else ABSENT
        return Story(
            session_id=self._recording.session_id,
            start=begun,
            start_seq=start.seq if start is not None else None,
            end=ended,
            end_seq=end.seq if end is not None else None,
            started_at=self._entries[0].ts if self._entries else None,
            ended_at=self._entries[-1].ts if self._entries else None,
            duration_ms=max(self._offsets.values(), default=0),
            events=len(self._entries),
            redactions=sum(entry.event.redactions for entry in self._entries),
            redacted=self._redacted,
            facts=facts,
            turns=turns,
            ambient=dict(sorted(ambient.items())),
            kinds=dict(sorted(kinds.items())),
            unreadable=tuple(dict.fromkeys(self._unreadable)),
            cut=ended is None or ended.status in ("killed", "lost", "stopped"),
        )

    def _value(self, entry: Entry, name: str) -> Value:
        uri = getattr(entry.event, name, None)
        if uri is None:
            return ABSENT
        found = self._known.get(uri)
        if found is None:  # a tool call that is declared, and seen on the wire, has the same contents in both
            found = self._known[uri] = read(self._recording, uri)
        if found.state == "unreadable":
            self._unreadable.append((entry.seq, name, found.why))
        return found


def _is_retry(before: events.Event, call: events.ModelCall) -> bool:
    if not isinstance(before, events.ModelCall) or before.outcome not in _RETRIED:
        return False
    if (before.provider, before.operation, before.model_id) != (call.provider, call.operation, call.model_id):
        return False
    one, other = (
        (before.prompt_hash, call.prompt_hash)
        if before.prompt_hash and call.prompt_hash
        else (before.prompt_redacted_uri, call.prompt_redacted_uri)
        if before.prompt_redacted_uri and call.prompt_redacted_uri
        else (before.request_uri, call.request_uri)
    )
    return one is not None and one == other


def _is_input(event: events.Message) -> bool:
    return event.role == "user" and event.subtype is None and related(event.lane or "main", "main")


def _asks(parts: tuple[Part, ...]) -> bool:
    return any(part.type == "tool_use" for part in parts)


def _merged(items: Sequence[Item]) -> list[Item]:
    """Neighbouring pieces of the same output stream become one, and so do neighbouring records that an importer kept
    as notes."""
    merged: list[Item] = []
    for key, group in itertools.groupby(items, _stream):
        found = list(group)
        if key is None or len(found) == 1:
            merged += found
            continue
        pieces = [item for item in found if isinstance(item, Mark)]
        if pieces[0].kind == "printed":
            merged.append(msgspec.structs.replace(pieces[0], body=there("".join(piece.body.text() for piece in pieces))))
            continue
        kinds = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in Counter(p.title for p in pieces).items())
        values = there([piece.body.value for piece in pieces])
        merged.append(msgspec.structs.replace(pieces[0], title=f"{len(pieces)} records kept as notes: {kinds}", body=values))
    return merged


def _stream(item: Item) -> tuple[str, str | None] | None:
    if not isinstance(item, Mark) or not item.body.there:
        return None
    if item.kind == "printed":
        return item.title, item.lane
    return ("note", item.lane) if item.kind == "note" and not isinstance(item.body.value, str) else None


def headline(step: Step, limit: int = 100) -> str:
    """A step in one line: what the model said, or the tools that it asked for."""
    text = next((part.text for part in step.reply if part.type == "text" and part.text and part.text.strip()), None)
    if text is not None:
        return one_line(text, limit)
    asked = [part.name or "?" for part in step.reply if part.type == "tool_use"]
    asked = asked or [str(one.get("name", "?")) for one in step.call.tool_calls]
    if asked:
        return one_line("asks for " + ", ".join(asked), limit)
    if step.bad:
        return one_line(f"{step.call.outcome}: {error_text(step.error)}", limit)
    return "an answer without text" if step.reply_value.there else "no answer recorded"
