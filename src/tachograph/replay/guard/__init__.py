"""The replay guard: a replayed agent, and every child it starts, reaches no network and changes nothing outside its
scratch workspace.

Three guards of the kernel, each of which holds without the others, and each attempt is named (DESIGN §5):

- ``seccomp``: no sockets but unix ones, and a report of every call that writes;
- ``landlock``: the kernel refuses to write outside given directories;
- ``namespace``: the scratch workspace stands at the recorded path.

How a host uses it::

    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        mount(plan)          # the recorded files may now be laid out at plan.workspace
        enter(plan, theirs)
        os.execvpe(...)
    fd, guards = receive(ours)
    with Supervisor(fd, writable=plan.writable, report=..., landlock=...) as supervisor: ...

Out of its reach: what was open before ``exec`` (start the agent with its descriptors closed), and programs outside that
do the agent a favour over a unix socket, unless ``GuardPlan.sockets`` says which it may talk to.
"""

from __future__ import annotations

from tachograph.replay.guard.enter import available, enter
from tachograph.replay.guard.namespace import Probe, discard, mount, mounts_below, probe
from tachograph.replay.guard.plan import GuardError, GuardPlan, Mount
from tachograph.replay.guard.supervisor import Supervisor, receive

__all__ = [
    "GuardError",
    "GuardPlan",
    "Mount",
    "Probe",
    "Supervisor",
    "available",
    "discard",
    "enter",
    "mount",
    "mounts_below",
    "probe",
    "receive",
]
