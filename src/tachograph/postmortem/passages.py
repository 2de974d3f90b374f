"""Every text that entered a session, once each, in the order of entering, with what kind of source it came from.

| kind          | is |
|---------------|----|
| `system`      | system and developer prompts, and the tools' definitions: the first time, and each time they change |
| `user`        | what a person or a trigger said: message events, and user texts of a request that no message event has |
| `tool_result` | what a tool, a command or an HTTP exchange returned |
| `file`        | of those, what a tool read from a file; files that the agent itself opened; files put into a prompt |
| `document`    | of those, what a search or a retrieval found; documents put into a prompt |
| `memory`      | memory files and blocks, summaries in the place of the history, messages of the history that nobody said |
| `subagent`    | what another agent was told and answered, what a tool returned that such an agent answered, the task of a session that has a parent |
| `model`       | answers: texts, thinking, and the arguments of tool calls (each string of them is one passage) |

A request that repeats the history adds nothing (``seen.py`` says what is new in it); neither does a tool's result that the wire repeats, nor a
user's text of which a message event was recorded. A result is cited at its tool call (the declared one where there is one, else that on the wire);
what a command or an exchange within a tool call returned comes right before it, and says so (``within``).

``position`` is the place in the event as ``tacho cat`` prints it: ``input.messages[3].content[0]``, ``output.content[1].input.path``. A piece of a
text has its characters behind it: ``input.messages[0].content#120-480``.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from tachograph.core import events
from tachograph.providers.conversation import conversation

from .seen import tool_texts
from .segments import split
from .shapes import Run, Step
from .sources import Exit, Kind, is_subagent, kind_of
from .values import Value, read, textual
from .when import unix_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tachograph.providers.conversation import Part

    from .ports import Entry, Recording
    from .shapes import Mark, NewMessage, Story

__all__ = ["Passage", "asked", "passages"]

#: Strings of one tool call's arguments that are told one by one, and how deep they are looked for.
MOST_LEAVES = 400
MOST_DEEP = 40
_SUMMARY = re.compile(
    r"\b(?:summary|summari[sz]ed?|compact(?:ed|ion)|so far|earlier (?:conversation|messages|context)|previous (?:conversation|context|session)"
    r"|continued from)\b",
    re.IGNORECASE,
)
_COMPACTED = ("summary", "compact", "compaction", "compact_boundary", "memory")


class Passage(msgspec.Struct, frozen=True):
    """A text that entered. ``step``: the model call that saw it first (of a result: that asked for it; of an answer: that gave it), ``None`` where
    there is none. ``name``: of the tool, file, document or prompt. ``at``: milliseconds since the session's first event. ``within``: the tool call in
    which this was returned by something else. ``order``: a line's ``seq``, and what comes first there (0 results that the wire alone has, 1 requests, 2
    what happened, 3 answers)."""

    kind: Kind | Exit
    text: str
    event_id: str
    seq: int
    step: int | None
    position: str
    name: str | None
    at: int
    within: str | None = None
    order: tuple[float, int] = (0, 0)


def passages(story: Story, recording: Recording) -> tuple[Passage, ...]:
    """The passages of a told recording. Never raises for what a log may hold; contents that cannot be read are left out (``Story.unreadable``
    names them)."""
    return tuple(_Gathering(story, recording).all())


def asked(story: Story, recording: Recording) -> tuple[Passage, ...]:
    """Of the passages what prompts and people said, without a look at what was returned and answered."""
    return tuple(_Gathering(story, recording).asked())


class _Gathering:
    def __init__(self, story: Story, recording: Recording) -> None:
        self._story = story
        self._recording = recording
        self._found: list[Passage] = []
        self._began = {
            entry.event.call_id: entry.seq for entry in recording.entries if isinstance(entry.event, events.Started) and entry.event.call_id
        }
        self._steps = story.steps
        self._main = _main(self._steps)
        self._inside = {step.inside for step in self._steps if step.inside is not None}
        self._child = bool(story.start is not None and story.start.parent_session_id)
        self._runs: dict[str, Run] = {}
        self._answered: set[str] = set()
        self._asked_for: set[str] = set()
        self._messages: Counter[str] = Counter()
        self._known: set[tuple[str, str]] = set()

    def all(self) -> list[Passage]:
        """In the order of entering."""
        for turn in self._story.turns:
            for item in turn.items:
                if isinstance(item, Step):
                    for part in item.items:
                        self._item(item, part, None)
                else:
                    self._item(None, item, None)
        for entry in self._recording.entries:
            if isinstance(entry.event, events.Ambient) and entry.event.kind == "files":
                self._files(entry)
        for step in self._steps:
            self._request(step)
            self._answer(step)
        return sorted(self._found, key=lambda one: one.order)

    def asked(self) -> list[Passage]:
        """Prompts and what people said, in the order of entering."""
        for step, mark in self._story.marks("message"):
            self._item(step, mark, None)
        for step in self._steps:
            self._request(step, told=False)
        return sorted((one for one in self._found if one.kind in ("system", "user")), key=lambda one: one.order)

    def _add(
        self, place: tuple[float, int], kind: Kind, text: str, event_id: str, seq: int, step: int | None, position: str, name: str | None,
        at: int, within: str | None = None,
    ) -> None:  # fmt: skip
        if text and not text.isspace():
            self._found.append(Passage(kind, text, event_id, seq, step, position, name, at, within, place))

    # -- what was returned or said -------------------------------------------------------------------------------------------

    def _item(self, step: Step | None, item: Run | Mark, outer: Run | None) -> None:
        number = step.number if step is not None else None
        if isinstance(item, Run):
            self._run(number, item, outer)
            for child in item.children:
                self._item(step, child, item)
        elif item.kind == "message" and item.body.there:
            self._message(number, item)

    def _run(self, number: int | None, run: Run, outer: Run | None) -> None:
        if run.call_id is not None:
            self._runs.setdefault(run.call_id, run)
        if run.source in ("asked", "provider"):
            return  # nothing came back; or it stands in the answer, and is told with it
        kind, name = kind_of(run)
        if run.kind == "tool" and (run.event_id in self._inside or is_subagent(run)):
            kind = "subagent"
        within = outer.event_id if outer is not None and outer.kind == "tool" else None
        place = self._returned(run)
        for part, value in (("output", run.output), ("error", run.error)):
            position = "wire.data" if run.kind == "http" and part == "output" else part
            if value.there:
                self._add(place, kind, value.text(), run.event_id, run.seq, number, position, name or run.name, run.end_ms, within)
        wire = self._by_seq.get(run.also[0]) if run.given.there and run.also else None
        if wire is not None:  # what the model was told is something else than what the tool returned
            self._add(place, kind, run.given.text(), wire.event.id, wire.seq, number, "output", name or run.name, run.end_ms, within)

    @cached_property
    def _by_seq(self) -> dict[int, Entry]:
        return {entry.seq: entry for entry in self._recording.entries}

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        return {entry.event.id: entry for entry in reversed(self._recording.entries)}

    def _returned(self, run: Run) -> tuple[float, int]:
        """The place of a result. The wire's line of it is written behind the call that was given it; it entered with that call."""
        if run.source == "wire":
            entry = self._by_id.get(run.event_id)
            told = self._by_id.get(entry.event.told_to or "") if entry is not None and isinstance(entry.event, events.ToolCall) else None
            if told is not None and told.seq < run.seq:
                return self._began.get(told.event.id, told.seq), 0
        return run.seq, 2

    def _message(self, number: int | None, mark: Mark) -> None:
        role, subtype = str(mark.detail.get("role") or "user"), str(mark.detail.get("subtype") or "")
        text = mark.body.text()
        kind: Kind = "user"
        if subtype in _COMPACTED or "summary" in subtype:
            kind = "memory"
        elif role in ("system", "developer"):
            kind = "system"
        elif role == "assistant":
            kind = "model"
        elif self._child:
            kind = "subagent"
        self._messages[text.strip()] += 1
        self._texts((mark.seq, 2), kind, text, mark.event_id, mark.seq, number, "content", subtype or None, mark.at_ms)

    def _files(self, entry: Entry) -> None:
        """Files outside of the workspace that the agent's process opened, where what they held is kept."""
        content = read(self._recording, getattr(entry.event, "content_uri", None))
        listed = content.value.get("files") if isinstance(content.value, dict) else None
        for index, one in enumerate(listed if isinstance(listed, list) else ()):
            data = one.get("data") if isinstance(one, dict) else None
            if isinstance(data, (str, bytes)):
                text = textual(data)
                name = str(one.get("path") or "") or None
                self._add(
                    (entry.seq, 2), "file", text, entry.event.id, entry.seq, None, f"content.files[{index}].data", name, self._at(entry)
                )

    def _at(self, entry: Entry) -> int:
        began, now = unix_ms(self._story.started_at or ""), unix_ms(entry.ts)
        return max(now - began, 0) if began is not None and now is not None else 0

    # -- what a model call was given -----------------------------------------------------------------------------------------

    def _request(self, step: Step, *, told: bool = True) -> None:
        """``told``: with what the history repeats of results and answers."""
        seen = step.seen
        if seen.state != "there":
            return
        began = self._began.get(step.first_event_id, self._began.get(step.event_id, step.seq))
        place = (began, 1)
        for part in seen.system:
            self._part(place, step, part, "system", _prompt_name(step))
        self._tools(place, step)
        altered = seen.history in ("rewritten", "shortened", "restarted")
        for new in seen.messages:
            if not new.echo:
                self._new(place, step, new, altered=altered, told=told)

    def _tools(self, place: tuple[float, int], step: Step) -> None:
        seen = step.seen
        fresh = seen.tools if seen.since_step is None or seen.history == "restarted" else (*seen.tools_added, *seen.tools_altered)
        if not fresh:
            return
        request = read(self._recording, step.call.prompt_redacted_uri)
        talk = conversation(step.call.provider, step.call.operation, request.value)
        for index, (name, text) in enumerate(tool_texts(talk).items()):
            if name in fresh and ("tool", text) not in self._known:
                self._known.add(("tool", text))
                described = talk.tools[index].get("description")
                said = described if isinstance(described, str) else ""
                where = f"input.tools[{index}]"
                self._add(place, "system", said, step.event_id, step.seq, step.number, where + ".description", name, step.start_ms)
                schema = textual(talk.tools[index].get("schema"))
                self._add(place, "system", schema, step.event_id, step.seq, step.number, where + ".schema", name, step.start_ms)

    def _new(self, place: tuple[float, int], step: Step, new: NewMessage, *, altered: bool, told: bool) -> None:
        message = new.message
        last = new.index == step.seen.total_messages - 1
        for part in message.parts:
            if not told and (part.type in ("tool_result", "tool_use") or message.role == "assistant"):
                continue
            if part.type == "tool_result":
                self._result(place, step, part)
            elif part.type == "tool_use":
                self._asked(place, step, part)
            elif part.type in ("document", "image"):
                self._part(place, step, part, "document", part.name)
            elif message.role in ("system", "developer"):
                self._part(place, step, part, "system", _prompt_name(step))
            elif message.role == "assistant":
                self._put(place, step, part)
            else:
                self._asking(place, step, part, altered=altered, last=last)

    def _result(self, place: tuple[float, int], step: Step, part: Part) -> None:
        """A tool's result in the history, where no event of its own says it."""
        text = part.text or textual(part.value)
        run = self._runs.get(part.call_id or "")
        if run is not None and (run.source not in ("asked", "provider")) and self._told(run, text):
            return
        if self._is_known("tool_result", text):
            return
        kind, name = kind_of(run) if run is not None else ("tool_result", None)
        name = name or (run.name if run is not None else None)
        self._add(place, kind, text, step.event_id, step.seq, step.number, "input." + part.path, name, step.start_ms)

    @staticmethod
    def _told(run: Run, text: str) -> bool:
        """Whether a run's own passages have what the history says that it returned."""
        return any(value.there and _alike(text, value) for value in (run.given, run.output, run.error))

    def _asked(self, place: tuple[float, int], step: Step, part: Part) -> None:
        """A tool call of the history that no recorded answer asked for."""
        if part.call_id in self._asked_for or (part.call_id in self._runs and self._runs[part.call_id or ""].source != "asked"):
            return
        for path, text in leaves(part.value):
            if not self._is_known("model", text):
                where = f"input.{part.path}.input{path}"
                self._add(place, "memory", text, step.event_id, step.seq, step.number, where, part.name, step.start_ms)

    def _put(self, place: tuple[float, int], step: Step, part: Part) -> None:
        """An assistant's message in the history: an earlier answer, or words that nobody said."""
        text = part.text
        if part.type == "thinking" or text.strip() in self._answered or self._messages[text.strip()] or self._is_known("memory", text):
            return
        self._add(place, "memory", text, step.event_id, step.seq, step.number, "input." + part.path, None, step.start_ms)

    def _asking(self, place: tuple[float, int], step: Step, part: Part, *, altered: bool, last: bool) -> None:
        text = part.text or textual(part.value)
        bare = text.strip()
        if self._messages[bare] > 0:
            if not altered:
                self._messages[bare] -= 1  # said again, it is another message
            return
        if altered and self._is_known("user", text):
            return
        self._known.add(("user", text))
        kind: Kind = "subagent" if self._child or step.number in self._others else "user"
        if altered and step.seen.dropped and (not last or step.seen.dropped > 1) and (not last or _SUMMARY.search(text[:2000])):
            kind = "memory"
        self._texts(place, kind, text, step.event_id, step.seq, step.number, "input." + part.path, None, step.start_ms)

    def _part(self, place: tuple[float, int], step: Step, part: Part, kind: Kind, name: str | None) -> None:
        if part.type == "image" or self._is_known(kind, part.text):
            return
        self._texts(place, kind, part.text, step.event_id, step.seq, step.number, "input." + part.path, name, step.start_ms)

    def _texts(
        self,
        place: tuple[float, int],
        kind: Kind,
        text: str,
        event_id: str,
        seq: int,
        step: int | None,
        position: str,
        name: str | None,
        at: int,
    ) -> None:
        """A text, each piece of it that says to be something else by itself."""
        pieces = list(split(text)) if kind in ("system", "user", "subagent") else [(None, None, 0, len(text))]
        for inner, called, begin, end in pieces:
            where = position if len(pieces) == 1 else f"{position}#{begin}-{end}"
            self._add(place, inner or kind, text[begin:end], event_id, seq, step, where, called or name, at)

    def _is_known(self, kind: str, text: str) -> bool:
        """Whether this text came before as the same kind. It has, from now on."""
        if (kind, text) in self._known:
            return True
        self._known.add((kind, text))
        return False

    # -- what a model answered -----------------------------------------------------------------------------------------------

    def _answer(self, step: Step) -> None:
        kind: Kind = "subagent" if step.number in self._others else "model"
        place, at = (step.seq, 3), step.end_ms
        for part in step.reply:
            where = "output." + part.path if part.path else "output"
            if part.type == "tool_use":
                if part.call_id is not None:
                    self._asked_for.add(part.call_id)
                for path, text in leaves(part.value):
                    self._known.add(("model", text))
                    self._add(place, kind, text, step.event_id, step.seq, step.number, f"{where}.input{path}", part.name, at)
            elif part.type == "tool_result":
                run = self._runs.get(part.call_id or "")
                source, name = kind_of(run) if run is not None else ("tool_result", None)
                text = part.text or textual(part.value)
                name = name or (run.name if run is not None else None)
                self._add(place, source, text, step.event_id, step.seq, step.number, where, name, at)
            else:
                text = part.text or (textual(part.value) if part.type not in ("thinking", "image") else "")
                self._answered.add(text.strip())
                self._add(
                    place, kind, text, step.event_id, step.seq, step.number, where, part.type if part.type == "thinking" else None, at
                )

    @cached_property
    def _others(self) -> set[int]:
        """The steps of other agents: those within a tool call, and those of another conversation while the main one waited for its tools, in its lane or
        below it. A conversation beside the main one that it does not wait for may be somebody else's (a server of many users)."""
        found: set[int] = set()
        waiting: Step | None = None
        for step in self._steps:
            if step.inside is not None:
                found.add(step.number)
            elif step.seen.state != "there":
                continue
            elif step.seen.conversation in self._main:
                waiting = step if step.call.tool_calls or any(part.type == "tool_use" for part in step.reply) else None
            elif waiting is not None and _below(step.lane, waiting.lane):
                found.add(step.number)
        return found


def _below(lane: str | None, other: str | None) -> bool:
    """Whether a lane is another one, or below it."""
    return lane == other or other is None or (lane or "").startswith(other + "/")


def _main(steps: Sequence[Step]) -> set[int]:
    """The numbers of the first conversation and of those that took its place."""
    known = [step for step in steps if step.seen.state == "there"]
    main = {known[0].seen.conversation} if known else set()
    by_number = {step.number: step for step in steps}
    for step in known:
        since = step.seen.since_step
        if step.seen.history == "restarted" and since is not None and by_number[since].seen.conversation in main:
            main.add(step.seen.conversation)
    return main


def _prompt_name(step: Step) -> str | None:
    prompt = step.call.prompt
    if not isinstance(prompt, dict) or not prompt.get("id"):
        return None
    return str(prompt["id"]) + (f"@{prompt['version']}" if prompt.get("version") else "")


def _alike(text: str, value: Value) -> bool:
    said = value.text()
    return text == said or "".join(text.split()) == "".join(said.split())


def leaves(value: Any) -> Iterator[tuple[str, str]]:
    """(path, text) of the strings and numbers in a JSON value, in their order; behind ``MOST_LEAVES`` of them, what
    is deeper counts as one text."""
    found = 0
    stack: list[tuple[str, Any, int]] = [("", value, 0)]
    while stack:
        path, item, depth = stack.pop()
        if isinstance(item, (dict, list)) and depth < MOST_DEEP and found < MOST_LEAVES:
            inner = (
                [(f"{path}.{key}", one, depth + 1) for key, one in item.items()]
                if isinstance(item, dict)
                else ([(f"{path}[{index}]", one, depth + 1) for index, one in enumerate(item)])
            )
            stack += reversed(inner)
        elif item is not None and not isinstance(item, bool):
            found += 1
            yield path, textual(item)
