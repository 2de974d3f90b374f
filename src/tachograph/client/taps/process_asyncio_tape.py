"""A command in a replay, for asyncio: a transport that plays the pieces into the agent's protocol, in a task of its own. Nothing runs, and it
goes no further than the agent has gone (``process_tape`` says the same for threads).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any, Callable, Dict, Iterator, Optional, Set

from tachograph.client import effects, lanes, link

from . import commands, process_pipes
from .raising import rebuild


def output_files(ends: Any) -> Dict[int, int]:
    """Descriptors of regular files that take the command's output."""
    out: Dict[int, int] = {}
    for fd, end in ((1, ends[1]), (2, ends[2])):
        file = end if isinstance(end, int) else end.fileno() if hasattr(end, "fileno") else -1
        if file >= 0 and file not in out.values() and process_pipes.regular(file):
            out[fd] = file
    return out


@contextlib.contextmanager
def as_agent(lane: lanes.Lane) -> Iterator[None]:
    """Around the agent's callbacks: they are its own code, wherever they are called from."""
    token = lanes.enter(lane)
    try:
        yield
    finally:
        lanes.leave(token)


async def play(call: effects.Call, protocol_factory: Callable[[], Any], ends: Any, *, leads: bool) -> Any:
    piece = await call.ahead()
    if piece["m"] == "fail":
        raise rebuild(piece["error"], OSError)
    protocol = protocol_factory()
    sinks = {fd: os.dup(file) for fd, file in output_files(ends).items()}
    transport = _Tape(call, protocol, ends, sinks, commands.invented_pid(piece["head"].get("pid")), leads=leads)
    protocol.connection_made(transport)
    with call.real():
        transport.task = asyncio.ensure_future(transport.play())
    return transport, protocol


class _Pipe(asyncio.Transport):
    """One of a played command's pipes."""

    def __init__(self, tape: "_Tape", fd: int) -> None:
        super().__init__()
        self._tape = tape
        self._fd = fd
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._open = asyncio.Event()
        self._open.set()

    def write(self, data: Any) -> None:
        if data and not self._closing:
            self._tape.heard(bytes(data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.close()

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._open.set()
            if self._fd == 0:
                self._tape.closed_input()
                if not self._loop.is_closed():
                    self._loop.call_soon(self._tape.say, "pipe_connection_lost", 0, None)

    def abort(self) -> None:
        self.close()

    def pause_reading(self) -> None:
        self._open.clear()

    def resume_reading(self) -> None:
        self._open.set()

    def is_reading(self) -> bool:
        return self._open.is_set()

    async def ready(self) -> None:
        """When the agent's buffer has room."""
        await self._open.wait()


class _Tape(asyncio.SubprocessTransport):
    """A command from the record, as a transport."""

    def __init__(self, call: effects.Call, protocol: Any, ends: Any, sinks: Dict[int, int], pid: int, *, leads: bool) -> None:
        super().__init__()
        self.call = call
        self._lane = lanes.current()
        self._sinks = sinks
        self.protocol = protocol
        self.task: Any = None
        self._pid = pid
        self._run = commands.Run(call, pid, leads=leads, tape=self)
        self._pipes = {fd: _Pipe(self, fd) for fd, end in enumerate(ends) if end == -1}
        self._ended: "asyncio.Future[None]" = asyncio.get_running_loop().create_future()
        self._returncode: Optional[int] = None
        self._moved = asyncio.Event()
        self._lost: Set[int] = set()
        self._signals = 0
        self._writes = 0
        self._written = 0
        self._closing = False

    # What the agent did, and what waits for it.

    def heard(self, data: bytes) -> None:
        """The agent wrote. Told in a replay as well: the host may compare."""
        self.call.tell_chunk(data, fd=0)
        self._writes += 1
        self._written += len(data)
        self._moved.set()

    def closed_input(self) -> None:
        """The agent closed its end."""
        self.call.tell_chunk(b"", fd=0, closed=True)
        self._moved.set()

    def signal(self) -> None:
        """The agent signalled the process id, or through the transport."""
        self._signals += 1
        self._moved.set()

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            self._moved.clear()
            await self._moved.wait()

    def say(self, what: str, *args: Any) -> None:
        """Call the agent's protocol."""
        with as_agent(self._lane):
            getattr(self.protocol, what)(*args)

    async def play(self) -> None:
        """Take the pieces to the end. What ends them otherwise (a divergence) reaches whoever reads or waits."""
        failure: Optional[BaseException] = None
        code = None
        try:
            code = await self._take()
            if code is None:
                failure = link.Diverged("the recording does not say how this command ended")
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            failure = error
        finally:
            for sink in self._sinks.values():
                os.close(sink)
        self._finish(code, failure)

    async def _take(self) -> Optional[int]:
        signals = size = count = 0
        while True:
            header, payload = await self.call.apiece()
            fd = header.get("fd")
            if header["m"] != "chunk":
                code: Optional[int] = header.get("exit")
                return code
            if "signal" in header:
                signals += 1
                await self._until(lambda wanted=signals: self._signals >= wanted)  # type: ignore[misc]
            elif fd == 0:
                pipe = self._pipes.get(0)
                if not header.get("closed"):
                    size, count = size + len(payload), count + 1
                    await self._until(lambda s=size, c=count: self._written >= s or self._writes >= c or pipe is None or pipe.is_closing())  # type: ignore[misc]
                else:
                    await self._until(lambda: pipe is None or pipe.is_closing())
            elif fd in self._sinks:
                process_pipes.write_all(self._sinks[fd], payload)
            elif fd in self._pipes and fd not in self._lost:
                if header.get("closed"):
                    self._lost.add(fd)
                    self.say("pipe_connection_lost", fd, None)
                else:
                    await self._pipes[fd].ready()
                    self.say("pipe_data_received", fd, payload)

    def _finish(self, code: Optional[int], failure: Optional[BaseException]) -> None:
        self._returncode = code
        if failure is None:
            self._run.ended(code)
        for fd in self._pipes:
            if fd != 0 and fd not in self._lost:
                self.say("pipe_connection_lost", fd, failure)
        if failure is not None:
            self._ended.set_exception(failure)
            return
        self.say("process_exited")
        self.say("connection_lost", None)
        self._ended.set_result(None)

    # asyncio.SubprocessTransport

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> Optional[int]:
        return self._returncode

    def get_pipe_transport(self, fd: int) -> Any:
        return self._pipes.get(fd)

    def send_signal(self, signal: int) -> None:
        self._run.signal(signal)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            for pipe in self._pipes.values():
                pipe.close()
            if self._returncode is None:
                self.kill()  # as a real transport does

    def is_closing(self) -> bool:
        return self._closing

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol

    async def _wait(self) -> Optional[int]:
        await asyncio.shield(self._ended)
        return self._returncode
