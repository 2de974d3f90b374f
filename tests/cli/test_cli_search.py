"""``tacho search``, as it is called."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    made = Tacho(tmp_path)
    for name, text in (("one", "the page about herons"), ("two", "nothing at all")):
        # Elsewhere than here: what lies in a workspace is recorded, and this very file would be found.
        (tmp_path / "empty").mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(f"print({text!r})")
        assert made("record", "--name", name, "--", sys.executable, f"../{name}.py", cwd=tmp_path / "empty").returncode == 0
    return made


def names(tacho: Tacho, *arguments: str) -> list[str]:
    by_id = {row["session_id"]: row["name"] for row in tacho("ls", "--json").json()}
    done = tacho("search", *arguments, "--json")
    found = [by_id[row["session_id"]] for row in done.json()["sessions"]]
    assert done.returncode == (0 if found else 1), done.stderr
    return found


def test_found_where_it_is_the_first_time_and_by_filters(tacho: Tacho) -> None:
    for _ in range(2):
        assert names(tacho, "about herons") == ["one"]
        assert names(tacho, "ABOUT HERONS", "-i") == ["one"]
        assert names(tacho, r"(herons|nothing)", "--regex") == ["one", "two"]
        assert names(tacho, "about storks") == []
        assert names(tacho, "about herons", "--no-filters") == ["one"]
        assert names(tacho, "about herons", "--name", "two") == []
        assert names(tacho, "about herons", "--name", "o*") == ["one"]
    # A filter may say "perhaps" of what is not there, by chance; of a long text it practically never does.
    found = tacho("search", "about storks, cranes and every other bird of the marshes", "--json").json()
    assert (found["looked_at"], found["ruled_out"]) == (0, 2)
    assert tacho("verify", "--all").returncode == 0


def test_for_people(tacho: Tacho) -> None:
    done = tacho("search", "about herons")
    assert done.stdout.count("\n") == 1
    assert "the page about herons" in done.stdout
    assert "2 sessions looked through" in done.stderr
    assert "in none of them" in tacho("search", "about storks").stdout
    assert "1 place" in tacho("search", "about herons", "--sessions").stdout


def test_each_search_is_in_the_ledger_and_a_secret_in_it_is_masked(tacho: Tacho) -> None:
    secret = "ghp_" + "a8Kd72LmQpZx91Rt" + "Yb64NcVw30Hs5e2JfGu1"
    tacho("search", "about herons")
    tacho("search", secret)
    reads = [line for line in tacho("cat", "ledger").lines() if line.get("action") == "read" and line["detail"] == {"verb": "search"}]
    assert reads[0]["reason"] == "about herons"
    assert reads[1]["reason"].startswith("[REDACTED:")
    for file in tacho.store.rglob("*"):
        assert not file.is_file() or (secret.encode() not in file.read_bytes() and b"about herons" not in file.read_bytes())


def test_a_shredded_session_is_counted_and_not_found(tacho: Tacho) -> None:
    one = next(row["session_id"] for row in tacho("ls", "--json").json() if row["name"] == "one")
    assert names(tacho, "about herons") == ["one"]
    assert tacho("shred", one, "--reason", "asked for", "--yes").returncode == 0
    assert names(tacho, "about herons") == []
    assert "1 session shredded" in tacho("search", "about herons").stdout
    assert tacho("catalogue", "--filters", "--json").json()["filters"] == 0


def test_filters_are_made_once(tacho: Tacho) -> None:
    assert tacho("catalogue", "--filters", "--json").json()["filters"] == 2
    assert tacho("catalogue", "--filters", "--json").json()["filters"] == 0
    assert tacho("search", "about storks, cranes and every other bird of the marshes", "--json").json()["ruled_out"] == 2
    assert tacho("catalogue", "--rebuild", "--filters", "--json").json()["filters"] == 2


@pytest.mark.parametrize("arguments", [[""], ["(", "--regex"], ["a*", "--regex"], ["x", "--session", "nobody"], ["x", "--since", "soon"]])
def test_what_cannot_be_is_told_in_one_line(tacho: Tacho, arguments: list[str]) -> None:
    done = tacho("search", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
