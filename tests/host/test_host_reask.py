"""``tacho reask``: the same question several times, with scripted randomness."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fork_helpers import SECRET, Scene, environment, scene
from tachograph.testing.model_server import ModelServer, Script, Turn


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("reask")) as found:
        yield found


@pytest.fixture(autouse=True)
def fresh(recorded: Scene) -> None:
    recorded.models.requests.clear()
    recorded.models._draws.clear()


def test_how_often_the_decision_comes_again(recorded: Scene) -> None:
    done = recorded("reask", recorded.session_id, "--step", "2", "-n", "8", "--live-model", "--json")
    found = done.json()
    assert done.returncode == 0, done.stderr
    assert (found["asked"], found["answered"], found["actions"]["same"]) == (8, 8, 6)
    assert (round(found["actions"]["low"], 2), round(found["actions"]["high"], 2)) == (0.41, 0.93)
    assert found["verdict"] == "open"
    assert [(one["count"], one["recorded"], one["told"]) for one in found["decisions"]] == [
        (6, True, "no tool call"), (2, False, 'patch(path="a.txt", text="ONE")'),
    ]  # fmt: skip
    # The question was the recorded one, and only with the user's own key.
    assert len({str(request.body) for request in recorded.models.requests}) == 1
    assert recorded.models.requests[0].body["messages"][-1]["content"][0]["content"] == "one\n"
    assert {request.headers["x-api-key"] for request in recorded.models.requests} == {SECRET}
    # Each answer is kept as a sealed session that says what it is.
    assert len(set(found["sessions"])) == 8
    lines = recorded.lines(found["sessions"][0])
    assert lines[0]["forked_from"]["by"] == "reask"
    assert (lines[0]["forked_from"]["session_id"], lines[0]["forked_from"]["step"], lines[0]["source"]) == (recorded.session_id, 2, "reask")
    assert [line["type"] for line in lines if line["type"] in ("model_call", "gap", "session_end")] == ["model_call", "session_end"]
    assert lines[-1]["status"] == "ok"
    assert SECRET not in recorded("cat", found["sessions"][0]).stdout
    assert recorded("verify", found["sessions"][0]).returncode == 0
    assert f"asked again from {recorded.session_id} at step 2" in recorded("ls").stdout
    refused = recorded("replay", found["sessions"][0])
    assert refused.returncode == 2
    assert "no run of an agent" in refused.stderr


def test_with_a_change_and_for_people(recorded: Scene) -> None:
    done = recorded("reask", recorded.session_id, "--step", "2", "-n", "6", "--live-model", "--set", "params.temperature=0")
    assert "actions as recorded  6 of 6 (100%; 95% interval 61% to 100%)" in done.stdout
    assert "STILL: " in done.stdout
    assert "   6 × no tool call   <- recorded" in done.stdout
    assert {request.body["temperature"] for request in recorded.models.requests} == {0}
    done = recorded("reask", recorded.session_id, "--step", "2", "-n", "6", "--live-model", "--set", "model=model-b")
    assert "OTHERWISE: " in done.stdout
    assert "   0 × no tool call   <- recorded" in done.stdout


def test_without_live_model_nothing_is_asked(recorded: Scene) -> None:
    done = recorded("reask", recorded.session_id, "--step", "2")
    assert done.returncode == 2
    assert "--live-model" in done.stderr
    assert recorded.models.requests == []


def test_the_budget_bounds_it(recorded: Scene) -> None:
    found = recorded("reask", recorded.session_id, "--step", "2", "-n", "9", "--live-model", "--budget", "2", "--json").json()
    assert (found["asked"], len(recorded.models.requests)) == (2, 2)
    assert "--budget is 2 calls" in found["notes"][0]
    recorded.models.requests.clear()
    found = recorded("reask", recorded.session_id, "--step", "2", "-n", "40", "--live-model", "--budget", "150 tokens", "--json").json()
    assert found["tokens"] >= 150
    assert len(recorded.models.requests) == found["asked"] < 40
    assert "budget of 150 tokens" in found["notes"][0]


def test_an_overloaded_model_is_asked_again_and_a_refusing_one_is_not(recorded: Scene) -> None:
    with ModelServer(Script(turns=[Turn("I stop.", when="one", status=[529, 503], retry_after_ms=10)])) as busy:
        around = environment(busy.url, "anthropic")
        found = recorded("reask", recorded.session_id, "--step", "2", "-n", "1", "--live-model", "--json", env=around).json()
        assert (found["answered"], found["calls"], found["actions"]["same"]) == (1, 3, 1)
    with ModelServer(Script(turns=[Turn(when="one", status=[401] * 20)])) as refusing:
        done = recorded("reask", recorded.session_id, "--step", "2", "-n", "3", "--live-model", env=environment(refusing.url, "anthropic"))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "refused the credentials (401)" in done.stderr


def test_a_model_that_is_not_there_is_one_line(recorded: Scene) -> None:
    around = {**recorded.environment, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done = recorded("reask", recorded.session_id, "--step", "2", "--live-model", env=around)
    assert (done.returncode, done.stderr) == (
        2,
        "error: no answer from 127.0.0.1:9: Connection refused; check the base URL and the network\n",
    )


def test_from_python(recorded: Scene) -> None:
    program = (
        "import tachograph\n"
        f"session = tachograph.open()[{recorded.session_id!r}]\n"
        "found = session.reask(2, 3, changes={'params.temperature': 0})\n"
        "assert found['actions']['same'] == 3, found\n"
        "report = session.fork(2, changes={'model': 'model-b'}, live_model=True)\n"
        "assert report['decision']['flipped'] is True, report\n"
        "assert session.fork(2)['stopped'].startswith('this step has to be asked')\n"
    )
    import sys

    done = recorded.tacho.run_plain([sys.executable, "-c", program], cwd=recorded.folder, env=recorded.environment)
    assert done.returncode == 0, done.stderr
