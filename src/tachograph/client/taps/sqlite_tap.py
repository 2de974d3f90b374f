"""sqlite3: the clock and the chance of SQL. SQLite reads both by itself, so a connection gets functions of ours in their place.

A moment is computed by SQLite as ever, from what our clock says. As in SQLite, the functions of date and time count as deterministic
(they may be used in indexes), and ``random`` does not.
"""

from __future__ import annotations

import functools
import threading
from types import ModuleType
from typing import Any, Callable

from .. import ambient
from ..real import getpid, time_ns, urandom
from .patching import wrap_builtin

_MOMENTS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff")
_CURRENT = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}


def install(module: ModuleType) -> None:
    """Wrap ``connect``, under both of its names."""
    if not ambient.wants("sqlite"):
        return
    answers = _Answers(module.connect)
    wrap_builtin(module, "connect", functools.partial(_connect, answers))
    module.dbapi2.connect = module.connect


def _connect(answers: "_Answers", original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if ambient.here():
            answers.install(made)
        return made

    return connect


class _Answers:
    """The functions. They compute in a database of their own, which has SQLite's."""

    def __init__(self, connect: Callable[..., Any]) -> None:
        self._connect = connect
        self._own: Any = None
        self._pid = 0
        self._lock = threading.RLock()

    def install(self, connection: Any) -> None:
        for name in _MOMENTS:
            if self._has(name):
                connection.create_function(name, -1, functools.partial(self.moment, name), deterministic=True)
        for name, plain in _CURRENT.items():
            connection.create_function(name, 0, functools.partial(self.moment, plain), deterministic=True)
        connection.create_function("random", 0, self.random)
        connection.create_function("randomblob", 1, self.randomblob)

    def _has(self, name: str) -> bool:
        with self._lock:
            try:
                self._ask("SELECT %s('now', 'now')" % name)
            except Exception as error:
                return "no such function" not in str(error)
            return True

    def _ask(self, sql: str, *values: Any) -> Any:
        with self._lock:
            if self._own is None or self._pid != getpid():
                self._own, self._pid = self._connect(":memory:", check_same_thread=False), getpid()
            return self._own.execute(sql, values).fetchone()[0]

    def moment(self, name: str, *args: Any) -> Any:
        at = 1 if name == "strftime" else 0
        if len(args) == at:
            args += ("now",)
        if any(isinstance(arg, str) and arg.strip().lower() == "now" for arg in args):
            stamp = "%.3f" % (self._now() / 1000)
            now = self._ask("SELECT strftime('%Y-%m-%d %H:%M:%f', ?, 'unixepoch')", stamp)
            args = tuple(now if isinstance(arg, str) and arg.strip().lower() == "now" else arg for arg in args)
        return self._ask("SELECT %s(%s)" % (name, ", ".join("?" * len(args))), *args)

    def _now(self) -> int:
        found: int = ambient.read("sqlite.now", lambda: time_ns() // 1_000_000, 3)
        return found

    def random(self) -> int:
        found: int = ambient.read("sqlite.random", lambda: int.from_bytes(urandom(8), "big", signed=True))
        return found

    def randomblob(self, size: Any) -> bytes:
        length = max(int(size or 0), 1)
        return bytes.fromhex(ambient.read("sqlite.randomblob", lambda: urandom(length).hex()))
