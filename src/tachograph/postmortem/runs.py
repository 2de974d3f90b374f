"""Tool calls, commands and HTTP exchanges: one run each, and the run that each happened in.

* A tool call seen twice (where it is declared, and on the wire) is one run: by ``declared_id``, else by the id of the
  call.
* A tool that the model asked for and of which nothing else is recorded is a run with the outcome ``asked``; a call
  that had started when the recording ended is one with the outcome ``cut``.
* A run happened in another when its ``parent_id`` leads there. A command or exchange without one belongs to
  the tool call of its own or an enclosing lane during which it began; where several ran at once, to the one whose
  input contains the command or most of what was sent (equal ones take turns), else to none of them.
"""

from __future__ import annotations

import bisect
import json
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from tachograph.core import events
from tachograph.providers.conversation import Part

from .changes import changes_of
from .commands import command_line
from .ports import Entry
from .shapes import Mark, Run
from .values import ABSENT, Value, arguments, there

Kind = Literal["tool", "process", "http"]
ValueOf = Callable[[Entry, str], Value]
_ORDER = operator.attrgetter("order")
#: Wire tool calls, by where they were asked for, among which the one is looked for in which something happened.
_NEAR = 64
Asked = Mapping[int, tuple[events.ModelCall, int, tuple[Part, ...]]]
"""Per step number: its call, the call's ``seq``, and the parts of the answer."""


class RunDraft(msgspec.Struct, eq=False):
    """A run while its place is being looked for. ``order`` is the ``seq`` at which it began, as far as that is known;
    a tool call seen on the wire alone begins with the first thing that happened in it, else right after the
    answer that asked for it. ``entry``: its line, ``None`` for one that was only asked for."""

    kind: Kind
    event: events.Event
    seq: int
    order: float
    runs: Runs
    entry: Entry | None
    call_id: str | None = None
    step: int | None = None
    wire: RunDraft | None = None
    parent: RunDraft | None = None
    asked: Part | None = None
    answer: Part | None = None
    children: list[tuple[float, RunDraft | Mark]] = msgspec.field(default_factory=list)

    def value(self, name: str) -> Value:
        """The content that a field of its event names."""
        if self.entry is None or getattr(self.event, name, None) is None:
            return ABSENT
        return self.runs.value_of(self.entry, name)

    def freeze(self, *, alone: bool = False) -> Run:
        """The finished run, with everything that happened in it. ``alone``: without that."""
        inner = sorted(self.children, key=lambda one: one[0]) if self.children and not alone else ()
        children = tuple(child.freeze() if isinstance(child, RunDraft) else child for _, child in inner)
        match self.event:
            case events.ToolCall() as tool:
                return self._tool(tool, children)
            case events.Process() as process:
                return self._process(process, children)
            case events.Http() as http:
                return self._http(http, children)
        return self._unfinished(children)

    def _tool(self, tool: events.ToolCall, children: tuple[Run | Mark, ...]) -> Run:
        if self.asked is not None and self.seq_is_the_asking:
            inner = there(self.asked.value) if self.asked.value is not None else ABSENT
            title = _call_title(tool.name, inner)
            if self.answer is None:
                return self._run(tool.name, title, "asked", bad=False, children=children, source="asked", input=inner)
            failed = self.answer.is_error
            return self._run(
                tool.name,
                title,
                "error" if failed else "ok",
                bad=failed,
                children=children,
                source="provider",
                input=inner,
                output=there(self.answer.value),
            )
        inner, output, error = self.value("input_uri"), self.value("output_uri"), self.value("error_uri")
        if error.there and output.there and error.value == output.value:
            output = ABSENT  # on the wire a tool's error is its result
        given = ABSENT
        if self.wire is not None:
            given = self.wire.value("output_uri")
            inner = inner if inner.state != "absent" else self.wire.value("input_uri")
            if output.state == "absent" and error.state == "absent":
                output, given = given, ABSENT
            elif not given.there or _says_the_same(given, output) or _says_the_same(given, error):
                given = ABSENT
        if inner.state == "absent" and self.asked is not None and self.asked.value is not None:
            inner = there(self.asked.value)
        return self._run(
            tool.name,
            _call_title(tool.name, inner),
            "asked" if tool.outcome == "cut" and tool.source == "wire" else tool.outcome,
            bad=tool.outcome != "ok",
            children=children,
            source="both" if self.wire is not None else tool.source,
            effect=tool.effect,
            input=inner,
            output=output,
            error=error,
            given=given,
            exact=tool.exact,
        )

    def _process(self, process: events.Process, children: tuple[Run | Mark, ...]) -> Run:
        request = self.value("request_uri")
        command = command_line(request.value) or process.program or "a command"
        return self._run(
            process.program or command.split(" ")[0],
            "$ " + command,
            process.outcome,
            bad=process.outcome != "ok" or bool(process.exit_code),
            children=children,
            input=request,
            output=self.value("output_uri"),
            error=self.value("error_uri"),
            exit_code=process.exit_code,
        )

    def _http(self, http: events.Http, children: tuple[Run | Mark, ...]) -> Run:
        request = self.value("request_uri")
        asked = request.value if isinstance(request.value, dict) else {}
        method = http.method or str(asked.get("method") or "GET")
        url = str(asked.get("url") or http.host or "an unknown address")
        body = asked.get("body")
        return self._run(
            http.host or url,
            f"{method} {url}",
            http.outcome,
            bad=http.outcome != "ok" or (http.status or 0) >= 400,
            children=children,
            input=there(body) if body is not None else request if request.state == "unreadable" else ABSENT,
            output=http_answer(self.value("wire_uri")),
            error=self.value("error_uri"),
            status=http.status,
            method=method,
            host=http.host,
        )

    def _unfinished(self, children: tuple[Run | Mark, ...]) -> Run:
        started = self.event
        assert isinstance(started, events.Started)
        request = self.value("request_uri")
        name = started.name or started.operation or started.kind or "a call"
        title = _call_title(name, request)
        if self.kind == "process":
            title = "$ " + (command_line(request.value) or name)
        elif self.kind == "http" and isinstance(request.value, dict):
            title = f"{request.value.get('method') or started.operation} {request.value.get('url') or name}"
            request = there(request.value["body"]) if request.value.get("body") is not None else ABSENT
        return self._run(name, title, "cut", bad=True, children=children, effect=started.effect, input=request)

    def _run(self, name: str, title: str, outcome: str, *, bad: bool, children: tuple[Run | Mark, ...], **more: Any) -> Run:
        event = self.event
        start_ms, end_ms = self.runs.span(self)
        changes = changes_of(self.value("workspace_uri"), event_id=event.id, seq=self.seq)
        if self.wire is not None and not changes:
            changes = changes_of(self.wire.value("workspace_uri"), event_id=self.wire.event.id, seq=self.wire.seq)
        return Run(
            kind=self.kind,
            name=name,
            title=title,
            outcome=outcome,
            bad=bad,
            call_id=self.call_id,
            duration_ms=getattr(event, "duration_ms", None),
            start_ms=start_ms,
            end_ms=end_ms,
            changes=changes,
            children=children,
            redactions=event.redactions + (self.wire.event.redactions if self.wire is not None else 0),
            redacted_kinds=self._redacted_kinds(),
            lane=event.lane,
            event_id=event.id,
            seq=self.seq,
            also=(self.wire.seq,) if self.wire is not None else (),
            **more,
        )

    def _redacted_kinds(self) -> dict[str, int]:
        one, other = self.event.redacted_kinds, self.wire.event.redacted_kinds if self.wire is not None else {}
        return dict(sorted((Counter(one) + Counter(other)).items())) if one or other else {}

    @property
    def tool_name(self) -> str | None:
        """Of a tool call, its name."""
        return getattr(self.event, "name", None)

    @property
    def seq_is_the_asking(self) -> bool:
        """Whether this run is known from the model's request for it alone."""
        return isinstance(self.event, events.ToolCall) and self.event.source == "asked"


class Runs:
    """All runs of a session. ``drafts`` holds them in the order in which they began. ``at``: by ``seq``, the milliseconds since the session's
    beginning."""

    def __init__(self, entries: Sequence[Entry], at: Callable[[int], int], value_of: ValueOf) -> None:
        self._entries = entries
        self._at = at
        self.value_of = value_of
        self._entry_by_id = {entry.event.id: entry for entry in reversed(entries) if entry.event.id}
        self._started = {entry.event.call_id: entry for entry in entries if isinstance(entry.event, events.Started) and entry.event.call_id}
        self._by_event: dict[str, RunDraft] = {}
        self._by_call: dict[str, RunDraft] = {}
        self._spans: list[tuple[float, float, RunDraft]] | None = None
        self.drafts: list[RunDraft] = []

    def fold(self) -> None:
        """Make the runs, those of the same tool call as one, and hang each under the one it happened in."""
        wires: list[RunDraft] = []
        for entry in self._entries:
            draft = self._draft(entry)
            if draft is None:
                continue
            if isinstance(draft.event, events.ToolCall) and draft.event.source == "wire":
                wires.append(draft)
            else:
                self._add(draft)
        for wire in wires:
            self._add_wire(wire)
        self.drafts.sort(key=_ORDER)
        for draft in self.drafts:
            draft.parent = self._parent(draft)
            if draft.parent is not None:
                draft.parent.children.append((draft.order, draft))

    def add_asked(self, steps: Asked, step_of: Callable[[events.ToolCall, int], int | None]) -> None:
        """Give each tool call the step that asked for it, and add those that were asked for and never heard of again."""
        waiting: dict[int, list[RunDraft]] = {}
        before = _StepsBefore(steps)
        for draft in self.drafts:
            for event, seq in ((one.event, one.seq) for one in (draft.wire, draft) if one is not None):
                if draft.step is None and isinstance(event, events.ToolCall):
                    draft.step = step_of(event, seq)
            if draft.call_id is None and isinstance(draft.event, events.ToolCall | events.Started) and draft.kind == "tool":
                waiting.setdefault(draft.step or before.of(draft), []).append(draft)
        for number, (call, seq, parts) in steps.items():
            for place, part in enumerate(_asked_parts(call, parts), 1):
                after = seq + min(place, 999) / 1000
                known = self._by_call.get(part.call_id) if part.call_id is not None else None
                if known is not None:
                    known.asked = known.asked or part
                    if _is_wire(known):
                        known.order = min((order for order, _ in known.children), default=after)
                    continue
                unnamed = next((one for one in waiting.get(number, []) if one.tool_name == part.name), None)
                if unnamed is not None:
                    waiting[number].remove(unnamed)
                    unnamed.asked, unnamed.call_id, unnamed.step = part, part.call_id, number
                    continue
                self._add_asking(call, seq, number, part, _answer(part, parts), after)
        for draft in self.drafts:
            if draft.step is not None and draft.parent is not None:
                # Asked for by a model call that itself ran within a tool (a subagent): it belongs to the step that asked.
                draft.parent.children = [child for child in draft.parent.children if child[1] is not draft]
                draft.parent = None
        self.drafts.sort(key=_ORDER)

    def by_call_id(self, name: str) -> RunDraft | None:
        """The run with that event id or tool call id."""
        return self._by_event.get(name) or self._by_call.get(name)

    def outer_call(self, event: events.Event) -> str | None:
        """The id of the model call within which an event happened, if it did."""
        for entry in self._ancestors(event):
            if isinstance(entry.event, events.ModelCall):
                return entry.event.id
        return None

    def step_number(self, draft: RunDraft | None) -> int | None:
        """The step of a run or of the outermost run around it."""
        while draft is not None and draft.step is None:
            draft = draft.parent
        return draft.step if draft is not None else None

    # -- making ------------------------------------------------------------------------------------------------------------

    def _draft(self, entry: Entry) -> RunDraft | None:
        event = entry.event
        if type(event) is events.Started and (not event.call_id or event.call_id in self._entry_by_id):
            return None  # it ended: its own event tells all
        kind = _kind(event)
        if kind is None:
            return None
        started = self._started.get(event.id)
        call_id = event.call_id if isinstance(event, events.ToolCall) else None
        return RunDraft(kind, event, entry.seq, started.seq if started is not None else entry.seq, self, entry, call_id)

    def span(self, draft: RunDraft) -> tuple[int, int]:
        """When a call ran, in milliseconds. A tool call seen on the wire alone ran between the answer that asked for it and the request that gave
        its result back; its line is written only after that request was answered."""
        event, end = draft.event, self._at(draft.seq)
        length = getattr(event, "duration_ms", None) or 0
        if isinstance(event, events.Started):
            return end, self._at(self._entries[-1].seq)
        if length:
            return max(end - round(length), 0), end
        started = self._started.get(event.id) if draft.entry is not None else None
        if started is not None:
            return min(self._at(started.seq), end), end
        if not isinstance(event, events.ToolCall) or event.source != "wire":
            return end, end
        asking, telling = self._entry_by_id.get(event.asked_by or ""), self._entry_by_id.get(event.told_to or "")
        if telling is not None:
            begun = self._started.get(telling.event.id)
            took = round(getattr(telling.event, "duration_ms", None) or 0)
            end = min(end, self._at(begun.seq) if begun is not None else self._at(telling.seq) - took)
        start = self._at(asking.seq) if asking is not None else end
        return start, max(start, end)

    def _add(self, draft: RunDraft) -> None:
        self.drafts.append(draft)
        self._by_event.setdefault(draft.event.id, draft)
        if isinstance(draft.event, events.Started):
            self._by_event.setdefault(draft.event.call_id, draft)
        if draft.call_id is not None:
            self._by_call.setdefault(draft.call_id, draft)

    def _add_wire(self, wire: RunDraft) -> None:
        event = wire.event
        assert isinstance(event, events.ToolCall)
        declared = self._by_event.get(event.declared_id) if event.declared_id is not None else None
        if declared is None and wire.call_id is not None:
            same = self._by_call.get(wire.call_id)
            declared = same if same is not None and not _is_wire(same) and same.wire is None else None
        if declared is None or declared.wire is not None or declared.kind != "tool":
            self._add(wire)
            return
        declared.wire = wire
        declared.call_id = declared.call_id or wire.call_id
        self._by_event.setdefault(event.id, declared)
        if declared.call_id is not None:
            self._by_call.setdefault(declared.call_id, declared)

    def _add_asking(self, call: events.ModelCall, seq: int, number: int, part: Part, answer: Part | None, order: float) -> None:
        event = events.ToolCall(id=call.id, name=part.name or "?", call_id=part.call_id, source="asked", outcome="cut", lane=call.lane)
        self.drafts.append(RunDraft("tool", event, seq, order, self, None, part.call_id, step=number, asked=part, answer=answer))

    # -- places ------------------------------------------------------------------------------------------------------------

    def _ancestors(self, event: events.Event) -> list[Entry]:
        found: list[Entry] = []
        seen = {event.id}
        parent = event.parent_id
        while parent is not None and parent not in seen and len(found) < 64:
            seen.add(parent)
            entry = self._entry_by_id.get(parent) or self._started.get(parent)
            if entry is None:
                break
            found.append(entry)
            parent = entry.event.parent_id
        return found

    def _parent(self, draft: RunDraft) -> RunDraft | None:
        if draft.event.parent_id is not None and draft.event.parent_id in self._by_event:
            direct = self._by_event[draft.event.parent_id]
            return direct if not _leads_to(direct, draft) else None
        for entry in self._ancestors(draft.event):
            found = self._by_event.get(entry.event.id)
            if found is not None:
                return found if not _leads_to(found, draft) else None
        if draft.kind == "tool" or draft.event.parent_id is not None:
            return None
        return self._by_time(draft)

    def _by_time(self, draft: RunDraft) -> RunDraft | None:
        """The tool call, seen on the wire alone, during which something began: behind the beginning of the call that asked for it, and before that
        of the one that was told. Lines tell that, and times do not: they are rounded, and an end may be written late."""
        spans = self._wire_spans()
        at = bisect.bisect_left(spans, (draft.order,), key=lambda span: (span[0],))
        around = [
            one
            for _, end, one in spans[max(at - _NEAR, 0) : at]
            if draft.order < end and one is not draft and related(one.event.lane, draft.event.lane)
        ]
        if len(around) > 1:
            around = _speaking_of(draft, around)
        if len(around) > 1 and len({one.value("input_uri").text() for one in around}) == 1:
            around = [min(around, key=lambda one: (len(one.children), one.seq))]  # equal ones take turns
        return around[0] if len(around) == 1 else None

    def _wire_spans(self) -> list[tuple[float, float, RunDraft]]:
        if self._spans is None:
            self._spans = sorted(
                ((*self._between(one), one) for one in self.drafts if one.kind == "tool" and _is_wire(one)), key=lambda span: span[:2]
            )
        return self._spans

    def _between(self, draft: RunDraft) -> tuple[float, float]:
        """The lines between which a wire tool call ran."""
        event = draft.event
        assert isinstance(event, events.ToolCall)
        ends = []
        for name, unknown in ((event.asked_by, float("inf")), (event.told_to, float(draft.seq))):
            entry = self._started.get(name or "") or self._entry_by_id.get(name or "")
            ends.append(float(entry.seq) if entry is not None else unknown)
        return ends[0], ends[1]


def _speaking_of(draft: RunDraft, around: list[RunDraft]) -> list[RunDraft]:
    """Of several tool calls that ran at the same time, those whose input has the command, or of an exchange those that have most of their values in
    what was sent."""
    asked = draft.value("request_uri")
    command = command_line(asked.value)
    if command is not None:
        return [one for one in around if command in one.value("input_uri").text()]
    sent = asked.text().lower()
    counts = [sum(text.lower() in sent for text in _leaves(one.value("input_uri").value)) for one in around]
    most = max(counts)
    return [one for one, count in zip(around, counts, strict=True) if count == most and count]


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _leaves(item)]
    if isinstance(value, list):
        return [text for item in value for text in _leaves(item)]
    return [str(value)] if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value) else []


def related(one: str | None, other: str | None) -> bool:
    """Whether two lanes are the same, or one is above the other."""
    if one is None or other is None or one == other:
        return True
    return one.startswith(other + "/") or other.startswith(one + "/")


def http_answer(wire: Value) -> Value:
    """The body of an HTTP answer, from what replay gives back (``{"head", "pieces", "data", "last"}``)."""
    if not wire.there or not isinstance(wire.value, dict) or "data" not in wire.value:
        return wire
    data = wire.value["data"]
    return there(data) if data else ABSENT


_KINDS: dict[type[events.Event], Kind] = {events.ToolCall: "tool", events.Http: "http"}


def _kind(event: events.Event) -> Kind | None:
    kind = _KINDS.get(type(event))
    if kind is not None:
        return kind
    if isinstance(event, events.Process):
        return "process" if event.action == "ran" else None
    if isinstance(event, events.Started):
        return "process" if event.kind == "process" else "http" if event.kind in ("http", "model", "model_call") else "tool"
    return None


def _leads_to(start: RunDraft, target: RunDraft) -> bool:
    """Whether ``target`` is ``start`` or around it: hanging it below would close a ring."""
    current: RunDraft | None = start
    while current is not None:
        if current is target:
            return True
        current = current.parent
    return False


def _is_wire(draft: RunDraft) -> bool:
    return isinstance(draft.event, events.ToolCall) and draft.event.source == "wire"


class _StepsBefore:
    """The last step before a run: of a lane above or below its own, else any; 0 where there is none."""

    def __init__(self, steps: Asked) -> None:
        self._steps = sorted((seq, number, call.lane) for number, (call, seq, _) in steps.items())
        self._near: dict[str | None, list[tuple[float, int, str | None]]] = {}

    def of(self, draft: RunDraft) -> int:
        lane = draft.event.lane
        if lane not in self._near:
            self._near[lane] = [step for step in self._steps if related(step[2], lane)]
        for steps in (self._near[lane], self._steps):
            at = bisect.bisect_right(steps, draft.order, key=lambda step: step[0])
            if at:
                return steps[at - 1][1]
        return 0


def _asked_parts(call: events.ModelCall, parts: Sequence[Part]) -> list[Part]:
    """The tool calls of an answer; from the envelope those that the content does not show."""
    found = [part for part in parts if part.type == "tool_use"]
    known = {part.call_id for part in found if part.call_id is not None}
    names = [part.name for part in found]
    for one in call.tool_calls:
        name, call_id = one.get("name"), one.get("id")
        if call_id in known or (call_id is None and name in names):
            continue
        known_as = str(call_id) if call_id is not None else None
        found.append(Part(type="tool_use", path="", name=str(name or "?"), call_id=known_as))
    return found


def _answer(asked: Part, parts: Sequence[Part]) -> Part | None:
    """The result of a tool that the provider ran itself: it stands in the same answer."""
    return next((part for part in parts if part.type == "tool_result" and part.call_id and part.call_id == asked.call_id), None)


def _call_title(name: str, inner: Value) -> str:
    if inner.state == "unreadable":
        return f"{name}(…)"
    return f"{name}({arguments(inner.value)})"


def _says_the_same(given: Value, output: Value) -> bool:
    """Whether the model was told what the tool answered: the same text or the same JSON, white space aside; a text may have been made JSON of."""
    if not output.there:
        return False
    one, other = given.text(), output.text()
    if one == other or "".join(one.split()) == "".join(other.split()):
        return True
    return bool(_decoded(one) == _decoded(other))


def _decoded(text: str) -> Any:
    """The value of a JSON text; a text that is none, without white space around it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    return value.strip() if isinstance(value, str) else value
