"""What the verbs print with, whatever a model or a user wrote."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tachograph.cli import output


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_lone_surrogate_is_printed_as_an_escape(monkeypatch: pytest.MonkeyPatch, errors: str) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8", errors=errors))
    value = {"odd": "\ud800 lone", "fine": "wörld", "bytes": b"\xff"}
    output.print_json(value)
    sys.stdout.flush()
    assert json.loads(raw.getvalue()) == {**value, "bytes": {"$base64": "/w=="}}
