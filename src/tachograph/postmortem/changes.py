"""What changed in the workspace: single changes as they were seen, their sum per file, and unified diffs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .shapes import FileChange, Story

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .values import Value

#: A diff of longer texts than this is not computed (difflib is quadratic in the worst case); the sizes are told instead.
MAX_DIFF_LINES = 20_000


@dataclass(frozen=True, kw_only=True)
class FileTotal:
    """All changes of one file taken together. ``action`` is the net effect; ``none`` when the file is as it was before."""

    path: str
    action: str
    before: str | None
    after: str | None
    binary: bool
    added: int
    removed: int
    changes: tuple[FileChange, ...]

    @property
    def restorable(self) -> bool:
        """Whether the recording holds what is needed to put the file back."""
        return not self.binary and (self.before is not None or self.changes[0].action == "added")


def changes_of(content: Value, *, event_id: str, seq: int) -> tuple[FileChange, ...]:
    """The file changes in a content of the shape ``{"changes": [{"path", "action", "before", "after", "binary",
    "size"}]}``."""
    listed = content.value.get("changes") if isinstance(content.value, dict) else content.value
    if not isinstance(listed, list):
        return ()
    return tuple(
        FileChange(
            path=str(one["path"]),
            action=str(one.get("action") or "changed"),
            before=_text(one.get("before")),
            after=_text(one.get("after")),
            binary=bool(one.get("binary")),
            size=one.get("size") if isinstance(one.get("size"), int) else None,
            event_id=event_id,
            seq=seq,
        )
        for one in listed
        if isinstance(one, dict) and one.get("path") is not None
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def totals(story: Story) -> tuple[FileTotal, ...]:
    """The net change per file, by path. A change seen twice (at a command and at the tool call around it) counts once."""
    by_path: dict[str, list[FileChange]] = {}
    for change in sorted(all_changes(story), key=lambda one: one.seq):
        known = by_path.setdefault(change.path, [])
        latest = known[-1] if known else None
        if latest is None or (latest.action, latest.before, latest.after) != (change.action, change.before, change.after):
            known.append(change)
    return tuple(_total(path, found) for path, found in sorted(by_path.items()))


def all_changes(story: Story) -> Iterable[FileChange]:
    """Every single change, as it was seen."""
    for _, item in story.walk():
        yield from getattr(item, "changes", ())


def _total(path: str, found: list[FileChange]) -> FileTotal:
    first, last = found[0], found[-1]
    binary = any(one.binary for one in found)
    existed, exists = first.action != "added", last.action != "deleted"
    if existed and exists:
        action = "none" if not binary and first.before is not None and first.before == last.after else "changed"
    else:
        action = "added" if exists else "deleted" if existed else "none"
    lines = diff_lines(first.before, last.after)
    return FileTotal(
        path=path,
        action=action,
        before=first.before,
        after=last.after,
        binary=binary,
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        changes=tuple(found),
    )


def diff_lines(before: str | None, after: str | None) -> list[str]:
    """The hunks of a unified diff, without file headers. Empty when there is nothing to compare or it would take too
    long."""
    old, new = (before or "").split("\n"), (after or "").split("\n")
    if len(old) + len(new) > MAX_DIFF_LINES:
        return []
    if old[-1] == new[-1] == "" or not before or not after:  # the end of the last line is no line of its own
        old, new = old[: -1 if old[-1] == "" else None], new[: -1 if new[-1] == "" else None]
    return list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]


def size_words(total: FileTotal | FileChange) -> str:
    """``+3 −1``, or what kind of change it is where there are no lines to count."""
    if total.binary:
        return "binary"
    if isinstance(total, FileChange):
        lines = diff_lines(total.before, total.after)
        added, removed = sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)
    else:
        added, removed = total.added, total.removed
    return f"+{added} −{removed}" if added or removed else "no text recorded"
