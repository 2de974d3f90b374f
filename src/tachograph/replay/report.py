"""The replay's report: one JSON value (DESIGN §9), and its verdict. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import divergence
from .divergence import Divergence
from .tape import Tape

IDENTICAL, DIVERGED, INCOMPLETE = "identical", "diverged", "incomplete"


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the replay saw. ``matched``: calls answered, by kind. ``output``: what was printed, redacted (None: not captured)."""

    matched: dict[str, int]
    divergence: Divergence | None
    exit_code: int | None
    signal: int | None
    seconds: float
    output: Any
    output_size: int
    same_output: bool | None
    joined: int
    blocked: list[dict[str, Any]] = field(default_factory=list)
    guards: dict[str, Any] = field(default_factory=dict)
    reordered: int = 0
    order: str = "at rest"
    early: int = 0
    ended_at_cut: bool = False
    ran: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lenient: bool = False
    unified: list[dict[str, Any]] = field(default_factory=list)
    unrecorded: dict[tuple[str, str], int] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)
    """Files outside of the workspace that are not what the agent read then: ``path``, ``why``, ``shown`` (as they were)."""


def report(session_id: str, tape: Tape, run: Run, *, verified: bool, code_changed: list[str], missing: list[str]) -> dict[str, Any]:
    """The report. The verdict is ``identical``, ``diverged`` or ``incomplete``, never a shrug."""
    unused = [{"event_id": call.event.id, "seq": call.seq, "lane": call.lane, "what": call.label} for call in tape.unused()]
    recorded = tape.end
    first = run.divergence
    if first is None and not unused and not run.ended_at_cut:
        first = _end_differs(tape, run, code_changed)
    elif first is not None:
        first = divergence.with_code(first, code_changed)
    if first is not None:
        first = divergence.with_files(first, run.files)
    verdict = DIVERGED if first is not None else INCOMPLETE if unused else IDENTICAL
    return {
        "session_id": session_id,
        "verdict": verdict,
        "mode": "lenient" if run.lenient else "strict",
        "tape": "verified" if verified else "unverified",
        "calls": {kind: run.matched.get(kind, 0) for kind in ("model", "tool", "http", "process")},
        "matched": sum(run.matched.values()),
        "unused": unused,
        "divergence": first.to_json() if first is not None else None,
        "unified": run.unified,
        "unrecorded": [{"kind": kind, "where": where, "count": count} for (kind, where), count in sorted(run.unrecorded.items())],
        "blocked": run.blocked,
        "guards": run.guards,
        "output_identical": run.same_output,
        "exit_code": run.exit_code if run.signal is None else -run.signal,
        "recorded_exit_code": None if recorded is None else recorded.exit_code if recorded.signal is None else -recorded.signal,
        "reordered": run.reordered,
        "order": run.order,
        "early": run.early,
        "ended_at_cut": run.ended_at_cut,
        "tools_run": run.ran,
        "code_changed": code_changed,
        "workspace_missing": missing,
        "files_changed": files(run.files, own=first is not None),
        "gap": tape.gap,
        "notes": run.notes,
        "seconds": round(run.seconds, 3),
    }


def files(found: list[dict[str, Any]], *, own: bool = False) -> list[dict[str, Any]]:
    """``files_changed``. ``own``: also what the session itself may have made, and makes anew: that says something only where something is amiss."""
    return [{key: file[key] for key in ("path", "why", "shown")} for file in found if own or not file.get("during")]


def _end_differs(tape: Tape, run: Run, code_changed: list[str]) -> Divergence | None:
    end = tape.end
    why: dict[str, Any] = {"refused": run.blocked, "code_changed": code_changed, "unrecorded": run.unrecorded}
    if end is None or end.status in ("lost", "stopped"):
        return None
    if run.joined == 0 and tape.calls:
        return divergence.output("end", "a Python process that the client rides in", "none came: is it Python, without -I or -E?", **why)
    if end.signal is not None and run.signal is None:
        return None  # somebody outside ended the agent; in the replay nobody did, and all that it asked for was the same
    if (end.exit_code, end.signal) != (run.exit_code, run.signal):
        return divergence.output("end", _ending(end.exit_code, end.signal), _ending(run.exit_code, run.signal), **why)
    if run.same_output is False:
        return divergence.output("output", tape.stdout if tape.stdout is not None else "", run.output, **why)
    return None


def _ending(exit_code: int | None, signal: int | None) -> str:
    return f"killed by signal {signal}" if signal is not None else f"exit code {exit_code}"
