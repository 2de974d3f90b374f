"""What command lines say by themselves: how they are typed, whether they check work, what they tell git to do."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .shapes import Mark, Run, Step, Story
from .values import textual

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Commands that check work: their exit code is what the agent knew about its own change.
_CHECKS = re.compile(
    r"\b(pytest|unittest|tox|nox|(npm|yarn|pnpm|bun)( run)? test|go (test|vet)|cargo (test|check|clippy)|make (test|check|lint)"
    r"|mvn (test|verify)|gradle\w* (test|check)|ctest|rspec|jest|vitest|phpunit|ruff|mypy|pyright|eslint|tsc)\b"
)
_WORD = r"(?:'[^']*'|\"[^\"]*\"|\S+)"
#: git's verbs that make, move or publish commits; options before the verb may take a value (git(1)).
_GIT = re.compile(
    rf"(?:^|[\s/;&|(])git(?:\s+-[cC]\s+{_WORD}|\s+--(?:git-dir|work-tree|namespace)\s+{_WORD}|\s+-{_WORD})*"
    r"\s+(commit|push|merge|rebase|cherry-pick|revert|reset|tag|am)\b"
)
_COMMITTED = re.compile(r"^\[\S+(?: \(root-commit\))? ([0-9a-f]{7,40})\]", re.MULTILINE)
_SHA = re.compile(r"\A[0-9a-f]{40,64}\Z")
_PLAIN = re.compile(r"[A-Za-z0-9@%+=:,./_-]+\Z")


@dataclass(frozen=True, kw_only=True)
class GitAction:
    """Something done to the repository: told by an event of its own, or by a command that was run. ``sha`` where one is named."""

    verb: str
    words: str
    sha: str | None
    ok: bool
    seq: int


def command_line(request: Any) -> str | None:
    """The command of a process's request (``argv`` or ``shell``), as it would be typed."""
    if not isinstance(request, dict):
        return None
    shell = request.get("shell")
    if isinstance(shell, str):
        return shell
    argv = request.get("argv")
    if isinstance(argv, list) and argv:
        return " ".join(_typed(textual(word)) for word in argv)
    return argv if isinstance(argv, str) else None


def _typed(word: str) -> str:
    """The word as a shell takes it; in double quotes where that spares a reader the quoting of quotes."""
    if _PLAIN.match(word):
        return word
    if "'" in word and not re.search(r"[\"$`\\!]", word):
        return f'"{word}"'
    return shlex.quote(word)


def is_check(run: Run) -> bool:
    """Whether a command or tool call checks work: tests, lint, types."""
    return _CHECKS.search(run.title) is not None


def git_actions(story: Story) -> list[GitAction]:
    """What was done to the repository, in order. A command whose step also has an event for it is told by the event alone."""
    marks = [(step, mark) for step, mark in story.marks("git") if mark.detail.get("action")]
    told = {(step.number, _verb(mark)) for step, mark in marks if step is not None}
    found = [_by_event(mark) for _, mark in marks]
    for step, run in story.runs():
        verb = _GIT.search(run.title) if run.kind == "process" else None
        if verb is not None and (step is None or (step.number, verb.group(1)) not in told):
            found.append(_by_command(step, run, verb.group(1)))
    return sorted(found, key=lambda action: action.seq)


def _verb(mark: Mark) -> str:
    """``commit`` of git's ``commit (initial)`` and ``commit (amend)``."""
    return str(mark.detail["action"]).partition(" (")[0]


def _by_event(mark: Mark) -> GitAction:
    sha = mark.detail.get("sha")
    return GitAction(verb=_verb(mark), words=mark.title, sha=str(sha) if sha else None, ok=True, seq=mark.seq)


def _by_command(step: Step | None, run: Run, verb: str) -> GitAction:
    ok = not run.bad and run.outcome == "ok"
    sha = _committed(step, run) if ok and verb == "commit" else None
    words = f"git {verb}" + (f" {sha[:12]}" if sha else "") + ("" if ok else " (failed)")
    return GitAction(verb=verb, words=words, sha=sha, ok=ok, seq=run.seq)


def _committed(step: Step | None, run: Run) -> str | None:
    """The commit that a command made: as git printed it, else as the next ``git rev-parse HEAD`` of the same step said."""
    printed = _COMMITTED.search(run.output.text())
    if printed is not None:
        return printed.group(1)
    for later in _runs_of(step) if step is not None else ():
        if later.seq > run.seq and later.title.endswith("git rev-parse HEAD"):
            sha = later.output.text().strip()
            return sha if _SHA.match(sha) else None
    return None


def _runs_of(step: Step) -> Iterator[Run]:
    waiting = [item for item in step.items if isinstance(item, Run)]
    while waiting:
        run = waiting.pop(0)
        yield run
        waiting[:0] = [child for child in run.children if isinstance(child, Run)]
