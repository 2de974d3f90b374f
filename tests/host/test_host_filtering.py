"""``tachograph.filter``: in a recorded process by the host, elsewhere here, and never not at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tachograph
from cli_helpers import Tacho
from redact.redact_samples import GITHUB, KEY, PASSWORD, trace
from tachograph import filtering as own
from tachograph.host import filtering
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy

SOURCE = Path(tachograph.__file__).parent


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(own, "_own", None)
    monkeypatch.chdir(tmp_path)


def test_without_a_host() -> None:
    text = tachograph.filter(f"password={PASSWORD} and {GITHUB}")
    assert trace(PASSWORD, text) is None
    assert trace(GITHUB, text) is None
    assert tachograph.filter(f"password={PASSWORD} and {GITHUB}") == text
    assert tachograph.filter({"password": PASSWORD, "n": 1})["n"] == 1
    plain = ["a", {"b": None}]
    assert tachograph.filter(plain) is plain


def test_the_policy_from_here_and_a_further_one(tmp_path: Path) -> None:
    assert tachograph.filter("write to ann@example.com") == "write to ann@example.com"
    assert "[REDACTED:email:" in tachograph.filter("write to ann@example.com", policy=Policy.of({"pii": ["email"]}))
    file = tmp_path / "more.toml"
    file.write_text('[redact]\npii = ["email"]\n')
    assert "[REDACTED:email:" in tachograph.filter("write to ann@example.com", policy=str(file))
    file.rename(tmp_path / "tachograph.toml")
    own._own = None
    assert "[REDACTED:email:" in tachograph.filter("write to ann@example.com")


@pytest.mark.parametrize("value", [b"bytes", {1: "a"}, {"a": {1, 2}}, [object()], {"a": [b""]}])
def test_what_is_not_json_like_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"tachograph\.filter takes"):
        tachograph.filter(value)


def test_a_value_that_holds_itself_is_no_endless_loop() -> None:
    value: list[object] = []
    value.append(value)
    tachograph.filter(value)


def test_the_hosts_answer() -> None:
    redactor = Redactor(Policy.default(), key=KEY)
    text = f"é\ud83d password={PASSWORD}"
    header, payload = filtering.answer(redactor, {"c": 7, "text": True}, text.encode("utf-8", "surrogatepass"))
    assert (header, payload.decode("utf-8", "surrogatepass")) == ({"m": "filtered", "c": 7}, redactor.text(text))
    header, payload = filtering.answer(redactor, {"c": 8}, json.dumps({"password": PASSWORD}).encode())
    assert json.loads(payload) == redactor.document({"password": PASSWORD})
    assert filtering.answer(redactor, {"c": 9}, b'{"a": 1}') == ({"m": "filtered", "c": 9, "same": 1}, b"")


@pytest.mark.parametrize(("header", "payload"), [({"text": True}, b"\xff"), ({}, b"{"), ({}, b"\xff"), ({}, b"[" * 200_000)])
def test_what_the_host_cannot_read_is_refused(header: dict[str, object], payload: bytes) -> None:
    redactor = Redactor(Policy.default(), key=KEY)
    assert filtering.answer(redactor, {"c": 3, **header}, payload) == ({"m": "refused", "c": 3}, b"")


AGENT = """
import os, tachograph
secret = os.environ["SERVICE_KEY"]
print(tachograph.filter("it is " + secret))
tachograph.note("it is " + secret)
tachograph.tool(effect="read")(lambda: None)()
"""


def test_placeholders_are_those_of_the_record(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    tacho = Tacho(tmp_path)
    done = tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path, env={**os.environ, "SERVICE_KEY": PASSWORD})
    assert done.returncode == 0, done.stderr
    assert "[REDACTED:" in done.stdout
    assert trace(PASSWORD, done.stdout) is None
    notes = [event for event in tacho("cat", "@last").lines() if event["type"] == "note"]
    assert done.stdout.strip() in json.dumps(notes)


def test_with_neither_a_host_nor_our_dependencies_it_is_an_error(tmp_path: Path) -> None:
    """Never the text as it was."""
    program = f"""
import sys
sys.path.insert(0, {str(SOURCE.parent)!r})
import tachograph
try:
    tachograph.filter("password={PASSWORD}")
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tachograph.filter cannot redact here")
    assert done.stdout.count("\n") == 1


@pytest.mark.skipif(shutil.which("python3.9") is None, reason="no Python 3.9")
def test_on_an_old_python_too(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    tacho = Tacho(tmp_path)
    version = subprocess.run(["python3.9", "--version"], capture_output=True)
    if version.returncode:
        pytest.skip("no Python 3.9")
    done = tacho("record", "--", "python3.9", "agent.py", cwd=tmp_path, env={**os.environ, "SERVICE_KEY": PASSWORD})
    assert done.returncode == 0, done.stderr
    assert trace(PASSWORD, done.stdout) is None
