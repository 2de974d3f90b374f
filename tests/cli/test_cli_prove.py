"""``tacho prove``, and ``tacho verify`` of what it wrote and of seals that were kept outside."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from cli_helpers import Done, Tacho


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Tacho:
    made = Tacho(tmp_path_factory.mktemp("prove"))
    assert made("record", "--", sys.executable, "-c", "print(1)").returncode == 0
    return made


def written(tacho: Tacho, folder: Path, *arguments: str) -> str:
    path = folder / "out.tlog-proof"
    done = tacho("prove", *arguments, "-o", str(path))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return str(path)


def refused(done: Done, code: int, words: str) -> None:
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), (done.stdout, done.stderr)
    assert words in done.stderr


def test_a_proof_needs_the_public_key_and_nothing_else(recorded: Tacho, tmp_path: Path) -> None:
    path = written(recorded, tmp_path, "@last", "--event", "1")
    shutil.copy(recorded.store / "store.json", tmp_path / "store.json")
    vkey = json.loads((tmp_path / "store.json").read_text())["verifier"]
    elsewhere = Tacho(tmp_path / "elsewhere")
    for key in (vkey, str(tmp_path / "store.json")):
        done = elsewhere("verify", path, "--key", key, "--json")
        assert (done.returncode, done.json()["verdict"], done.json()["line"]["type"]) == (0, "verified", "session_start")
    assert recorded("verify", path).returncode == 0
    refused(elsewhere("verify", path), 2, "no key file")
    refused(elsewhere("verify", path, "--key", "nonsense"), 2, "--key nonsense")


def test_a_proof_that_was_changed_is_tampered(recorded: Tacho, tmp_path: Path) -> None:
    path = Path(written(recorded, tmp_path, "@last", "--event", "2"))
    path.write_text(path.read_text().replace("index 1\n", "index 0\n"))
    done = recorded("verify", str(path))
    assert (done.returncode, "tampered" in done.stdout) == (1, True)


@pytest.mark.parametrize("log", ["@last", "ledger"])
def test_a_seal_from_outside_agrees_or_not(recorded: Tacho, tmp_path: Path, log: str) -> None:
    path = Path(written(recorded, tmp_path, log))
    for arguments in (("@last",), ("--all",), ()):
        assert recorded("verify", *arguments, "--seal", str(path)).returncode == 0
    assert recorded("verify", "--all", "--seal", "-", stdin=path.read_bytes()).returncode == 0
    text = path.read_text().split("\n")
    path.write_text("\n".join([text[0], str(int(text[1]) + 1), *text[2:]]))
    done = recorded("verify", "--all", "--seal", str(path))
    assert (done.returncode, "an older copy took its place" in done.stdout, "not by the key" in done.stdout) == (1, True, True)


def test_a_size_and_a_root_are_a_seal_too(recorded: Tacho) -> None:
    found = recorded("verify", "@last", "--json").json()
    pair = f"{found['events']}:{found['root']}"
    assert recorded("verify", "@last", "--seal", pair).returncode == 0
    assert recorded("verify", "@last", "--seal", f"{found['events'] - 1}:{found['root']}").returncode == 1
    refused(recorded("verify", "--all", "--seal", pair), 2, "of which session is this seal")


def test_what_makes_no_sense_is_said(recorded: Tacho, tmp_path: Path) -> None:
    seal = written(recorded, tmp_path, "@last")
    (tmp_path / "junk").write_text("junk")
    refused(recorded("verify", "@last", "--seal", str(tmp_path / "junk")), 2, "not a seal")
    refused(recorded("verify", "@last", "--seal", str(tmp_path / "none")), 2, "cannot read")
    refused(recorded("verify", seal, "--all"), 2, "a proof is checked by itself")
    refused(recorded("verify", "@last", "--key", "x"), 2, "not an Ed25519 verifier key")
    refused(recorded("prove", "@last", "--event", "evt_none"), 2, "no event evt_none")
    refused(recorded("verify", "ledger", "--seal", seal), 2, "the seal is of")
