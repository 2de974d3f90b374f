"""Values that a person says are secret: what may stand in the file, what is refused, and that they are in no record."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.core.errors import UsageError
from tachograph.host import secrets

WORD = "rosebud"
PHRASE = "open sesame, please"


def collected(tmp_path: Path, text: str, **environment: str) -> list[str]:
    path = tmp_path / "values"
    path.write_text(text, encoding="utf-8")
    return list(secrets.collect([str(path)], environment).values)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("one-value\nanother value\n", ["one-value", "another value"]),
        ("# a comment\n\n#nocomment\n", ["#nocomment"]),
        ("NAME=value1\nexport OTHER='value 2'\nTHIRD=\"a\\nb c\"\n", ["value1", "value 2", "a\nb c"]),
        ("KEY='first\nsecond'\nlast\n", ["first\nsecond", "last"]),
        ("c2VjcmV0IQ==\n", ["c2VjcmV0IQ=="]),
        ("-----BEGIN KEY-----\nabcdef\n-----END KEY-----\n", ["abcdef"]),
        ('{"a": "value1", "b": {"c": ["value2", 123456, true, null, 7]}}', ["value1", "value2", "123456"]),
        ('["value1"]', ["value1"]),
        ("[not-json\n", ["[not-json"]),
        ("\ufeffvalue1\r\nvalue2\r\n", ["value1", "value2"]),
        ("same\nsame\n", ["same"]),
    ],
)
def test_what_may_stand_in_the_file(tmp_path: Path, text: str, values: list[str]) -> None:
    assert collected(tmp_path, text) == values


@pytest.mark.parametrize("text", ["abc\n", "NAME=\n", "NAME=''\n", "NAME=xy\n", '{"a": ""}', '{"a": '])
def test_what_would_mask_everything_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        collected(tmp_path, "fine-value\n" + text if text[0] != "{" else text)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "values") in str(caught.value)
    assert "abc" not in str(caught.value).replace(str(tmp_path), "")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        secrets.collect([str(tmp_path / "none")], {})
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="no text in UTF-8 at byte 0"):
        secrets.collect([str(tmp_path / "binary")], {})


def test_variables_are_named_and_not_given() -> None:
    given = secrets.collect([], {"TACHO_SECRETS": "COLOR, MISSING,EMPTY,", "COLOR": "blue", "EMPTY": ""})
    assert list(given.values) == ["blue"]
    assert given.notes == ["TACHO_SECRETS names MISSING, which is not set", "TACHO_SECRETS names EMPTY, which is empty"]
    with pytest.raises(UsageError, match="variable COLOR: a value of 3 characters"):
        secrets.collect([], {"TACHO_SECRETS": "COLOR", "COLOR": "red"})
    with pytest.raises(UsageError) as caught:
        secrets.collect([], {"TACHO_SECRETS": "sk-a-value"})
    assert "sk-a" not in str(caught.value)


AGENT = """
import os, subprocess, sys, tachograph

@tachograph.tool
def ask(question):
    return "it is " + question[::-1]

word, phrase = os.environ["COLOR"], open(os.environ["PHRASE_FILE"]).read().strip().partition("=")[2]
assert os.environ["TACHO_SECRETS"] == "COLOR"
ask("is it " + word + " or " + phrase + "?")
subprocess.run(["sh", "-c", "echo " + word], stdout=subprocess.PIPE)
print(word, phrase)
"""


def test_they_are_in_no_record_and_a_replay_is_identical(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(AGENT)
    phrase_file = tmp_path / "phrase.env"
    phrase_file.write_text(f"PHRASE={PHRASE}\n")
    tacho = Tacho(tmp_path)
    environment = {**os.environ, "TACHO_SECRETS": "COLOR", "COLOR": WORD, "PHRASE_FILE": str(phrase_file)}
    done = tacho("record", "--secret-from", str(phrase_file), "--", sys.executable, "agent.py", cwd=workspace, env=environment)
    assert done.returncode == 0, done.stderr
    text = tacho("cat", "@last", "--json").stdout
    assert WORD not in text
    assert PHRASE not in text
    assert "[REDACTED:user:" in text
    assert "TACHO_SECRETS" in text
    plain = {key: value for key, value in environment.items() if key not in ("COLOR", "TACHO_SECRETS")}
    replayed = tacho("replay", "@last", "--secret-from", str(phrase_file), "--json", env=plain)
    assert json.loads(replayed.stdout)["verdict"] == "identical", replayed.stdout


def test_a_bad_file_stops_before_the_command(tmp_path: Path) -> None:
    (tmp_path / "values").write_text("ab\n")
    tacho = Tacho(tmp_path)
    done = tacho("record", "--secret-from", str(tmp_path / "values"), "--", sys.executable, "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
