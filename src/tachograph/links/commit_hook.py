"""What the hooks of ``tacho install-hooks`` run: name the recorded sessions in the commit that is about to be made.

Started by a shell script that has found something to say, for every commit of everybody: so it is standard library alone, runs on any Python
from 3.9 on, is ended after a few seconds, and whatever goes wrong, the commit is made without it.

Whose trailer it is:

1. A process of a recorded session commits: that session's (its environment says so, else the processes above this one do).
2. Anybody else commits while sessions are recorded here, or somebody rewrites commits (rebase, cherry-pick): the sessions that wrote lines of
   what is committed. What a model said is its session's; what appeared in a file during a call counts where one session alone claims it.
3. What is squashed, fixed up or amended keeps the trailers that it had.
"""

from __future__ import annotations

# Where there is a module in C below one of Python's it is taken: what is imported here is most of what a commit pays.
import _socket
import json
import os
import signal
import struct

from tachograph.core import authored, trailers

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

#: Seconds: of all, and of one answer.
DEADLINE = 5
PATIENCE = 1.0
#: Bytes of a patch that are looked at, and lines of it that a recorder is asked about.
MOST_PATCH = 8 << 20
MOST_LINES = 20_000
#: A person's commit is a session's, too, with so many lines of it, or so large a part of the lines that say something.
ENOUGH = 2
SHARE = 0.5


class Mark:
    """A session that is recorded here (``host/marking.py``), or of which this process is a part."""

    def __init__(self, session: str, where: str, token: str, pid: int = 0) -> None:
        self.session = session
        self.where = where
        self.token = token
        self.pid = pid


def main(arguments: List[str]) -> int:
    """``STAGE GIT_DIR COMMON_DIR OPTIONS MESSAGE_FILE [SOURCE [OBJECT]]``."""
    signal.alarm(DEADLINE)
    stage, git_dir, common, options = arguments[:4]
    folder = os.path.join(common, "tachograph")
    if stage == "post-commit":
        _note(folder)
        return 0
    path = arguments[4]
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        message = file.read()
    waits = os.path.join(folder, "noting", "%d.wait" % _git_above())
    if stage == "commit-msg":
        os.unlink(waits)
        if not _said(message):
            return 0
    elif arguments[5:6] == ["template"] or not _said(message):
        # After the editor: a message that holds nothing but trailers would no longer be an empty one, which ends the commit.
        with open(waits, "w", encoding="ascii"):
            return 0
    found = {one.session_id: one for one in carried(git_dir, message)}
    found.update((one.session_id, one) for one in named(folder, git_dir))
    if not found:
        return 0
    if "notes" in options:
        _to_note(folder, found.values())
    if "no-trailers" not in options:
        _write(
            path, message, sorted(found.values(), key=lambda one: one.session_id)
        )  # ids sort by time, and a squash lists the newest first
    return 0


# -- who ----------------------------------------------------------------------------------------------------------------------


def named(folder: str, git_dir: str) -> List[trailers.Named]:
    """The sessions that make this commit, with their seals."""
    marks = recording(folder)
    maker = _maker(marks)
    if maker is not None and not _rewriting(git_dir):
        answer = ask(maker, maker=True)
        return [_named(maker.session, answer)]
    everybody = {mark.session: mark for mark in ([maker] if maker is not None else []) + marks}
    if not everybody:
        return []
    lines = staged()
    if not lines:
        return []
    answers = {session: ask(mark, lines=lines, maker=mark is maker) for session, mark in everybody.items()}
    return [_named(session, answers[session]) for session in owners(lines, {s: (a or {}).get("claims", {}) for s, a in answers.items()})]


def owners(lines: Iterable[str], claims: Dict[str, Dict[str, List[str]]]) -> List[str]:
    """Which sessions wrote enough of these lines, by what each claims (``host/authorship.py``)."""
    lines = set(lines)
    said = {session: lines & set(claim.get("said", ())) for session, claim in claims.items()}
    anybody = set().union(*said.values()) if said else set()
    call = {session: (lines & set(claim.get("call", ()))) - anybody for session, claim in claims.items()}
    found = []
    for session in claims:
        others: "Set[str]" = set().union(*(theirs for other, theirs in call.items() if other != session))
        mine = said[session] | (call[session] - others)
        if len(mine) >= ENOUGH or (mine and len(mine) >= SHARE * len(lines)):
            found.append(session)
    return found


def recording(folder: str) -> List[Mark]:
    """The sessions that are recorded in this repository. Files that dead launchers have left are removed."""
    found = []
    where = os.path.join(folder, "recording")
    try:
        names = sorted(os.listdir(where))
    except OSError:
        return []
    for name in names:
        path = os.path.join(where, name)
        try:
            with open(path, encoding="utf-8") as file:
                said = json.load(file)
            mark = Mark(str(said["session"]), str(said["socket"]), str(said["token"]), int(said["pid"]))
            if alive(mark.pid, said.get("started")):
                found.append(mark)
            else:
                os.unlink(path)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # being written, or another user's
    return found


def alive(pid: int, started: Optional[str]) -> bool:
    """Whether this process runs, and is the one that was started then."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    now = _stat(pid)
    return now is None or started is None or now[1] == started


def _maker(marks: List[Mark]) -> Optional[Mark]:
    session, _, where = os.environ.get("TACHO_RECORDING", "").partition(" ")
    token = os.environ.get("TACHO_TOKEN", "")
    if session and where and token and os.environ.get("TACHO_MODE") == "record":
        return Mark(session, where, token)
    by_pid = {mark.pid: mark for mark in marks}
    pid = os.getppid()
    for _ in range(200):
        if pid in by_pid:
            return by_pid[pid]
        found = _stat(pid) if pid > 1 else None
        if found is None:
            return None
        pid = found[0]
    return None


def _stat(pid: int) -> Optional[Tuple[int, str]]:
    """(parent, start time) of a process, where the system tells."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[1]), fields[19]
    except (OSError, ValueError, IndexError):
        pass
    if os.path.isdir("/proc/self"):
        return None
    try:
        return int(_run("ps", "-o", "ppid=", "-p", str(pid)) or ""), ""
    except ValueError:
        return None


def _rewriting(git_dir: str) -> bool:
    """Whether commits of the past are being made anew: their lines are whose they were."""
    return any(os.path.exists(os.path.join(git_dir, name)) for name in ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD"))


def ask(mark: Mark, *, lines: Optional[Iterable[str]] = None, maker: bool = False) -> Optional[Dict[str, Any]]:
    """What the session's recorder answers; None where it does not in time."""
    head = json.dumps({"m": "visit", "token": mark.token, "maker": maker, "lines": sorted(lines) if lines is not None else None}).encode(
        "ascii"
    )
    try:
        end = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            end.settimeout(PATIENCE)
            end.connect(mark.where)
            end.sendall(struct.pack(">II", len(head), 0) + head)
            data = b""
            while len(data) < 8 or len(data) < 8 + struct.unpack(">I", data[:4])[0]:
                piece = end.recv(1 << 16)
                if not piece:
                    return None
                data += piece
        finally:
            end.close()
        found = json.loads(data[8 : 8 + struct.unpack(">I", data[:4])[0]])
        return found if isinstance(found, dict) and found.get("session") == mark.session else None
    except (OSError, ValueError):
        return None


def _named(session: str, answer: Optional[Dict[str, Any]]) -> trailers.Named:
    size, root = (answer or {}).get("size"), (answer or {}).get("root")
    return trailers.Named(session, size, root) if isinstance(size, int) and isinstance(root, str) else trailers.Named(session)


# -- what ---------------------------------------------------------------------------------------------------------------------


def staged() -> Set[str]:
    """The names of the lines that this commit adds, of those that say something."""
    out = _git("diff", "--cached", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=AMT") or ""
    found: "Set[str]" = set()
    for line in out[:MOST_PATCH].split("\n"):
        if line.startswith("+") and not line.startswith("+++ "):
            text = authored.normal(line[1:])
            if authored.telling(text):
                found.add(authored.key(text))
                if len(found) >= MOST_LINES:
                    break
    return found


def carried(git_dir: str, message: str) -> List[trailers.Named]:
    """The sessions that what is squashed, fixed up or amended here had named."""
    texts = [_read(os.path.join(git_dir, "SQUASH_MSG"))]
    rebasing = os.path.isdir(os.path.join(git_dir, "rebase-merge"))
    if rebasing:
        for line in _read(os.path.join(git_dir, "rebase-merge", "current-fixups")).split("\n"):
            words = line.split()
            if len(words) == 2:
                texts.append(_git("log", "-1", "--format=%B", words[1], "--") or "")
        if len(texts) > 1:
            texts.append(_git("log", "-1", "--format=%B", "HEAD", "--") or "")
    if _amends():
        texts.append(_git("log", "-1", "--format=%B", "HEAD", "--") or "")
    there = {one.session_id for one in trailers.find(message)}
    # Somewhere within the message git would not see them.
    inline = trailers.find(message) if rebasing or any(texts) else []
    found = [one for text in texts for one in trailers.find(text) if one.session_id not in there]
    return inline + found


def _amends() -> bool:
    try:
        with open("/proc/%d/cmdline" % _git_above(), "rb") as file:
            return b"--amend" in file.read().split(b"\0")
    except OSError:
        return False


def _git_above() -> int:
    """The process of git that runs the hook: the parent of the shell that runs us."""
    found = _stat(os.getppid())
    return found[0] if found is not None else 0


def _said(message: str) -> bool:
    """Whether a message says anything but comments and trailers of signers."""
    mark = _git("config", "core.commentChar") or "#"
    for line in message.split("\n"):
        if ">8" in line and line.startswith(mark.strip()):
            return False
        if line.strip() and not line.startswith(mark.strip()) and not line.startswith("Signed-off-by: "):
            return True
    return False


def _git(*arguments: str) -> Optional[str]:
    return _run("git", *arguments)


def _run(*command: str) -> Optional[str]:
    """What a command prints; None where it fails. Not by ``subprocess``, which takes a tenth of our time to import; whoever takes too long ends
    with us, by the alarm."""
    ours, theirs = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, theirs, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]  # fmt: skip
    try:
        pid = os.posix_spawnp(command[0], command, dict(os.environ, GIT_OPTIONAL_LOCKS="0"), file_actions=actions)
    except OSError:
        os.close(ours)
        return None
    finally:
        os.close(theirs)
    with open(ours, "rb") as file:
        out = file.read()
    return out.decode("utf-8", "surrogateescape") if os.waitpid(pid, 0)[1] == 0 else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return ""


# -- where --------------------------------------------------------------------------------------------------------------------


def _write(path: str, message: str, found: List[trailers.Named]) -> None:
    """Put the trailers where git wants them. Beside the file first: a message that is half written would be committed."""
    text = trailers.without(message, {one.session_id for one in found})
    beside = path + ".tachograph"
    arguments = ["interpret-trailers", "--no-divider", "--if-exists", "addIfDifferent", "--if-missing", "add"]
    for one in found:
        for line in one.lines:
            arguments += ["--trailer", line]
    try:
        with open(beside, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        out = _git(*arguments, beside)
        if out is not None and len(out) > len(text):
            with open(beside, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(out)
            os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def _to_note(folder: str, found: Iterable[trailers.Named]) -> None:
    """For the hook that runs when there is a commit: of the same git process."""
    noting = os.path.join(folder, "noting")
    os.makedirs(noting, exist_ok=True)
    with open(os.path.join(noting, str(_git_above())), "w", encoding="ascii") as file:
        file.write("".join(line + "\n" for one in found for line in one.lines))


def _note(folder: str) -> None:
    path = os.path.join(folder, "noting", str(_git_above()))
    text = _read(path)
    if text:
        os.unlink(path)
        _git("notes", "--ref", "refs/notes/tachograph", "add", "-f", "-m", text, "HEAD")


def run(arguments: List[str]) -> int:
    """``main``, which may fail: a commit must not, because of us."""
    try:
        return main(arguments)
    except Exception:
        return 0
