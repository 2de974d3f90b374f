"""Texts that can be planted in a session, and the ways in which an agent writes them on."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import shlex
import textwrap
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

_WORDS = """
anchor basket candle dolphin engine feather garden hammer island jacket kettle ladder marble needle orchard pebble quarry ribbon saddle timber umbrella velvet
walnut yonder zephyr amber bronze copper denim ebony fabric granite harbour ivory jasper kiosk lantern meadow nectar opal pewter quartz rustic silver tundra
urban violet willow xenon yellow zinc
"""
WORDS = _WORDS.split()


def sentence(seed: int) -> str:
    """Words and a number that no other sentence has."""
    rng = random.Random(seed)
    chosen = rng.sample(WORDS, 6)
    return f'The {chosen[0]} {chosen[1]} must move to {chosen[2]} {rng.randrange(1000, 9999)} before the {chosen[3]} "{chosen[4]}" is {chosen[5]}ed & sent.'


def code(seed: int) -> str:
    rng = random.Random(seed)
    one, two, three = rng.sample(WORDS, 3)
    return f"def {one}_{two}(value):\n    if value > {rng.randrange(100, 999)}:\n        return {three}_of(value)\n    return None"


def name(seed: int) -> str:
    rng = random.Random(seed)
    return "_".join(rng.sample(WORDS, 3))


def amount(seed: int) -> str:
    return f"{random.Random(seed).randrange(1_000_000, 9_999_999):,}.50"


def camel(words: str) -> str:
    first, *rest = words.split("_")
    return first + "".join(word.title() for word in rest)


def patch(lines: str) -> str:
    body = "\n".join("+" + line for line in lines.split("\n"))
    return f"--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,9 @@\n import os\n{body}\n-old line\n"


@dataclass(frozen=True)
class Way:
    """How a text is written on. ``made``: of a seed; ``written``: what becomes of it."""

    name: str
    made: Callable[[int], str]
    written: Callable[[str], str]


def _fancy(words: str) -> str:
    """The words with letters that look like them: full width, ligatures."""
    return "".join(chr(ord(char) + 0xFEE0) if char in "aeiou" else char for char in words)


WAYS = (
    Way("verbatim", sentence, lambda words: words),
    Way("verbatim code", code, lambda words: words),
    Way("JSON-escaped", code, lambda words: json.dumps(words)[1:-1]),
    Way("JSON-escaped twice", sentence, lambda words: json.dumps(json.dumps(words))),
    Way("unicode escapes", lambda seed: sentence(seed).replace("e", "é"), json.dumps),
    Way("HTML-escaped", sentence, html.escape),
    Way("URL-escaped", sentence, quote),
    Way("form-escaped", sentence, quote_plus),
    Way("shell-quoted", lambda seed: sentence(seed).replace("before", "can't"), shlex.quote),
    Way("reindented", code, lambda words: textwrap.indent(words, "\t\t")),
    Way("upper case", sentence, str.upper),
    Way("white space", sentence, lambda words: words.replace(" ", "   ")),
    Way("wrapped", sentence, lambda words: "\n".join(textwrap.wrap(words, 24))),
    Way("quoted in a reply", sentence, lambda words: textwrap.indent("\n".join(textwrap.wrap(words, 30)), "> ")),
    Way("NFD", lambda seed: sentence(seed).replace("e", "é"), lambda words: unicodedata.normalize("NFD", words)),
    Way("full width", sentence, _fancy),
    Way("accents lost", lambda seed: sentence(seed).replace("e", "é"), lambda words: words.replace("é", "e")),
    Way("base64", sentence, lambda words: base64.b64encode(words.encode()).decode()),
    Way("base64 for URLs", sentence, lambda words: base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")),
    Way("base64 in lines", lambda seed: code(seed) + code(seed + 500), lambda words: base64.encodebytes(words.encode()).decode()),
    Way("hexadecimal", sentence, lambda words: words.encode().hex()),
    Way("hex escapes", name, lambda words: "".join(f"\\x{byte:02x}" for byte in words.encode())),
    Way("patch", code, patch),
    Way("line numbers", code, lambda words: "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(words.split("\n"), 12))),
    Way("camel case", name, camel),
    Way("kebab case", name, lambda words: words.replace("_", "-")),
    Way("plain number", amount, lambda words: words.replace(",", "")),
    Way("Swiss number", amount, lambda words: words.replace(",", "'")),
    Way("German number", amount, lambda words: words.replace(",", "'").replace(".", ",").replace("'", ".")),
    Way("cut short", sentence, lambda words: words[:40] + "…"),
    Way("left out", lambda seed: sentence(seed) + " " + sentence(seed + 700), lambda words: words[:30] + " ... " + words[-30:]),
    Way("a word changed", sentence, lambda words: re.sub(r"\bmust move\b", "has to go", words)),
    Way("markup", sentence, lambda words: "<p>" + words.replace("must", "<b>must</b>") + "</p>"),
    Way("typographic marks", sentence, lambda words: words.replace('"', "“").replace(" & ", " — ")),
)  # fmt: skip
