"""What a session wrote, and how lines of code are recognised in it. Pure: recordings are handed in.

A *write* is a text that an event of the session put somewhere. Three kinds, by what they prove:

| kind   | is                                                                      | proves |
|--------|-------------------------------------------------------------------------|--------|
| `said` | in a model's answer, or in the input of a tool or command               | this session came up with it |
| `call` | appeared in a file during a call of the session                         | it, or somebody at the same time |
| `seen` | appeared in a file while the session was recorded, outside of any call  | next to nothing by itself |

What a tool was told to replace is not what it wrote, nor is what was in the file before: a difference is taken.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tachograph.core import authored, events
from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError
from tachograph.providers.conversation import reply

from .runs import Tokens, tokens

_PATHS = ("path", "file_path", "filepath", "file", "filename", "target_file", "relative_workspace_path", "notebook_path")
_HEADERS = ("*** Update File: ", "*** Add File: ", "+++ b/", "+++ ")
#: Lines of two texts whose difference is taken; longer ones are taken for wholly new.
MOST_LINES = 20_000


class Entry(Protocol):
    """A line of a session's log."""

    @property
    def seq(self) -> int: ...
    @property
    def ts(self) -> str: ...
    @property
    def event(self) -> events.Event: ...


class Recording(Protocol):
    """As ``log/reader.py`` offers it."""

    @property
    def session_id(self) -> str: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    def content(self, uri: str | None) -> Any: ...


@dataclass(frozen=True)
class Write:
    """A text that was written. ``path``: of the file, as far as the event says. ``tool``: whether the event is a tool's or a command's own. ``split``:
    the text's tokens, where only these were kept."""

    session_id: str
    kind: str
    seq: int
    ts: str
    path: str | None
    text: str
    tool: bool
    split: Tokens | None = None

    @property
    def tokens(self) -> Tokens:
        return tokens(self.text) if self.split is None else self.split


@dataclass
class Written:
    """All that a session wrote. ``base``: the lines, normalised, of files that differed from the commit when it began: somebody else's.
    ``unreadable``: contents that could not be opened."""

    session_id: str
    began: str
    writes: list[Write] = field(default_factory=list)
    base: set[str] = field(default_factory=set)
    unreadable: int = 0


def written(recording: Recording) -> Written:
    """What a session wrote, each thing once: what a model asked for and a tool then did is the tool's; what appeared in a file and was said before
    is what was said, and says where that went."""
    found = _Reader(recording).read()
    by_text: dict[str, Write] = {}
    for write in found.writes:
        if write.kind == "said":
            known = by_text.get(write.text)
            if known is None or (write.tool and not known.tool) or (known.path is None and write.path is not None):
                by_text[write.text] = write
    said = list(by_text.values())
    rest = [write for write in found.writes if write.kind != "said"]
    said = [write if write.path is not None else replace(write, path=_place(write, rest)) for write in said]
    lines = {line for write in said for line in _lines(write.text)}
    for write in rest:
        left = [line for line in write.text.split("\n") if (text := authored.normal(line)) and text not in lines]
        lines.update(map(authored.normal, left))
        if left:
            said.append(replace(write, text="\n".join(left)))
    found.writes = sorted(said, key=lambda write: write.seq)
    return found


def _place(write: Write, rest: list[Write]) -> str | None:
    """The file in which most of a text appeared."""
    lines = _lines(write.text)
    best = max(rest, key=lambda other: len(lines & _lines(other.text)), default=None)
    return best.path if best is not None and len(lines & _lines(best.text)) >= len(lines) / 2 else None


def _lines(text: str) -> set[str]:
    return {line for line in map(authored.normal, text.split("\n")) if line}


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        began = recording.entries[0].ts if recording.entries else ""
        self._out = Written(recording.session_id, began)

    def read(self) -> Written:
        for entry in self._recording.entries:
            match entry.event:
                case events.SessionStart():
                    self._base(self._content(entry.event.workspace_uri))
                case events.ModelCall():
                    self._answer(entry, entry.event)
                case events.ToolCall():
                    self._input(entry, self._content(entry.event.input_uri))
                    self._changes(entry, "call", self._content(entry.event.workspace_uri))
                case events.Process():
                    self._input(entry, self._content(entry.event.request_uri))
                    self._changes(entry, "call", self._content(entry.event.workspace_uri))
                case events.Workspace():
                    self._changes(entry, "seen", self._content(entry.event.changes_uri))
        return self._out

    def _content(self, uri: str | None) -> Any:
        try:
            return self._recording.content(uri)
        except (KeyUnavailableError, FormatError, NotFoundError):
            self._out.unreadable += 1
            return None

    def _base(self, base: Any) -> None:
        files = base.get("files") if isinstance(base, dict) else None
        for about in files.values() if isinstance(files, dict) else ():
            text = about.get("data") if isinstance(about, dict) else None
            if isinstance(text, str):
                self._out.base.update(line for line in map(authored.normal, text.split("\n")) if authored.telling(line))

    def _answer(self, entry: Entry, event: events.ModelCall) -> None:
        for part in reply(event.provider, event.operation, self._content(event.output_uri)) if event.output_uri else ():
            if part.type == "text" and part.text:
                self._add("said", entry, None, part.text, tool=False)
            elif part.type == "tool_use":
                self._input(entry, part.value, tool=False)

    def _input(self, entry: Entry, value: Any, *, tool: bool = True) -> None:
        for path, text in texts(value):
            self._add("said", entry, path, text, tool=tool)

    def _changes(self, entry: Entry, kind: str, content: Any) -> None:
        changes = content.get("changes") if isinstance(content, dict) else None
        for change in changes if isinstance(changes, list) else ():
            after, before = change.get("after"), change.get("before")
            if isinstance(after, str):
                self._add(kind, entry, str(change.get("path")), added(before if isinstance(before, str) else "", after), tool=True)

    def _add(self, kind: str, entry: Entry, path: str | None, text: str, *, tool: bool) -> None:
        if not text.isspace() and text:
            self._out.writes.append(Write(self._out.session_id, kind, entry.seq, entry.ts, path, text, tool))


def added(before: str, after: str) -> str:
    """The lines of ``after`` that are new."""
    if not before:
        return after
    old, new = before.split("\n"), after.split("\n")
    if len(old) + len(new) > MOST_LINES:
        return after
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return "\n".join(line for tag, _, _, begin, end in changes if tag in ("insert", "replace") for line in new[begin:end])


def texts(value: Any) -> Iterator[tuple[str | None, str]]:
    """(path, text) of what a tool's input writes. Of a text that replaces another one: what is new in it; a patch names its own files."""
    path = next((str(value[name]) for name in _PATHS if isinstance(value.get(name), str)), None) if isinstance(value, dict) else None
    yield from _texts(value, path, "")


def _texts(value: Any, path: str | None, old: str) -> Iterator[tuple[str | None, str]]:
    if isinstance(value, str):
        if "\n+" in value and authored.patched(value) != value:
            yield from ((named or path, text) for named, text in _patch(value))
        else:
            yield path, added(old, authored.patched(value))
    elif isinstance(value, dict):
        before = next((item for name, item in value.items() if str(name).lower() in authored.OLD and isinstance(item, str)), "")
        for name, item in value.items():
            if str(name).lower() not in authored.OLD and name not in _PATHS:
                yield from _texts(item, path, before)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item, path, "")


def _patch(text: str) -> Iterator[tuple[str | None, str]]:
    """A patch, file by file."""
    path: str | None = None
    taken: list[str] = []
    for line in [*text.split("\n"), ""]:
        header = next((header for header in _HEADERS if line.startswith(header)), None)
        if header is not None:
            if taken:
                yield path, authored.patched("\n".join(taken))
            path, taken = line.removeprefix(header).split("\t")[0].strip(), ["@@", "@@"]
        else:
            taken.append(line)
    yield path, authored.patched("\n".join(taken))
