"""Is the agent at rest? Nothing of it runs, and nothing will until somebody outside of it does something.

That is what a replay waits for before it gives the next answer: what the last answer set off has then happened, all of it, however long
it took and whatever else the machine was busy with. No clock decides.

**At rest** means: twice in a row, every thread of every process of the agent was seen asleep; between the two looks none of them had the
processor (the kernel counts that, per thread); and behind the second look nothing that the agent has sent us was unread.

Why that is sound: a thread runs only when something wakes it: another thread of the agent, which then had the processor; we, who send
nothing while we look; or a time-out or the outside world, which is what ``Blocked.outside`` is about. Each thread was asleep at its first
look, and at its second look had not been away since: so there is one moment, between the looks, at which all of them slept, and from then
on nobody was there to wake anybody. Whoever wakes a thread marks it as running before the call that wakes it returns, so a thread
that has an answer of ours and has not looked at it yet does not count as asleep. Whether a thread that says it sleeps has really left
the processor is asked of the kernel, too (``syscall``, where it may be read).

Children count from the moment they exist, connected or not. States: D (a device) and R are not at rest; a stopped thread is.

Sources: proc_pid_stat(5), proc_pid_syscall(5); ``Documentation/scheduler/sched-stats.rst`` and ``lib/syscall.c`` of Linux.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass

#: Descriptors that are kept open from look to look (a proc file that is open is read four times as fast): threads, two each.
KEPT = 128

#: System calls that end by themselves, and which argument says so: "always", or (place, what means "for ever").
_WAITS: dict[str, dict[int, tuple[int, int] | None]] = {
    "x86_64": {
        7: (2, 0xFFFFFFFF), 23: (4, 0), 35: None, 128: (2, 0), 202: (3, 0), 219: None, 220: (3, 0), 230: None, 232: (3, 0xFFFFFFFF),
        270: (4, 0), 271: (2, 0), 281: (3, 0xFFFFFFFF), 441: (3, 0), 449: (3, 0),
    },
    "aarch64": {
        22: (3, 0xFFFFFFFF), 72: (4, 0), 73: (2, 0), 98: (3, 0), 101: None, 115: None, 128: None, 137: (2, 0), 192: (3, 0), 441: (3, 0),
        449: (3, 0),
    },
}  # fmt: skip
_INTS = {"x86_64": {7: 2, 232: 3, 281: 3}, "aarch64": {22: 3}}
_READS = {"x86_64": (0, 19), "aarch64": (63, 65)}
_ASLEEP = b"SITtZXx"


@dataclass(frozen=True)
class Blocked:
    """How an agent at rest is blocked. ``outside``: some thread waits for a time-out of its own or for standard input, or it cannot be
    told: it may go on without us."""

    outside: bool


class Agent:
    """The processes of one agent. ``root``: where proc is."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root
        self._machine = platform.machine()
        self._parents: dict[int, int] = {}
        self._last: bytes | None = None
        self._open: dict[tuple[int, int], tuple[int, int]] = {}
        #: What was seen last: how often each thread has run.
        self.state: dict[tuple[int, int], bytes] | None = None

    @property
    def seen(self) -> bool:
        """Whether this system shows what is needed."""
        return os.path.exists(f"{self._root}/thread-self/schedstat") or os.path.exists(f"{self._root}/self/schedstat")

    def at_rest(self, pids: Iterable[int], silent: Callable[[], bool]) -> bool:
        """``pids``: the processes that are connected; their descendants count, too. ``silent``: nothing of theirs is unread."""
        pids = list(pids)
        self.state = first = self._look(pids)
        if first is None:
            return False
        return self._look(pids) == first and all(self._off(pid, thread) for pid, thread in first) and silent()

    def blocked(self, pids: Iterable[int]) -> Blocked:
        """Of an agent that is at rest."""
        return Blocked(any(self._outside(pid, thread) for pid in self._family(list(pids)) for thread in self._threads(pid)))

    def used(self, pids: Iterable[int]) -> float:
        """Seconds of processor time that the connected processes have used."""
        ticks = 0
        for pid in pids:
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = _read(f"{self._root}/{pid}/stat").rpartition(b")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Close what was kept open."""
        for pair in self._open.values():
            for file in pair:
                os.close(file)
        self._open.clear()

    # -- looks -----------------------------------------------------------------------------------------------------------

    def _look(self, pids: list[int]) -> dict[tuple[int, int], bytes] | None:
        """Per thread how often it has run; None where one is awake."""
        found: dict[tuple[int, int], bytes] = {}
        for pid in self._family(pids):
            for thread in self._threads(pid):
                try:
                    state, runs = self._thread(pid, thread)
                except (OSError, IndexError):
                    continue  # gone
                if state not in _ASLEEP:
                    return None
                found[(pid, thread)] = runs
        for gone in self._open.keys() - found.keys():
            self._forget(gone)
        return found

    def _thread(self, pid: int, thread: int) -> tuple[int, bytes]:
        kept = self._open.get((pid, thread))
        folder = f"{self._root}/{pid}/task/{thread}"
        if kept is None:
            if len(self._open) >= KEPT:
                return _state(_read(folder + "/stat")), _read(folder + "/schedstat")
            stat = os.open(folder + "/stat", os.O_RDONLY | os.O_CLOEXEC)
            try:
                kept = (stat, os.open(folder + "/schedstat", os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                os.close(stat)
                raise
            self._open[(pid, thread)] = kept
        try:
            return _state(os.pread(kept[0], 512, 0)), os.pread(kept[1], 128, 0)
        except OSError:
            self._forget((pid, thread))
            raise

    def _forget(self, key: tuple[int, int]) -> None:
        for file in self._open.pop(key, ()):
            os.close(file)

    def _off(self, pid: int, thread: int) -> bool:
        """The kernel waits here until a thread that goes to sleep has left the processor, and says ``running`` of one that did not."""
        try:
            return not _read(f"{self._root}/{pid}/task/{thread}/syscall").startswith(b"running")
        except OSError:
            return True  # it may not be read: the two looks are what there is

    def _outside(self, pid: int, thread: int) -> bool:
        known = _WAITS.get(self._machine)
        try:
            call = _read(f"{self._root}/{pid}/task/{thread}/syscall").split()
            number, arguments = int(call[0]), [int(value, 16) for value in call[1:7]]
        except FileNotFoundError:
            return False
        except (OSError, ValueError, IndexError):
            return True
        if known is None:
            return True
        if number in _READS[self._machine] and arguments[:1] == [0]:
            return True
        if number not in known:
            return False
        rule = known[number]
        if rule is None:
            return True
        value = arguments[rule[0]]
        if number in _INTS[self._machine]:
            value &= 0xFFFFFFFF
        return value != rule[1]

    # -- processes -------------------------------------------------------------------------------------------------------

    def _threads(self, pid: int) -> list[int]:
        try:
            return sorted(int(name) for name in os.listdir(f"{self._root}/{pid}/task"))
        except OSError:
            return []

    def _family(self, pids: list[int]) -> list[int]:
        """``pids`` and their descendants. Who is whose is read again only when the machine has started something since."""
        try:
            last = _read(f"{self._root}/loadavg").split()[-1]
        except (OSError, IndexError):
            last = b""
        if last != self._last or not last:
            self._last = last
            self._refresh()
        found = dict.fromkeys(pids)
        grown = True
        while grown:
            inside = [pid for pid, parent in self._parents.items() if parent in found and pid not in found]
            found.update(dict.fromkeys(inside))
            grown = bool(inside)
        return list(found)

    def _refresh(self) -> None:
        there = {int(name) for name in os.listdir(self._root) if name.isdigit()}
        for gone in self._parents.keys() - there:
            del self._parents[gone]
        for pid in there - self._parents.keys():
            with contextlib.suppress(OSError, ValueError, IndexError):
                self._parents[pid] = int(_read(f"{self._root}/{pid}/stat").rpartition(b")")[2].split()[1])


def _state(stat: bytes) -> int:
    return stat[stat.rindex(b")") + 2]


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)
