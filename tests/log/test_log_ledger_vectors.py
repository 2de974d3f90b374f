"""The committed vectors of whole stores: what the judge says of each, and that the generator still makes them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.verdict import Judge
from tachograph.stores.local import LocalStore

VECTORS = Path(__file__).parent.parent / "vectors"
FOLDER = VECTORS / "ledgers"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/expect.json"))


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    sys.path.insert(0, str(VECTORS))
    try:
        return importlib.import_module("ledgers")
    finally:
        sys.path.remove(str(VECTORS))


@pytest.mark.parametrize("name", NAMES)
def test_the_judge_says_what_is_expected(name: str) -> None:
    key = keys.load((FOLDER / name / "key.json").read_bytes(), "key.json")
    opened = opening.open_store(LocalStore(str(FOLDER / name / "store")), key)
    results, ledger = Judge(opened.store, public=key.public(), opened=opened).everything()
    said = {result.session_id: result.verdict for result in (*results, *([ledger] if ledger is not None else []))}
    assert said == json.loads((FOLDER / name / "expect.json").read_text())["verdicts"]


def test_each_vector_has_its_maker(generator: ModuleType) -> None:
    assert sorted(generator.VECTORS) == NAMES


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_generator_makes_the_committed_bytes(generator: ModuleType, tmp_path: Path) -> None:
    made_with = json.loads((VECTORS / "made_with.json").read_text())
    if made_with != importlib.import_module("make").compressor():
        pytest.skip(f"the vectors were compressed by {made_with}")
    generator.main(tmp_path)
    assert tree(tmp_path) == tree(FOLDER)
