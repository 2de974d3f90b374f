"""multiprocessing and ProcessPoolExecutor: their processes run the agent's own code, so in a replay they really start, and each is a
lane (``mp-1``) whatever the start method.

* fork: the lane is given to the fork (``forking.named``);
* spawn: to the environment of the new interpreter, while it is started;
* forkserver: with the data that a new process gets first, before it imports the agent's main module.

Workers of a pool take the work as it comes, so a lane belongs to the piece of work, as with threads. How many workers there are depends
on timing; they are numbered where they shift nobody. The resource tracker runs nothing of the agent's and stays outside.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from types import ModuleType
from typing import Any, Callable, Iterator, Optional

from tachograph.client import forking, lanes, link

from . import identity_tap
from .patching import wrap

_LANE = "tacho_lane"
_POOLS = ("multiprocessing.pool", "concurrent.futures.process")


def install(module: ModuleType) -> None:
    """Wrap what this module starts."""
    if module.__name__ == "multiprocessing.process":
        wrap(module.BaseProcess, "start", _start)
    elif module.__name__ == "multiprocessing.util":
        wrap(module, "spawnv_passfds", _spawn)
    elif module.__name__ == "multiprocessing.spawn":
        wrap(module, "get_preparation_data", _prepared)
        wrap(module, "prepare", _prepare)
    elif module.__name__ == "multiprocessing.connection":
        wrap(module.Connection, "_send_bytes", _send_bytes)
    elif module.__name__ == "multiprocessing.pool":
        wrap(module, "worker", _worker)
    else:
        wrap(module.ProcessPoolExecutor, "submit", _submit)


# -- starting ------------------------------------------------------------------------------------------------------------


def _start(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(self: Any) -> Any:
        here = lanes.current()
        if link.get() is None or here.real:
            return original(self)
        in_pool = sys._getframe(1).f_globals.get("__name__") in _POOLS
        lane = lanes.root().child("worker") if in_pool else here.child("mp")
        with forking.named(lane.path):
            return original(self)

    return start


_environment = threading.RLock()


@contextlib.contextmanager
def _inherited(lane: Optional[str]) -> Iterator[None]:
    """What is started in here inherits that lane, or no session at all. There is no other way to give it an environment."""
    name = "TACHO_SOCKET" if lane is None else "TACHO_LANE"
    with _environment:
        before = os.environ.pop(name, None)
        if lane is not None:
            os.environ[name] = lane
        try:
            yield
        finally:
            os.environ.pop(name, None)
            if before is not None:
                os.environ[name] = before


def _spawn(original: Callable[..., Any]) -> Callable[..., Any]:
    def spawnv_passfds(path: Any, args: Any, passfds: Any) -> Any:
        if link.get() is None:
            return original(path, args, passfds)
        lanes.in_company()
        command = " ".join(os.fsdecode(arg) for arg in args)
        if "multiprocessing.forkserver" in command:
            lane: Optional[str] = "%s/%s" % (lanes.root().path, forking.SERVER)
        elif "multiprocessing.resource_tracker" in command or lanes.current().real:
            lane = None
        else:
            lane = forking.next_name()
        with _inherited(lane):
            pid = original(path, args, passfds)
        return identity_tap.shown(pid) if lane is not None else pid

    return spawnv_passfds


def _send_bytes(original: Callable[..., Any]) -> Callable[..., Any]:
    def send_bytes(self: Any, buf: Any) -> Any:
        at = link.get()
        if at is not None and (at.reads or at.missing):
            at.flush()  # what the other end makes of this may be told before our next word
        return original(self, buf)

    return send_bytes


def _prepared(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_preparation_data(name: Any) -> Any:
        data = original(name)
        lane = forking.next_name()
        if lane is not None:
            data[_LANE] = lane
        return data

    return get_preparation_data


def _prepare(original: Callable[..., Any]) -> Callable[..., Any]:
    def prepare(data: Any) -> Any:
        lane = data.pop(_LANE, None)
        if lane is not None:
            forking.adopt(lane)
        return original(data)

    return prepare


# -- work ----------------------------------------------------------------------------------------------------------------


def run_in_lane(path: str, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Runs in the worker."""
    token = lanes.enter(lanes.Lane(path))
    try:
        return work(*args, **kwargs)
    finally:
        lanes.leave(token)


def _submit(original: Callable[..., Any]) -> Callable[..., Any]:
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        here = lanes.current()
        if link.get() is None or here.real:
            return original(self, fn, *args, **kwargs)
        lane = here.child("work").path
        with lanes.submitting(lane):
            return original(self, functools.partial(run_in_lane, lane, fn), *args, **kwargs)

    return submit


class _Tasks:
    """A pool's queue of tasks, each in the lane of its job and place, whoever takes it. (A pool numbers its jobs as they are given.)"""

    def __init__(self, queue: Any, parent: str) -> None:
        self._queue = queue
        self._parent = parent

    def get(self) -> Any:
        task = self._queue.get()
        if task is None:
            return None
        job, place, function, args, kwargs = task
        if getattr(function, "__name__", "") != "_helper_reraises_exception":  # which the worker tells from others
            function = functools.partial(run_in_lane, "%s/job-%s-%s" % (self._parent, job, place), function)
        return job, place, function, args, kwargs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


def _worker(original: Callable[..., Any]) -> Callable[..., Any]:
    def worker(inqueue: Any, *args: Any, **kwargs: Any) -> Any:
        if link.get() is None:
            return original(inqueue, *args, **kwargs)
        return original(_Tasks(inqueue, lanes.current().path.rpartition("/")[0]), *args, **kwargs)

    return worker
