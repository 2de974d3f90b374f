"""Git hooks that name the recorded sessions in commits: put in, chained before what is there, and taken out again.

Each is a small shell script, since it runs at every commit of everybody: it starts Python only where there is something to say, and ends
with 0 whatever happens, except where the hook that was there before says no.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from dataclasses import dataclass, field

from tachograph.core.errors import StoreError, UsageError

MARK = "# tachograph: names the recorded sessions in the commits that they make; tacho install-hooks --remove takes this out"
BEFORE = ".before-tachograph"
NOTES = "refs/notes/tachograph"
_STAGES = ("prepare-commit-msg", "commit-msg", "post-commit")

_SCRIPT = r"""#!/bin/sh
{mark}
stage={stage}
before="${{0%/*}}/$stage{before}"
if [ -x "$before" ]; then
    "$before" "$@" || exit $?
fi
[ -x {python} ] && [ -f {root}/tachograph/links/commit_hook.py ] || exit 0
{dirs}
something() {{
    {test}
}}
something && {python} -I -S -c {start} {root} "$stage" "$dir" "$common" {options} "$@" >/dev/null 2>&1 </dev/null
exit 0
"""

#: By import, so that it is compiled once. Our folder comes last: nothing in it may stand for a module of Python's.
_START = "import sys; sys.path.append(sys.argv.pop(1)); from tachograph.links import commit_hook; sys.exit(commit_hook.run(sys.argv[1:]))"
#: The message lies in the git directory, which says itself where the common one is: no git is started for that.
_DIRS_BY_MESSAGE = r"""dir=${1%/*}
[ -f "$dir/HEAD" ] || dir=$(git rev-parse --git-dir 2>/dev/null) || exit 0
common=$dir
if [ -f "$dir/commondir" ]; then
    read -r common < "$dir/commondir"
    case $common in /*) ;; *) common=$dir/$common ;; esac
fi"""
_DIRS_BY_GIT = r"""dirs=$(git rev-parse --git-common-dir --git-dir 2>/dev/null) || exit 0
common=${dirs%%
*}
dir=${dirs##*
}"""
#: Sessions that are recorded here, a recorded process that commits, a squash or a rebase, an amended commit.
_COMMIT_TEST = r"""[ -n "$TACHO_RECORDING" ] && return 0
    [ -f "$dir/SQUASH_MSG" ] && return 0
    [ -d "$dir/rebase-merge" ] && return 0
    for each in "$common"/tachograph/recording/ses_*; do
        [ -e "$each" ] && return 0
    done
    [ -r "/proc/$PPID/cmdline" ] && grep -q -e --amend "/proc/$PPID/cmdline" && return 0
    return 1"""
_TESTS = {
    "prepare-commit-msg": _COMMIT_TEST,
    "commit-msg": r"""[ -e "$common/tachograph/noting/$PPID.wait" ]""",
    "post-commit": r"""[ -e "$common/tachograph/noting/$PPID" ]""",
}


@dataclass
class Installed:
    """What was done, in lines for people. ``notes``: what somebody should look at."""

    done: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def install(folder: str, *, notes: bool = False, trailers: bool = True) -> Installed:
    """Put the hooks of the repository around ``folder`` in; once more: the same again. Raises ``UsageError`` outside of a repository."""
    place = _Place(folder)
    out = Installed()
    options = ",".join([*(["notes"] if notes else []), *([] if trailers else ["no-trailers"])]) or "-"
    for name in ("recording", "noting"):
        os.makedirs(os.path.join(place.common, "tachograph", name), mode=0o700, exist_ok=True)
    for stage in _STAGES:
        if stage == "post-commit" and not notes:
            _take_out(place, stage)
            continue
        if _put_in(place, stage, options):
            out.done.append(f"{stage} runs what was there before first ({stage}{BEFORE})")
    out.done.insert(0, f"hooks are in {place.hooks}: commits that a recorded session makes are going to name it")
    if notes:
        _configure(place, "notes.rewriteRef", NOTES)
        _configure(place, "notes.displayRef", NOTES)
        remote = place.git("config", "--get", "remote.origin.url")
        if remote:
            _configure(place, "remote.origin.fetch", f"+{NOTES}:{NOTES}")
        out.done.append(f"notes are kept at {NOTES}, and follow amend and rebase; publish them with git push origin {NOTES}")
    top = place.git("rev-parse", "--show-toplevel")
    if top and place.hooks.startswith(top + os.sep) and not place.hooks.startswith(place.common + os.sep):
        out.notes.append(
            f"core.hooksPath leads into the working tree, {place.hooks}; do not commit these files: they name this machine's Python"
        )
    return out


def remove(folder: str) -> Installed:
    """Take the hooks out again, and put back what was there before. Notes and their configuration stay."""
    place = _Place(folder)
    gone = [stage for stage in _STAGES if _take_out(place, stage)]
    for name in ("recording", "noting"):
        where = os.path.join(place.common, "tachograph", name)
        for left in os.listdir(where) if os.path.isdir(where) else ():
            os.unlink(os.path.join(where, left))
        if os.path.isdir(where):
            os.rmdir(where)
    if os.path.isdir(os.path.join(place.common, "tachograph")):
        os.rmdir(os.path.join(place.common, "tachograph"))
    return Installed([f"{', '.join(gone)} taken out of {place.hooks}" if gone else f"no hook of tachograph was in {place.hooks}"])


class _Place:
    """A repository: its common directory, and where its hooks are (``core.hooksPath``)."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        common, hooks = self.git("rev-parse", "--git-common-dir"), self.git("rev-parse", "--git-path", "hooks")
        if common is None or hooks is None:
            raise UsageError(f"no git repository here, {folder}; run this in the repository whose commits are to name their sessions")
        self.common = os.path.realpath(os.path.join(folder, common))
        self.hooks = os.path.realpath(os.path.join(folder, os.path.expanduser(hooks)))

    def git(self, *arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None


def script(stage: str, options: str) -> str:
    """A hook's text."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return _SCRIPT.format(
        mark=MARK, stage=stage, before=BEFORE, python=shlex.quote(sys.executable), root=shlex.quote(root), start=shlex.quote(_START),
        test=_TESTS[stage], dirs=_DIRS_BY_GIT if stage == "post-commit" else _DIRS_BY_MESSAGE, options=shlex.quote(options),
    )  # fmt: skip


def _put_in(place: _Place, stage: str, options: str) -> bool:
    """Whether something was there before."""
    path = os.path.join(place.hooks, stage)
    try:
        os.makedirs(place.hooks, exist_ok=True)
        if os.path.lexists(path) and not _ours(path):
            if os.path.lexists(path + BEFORE):
                raise UsageError(f"{path} is not ours and {path}{BEFORE} is there already; join the two, then install again")
            os.rename(path, path + BEFORE)
        beside = path + ".new"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(script(stage, options))
        os.chmod(beside, 0o755)  # noqa: S103 - others who commit here run it, too
        os.replace(beside, path)
    except OSError as error:
        raise StoreError(f"cannot write the hook {path}, {error.strerror}; check the folder's owner and mode") from None
    return os.path.lexists(path + BEFORE) and bool(os.stat(path + BEFORE).st_mode & stat.S_IXUSR)


def _take_out(place: _Place, stage: str) -> bool:
    path = os.path.join(place.hooks, stage)
    if not os.path.lexists(path) or not _ours(path):
        return False
    try:
        if os.path.lexists(path + BEFORE):
            os.replace(path + BEFORE, path)
        else:
            os.unlink(path)
    except OSError as error:
        raise StoreError(f"cannot take out the hook {path}, {error.strerror}; check the folder's owner and mode") from None
    return True


def _ours(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return MARK in file.read(4096)
    except OSError:
        return False


def _configure(place: _Place, name: str, value: str) -> None:
    there = (place.git("config", "--get-all", name) or "").split("\n")
    if value not in there:
        place.git("config", "--add", name, value)
