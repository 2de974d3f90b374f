"""False alarms in ordinary text: sources, documentation, JSON, JavaScript, lock files, pictures, as found on this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from redact_samples import redactor

#: Characters of a piece, and of all of them.
PIECE, ALL = 12_540, 20_000_000
#: In a piece of each so many an alarm may be one too many: real examples of passwords stand in documentation, too.
PIECES_PER_ALARM = 800
#: Example credentials, which are to be found.
_EXAMPLES = ("test", "tests", "idlelib", "examples", "examples-1.json")


def files(folder: str, *patterns: str) -> Iterator[Path]:
    top = Path(sysconfig.get_paths()[folder])
    for pattern in patterns:
        for path in sorted(top.rglob(pattern)):
            parts = path.relative_to(top).parts
            if path.is_file() and not set(_EXAMPLES) & set(parts) and (folder != "stdlib" or "site-packages" not in parts):
                yield path


def pieces() -> Iterator[tuple[str, str]]:
    """(where it is from, text)."""
    shares = (
        (0.50, files("stdlib", "*.py")), (0.12, files("purelib", "METADATA", "*.md", "*.rst")), (0.10, files("purelib", "*.js")),
        (0.12, files("purelib", "service-2.json", "*.json")),
    )  # fmt: skip
    for share, paths in shares:
        left = share * ALL
        for path in paths:
            text = path.read_text("utf-8", "ignore")
            for at in range(0, len(text), PIECE):
                if left > 0:
                    yield path.name, text[at : at + PIECE]
                    left -= len(text[at : at + PIECE])
    yield from _made()


def _made() -> Iterator[tuple[str, str]]:
    draw = random.Random(7)
    packages = {
        f"node_modules/pkg-{n}": {
            "version": f"{n % 9}.{n % 7}.{n % 5}", "resolved": f"https://registry.npmjs.org/pkg-{n}/-/pkg-{n}-1.0.tgz",
            "integrity": "sha512-" + base64.b64encode(draw.randbytes(64)).decode(), "dependencies": {"token-types": "^4.0", "cookie-signature": "1.0.6"},
        }
        for n in range(2500)
    }  # fmt: skip
    log = "".join(
        f"commit {hashlib.sha1(str(n).encode()).hexdigest()}\nAuthor: a <a@example.org>\n\n    Fix the token cache, see {n}\n\n"
        for n in range(4000)
    )
    sums = "".join(f"github.com/x/y{n} v1.2.{n}/go.mod h1:{base64.b64encode(draw.randbytes(32)).decode()}\n" for n in range(4000))
    pictures = "data:image/png;base64," + base64.b64encode(draw.randbytes(900_000)).decode()
    for name, text in (("lock", json.dumps(packages, indent=2)), ("log", log), ("sums", sums), ("picture", pictures)):
        for at in range(0, len(text), PIECE):
            yield name, text[at : at + PIECE]


@pytest.mark.slow
def test_ordinary_text_raises_hardly_an_alarm() -> None:
    red = redactor()
    count, alarms = 0, []
    for name, text in pieces():
        count += 1
        if spans := red.spans(text):
            alarms.append((name, [(span.rule, text[max(0, span.start - 40) : span.end + 10]) for span in spans[:3]]))
    assert count > 800
    assert len(alarms) <= max(2, count // PIECES_PER_ALARM), alarms
