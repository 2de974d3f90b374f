"""Signals in a file: taken as they stand, or refused in one line that names the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from signals_server import NOON, Hands
from tachograph.core.errors import UsageError
from tachograph.core.signals import Window
from tachograph.signals.file import FileSource

HOUR = Window(NOON, NOON + 3_600_000)
ALARM = {"at": "2026-11-30T12:04:00Z", "name": "checkout errors", "state": "ALARM", "value": 7.5, "unit": "%", "by": "grafana"}


def written(folder: Path, document: Any) -> str:
    path = folder / "signals.json"
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return str(path)


@pytest.mark.parametrize("document", [[ALARM], {"signals": [ALARM]}])
def test_a_list_and_an_object_with_one_are_read_alike(tmp_path: Path, document: Any) -> None:
    (found,), missing = FileSource(written(tmp_path, document)).read(HOUR, Hands().budget())
    assert missing == []
    assert found.to_json() == {
        "at": "2026-11-30T12:04:00.000Z", "source": "file", "kind": "alarm", "name": "checkout errors", "state": "ALARM", "value": 7.5,
        "unit": "%", "text": "", "by": "grafana", "url": None,
    }  # fmt: skip
    assert found.begins
    assert not found.ends


def test_what_is_outside_of_the_window_is_counted(tmp_path: Path) -> None:
    late = {**ALARM, "at": "2026-11-30T18:00:00Z"}
    found, missing = FileSource(written(tmp_path, [ALARM, late])).read(HOUR, Hands().budget())
    assert len(found) == 1
    assert [one.why for one in missing] == ["1 of its 2 signals are outside of the window"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (b"{", "no signals"),
        (b"[" * 5000, "no signals"),
        ({"signal": []}, "no signals"),
        ([ALARM, 7], "not an object, signal 2 of"),
        ([{**ALARM, "at": "noon"}], "no time with an offset in at, signal 1 of"),
        ([{**ALARM, "at": "2026-11-30T12:04:00"}], "no time with an offset"),
        ([{"at": ALARM["at"]}], "no name, signal 1"),
        ([{**ALARM, "kind": "siren"}], "not a kind, 'siren', signal 1"),
        ([{**ALARM, "kind": ["alarm"]}], "kind is no text"),
        ([{**ALARM, "value": "7"}], "value is no number"),
        ([{**ALARM, "value": True}], "value is no number"),
        ([{**ALARM, "url": "javascript:alert(1)"}], "not an address"),
        ([{**ALARM, "url": "https://me:secret@example.org/"}], "not an address"),
        ([ALARM] * 5001, "5,001 signals"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, document: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as error:
        FileSource(written(tmp_path, document))
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"cannot read signals from /nowhere/x\.json, No such file"):
        FileSource("/nowhere/x.json")


def test_texts_are_cut_and_on_one_line(tmp_path: Path) -> None:
    (found,), _ = FileSource(written(tmp_path, [{**ALARM, "text": "a\n\x1b[31m" + "b" * 9000}])).read(HOUR, Hands().budget())
    assert len(found.text) == 2000
    assert found.text.startswith("a [31m")
    assert found.text.isprintable()
