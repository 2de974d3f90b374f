"""What the verbs print with."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from typing import Any

import orjson

from tachograph.core.errors import UsageError


def print_json(value: Any) -> None:
    """One JSON document on stdout and nothing else. Bytes (bodies that are no text) become ``{"$base64": …}``."""
    sys.stdout.write(document(value, unicode=_unicode()) + "\n")


def document(value: Any, *, unicode: bool = False) -> str:
    """A value as JSON of many lines, each level one blank further in; in ASCII unless ``unicode``. Numbers may be written otherwise than ``json`` does,
    and are the same."""
    try:  # a tenth of the time for the half megabyte of a long session's postmortem
        text = _INDENT.sub(r"\1", orjson.dumps(value, default=_other, option=orjson.OPT_INDENT_2).decode())
    except (TypeError, ValueError):  # integers of more than 64 bits, keys that are no text, a lone surrogate, which survives as an escape
        return json.dumps(value, indent=1, default=_other)
    return text if unicode else _BEYOND_ASCII.sub(_escaped, text)


#: Of the blanks with which a line begins, every other one. A text of JSON has no line's end in it.
_INDENT = re.compile(r"^( +)\1", re.MULTILINE)
_BEYOND_ASCII = re.compile(r"[^\x00-~]+")


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def json_line(value: Any) -> str:
    """One value as one line of JSON. ASCII, so that lone surrogates survive."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_other)


def _other(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        import base64

        return {"$base64": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} is no JSON")


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and sys.stdout.errors == "surrogateescape"


def confirm(question: str) -> None:
    """Ask on the terminal. Raises ``UsageError`` where there is none, and for any answer but yes."""
    if not sys.stdin.isatty():
        raise UsageError("this cannot be taken back, and there is no terminal to ask on; say --yes if it is meant")
    sys.stderr.write(f"{question} [yes/no] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("not confirmed, and nothing was done; answer yes if it is meant")


def policy_argument(parser: argparse.ArgumentParser) -> None:
    """The option of every verb that redacts."""
    parser.add_argument(
        "--policy", metavar="FILE", help="what to mask: a file with a table [redact] (else TACHO_POLICY, else the nearest tachograph.toml)"
    )


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 call``, ``2 calls``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def duration(milliseconds: float | None) -> str:
    """For people."""
    if milliseconds is None:
        return "?"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 120 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def print_notes(notes: Iterable[str]) -> None:
    """Lines that a person should read, on standard error."""
    for note in notes:
        print(f"tacho: note: {note}", file=sys.stderr)


def files_changed(found: list[dict[str, Any]]) -> list[str]:
    """Files outside of the workspace that are others by now."""
    shown, other = [each for each in found if each["shown"]], [each for each in found if not each["shown"]]
    lines = [f"  changed since, and shown as recorded: {', '.join(each['path'] for each in shown[:5])}"] if shown else []
    if len(shown) > 5:
        lines[0] += f" and {len(shown) - 5} more"
    lines += [f"  not as recorded: {each['path']}: {each['why']}" for each in other[:5]]
    return [*lines, f"  … and {len(other) - 5} more not as recorded; the report names them all (--report F)"] if len(other) > 5 else lines
