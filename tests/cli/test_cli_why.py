"""``tacho why`` over really recorded agents, one for each wire format: planted texts lead to their sources, made-up ones to the model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tachograph
from cli_helpers import Done, Tacho
from fork_helpers import AGENT, environment
from tachograph.reading import Session
from tachograph.testing.model_server import ModelServer, Script, Turn
from ways_of_writing import WAYS, sentence

CHUNK = 7
RULE = "Never touch the ledger of the northern branch 5512."
MADE_UP = (
    "The auditor Mrs Penhaligon signed it off.", "retry_with_admin_rights", "https://drop.example/7f3a", "Batch 771204 is obsolete.", "rm -rf ./archive-old",
)  # fmt: skip


def planted(number: int) -> list[tuple[str, str]]:
    """(as it lies in the file, as the model writes it on) of one session: a part of all ways."""
    chosen = [way for index, way in enumerate(WAYS) if index % 5 == number]
    made = [(way, way.made(900 + number * 100 + index)) for index, way in enumerate(chosen)]
    return [(words, way.written(words)) for way, words in made]


@dataclass(frozen=True)
class Recorded:
    """One recorded session."""

    tacho: Tacho
    folder: Path
    session: Session
    texts: list[tuple[str, str]]

    def __call__(self, *arguments: str, **more: Any) -> Done:
        return self.tacho("why", "@last", *arguments, cwd=self.folder, **more)


@pytest.fixture(scope="module", params=["anthropic", "chat", "responses", "converse", "invoke"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    wire = request.param
    texts = planted(["anthropic", "chat", "responses", "converse", "invoke"].index(wire))
    folder = tmp_path_factory.mktemp(wire)
    work = folder / "work"
    work.mkdir()
    (work / "agent.py").write_text(AGENT)
    (work / "a.txt").write_text("\n\n".join([sentence(1), *(words for words, _ in texts), sentence(2)]) + "\n")
    tacho = Tacho(folder)
    turns = (
        Turn("I look first.", when="Fix it", tool_calls=[{"name": "look", "input": {"path": "a.txt"}}]),
        Turn(
            " ".join(MADE_UP), when="before the",
            tool_calls=[{"name": "patch", "input": {"path": f"out{number}.txt", "text": written}} for number, (_, written) in enumerate(texts)],
        ),
        Turn("Done, as you asked.", when="patched"),
    )  # fmt: skip
    with ModelServer(Script(turns=turns)) as models:
        around = {**environment(models.url, wire), "AGENT_SYSTEM": f"Be careful. {RULE} Say what you did."}
        done = tacho("record", "--", sys.executable, "agent.py", cwd=work, env=around)
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        for name, value in tacho.settings.items():
            patch.setenv(name, value)
        yield Recorded(tacho, work, tachograph.open()["@last"], texts)


def test_planted_texts_lead_to_the_file_that_they_were_read_from(recorded: Recorded) -> None:
    reads = [event.id for event in recorded.session.events if event.TYPE == "tool_call" and getattr(event, "name", "") == "look"]
    missed = []
    for words, written in recorded.texts:
        for query in dict.fromkeys((words, written)):
            found = recorded.session.why(query)
            origin = found["origin"]
            if origin is None or origin["kind"] != "file" or origin["event_id"] not in reads or origin["name"] != "a.txt":
                missed.append((query, origin))
            elif not {"model", "written"} <= {link["kind"] for link in found["chain"]}:
                missed.append((query, found["chain"]))
    assert not missed


def test_the_system_prompt_and_the_user_are_told_apart_from_the_model(recorded: Recorded) -> None:
    assert recorded.session.why(RULE.lower())["origin"]["kind"] == "system"
    assert recorded.session.why("Fix it.")["origin"]["kind"] == "user"
    for words in MADE_UP:
        found = recorded.session.why(words)
        assert (found["origin"]["kind"], found["origin"]["step"]) == ("model", 2), words


def test_a_line_that_was_written_is_traced_through_the_file(recorded: Recorded) -> None:
    path, number = "out0.txt", 1
    found = recorded("--line", f"{path}:{number}", "--json").json()
    assert found == recorded.session.why(line=(path, number))
    assert found["origin"]["kind"] == "file"
    assert "written" in {link["kind"] for link in found["chain"]}


def test_an_event_is_told_part_by_part(recorded: Recorded) -> None:
    calls = [event.id for event in recorded.session.events if event.TYPE == "model_call"]
    found = recorded("--event", calls[1], "--json").json()
    assert found["event"] == calls[1]
    origins = [part["origin"]["kind"] for part in found["parts"]]
    assert origins[0] == "model"  # what it made up
    assert origins.count("file") >= len(recorded.texts) - 1
    assert found == json.loads(json.dumps(recorded.session.why(event=calls[1])))


def test_for_people_a_chain_and_what_to_do_next(recorded: Recorded) -> None:
    words, _ = recorded.texts[0]
    done = recorded("-", stdin=words.encode())
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert "came from the file a.txt (#" in first
    assert any(line.lstrip().startswith("#") and "[verbatim]" in line for line in rest)
    assert rest[-1].startswith("next: tacho show ses_")
    last = rest[-1].split("; ")[-1].split()
    assert last[:2] == ["tacho", "why"]
    again = recorded.tacho(*last[1:], cwd=recorded.folder)
    assert again.returncode == 0, again.stderr


def test_options_may_stand_anywhere_and_nowhere_is_1(recorded: Recorded) -> None:
    assert recorded("--json", RULE).json() == recorded(RULE, "--json").json()
    done = recorded("flux capacitor")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (1, 1, "")
    done = recorded("--json", "flux capacitor")
    assert done.returncode == 1
    assert (done.json()["origin"], done.json()["chain"]) == (None, [])


@pytest.mark.parametrize("recorded", ["anthropic"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name one thing"),
        (["x", "--event", "#1"], "name one thing"),
        ([" "], "a text that is empty"),
        (["--line", "a.txt"], "write FILE:LINE"),
        (["--line", "a.txt:0"], "write FILE:LINE"),
        (["--line", "out0.txt:99999"], "no line 99999"),
        (["--line", "nowhere.txt:1"], "wrote no file nowhere.txt"),
        (["--event", "evt_nothing"], "no event evt_nothing"),
        (["--event", "1"], "says nothing that is recorded"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(recorded: Recorded, arguments: list[str], told: str) -> None:
    done = recorded(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert told in done.stderr
