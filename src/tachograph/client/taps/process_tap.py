"""subprocess: ``Popen._execute_child`` is where a program would be started; everything around it (arguments, pipes, text mode, waiting,
``run``, ``communicate``) stays subprocess's own code, on the same classes, in recording and replay.

A command is told with its arguments; then its process id; then what passes through its pipes as the agent reads and writes it; looks,
waits that were given up and signals, since what the agent does depends on them; and its exit code when the agent first learns it.
Output that the command writes to the agent's own terminal is not seen, and input from a file or descriptor of the agent's neither.

In a replay nothing is started (``process_tape``). Windows is not tapped.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

from tachograph.client import effects, link

from . import commands, process_pipes
from .patching import wrap
from .process_tape import POLLS, Tape, TimedOut
from .raising import describe, rebuild

_RUN = "_tacho_run"


def install(module: ModuleType) -> None:
    """Wrap ``Popen`` by its methods."""
    if sys.platform == "win32":
        return
    popen: Any = module.Popen
    module.io = process_pipes.Io()  # type: ignore[attr-defined]
    process_pipes.install()
    names = popen._execute_child.__code__.co_varnames[1 : popen._execute_child.__code__.co_argcount]
    timeout = module.TimeoutExpired
    wrap(popen, "_execute_child", lambda original: _execute(original, names))
    wrap(popen, "poll", _poll)
    wrap(popen, "wait", lambda original: _learning(original, timeout))
    wrap(popen, "communicate", lambda original: _learning(original, timeout))
    wrap(popen, "send_signal", _send_signal)
    wrap(popen, "_internal_poll", _internal_poll)
    wrap(popen, "_wait", lambda original: _wait(original, timeout))
    wrap(popen, "_remaining_time", _remaining_time)
    wrap(popen, "_check_timeout", _check_timeout)


class _Started(commands.Run):
    """A command of a ``Popen``."""

    def __init__(self, popen: Any, call: effects.Call, *, leads: bool, tape: Optional[Tape] = None) -> None:
        super().__init__(call, popen.pid, leads=leads, tape=tape)
        # Weakly: a pipe that the agent lets go of is closed, as it would be without us.
        pipes = map(process_pipes.of_stream, (popen.stdout, popen.stderr))
        self._pipes = [weakref.ref(pipe) for pipe in pipes if pipe is not None]
        self.files: Dict[int, process_pipes.Written] = {}
        self.polls = 0
        self._inside: Set[int] = set()
        self._ended = False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def inside(self) -> Iterator[bool]:
        """Around a method of ``Popen``; gives whether the agent itself called it (they call each other)."""
        me = _thread.get_ident()
        outermost = me not in self._inside
        self._inside.add(me)
        try:
            yield outermost
        finally:
            if outermost:
                self._inside.discard(me)

    @property
    def pipes(self) -> List[process_pipes.Pipe]:
        """The command's output pipes, as far as the agent has them."""
        return [pipe for pipe in (found() for found in self._pipes) if pipe is not None]

    @property
    def called_from_within(self) -> bool:
        return _thread.get_ident() in self._inside

    def looked(self) -> None:
        """The agent looked, and the command was still running."""
        if self.tape is None and self.polls < POLLS:
            self.polls += 1
            more = {"more": True} if self.polls == POLLS else {}
            self.call.tell_chunk(b"", poll=True, **more)

    def learned(self, code: Optional[int]) -> None:
        """The agent knows the exit code, if this is one."""
        if code is None:
            return
        with self._lock:
            if self._ended:
                return
            self._ended = True
        if self.tape is None:
            self._tell_the_rest()
        self.ended(code)

    def _tell_the_rest(self) -> None:
        for pipe in self.pipes:
            pipe.drain()
        for fd, file in self.files.items():
            data = file.take(process_pipes.MAX_FILE)
            if data:
                self.call.tell_chunk(data, fd=fd, file=True)

    def abandoned(self, code: int) -> None:
        """Nobody asked how the command ended, and nobody can any more: ``subprocess`` has seen to it by itself."""
        at = link.get()
        if self.tape is None and at is not None and not self._ended and _not_ours(at.lock):
            self._ended = True
            commands.RUNNING.pop(self.pid, None)
            self._tell_the_rest()
            self.call.tell_end(effects.EOF, exit=code)


def _not_ours(lock: Any) -> bool:
    """Whether this thread can take the lock. It cannot where the garbage collector has interrupted it while it held it."""
    if not lock.acquire(timeout=0.05):
        return False
    lock.release()
    return True


def _execute(original: Callable[..., None], names: Any) -> Callable[..., None]:
    place = names.index("env")

    def execute_child(self: Any, *args: Any) -> None:
        given = dict(zip(names, args))
        if not commands.listening():
            if link.get() is not None:
                args = _with(args, place, commands.environment(given["env"], None))
            return original(self, *args)
        shell = bool(given["shell"])
        operation, request = commands.describe(
            given["args"], shell=shell, executable=given["executable"], cwd=given["cwd"], env=given["env"], streams=_streams(self, given)
        )
        lane = commands.next_lane()
        call = effects.begin("process", operation, request)
        leads = bool(given.get("start_new_session")) or given.get("process_group") == 0
        if call.replayed:
            return _play(self, call, given, leads)
        args = _with(args, place, commands.environment(given["env"], None if call.silent else lane))
        files = {} if call.silent else _files(given)
        try:
            with call.real():
                original(self, *args)
        except BaseException as error:
            for file in files.values():
                file.take(0)
            call.tell_fail(describe(error))
            raise
        if call.silent:
            return None
        call.tell_head({"pid": self.pid, "lane": lane})
        run = _Started(self, call, leads=leads)
        run.files = files
        setattr(self, _RUN, run)
        _listen(self, call, None)
        return None

    return execute_child


def _with(args: Any, place: int, value: Any) -> Any:
    return (*args[:place], value, *args[place + 1 :])


def _streams(popen: Any, given: Dict[str, Any]) -> Dict[str, str]:
    nowhere = getattr(popen, "_devnull", None)

    def kind(ours: int, theirs: int) -> str:
        if ours != -1:
            return "pipe"
        if theirs == -1:
            return "inherit"
        return "devnull" if theirs == nowhere else "file"

    err = "stdout" if given["errwrite"] != -1 and given["errwrite"] == given["c2pwrite"] else kind(given["errread"], given["errwrite"])
    return commands.streams(kind(given["p2cwrite"], given["p2cread"]), kind(given["c2pread"], given["c2pwrite"]), err)


def _targets(given: Dict[str, Any]) -> Dict[int, int]:
    """The descriptors of output that goes to files of the agent's, once each."""
    out: Dict[int, int] = {}
    for fd, ours, theirs in ((1, given["c2pread"], given["c2pwrite"]), (2, given["errread"], given["errwrite"])):
        if ours == -1 and theirs != -1 and theirs not in out.values() and process_pipes.regular(theirs):
            out[fd] = theirs
    return out


def _files(given: Dict[str, Any]) -> Dict[int, process_pipes.Written]:
    return {fd: process_pipes.Written(theirs) for fd, theirs in _targets(given).items()}


def _listen(popen: Any, call: effects.Call, tape: Optional[Tape]) -> None:
    for fd, stream in ((0, popen.stdin), (1, popen.stdout), (2, popen.stderr)):
        pipe = process_pipes.of_stream(stream)
        if pipe is not None:
            hook = None if tape is None else tape.hear if fd == 0 else tape.at_end
            pipe.listen(call, fd, hook)


# -- recording and replaying: waiting ------------------------------------------------------------------------------------


def _run_of(popen: Any) -> Optional[_Started]:
    run: Optional[_Started] = popen.__dict__.get(_RUN)
    return run


def _poll(original: Callable[..., Any]) -> Callable[..., Any]:
    def poll(self: Any) -> Any:
        run = _run_of(self)
        if run is None:
            return original(self)
        with run.inside() as outermost:
            code = original(self) if not outermost or run.tape is None or self.returncode is not None else _look(self, run.tape)
        if outermost:
            if code is None:
                run.looked()
            run.learned(code)
        return code

    return poll


def _look(popen: Any, tape: Tape) -> Any:
    popen.returncode = tape.poll()
    return popen.returncode


def _learning(original: Callable[..., Any], timeout: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = _run_of(self)
        if run is None:
            return original(self, *args, **kwargs)
        with run.inside() as outermost:
            try:
                return original(self, *args, **kwargs)
            except timeout as error:
                if outermost and run.tape is None:
                    run.call.tell_chunk(b"", timeout=error.timeout)
                raise
            finally:
                if outermost:
                    run.learned(self.returncode)

    return method


def _send_signal(original: Callable[..., Any]) -> Callable[..., Any]:
    def send_signal(self: Any, sig: int) -> Any:
        run = _run_of(self)
        if run is None:
            return original(self, sig)
        run.signal(sig)
        if run.tape is not None:
            return None
        with run.inside():
            done = original(self, sig)
        run.learned(self.returncode)
        return done

    return send_signal


# -- replaying -----------------------------------------------------------------------------------------------------------


def _play(popen: Any, call: effects.Call, given: Dict[str, Any], leads: bool) -> None:
    piece = call.head()
    if piece["m"] == "fail":
        raise rebuild(piece["error"], OSError)
    popen.pid = commands.invented_pid(piece["head"].get("pid"))
    sinks = {fd: os.dup(theirs) for fd, theirs in _targets(given).items()}
    for fd, ours, theirs in ((1, given["c2pread"], given["c2pwrite"]), (2, given["errread"], given["errwrite"])):
        if ours != -1:
            sinks[fd] = os.dup(theirs)
    if given["p2cwrite"] != -1:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, given["p2cwrite"], inheritable=False)
        os.close(nowhere)
    theirs_to_close: List[Any] = [given[n] for n in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")]
    popen._close_pipe_fds(*theirs_to_close)
    tape = Tape(call, sinks)
    setattr(popen, _RUN, _Started(popen, call, leads=leads, tape=tape))
    _listen(popen, call, tape)
    tape.start()


def _internal_poll(original: Callable[..., Any]) -> Callable[..., Any]:
    def internal_poll(self: Any, _deadstate: Any = None, *args: Any, **kwargs: Any) -> Any:
        run = None if sys.is_finalizing() else _run_of(self)
        if run is None:
            return original(self, _deadstate, *args, **kwargs)
        if run.tape is None:
            with run.inside():
                code = original(self, _deadstate, *args, **kwargs)
            if _deadstate is not None and code is not None:
                run.abandoned(code)
            return code
        if self.returncode is None and _deadstate is None:
            self.returncode = run.tape.peek()
        return self.returncode

    return internal_poll


def _wait(original: Callable[..., Any], timeout_expired: Any) -> Callable[..., Any]:
    def wait(self: Any, timeout: Any = None) -> Any:
        run = _run_of(self)
        if run is None or run.tape is None:
            return original(self, timeout)
        if self.returncode is None:
            try:
                self.returncode = run.tape.wait(timed=timeout is not None)
            except TimedOut as over:
                raise timeout_expired(self.args, over.seconds) from None
        return self.returncode

    return wait


def _remaining_time(original: Callable[..., Any]) -> Callable[..., Any]:
    def remaining_time(self: Any, endtime: Any) -> Any:
        run = _run_of(self)
        if run is None or run.tape is None or endtime is None:
            return original(self, endtime)
        # The clock does not decide, the record does; meanwhile, look in short steps.
        return -1.0 if run.tape.gives_up() and all(map(_nothing_left, run.pipes)) else 0.01

    return remaining_time


def _nothing_left(pipe: process_pipes.Pipe) -> bool:
    import select

    if pipe.closed:
        return True
    poller = select.poll()
    poller.register(pipe.fileno(), select.POLLIN)
    return not poller.poll(0)


def _check_timeout(original: Callable[..., Any]) -> Callable[..., Any]:
    def check_timeout(self: Any, endtime: Any, orig_timeout: Any, stdout: Any, stderr: Any, skip_check_and_raise: bool = False) -> Any:
        run = _run_of(self)
        if run is None or run.tape is None or endtime is None:
            return original(self, endtime, orig_timeout, stdout, stderr, skip_check_and_raise)
        if skip_check_and_raise:
            with contextlib.suppress(TimedOut):
                run.tape.wait(timed=True)
            return original(self, endtime, orig_timeout, stdout, stderr, True)
        return None

    return check_timeout
