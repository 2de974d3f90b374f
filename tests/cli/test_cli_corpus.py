"""Old recordings always open: stores that were written by earlier versions are opened, verified, shown and replayed, and say what they said
when they were new. ``tests/corpus/freeze.py`` writes one for each version of the format, once."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cli_helpers import Tacho
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import opening
from tachograph.log.reader import Recording, session_ids
from tachograph.stores.local import LocalStore

CORPUS = Path(__file__).parent.parent / "corpus"
VERSIONS = sorted(path for path in CORPUS.glob("v*") if path.is_dir())
STORES = [pytest.param(path.parent, id=f"{path.parent.parent.name}-{path.parent.name}") for path in sorted(CORPUS.glob("v*/*/expect.json"))]


@pytest.fixture(scope="module")
def freeze() -> ModuleType:
    sys.path.insert(0, str(CORPUS))
    try:
        return importlib.import_module("freeze")
    finally:
        sys.path.remove(str(CORPUS))


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


def opened_there(tacho: Tacho, folder: Path) -> dict[str, list[object]]:
    """A copy, since reading is entered in the ledger; the verdicts that are expected."""
    shutil.copytree(folder, tacho.store.parent, dirs_exist_ok=True)
    verdicts: dict[str, list[object]] = json.loads((folder / "expect.json").read_text())["verdicts"]
    return verdicts


def test_each_version_has_its_stores(freeze: ModuleType) -> None:
    assert [path.name for path in VERSIONS] == [f"v{number}" for number in range(1, layout.VERSION + 1)]
    for path in VERSIONS:
        assert sorted(each.name for each in path.iterdir()) == sorted(freeze.STORES)
        assert sum(each.stat().st_size for each in path.rglob("*") if each.is_file()) < 300_000


def _within(then: Any, now: Any, path: str = "") -> None:
    """What was read then is read now; a line may show more than it did."""
    if isinstance(then, dict):
        assert isinstance(now, dict), path
        for key, value in then.items():
            assert key in now, f"{path}.{key}"
            _within(value, now[key], f"{path}.{key}")
    elif isinstance(then, list):
        assert isinstance(now, list), path
        assert len(now) == len(then), path
        for place, (one, other) in enumerate(zip(then, now, strict=True)):
            _within(one, other, f"{path}[{place}]")
    else:
        assert now == then, path


@pytest.mark.parametrize("folder", STORES)
def test_all_that_was_read_is_read(freeze: ModuleType, tacho: Tacho, folder: Path) -> None:
    opened_there(tacho, folder)
    _within(json.loads((folder / "expect.json").read_text()), freeze.read(tacho.store.parent))


@pytest.mark.parametrize("folder", STORES)
def test_the_command_line_opens_it(tacho: Tacho, folder: Path) -> None:
    verdicts = opened_there(tacho, folder)
    listed = tacho("ls", "--json")
    assert listed.returncode == 0, listed.stderr
    there = [row["session_id"] for row in listed.json()]
    assert all(row["status"] != "damaged" for row in listed.json())
    for session_id in there:
        shredded = str(verdicts[session_id][3]).startswith("shredded")
        for command in ("show", "cat", "postmortem"):
            done = tacho(command, session_id, *(["-o", str(tacho.store.parent / "report.html")] if command == "postmortem" else []))
            assert done.returncode == 0 or shredded, (command, done.stderr)
            assert "defect" not in done.stderr
        verified = tacho("verify", session_id, "--json").json()
        assert [verified[name] for name in ("verdict", "events", "sealed", "content")] == verdicts[session_id]
    assert tacho("verify", "ledger").returncode == 0
    if (tacho.store.parent / "vault-key.json").exists():
        tacho.settings["TACHO_VAULT_KEY"] = str(tacho.store.parent / "vault-key.json")
        shown = tacho("vault", "open", "@last", "--reason", "a test", "--json")
        assert shown.returncode == 0, shown.stderr
        assert "first original" in shown.stdout


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_a_recording_is_replayed(tacho: Tacho, version: Path) -> None:
    opened_there(tacho, version / "recorded")
    environment = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)}
    done = tacho.run_plain([sys.executable, "-m", "tachograph.cli.app", "replay", "@last"], env=environment)
    assert "IDENTICAL" in done.stderr, done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_every_type_of_line_is_among_them(version: Path) -> None:
    from tachograph.core import events

    found = set()
    for folder in version.iterdir():
        opened = opening.open_store(LocalStore(str(folder / "store")), keys.load((folder / "key.json").read_bytes(), "key.json"))
        for name in [*session_ids(opened.store), layout.LEDGER]:
            found |= {entry.line["type"] for entry in Recording(opened, name).entries}
    assert found >= set(events.TYPES) - {"unknown"} or version.name != f"v{layout.VERSION}"


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_a_second_reader_opens_what_he_could_open_then(tacho: Tacho, version: Path) -> None:
    opened_there(tacho, version / "keeping")
    tacho.settings["TACHO_KEY"] = str(tacho.store.parent / "reader.json")
    done = tacho("cat", "@last")
    assert done.returncode == 0, done.stderr
    assert '"text":"text"' in done.stdout.replace(" ", "")
