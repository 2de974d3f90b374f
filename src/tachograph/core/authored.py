"""Lines of code as they can be recognised again: after a formatter, in another place, in another commit.

Shared by the recorder, the commit hook and ``tacho blame``, so that all three mean the same by *the same line*. The hook runs on any Python from
3.9 on and without site-packages: standard library alone.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it: the hook pays for each module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

#: Characters of a normalised line from which on it says something by itself. ``return x``, ``});`` and ``else:`` are everybody's.
TELLING = 12
#: A text with longer lines is no code that somebody typed.
LONGEST = 2000

_QUOTES = str.maketrans({"'": '"', "`": '"'})
#: Keys of a tool's input under which stands what is to be replaced, and not what is written.
OLD = frozenset({"old", "old_str", "old_string", "old_text", "oldtext", "search", "find", "before", "original", "pattern", "context"})


def normal(line: str) -> str:
    """A line without what a formatter changes: white space, the kind of quotes, a comma or semicolon at the end."""
    return "".join(line.split()).translate(_QUOTES).rstrip(",;")


def telling(line: str) -> bool:
    """Whether a normalised line is of somebody, rather than everybody's: long enough, with words in it."""
    return TELLING <= len(line) <= LONGEST and sum(map(str.isalnum, line)) >= TELLING // 2


def key(line: str) -> str:
    """The name of a normalised line: 16 hexadecimal digits. Not for what leaves this machine: a guess can be confirmed."""
    import hashlib  # the commit hook needs it for a person's commit only

    return hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def keys(text: str) -> Iterator[str]:
    """The names of the telling lines of a text."""
    for line in text.split("\n"):
        found = normal(line)
        if telling(found):
            yield key(found)


def written(value: Any) -> Iterator[str]:
    """The texts in a JSON value that somebody wrote: all strings, but those that say what is to be replaced, and of a patch the added lines."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield patched(one)
        elif isinstance(one, dict):
            waiting += [item for name, item in one.items() if str(name).lower() not in OLD]
        elif isinstance(one, (list, tuple)):
            waiting += one


def patched(text: str) -> str:
    """What a patch adds, where the text is one: a unified diff, the format of ``apply_patch``, blocks of SEARCH and REPLACE. Else the text."""
    if "\n+" in text and ("\n@@" in text or text.startswith(("@@", "***")) or "\n*** " in text or "\n+++ " in text):
        return "\n".join(_added(text.split("\n")))
    if "<<<<<<< SEARCH" in text and ">>>>>>> REPLACE" in text:
        return "\n".join(_replacing(text.split("\n")))
    return text


def _added(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("+") and not line.startswith("+++ "):
            yield line[1:]


def _replacing(lines: Iterable[str]) -> Iterator[str]:
    searching = False
    for line in lines:
        if line.startswith("<<<<<<< SEARCH"):
            searching = True
        elif line.startswith("=======") and searching:
            searching = False
        elif not searching and not line.startswith(">>>>>>> REPLACE"):
            yield line
