"""The agent's code and what it runs on, where they are not those of the last good session. See ``changes_found.py``.

Between any two runs there are differences of this kind that mean nothing: a folder, a port, the task on the command line. They are left out, and
what is left weighs little: a change of code explains what the agent's code did itself, or another request to the model, and no answer to the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.bundle import relevant
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.instructions import stems
from tachograph.postmortem.meaning.outcomes import given
from tachograph.postmortem.values import read

from .changes_found import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case

_PORT = re.compile(r"(?<=127\.0\.0\.1):\d{1,5}|(?<=localhost):\d{1,5}")
_PLACES = re.compile(r"(?:/[\w.@+-]+)+/")
#: Variables of the run, of the shell and of the recorder.
_NO_ENVIRONMENT = re.compile(
    r"\A(?:PWD|OLDPWD|_|SHLVL|HOME|USER|LOGNAME|SHELL|TERM|TMP|TEMP|TMPDIR|PATH|HOSTNAME|LANG|COLUMNS|LINES|DISPLAY|EDITOR|PAGER|MAIL|PS1|LS_COLORS|VIRTUAL_ENV|INVOCATION_ID|JOURNAL_STREAM"
    r"|(?:TACHO|LC|XDG|SSH|DBUS|PYTEST|COVERAGE|GIT|CI|GITHUB|RUNNER|VSCODE|CONDA|NVM|PYTHON|PIP|UV|OTEL_SPAN|TRACEPARENT|OPENBLAS|OMP|MKL)\w*|\w*(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_PID|_SOCK|_PORT|_ID))\Z"
)


def code(good: Case, case: Case) -> Iterator[Found]:
    """The repository's commit, the program and its options, packages, the interpreter, environment variables."""
    start, seq = case.story.start, case.story.start_seq
    if start is None or seq is None:
        return
    old, new = good.bundle, case.bundle

    def found(what: str, weight: float, about: frozenset[str] = frozenset(), *, container: bool = False) -> Found:
        return Found(cause="harness", what=what, event_id=start.id, seq=seq, evidence=(), weight=weight, about=about, container=container)

    before, after = old.repository.get("sha"), new.repository.get("sha")
    if before and after and before != after:
        length = next(one for one in (12, 40, None) if str(after)[:one] != str(before)[:one])
        yield found(
            f"the agent's repository is at {said(str(after)[:length])}, it was at {said(str(before)[:length])}", 0.55, container=True
        )
    elif before and before == after and new.repository.get("dirty") and not old.repository.get("dirty"):
        yield found("the agent's repository has uncommitted changes, it had none", 0.4, container=True)
    options = _options(good, case)
    if options is not None:
        yield found(f"the agent runs as {said(options[1])}, it ran as {said(options[0])}", 0.45, stems(" ".join(options)))
    packages = [name for name in {**old.packages, **new.packages} if old.packages.get(name) != new.packages.get(name)]
    if old.packages and new.packages and packages:
        name = min(packages, key=lambda one: (not relevant(one), one))
        more = f" and {len(packages) - 1} more" if len(packages) > 1 else ""
        versions = [one.packages.get(name) or "not installed" for one in (new, old)]
        yield found(f"the package {said(name)} is {said(versions[0])}, it was {said(versions[1])}{more}", 0.45 if relevant(name) else 0.3)
    if old.python and new.python and old.python != new.python:
        yield found(f"it runs on {said(new.python)}, it ran on {said(old.python)}", 0.3)
    first, second = _variables(good), _variables(case)
    for name in sorted({*first, *second}) if first and second else ():
        one, other = first.get(name), second.get(name)
        if not _NO_ENVIRONMENT.match(name) and one != other:
            now = f"is {said(other)}" if other is not None else "is not set"
            was = f"it was {said(one)}" if one is not None else "it was not set"
            yield found(f"the environment variable {said(name)} {now}, {was}", 0.4, stems(f"{one or ''} {other or ''}"))


def _options(good: Case, case: Case) -> tuple[str, str] | None:
    """The two command lines without what the user said, where they differ."""
    lines = []
    for one in (good, case):
        texts = " ".join(given(one))
        words = [_PLACES.sub("", word) for word in _argv(one) if " ".join(word.lower().split()) not in texts]
        lines.append(" ".join(words))
    return (lines[0], lines[1]) if all(lines) and lines[0] != lines[1] else None


def _argv(case: Case) -> list[str]:
    found = _facts(case).get("argv")
    return [str(word) for word in found] if isinstance(found, list) else []


def _variables(case: Case) -> dict[str, str]:
    found = _facts(case).get("env")
    return {str(name): _PORT.sub("", str(value)) for name, value in found.items()} if isinstance(found, dict) else {}


def _facts(case: Case) -> dict[str, Any]:
    start = case.story.start
    value = read(case.recording, start.facts_uri if start is not None else None).value
    return value if isinstance(value, dict) else {}
