"""Files outside of the workspace: recorded, and shown again as they were."""

from __future__ import annotations

import collections
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done, Tacho
from tachograph.host import outside
from tachograph.host.known import Known
from tachograph.host.outside import MAX_FILE, Outside, plan
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy
from tachograph.replay import guard

TOKEN = "ghp_" + "9aK2mQ7xVt4LpR8sWz3bNc6dEf1gHj5uYi0o"

AGENT = """
import json, os, sys
folder = sys.argv[1]
text = open(os.path.join(folder, "config.json")).read()
print(json.loads(text)["greeting"], len(text), os.path.exists(os.path.join(folder, "none.json")))
try:
    open(os.path.join(folder, "none.json"))
except OSError as error:
    print(error.strerror)
"""


def redactor() -> Redactor:
    return Redactor(Policy.default(), key=b"k" * 32, learns=True)


def digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(b"key" + data).digest()


class Case:
    """An agent in ``workspace`` that reads ``elsewhere/config.json``."""

    def __init__(self, tmp_path: Path, config: str = '{"greeting": "hello"}') -> None:
        self.workspace, self.elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
        for folder in (self.workspace, self.elsewhere):
            folder.mkdir()
        (self.workspace / "agent.py").write_text(AGENT)
        (self.workspace / "tachograph.toml").write_text("[record]\nfile_contents = true\n")
        self.config = self.elsewhere / "config.json"
        self.config.write_text(config)
        self.tacho, self.report = Tacho(tmp_path), tmp_path / "report.json"

    def record(self) -> Done:
        done = self.tacho("record", "--", sys.executable, "agent.py", str(self.elsewhere), cwd=self.workspace)
        assert done.returncode == 0, done.stderr
        return done

    def replay(self, *options: str) -> tuple[dict[str, Any], Done]:
        done = self.tacho("replay", "@last", "--report", str(self.report), *options, cwd=self.elsewhere.parent)
        found: dict[str, Any] = json.loads(self.report.read_text() or "{}")
        return found, done

    def files(self) -> list[dict[str, Any]]:
        lines = self.tacho("cat", "@last").lines()
        return [file for line in lines if line["type"] == "ambient" and line["kind"] == "files" for file in line["content"]["files"]]


def overlays(tmp_path: Path) -> bool:
    return guard.probe(tmp_path).overlay


@pytest.mark.parametrize("change", ["changed", "longer", "shorter", "deleted"])
def test_a_file_that_is_another_one_now_is_shown_as_it_was_and_left_alone(tmp_path: Path, change: str) -> None:
    if not overlays(tmp_path):
        pytest.skip("no overlays here")
    case = Case(tmp_path)
    case.config.chmod(0o640)
    recorded = case.record()
    assert recorded.stdout.splitlines()[0] == "hello 21 False"
    if change == "deleted":
        case.config.unlink()
    else:
        new = {"changed": '{"greeting": "HELLO"}', "longer": '{"greeting": "' + "x" * 500_000 + '"}', "shorter": "{}"}[change]
        case.config.write_text(new)
    before = sorted((path.name, path.stat().st_mtime_ns, path.read_bytes()) for path in case.elsewhere.iterdir())
    found, done = case.replay()
    assert found["verdict"] == "identical", done.stderr
    assert done.stdout == recorded.stdout
    assert [(file["path"], file["shown"]) for file in found["files_changed"]] == [(str(case.config), True)]
    assert f"changed since, and shown as recorded: {case.config}" in done.stderr
    assert sorted((path.name, path.stat().st_mtime_ns, path.read_bytes()) for path in case.elsewhere.iterdir()) == before


def test_files_that_are_read_live_are_named_as_the_cause(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.record()
    case.config.write_text('{"greeting": "bye"}')
    found, done = case.replay("--live", "files")
    assert found["verdict"] == "diverged"
    assert found["files_changed"] == [
        {"path": str(case.config), "why": "its content is another one, and files are read live", "shown": False}
    ]
    assert found["divergence"]["cause"] == "environment"
    assert str(case.config) in found["divergence"]["hint"]
    assert f"not as recorded: {case.config}" in done.stderr


def test_what_is_unchanged_is_not_named(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.record()
    found, done = case.replay()
    assert found["verdict"] == "identical", done.stderr
    assert found["files_changed"] == []


def test_a_file_that_was_looked_for_and_is_there_now_is_named(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.record()
    (case.elsewhere / "none.json").write_text("{}")
    found, _ = case.replay()
    assert found["verdict"] == "diverged"
    assert found["files_changed"] == [
        {"path": str(case.elsewhere / "none.json"), "why": "it was not there, and that cannot be shown", "shown": False}
    ]
    assert "none.json" in found["divergence"]["hint"]


def test_a_secret_in_such_a_file_is_masked_and_the_file_cannot_be_shown(tmp_path: Path) -> None:
    case = Case(tmp_path, json.dumps({"greeting": "hello", "token": TOKEN}))
    case.record()
    [config, _] = case.files()
    assert TOKEN not in json.dumps(config)
    assert "[REDACTED:" in config["data"]
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    found, done = case.replay()
    assert (found["verdict"], found["files_changed"]) == ("identical", []), done.stderr
    case.config.write_text(json.dumps({"greeting": "bye", "token": TOKEN}))
    found, done = case.replay()
    assert found["verdict"] == "diverged"
    assert found["files_changed"][0]["shown"] is False
    assert "masked" in found["files_changed"][0]["why"]
    assert TOKEN not in done.stderr + case.report.read_text()


def test_what_files_hold_is_only_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    """A file that is nothing but a token has no name in it by which that could be seen."""
    case = Case(tmp_path, config='{"greeting": "wE_xe%Eg30B0di"}')
    (case.workspace / "tachograph.toml").unlink()
    case.record()
    (file,) = [file for file in case.files() if file["path"].endswith("config.json")]
    assert "data" not in file
    assert str(file["hash"]).startswith("hmac-sha256:")
    assert case.replay()[0]["verdict"] == "identical"
    case.config.write_text('{"greeting": "other"}')
    found, done = case.replay()
    assert found["verdict"] == "diverged"
    assert [each["shown"] for each in found["files_changed"]] == [False]
    assert "file_contents" in done.stderr


def test_a_policy_keeps_none_of_it(tmp_path: Path) -> None:
    case = Case(tmp_path)
    (case.workspace / "tachograph.toml").write_text("[record]\nfiles = false\n")
    case.record()
    assert case.files() == []


def test_what_the_agent_wrote_itself_and_the_workspace_are_not_told(tmp_path: Path) -> None:
    case = Case(tmp_path)
    (case.workspace / "own.txt").write_text("own")
    (case.workspace / "agent.py").write_text(
        "import sys, os\n"
        "open('own.txt').read()\n"
        "made = os.path.join(sys.argv[1], 'made.txt')\n"
        "open(made, 'w').write('x')\n"
        "open(made).read()\n"
        "os.rename(made, made + '2')\n"
        "open(made + '2').read()\n"
        "open('/proc/self/status').read()\n"
        "for _ in range(3): open(os.path.join(sys.argv[1], '..', 'elsewhere', 'config.json')).read()\n"
    )
    case.record()
    assert [file["path"] for file in case.files()] == [str(case.config)]


def test_a_file_that_is_written_anew_after_it_was_read_is_kept_as_it_was_read(tmp_path: Path) -> None:
    """A state file: read, counted up, written."""
    case = Case(tmp_path)
    (case.workspace / "agent.py").write_text(
        "import sys, os, time\n"
        "path = os.path.join(sys.argv[1], 'config.json')\n"
        "print(open(path).read())\n"
        "time.sleep(0.5)\n"
        "try: open(path, 'a').write('more')\n"
        "except PermissionError: pass\n"
    )
    recorded = case.record()
    assert case.config.read_text().endswith("more")
    [file] = case.files()
    assert file["data"] == '{"greeting": "hello"}'
    if overlays(tmp_path):
        found, done = case.replay()
        assert done.stdout == recorded.stdout
        assert found["files_changed"][0]["shown"] is True


# -- the parts ---------------------------------------------------------------------------------------------------------


def gather(*paths: Path | str, began: int = 1 << 62, **more: Any) -> list[dict[str, Any]]:
    kept = Outside(redactor(), digest, avoid=more.get("avoid", ()), began=began)
    kept.opened([told(path) for path in paths])
    draft = kept.draft()
    return [] if draft is None else draft.contents["content_uri"]["files"]


def told(path: Path | str) -> list[Any]:
    try:
        found = os.stat(path)
    except OSError:
        return [str(path)]
    return [str(path), found.st_size, found.st_ctime_ns]


def compare(files: list[dict[str, Any]], scratch: Path, *, mount: guard.Mount = "overlay", **more: Any) -> outside.Shown:
    masks = redactor()
    settings: dict[str, Any] = {"keep": [], "temporary": "/nowhere", "digest": digest, **more}
    return plan(files, scratch, redactor=masks, known=Known(masks, b"k" * 32, recorded=files), mount=mount, **settings)


def test_limits_and_what_is_no_file(tmp_path: Path) -> None:
    large, pipe, gone = tmp_path / "large", tmp_path / "pipe", tmp_path / "gone"
    large.write_bytes(b"x" * (MAX_FILE + 1))
    os.mkfifo(pipe)
    [first, second] = gather(large, pipe, gone, tmp_path, large)
    assert "data" not in first
    assert first["hash"].startswith("hmac-sha256:")
    assert first["why"] == "it is larger than 256 KiB"
    assert second == {"path": str(gone), "missing": True}
    assert gather(large, avoid=[str(tmp_path)]) == []


def test_no_more_than_so_many_bytes_and_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "MAX_TOTAL", 25)
    paths = [tmp_path / str(number) for number in range(4)]
    for path in paths:
        path.write_text("0123456789")
    found = gather(*paths)
    assert ["data" in file for file in found] == [True, True, False, False]
    assert all("hash" in file for file in found)
    monkeypatch.setattr(outside, "MAX_TOTAL", 1000)
    monkeypatch.setattr(outside, "MAX_FILES", 3)
    assert ["data" in file for file in gather(*paths)] == [True, True, True, False]
    monkeypatch.setattr(outside, "MAX_NAMED", 2)
    assert len(gather(*paths)) == 2


def test_a_file_that_changed_before_it_was_looked_at_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one")
    kept = Outside(redactor(), digest, avoid=(), began=time.time_ns() + (1 << 40))
    then = told(path)
    path.write_text("another")
    kept.opened([then])
    draft = kept.draft()
    assert draft is not None
    [file] = draft.contents["content_uri"]["files"]
    assert "data" not in file
    assert "hash" not in file
    assert file["why"] == "it was changed before it could be kept"


def test_what_a_hostile_client_says_is_left_out() -> None:
    kept = Outside(redactor(), digest, avoid=(), began=0)
    kept.opened([None, [], [3], ["relative", 1, 2], ["/with\0nul", 1, 2], {"path": "/etc/passwd"}])
    assert kept.draft() is None


def test_a_secret_in_a_path_is_masked_and_such_a_file_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / TOKEN
    path.write_text("x")
    files = gather(path)
    assert TOKEN not in repr(files)
    path.unlink()
    assert compare(files, tmp_path / "scratch").changed == []


@pytest.mark.parametrize("content", [b"text\r\n", b"\xff\x00binary", b""])
def test_what_is_shown_is_the_file_byte_by_byte(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(content)
    path.chmod(0o604)
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))
    files = gather(path)
    assert compare(files, tmp_path / "scratch").changed == []
    path.write_bytes(content + b"more")
    shown = compare(files, tmp_path / "scratch")
    [(copy, place)] = shown.files
    assert (place, copy.read_bytes()) == (path, content)
    assert copy.stat().st_mtime_ns == 1_700_000_000_123_456_789
    assert copy.stat().st_mode & 0o777 == 0o604
    assert shown.changed == [{"path": str(path), "why": "its content is another one", "shown": True}]
    failed = shown.unshown({str(path): "EPERM"})
    assert failed == [{"path": str(path), "why": "its content is another one, and EPERM", "shown": False}]
    assert shown.unshown({"/": "none"})[0]["shown"] is False


def test_what_cannot_be_shown_is_named_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path, large = folder / "f", tmp_path / "large"
    path.write_text("x")
    large.write_bytes(b"x" * (MAX_FILE + 1))
    files = gather(path, large)
    path.unlink()
    large.write_bytes(b"y" * (MAX_FILE + 1))
    scratch = tmp_path / "scratch"

    def why(**more: Any) -> list[str]:
        found = compare(files, scratch, **more).changed
        assert [file["shown"] for file in found] == [False, False] or not more
        return [file["why"] for file in found]

    assert "mounted" in why(mount="none")[0]
    assert "not kept" in why(mount="none")[1]
    assert "its folder cannot be shown" in why(mount="bind")[1]
    assert "must stay" in why(keep=[str(folder / "workspace")])[1]
    assert "must stay" in why(keep=[str(tmp_path)])[1]
    assert why(live=True)[0].endswith("files are read live")
    shown = compare(files, scratch)
    assert [(place.joinpath("upper", "f").read_text(), at) for place, at in shown.folders] == [("x", folder)]
    folder.rmdir()
    assert "neither is its folder" in why(keep=[])[1]


def test_files_that_the_session_made_in_its_temporary_folder_are_no_news(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    files = gather(path, began=0)
    assert files[0]["during"] is True
    path.unlink()
    shown = compare(files, tmp_path / "scratch", temporary=str(tmp_path))
    assert [(file["shown"], file["during"]) for file in shown.changed] == [(False, True)]
    assert not shown.folders


def test_a_masked_file_is_compared_as_masked(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(f"token = {TOKEN}\n")
    tally: collections.Counter[str] = collections.Counter()
    files = gather(path)
    assert files[0]["masked"] >= 1
    assert files[0]["hash"] != outside.hashed(digest, path.read_bytes())
    assert files[0]["hash"] == outside.hashed(digest, outside.redacted(redactor(), path.read_bytes(), tally).encode())
    assert compare(files, tmp_path / "scratch").changed == []
    path.write_text("token = none\n")
    assert "masked" in compare(files, tmp_path / "scratch").changed[0]["why"]


def test_a_file_that_is_no_file_any_more_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    files = gather(path)
    path.unlink()
    path.mkdir()
    [found] = compare(files, tmp_path / "scratch").changed
    assert found == {"path": str(path), "why": "it is no file any more, and nothing can be mounted over it", "shown": False}
