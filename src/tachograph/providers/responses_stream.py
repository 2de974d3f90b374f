"""The events of a streamed response → the response (OpenAI, "Responses", streaming events).

The last event carries the whole response. Where it never came, the response is put together from what did: the first snapshot,
finished items (``output_item.done``), and unfinished items with the text and arguments they had so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tachograph.providers.wire import obj, objects, seq, text, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

_FINAL = ("response.completed", "response.incomplete", "response.failed")
_SNAPSHOT = ("response.created", "response.queued", "response.in_progress", *_FINAL)


class _Place(NamedTuple):
    """Where an event's text goes: a field of the item, or of a part in one of the item's lists."""

    item: str
    field: str
    parts: str | None = None
    part: str = ""


#: Event type without ``.delta`` or ``.done`` → the item and part it belongs to, should their own start never have come.
_TEXTS = {
    "response.output_text": _Place("message", "text", "content", "output_text"),
    "response.refusal": _Place("message", "refusal", "content", "refusal"),
    "response.reasoning_text": _Place("reasoning", "text", "content", "reasoning_text"),
    "response.reasoning_summary_text": _Place("reasoning", "text", "summary", "summary_text"),
    "response.function_call_arguments": _Place("function_call", "arguments"),
    "response.custom_tool_call_input": _Place("custom_tool_call", "input"),
    "response.mcp_call_arguments": _Place("mcp_call", "arguments"),
    "response.code_interpreter_call_code": _Place("code_interpreter_call", "code"),
}
_PART_EVENTS = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}


def assemble(events: Iterable[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The response (None where nothing of it arrived), and the error event that ended the stream, if one did."""
    response: dict[str, Any] | None = None
    final = False
    error: dict[str, Any] | None = None
    items: dict[int, _Item] = {}
    for event in events:
        kind = text(event.get("type"))
        if kind == "error":
            error = obj(event.get("error")) or event
        elif not kind and event.get("error"):  # how a gateway reports that its upstream failed
            error = obj(event["error"]) or {"message": text(event["error"])}
        elif kind in _SNAPSHOT:
            response, final = dict(obj(event.get("response"))), kind in _FINAL
        else:
            index = whole(event.get("output_index"))
            if index is not None:
                _to_item(items, index, kind, event)
    if response is None and not items:
        return None, error
    response = {"object": "response", **(response or {"status": "in_progress"})}
    if items and not (final and seq(response.get("output"))):
        response["output"] = [items[index].value() for index in sorted(items)]
    return response, error


def _to_item(items: dict[int, _Item], index: int, kind: str, event: dict[str, Any]) -> None:
    stem, _, action = kind.rpartition(".")
    if stem == "response.output_item":
        if isinstance(event.get("item"), dict):
            items[index] = _Item(event["item"])
        return
    place = _TEXTS.get(stem)
    item = items.setdefault(index, _Item({"type": place.item if place else "message"}))
    if place is not None:
        item.text(place, event, final=action == "done")
    elif stem in _PART_EVENTS and isinstance(event.get("part"), dict):
        parts = _PART_EVENTS[stem]
        item.part(parts, _position(event, parts)).start(event["part"])
    elif kind == "response.output_text.annotation.added":
        item.part("content", _position(event, "content")).annotations.append(event.get("annotation"))


def _position(event: dict[str, Any], parts: str) -> int:
    return whole(event.get("summary_index" if parts == "summary" else "content_index")) or 0


class _Texts:
    """An object some of whose strings arrive in pieces, joined once at the end."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = dict(fields)
        self.pieces: dict[str, list[str]] = {}
        self.annotations: list[Any] = []

    def start(self, fields: dict[str, Any]) -> None:
        self.fields, self.pieces, self.annotations = dict(fields), {}, []

    def say(self, field: str, piece: Any, *, final: bool) -> None:
        if isinstance(piece, str):
            if final:
                self.fields[field], self.pieces[field] = piece, []
            else:
                self.pieces.setdefault(field, []).append(piece)

    def value(self) -> dict[str, Any]:
        value = self.fields | {field: text(self.fields.get(field)) + "".join(pieces) for field, pieces in self.pieces.items()}
        if self.annotations:
            value["annotations"] = [*seq(value.get("annotations")), *self.annotations]
        return value


class _Item(_Texts):
    def __init__(self, item: dict[str, Any]) -> None:
        super().__init__(item)
        self.lists = {name: dict(enumerate(map(_Texts, objects(item.get(name))))) for name in ("content", "summary")}

    def part(self, parts: str, index: int) -> _Texts:
        return self.lists[parts].setdefault(index, _Texts({}))

    def text(self, place: _Place, event: dict[str, Any], *, final: bool) -> None:
        target: _Texts = self
        if place.parts is not None:
            target = self.part(place.parts, _position(event, place.parts))
            target.fields.setdefault("type", place.part)
        target.say(place.field, event.get(place.field if final else "delta"), final=final)

    def value(self) -> dict[str, Any]:
        item = super().value()
        for name, parts in self.lists.items():
            if parts:
                item[name] = [part.value() for _, part in sorted(parts.items())]
        return item
