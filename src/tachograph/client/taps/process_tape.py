"""A command in a replay: nothing runs. Its recorded output is written into real pipes, so that the agent's files, selectors and descriptors
are what they were; how it ended becomes known when the record says so.

A thread (invisible to ``threading``) takes the pieces and hands them out. It goes no further than the agent has gone:

* ``fd: 0``   what the agent had written to the command: what came after it is held back until the agent has written (``closed``: until
              it has closed its end; with 1 and 2: until then the command had kept its own end open);
* ``signal``  a signal that the agent had sent: likewise;
* ``timeout`` a wait that the agent gave up: its next timed wait is given up at once, without waiting;
* ``poll``    the agent had looked, and the command was still running: so it is the next time that the agent looks.
"""

from __future__ import annotations

import _thread
import os
import threading
from typing import Any, Dict, Optional, Set

from tachograph.client import effects, forking, link

from .process_pipes import write_all

#: So many looks at a running command are replayed one by one; after that, what is known is said.
POLLS = 10_000


class TimedOut(Exception):
    """The recorded wait ended here, after ``seconds``."""

    def __init__(self, seconds: Any) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Tape:
    """``sinks``: descriptors to write the command's output to, by 1 and 2; they are ours to close."""

    def __init__(self, call: effects.Call, sinks: Dict[int, int]) -> None:
        self._call = call
        self._sinks = sinks
        self._turn = threading.Condition()
        self._polls = 0
        self._free = False
        self._timeout: Optional[Any] = None
        self._at_gate = False
        self._signals = 0
        self._written = 0
        self._writes = 0
        self._closed = False
        self._over = False
        self._code: Optional[int] = None
        self._failure: Optional[BaseException] = None
        self.last: Dict[str, Any] = {}

    def start(self) -> None:
        """Play."""
        _playing.add(self)
        _thread.start_new_thread(self._play, ())

    # -- the thread ------------------------------------------------------------------------------------------------------

    def _play(self) -> None:
        signals = due = writes = 0
        code: Optional[int] = None
        failure: Optional[BaseException] = None
        try:
            while True:
                header, payload = self._call.piece()
                if header["m"] != "chunk":
                    self.last = header
                    code = header.get("exit")
                    break
                if "poll" in header:
                    self._looked(bool(header.get("more")))
                elif "timeout" in header:
                    self._given_up(header["timeout"])
                elif "signal" in header:
                    signals += 1
                    self._gate(lambda wanted=signals: self._signals >= wanted)
                elif header.get("closed"):
                    self._end_of(int(header["fd"]))
                elif header.get("fd") == 0:
                    due, writes = due + len(payload), writes + 1
                    self._gate(lambda size=due, count=writes: self._written >= size or self._writes >= count or self._closed)
                else:
                    self._write(int(header.get("fd", 1)), payload)
            if code is None:
                failure = link.Diverged("the recording does not say how this command ended")
        except BaseException as error:
            failure = error
        with self._turn:
            self._code, self._failure, self._over = code, failure, True
        self._close()
        with self._turn:
            self._turn.notify_all()

    def _looked(self, more: bool) -> None:
        with self._turn:
            self._polls += 1
            self._free = more
            self._turn.notify_all()

    def _given_up(self, seconds: Any) -> None:
        with self._turn:
            self._timeout = seconds
            self._turn.notify_all()
            while self._timeout is not None:
                self._turn.wait()

    def _gate(self, passed: Any) -> None:
        with self._turn:
            self._at_gate = True
            self._turn.notify_all()
            while not passed():
                self._turn.wait()
            self._at_gate = False

    def _write(self, fd: int, data: bytes) -> None:
        sink = self._sinks.get(fd)
        try:
            if sink is not None:
                write_all(sink, data)
        except OSError:  # the agent has closed its end
            os.close(self._sinks.pop(fd))

    def _end_of(self, fd: int) -> None:
        if fd == 0:
            self._gate(lambda: self._closed)
        elif fd in self._sinks:
            os.close(self._sinks.pop(fd))

    def _close(self) -> None:
        for fd in list(self._sinks):
            os.close(self._sinks.pop(fd))
        _playing.discard(self)

    # -- the agent -------------------------------------------------------------------------------------------------------

    def poll(self) -> Optional[int]:
        """Whether the command has ended, as the agent saw it then."""
        with self._turn:
            while True:
                if self._polls:
                    self._polls -= 1
                    return None
                if self._over:
                    return self._outcome()
                if self._free or self._at_gate:
                    return None
                if self._timeout is not None:
                    self._timeout = None  # it looks where it had waited
                    self._turn.notify_all()
                self._turn.wait()

    def peek(self) -> Optional[int]:
        """Whether it is known to have ended; nobody looked."""
        with self._turn:
            return self._outcome() if self._over else None

    def wait(self, *, timed: bool) -> int:
        """How the command ended. ``timed``: raises ``TimedOut`` where the recorded wait did."""
        with self._turn:
            while not self._over:
                if self._timeout is not None:
                    seconds, self._timeout = self._timeout, None
                    self._turn.notify_all()
                    if timed:
                        raise TimedOut(seconds)
                self._turn.wait()
            return self._outcome()

    def gives_up(self) -> bool:
        """Whether the next timed wait is to be given up."""
        return self._timeout is not None

    def _outcome(self) -> int:
        if self._failure is not None:
            raise self._failure
        assert self._code is not None
        return self._code

    def hear(self, written: int) -> None:
        """The agent wrote to the command, or closed its input (-1)."""
        with self._turn:
            if written < 0:
                self._closed = True
            else:
                self._writes += 1
                self._written += written
            self._turn.notify_all()

    def at_end(self, _: int) -> None:
        """A reader came to the end of the output: is it the end?"""
        if self._failure is not None and _ == 0:
            raise self._failure

    def signal(self) -> None:
        """The agent sent a signal."""
        with self._turn:
            self._signals += 1
            self._turn.notify_all()

    @property
    def over(self) -> bool:
        """Whether the end is known."""
        return self._over


#: Tapes with open sinks. A forked child must not keep them open: the parent's readers would wait for it.
_playing: "Set[Tape]" = set()


def _forget() -> None:
    for tape in list(_playing):
        tape._close()


forking.IN_CHILD.append(_forget)
