"""``tacho redact`` as its users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from redact.redact_samples import GITHUB, PASSWORD, PEM, trace


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


def test_a_pipe(tacho: Tacho) -> None:
    done = tacho("redact", stdin=f"a\ntoken = {GITHUB}\n{PEM}\nb\n".encode() + b"\xff\xfe\n")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout_bytes.startswith(b"a\ntoken = [REDACTED:")
    assert done.stdout_bytes.endswith(b"]\nb\n\xff\xfe\n")
    assert trace(PEM, done.stdout, 16) is None


def test_files_and_standard_input(tacho: Tacho, tmp_path: Path) -> None:
    (tmp_path / "one").write_text(f"password={PASSWORD}\n")
    done = tacho("redact", str(tmp_path / "one"), "-", stdin=b"two\n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["two"]
    assert trace(PASSWORD, done.stdout) is None
    missing = tacho("redact", str(tmp_path / "none"))
    assert missing.returncode == 2
    assert missing.stderr.startswith("error: ")
    assert missing.stderr.count("\n") == 1


def test_a_pipe_that_never_ends_shows_its_lines(tacho: Tacho) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tachograph.cli.app", "redact", "--live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"a line\npassword={PASSWORD}\n".encode())
        process.stdin.flush()
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.stdin.close()
    assert lines[0] == b"a line\n"
    assert lines[1].startswith(b"password=[REDACTED:password:")


def test_json_lines_and_spans(tacho: Tacho) -> None:
    texts = {"x": f"use {GITHUB} now", "y": "nothing here", "z": f"é\ud83d password={PASSWORD}"}
    feed = "".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items()).encode()
    plain = {line["id"]: line["text"] for line in tacho("redact", "--jsonl", stdin=feed).lines()}
    assert plain["y"] == "nothing here"
    assert trace(GITHUB, plain["x"]) is None
    assert trace(PASSWORD, plain["z"]) is None
    spans = {line["id"]: line["spans"] for line in tacho("redact", "--jsonl", "--spans", stdin=feed).lines()}
    assert spans["y"] == []
    [[start, end, kind, rule]] = spans["x"]
    assert texts["x"][start:end] == GITHUB
    assert kind
    assert rule
    [[start, end, *_]] = spans["z"]
    assert texts["z"][start:end] == PASSWORD


@pytest.mark.parametrize("line", ["no json " + GITHUB, '{"id": 1}', '{"text": "a"}', '["id", "text"]', '{"id": 1, "text": 2}'])
def test_a_bad_line_is_named_and_not_quoted(tacho: Tacho, line: str) -> None:
    done = tacho("redact", "--jsonl", stdin=b'{"id": 1, "text": "a"}\n' + line.encode() + b"\n")
    assert done.returncode == 2
    assert "standard input:2" in done.stderr
    assert done.stderr.count("\n") == 1
    assert trace(GITHUB, done.stderr) is None


def test_check(tacho: Tacho) -> None:
    bad = tacho("redact", "--check", stdin=f"password={PASSWORD}\n".encode())
    assert bad.returncode == 1
    assert bad.stdout == f"standard input:1:10: password, {len(PASSWORD)} characters (name:password)\n"
    line = json.dumps({"id": 1, "text": f"password={PASSWORD}"}).encode()
    assert tacho("redact", "--check", "--jsonl", stdin=line).stdout == f"standard input:1: password, {len(PASSWORD)} characters\n"
    good = tacho("redact", "--check", stdin=b"nothing\n")
    assert (good.returncode, good.stdout, good.stderr) == (0, "", "")


def test_explain(tacho: Tacho) -> None:
    text = f"a line\npassword: {PASSWORD}\nuse {GITHUB}, token: str\n"
    for done in (tacho("redact", "--explain", text), tacho("redact", "--explain", "-", stdin=text.encode())):
        assert done.returncode == 0
        assert "2:11  password, " in done.stdout
        assert "3:5  github-token, 40 characters, ghp_…" in done.stdout
        assert "left alone: the name token" in done.stdout
        assert trace(PASSWORD, done.stdout, 4) is None
        assert trace(GITHUB[4:], done.stdout, 4) is None
    found = tacho("redact", "--explain", text, "--json", "--check")
    assert found.returncode == 1
    assert [each["kind"] for each in found.json()["findings"]] == ["password", "github-token"]
    assert trace(GITHUB[4:], found.stdout, 4) is None
    assert tacho("redact", "--explain", "nothing").stdout == "nothing to mask\n"


def test_the_stores_key_gives_the_records_placeholders(tacho: Tacho, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("import sys\nprint(sys.argv[1])\n")
    recorded = tacho("record", "--", sys.executable, str(script), f"--password={PASSWORD}", cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    ours = tacho("redact", "--store", str(tacho.store), stdin=f"--password={PASSWORD}\n".encode()).stdout
    placeholder = ours.strip().partition("=")[2]
    assert placeholder in tacho("cat", "@last").stdout
    others = {tacho("redact", stdin=f"--password={PASSWORD}\n".encode()).stdout for _ in range(2)}
    assert len(others | {ours}) == 3


def test_options_that_do_not_go_together(tacho: Tacho) -> None:
    for wrong in (["--spans"], ["--live", "--jsonl"], ["--json"], ["--explain", "a", "--live"], ["--explain", "a", "file"]):
        done = tacho("redact", *wrong, stdin=b"")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_secrets_of_the_environment_are_known(tacho: Tacho) -> None:
    done = tacho("redact", stdin=f"nothing says what {PASSWORD} is\n".encode(), env={"PATH": "/usr/bin:/bin", "DB_PASSWORD": PASSWORD})
    assert trace(PASSWORD, done.stdout) is None


@pytest.mark.parametrize(
    ("options", "closed", "says"),
    [
        ("", "<&-", "standard input is closed; "),
        ("--jsonl", "<&-", "standard input is closed; "),
        ("--check -", "<&-", "standard input is closed; "),
        ("--explain -", "<&-", "standard input is closed; "),
        ("FILE", ">&-", "standard output is closed; "),
        ("--jsonl FILE", ">&-", "standard output is closed; "),
        ("--explain text", ">&-", "standard output is closed; "),
    ],
)
def test_a_closed_input_or_output_is_one_clear_line(tacho: Tacho, tmp_path: Path, options: str, closed: str, says: str) -> None:
    (tmp_path / "FILE").write_text("one\n")
    done = tacho.run_plain(["sh", "-c", f"'{sys.executable}' -m tachograph.cli.app redact {options} {closed}"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"error: {says}")


def test_with_a_closed_input_a_file_is_read_all_the_same(tacho: Tacho, tmp_path: Path) -> None:
    (tmp_path / "FILE").write_text("one\n")
    done = tacho.run_plain(["sh", "-c", f"'{sys.executable}' -m tachograph.cli.app redact FILE <&-"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "one\n", "")


def test_with_a_closed_standard_error_no_message_gets_among_the_data(tacho: Tacho, tmp_path: Path) -> None:
    done = tacho.run_plain(["sh", "-c", f"'{sys.executable}' -m tachograph.cli.app redact none 2>&-"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_other_verbs_end_as_they_do_with_a_closed_output(tacho: Tacho, tmp_path: Path) -> None:
    assert tacho("record", "--", sys.executable, "-c", "pass").returncode == 0
    done = tacho.run_plain(["sh", "-c", f"'{sys.executable}' -m tachograph.cli.app ls >&-"], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_utf_16_is_text_and_may_be_cut_in_a_character(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    data = "DB_PASSWORD=tulip-Meadow.73x\r\n".encode("utf-16")
    for cut in (data, data[:-1]):
        out = tacho("redact", stdin=cut)
        assert out.returncode == 0, out.stderr
        assert "tulip" not in out.stdout_bytes.decode("utf-16", "ignore")
        assert "[REDACTED:password:" in out.stdout_bytes.decode("utf-16", "ignore")
        checked = tacho("redact", "--check", stdin=cut)
        assert checked.returncode == 1, checked.stderr
        assert checked.stdout.startswith("standard input:1:")
