"""One session of ``tacho host``, in a process of its own: from what a launcher asks for to the last line of the log."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tachograph.client.frames import Splitter
from tachograph.core.errors import TachographError, UsageError
from tachograph.core.ports import Clock, Entropy
from tachograph.log import opening
from tachograph.log.opening import OpenStore

from . import record, secrets
from .caller import Caller, Eyes, GoneError
from .calling import VERSION
from .policy import Chosen
from .record import Plan, Session
from .server import Server, parse
from .surroundings import Surroundings

#: Characters of a session's name, of one link, and links in all.
MAX_TEXT, MAX_LINKS = 4096, 64


@dataclass(frozen=True, kw_only=True)
class Hosting:
    """What all sessions of a host share. ``open_store`` is called by each session's own process. ``policies``: by name; under None the host's
    own. ``folder``: where the sessions' sockets are. ``link``: the kept form of a link; raises ``UsageError`` for what is none."""

    open_store: Callable[[], OpenStore]
    policies: Mapping[str | None, Chosen]
    clock: Clock
    entropy: Entropy
    folder: str
    link: Callable[[str], str]

    def meeting(self, session_id: str) -> str:
        """The folder with a session's socket, which is named ``host`` there."""
        return os.path.join(self.folder, session_id)


def host(hosting: Hosting, caller: Caller, raw: bytes, session_id: str, uid: int, stopping: Callable[[], bool]) -> dict[str, Any] | None:
    """Serve one launcher of the user ``uid``, whose request is ``raw``. What it was told at last; None if there was no session. Raises what is
    a defect, or the death of a session that has begun."""
    try:
        session, server = _begin(hosting, caller, raw, session_id, uid)
    except (GoneError, TachographError) as error:
        if isinstance(error, TachographError):
            with contextlib.suppress(GoneError):
                caller.send({"m": "refused", "why": str(error)})
        shutil.rmtree(hosting.meeting(session_id), ignore_errors=True)
        return None
    summary = session.serve(server, caller, stopping)
    if summary["failure"] is None:  # else the folder is the mark that something is still to be declared
        shutil.rmtree(hosting.meeting(session_id), ignore_errors=True)
    return summary


def _begin(hosting: Hosting, caller: Caller, raw: bytes, session_id: str, uid: int) -> tuple[Session, Server]:
    asked = _parsed(raw)
    policy = hosting.policies.get(asked["policy"])
    if policy is None:
        known = ", ".join(sorted(name for name in hosting.policies if name is not None)) or "none by name"
        raise UsageError(f"it has no policy {asked['policy']}, and has {known}; leave out --policy for its own")
    given = secrets.collect(policy.secret_from, {})
    for value in asked["given"]:
        given.take(value, "a secret value that was handed over")
    opened = hosting.open_store()
    plan = Plan(
        opened=opened, command=asked["argv"], environment=asked["env"], clock=hosting.clock, entropy=hosting.entropy, name=asked["name"],
        links=[hosting.link(link) for link in asked["links"]], on_loss=asked["on_loss"], given=given, policy=policy, vault=asked["vault"],
    )  # fmt: skip
    sealed_for = opening.vault_key(opened) if plan.vault else None
    token = hosting.entropy(16).hex()
    place = os.path.join(hosting.meeting(session_id), "host")
    caller.send({"m": "session", "session": session_id, "socket": place, "token": token})
    caller.wait("go")  # the launcher has written down which session this is, if it was asked to
    data_key = opened.new_data_key(session_id, hosting.entropy)
    eyes = Eyes(caller, asked["root"])
    around = Surroundings(
        cwd=asked["cwd"], umask=asked["umask"], host=asked["host"], repository=asked["repository"], eyes=eyes, packages=eyes.packages,
        caller=uid,
    )  # fmt: skip
    session = Session(plan, session_id, data_key, record.with_hash_seed(plan.environment, hosting.entropy), around, sealed_for=sealed_for)
    os.mkdir(os.path.dirname(place), 0o700)
    os.chmod(os.path.dirname(place), 0o711)  # noqa: S103 - nobody can list it, and the kernel says who connects
    server = Server(place, token, session.driver, coalesce=record.COALESCE, user=uid, visitor=session.driver.visited)
    caller.send({"m": "ready"})
    return session, server


def request(splitter: Splitter) -> bytes | None:
    """The first frame, not parsed yet, when it is whole. Raises ``FrameError``."""
    raw = splitter.next_raw()
    return None if raw is None else raw[0]


def _parsed(raw: bytes) -> dict[str, Any]:
    """What is asked for, each field of the type that it is to be. Raises ``UsageError``."""
    try:
        asked = parse(raw)
    except (ValueError, RecursionError):
        asked = {}
    if asked.get("m") != "session":
        raise UsageError("what it was sent is no request of tacho record --host")
    if asked.get("v") != VERSION:
        raise UsageError(
            f"it speaks version {VERSION} of this protocol, and was asked in {asked.get('v')!r}; use the same version of tacho for both"
        )
    fields = {name: asked.get(name) for name in _FIELDS}
    for name, good in _FIELDS.items():
        if not good(fields[name]):
            raise UsageError(f"{name} is not what tacho record sends; use the same version of tacho for both")
    return fields


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _short(value: Any) -> bool:
    return value is None or (isinstance(value, str) and len(value) <= MAX_TEXT)


def _absolute(value: Any) -> bool:
    return isinstance(value, str) and os.path.isabs(value) and "\0" not in value


def _repository(value: Any) -> bool:
    kinds = {"top": str, "url": str, "sha": str, "branch": str, "dirty": bool}
    return isinstance(value, dict) and all(
        name in kinds and (item is None or isinstance(item, kinds[name])) for name, item in value.items()
    )


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "argv": lambda value: _texts(value) and bool(value),
    "env": lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
    "cwd": _absolute,
    "root": lambda value: value is None or _absolute(value),
    "umask": lambda value: isinstance(value, int) and 0 <= value <= 0o777,
    "host": lambda value: isinstance(value, dict),
    "repository": _repository,
    "name": _short,
    "links": lambda value: _texts(value) and len(value) <= MAX_LINKS and all(map(_short, value)),
    "on_loss": lambda value: value in ("continue", "stop"),
    "given": _texts,
    "policy": _short,
    "vault": lambda value: isinstance(value, bool),
}
