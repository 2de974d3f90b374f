"""The committed vectors: what the verifier says, that the generator still makes them, and that no reader falls over them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tachograph.core.errors import TachographError
from tachograph.crypto import keys
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.verify import Verification, verify
from tachograph.stores.local import LocalStore

FOLDER = Path(__file__).parent.parent / "vectors"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/expect.json"))


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vectors_make", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def opened(folder: Path) -> OpenStore:
    return opening.open_store(LocalStore(str(folder / "store")), keys.load((folder / "key.json").read_bytes(), "key.json"))


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / name / "expect.json").read_text(encoding="utf-8"))
    return found


def said(result: Verification) -> dict[str, Any]:
    return {
        "verdict": result.verdict,
        "checks": sorted({problem["check"] for problem in result.problems}),
        "good": result.good,
        "events": result.events,
        "ended": result.ended,
    }


def refused(act: Callable[[], object]) -> str | None:
    try:
        act()
    except TachographError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", NAMES)
def test_the_verifier_says_what_is_expected(name: str, generator: ModuleType) -> None:
    store = opened(FOLDER / name)
    result = verify(store.store, generator.SESSION, public=store.key.public(), data_key=store.data_key(generator.SESSION))
    expect = expected(name)
    assert len(expect.pop("about")) > 10
    assert said(result) == expect, result.to_json()
    assert all(problem["what"] and "\n" not in problem["what"] for problem in result.problems)


@pytest.mark.parametrize("name", NAMES)
def test_without_the_content_key_all_but_the_content_is_checked(name: str, generator: ModuleType) -> None:
    store = opened(FOLDER / name)
    result = verify(store.store, generator.SESSION, public=store.key.public())
    expect = expected(name)
    if expect["checks"] == ["content"]:
        assert (result.verdict, result.problems, result.content) == ("verified", [], "not checked")
    else:
        assert said(result) == {key: expect[key] for key in expect if key != "about"}


@pytest.mark.parametrize("name", NAMES)
def test_the_reader_reads_what_is_good_and_refuses_in_one_line(name: str, generator: ModuleType) -> None:
    store = opened(FOLDER / name)
    expect = expected(name)

    def read() -> int:
        return len(list(Recording(store, generator.SESSION).expanded()))

    if expect["good"]:
        assert read() == expect["events"]
    elif refusal := refused(read):
        assert "\n" not in refusal
        assert ";" in refusal, "an error says what to do next"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_continued_was_not_broken_in_the_middle(name: str, generator: ModuleType, tmp_path: Path) -> None:
    """A crash's log is continued and good again; one that no crash can leave is either refused or stays as bad as it was."""
    shutil.copytree(FOLDER / name, tmp_path / name)
    store = opened(tmp_path / name)

    def go_on() -> None:
        log = recover.resume(store, generator.SESSION, clock=generator.Clock(), entropy=generator.Entropy("again"), reason="host_lost")
        generator.finish(log)

    if refusal := refused(go_on):
        assert expected(name)["verdict"] in ("tampered", "missing")
        assert "\n" not in refusal
        return
    result = verify(store.store, generator.SESSION, public=store.key.public(), data_key=store.data_key(generator.SESSION))
    if expected(name)["verdict"] == "tampered":
        assert result.verdict == "tampered"
    else:
        assert result.good, result.to_json()


def test_each_vector_has_its_maker(generator: ModuleType) -> None:
    assert sorted(generator.VECTORS) == NAMES


def test_the_vectors_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 400_000


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_generator_makes_the_committed_bytes(generator: ModuleType, tmp_path: Path) -> None:
    made_with = json.loads((FOLDER / generator.MADE_WITH).read_text())
    if made_with != generator.compressor():
        pytest.skip(f"the vectors were compressed by {made_with}, here is {generator.compressor()}")
    generator.main(tmp_path)
    committed = {
        name: data for name, data in tree(FOLDER).items() if "/" in name and "__pycache__" not in name and not name.startswith("ledgers/")
    }
    made = {name: data for name, data in tree(tmp_path).items() if "/" in name}
    assert sorted(made) == sorted(committed)
    assert [name for name in made if made[name] != committed[name]] == []
