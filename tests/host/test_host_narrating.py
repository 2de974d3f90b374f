"""``tacho postmortem --narrative``: a model's words, held against the record, over every wire format that can be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from fork_helpers import SECRET, TURNS, WIRES, scene
from tachograph.testing.model_server import Turn

TOLD = (
    'It was asked to "Fix it." [#{call}]\n'
    "- It looked at a.txt and stopped. [#{call}]\n"
    "It then deleted the table customers_2024. [#{call}]\n"
    "Somebody approved it. [#99999]\n"
    "The model felt like it.\n"
    f"The key is {SECRET}. [#{{call}}]"
)


@pytest.mark.parametrize("wire", WIRES)
def test_sentences_that_the_record_does_not_bear_out_are_struck(tmp_path: Path, wire: str) -> None:
    turns = [Turn(TOLD.replace("{call}", "5"), asked="narrative of an incident review"), *TURNS]
    with scene(tmp_path, wire, turns) as recorded:
        calls = [line for line in recorded.lines(recorded.session_id) if line["type"] == "model_call"]
        turns[0] = Turn(TOLD.replace("{call}", str(calls[-1]["seq"])), asked="narrative of an incident review")
        recorded.models.script = type(recorded.models.script)(turns=turns)
        done = recorded("postmortem", recorded.session_id, "--narrative", "--live-model", "--json")
        if wire == "invoke":
            assert done.returncode == 2
            assert "no narrative can be asked for" in done.stderr
            return
        assert done.returncode == 0, done.stderr
        found = done.json()["narrative"]
        assert found["model"] == "model-a"
        assert [one["holds"] for one in found["sentences"]] == [True, True, False, False, False, False]
        assert [one["why"] for one in found["sentences"][2:5]] == [
            "“customers_2024” does not stand in what it cites", "there is no line #99999", "it cites no line",
        ]  # fmt: skip
        asked = recorded.models.requests[-1]
        assert "tools" not in asked.body
        assert not asked.body.get("stream")
        assert SECRET not in done.stdout
        page = recorded("postmortem", recorded.session_id, "--narrative", "--live-model").stdout
        assert "~~It then deleted the table customers" in page
        assert "Written by model-a, not by the analyses" in page


def test_only_on_request_and_only_where_somebody_answers(tmp_path: Path) -> None:
    with scene(tmp_path) as recorded:
        done = recorded("postmortem", recorded.session_id, "--narrative")
        assert done.returncode == 2
        assert "--live-model" in done.stderr
        assert recorded.models.requests == []
        without = {name: value for name, value in recorded.environment.items() if not name.startswith("ANTHROPIC_API")}
        done = recorded("postmortem", recorded.session_id, "--narrative", "--live-model", env=without)
        assert done.returncode == 2
        assert "ANTHROPIC_API_KEY" in done.stderr
        assert done.stderr.count("\n") == 1
