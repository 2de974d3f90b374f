"""``tacho bisect``: the commit at which a session stops replaying, or starts.

The search is git's (``rev-list --bisect-all``), so histories with merges are halved as git halves them; nothing is checked out, and the repository
is only read. An end that the user named is not replayed unless the answer rests on it: 64 commits cost seven replays at most, and each word of the
answer has been tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tachograph.core.errors import ReplayError, UsageError

from . import commits

Result = Literal["replays", "differs", "cannot tell"]


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One commit that was replayed. ``why``: in a line, where it does not replay; ``report``: of the replay, where there is one."""

    sha: str
    subject: str
    result: Result
    why: str = ""
    report: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        verdict = self.report["verdict"] if self.report else None
        return {"sha": self.sha, "subject": self.subject, "result": self.result, "verdict": verdict, "why": self.why}


@dataclass
class Answer:
    """``candidates``: the commits of which one is the first that is otherwise; one alone is the culprit. ``starts``: it starts replaying there."""

    candidates: list[str] = field(default_factory=list)
    starts: bool = False
    log: list[Tried] = field(default_factory=list)

    @property
    def culprit(self) -> str | None:
        return self.candidates[0] if len(self.candidates) == 1 else None


Try = Callable[[str], tuple[Result, str, dict[str, Any] | None]]


def bisect(repository: str, good: str, bad: str, attempt: Try, tell: Callable[[Tried, int], None] = lambda _tried, _left: None) -> Answer:
    """Search between two commits. ``attempt`` replays one; ``tell`` hears of each, with how many commits are left. Raises ``UsageError`` for ends
    that are none, ``ReplayError`` for an end that turns out to be otherwise."""
    search = _Search(repository, commits.resolve(repository, good), commits.resolve(repository, bad), attempt, tell)
    return search.run(good, bad)


class _Search:
    def __init__(self, repository: str, good: str, bad: str, attempt: Try, tell: Callable[[Tried, int], None]) -> None:
        if good == bad:
            raise UsageError(f"--good and --bad are the same commit, {good[:12]}; name two")
        self._repository = repository
        self._good, self._bad = good, bad
        self._attempt = attempt
        self._tell = tell
        self._answer = Answer()
        self._tried: dict[str, Tried] = {}

    def run(self, good: str, bad: str) -> Answer:
        early, late, before = self._ends(good, bad)
        self._answer.starts = before != "replays"
        old, new, skips = [early], late, 0
        while True:
            between = [sha for sha in self._between(new, old) if sha != new]
            left = [sha for sha in between if sha not in self._tried]
            if not left:
                break
            # The middle. After commits that cannot tell, further and further from it: they mostly come in a row.
            sha = left[min(2**skips - 1, len(left) - 1)]
            result = self._try(sha, len(between)).result
            if result == "cannot tell":
                skips += 1
                continue
            skips = 0
            if result == before:
                old.append(sha)
            else:
                new = sha
        self._answer.candidates = [new, *between]
        self._check_ends(early, late, new, old, before, (good, bad))
        return self._answer

    def _ends(self, good: str, bad: str) -> tuple[str, str, Result]:
        """(the earlier end, the later end, what the earlier one is to do)."""
        base = self._git("merge-base", self._good, self._bad)
        if base == self._good:
            return self._good, self._bad, "replays"
        if base == self._bad:
            return self._bad, self._good, "differs"
        # Neither is an ancestor of the other: as git does, the point where they part is asked first.
        tried = self._try(base, 0)
        if tried.result != "replays":
            raise ReplayError(
                f"{good} and {bad} part at {base[:12]}, which does not replay, either ({tried.why}); name a --good commit before that one"
            )
        return base, self._bad, "replays"

    def _between(self, new: str, old: list[str]) -> list[str]:
        """The commits of which one is the first that is otherwise, the middle one first."""
        listed = self._git("rev-list", "--bisect-all", new, *(f"^{sha}" for sha in old))
        return [line.split(" ", 1)[0] for line in listed.splitlines()]

    def _try(self, sha: str, left: int) -> Tried:
        found = self._tried.get(sha)
        if found is None:
            result, why, report = self._attempt(sha)
            subject = self._git("show", "-s", "--format=%s", sha)
            found = self._tried[sha] = Tried(sha=sha, subject=subject, result=result, why=why, report=report)
            self._answer.log.append(found)
            self._tell(found, left)
        return found

    def _check_ends(self, early: str, late: str, new: str, old: list[str], before: Result, named: tuple[str, str]) -> None:
        """The ends that the answer rests on, where nobody has tried them yet."""
        if new == late:
            self._check(late, "differs" if before == "replays" else "replays", named)
        parents = self._git("rev-parse", f"{new}^@").split()
        proven = [sha for sha in old if sha in self._tried]
        if len(self._answer.candidates) == 1 and parents and self._git("rev-list", "-n1", *parents, *(f"^{sha}" for sha in proven)):
            self._check(early, before, named)

    def _check(self, sha: str, expected: Result, named: tuple[str, str]) -> None:
        tried = self._try(sha, 0)
        if tried.result == expected:
            return
        option, name = ("--good", named[0]) if expected == "replays" else ("--bad", named[1])
        if tried.result == "cannot tell":
            raise ReplayError(f"the agent does not start at {option} {name}, {tried.why}; name a commit at which it does")
        said = f"does not replay, {tried.why}," if tried.result == "differs" else "replays"
        raise ReplayError(f"the session {said} at {option} {name}, so there is nothing to search for; name another commit with {option}")

    def _git(self, *arguments: str) -> str:
        return commits.git(self._repository, *arguments).decode("utf-8", "replace").strip()


def result(report: dict[str, Any]) -> tuple[Result, str]:
    """What a replay's report says of a commit. An agent that ended in failure without having asked for anything did not start: that says
    nothing about what the session asks for."""
    if report["verdict"] == "identical":
        return "replays", ""
    first = report["divergence"]
    failed = report["exit_code"] not in (0, report["recorded_exit_code"])
    if failed and not report["matched"] and (first is None or first["kind"] in ("end", "output")):
        return "cannot tell", f"the agent ended with {_ending(report['exit_code'])} before it asked for anything"
    if first is None:
        count = len(report["unused"])
        return "differs", f"{count} recorded call{'s' if count != 1 else ''} never asked for"
    where = f"step {first['step']}" if first["step"] else "the end"
    what = f"{first['kind']} {first['operation']}".strip()
    return "differs", f"first difference at {where}: {what}" + (f", {first['path']}" if first["path"] else "")


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def home(recorded_root: str, code: Sequence[str], here: str) -> str:
    """The repository of the agent's code: around one of its programs, else the recorded workspace's, else the one around ``here``. Raises
    ``UsageError``."""
    for place in [*(os.path.dirname(path) for path in code), recorded_root, here]:
        found = commits.top(place) if os.path.isdir(place) else None
        if found is not None:
            return found
    raise UsageError("no git repository around the agent's code; name it with --repo")
