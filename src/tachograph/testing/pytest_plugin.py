"""``@pytest.mark.tacho("name")``: the calls of a test's body are recorded once, and answered from the record from then on.

    pytest                     replay; a test without a cassette fails
    pytest --tacho             record what has no cassette yet, replay the rest
    pytest --tacho-rewrite     record anew

Where ``CI`` is set to something else than nothing, 0 or false, nothing is ever recorded. The body runs in pytest's own process, with tachograph's taps in it; while it is replayed, Python code in it
reaches no network. Fixtures run outside of it. A cassette is a fixture (``tacho fixture``): a folder beside the test, ``tacho/<name>``.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_VARIABLES = ("TACHO_SOCKET", "TACHO_TOKEN", "TACHO_MODE", "TACHO_ON_HOST_LOSS", "PYTHONPATH")
_CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The modes."""
    group = parser.getgroup("tacho", "tachograph: recorded calls of agents")
    group.addoption("--tacho", action="store_true", help="record tests marked tacho that have no cassette yet (never in CI)")
    group.addoption("--tacho-rewrite", action="store_true", help="record all tests marked tacho anew (never in CI)")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to record in CI, where nobody looks at what is recorded."""
    config.stash[_HOST] = _Host()
    config.addinivalue_line("markers", "tacho(name=None): answer the calls of this test's body from a recording; pytest --tacho makes it")
    if config.getoption("--tacho-rewrite") and _in_ci():
        raise pytest.UsageError("--tacho-rewrite in CI (CI is set): cassettes are recorded by a person and committed")


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the host."""
    config.stash[_HOST].close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Around the body of a marked test."""
    __tracebackhide__ = True
    mark = item.get_closest_marker("tacho")
    if mark is None or os.environ.get("TACHO_SOCKET"):  # recorded as a whole already: its calls are told to that recorder
        return (yield)
    folder = cassette(item, mark)
    host = item.config.stash[_HOST]
    there = (folder / "fixture.json").exists()
    records = not _in_ci() and (item.config.getoption("--tacho-rewrite") or (item.config.getoption("--tacho") and not there))
    if not records and not there:
        pytest.fail(
            f"no cassette for this test, {folder}; record it with: pytest --tacho '{item.nodeid}'"
            + (", and commit it" if _in_ci() else ""),
            pytrace=False,
        )
    host.begin("record" if records else "replay", folder, item.nodeid)
    passed = False
    report: dict[str, Any] | None = None
    error: BaseException | None = None
    try:
        try:
            result = yield
            passed = True
        finally:
            report = host.end(keep=passed)
    except BaseException as raised:
        error = raised
        if report is None or report["divergence"] is None:
            raise
    if report is not None and report["verdict"] != "identical":
        from .fixture import fail, told

        lines = [*told(report), f"  cassette: {folder}", f"  if it is meant to differ now: pytest --tacho-rewrite '{item.nodeid}'"]
        if error is not None and type(error).__name__ not in ("Diverged", "HostLost"):
            lines.append(f"  the test itself: {type(error).__name__}: {error}")
        fail("\n".join(lines))
    return result


def cassette(item: pytest.Item, mark: pytest.Mark) -> Path:
    """Where the recording of a test is: ``tacho/<name>`` beside its file; without a name, after the file and the test."""
    if len(mark.args) > 1 or mark.kwargs:
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.tacho takes one name, as in @pytest.mark.tacho('refund')")
    name = str(mark.args[0]) if mark.args else f"{item.path.stem}/{re.sub(r'[^A-Za-z0-9_.-]+', '-', item.name).strip('-.')}"
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*){0,8}", name):
        raise pytest.UsageError(f"{item.nodeid}: a cassette called {name!r}; names are made of letters, digits, '_', '-', '.' and '/'")
    return item.path.parent / "tacho" / name


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


class _Host:
    """The process that records and answers; started with the first test that needs it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._token = secrets.token_hex(16)
        self._before: dict[str, str | None] = {}

    def begin(self, do: str, folder: Path, name: str) -> None:
        """From here on the calls of this process are recorded or answered."""
        __tracebackhide__ = True
        found = self._ask({"do": do, "folder": str(folder), "name": name, "token": self._token})
        if "socket" not in found:
            pytest.fail(f"{found.get('error', 'the recorder ended')}", pytrace=False)
        boot = str(Path(__file__).parents[1] / "client" / "boot")
        self._before = {key: os.environ.get(key) for key in _VARIABLES}
        path = os.environ.get("PYTHONPATH")
        os.environ |= {
            "TACHO_SOCKET": found["socket"], "TACHO_TOKEN": self._token, "TACHO_MODE": do, "TACHO_ON_HOST_LOSS": "stop",
            "PYTHONPATH": boot + (os.pathsep + path if path else ""),
        }  # fmt: skip
        _enter()

    def end(self, *, keep: bool) -> dict[str, Any] | None:
        """Calls are real again. The report of a replay."""
        __tracebackhide__ = True
        _leave()
        for key, value in self._before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
        found = self._ask({"do": "end", "keep": keep})
        if "report" not in found:
            pytest.fail(f"{found.get('error', 'the recorder ended')}", pytrace=False)
        report: dict[str, Any] | None = found["report"]
        return report

    def close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(10)
            self._process = None

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            source = str(Path(__file__).parents[2])
            path = os.environ.get("PYTHONPATH")
            env = {**os.environ, "PYTHONPATH": os.pathsep.join([source, *([path] if path else [])])}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tachograph.testing.cassette_host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        found: dict[str, Any] = json.loads(line) if line else {}
        return found


_HOST: pytest.StashKey[_Host] = pytest.StashKey()
_installed = False
#: Whether the network is refused to this process.
_offline = False


def _enter() -> None:
    global _installed, _offline
    from tachograph.client import ambient, forking, lanes, link, taps

    # The same root all the time, counting anew: event loops that a fixture has made hold on to it.
    root = lanes.root()
    root._counts.clear()
    lanes.enter(root)
    at = link.connect(root.path)
    assert at is not None
    ambient.install(at, root.path)
    if not _installed:
        _installed = True
        lanes.install()
        forking.install()
        taps.install()
        sys.addaudithook(_refuse)
    _offline = at.mode == "replay"


def _leave() -> None:
    global _offline
    from tachograph.client import ambient, link

    _offline = False
    at, link._link = link.get(), None
    ambient._recording = ambient._replaying = False
    if at is not None:
        at.close()


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    """In a replayed body: what no tap has caught must not happen."""
    if not _offline or event not in _CONNECTS:
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        import socket

        if args[0].family == socket.AF_UNIX or args[1] is None:
            return
        where = args[1]
    else:
        where = args[0]
    raise PermissionError(
        f"no network in a replayed test, {event.partition('.')[2]} {where!r}: no tap knows this library, or the call was made outside of what is recorded"
    )
