"""os: commands that are started without ``subprocess``, and what an agent does to a command by its process id.

``os.system`` and ``os.posix_spawn`` start commands. ``os.exec*`` goes on as another program in the same lane, so its environment names
that lane. In a replay there is no process behind a command's process id, so signalling it, waiting for it and asking for its group are
answered here; a signal for anybody else is sent.

``os.popen`` uses subprocess. ``os.spawn*`` and ``pty.spawn`` fork and exec by themselves and are not tapped.
"""

from __future__ import annotations

import errno
import os
import sys
from types import ModuleType
from typing import Any, Callable, Optional

from tachograph.client import effects, lanes, link

from . import commands, identity_tap
from .patching import wrap
from .process_tape import Tape, TimedOut
from .raising import describe, rebuild


def install(module: ModuleType) -> None:
    """Wrap the functions of ``os``."""
    if sys.platform == "win32":
        return
    wrap(module, "system", _system)
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(module, name):
            wrap(module, name, _posix_spawn)
    wrap(module, "kill", _kill)
    wrap(module, "killpg", _killpg)
    wrap(module, "waitpid", _waitpid)
    wrap(module, "getpgid", _getpgid)
    wrap(module, "_exit", _exit)
    wrap(module, "execv", _execv)
    wrap(module, "execve", _execve)


# -- starting ------------------------------------------------------------------------------------------------------------


def _system(original: Callable[..., int]) -> Callable[..., int]:
    def system(command: Any) -> int:
        if not commands.listening():
            if link.get() is None or not isinstance(command, (str, bytes)):
                return original(command)
            return original(commands.shell_prefix(None) + os.fsdecode(command))
        operation, request = commands.describe(command, shell=True, streams=commands.streams("inherit", "inherit", "inherit"))
        lane = commands.next_lane()
        call = effects.begin("process", operation, request)
        if call.replayed:
            call.head()
            for _ in call.chunks():
                continue
            return int((call.end_piece or {}).get("status", 0))
        call.tell_head({"lane": lane})
        with call.real():
            status = original(commands.shell_prefix(None if call.silent else lane) + os.fsdecode(command))
        call.tell_end(effects.EOF, exit=_exit_code(status), status=status)
        call.settle()
        return status

    return system


def _exit_code(status: int) -> int:
    return os.waitstatus_to_exitcode(status)


def _status(code: int) -> int:
    return -code if code < 0 else code << 8


def _posix_spawn(original: Callable[..., int]) -> Callable[..., int]:
    def posix_spawn(path: Any, argv: Any, env: Any, **kwargs: Any) -> int:
        if not commands.listening():
            return original(path, argv, env if link.get() is None else commands.environment(env, None), **kwargs)
        operation, request = commands.describe(argv, shell=False, executable=path, env=env)
        lane = commands.next_lane()
        call = effects.begin("process", operation, request)
        leads = bool(kwargs.get("setsid")) or kwargs.get("setpgroup") == 0
        if call.replayed:
            piece = call.head()
            if piece["m"] == "fail":
                raise rebuild(piece["error"], OSError)
            tape = Tape(call, {})
            run = commands.Run(call, commands.invented_pid(piece["head"].get("pid")), leads=leads, tape=tape)
            tape.start()
            return run.pid
        try:
            with call.real():
                pid = original(path, argv, commands.environment(env, None if call.silent else lane), **kwargs)
        except BaseException as error:
            call.tell_fail(describe(error))
            raise
        if not call.silent:
            call.tell_head({"pid": pid, "lane": lane})
            commands.Run(call, pid, leads=leads)
        return pid

    return posix_spawn


# -- by process id -------------------------------------------------------------------------------------------------------


def _no_such_process() -> OSError:
    return ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))


def _told(pid: int, sig: int) -> bool:
    """Tell the signal to the command with that id, if there is one. True: there is no process to send it to."""
    run = commands.RUNNING.get(pid)
    if run is None:
        if pid in commands.PLAYED:
            raise _no_such_process()
        return False
    if not getattr(run, "called_from_within", False):
        run.signal(sig)
    return run.tape is not None


def _kill(original: Callable[..., None]) -> Callable[..., None]:
    def kill(pid: int, sig: int, /) -> None:
        if not _told(abs(pid), sig):
            original(identity_tap.real_pid(pid), sig)

    return kill


def _killpg(original: Callable[..., None]) -> Callable[..., None]:
    def killpg(pgid: int, sig: int, /) -> None:
        if not _told(pgid, sig):
            original(identity_tap.real_pid(pgid), sig)

    return killpg


def _getpgid(original: Callable[..., int]) -> Callable[..., int]:
    def getpgid(pid: int) -> int:
        run = commands.RUNNING.get(pid)
        if run is not None and run.tape is not None:
            return run.pid if run.leads else os.getpgrp()
        if run is None and pid in commands.PLAYED:
            raise _no_such_process()
        return identity_tap.shown_pid(original(identity_tap.real_pid(pid)))

    return getpgid


def _waitpid(original: Callable[..., Any]) -> Callable[..., Any]:
    def waitpid(pid: int, options: int, /) -> Any:
        run = commands.RUNNING.get(pid)
        if run is not None and run.tape is not None:
            code = _await(run.tape, options)
            if code is None:
                return 0, 0
            run.ended(code)
            return pid, _status(code)
        done, status = original(identity_tap.real_pid(pid), options)
        done = identity_tap.shown_pid(done)
        ended: Optional[commands.Run] = commands.RUNNING.get(done)
        if ended is not None and ended.tape is None and not getattr(ended, "called_from_within", False):
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                ended.ended(_exit_code(status))
        return done, status

    return waitpid


def _await(tape: Tape, options: int) -> Optional[int]:
    if options & os.WNOHANG:
        return tape.poll()
    try:
        return tape.wait(timed=False)
    except TimedOut:
        return None


# -- going on as another program -----------------------------------------------------------------------------------------


def _exit(original: Callable[[int], Any]) -> Callable[[int], Any]:
    def leave(status: int) -> Any:
        at = link.get()
        if at is not None:
            at.flush()
        return original(status)

    return leave


def _onward(env: Any) -> Any:
    if link.get() is None:
        return env
    return commands.environment(env, None if lanes.current().real else lanes.root().path)


def _execv(original: Callable[..., Any]) -> Callable[..., Any]:
    def execv(path: Any, argv: Any, /) -> Any:
        if link.get() is None:
            return original(path, argv)
        return os.execve(path, argv, os.environ)

    return execv


def _execve(original: Callable[..., Any]) -> Callable[..., Any]:
    def execve(path: Any, argv: Any, env: Any) -> Any:
        at = link.get()
        if at is not None:
            at.flush()
        return original(path, argv, _onward(env))

    return execve
