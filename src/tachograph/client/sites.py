"""Where in the agent's own code something is done: ``file:line`` of the innermost frame that is no library's.

A thread, a piece of work or a task that runs nothing but a library's code has no such frame. It is told where it was started instead
(``started at file:line``), which its lane knows (``lanes.Lane.origin``): a text, so that no frame is kept alive.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Optional

#: Files of these are never "the place in the agent that made the call".
_LIBRARIES = (os.path.dirname(os.path.abspath(__file__)), os.sep + "site-packages" + os.sep, os.path.dirname(os.__file__) + os.sep)
#: Whoever runs an event loop has not called what runs in it.
_LOOP = os.path.join(os.path.dirname(os.__file__), "asyncio", "base_events.py")
_LIBRARY, _OWN, _LOOPS = 0, 1, 2
#: File name → whose it is. Every call asks for a few names, and an agent has few files.
_whose: Dict[str, int] = {}

STARTED = "started at "
#: Frames that are looked at: where a call is made; and where a thread or a task is started, which must cost next to nothing.
_CALLING, _STARTING = 64, 24


def of_call(origin: Optional[str] = None) -> Optional[str]:
    """The place of the agent from which the caller's caller was called, or None. ``origin``: where this thread or task was started."""
    found = _innermost(sys._getframe(2), _CALLING, origin is not None)
    return STARTED + origin if found is None and origin is not None else found


def of_start(origin: Optional[str]) -> Optional[str]:
    """The place of the agent that starts a thread or a task, seen from the caller's caller. ``origin``: where this one was started."""
    return _innermost(sys._getframe(2), _STARTING, origin is not None) or origin


def _innermost(frame: Any, most: int, outside: bool) -> Optional[str]:
    """``outside``: stop at an event loop, since who runs it is not who started this."""
    for _ in range(most):
        if frame is None:
            return None
        name = frame.f_code.co_filename
        whose = _whose.get(name)
        if whose is None:
            whose = _whose[name] = _decided(name)
        if whose:
            if whose == _OWN:
                return "%s:%d" % (name, frame.f_lineno)
            if outside:
                return None
        frame = frame.f_back
    return None


def _decided(name: str) -> int:
    if name == _LOOP:
        return _LOOPS
    return _LIBRARY if name.startswith("<") or any(part in name for part in _LIBRARIES) else _OWN
