"""Which policy: the tables ``redact`` and ``record`` of a ``tachograph.toml``.

The file is the one that was named (``--policy``, else ``TACHO_POLICY``), else the nearest in the working folder or above it, up to the top of its
repository; outside of a repository only in the working folder itself: a file in ``/tmp`` must not decide for everybody below. Without a
file, the built-in policy holds. A file with a mistake in it is an error: nothing is recorded under half a policy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.redact import custom
from tachograph.redact.engine import known_from_environment
from tachograph.redact.finders.vendors import Vendors
from tachograph.redact.known import acceptable
from tachograph.redact.policy import Policy
from tachograph.redact.rules import ALL

from .ambient import KINDS

NAME = "tachograph.toml"
#: Bytes. A larger file is something else.
_LARGEST = 4 << 20


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """``secret_from``: files with values that are secret (``secrets.collect``); ``source``: the file, None for the built-in policy.
    ``left_out``: kinds of ambient reads that are not kept (``[record] entropy = false``). ``file_contents``: whether what files outside of the
    workspace hold is kept, redacted."""

    policy: Policy = field(default_factory=Policy.default)
    secret_from: tuple[str, ...] = ()
    source: str | None = None
    left_out: frozenset[str] = frozenset()
    file_contents: bool = False

    def known(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The values of an environment that are to be masked wherever they turn up, each with its kind."""
        visible = {name: value for name, value in environment.items() if not self.policy.plain(name)}
        found = known_from_environment(visible)
        own = Vendors([rule for rule in self.policy.rules if rule not in ALL]) if self.policy.rules is not ALL else None
        for name, value in visible.items():
            value = value.strip()
            if name.lower() in self.policy.secret_names and acceptable(value):
                found[value] = "env"
            if own is not None and len(value) <= 8192:
                for start, end, *_ in own.find(value):
                    if acceptable(value[start:end]):
                        found[value[start:end]] = "env"
        return {value: kind for value, kind in found.items() if not self.policy.allows(value)}


def recorded(facts: Mapping[str, Any]) -> Policy:
    """The policy that a record was made under. Raises ``UsageError`` where this version cannot make it."""
    document = facts.get("policy")
    return Policy.of(document, "the policy in the record", proven=True) if isinstance(document, Mapping) else Policy.default()


def choose(named: str | None, folder: str) -> Chosen:
    """The policy of the file that is ``named``, else of the one that is found from ``folder``, else the built-in one."""
    path = named or find(folder)
    return read(path) if path is not None else Chosen()


def find(folder: str, name: str = NAME) -> str | None:
    """The nearest ``tachograph.toml`` (or file of another ``name``) up to the top of the repository, if there is one."""
    passed = []
    at = os.path.abspath(folder)
    while True:
        passed.append(os.path.join(at, name))
        if os.path.exists(os.path.join(at, ".git")):
            break
        above = os.path.dirname(at)
        if above == at:  # no repository
            passed = passed[:1]
            break
        at = above
    return next((path for path in passed if os.path.lexists(path)), None)


def read(path: str) -> Chosen:
    """The policy of one file. Raises ``UsageError``: the file, the key, what is wrong and what to do."""
    import tomllib  # only whoever has a file pays for it

    try:
        document = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no TOML, {error}; correct it there") from None
    custom.unknown_keys(document, ("redact", "record"), path)
    table = document.get("redact", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: redact is a table; write [redact] and its keys below")
    rest = {key: value for key, value in table.items() if key != "secret_from"}
    policy = Policy.of(rest, f"{path}: redact", more=("secret_from",))
    files = custom.strings(table.get("secret_from", []), f"{path}: redact: secret_from")
    folder = os.path.dirname(os.path.abspath(path))
    return Chosen(
        policy=policy, secret_from=tuple(os.path.join(folder, os.path.expanduser(name)) for name in files), source=path,
        left_out=_left_out(document.get("record", {}), path), file_contents=document.get("record", {}).get("file_contents", False),
    )  # fmt: skip


def _left_out(table: Any, path: str) -> frozenset[str]:
    if not isinstance(table, dict):
        raise UsageError(f"{path}: record is a table; write [record] and its keys below")
    custom.unknown_keys(table, (*KINDS, "file_contents"), f"{path}: record")
    for name, value in table.items():
        if not isinstance(value, bool):
            raise UsageError(f"{path}: record: {name} is true or false; write {name} = false to keep none of it")
    return frozenset(name for name, value in table.items() if not value and name != "file_contents")


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}, {error.strerror}; correct its name or its mode") from None
    if len(data) > _LARGEST:
        raise UsageError(f"{path}: larger than {_LARGEST >> 20} MiB; is it the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: no UTF-8; save it as that") from None
