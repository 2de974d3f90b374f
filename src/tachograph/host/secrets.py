"""Values that a person says are secret: from a file (``--secret-from``) and from named variables (``TACHO_SECRETS``).

Read by the host, kept in its memory, never written and never handed to the agent. They are masked whatever they look like and wherever they
turn up, in every form that ``redact.known`` knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.redact.engine import Redactor
from tachograph.redact.known import SHORTEST_SURE

#: The variable that names variables, separated by commas.
VARIABLE = "TACHO_SECRETS"
#: What ``--secret-from`` is for, as its help says.
HELP = "a file of values that are secret, whatever they look like: one a line, NAME=VALUE lines, or JSON"
#: Values in all. Each has a dozen forms to be looked for.
MAX_VALUES = 10_000
#: Bytes of a file.
MAX_FILE = 16 << 20

_ASSIGNMENT = re.compile(r"(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]{0,127}\s{0,8}=\s{0,8}(.*)", re.DOTALL)


@dataclass
class Given:
    """The values, in the order in which they were given, and lines that a person should read."""

    values: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def teach(self, redactor: Redactor) -> None:
        """Longest first: the forms of a short one may be inside of a long one."""
        for value in sorted(self.values, key=lambda value: (-len(value), value)):
            redactor.learn(value, "user", sure=True)

    def take(self, value: str, where: str) -> None:
        """One more value. Raises ``UsageError`` for one that would mask everything."""
        value = value.strip()
        if len(value) < SHORTEST_SURE:
            what = "an empty value" if not value else f"a value of {len(value)} character{'s' if len(value) > 1 else ''}"
            raise UsageError(f"{where}: {what}, which would be masked everywhere; give values of {SHORTEST_SURE} characters or more")
        self.values[value] = None
        if len(self.values) > MAX_VALUES:
            raise UsageError(f"{where}: more than {MAX_VALUES} secret values; leave out those that no longer open anything")


def collect(paths: Sequence[str], environment: Mapping[str, str]) -> Given:
    """What the files hold and what the variables named by ``TACHO_SECRETS`` hold. Raises ``UsageError``: never with a value in it."""
    given = Given()
    for path in paths:
        for number, value in _values(_read(path), path):
            given.take(value, f"{path}, line {number}" if number else path)
    for name in (part.strip() for part in environment.get(VARIABLE, "").split(",")):
        if not name:
            continue
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
            raise UsageError(f"{VARIABLE} takes names of variables, separated by commas, and not their values; one of them is no name")
        value = environment.get(name, "")
        if value.strip():
            given.take(value, f"{VARIABLE}, variable {name}")
        else:
            given.notes.append(f"{VARIABLE} names {name}, which is {'empty' if name in environment else 'not set'}")
    return given


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"cannot read the secret values in {path}, {error.strerror}; choose another --secret-from") from None
    if len(data) > MAX_FILE:
        raise UsageError(f"{path} is larger than {MAX_FILE >> 20} MiB; --secret-from takes a file of values, one a line")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8 at byte {error.start}; --secret-from takes a file of values, one a line") from None


def _values(text: str, path: str) -> Iterable[tuple[int, str]]:
    """The values of a file, each with its line (0 in JSON)."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            if text.lstrip()[0] == "{":
                raise UsageError(f"{path} begins like JSON and is none; make it JSON, or one value a line") from None
        else:
            yield from ((0, leaf) for leaf in _leaves(value))
            return
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at].strip()
        at += 1
        if not line or line.startswith(("# ", "-----")) or line == "#":
            continue  # the first and last line of a key block are the same in all of them
        match = _ASSIGNMENT.fullmatch(line)
        # ``c2VjcmV0IQ==`` is a value, and no name with one.
        if match is None or (match.group(1) and not match.group(1).strip("=")):
            yield number, line
            continue
        value = match.group(1)
        quote = value[:1]
        if quote in ("'", '"'):
            while not _closed(value, quote) and at < len(lines):
                value += "\n" + lines[at]
                at += 1
            value = _unquoted(value, quote)
        yield number, value


def _closed(value: str, quote: str) -> bool:
    return len(value) > 1 and value.rstrip().endswith(quote) and not value.rstrip().endswith("\\" + quote)


def _unquoted(value: str, quote: str) -> str:
    value = value.rstrip()
    value = value[1:-1] if _closed(value, quote) else value[1:]
    return value.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\") if quote == '"' else value


def _leaves(value: Any) -> Iterable[str]:
    """All strings and long numbers; names are no values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, int) and not isinstance(value, bool) and len(str(value)) >= SHORTEST_SURE:
        yield str(value)
