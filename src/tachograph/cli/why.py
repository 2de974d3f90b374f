"""``tacho why``."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from typing import Any

from tachograph import wiring
from tachograph.core.errors import NotFoundError, UsageError
from tachograph.log.reader import Recording, resolve
from tachograph.postmortem import why_text
from tachograph.postmortem.story import tell
from tachograph.postmortem.why import Tracer, Why, event_json

from . import reading
from .app import NO
from .output import print_json

MAX_WIDTH = 140
_LINE = re.compile(r"(.+):([1-9][0-9]{0,8})\Z", re.DOTALL)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the words to trace; - reads them from standard input")
    parser.add_argument(
        "--event",
        metavar="E",
        help="trace every part of what this event says: its id, the number of its line, or step:N for the answer of a step",
    )
    parser.add_argument("--line", metavar="FILE:LINE", help="trace a line of a file, as this session last wrote it (else as it lies here)")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.intermixed = True  # type: ignore[attr-defined]  # app's own


def run(options: argparse.Namespace) -> int:
    asked = [one for one in (options.text, options.event, options.line) if one is not None]
    if len(asked) != 1:
        raise UsageError("name one thing to trace: a text, --event E or --line FILE:LINE; tacho why --help shows how")
    text = _text(options.text)
    place = _place(options.line)
    reading.quickly()
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    recording = Recording(opened, session_id)
    reading.enter(chosen, opened, [session_id], "why")
    tracer = Tracer(tell(recording, redactions=False), recording)
    width = max(60, min(shutil.get_terminal_size((120, 40)).columns, MAX_WIDTH))
    if options.event is not None:
        parts = tracer.event(options.event)
        _show(event_json(parts, options.event), why_text.part_lines(parts, width=width), json=options.json)
        return 0
    if place is not None:
        text = line_of(tracer, *place)
    answer = tracer.why(text or "")
    if not answer.found:
        return _nowhere(answer, json=options.json)
    _show(answer.to_json(), why_text.lines(answer, width=width), json=options.json)
    return 0


def _text(given: str | None) -> str | None:
    if given == "-":
        import sys

        given = sys.stdin.buffer.read().decode("utf-8", "replace")
    if given is not None and not given.strip():
        raise UsageError("a text that is empty; give some words that the session holds")
    return given


def _place(given: str | None) -> tuple[str, int] | None:
    if given is None:
        return None
    match = _LINE.match(given)
    if match is None:
        raise UsageError(f"{given[:80]} names no line; write FILE:LINE, as in src/login.py:12")
    return match[1], int(match[2])


def line_of(tracer: Tracer, path: str, number: int) -> str:
    """The text of a line: as the session last wrote it, else as it lies here, else as it is in HEAD."""
    text = tracer.line(path, number)
    if text is None:
        text = _here(path, number)
    if not text.strip():
        raise UsageError(f"line {number} of {path} is blank, and says nothing that could be traced; name another one")
    return text


def _here(path: str, number: int) -> str:
    from tachograph.links.git import Repository

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            content: str | None = file.read()
    except OSError:
        folder = os.path.dirname(os.path.abspath(path))
        try:
            repository = Repository(folder if os.path.isdir(folder) else os.getcwd())
            content = repository.text(os.path.relpath(os.path.abspath(path), os.path.realpath(repository.top)), "HEAD")
        except (NotFoundError, UsageError):
            content = None
    if content is None:
        raise NotFoundError(
            f"the session wrote no file {path}, and there is none here nor in HEAD; tacho show lists the files that it wrote"
        )
    lines = content.split("\n")
    if lines[-1:] == [""]:
        lines.pop()
    if number > len(lines):
        raise NotFoundError(f"{path} has {len(lines)} lines, and no line {number}; name one that is there")
    return lines[number - 1]


def _nowhere(answer: Why, *, json: bool) -> int:
    if json:
        print_json(answer.to_json())
    else:
        print(why_text.verdict(answer))
    return NO


def _show(document: Any, lines: list[str], *, json: bool) -> None:
    if json:
        print_json(document)
    else:
        print("\n".join(lines))
