"""What the verbs print with, whatever a model or a user wrote."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.cli import output


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_lone_surrogate_is_printed_as_an_escape(monkeypatch: pytest.MonkeyPatch, errors: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8", errors=errors))
    value = {"odd": "\ud800 lone", "fine": "wörld", "bytes": b"\xff"}
    output.print_json(value)
    sys.stdout.flush()
    assert json.loads(raw.getvalue()) == {**value, "bytes": {"$base64": "/w=="}}


_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)


@given(_DOCUMENTS)
def test_a_document_is_written_as_the_standard_library_does(value: object) -> None:
    assert output.document(value) == json.dumps(value, indent=1)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_of_a_document_are_the_same(value: list[float]) -> None:
    assert json.loads(output.document(value)) == value


def test_what_json_lacks_in_a_document() -> None:
    assert json.loads(output.document({"a": b"\xff", "b": 1 << 70, "c": "\udc80"})) == {
        "a": {"$base64": "/w=="},
        "b": 1 << 70,
        "c": "\udc80",
    }
