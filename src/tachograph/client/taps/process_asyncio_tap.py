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
import signal
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Tuple

from tachograph.client import effects, lanes, link

from . import commands, process_pipes
from .patching import wrap
from .process_asyncio_tape import as_agent, output_files, play
from .raising import describe

_RUN = "_tacho_run"

#: How long a pipe may stay open after its command has ended, before the agent is told of the end. Seconds.
_PIPES = 0.25


def install(module: ModuleType) -> None:
    """Wrap the loop class of this module, and asyncio's ``Process``."""
    if sys.platform == "win32":
        return
    loop: Any
    if module.__name__ == "uvloop":
        loop = module.Loop
    else:
        loop = module.base_events.BaseEventLoop
        process = module.subprocess.Process
        wrap(process, "wait", _wait)
        wrap(process, "send_signal", lambda original: _signals(original, None))
        wrap(process, "terminate", lambda original: _signals(original, signal.SIGTERM))
        wrap(process, "kill", lambda original: _signals(original, signal.SIGKILL))
    wrap(loop, "subprocess_exec", lambda original: _start(original, shell=False))
    wrap(loop, "subprocess_shell", lambda original: _start(original, shell=True))


# -- starting ------------------------------------------------------------------------------------------------------------


def _kind(value: Any) -> str:
    names = {None: "inherit", -1: "pipe", -2: "stdout", -3: "devnull"}
    return names.get(value, "file") if value is None or isinstance(value, int) else "file"


def _start(original: Callable[..., Any], *, shell: bool) -> Callable[..., Any]:
    async def start(self: Any, protocol_factory: Callable[[], Any], *args: Any, **kwargs: Any) -> Any:
        if not commands.listening():
            return await original(self, protocol_factory, *args, **kwargs)
        ends = [kwargs.get(name, -1) for name in ("stdin", "stdout", "stderr")]
        words = args or (kwargs.get("cmd") or kwargs.get("program") or "",)
        operation, request = commands.describe(
            words[0] if shell else words, shell=shell, executable=kwargs.get("executable"), cwd=kwargs.get("cwd"), env=kwargs.get("env"),
            streams=commands.streams(*map(_kind, ends)),
        )  # fmt: skip
        lane = commands.next_lane()
        call = effects.begin("process", operation, request)
        leads = bool(kwargs.get("start_new_session")) or kwargs.get("process_group") == 0
        if call.replayed:
            return await play(call, protocol_factory, ends, leads=leads)
        if call.silent:
            return await original(self, protocol_factory, *args, **kwargs)
        kwargs["env"] = commands.environment(kwargs.get("env"), lane)
        told = _Told(call, {fd: process_pipes.Written(file) for fd, file in output_files(ends).items()})
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
        with as_agent(self._told.lane):
            self._inner.connection_made(transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._told.tell(bytes(data), fd=fd)
        with as_agent(self._told.lane):
            self._inner.pipe_data_received(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Optional[Exception]) -> None:
        if fd == 0:
            self._told.input_gone = True
        else:
            self._told.tell(b"", fd=fd, closed=True)
        with as_agent(self._told.lane):
            self._inner.pipe_connection_lost(fd, exc)

    def process_exited(self) -> None:
        with as_agent(self._told.lane):
            self._inner.process_exited()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._told.closed()
        with as_agent(self._told.lane):
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
