"""``tacho export``: as ``cat`` prints it, or as a page whose proofs anybody with the public key can check."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.testing.model_server import ModelServer, Script, Turn

#: Known to no rule when it is recorded.
SECRET = "WIDGET-" + "4711-ALPHA"
AGENT = f"""
import json, os, urllib.request
for word in ("first-word", "second-word", "key {SECRET} end"):
    body = {{"model": "claude-x", "max_tokens": 9, "messages": [{{"role": "user", "content": word}}]}}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), {{"content-type": "application/json"}})
    print(word, len(urllib.request.urlopen(request).read()))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Tacho:
    made = Tacho(tmp_path_factory.mktemp("export"))
    with ModelServer(Script(turns=[Turn(text="An answer.")])) as server:
        environment = {**os.environ, "ANTHROPIC_BASE_URL": server.url}
        done = made("record", "--name", "three", "--", sys.executable, "-c", AGENT, env=environment, cwd=made.store.parent)
    assert done.returncode == 0, done.stderr
    assert made("ls", "--json").json()[0]["calls"]["model"] == 3
    return made


def page(tacho: Tacho, folder: Path, *options: str) -> Path:
    path = folder / "out.html"
    done = tacho("export", "@last", "--to", "html", "-o", str(path), *options)
    assert done.returncode == 0, done.stderr
    assert f"{path} written" in done.stderr
    return path


def verifier(tacho: Tacho) -> str:
    return str(json.loads((tacho.store / "store.json").read_text())["verifier"])


def test_steps_with_proofs_that_need_the_public_key_alone(recorded: Tacho, tmp_path: Path) -> None:
    path = page(recorded, tmp_path, "--steps", "2")
    words = path.read_text()
    assert "second-word" in words
    assert "first-word" not in words
    assert SECRET not in words
    elsewhere = Tacho(tmp_path / "elsewhere")
    done = elsewhere("verify", str(path), "--key", verifier(recorded), "--json")
    assert done.returncode == 0, done.stdout
    found = done.json()
    assert found["verdict"] == "verified"
    assert [one["line"]["type"] for one in found["proofs"]] == ["model_call"]
    assert f'id="e{found["proofs"][0]["seq"]}"' in words
    assert verifier(recorded) in words
    said = elsewhere("verify", str(path), "--key", verifier(recorded)).stdout.splitlines()
    assert said[0].startswith("proof 1  verified  line ")
    assert said[-1].endswith("verified  1 proof; the words of the page are its sender's")


def test_a_proof_that_was_changed_in_the_page_is_found(recorded: Tacho, tmp_path: Path) -> None:
    path = page(recorded, tmp_path, "--steps", "1,3")
    path.write_text(re.sub(r"^index (\d+)$", lambda match: f"index {int(match[1]) + 1}", path.read_text(), count=1, flags=re.MULTILINE))
    done = recorded("verify", str(path), "--json")
    assert done.returncode == 1
    assert [one["verdict"] for one in done.json()["proofs"]] == ["tampered", "verified"]
    assert done.json()["verdict"] == "tampered"
    path.write_text(re.sub(r"(?s)<pre class=.proof.*?</pre>", "", path.read_text()))
    done = recorded("verify", str(path))
    assert done.returncode == 2
    assert "no proof in the page" in done.stderr


def test_the_whole_session_ends_in_its_seal(recorded: Tacho, tmp_path: Path) -> None:
    path = page(recorded, tmp_path)
    words = path.read_text()
    assert all(one in words for one in ("first-word", "second-word", SECRET, "An answer."))
    assert "<script" not in words
    found = recorded("verify", str(path), "--json").json()
    assert (found["verdict"], found["proofs"][0]["events"]) == ("verified", recorded("verify", "@last", "--json").json()["events"])
    assert recorded("export", "@last", "--to", "html").stdout == words


def test_lines_are_those_of_cat(recorded: Tacho, tmp_path: Path) -> None:
    every = recorded("cat", "@last").stdout_bytes
    assert recorded("export", "@last", "--to", "jsonl").stdout_bytes == every
    path = tmp_path / "out.jsonl"
    assert recorded("export", "@last", "--to", "jsonl", "-o", str(path), "--steps", "2-3").returncode == 0
    some = [json.loads(line) for line in path.read_text().splitlines()]
    assert [one["type"] for one in some] == ["model_call", "model_call"]
    assert all(json.dumps(one, separators=(",", ":")).encode() in every for one in some)


def test_what_todays_rules_know_is_masked_on_its_way_out(recorded: Tacho, tmp_path: Path) -> None:
    assert SECRET in recorded("cat", "@last").stdout
    policy = tmp_path / "tachograph.toml"
    policy.write_text("[redact]\nsecret_from = ['words.txt']\n")
    (tmp_path / "words.txt").write_text(SECRET + "\n")
    for form in ("html", "jsonl"):
        done = recorded("export", "@last", "--to", form, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert SECRET not in done.stdout
        assert "REDACTED" in done.stdout
        assert "masked in this file" in done.stderr


def test_what_cannot_be_done_is_one_line(recorded: Tacho, tmp_path: Path) -> None:
    for options, words in (
        (["--to", "pdf"], "invalid choice"),
        ([], "--to"),
        (["--to", "html", "--steps", "9"], "no step 9 in"),
        (["--to", "html", "--steps", "x"], "not steps"),
        (["--to", "html", "-o", str(tmp_path / "none" / "x.html")], "cannot write"),
    ):
        done = recorded("export", "@last", *options)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert words in done.stderr


def test_reading_for_an_export_is_entered_in_the_ledger(recorded: Tacho) -> None:
    recorded("export", "@last", "--to", "jsonl")
    entries = [line for line in recorded("cat", "ledger").lines() if line.get("action") == "read"]
    assert any(entry["detail"] == {"verb": "export"} for entry in entries)
