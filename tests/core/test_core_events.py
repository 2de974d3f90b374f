from __future__ import annotations

import inspect
import json
from typing import Any, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core import events
from tachograph.core.errors import FormatError
from tachograph.core.events import STAMP, TYPES, Event, Unknown, decode, encode

names = st.text(st.characters(codec="utf-8"), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
extras = st.dictionaries(names.filter(lambda name: name not in STAMP), json_values, max_size=4)


def of_type(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a field's annotation; those that the union uses, and no other."""
    plain = {
        str: st.text(max_size=20),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
        Any: json_values,
    }
    if kind in plain:
        return plain[kind]
    origin, arguments = getattr(kind, "__origin__", None), getattr(kind, "__args__", ())
    if origin is dict:
        return st.dictionaries(of_type(arguments[0]), of_type(arguments[1]), max_size=3)
    if origin is list:
        return st.lists(of_type(arguments[0]), max_size=3)
    return st.one_of([of_type(one) for one in arguments])


def events_of(cls: type[Event]) -> st.SearchStrategy[Event]:
    hints = get_type_hints(cls)
    own = set(cls.__struct_fields__) - {"extra", "type_name"}
    fields = {name: of_type(hints[name]) for name in sorted(own)}
    clean = extras.map(lambda extra: {key: value for key, value in extra.items() if key not in own})
    return st.builds(cls, **fields, extra=clean)


every_event = st.one_of([events_of(cls) for cls in TYPES.values()])
lines = st.fixed_dictionaries(
    {"type": st.sampled_from([*TYPES, "weather", "unknown", ""])},
    optional={name: json_values for name in sorted({field for cls in TYPES.values() for field in cls.__struct_fields__} | {"type_name"})},
)


def test_the_union_is_closed_and_listed() -> None:
    """A new type is a change of the format: it takes a line here, one in the format page, and readers that know it."""
    assert list(TYPES) == [
        "session_start", "started", "model_call", "tool_call", "guardrail", "message", "approval", "git", "workspace", "process", "http",
        "ambient", "note", "gap", "segment", "session_end", "ledger_entry",
    ]  # fmt: skip
    concrete = {cls for _, cls in inspect.getmembers(events, inspect.isclass) if issubclass(cls, Event)} - {Event, events.Call, Unknown}
    assert set(TYPES.values()) == concrete


@pytest.mark.parametrize("cls", [*TYPES.values(), Unknown])
def test_each_type_is_frozen_and_names_no_field_of_the_stamp(cls: type[Event]) -> None:
    assert not set(cls.__struct_fields__) & set(STAMP)
    with pytest.raises(AttributeError):
        cls().id = "evt_1"  # type: ignore[misc]


@pytest.mark.parametrize("cls", TYPES.values())
def test_content_is_by_reference_only(cls: type[Event]) -> None:
    for name, kind in get_type_hints(cls).items():
        if name.endswith("_uri"):
            assert kind == str | None


@given(every_event)
def test_every_type_round_trips(event: Event) -> None:
    line = encode(event)
    assert line["type"] == type(event).TYPE
    assert decode(line) == event
    assert decode(json.loads(json.dumps(line))) == event


@given(lines)
def test_what_a_line_says_is_said_again_whatever_it_is(line: dict[str, Any]) -> None:
    """Unknown types, unknown fields, known fields of a wrong type: nothing is refused, nothing is lost."""
    event = decode(line)
    again = encode(event)
    assert decode(again) == event
    for name, value in line.items():
        assert again.get(name, _default(event, name)) == value


def _default(event: Event, name: str) -> Any:
    """What the absence of a field means."""
    return getattr(type(event)(), name, None)


@given(st.text(max_size=12).filter(lambda name: name not in TYPES), extras)
def test_an_unknown_type_keeps_its_name_and_fields(name: str, fields: dict[str, Any]) -> None:
    event = decode({"type": name, **fields})
    assert isinstance(event, Unknown)
    assert event.type_name == name
    assert {**encode(event), **fields} == encode(event)


def test_a_known_field_of_a_wrong_type_is_kept_beside_the_good_ones() -> None:
    event = decode({"type": "model_call", "model_id": "m", "usage": "many", "status": [200], "lane": 7})
    assert isinstance(event, events.ModelCall)
    assert (event.model_id, event.usage, event.status, event.lane) == ("m", {}, None, None)
    assert event.extra == {"usage": "many", "status": [200], "lane": 7}


def test_an_unknown_type_with_a_known_field_of_a_wrong_type() -> None:
    event = decode({"type": "weather", "id": 5, "lane": "main", "mm": 3})
    assert event == Unknown(type_name="weather", lane="main", extra={"id": 5, "mm": 3})


def test_the_stamp_is_no_part_of_an_event() -> None:
    line = {name: "x" for name in STAMP} | {"type": "note", "id": "evt_1"}
    assert decode(line) == events.Note(id="evt_1")


@pytest.mark.parametrize("name", STAMP)
def test_no_producer_says_what_the_log_says(name: str) -> None:
    with pytest.raises(FormatError, match=name) as error:
        encode(events.Note(extra={name: 1}))
    assert "\n" not in str(error.value)


def test_what_is_not_known_is_left_out() -> None:
    assert not {"parent_id", "lane", "text_uri", "extra"} & set(encode(events.Note(id="evt_1")))


def test_outcomes_are_listed() -> None:
    assert msgspec.structs.fields(events.Call)
    assert events.Call().outcome in events.OUTCOMES
