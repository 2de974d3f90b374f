"""``tacho catalogue``, ``ls``, ``sql``, ``radius`` and ``cost``, as they are called."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho
from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore
from tachograph.wiring import SystemClock

SONNET = "claude-sonnet-4-5-20250929"


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    """A store with three sessions: two that read the same page, and one of another model without an end."""
    made = Tacho(tmp_path)
    made.settings["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    key = keys.generate(os.urandom)
    (tmp_path / "key.json").write_bytes(keys.dump(key))
    store = LocalStore(str(made.store))
    opening.create(store, key, os.urandom)
    opened = opening.open_store(store, key)
    page = {"text": "the page that everybody reads " * 20}
    usage = {"input_tokens": 1_000_000, "output_tokens": 100_000}
    for number in range(3):
        session_id = ids.session_id(1_790_000_000_000 + number * 86_400_000, os.urandom(10))
        writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, os.urandom), clock=SystemClock(), entropy=os.urandom)
        start = events.SessionStart(
            name=f"task {number}", agent="coder", repo_url="https://github.com/acme/shop.git", repo_sha=f"{number}" * 40
        )
        writer.append(Draft(event=start))
        model = SONNET if number < 2 else "house-model"
        writer.append(
            Draft(
                event=events.ModelCall(
                    provider="anthropic", operation="messages", model_id=model, usage=usage, prompt={"id": "P", "version": str(number)}
                )
            )
        )
        tool = events.ToolCall(name="fetch" if number < 2 else "deploy", effect="read" if number < 2 else "external")
        writer.append(Draft(event=tool, contents={"output_uri": page if number < 2 else "done"}))
        if number < 2:
            writer.append(
                Draft(event=events.SessionEnd(status=("ok", "error")[number], exit_code=number, duration_ms=1.0, calls={"model": 1}))
            )
        writer.seal()
        writer.close()
    return made


def ids_of(done: Any) -> list[str]:
    return [row["name"] for row in done.json()]


FILTERS: list[tuple[list[str], list[int]]] = [
    (["--model", SONNET], [0, 1]), (["--model", "house*"], [2]), (["--prompt", "P@1"], [1]), (["--prompt", "P"], [0, 1, 2]), (["--tool", "deploy"], [2]),
    (["--outcome", "error"], [1]), (["--outcome", "ok", "--outcome", "open"], [0, 2]), (["--sha", "1111"], [1]), (["--repo", "acme/shop"], [0, 1, 2]),
    (["--repo", "acme/other"], []), (["--min-cost", "4"], [0, 1]), (["--max-cost", "4"], []), (["--name", "task 2"], [2]), (["--since", "1h"], [0, 1, 2]),
    (["--until", "2026-01-01"], []), (["--model", SONNET, "--outcome", "ok"], [0]), (["--guardrail", "NONE"], []), (["--pr", "#7"], [1]), (["--deploy", "prod"], [0]),
]  # fmt: skip


def test_ls_takes_the_same_with_a_catalogue_and_without(tacho: Tacho) -> None:
    rows = tacho("ls", "--json").json()
    assert tacho("link", rows[1]["session_id"], "pr=https://github.com/acme/shop/pull/7").returncode == 0
    assert tacho("link", rows[0]["session_id"], "deploy=prod").returncode == 0
    assert not (tacho.store / "catalogue").exists(), "ls makes none"
    answers = []
    for _ in range(2):
        answers.append([tacho("ls", "--json", *options) for options, _ in FILTERS])
        assert tacho("catalogue").returncode == 0
    for (options, numbers), before, after in zip(FILTERS, *answers, strict=True):
        assert ids_of(before) == [f"task {number}" for number in numbers], options
        assert before.json() == after.json(), options
        assert before.returncode == after.returncode == (0 if numbers else 1), options


def test_ls_for_people(tacho: Tacho) -> None:
    assert tacho("ls", "--outcome", "error").stdout.count("\n") == 1
    nothing = tacho("ls", "--tool", "nothing")
    assert (nothing.returncode, nothing.stdout.startswith("none of 3 sessions")) == (1, True)
    for options in (["--since", "yesterday"], ["--sha", "main"], ["--outcome", "good"], ["--min-cost", "much"], ["--prices", "/nowhere"]):
        done = tacho("ls", *options)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), options


def test_sql_in_its_forms(tacho: Tacho) -> None:
    question = "SELECT name, status, started IS NULL AS odd, calls FROM sessions ORDER BY 1 LIMIT 1"
    assert tacho("sql", question, "--json").json() == [{"name": "task 0", "status": "ok", "odd": False, "calls": {"model": 1}}]
    assert (
        tacho("sql", "-", "--csv", stdin=b"SELECT name, exit_code FROM sessions ORDER BY 1").stdout
        == "name,exit_code\ntask 0,0\ntask 1,1\ntask 2,\n"
    )
    assert tacho("sql", "SELECT name FROM sessions ORDER BY 1").stdout == "name\ntask 0\ntask 1\ntask 2\n"
    few = tacho("sql", "SELECT name FROM sessions ORDER BY 1", "--limit", "1")
    assert (few.stdout, "only the first 1 row" in few.stderr) == ("name\ntask 0\n", True)
    assert "prompt_version" in tacho("sql", "--tables").stdout
    assert {"sessions", "events", "contents", "links"} == set(tacho("sql", "--tables", "--json").json())
    assert tacho("sql", r"SELECT chr(27) || '[31m' AS a").stdout == "a\n\ufffd[31m\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["DROP VIEW sessions"], ["SELECT"], ["SELECT 1", "--csv", "--json"], ["SELECT 1", "--limit", "-1"], ["FROM '/etc/passwd'"]],
)
def test_sql_says_what_is_wrong_in_one_line(tacho: Tacho, arguments: list[str]) -> None:
    done = tacho("sql", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_radius(tacho: Tacho) -> None:
    first = tacho("ls", "--json").json()[0]["session_id"]
    found = tacho("radius", first, "--event", "3", "--json")
    assert found.returncode == 0
    assert [(row["name"], row["own"]) for row in found.json()["sessions"]] == [("task 0", True), ("task 1", False)]
    shown = tacho("radius", first, "--event", "3").stdout
    assert "output of #3 tool_call fetch" in shown
    assert "task 1" in shown
    content = found.json()["keys"][0]["value"]
    assert [row["name"] for row in tacho("radius", "--content", content, "--json").json()["sessions"]] == ["task 0", "task 1"]
    assert [row["name"] for row in tacho("radius", "--prompt", "P@2", "--json").json()["sessions"]] == ["task 2"]
    (last,) = tacho("radius", "--model", "house-model", "--json").json()["sessions"]
    assert last["after"]["tools"] == {"deploy": 1}
    by_text = tacho("radius", "--text", "page that everybody reads", "--json").json()
    assert [(row["name"], row["saw"][0]["line"]) for row in by_text["sessions"]] == [("task 0", 3), ("task 1", 3)]
    assert tacho("radius", "--text", "page that nobody reads").returncode == 1
    assert tacho("radius", "--model", "nothing").returncode == 1
    assert tacho("radius", first, "--prompt", "P@0").returncode == 1, "nobody but itself"
    for wrong in ([], ["--event", "3"], ["--content", "12"], [first, "--event", "99"], [first, "--event", "3", "--model", "m"]):
        done = tacho("radius", *wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), wrong


def test_cost(tacho: Tacho, tmp_path: Path) -> None:
    found = tacho("cost", "--json").json()
    assert {row["group"]: row["cost"] for row in found["groups"]} == {SONNET: 9.0, "house-model": None}
    assert (found["total"], found["unknown"], found["currency"]) == (9.0, ["house-model"], "USD")
    shown = tacho("cost", "--by", "session").stdout
    assert "4.50 USD" in shown
    assert "unknown" in shown
    assert "besides what 1 model cost that it does not know: house-model" in shown
    own = tmp_path / "own.toml"
    own.write_text('date = 2026-02-01\ncurrency = "EUR"\n[[model]]\nids = ["house-model"]\ninput = 1\noutput = 2\n')
    assert tacho("cost", "--json", "--prices", str(own)).json()["total"] == 1.2
    tacho.settings["TACHO_PRICES"] = str(own)
    assert tacho("ls", "--json", "--max-cost", "2").json()[0]["cost"] == 1.2
    assert tacho("cost", "@last", "--json").json()["groups"][0]["group"] == "house-model"
    assert tacho("cost", "--tool", "nothing").returncode == 1


def test_the_catalogue_is_no_part_of_what_is_verified_or_looked_through_for_secrets(tacho: Tacho) -> None:
    before = tacho("verify", "--all", "--json").json()
    assert tacho("catalogue", "--json").json()["read"] == 3
    assert tacho("catalogue", "--json").json()["read"] == 0
    assert tacho("catalogue", "--rebuild", "--json").json()["read"] == 3
    assert tacho("verify", "--all", "--json").json() == before
    assert tacho("audit-secrets").returncode == 0


def test_where_the_store_takes_none_it_is_kept_in_the_users_cache(tacho: Tacho, tmp_path: Path) -> None:
    (tacho.store / "catalogue").write_text("in its way")
    done = tacho("sql", "SELECT count(*) AS n FROM sessions", "--json")
    assert done.json() == [{"n": 3}]
    assert "cannot be kept in the store" in done.stderr
    assert list((tmp_path / "cache").rglob("*.parquet"))
    (tacho.store / "catalogue").unlink()


def test_without_the_libraries_it_says_what_to_install_and_ls_works(tacho: Tacho, tmp_path: Path) -> None:
    for name in ("duckdb", "pyarrow", "numpy"):
        (tmp_path / "without" / name).mkdir(parents=True)
        (tmp_path / "without" / name / "__init__.py").write_text("raise ImportError('not here')")
    assert tacho("catalogue").returncode == 0
    tacho.settings["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "without"), os.environ.get("PYTHONPATH", "")])
    for verb in (["catalogue"], ["sql", "SELECT 1"], ["cost"], ["radius", "--model", "m"], ["search", "x"]):
        done = tacho(*verb)
        assert (done.returncode, "pip install 'tachograph[catalogue]'" in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert ids_of(tacho("ls", "--json", "--model", "house*")) == ["task 2"]
    shutil.rmtree(tmp_path / "without")
