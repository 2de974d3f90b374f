"""The quick look at a line's form says what the slow and strict one says, of whatever stands there."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tachograph.log.verify import form

# Keys of which many are equal when they are read, though not as they are spelt.
KEYS = st.sampled_from(
    ['"a"', '"\\u0061"', '"\\u0061\\u0062"', '"ab"', '"b"', '"\\""', '"\\u0022"', '"\\\\"', '"é"', '"\\u00e9"', '""', '"\\ud800"']
)
SCALARS = st.sampled_from(
    [
        "0", "-0", "-0.0", "1", "1.0", "1.50", "1e2", "1E400", "-1e-400", "0.1", "1e16", "123456789012345678901234567890", "18446744073709551615",
        "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "5e-324", "2.2250738585072011e-308", "01", "+1", ".5", "1.",
        "NaN", "Infinity", "-Infinity", "null", "true", "false", "True", "nul",
        '"a"', '"\\u0061"', '"\\/"', '"/"', '"\\ud83d\\ude00"', '"\\ud800"', '"\x7f"', '"\t"', '"\\u0000"', '"\\":"', '",\\"a\\":1"', "''", '"\U0001f600"',
    ]
)  # fmt: skip
SPACE = st.sampled_from(["", "", "", " ", "\t", "\r", "\n", "\x0b", "\xa0"])


def _objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.lists(st.tuples(SPACE, KEYS, SPACE, inner), max_size=4)
    return members.map(lambda each: "{" + ",".join(f"{before}{key}{after}:{value}" for before, key, after, value in each) + "}")


def _lists(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, max_size=3).map(lambda each: "[" + ",".join(each) + "]")


VALUES = st.recursive(SCALARS, lambda inner: st.one_of(_objects(inner), _lists(inner)), max_leaves=12)


@settings(max_examples=1500, deadline=None)
@given(_objects(VALUES), st.sampled_from(["\n", "", " \n", "\n\n", "{}\n", ",\n"]))
@example('{"a":1,"a":1}', "\n")
@example('{"a" :1,"a":1}', "\n")
@example('{"a":1,"\\u0061":1}', "\n")
@example('{"b":{"a":1,"a":1}}', "\n")
@example('{"a":{},"a":{}}', "\n")
def test_the_quick_look_equals_the_strict_one(text: str, end: str) -> None:
    raw = (text + end).encode("utf-8", "surrogatepass")
    assert _shown(form.parsed(raw)) == _shown(form.strictly_parsed(raw))


@settings(max_examples=500, deadline=None)
@given(_objects(VALUES), st.integers(0, 1 << 16), st.integers(0, 255))
def test_and_of_a_line_with_a_byte_that_is_another(text: str, at: int, byte: int) -> None:
    raw = bytearray((text + "\n").encode("utf-8", "surrogatepass"))
    raw[1 + at % (len(raw) - 1)] = byte
    assert _shown(form.parsed(bytes(raw))) == _shown(form.strictly_parsed(bytes(raw)))


@pytest.mark.parametrize("depth", [100, 253, 254, 255, 300, 900, 2000, 100_000])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
def test_and_of_deep_nesting(depth: int, left: str, right: str) -> None:
    for inner in ("1", '{"b":1,"b":1}'):
        raw = ('{"x":' + left * depth + inner + right * depth + "}\n").encode()
        quick, strict = form.parsed(raw), form.strictly_parsed(raw)
        assert (quick is None) == (strict is None)
        if depth < 900:
            assert (quick is None) == (inner != "1")


def _shown(fields: object) -> str:
    """With types: 1, 1.0 and True are equal, and so are 0.0 and -0.0."""
    return repr(fields)


SESSION = "ses_01K0000000000000000000000A"
LINE = {"v": 1, "seq": 3, "ts": "2026-01-02T03:04:05.678Z", "session_id": SESSION, "type": "note", "x": 1}
STAMPS = [
    ("v", [0, 2, 1.0, True, "1", None]),
    ("seq", [0, -3, 3.0, "3", True, None, 4]),
    ("ts", ["2026-01-02T03:04:05.678", "2026-01-02T03:04:05.678z", "2026-01-02 03:04:05.678Z", "٢026-01-02T03:04:05.678Z", 1, None]),
    ("session_id", [SESSION[:-1], SESSION + "A", SESSION.lower(), "", None, [SESSION]]),
    ("type", [None, 1, [], {}]),
]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in STAMPS for value in values])
def test_a_wrong_stamp_is_never_matched_by_its_bytes(name: str, value: object) -> None:
    raw = json.dumps({**LINE, name: value}, separators=(",", ":"), ensure_ascii=False).encode()
    match = form.stamp(SESSION).match(raw)
    assert match is None or (name == "seq" and match[1] != b"3")


def test_a_right_stamp_is() -> None:
    match = form.stamp(SESSION).match(json.dumps(LINE, separators=(",", ":")).encode())
    assert match is not None
    assert match[1] == b"3"
    assert form.misfit(LINE, SESSION) is None


@pytest.mark.parametrize("first", ["v", "ts", "session_id", "type"])
def test_another_order_is_none(first: str) -> None:
    moved = {first: LINE[first], **LINE} if first != "v" else {"seq": 3, **LINE}
    raw = json.dumps(moved, separators=(",", ":")).encode()
    assert form.stamp(SESSION).match(raw) is None
    assert form.misfit(moved, SESSION) is not None
