"""Values known to be secret, and every form in which they may turn up.

The forms of a value: itself; URL-escaped (both ways of writing a space); JSON-escaped (with and without ``\\u`` escapes); base64 at each of
the three offsets, in both alphabets, without the characters that its neighbours share.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from tachograph.redact import shapes
from tachograph.redact.finders import addresses
from tachograph.redact.finders.vendors import DEFAULT
from tachograph.redact.lazy import expression
from tachograph.redact.literals import Literals
from tachograph.redact.names import NOTHING, Named, Strength, folder, named, variable
from tachograph.redact.spans import Found
from tachograph.redact.words import table

#: Characters. Shorter values are everywhere by chance.
SHORTEST = 6
#: Characters of a value that a person named. One that is shorter than ``SHORTEST`` is masked as a word of its own only.
SHORTEST_SURE = 4
#: Variables of our own that hold names of secret variables, and no secrets.
NAMES = ("TACHO_SECRETS",)
#: Characters of a line of a value that has several. Shorter lines are brackets and single letters.
_SHORTEST_LINE = 16
_KEY_LINE = expression(r"[A-Za-z0-9+/]{16,}={0,2}")
#: Characters that must have come of a value for its beginning to be recognised at the end of a broken text, and of its end looked at.
BEGUN = 8
_LONGEST_BEGINNING = 16384
#: Characters. A form of base64 shorter than this is met by chance.
_SHORTEST_ENCODED = 10

_BLOCK = "PRIVATE KEY-----"
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

_TRIVIAL = table(
    """
    root admin user username guest ubuntu debian runner nobody postgres mysql default localhost public private development
    production staging testing password passwd secret changeme token example sample unknown disabled enabled required optional
    github gitlab docker python3 linux darwin windows x86_64 master origin config
    """
)


def acceptable(value: str) -> bool:
    """Whether a value can be masked everywhere without mangling ordinary text."""
    if len(value.strip()) < SHORTEST or value.lower() in _TRIVIAL or len(set(value)) < 3:
        return False
    if value.replace(".", "").replace("-", "").replace(":", "").isdigit() and len(value) < 8:
        return False
    return _BLOCK in value or not shapes.hollow(value)  # the dashes of a key block are no line drawn in place of a value


def forms(value: str, least: int = SHORTEST) -> Iterator[tuple[str, bool]]:
    """All forms, the value itself first, without doubles, each with whether it is base64."""
    seen = set()
    for form, encoded in (*((form, False) for form in _forms(value)), *((form, True) for form in _encoded(value))):
        if len(form) >= least and form not in seen:
            seen.add(form)
            yield form, encoded


def _forms(value: str) -> Iterator[str]:
    yield value
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    yield escaped
    yield json.dumps(value)[1:-1]
    yield json.dumps(escaped, ensure_ascii=False)[1:-1]
    yield json.dumps(escaped)[1:-1]
    yield json.dumps(json.dumps(value)[1:-1])[1:-1]
    yield escaped.replace("/", "\\/")
    raw = value.encode("utf-8", "surrogatepass")
    yield quote(raw, safe="")
    yield quote(raw)
    yield quote_plus(raw)
    yield quote(quote(raw, safe=""), safe="")
    for html in (value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),):
        yield html
        yield html.replace('"', "&quot;").replace("'", "&#x27;")
    if len(raw) >= _SHORTEST_ENCODED:
        yield raw.hex()
        yield raw.hex().upper()


def _encoded(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogatepass")
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        form = encoded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
        if len(form) >= _SHORTEST_ENCODED:
            yield form
            yield form.replace("+", "-").replace("/", "_")


class _Form(NamedTuple):
    """Whose form a literal is. ``alone``: it counts only as a word of its own."""

    kind: str
    encoded: bool
    alone: bool


class Known:
    """An index over known values, which grows while a session is recorded."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self._forms: dict[str, _Form] = {}
        self._heads: dict[str, list[str]] = {}
        self._literals = Literals()

    @property
    def generation(self) -> int:
        """Another number whenever more is known."""
        return len(self._forms)

    def learn(self, value: str, kind: str, *, sure: bool = False) -> bool:
        """Adds a value; False where it is known already, too short or trivial. ``sure``: a person said that it is secret, so it may be any
        word of at least four characters. A value of several lines is known by each of them, too."""
        if value in self.kinds or not (len(value.strip()) >= SHORTEST_SURE if sure else acceptable(value)):
            return False
        self.kinds[value] = kind
        for form, encoded in forms(value, least=SHORTEST_SURE if sure else SHORTEST):
            self._add(form, _Form(kind, encoded, alone=len(form) < SHORTEST))
        lines = value.replace("\\n", "\n").splitlines()
        if len(lines) > 1:
            for line in lines:
                line = line.strip()
                if kind == "private-key" and not _KEY_LINE.fullmatch(line):
                    continue  # a block that was cut is masked to the end of its text, and what else stands there is no key
                if len(line) >= _SHORTEST_LINE and acceptable(line) and not line.startswith("-----"):
                    self._add(line, _Form(kind, encoded=False, alone=False))
        return True

    def _add(self, literal: str, form: _Form) -> None:
        if literal not in self._forms:
            self._forms[literal] = form
            self._literals.add(literal)
            if len(literal) > BEGUN:
                self._heads.setdefault(literal[:BEGUN], []).append(literal)

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def find(self, text: str) -> list[Found]:
        """All occurrences of all forms."""
        out: list[Found] = []
        if self._forms:
            for start, literal in self._literals.find(text):
                kind, encoded, alone = self._forms[literal]
                end = start + len(literal)
                if alone and (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
                    continue
                if encoded:
                    start, end = _whole(text, start, end)
                out.append(Found(start, end, kind, "known-value"))
        return out

    def beginning(self, text: str) -> int:
        """Where a form of a known value begins that the end of the text cut off after at least ``BEGUN`` characters; -1 for nowhere."""
        if self._heads:
            for at in range(max(0, len(text) - _LONGEST_BEGINNING), len(text) - BEGUN + 1):
                for literal in self._heads.get(text[at : at + BEGUN], ()):
                    if len(literal) > len(text) - at and literal.startswith(text[at:]):
                        return at
        return -1


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters of base64 that a neighbour shares hold some of the value's bits, too."""
    for _ in range(2):
        start -= start > 0 and text[start - 1] in _BASE64
        end += end < len(text) and text[end] in _BASE64
    while end < len(text) and text[end] == "=":
        end += 1
    return start, end


def _stands_out(value: str, said: Named) -> bool:
    """A wordy value under a sure name (``opaque-token-value``): masked everywhere if it is no word that a text may well hold."""
    if said.strength is not Strength.STRICT or shapes.harmless(value, quoted=True) or shapes.switch(value):
        return False
    return len(value) >= 10 and not value.isalpha()


def known_from_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The values of an environment that are secrets, by the name of their variable or by their own shape, each with the kind ``env``.

    Short and trivial values, paths, booleans and numbers are left out: a known value is masked wherever it turns up.
    """
    out: dict[str, str] = {}
    for name, value in env.items():
        value = value.strip()
        if not acceptable(value):
            continue
        said = NOTHING if name in NAMES or folder(name, value) else named(name) if value.isdigit() else variable(name)
        if said.strength and (shapes.secret(value, said, quoted=True, tight=True) or _stands_out(value, said)):
            out[value] = "env"
        elif len(value) <= 8192:
            for start, end, *_ in (*DEFAULT.find(value), *addresses.find(value)):
                if acceptable(value[start:end]):
                    out[value[start:end]] = "env"
    return out
