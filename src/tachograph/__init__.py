"""tachograph: a flight recorder, an offline replayer and a postmortem debugger for AI agents.

For an agent's code: ``tool``, ``note``, ``approval``, ``guardrail``, ``message``; all do nothing where nothing records, and need
nothing but the standard library. ``filter`` takes the secrets out of what a model is to see. For readers: ``open(store)[session_id]``.

Names are loaded when they are first used: importing this costs an agent next to nothing, and works on Python 3.9, where the host does
not run.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it, without the import, which takes as long as the rest of a commit hook's

if TYPE_CHECKING:
    from typing import Any

    from .client.link import Diverged as Diverged
    from .client.link import HostLost as HostLost
    from .client.say import approval as approval
    from .client.say import guardrail as guardrail
    from .client.say import message as message
    from .client.say import note as note
    from .client.tool import tool as tool
    from .filtering import filter as filter  # noqa: A004
    from .reading import open as open  # noqa: A004

__version__ = "0.1.0"

_PLACES = {
    "tool": "client.tool",
    "note": "client.say",
    "approval": "client.say",
    "guardrail": "client.say",
    "message": "client.say",
    "HostLost": "client.link",
    "Diverged": "client.link",
    "filter": "filtering",
    "open": "reading",
}

__all__ = ["Diverged", "HostLost", "approval", "filter", "guardrail", "message", "note", "open", "tool"]


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'tachograph' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("." + place, __name__), name)
