"""A forked child is a lane of its own, with a socket of its own.

* Its lane is named in the parent, before the fork (``main/fork-1``): the parent's counting does not depend on scheduling.
* The parent's socket is closed in the child without shutting it down: the parent goes on using it.
* What the child inherited of the parent's open calls is nobody's: it tells nothing, since the parent tells it.
* A child that is forked inside a real call (a ``preexec_fn`` before ``exec``) is a part of that call and joins nothing.
* When a child cannot reach the host it is as for any process: it goes on unrecorded, or stops where that was asked for.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Callable, Iterator, List, Optional

from . import ambient, lanes, link

#: What else must be undone in a forked child (descriptors that would keep a pipe open).
IN_CHILD: List[Callable[[], None]] = []

#: A server that forks other people's children (``multiprocessing.forkserver``): each is named by who asked for it, not by the server.
SERVER = "forkserver"


class _Here(threading.local):
    """``given``: the lane of the fork that this thread is about to make; ``path``: the one that the running fork got."""

    given: Optional[str] = None
    path: Optional[str] = None


_here = _Here()
_token = ""


def install() -> None:
    """Give every forked child its lane and its link."""
    global _token
    _token = os.environ.get("TACHO_TOKEN", "")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_child=_in_child)


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """A fork made in here by this thread is that lane."""
    before, _here.given = _here.given, path
    try:
        yield
    finally:
        _here.given = before


def next_name() -> Optional[str]:
    """The lane of the process that this thread is about to make, if it was named."""
    return _here.given


def adopt(path: str) -> None:
    """This process is that lane, from now on (a process that learns its name only when it runs already)."""
    at = link.get()
    if at is not None and lanes.root().path != path:
        _join(path, at)


def _before() -> None:
    lane = lanes.current()
    if lane.real or lanes.root().path.endswith("/" + SERVER):
        _here.path = None
    else:
        lanes.in_company()
        _here.path = _here.given or lane.child("fork").path


def _in_child() -> None:
    at = link.get()
    if at is None:
        return
    for undo in IN_CHILD:
        undo()
    path, _here.given = _here.path, None
    if path is not None:
        _join(path, at)
    elif lanes.root().path.endswith("/" + SERVER):
        _leave(at)  # ``adopt`` follows, when the child has been told whose it is
    else:
        _leave(at)
        link._link = None


def _join(path: str, old: link.Link) -> None:
    mode, on_loss = old.settings.get("mode", old.mode), old.settings.get("on_loss", old.on_loss)
    _leave(old)
    lanes.rename_root(path)
    hello = link.hello(path)
    hello["token"] = _token
    try:
        new = link.Link(old.path, hello, on_loss)
        new.socket.settimeout(None)  # whatever default the agent has set for its own sockets
    except (OSError, ValueError, KeyError):
        old.mode, old.on_loss = mode, on_loss  # lost, and to be borne or not as on any other loss
        return
    link._link = new
    ambient.forget(new, path)


def _leave(old: link.Link) -> None:
    """Our copy of the descriptor goes, the connection stays. What still refers to this link says nothing from now on."""
    old.settings.setdefault("mode", old.mode)
    old.settings.setdefault("on_loss", old.on_loss)
    old.lost, old.mode, old.on_loss = True, "record", "continue"
    old.socket.close()
