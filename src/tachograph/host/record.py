"""``tacho record``: the launcher's and the host's side of recording one command."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

import tachograph
from tachograph.core import ids
from tachograph.core.drafts import Draft
from tachograph.core.errors import StoreError, TachographError
from tachograph.core.events import FLAG_READS, FLAG_ROUNDS, FLAG_TURNS, SessionEnd, SessionStart
from tachograph.core.ports import Clock, Entropy, Store
from tachograph.format import layout
from tachograph.log import opening, vault
from tachograph.log.lasting import LastingWriter
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SETTLE, Mark, SessionWriter
from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import fingerprint

from . import launch, marking, patterns, surroundings
from .entering import Entering
from .outside import Outside
from .policy import Chosen
from .recorder import Recorder, masked
from .secrets import Given
from .server import Server
from .surroundings import Surroundings
from .workspace import OwnEyes, Watcher

#: Without a word from the command for this long, ``session_start`` is written without what the command's own process knows. Seconds.
WAIT_FOR_HELLO = 2.0


#: Seconds. An agent waits for the host only around commands and external tools, which take longer than this by themselves.
COALESCE = 0.0003
#: A host that is stopped reads on for this long: what clients have handed over belongs to the record. Seconds.
STOPPING = 0.2


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One recording to be."""

    opened: OpenStore
    command: Sequence[str]
    environment: Mapping[str, str]
    clock: Clock
    entropy: Entropy
    name: str | None = None
    links: Sequence[str] = ()
    on_loss: str = "continue"
    id_file: str | None = None
    given: Given = field(default_factory=Given)
    policy: Chosen = field(default_factory=Chosen)
    vault: bool = False
    #: Files that hold keys of the store: they are never part of what is recorded, wherever they lie.
    keys: Sequence[str] = ()
    #: Where this process keeps compiled patterns: a folder of its own user.
    cache: str = field(default_factory=lambda: patterns.folder(os.environ))


@dataclass(frozen=True)
class Recorded:
    """What became of it. ``error``: why the record is not whole, in one line. ``waiting``: files that the store could not take yet;
    ``notices``: what the store had to say."""

    session_id: str
    ended: launch.Ended
    events: int
    calls: dict[str, int]
    error: str | None
    waiting: int = 0
    notices: Sequence[str] = ()


class Caller(Protocol):
    """The process that runs the command, as the host hears it. ``waiting``: there is something to hear, though its file is not readable."""

    @property
    def waiting(self) -> bool: ...
    def fileno(self) -> int: ...

    def heard(self) -> dict[str, Any] | None:
        """To be called when there is something to read: how the command ended; ``lost`` if nobody will say; None as long as it runs."""
        ...

    def tell(self, summary: dict[str, Any]) -> None:
        """The last word."""
        ...


class Forker:
    """A caller that has forked the host."""

    waiting = False

    def __init__(self, control: socket.socket) -> None:
        control.setblocking(False)
        self._control = control
        self._buffer = b""

    def fileno(self) -> int:
        return self._control.fileno()

    def heard(self) -> dict[str, Any] | None:
        try:
            data = self._control.recv(1 << 16)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        self._buffer += data
        if data:
            return None
        found: dict[str, Any] = json.loads(self._buffer.splitlines()[0]) if b"\n" in self._buffer else {"lost": True}
        return found

    def tell(self, summary: dict[str, Any]) -> None:
        self._control.setblocking(True)
        self._control.sendall(json.dumps(summary).encode() + b"\n")
        self._control.close()


def record(plan: Plan) -> Recorded:
    """Run the command and record it. Raises before it runs when it cannot be recorded at all."""
    environment = with_hash_seed(plan.environment, plan.entropy)
    launch.executable(plan.command, environment)
    sealed_for = opening.vault_key(plan.opened) if plan.vault else None
    session_id = ids.session_id(plan.clock.unix_ms(), plan.entropy(10))
    meeting = launch.Meeting()
    try:
        data_key = plan.opened.new_data_key(session_id, plan.entropy)
        if plan.id_file is not None:
            write_id(plan.id_file, session_id)  # before the first look at the workspace, which it may lie in
        around = surroundings.here(avoid=(plan.opened.store.url, *plan.keys))
        session = Session(plan, session_id, data_key, environment, around, sealed_for=sealed_for)
        server = Server(meeting.socket, meeting.token, session.driver, coalesce=COALESCE, visitor=session.driver.visited)
        control = launch.fork_host(lambda theirs: session.serve(server, Forker(theirs)))
        server.close()
        session.driver.writer.let_go()
        theirs = meeting.environment(environment, mode="record", on_loss=plan.on_loss, session_id=session_id)
        with marking.marked(around.repository.get("top"), session_id, meeting.socket, meeting.token):
            ended = launch.run(plan.command, theirs, control, on_loss=plan.on_loss)
    finally:
        meeting.remove()
    return _outcome(plan, session_id, ended)


class Session:
    """A session that was begun. Its host is whoever calls ``serve``."""

    def __init__(
        self, plan: Plan, session_id: str, data_key: bytes, environment: Mapping[str, str], around: Surroundings,
        *, sealed_for: bytes | None,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.session_id = session_id
        kept = vault.create(plan.opened.store, session_id, sealed_for, plan.entropy) if sealed_for is not None else None
        writer = SessionWriter(plan.opened, session_id, data_key, clock=plan.clock, entropy=plan.entropy, companion=kept)
        self._redactor = _redactor(plan, environment, kept)
        lasting = LastingWriter(writer, plan.opened, data_key, clock=plan.clock, entropy=plan.entropy)
        self.driver = _driver(plan, lasting, environment, around, self._redactor, kept.key_id if kept else None)

    def serve(self, server: Server, caller: Caller, stopping: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """Record until the command and its clients are gone, or until ``stopping``. Returns what it told the caller at last."""
        plan = self.plan
        patterns.later(self._redactor.index, plan.cache, plan.opened.fingerprint_key)
        entering = Entering(plan.opened, self.session_id, clock=plan.clock, entropy=plan.entropy)
        return _serve(server, self.driver, caller, plan.opened.store, entering, stopping)


def with_hash_seed(environment: Mapping[str, str], entropy: Entropy) -> dict[str, str]:
    """A set's order depends on the hash seed: a replay needs the same. Drawn, not fixed: recording must not weaken the agent."""
    return {"PYTHONHASHSEED": str(int.from_bytes(entropy(4), "big")), **environment}


def _redactor(plan: Plan, environment: Mapping[str, str], kept: vault.VaultWriter | None) -> Redactor:
    known = plan.policy.known(_visible(environment))
    redactor = Redactor(plan.policy.policy, key=plan.opened.fingerprint_key, known=known, sink=kept.keep if kept else None, learns=True)
    plan.given.teach(redactor)
    patterns.load(redactor.index, plan.cache, plan.opened.fingerprint_key)
    return redactor


def _visible(environment: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environment.items() if key not in launch.ENVIRONMENT}


def _driver(
    plan: Plan, writer: LastingWriter, environment: Mapping[str, str], around: Surroundings, redactor: Redactor, vault_key: str | None
) -> Recorder:
    policy = plan.policy.policy
    tally: collections.Counter[str] = collections.Counter()
    # What people call a branch, a session or a ticket is in clear text in the log, so nothing else would hide what they put there.
    repository = redactor.document(around.repository, tally)
    watcher = Watcher(around.cwd, repository, redactor, eyes=around.eyes)
    found: dict[str, Any] = {
        "argv": redactor.arguments(list(plan.command), tally),
        "env": redactor.environment(_visible(environment), tally),
        "cwd": around.cwd,
        "umask": around.umask,
        "host": around.host,
        # A replay makes the policy again of this, and knows the values that were given by their fingerprints: it needs no file.
        "policy": policy.document(),
        "given": sorted(fingerprint(plan.opened.fingerprint_key, value) for value in plan.given.values),
        "repository": {key: value for key, value in repository.items() if key != "top"},
    }
    if around.caller is not None:
        found["caller"] = {"uid": around.caller}
    base = watcher.base(tally)
    start = SessionStart(
        recorder=f"tachograph {tachograph.__version__}", name=redactor.document(plan.name, tally), agent=redactor.text(_agent(plan.command), tally), repo_url=repository.get("url"),
        repo_sha=repository.get("sha"), branch=repository.get("branch"), dirty=repository.get("dirty"), policy=policy.fingerprint,
        links=redactor.document(list(plan.links), tally), vault=vault_key, flags=[FLAG_READS, FLAG_TURNS, FLAG_ROUNDS], **masked(tally),
    )  # fmt: skip
    draft = Draft(event=start, contents={"facts_uri": found, "workspace_uri": base})
    left_out = policy_left_out(plan.policy, around)
    files = None
    if "files" not in left_out:
        avoid = [plan.opened.store.url, *plan.keys, *([watcher.root] if watcher.root is not None else [])]
        files = Outside(redactor, plan.opened.digest(), avoid=avoid, began=time.time_ns(), contents=plan.policy.file_contents)
    return Recorder(
        writer, redactor, start=draft, watcher=watcher, digest=plan.opened.digest(), repo_sha=repository.get("sha"),
        stops=plan.on_loss == "stop", packages=around.packages, left_out=left_out, outside=files,
    )  # fmt: skip


def policy_left_out(chosen: Chosen, around: Surroundings) -> frozenset[str]:
    """Kinds of ambient reads that are not kept. A host that is another user must not read files that a client names: it may read more than the
    agent, and would show it to whoever reads the record."""
    own = isinstance(around.eyes, OwnEyes)
    return chosen.left_out if own else chosen.left_out | {"files"}


def _serve(
    server: Server, driver: Recorder, caller: Caller, store: Store, entering: Entering, stopping: Callable[[], bool]
) -> dict[str, Any]:
    """In the host's process, until the command and its clients are gone."""
    began = time.monotonic()
    state: dict[str, Any] = {"exit": None, "until": None}

    def heard() -> None:
        found = caller.heard()
        if found is not None:
            server.unwatch(caller)
            state["exit"] = found  # lost: the launcher was killed; its command may still run
            state["until"] = time.monotonic() + launch.LINGER

    def done() -> bool:
        if not driver.joined and time.monotonic() - began > WAIT_FOR_HELLO:
            driver.begin_session(None)
        if driver.failure is not None:
            return True  # nothing more can be kept: the clients are let go, and do as --on-host-loss says
        if entering.is_time() and (point := driver.seal()) is not None:
            entering.sealed(*point, ended=False, wait=0)  # the agent waits for us: another writer's turn is not waited for
        if state["exit"] is None and caller.waiting:
            heard()
        if stopping():
            late = state.setdefault("stop", time.monotonic() + STOPPING)
            return bool(time.monotonic() > late)  # what clients have handed over by now is read first
        if state["exit"] is None:
            return False
        return not server.peers or (time.monotonic() > state["until"] and not state["exit"].get("lost"))

    # Here and not before the fork, while the command starts by itself: its first word is heard after this.
    pin = enter(driver, entering, store)
    server.watch(caller, heard)
    server.serve(done)
    ended = state["exit"] or {}
    summary = close(
        driver, entering, store, {"seconds": time.monotonic() - began, **{k: v for k, v in ended.items() if v is not None}},
        pin=pin, stopped="stop" in state,
    )  # fmt: skip
    caller.tell(summary)
    server.close()
    return summary


def enter(driver: Recorder, entering: Entering, store: Store) -> dict[str, Any]:
    """In the host's process, before anything is recorded: enter the session in the ledger. What its first line says of that."""
    pin = entering.begin(driver.links)
    driver.entered(pin)
    store.recover()
    return pin


def close(
    driver: Recorder, entering: Entering, store: Store, ended: Mapping[str, Any], *, pin: Mapping[str, Any], stopped: bool = False
) -> dict[str, Any]:
    """The end of a recording: its last lines, its seal, its entry in the ledger. ``ended``: ``exit_code``, ``signal``, ``seconds``, ``lost`` as
    far as they are known. What the host says of it at last."""
    driver.finish(
        exit_code=ended.get("exit_code"), signal=ended.get("signal"), lost=bool(ended.get("lost")), stopped=stopped,
        duration_ms=float(ended.get("seconds") or 0.0) * 1000, status=ended.get("status"),
    )  # fmt: skip
    point = driver.seal()
    entered = point is None or entering.sealed(*point, ended=True)
    with contextlib.suppress(StoreError):
        driver.writer.close()
    waiting = store.settle(SETTLE)
    if point is not None and not entered and not waiting:
        entered = entering.sealed(*point, ended=True)  # a bucket that was away may be back by now
    notices = []
    if not entered:
        what = (
            f"this session is not entered in the ledger ({pin['missing']})"
            if "missing" in pin
            else "the end of this session is not entered in the ledger"
        )
        notices.append(f"{what}, so only a seal that is kept elsewhere vouches for it; run tacho verify ledger")
    return {
        "events": driver.writer.size, "calls": driver.counts, "failure": driver.failure, "joined": driver.joined, "waiting": waiting,
        "notices": [*notices, *store.notices()],
        "dropped": driver.writer.dropped, "trouble": driver.trouble,
        "mark": msgspec.to_builtins(driver.writer.mark) if driver.writer.failure is not None else None, "stopped": stopped,
    }  # fmt: skip


def _outcome(plan: Plan, session_id: str, ended: launch.Ended) -> Recorded:
    said = ended.host
    notices = said.get("notices") if said is not None else None
    notices = plan.opened.store.notices() if notices is None else [str(each) for each in notices]
    if said is not None and said.get("failure") is None:
        error = dropped(said) if said.get("dropped") else None
        return Recorded(
            session_id, ended, int(said.get("events", 0)), dict(said.get("calls", {})), error, int(said.get("waiting", 0)), notices
        )
    reason = str(said["failure"]) if said is not None else "the host was killed"
    mark = said.get("mark") if said is not None else None
    declared = declare_loss(
        plan.opened, session_id, ended, msgspec.convert(mark, Mark) if mark is not None else None, clock=plan.clock, entropy=plan.entropy
    )
    error = f"{reason}; what was recorded until then is safe, the rest is declared as lost"
    return Recorded(session_id, ended, declared, {}, error, notices=notices)


def dropped(said: Mapping[str, Any]) -> str:
    """What a host says at last that had no room for some events."""
    count = said.get("dropped")
    return f"{said.get('trouble')}; {count} events came while nothing could be written and had no room in memory, as the log says"


def declare_loss(opened: OpenStore, session_id: str, ended: launch.Ended, mark: Mark | None, *, clock: Clock, entropy: Entropy) -> int:
    """Continue the dead host's log far enough to say that it died, and how the command ended. ``mark``: where it ended, if a write had
    failed before: what can be read behind it is perhaps not on the device. How many lines the log has now; 0 if nothing could be declared."""
    from tachograph.log import recover

    try:
        if mark is None:
            writer = recover.resume(opened, session_id, clock=clock, entropy=entropy, reason="host_lost")
        else:
            writer = recover.restart(
                opened, session_id, opened.data_key(session_id), mark, clock=clock, entropy=entropy,
                reason="host_lost", lock=opened.store.lock(layout.lock(session_id)),
            )  # fmt: skip
        status = "killed" if ended.signal else "lost"
        end = SessionEnd(status=status, exit_code=ended.exit_code, signal=ended.signal, duration_ms=round(ended.seconds * 1000, 3))
        writer.append(Draft(event=end))
        writer.seal()
        size = writer.size
        Entering(opened, session_id, clock=clock, entropy=entropy).sealed_after_loss(size, writer.root)
        writer.close()
        opened.store.recover()
        opened.store.settle(SETTLE)
        return size
    except (TachographError, OSError):
        return 0  # a full disk takes no declaration either; verify finds the log unsealed and says so


def write_id(path: str, session_id: str) -> None:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(session_id + "\n")
    except OSError as error:
        raise StoreError(f"cannot write the session's id to {path}, {error.strerror}; choose another --id-file") from None


def _agent(command: Sequence[str]) -> str:
    """What to call the agent: its script, else its program."""
    script = next((part for part in command[1:] if part.endswith(".py")), None)
    if script is None and "-m" in command[:-1]:
        script = command[list(command).index("-m") + 1]
    return os.path.basename(script or command[0])
