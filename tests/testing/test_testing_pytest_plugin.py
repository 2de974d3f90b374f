"""``@pytest.mark.tacho``: tests that record once and replay from then on, run by a pytest of their own."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from programs_server import Server

BODY = """
import os, urllib.request
import pytest, tachograph

@tachograph.tool(effect="read")
def look(what):
    with open("ran.txt", "a") as file:
        file.write(what)
    return what.upper()

@pytest.mark.tacho({mark})
def test_agent():
    answer = urllib.request.urlopen(os.environ["BASE"] + "/json", data=b"{prompt}").read()
    assert answer
    assert look("{tool}") == "{tool}".upper()
    {more}

def test_plain():
    assert "TACHO_SOCKET" not in os.environ
    assert look("plain") == "PLAIN"
"""


def write(folder: Path, *, mark: str = '"greets"', prompt: str = "be kind", tool: str = "order", more: str = "pass") -> None:
    (folder / "test_it.py").write_text(BODY.format(mark=mark, prompt=prompt, tool=tool, more=more))


def run(folder: Path, *options: str, base: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "BASE": base, **env}
    # An installation brings the plug-in with it; a checkout that was installed before there was one does not.
    brought = any(each.name == "tacho" for each in importlib.metadata.entry_points(group="pytest11"))
    plugin = [] if brought else ["-p", "tachograph.testing.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, str]:
    """A folder with a test that was recorded, and the address of a server that is gone."""
    write(tmp_path)
    with Server() as server:
        base = server.url
        done = run(tmp_path, "--tacho", base=base)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "tacho" / "greets" / "fixture.json").exists()
    (tmp_path / "ran.txt").unlink()
    return tmp_path, base


def test_it_is_recorded_once_and_replayed_without_the_server(recorded: tuple[Path, str]) -> None:
    folder, base = recorded
    for options in ([], ["--tacho"]):
        done = run(folder, *options, base=base, CI="true")
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "ran.txt").read_text() == "plainplain"  # the marked test's tool was answered, the other one ran


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prompt": "be quick"}, ["recorded: be kind", "now:      be quick", "--tacho-rewrite"]),
        ({"tool": "refund"}, ["recorded: order", "now:      refund"]),
        ({"more": "look('more')"}, ["first difference", "tool look"]),
        ({"more": "import socket; socket.create_connection(('127.0.0.1', 9))"}, ["no network in a replayed test"]),
    ],
)
def test_a_difference_fails_the_test_readably(recorded: tuple[Path, str], changed: dict[str, str], said: list[str]) -> None:
    folder, base = recorded
    write(folder, **changed)
    done = run(folder, base=base)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    for text in said:
        assert text in done.stdout
    assert "client/effects.py" not in done.stdout


def test_a_recorded_call_that_is_not_made_any_more_fails_the_test(recorded: tuple[Path, str]) -> None:
    folder, base = recorded
    text = (folder / "test_it.py").read_text()
    (folder / "test_it.py").write_text(text.replace('assert look("order")', "return\n    assert look('order')"))
    done = run(folder, base=base)
    assert done.returncode == 1
    assert "recorded and never asked for: tool look" in done.stdout


def test_without_a_cassette_it_fails_and_ci_never_records(tmp_path: Path) -> None:
    write(tmp_path)
    with Server() as server:
        for options, env in (([], {}), (["--tacho"], {"CI": "true"})):
            done = run(tmp_path, *options, base=server.url, **env)
            assert done.returncode == 1
            assert "no cassette for this test" in done.stdout
        refused = run(tmp_path, "--tacho-rewrite", base=server.url, CI="1")
        assert refused.returncode == 4
        assert "in CI" in refused.stderr + refused.stdout
    assert not (tmp_path / "tacho").exists()


def test_a_failing_test_makes_no_cassette_and_rewrite_makes_a_new_one(recorded: tuple[Path, str]) -> None:
    folder, _ = recorded
    before = (folder / "tacho" / "greets" / "fixture.json").read_bytes()
    with Server() as server:
        write(folder, more="assert False")
        assert run(folder, "--tacho-rewrite", base=server.url).returncode == 1
        assert (folder / "tacho" / "greets" / "fixture.json").read_bytes() == before
        write(folder, prompt="be quick")
        assert run(folder, "--tacho-rewrite", base=server.url).returncode == 0
        assert (folder / "tacho" / "greets" / "fixture.json").read_bytes() != before
        assert run(folder, base=server.url).returncode == 0


def test_names(tmp_path: Path) -> None:
    write(tmp_path, mark="")
    with Server() as server:
        assert run(tmp_path, "--tacho", base=server.url).returncode == 0
    assert (tmp_path / "tacho" / "test_it" / "test_agent" / "fixture.json").exists()
    write(tmp_path, mark='"../x"')
    done = run(tmp_path, base="")
    assert done.returncode != 0
    assert "a cassette called '../x'" in done.stdout + done.stderr
