"""Second phase: the forked child puts itself under the guard, tells the host, and is then replaced by the agent."""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tachograph.replay.guard import kernel, landlock, namespace, seccomp

if TYPE_CHECKING:
    from tachograph.replay.guard.plan import GuardPlan


#: Bytes of what could not be shown that are told. A system where more fails is one where all of it may have.
_MOST_UNSHOWN = 2048


def enter(plan: GuardPlan, notify: socket.socket, unshown: Mapping[str, str] | None = None) -> None:
    """Put this process, and all it will ever start, under the guard. Call it in a forked child with one thread, then
    ``exec``.

    Sends over ``notify`` (a unix stream socket) one JSON line, and with it the filter's listener where there is one;
    ``supervisor.receive`` is the other end:

        {"seccomp": true | "why not", "landlock": ABI | "why not", "namespace": "overlay" | "bind" | "none",
         "shm": "private" | "shared", "unshown": {place: why}}

    ``unshown`` is what ``mount`` returned; left out where that is nothing; ``/`` stands for all of it.

    From then on this process may stop at any call that writes until the host runs a ``Supervisor``. What the system
    lacks is told, not raised; GuardError only where the workspace is not the scratch one, so that writing there must
    not be allowed.
    """
    guards: dict[str, Any] = {"namespace": plan.mount, "shm": "shared"}
    listener = None
    if why := seccomp.unsupported():
        guards |= {"seccomp": why, "landlock": "Landlock is a part of Linux"}
    else:
        namespace.check(plan)
        guards["shm"] = "private" if namespace.private_memory() else "shared"
        guards["landlock"] = _landlock(plan)
        try:
            kernel.no_new_privileges()
            listener, why = seccomp.install(own_sockets_only=plan.sockets is not None)
            guards["seccomp"] = why or True
        except OSError as error:
            guards["seccomp"] = str(error)
    if unshown:
        guards["unshown"] = dict(unshown) if len(json.dumps(unshown)) < _MOST_UNSHOWN else {"/": "mounts fail on this system"}
    line = json.dumps(guards).encode() + b"\n"
    rights = [] if listener is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))]
    notify.sendmsg([line], rights)
    if listener is not None:
        os.close(listener)


def _landlock(plan: GuardPlan) -> int | str:
    try:
        kernel.no_new_privileges()
        return landlock.restrict(plan.writable)
    except OSError as error:
        return str(error)


def _try_seccomp() -> dict[str, Any]:
    kernel.no_new_privileges()
    listener, why = seccomp.install()
    return {"seccomp": True if listener is not None else why}


def available() -> dict[str, Any]:
    """Which guards this system has, in the shape of ``enter``'s line, without putting anybody under them. Never raises.

    ``namespace`` is for a scratch folder in the temporary directory; ask ``namespace.probe`` about another place, and
    for the reasons.
    """
    import tempfile
    from pathlib import Path

    from tachograph.replay.guard.forked import forked

    if why := seccomp.unsupported():
        return {"seccomp": why, "landlock": "Landlock is a part of Linux", "namespace": "none", "shm": "shared"}
    found = forked(_try_seccomp)
    try:
        level: int | str = landlock.abi()
    except OSError as error:
        level = str(error)
    mount = namespace.probe(Path(tempfile.gettempdir())).best
    return {
        "seccomp": found.get("seccomp", found.get("why")),
        "landlock": level,
        "namespace": mount,
        "shm": "shared" if mount == "none" else "private",
    }
