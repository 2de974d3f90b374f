"""What kind of source a tool's result is: a file, a document that was searched for, a memory, a subagent's words, or just a result.

Tools are told apart by their names and by what they were given, since nothing else about them is recorded. A name is taken apart into its words
(``readFile``, ``read_file`` and ``fs.read-file`` are the same three ways), so that ``research`` is no search and ``thread`` no read. Where a name
leaves it open, the result is a ``tool_result``: saying less is better than saying something wrong.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from .commands import command_line

if TYPE_CHECKING:
    from .shapes import Run

Kind = Literal["system", "user", "tool_result", "file", "document", "memory", "subagent", "model"]
Exit = Literal["tool_call", "command", "request", "written", "commit", "printed", "approval", "note", "guardrail"]
"""Where a text left (``exits.py``)."""
KINDS: tuple[Kind, ...] = ("system", "user", "tool_result", "file", "document", "memory", "subagent", "model")

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_READ = {"read", "look", "view", "open", "cat", "load", "get", "show", "fetch", "head", "tail", "type"}
_FILE = {"file", "files", "path", "paths", "text", "editor", "notebook", "source", "code", "lines"}
_MEMORY = {"memory", "memories", "remember", "recall", "scratchpad", "mem"}
_DOCUMENT = {
    "search", "retrieve", "retrieval", "retriever", "rag", "wiki", "wikipedia", "kb", "knowledge", "docs", "document", "documents", "web", "browse",
    "browser", "page", "webpage", "article", "articles", "url", "vectorstore", "vector", "semantic", "policy", "policies", "runbook", "runbooks", "faq",
    "confluence", "notion", "crawl", "scrape",
}  # fmt: skip
#: Such a tool writes, whatever else its name says.
_WRITES = {
    "write",
    "create",
    "edit",
    "patch",
    "delete",
    "remove",
    "update",
    "save",
    "insert",
    "append",
    "replace",
    "upload",
    "send",
    "index",
    "add",
    "put",
}
#: Such a tool names files and says nothing of what is in them.
_LISTS = {"list", "ls", "glob", "tree", "dir", "stat", "exists"}
_SUBAGENT = {"subagent", "agent", "delegate", "handoff", "task"}
_PATH_KEYS = {
    "path",
    "file",
    "filename",
    "filepath",
    "paths",
    "files",
    "absolutepath",
    "targetfile",
    "notebookpath",
    "relativepath",
    "relativeworkspacepath",
}
_QUERY_KEYS = {"query", "queries", "url", "urls", "q", "question", "docid", "documentid"}
_MEMORY_PATH = re.compile(r"(?:^|[/\\])(?:\.?memor(?:y|ies)(?:[/\\]|[.][a-z]{2,4}$|$)|MEMORY\.md$|\.?memory-bank[/\\])", re.IGNORECASE)
#: A command in which the shell's rules for quotes and escapes change nothing.
_UNQUOTED = re.compile(r"[\w ./:@%+,=~-]*", re.ASCII)
_QUOTES = frozenset("'\"\\")
_READERS = {"cat", "head", "tail", "less", "more", "bat", "nl", "tac", "type", "get-content"}


@lru_cache(maxsize=4096)
def words_of(name: str) -> frozenset[str]:
    """The words that a tool's name is made of, in lower case."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


def kind_of(run: Run) -> tuple[Kind, str | None]:
    """The kind of a run's result, and the name of what was read where there is one."""
    given = run.input.value
    if run.kind == "process":
        path = read_by(command_line(given))
        return (_file_kind(path), path) if path is not None else ("tool_result", None)
    if run.kind == "http":
        return "tool_result", None
    words = words_of(run.name)
    path = _of_keys(given, _PATH_KEYS)
    if words & _MEMORY and not words & _WRITES:
        return "memory", path
    if (words & _WRITES) or run.effect in ("write", "external"):
        return "tool_result", None
    if words & _LISTS:
        return "tool_result", None
    if words & _READ and (words & _FILE or path is not None):
        return _file_kind(path or ""), path
    if words & _DOCUMENT:
        return "document", _of_keys(given, _QUERY_KEYS) or path
    if path is not None and words & _FILE:
        return _file_kind(path), path
    command = given.get("command") if isinstance(given, dict) else None
    path = read_by(command if isinstance(command, str) else None)
    return (_file_kind(path), path) if path is not None else ("tool_result", None)


def _file_kind(path: str) -> Kind:
    return "memory" if _MEMORY_PATH.search(path) else "file"


def is_subagent(run: Run) -> bool:
    """Whether a tool's name says that another agent answers it."""
    return run.kind == "tool" and bool(words_of(run.name) & _SUBAGENT) and not words_of(run.name) & _WRITES


def _of_keys(given: Any, keys: set[str]) -> str | None:
    if not isinstance(given, dict):
        return None
    for key, value in given.items():
        if _letters(str(key)) in keys:
            if isinstance(value, str) and value:
                return value
            if isinstance(value, list) and value and isinstance(value[0], str):
                return str(value[0])
    return None


@lru_cache(maxsize=4096)
def _letters(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())


def read_by(command: str | None) -> str | None:
    """The file that a command does nothing but print: ``cat a.txt``, ``sed -n 1,9p a.txt``. ``None`` for any other, and where it is not plain."""
    if not command or len(command) > 500 or any(mark in command for mark in "|;&<>`$\n"):
        return None
    first = command.split(maxsplit=1)[:1]
    if first and not _QUOTES & set(first[0]) and _program(first[0]) not in _READERS and _program(first[0]) not in ("sed", "git"):
        return None  # whatever else is typed, which takes long to take apart
    try:
        typed = command.split() if _UNQUOTED.fullmatch(command) else shlex.split(command)
    except ValueError:
        return None
    if len(typed) < 2:
        return None
    program = _program(typed[0])
    last = typed[-1]
    if last.startswith("-"):
        return None
    if (
        program in _READERS
        or (program == "sed" and "-n" in typed and len(typed) >= 4)
        or (program == "git" and typed[1] == "show" and ":" in last)
    ):
        return last
    return None


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1].lower()
