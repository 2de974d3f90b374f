"""asyncio's subprocesses, on asyncio's own loops and on uvloop: ``loop.subprocess_exec`` and ``subprocess_shell`` start a command;
``Process`` and the streams stay asyncio's.

Recording, the protocol is told of what arrives and tells it on; the real transport (and the ``Popen`` in it) belongs to the call. In a
replay the transport is ours: it plays the pieces into the protocol, in a task of its own, and goes no further than the agent has gone:
what followed an input or a signal waits for it (``process_tape`` says the same for threads).

The end is told when the command has ended and its pipes are closed, or when the agent has waited for it, whichever comes first; the
agent learns it after the host has looked at what the command changed. The loop is never blocked for that.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import os
import signal
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from tachograph.client import effects, lanes, link

from . import commands, process_pipes
from .patching import wrap
from .raising import describe, rebuild

MODULES = ("asyncio.base_events", "asyncio.subprocess", "uvloop")

_RUN = "_tacho_run"

#: How long a pipe may stay open after its command has ended, before the agent is told of the end. Seconds.
_PIPES = 0.25


def install(module: ModuleType) -> None:
    """Wrap the loop class of this module, or ``Process.wait``."""
    if sys.platform == "win32":
        return
    if module.__name__ == "asyncio.subprocess":
        wrap(module.Process, "wait", _wait)
        wrap(module.Process, "send_signal", lambda original: _signals(original, None))
        wrap(module.Process, "terminate", lambda original: _signals(original, signal.SIGTERM))
        wrap(module.Process, "kill", lambda original: _signals(original, signal.SIGKILL))
        return
    loop: Any = module.Loop if module.__name__ == "uvloop" else module.BaseEventLoop
    wrap(loop, "subprocess_exec", lambda original: _start(original, shell=False))
    wrap(loop, "subprocess_shell", lambda original: _start(original, shell=True))


# -- starting ------------------------------------------------------------------------------------------------------------


def _kind(value: Any) -> str:
    names = {None: "inherit", -1: "pipe", -2: "stdout", -3: "devnull"}
    return names.get(value, "file") if value is None or isinstance(value, int) else "file"


def _files(ends: Any) -> Dict[int, int]:
    """Descriptors of regular files that take the command's output."""
    out: Dict[int, int] = {}
    for fd, end in ((1, ends[1]), (2, ends[2])):
        file = end if isinstance(end, int) else end.fileno() if hasattr(end, "fileno") else -1
        if file >= 0 and file not in out.values() and process_pipes.regular(file):
            out[fd] = file
    return out


@contextlib.contextmanager
def _as(lane: lanes.Lane) -> Iterator[None]:
    """Around the agent's callbacks: they are its own code, wherever they are called from."""
    token = lanes.enter(lane)
    try:
        yield
    finally:
        lanes.leave(token)


def _start(original: Callable[..., Any], *, shell: bool) -> Callable[..., Any]:
    async def start(self: Any, protocol_factory: Callable[[], Any], *args: Any, **kwargs: Any) -> Any:
        if not commands.listening():
            return await original(self, protocol_factory, *args, **kwargs)
        ends = [kwargs.get(name, -1) for name in ("stdin", "stdout", "stderr")]
        operation, request = commands.describe(
            args[0] if shell else args, shell=shell, executable=kwargs.get("executable"), cwd=kwargs.get("cwd"), env=kwargs.get("env"),
            streams=commands.streams(*map(_kind, ends)),
        )  # fmt: skip
        lane = commands.next_lane()
        call = effects.begin("process", operation, request)
        leads = bool(kwargs.get("start_new_session")) or kwargs.get("process_group") == 0
        if call.replayed:
            return await _play(call, protocol_factory, ends, leads=leads)
        if call.silent:
            return await original(self, protocol_factory, *args, **kwargs)
        kwargs["env"] = commands.environment(kwargs.get("env"), lane)
        told = _Told(call, {fd: process_pipes.Written(file) for fd, file in _files(ends).items()})
        try:
            with call.real():
                transport, protocol = await original(self, lambda: told.watch(protocol_factory()), *args, **kwargs)
        except BaseException as error:
            told.forget()
            call.tell_fail(describe(error), effects.CANCELLED if isinstance(error, asyncio.CancelledError) else "failed")
            raise
        told.started(transport, lane, leads=leads)
        return transport, told.protocol or protocol

    return start


# -- recording -----------------------------------------------------------------------------------------------------------


class _Run(commands.Run):
    """Its end is told from the protocol, not by whoever reaps the process."""

    called_from_within = False

    def ended(self, code: Optional[int], **more: Any) -> None:
        """A child watcher has reaped it."""


class _Told:
    """What the real transport tells the protocol is told to the host first."""

    def __init__(self, call: effects.Call, files: Dict[int, process_pipes.Written]) -> None:
        self.call = call
        self.lane = lanes.current()
        self.protocol: Any = None
        self.input_gone = False
        self._files = files
        self._transport: Any = None
        self._run: Optional[_Run] = None
        self._early: List[Tuple[bytes, Dict[str, Any]]] = []
        self._settled: Optional[asyncio.Future[None]] = None
        self._closed = False

    def watch(self, protocol: Any) -> Any:
        """The protocol as the transport is to see it."""
        self.protocol = protocol
        return _Protocol(self, protocol)

    def started(self, transport: Any, lane: str, *, leads: bool) -> None:
        """The head can be told now; then what came while the transport was set up."""
        self._transport = transport
        self.call.tell_head({"pid": transport.get_pid(), "lane": lane})
        self._run = _Run(self.call, transport.get_pid(), leads=leads)
        getattr(self.protocol, "__dict__", {})[_RUN] = self
        early, self._early = self._early, []
        for data, more in early:
            self.call.tell_chunk(data, **more)
        _tell_input(self, transport)
        if self._closed:
            self.over()

    def signal(self, number: int, send: Callable[[], Any]) -> Any:
        """The agent signals the command through its ``Process``."""
        run = self._run
        if run is None:
            return send()
        run.signal(number)
        run.called_from_within = True  # asyncio may use ``os.kill``
        try:
            return send()
        finally:
            run.called_from_within = False

    def forget(self) -> None:
        """It did not start."""
        for file in self._files.values():
            file.take(0)

    def tell(self, data: bytes, **more: Any) -> None:
        """A chunk, or a note among the chunks."""
        if self._run is None:
            self._early.append((data, more))
        else:
            self.call.tell_chunk(data, **more)

    def closed(self) -> None:
        """The command has ended and its pipes are closed."""
        self._closed = True
        if self._run is not None:
            self.over()

    def over(self) -> None:
        """Tell the end, once."""
        assert self._run is not None
        if commands.RUNNING.get(self._run.pid) is self._run:
            del commands.RUNNING[self._run.pid]
        while self._files:
            fd, file = self._files.popitem()
            data = file.take(process_pipes.MAX_FILE)
            if data:
                self.call.tell_chunk(data, fd=fd, file=True)
        self.call.tell_end(effects.EOF, exit=self._transport.get_returncode())

    async def wait_for_the_host(self) -> None:
        """The agent has waited for the command: before it goes on, the host has looked at what the command changed."""
        if self._settled is None:
            loop = asyncio.get_running_loop()
            self._settled = settled = loop.create_future()
            if not self._closed:
                await _at_most(_PIPES, lambda: self._closed)
            self.over()
            _thread.start_new_thread(_settle, (self.call, loop, settled))
        await asyncio.shield(self._settled)


def _settle(call: effects.Call, loop: Any, settled: Any) -> None:
    failure: Optional[BaseException] = None
    try:
        call.settle()
    except link.HostLost as error:
        failure = error
    try:
        loop.call_soon_threadsafe(_set, settled, failure)
    except RuntimeError:
        return  # the loop was closed meanwhile: nobody waits any more


def _set(future: Any, failure: Optional[BaseException]) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)


async def _at_most(seconds: float, reached: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    last = loop.time() + seconds
    while not reached() and loop.time() < last:
        await asyncio.sleep(0.001)


class _Protocol(asyncio.SubprocessProtocol):
    """Stands before the agent's protocol. ``__getattr__``: whatever else a transport may want from it."""

    def __init__(self, told: _Told, inner: Any) -> None:
        self._told = told
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def connection_made(self, transport: Any) -> None:
        with _as(self._told.lane):
            self._inner.connection_made(transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._told.tell(bytes(data), fd=fd)
        with _as(self._told.lane):
            self._inner.pipe_data_received(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Optional[Exception]) -> None:
        if fd == 0:
            self._told.input_gone = True
        else:
            self._told.tell(b"", fd=fd, closed=True)
        with _as(self._told.lane):
            self._inner.pipe_connection_lost(fd, exc)

    def process_exited(self) -> None:
        with _as(self._told.lane):
            self._inner.process_exited()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._told.closed()
        with _as(self._told.lane):
            self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def _tell_input(told: _Told, transport: Any) -> None:
    """Tell what is written to the command: through the stream, where the protocol has one, else through the pipe's transport."""
    pipe = transport.get_pipe_transport(0)
    if pipe is None:
        return
    writer = getattr(told.protocol, "stdin", None)
    target = writer if isinstance(writer, asyncio.StreamWriter) else pipe
    write, writelines = target.write, target.writelines

    def told_write(data: Any) -> None:
        if data:
            told.call.tell_chunk(bytes(data), fd=0)
        write(data)

    def told_writelines(lines: Any) -> None:
        parts = [bytes(part) for part in lines]
        if any(parts):
            told.call.tell_chunk(b"".join(parts), fd=0)
        writelines(parts)

    def closing(close: Callable[[], None]) -> Callable[[], None]:
        def told_close() -> None:
            if not told.input_gone:  # else it is not the agent who closes it
                told.input_gone = True
                told.call.tell_chunk(b"", fd=0, closed=True)
            close()

        return told_close

    try:
        target.close, target.write_eof = closing(target.close), closing(target.write_eof)  # type: ignore[method-assign]
        target.write, target.writelines = told_write, told_writelines  # type: ignore[method-assign]
    except AttributeError:
        return  # a transport without room for it, under a protocol without streams: the input is not seen


def _told_of(process: Any) -> Optional[_Told]:
    told: Optional[_Told] = getattr(process._protocol, "__dict__", {}).get(_RUN)
    return told


def _wait(original: Callable[..., Any]) -> Callable[..., Any]:
    async def wait(self: Any) -> Any:
        code = await original(self)
        told = _told_of(self)
        if told is not None:
            await told.wait_for_the_host()
        return code

    return wait


def _signals(original: Callable[..., Any], number: Optional[int]) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        told = _told_of(self)
        if told is None:
            return original(self, *args)
        return told.signal(args[0] if number is None else number, lambda: original(self, *args))

    return method


# -- replaying -----------------------------------------------------------------------------------------------------------


async def _play(call: effects.Call, protocol_factory: Callable[[], Any], ends: Any, *, leads: bool) -> Any:
    piece = await call.ahead()
    if piece["m"] == "fail":
        raise rebuild(piece["error"], OSError)
    protocol = protocol_factory()
    sinks = {fd: os.dup(file) for fd, file in _files(ends).items()}
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
        with _as(self._lane):
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
