"""Read the pages, and run what they say can be run.

A fenced block is told what it is by an HTML comment in the line before it:

| comment | the block |
|---|---|
| ``<!-- test -->`` | ``console``: each ``$ …`` is run, its output compared (``exit=N``: so the last one ends); ``python``: must succeed |
| ``<!-- file NAME -->`` | is written to NAME in the current folder |
| ``<!-- server SCRIPT -->`` | starts a scripted model, in a terminal of its own: here a fixture does that |

All blocks of a page run in one shell, in order, in a home folder of their own that holds a copy of ``examples/`` in ``~/tachograph``.
A line ``…`` stands for any lines. Blocks without a comment are not run; what they name must exist all the same (``test_docs_links``).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(
    r"(?:<!-- (?P<mark>test|file|server)(?P<said>[^>]*?) -->\n)?^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_DONE = "\x1edone"


@dataclass(frozen=True)
class Block:
    """One fenced block. ``line``: of its first line of text."""

    mark: str | None
    said: str
    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Step:
    """One thing to be done. ``expected`` is None where only success counts."""

    line: int
    command: str
    expected: str | None
    exit_code: int


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["mark"], (found["said"] or "").strip(), found["language"], found["text"], text.count("\n", 0, found.start("text")) + 1)
        for found in _FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """(line, command, output) of a console block. A command goes on after a backslash at the end of its line."""
    lines = block.text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"line {block.line + at}: a console block begins with a command"
        start, command = at, lines[at][2:]
        while command.endswith("\\\n"):
            at += 1
            command += lines[at]
        at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        yield block.line + start, command.rstrip("\n"), "".join(output)


def steps(page: Path) -> list[Step]:
    """What the marked blocks of a page do, in order."""
    out: list[Step] = []
    for block in blocks(page):
        if block.mark == "file":
            out.append(Step(block.line, _here(f"cat > {shlex.quote(block.said)}", block.text), "", 0))
        elif block.mark == "test" and block.language == "python":
            out.append(Step(block.line, _here("python -", block.text), None, 0))
        elif block.mark == "test":
            found = [Step(line, command, output, 0) for line, command, output in commands(block)]
            code = re.fullmatch(r"(?:exit=(\d+))?", block.said)
            assert code, f"{name(page)}:{block.line}: test takes exit=N, not {block.said!r}"
            last = found.pop()
            out += [*found, Step(last.line, last.command, last.expected, int(code[1] or 0))]
    return out


def _here(command: str, text: str) -> str:
    return f"{command} <<'END-OF-BLOCK'\n{text}END-OF-BLOCK"


def server(page: Path) -> Path | None:
    """The script of the model that the page has its reader start."""
    found = [block for block in blocks(page) if block.mark == "server"]
    return ROOT / found[0].said if found else None


def run(todo: list[Step], home: Path, **environment: str) -> list[tuple[int, str]]:
    """Do the steps in one shell. Returns (exit code, what was printed) of each."""
    checkout = home / "tachograph"
    shutil.copytree(ROOT / "examples", checkout / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    script = ["exec 2>&1"]
    for step in todo:
        script += [step.command, f"printf '\\n{_DONE} %d\\n' $?"]
    (home / ".steps").write_text("\n".join(script) + "\n", encoding="utf-8")
    settings = {
        "HOME": str(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8", "TERM": "dumb",
        "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_NOSYSTEM": "1", "USER": "you", **environment,
    }  # fmt: skip
    shell = ["bash", "--norc", str(home / ".steps")]
    done = subprocess.run(shell, cwd=checkout, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120, check=False)
    parts = re.split(rf"\n{_DONE} (\d+)\n", done.stdout.decode("utf-8", "backslashreplace"))
    return [(int(code), said) for said, code in zip(parts[::2], parts[1::2], strict=False)]


_VARYING = (
    (r"\[REDACTED:([a-z0-9-]+):[0-9a-f]{8}\]", r"[REDACTED:\1:FP]"),
    (r"\b(ses|evt)_[0-9A-HJKMNP-TV-Z]{26}", r"\1_ID"),
    (r"\bsto_[0-9a-f]{20}", "sto_ID"),
    (r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?| \d\d:\d\d UTC)", "TIME"),
    (r"\bby \S+ on \S+ \(line \d+ of the ledger\)", "by USER on HOST (line N of the ledger)"),
    (r"\(\d+ KiB\)", "(N KiB)"),
    (r"\b[A-Za-z0-9+/]{43}=", "BASE64"),
    (r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b", "HEX"),
    (r"\b(\d+ min )?\d+(\.\d+)? (ms|s)\b", "DURATION"),
    (r"\+(\d+:)+\d\d\b", "+DURATION"),
    (r'"(seconds|duration_ms|first_token_ms)": ?[0-9.]+', r'"\1": N'),
    (r"\b(process|pid) \d+", r"\1 N"),
    (r"\boffset \d+", "offset N"),
    (r"\b\d+ bytes of a write", "N bytes of a write"),
    # Reads of the clock and the like are lines of their own, one a commit: how many there are, and so how lines are numbered, depends on timing.
    (r"(?<![\w/])#\d+\b", "#N"),
    (r"(?<=--event )\d+\b", "N"),
    (r"\b(\d+) of \1 (lines|events)\b", r"N of N \2"),
    (r"\bin \d+ events\b", "in N events"),
    # How many secrets there are, and of which kind, depends on the environment that the tests run in.
    (r"\b\d+ (redactions|redacted)\b( \([^()\n]*\))?", r"N \1"),
    (r"\b127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    # What a machine's kernel can do is no matter of a page.
    (r'"(namespace|shm|landlock|seccomp)": [^\n]*?(,?)$', r'"\1": HERE\2'),
    (r"^  a guard that did not hold here: .*\n", ""),
    (r"(?<=\S) {2,}", " "),
    (r" +$", ""),
)
_VARYING_COMPILED = [(re.compile(pattern, re.MULTILINE), by) for pattern, by in _VARYING]


def normal(text: str, home: Path | None = None) -> str:
    """The text without what differs from run to run."""
    if home is not None:
        text = text.replace(str(home), "/home/you")
    text = text.replace(str(Path(sys.executable).parent) + "/", "")
    for pattern, by in _VARYING_COMPILED:
        text = pattern.sub(by, text)
    return text.strip("\n")


def agrees(expected: str, actual: str) -> bool:
    """Both normal. A line ``…`` stands for any lines."""
    pattern = "".join(r"(?:.*\n)*" if line == "…\n" else re.escape(line) for line in (expected + "\n").splitlines(keepends=True))
    return re.fullmatch(pattern, actual + "\n") is not None
