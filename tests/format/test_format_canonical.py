from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.format import canonical

texts = st.text(st.characters(), max_size=12)  # lone surrogates included
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


def shuffled(value: Any, seed: int) -> Any:
    """The same value with its keys in another order."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: hash((seed, key)))
        return {key: shuffled(value[key], seed + 1) for key in keys}
    return [shuffled(item, seed + 1) for item in value] if isinstance(value, list) else value


@given(values)
def test_round_trip(value: Any) -> None:
    assert canonical.loads(canonical.dumps(value)) == value
    assert canonical.loads(canonical.dumps_ordered(value)) == value


@given(values, st.integers())
def test_equal_values_have_equal_bytes(value: Any, seed: int) -> None:
    assert canonical.dumps(value) == canonical.dumps(shuffled(value, seed))


@given(values)
def test_other_readers_read_the_same(value: Any) -> None:
    for data in (canonical.dumps(value), canonical.dumps_ordered(value)):
        assert json.loads(data.decode("utf-8")) == value
        assert b"\n" not in data
        assert canonical.loads_strict(data) == value


@given(st.dictionaries(texts, st.integers(), max_size=6))
def test_order_is_kept_where_it_is_asked_for_and_by_code_point_else(value: dict[str, int]) -> None:
    assert list(canonical.loads(canonical.dumps_ordered(value))) == list(value)
    assert list(canonical.loads(canonical.dumps(value))) == sorted(value)


def test_the_bytes_themselves() -> None:
    assert canonical.dumps({"b": [1, 2.5, None, True], "a": "é\n€"}) == '{"a":"é\\n€","b":[1,2.5,null,true]}'.encode()
    # Where orjson cannot, all of the value is in ASCII.
    assert canonical.dumps({"b": 2**64, "a": "é"}) == b'{"a":"\\u00e9","b":18446744073709551616}'
    assert canonical.dumps_ordered(["\ud800é"]) == b'["\\ud800\\u00e9"]'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_has_no_word_for_is_null_in_both_ways_of_writing(value: float) -> None:
    for write in (canonical.dumps, canonical.dumps_ordered):
        assert write([value]) == b"[null]"
        assert write([value, 2**70, {"a": (value, "\ud800")}]) == b'[null,1180591620717411303424,{"a":[null,"\\ud800"]}]'


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"1e400", math.inf), (b"[NaN]", None), (b'"\\ud800"', "\ud800"), (b"123456789012345678901234567890", 123456789012345678901234567890),
        ('"\ud800"', "\ud800"), (b' {"a" : 1}\n', {"a": 1}), (b'{"a":1,"a":2}', {"a": 2}),
    ],
)  # fmt: skip
def test_json_as_agents_write_it_is_read(data: bytes | str, value: Any) -> None:
    got = canonical.loads(data)
    assert got == value or math.isnan(got[0])


@pytest.mark.parametrize(
    "data",
    [
        b"", b" ", b"{", b"[1,]", b"nul", b"'a'", b"\xff", b'"\xff"', b"1 2", b"\xef\xbb\xbf1", "1".encode("utf-16"), "[1]".encode("utf-16-le"),
        "[1]".encode("utf-32"), b'{"a":1', b"1" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_json_in_utf8_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        canonical.loads(data)
    with pytest.raises(ValueError):
        canonical.loads_strict(data)


@pytest.mark.parametrize(
    "data",
    [b'{"a":1,"a":1}', b'{"b":{"a":1,"c":2,"a":3}}', b'[{"a":1,"\\u0061":2}]', b"[NaN]", b"[Infinity]", b'{"a":-Infinity}'],
)
def test_strictly_there_are_no_duplicate_keys_and_no_constants(data: bytes) -> None:
    assert canonical.loads(data) is not None
    with pytest.raises(ValueError, match=r"duplicate key|is not JSON"):
        canonical.loads_strict(data)


@pytest.mark.parametrize("write", [lambda depth: b"[" * depth + b"]" * depth, lambda depth: b'{"a":' * depth + b"1" + b"}" * depth])
@pytest.mark.parametrize(("read", "most"), [(canonical.loads, canonical.MAX_NESTING), (canonical.loads_strict, canonical.MAX_LINE_NESTING)])
def test_nesting_ends(write: Any, read: Any, most: int) -> None:
    assert read(write(most)) is not None
    for depth in (most + 1, 2_000, 200_000):
        with pytest.raises(ValueError, match=r"nested too deeply|[Rr]ecursion"):
            read(write(depth))


def test_many_brackets_are_not_deep_ones() -> None:
    data = b"[" + b",".join([b'{"a":[]}'] * 1000) + b"]"
    assert len(canonical.loads(data)) == 1000
    assert canonical.loads(b'"' + b"[" * 1000 + b'"') == "[" * 1000
