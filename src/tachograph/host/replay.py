"""``tacho replay``: the launcher's and the host's side of running a session again from its tape, under the guard."""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tachograph.client import workspace as client_workspace
from tachograph.core.errors import ReplayError, UsageError
from tachograph.log.reader import Recording
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy
from tachograph.replay import guard, report, tape, unify
from tachograph.replay.divergence import Divergence
from tachograph.replay.tape import Tape

from . import facts as host_facts
from . import launch, outside, patterns, scratch, temporary, versions
from .byplace import KnownByPlace, PlaceRedactor
from .editing import EditedPlayer
from .elsewhere import Elsewhere, Here, command_here, environment_here
from .known import Known
from .player import Player, as_recorded, printed
from .policy import recorded
from .recorder import output_hash
from .secrets import Given
from .server import Server
from .versions import Version

#: An SDK that finds no credentials fails before it sends anything. These are no credentials.
DUMMIES = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "PYTHONDONTWRITEBYTECODE": "1",
}
DUMMY_AWS = {"AWS_ACCESS_KEY_ID": "REPLAY", "AWS_SECRET_ACCESS_KEY": "REPLAY"}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One replay to be. ``command``: empty for the recorded one. ``quiet``: the agent's standard output goes to standard error. ``silent``: what it
    prints goes nowhere. ``version``: of its code, where it is not to be as it is now. ``live``: kinds of ambient reads that are not answered from the tape.
    ``elsewhere``: where it runs, and how to do without the store's keys, where it is not the recorded place."""

    recording: Recording
    verified: bool
    command: Sequence[str] = ()
    quiet: bool = False
    given: Given = field(default_factory=Given)
    silent: bool = False
    version: Version | None = None
    lenient: bool = False
    live: Sequence[str] = ()
    elsewhere: Elsewhere | None = None


def replay(plan: Plan) -> dict[str, Any]:
    """Run the agent from the tape. Returns the report. Raises ``ReplayError`` where there is nothing to replay, and ``KeyboardInterrupt`` where
    somebody has interrupted it: what the agent made of that is no verdict."""
    with staged(plan) as stage:
        ended = stage.run(stage.player(EditedPlayer if stage.read.edits else Player))
    if ended.interrupted is not None:
        raise KeyboardInterrupt
    return _report(plan, stage.read, ended, stage.restore, stage.notes, stage.outside)


class Beside(Protocol):
    """What the host does besides answering (``host/forking.py`` writes a record)."""

    def begin(self, server: Server) -> None:
        """In the host's process, before the agent's first word is heard."""
        ...

    def let_go(self) -> None:
        """In the process that has forked the host."""
        ...

    def end(self, ended: Mapping[str, Any]) -> dict[str, Any]:
        """The agent has ended so (as of ``launch.Control.tell_exit``): what is to be added to the host's last word."""
        ...


P = TypeVar("P", bound=Player)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """An agent that is ready to be run from its record, under the guard. ``root``: where it worked; ``guarded`` says where it works now."""

    plan: Plan
    read: Tape
    command: list[str]
    environment: dict[str, str]
    redactor: Redactor
    known: Known
    root: str
    restore: scratch.Restore
    guarded: guard.GuardPlan
    meeting: launch.Meeting
    notes: list[str]
    aliases: tuple[versions.Moved, ...] = ()
    outside: outside.Shown = field(default_factory=outside.Shown)

    def player(self, kind: Callable[..., P], read: Tape | None = None, **more: Any) -> P:
        """The driver that answers. ``read``: another tape than the whole one; ``more``: what this kind takes besides."""
        tree, on_tape = str(self.guarded.tree), self.read if read is None else read
        if self.plan.lenient:
            more.setdefault("matcher", unify.Lenient(on_tape))
        if self.plan.live:
            more.setdefault("live", self.plan.live)
        return kind(
            on_tape, self.redactor, session_id=self.plan.recording.session_id,
            writable=[str(path) for path in self.guarded.writable], alias=self._alias(tree), known=self.known, tree=tree, **more,
        )  # fmt: skip

    def _alias(self, tree: str) -> Callable[[Any], Any]:
        """Paths of here as they were recorded."""
        places = [
            _alias(tree, self.root),
            *(_alias(one.here, one.there) for one in self.aliases),
            _alias(str(self.guarded.tmp), temporary.recorded(self.read.facts)) if self.guarded.tmp_at is None else lambda value: value,
        ]
        return lambda value: functools.reduce(lambda told, place: place(told), places, value)

    def run(self, player: Player, beside: Beside | None = None) -> launch.Ended:
        """The agent, to its end. Its host is a process that is forked here."""
        server = Server(self.meeting.socket, self.meeting.token, player)
        ours, theirs = socket.socketpair()
        digest = self.plan.recording.opened.digest()
        control = launch.fork_host(lambda end: _serve(server, player, self.redactor, end, ours, self.guarded, digest, beside))
        server.close()
        ours.close()
        if beside is not None:
            beside.let_go()
        return launch.run(
            self.command, self.meeting.environment(self.environment, mode="replay", on_loss="stop"), control, on_loss="stop",
            before_exec=_before_exec(
                self.guarded, self.restore, self.root, str(self.read.facts.get("cwd") or self.root), theirs, silent=self.plan.silent
            ),
            stdout=_stdout(self.plan.quiet),
        )  # fmt: skip


@contextlib.contextmanager
def staged(plan: Plan) -> Iterator[Stage]:
    """What it takes to run the agent again, for as long as it takes. Raises ``ReplayError`` where there is nothing to replay."""
    read = tape.load(plan.recording)
    facts = read.facts
    command = list(plan.command) or [str(part) for part in facts.get("argv", [])]
    if not command:
        raise ReplayError("the recording names no command; give one after --, as in tacho replay SES -- python agent.py")
    policy, notes = recorded_policy(read)
    key = plan.recording.opened.fingerprint_key
    redactor = PlaceRedactor(policy, key=key, learns=True) if plan.elsewhere is not None else Redactor(policy, key=key, learns=True)
    patterns.load(redactor.index, patterns.folder(os.environ), key)
    plan.given.teach(redactor)
    base = read.workspace
    root = str(base["root"]) if base else str(facts.get("cwd") or os.getcwd())
    here = plan.elsewhere.here(base) if plan.elsewhere is not None else Here(root=root, moved=(), base=base)
    if plan.elsewhere is None and base and base.get("sha") and not os.path.isdir(root):
        raise ReplayError(
            f"the repository {root} is gone, and its committed files are git's to keep, not the record's; clone it there again"
        )
    restore = _restore(plan, here, root, command, read, redactor)
    shown_at = _shown_at(plan, read, command, root)
    place = _outside(here.root or root, shown_at)
    folder = tempfile.mkdtemp(prefix="tacho-replay-", dir=place)
    meeting = launch.Meeting(place)
    try:
        guarded = _guard_plan(here.root or os.path.join(folder, "nowhere"), Path(folder), Path(meeting.socket))
        if (
            shown_at is not None
            and guarded.mount != "none"
            and not any(temporary.below(ours, shown_at) for ours in (folder, meeting.folder))
        ):
            guarded = replace(guarded, tmp_at=Path(shown_at))
        environment = _environment(facts, read, guarded)
        aliases = tuple(one for one in here.moved if one.there != root)
        if plan.elsewhere is not None:
            command, environment = command_here(command, here), environment_here(environment, here)
        if plan.version is not None and versions.place(plan.version, root) is None:
            moved = versions.lay_out(plan.version, str(Path(folder) / "code"))
            command = [moved.text(part) for part in command]
            path = environment.get("PYTHONPATH", "")
            environment["PYTHONPATH"] = os.pathsep.join([*versions.import_roots(moved), *([moved.text(path)] if path else [])])
            aliases = (moved,)
        launch.executable(command, environment)
        known = (
            KnownByPlace(redactor)
            if isinstance(redactor, PlaceRedactor)
            else Known(redactor, key, recorded=read.said(), given=facts.get("given") or ())
        )
        shown = _shown(plan, read, redactor, known, guarded, command, root)
        guarded = replace(guarded, files=tuple(shown.files), folders=tuple(shown.folders))
        yield Stage(
            plan=plan, read=read, command=command, environment=environment, redactor=redactor, known=known, root=root, restore=restore,
            guarded=guarded, meeting=meeting, notes=notes, aliases=aliases, outside=shown,
        )  # fmt: skip
    finally:
        meeting.remove()
        guard.discard(Path(folder))
        shutil.rmtree(folder, ignore_errors=True)


def _shown(
    plan: Plan, read: Tape, redactor: Redactor, known: Known, guarded: guard.GuardPlan, command: Sequence[str], root: str
) -> outside.Shown:  # fmt: skip
    """The files outside of the workspace that are to be shown as they were."""
    program = shutil.which(command[0]) or command[0]
    keep = outside.must_stay(root, str(guarded.tree), str(guarded.scratch), *(str(path) for path in guarded.sockets or ()), program)
    return outside.plan(
        read.files, guarded.scratch, redactor=redactor, known=known, mount=guarded.mount, keep=keep, temporary=temporary.recorded(read.facts),
        tmp=guarded.tmp if guarded.tmp_at is not None else None,
        digest=plan.recording.opened.digest() if plan.elsewhere is None else None, live="files" in plan.live,
    )  # fmt: skip


def _restore(plan: Plan, here: Here, root: str, command: list[str], read: Tape, redactor: Redactor) -> scratch.Restore:
    if not here.base:
        return scratch.Restore(root)
    code = code_of(command, read)
    if plan.elsewhere is not None:
        return scratch.plan({**here.base, "root": here.root or os.devnull}, here.code(code, root), redactor)
    if plan.version is None:
        return scratch.plan(here.base, code, redactor)
    return versions.restore(plan.version, here.base, code, read.touched(), redactor)


def recorded_policy(read: Tape) -> tuple[Policy, list[str]]:
    """The policy of the recording, and what is to be said about it. Which secrets were known then is found out as they are met
    (``Known``)."""
    try:
        made = recorded(read.facts)
    except UsageError as error:
        return Policy.default(), [f"{error}; the built-in policy is used, and what it masks may differ"]
    name = read.start.policy if read.start is not None else None
    if name is None or name == made.fingerprint:
        return made, []
    return made, [f"recorded under another redaction policy ({name}): what it masked and what is masked now may differ"]


def _shown_at(plan: Plan, read: Tape, command: Sequence[str], root: str) -> str | None:
    """The recorded folder for temporary files, where ours may be shown there."""
    if plan.elsewhere is not None or plan.version is not None:
        return None
    facts, folder = read.facts, temporary.recorded(read.facts)
    env = facts.get("env", {})
    paths = [part for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "HOME") for part in str(env.get(name, "")).split(os.pathsep)]
    python = str((facts.get("python") or {}).get("executable") or "")
    keep = outside.must_stay(
        root, str(facts.get("cwd") or root), shutil.which(command[0]) or command[0], python, *paths, *command[1:], *read.code,
        plan.recording.opened.store.url, os.getcwd(),
    )  # fmt: skip
    began = next((entry.ts for entry in plan.recording.entries), None)
    absolute = [path for path in keep if os.path.isabs(path)]
    return folder if began is not None and temporary.showable(folder, began, absolute, workspace=root) else None


def _outside(root: str, shown_at: str | None = None) -> str | None:
    """Where our own folders may lie: the scratch workspace is shown in place of ``root``, and would hide them; and so would be what is shown at
    ``shown_at``, which only matters where there is a choice. None: the usual place."""
    usual = os.path.realpath(tempfile.gettempdir())
    if root == "/":
        raise ReplayError("the session worked in /, which cannot be shown to it as a scratch workspace; record it in a folder of its own")
    places = [usual, "/var/tmp", "/dev/shm", "/run"]  # noqa: S108 - looked at, not trusted: mkdtemp makes a private folder in it
    if shown_at is not None and temporary.below(usual, shown_at) and os.access(places[1], os.W_OK):
        places[:2] = places[1], usual
    for place in places:
        if os.path.commonpath([os.path.realpath(root), place]) != os.path.realpath(root) and os.access(place, os.W_OK):
            return None if place == usual else place
    raise ReplayError(f"no temporary folder outside of {root}; name one with TMPDIR")


def code_of(command: Sequence[str], read: Tape) -> list[str]:
    """The files that are the agent's own code, as far as they are known: what ran as Python in it, and the scripts of the command."""
    scripts = [os.path.join(str(read.facts.get("cwd")), part) for part in command[:4] if part.endswith(".py")]
    return [*read.code, *(os.path.normpath(path) for path in scripts)]


def _guard_plan(root: str, folder: Path, meeting: Path) -> guard.GuardPlan:
    mount = guard.probe(folder).best if os.path.isdir(root) and root != "/" else "none"
    source = None
    if mount != "overlay":
        source = folder / "tree"
        scratch.copy(root, str(source))
    (folder / "tmp").mkdir(mode=0o700)
    return guard.GuardPlan(workspace=Path(root), scratch=folder, tmp=folder / "tmp", mount=mount, source=source, sockets=(meeting,))


def _environment(facts: dict[str, Any], read: Tape, guarded: guard.GuardPlan) -> dict[str, str]:
    """The recorded environment. Where a secret was, its placeholder is: as good a credential as any, where nothing is called."""
    environment = {str(key): str(value) for key, value in facts.get("env", {}).items()}
    environment |= DUMMIES
    if any(call.sort == "model" and getattr(call.event, "provider", "") == "bedrock" for call in read.calls):
        environment = {**DUMMY_AWS, **environment}
    if guarded.tmp_at is None:
        environment["TMPDIR"] = str(guarded.tmp)
    zone = facts.get("host", {}).get("zone")
    if "TZ" not in environment and zone and zone != host_facts.zone():
        environment["TZ"] = str(zone)
    return environment


def _alias(live: str, recorded: str) -> Callable[[Any], Any]:
    """Where the workspace cannot be shown at its recorded path, the two paths count as one."""
    if live == recorded:
        return lambda value: value

    def replace(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(live, recorded)
        if isinstance(value, dict):
            return {key: replace(item) for key, item in value.items()}
        if isinstance(value, list):
            return [replace(item) for item in value]
        return value

    return replace


def _before_exec(
    guarded: guard.GuardPlan, restore: scratch.Restore, root: str, cwd: str, notify: socket.socket, *, silent: bool
) -> Callable[[], None]:
    tree = str(guarded.tree)
    payload = json.dumps({"root": tree, "changes": restore.changes}).encode() if restore.changes else b""
    inside = os.path.normpath(os.path.join(tree, os.path.relpath(cwd, root)))

    def setup() -> None:
        if silent:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            os.close(nothing)
        unshown = guard.mount(guarded)
        client_workspace.apply(payload)
        os.chdir(inside if os.path.isdir(inside) else tree)
        guard.enter(guarded, notify, unshown)

    return setup


def _stdout(quiet: bool) -> Any:
    if not quiet:
        return None
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):
        return None


def _serve(
    server: Server, player: Player, redactor: Redactor, control: socket.socket, notify: socket.socket, guarded: guard.GuardPlan,
    digest: Callable[[bytes], bytes], beside: Beside | None,
) -> None:  # fmt: skip
    """In the host's process, until the agent is gone."""
    held: dict[str, Any] = {}
    supervisors: list[guard.Supervisor] = []
    ready = threading.Event()

    def supervise() -> None:
        fd, found = guard.receive(notify)
        held.update(found)
        if fd is not None:
            level = found.get("landlock")
            supervisors.append(
                guard.Supervisor(
                    fd, writable=guarded.writable, report=lambda _: None, landlock=level if isinstance(level, int) else 0,
                    sockets=guarded.sockets,
                )
            )  # fmt: skip
        ready.set()

    threading.Thread(target=supervise, daemon=True).start()
    state: dict[str, Any] = {"buffer": b"", "exit": None, "until": 0.0, "told": False}

    def heard() -> None:
        data = control.recv(1 << 16)
        state["buffer"] += data
        if not data:
            server.unwatch(control)
            lines = state["buffer"].splitlines()
            state["exit"] = json.loads(lines[0]) if lines else {}
            state["until"] = time.monotonic() + launch.LINGER

    def done() -> bool:
        if player.stop is not None and not state["told"]:
            state["told"] = True
            control.sendall(json.dumps({"stop": player.stop}).encode() + b"\n")
        return state["exit"] is not None and (not server.peers or time.monotonic() > state["until"])

    if beside is not None:
        beside.begin(server)
    server.watch(control, heard)
    player.silent = server.silent
    server.serve(done)
    ready.wait(1)
    for supervisor in supervisors:
        supervisor.close()
        for attempt in supervisor.attempts:
            player.block(attempt)
    text = printed(player, redactor)
    hashed = output_hash(text, player.size, digest)
    if as_recorded(player, redactor, text) and player.tape.end is not None and player.tape.end.stdout_hash is not None:
        hashed = player.tape.end.stdout_hash
    summary = {
        "matched": dict(player.matched), "divergence": player.divergence.to_json() if player.divergence else None,
        "blocked": player.blocked, "guards": held, "joined": player.joined, "reordered": player.reordered, "order": "by time" if player.by_time else "at rest", "early": player.early,
        "ended_at_cut": player.ended_at_cut, "ran": player.ran, "used": [n for n, call in enumerate(player.tape.calls) if call.used],
        "covered": [n for n, call in enumerate(player.tape.calls) if call.covered],
        "output": text if isinstance(text, str) else None, "size": player.size, "hash": hashed, "unified": player.matcher.unified(),
        "unrecorded": [[*read, count] for read, count in player.unrecorded.items()],
    }  # fmt: skip
    if beside is not None:
        summary |= beside.end(state["exit"] or {})
    control.sendall(json.dumps(summary).encode() + b"\n")
    control.close()
    server.close()


def _report(
    plan: Plan, read: Tape, ended: launch.Ended, restore: scratch.Restore, notes: list[str], shown: outside.Shown
) -> dict[str, Any]:
    said = ended.host
    if said is None or "matched" not in said:
        why = (said or {}).get("failure") or "the replay's host ended early"
        raise ReplayError(f"the replay of {plan.recording.session_id} could not be finished, {why}; run it again")
    for number in said["used"]:
        read.calls[number].used = True
    for number in said["covered"]:
        read.calls[number].covered = True
    recorded_hash = read.end.stdout_hash if read.end is not None else None
    if plan.elsewhere is not None and not isinstance(read.stdout, str):
        recorded_hash = None  # it was printed under a key that is not here, and there is no text to compare
    found = said["divergence"]
    unshown = said["guards"].pop("unshown", {})
    run = report.Run(
        matched=collections.Counter(said["matched"]), divergence=Divergence(**found) if found else None, exit_code=ended.exit_code,
        signal=ended.signal, seconds=ended.seconds, output=said["output"], output_size=said["size"],
        same_output=None if recorded_hash is None else recorded_hash == said["hash"], joined=said["joined"], blocked=said["blocked"],
        guards=said["guards"], reordered=said["reordered"], order=said["order"], early=said["early"], ended_at_cut=said["ended_at_cut"],
        ran=said["ran"], notes=[*ended.notes, *notes], lenient=plan.lenient, unified=said["unified"],
        unrecorded={(str(kind), str(where)): int(count) for kind, where, count in said["unrecorded"]},
        files=shown.unshown(unshown),
    )  # fmt: skip
    return report.report(
        plan.recording.session_id, read, run, verified=plan.verified, code_changed=restore.code_changed, missing=restore.missing
    )
