"""``tacho doctor``: what makes an agent differ from run to run, found by experiment.

The session is replayed twice as it is. If that is not identical both times, something that no tap covers decides: the divergence names it. Then
it is replayed once for each kind of ambient read that it holds, with that kind live instead of from the tape: if the replay is no longer
identical, the agent depends on that kind, and the tap that records it is what makes it replayable. A last replay is lenient: does what differs map
one to one?

Nothing is called for real: the guard is around every replay.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tachograph.replay import causes, report
from tachograph.replay.tape import Tape, load

from .replay import Plan
from .replay import replay as run

#: Kind of ambient read → the tap that records it, and what it covers.
TAPS = {
    "clock": ("clock_tap", "time.time, datetime.now, localtime … of Python's own"),
    "monotonic": ("clock_tap", "time.monotonic, perf_counter, process_time of the agent's own code"),
    "entropy": ("entropy_tap", "os.urandom, getrandom, and with them secrets, uuid1 and uuid4"),
    "random": ("random_tap", "random, unseeded Random() instances, numpy's generators"),
    "listing": ("listing_tap", "os.listdir, scandir, and with them walk, glob, iterdir"),
    "identity": ("identity_tap", "host name, process number, user name, number of processors"),
    "sqlite": ("sqlite_tap", "SQLite's own clock and random()"),
}

#: Cause of an uncovered difference → what covers it.
COVER = {
    "clock": "a tap sees Python's own clocks only; what reads the time in native code or in a child that is no Python, declare as a tool (@tachograph.tool)",
    "entropy": "a tap sees os.urandom, secrets, uuid and random only; what reads /dev/urandom itself or draws in native code, declare as a tool, or replay with --lenient",
    "order": "sort what came out of a set, a folder or a race; a tap orders calls, not what an agent does between them",
    "environment": "make it an argument, or declare what reads it as a tool",
    "tap": "use a library that is tapped, or declare the function around it as a tool",
    "code": "the code of the agent is another one than was recorded: record it anew, then ask again",
    "prompt": "a file, standard input or another read that no tap sees got into a prompt: keep it in the workspace, or declare what reads it as a tool",
}
_ELSE = "declare what reads it as a tool (@tachograph.tool), so that it is answered from the record"

#: Says what is being done: its name, its number, of how many.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Trial:
    """One replay. ``live``: the kind that was not answered from the tape."""

    name: str
    live: str | None
    lenient: bool
    report: Mapping[str, Any]

    @property
    def identical(self) -> bool:
        return bool(self.report["verdict"] == report.IDENTICAL)

    @property
    def where(self) -> str | None:
        """The first differing field, as far as a trial can be held against another."""
        found = self.report["divergence"]
        return None if found is None else f"{found['kind']} {found['operation']} {found['path']}"


def kinds(tape: Tape) -> dict[str, collections.Counter[str]]:
    """Kinds of recorded ambient reads → places that read them → how often."""
    out: dict[str, collections.Counter[str]] = {}
    for reads in tape.reads.values():
        for (kind, site), values in reads.items():
            out.setdefault(kind.partition(".")[0], collections.Counter())[site] += len(values)
    return {kind: out[kind] for kind in TAPS if kind in out}


def examine(plan: Plan, told: Progress = lambda *_: None) -> dict[str, Any]:
    """Run the trials. Returns the answer as JSON: ``session_id``, ``deterministic``, ``sources``, ``trials``."""
    held = kinds(load(plan.recording))
    todo: list[tuple[str, str | None]] = [("as recorded", None), ("as recorded, again", None), *((f"{kind} live", kind) for kind in held)]
    trials: list[Trial] = []
    for name, live in todo:
        told(name, len(trials) + 1, len(todo) + 1)
        trials.append(Trial(name, live, False, run(replace(plan, silent=True, live=[live] if live else []))))
    first, second = trials[:2]
    if not (first.identical and second.identical):
        told("leniently", len(trials) + 1, len(todo) + 1)
        trials.append(Trial("leniently", None, True, run(replace(plan, silent=True, lenient=True))))
    return answer(plan.recording.session_id, held, trials)


def answer(session_id: str, held: Mapping[str, Mapping[str, int]], trials: Sequence[Trial]) -> dict[str, Any]:
    """What the trials say."""
    first, second = trials[:2]
    sources = [_uncovered(trial, trials) for trial in _distinct((first, second))]
    for trial in trials[2:]:
        if trial.live is not None:
            sources.append(_covered(trial, held[trial.live], first))
    return {
        "session_id": session_id,
        "deterministic": first.identical and second.identical,
        "sources": sources,
        "trials": [
            {
                "name": trial.name, "live": trial.live, "lenient": trial.lenient, "verdict": trial.report["verdict"],
                "divergence": trial.report["divergence"], "unused": len(trial.report["unused"]), "unified": trial.report["unified"],
                "seconds": trial.report["seconds"],
            }
            for trial in trials
        ],
    }  # fmt: skip


def _distinct(trials: Sequence[Trial]) -> list[Trial]:
    """Those that were not identical, each place once."""
    out: list[Trial] = []
    for trial in trials:
        if not trial.identical and all(trial.where != other.where for other in out):
            out.append(trial)
    return out


def _uncovered(trial: Trial, trials: Sequence[Trial]) -> dict[str, Any]:
    """What no tap covers."""
    found = trial.report["divergence"]
    first, second = trials[:2]
    values = [each.report["divergence"]["actual"] for each in (first, second) if each.report["divergence"] is not None]
    lenient = next((each for each in trials if each.lenient), None)
    cause = found["cause"] if found is not None else "unknown"
    changes = len(values) < 2 or values[0] != values[1]
    missed = trial.report["unused"][0]["what"] if found is None and trial.report["unused"] else None
    return {
        "source": cause,
        "covered": False,
        "what": causes.CAUSES.get(cause, cause) if found is not None else f"a recorded call is not made any more: {missed}",
        "every_run": changes,
        "places": [site for site in ((found or {}).get("site"), *_reads(trial)) if site],
        "reads": sum(read["count"] for read in trial.report["unrecorded"]),
        "field": None if found is None else found["path"],
        "expected": None if found is None else found["expected"],
        "actual": None if found is None else found["actual"],
        "tap": None,
        "advice": COVER.get(cause, _ELSE) if changes or cause in ("code", "prompt") else _other(cause),
        "lenient": None if lenient is None else lenient.report["verdict"],
    }


def _other(cause: str) -> str:
    return "it is the same in each replay, and another one than was recorded: " + COVER.get(cause, _ELSE)


def _reads(trial: Trial) -> list[str]:
    return [read["where"] for read in sorted(trial.report["unrecorded"], key=lambda read: -read["count"])][:5]


def _covered(trial: Trial, places: Mapping[str, int], before: Trial) -> dict[str, Any]:
    """A kind that the tape answers. ``matters``: without the tape the agent does something else."""
    found = trial.report["divergence"]
    matters = not trial.identical and (before.identical or trial.where != before.where)
    assert trial.live is not None
    tap, covers = TAPS[trial.live]
    return {
        "source": trial.live,
        "covered": True,
        "matters": matters,
        "what": covers,
        "places": [site for site, _ in sorted(places.items(), key=lambda item: (-item[1], item[0]))][:5],
        "reads": sum(places.values()),
        "field": found["path"] if matters and found is not None else None,
        "site": found["site"] if matters and found is not None else None,
        "expected": found["expected"] if matters and found is not None else None,
        "actual": found["actual"] if matters and found is not None else None,
        "tap": tap,
    }
