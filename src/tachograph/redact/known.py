"""Values known to be secret, and every form in which they may turn up.

The forms of a value: itself; URL-escaped (both ways of writing a space); JSON-escaped (with and without ``\\u`` escapes); base64 at each of
the three offsets, in both alphabets, without the characters that its neighbours share.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from tachograph.redact import addresses, shapes
from tachograph.redact.names import NOTHING, Named, Strength, folder, named, variable
from tachograph.redact.rules.rule import RUN
from tachograph.redact.spans import Found
from tachograph.redact.vendors import DEFAULT
from tachograph.redact.words import table

#: Characters. Shorter values are everywhere by chance.
SHORTEST = 6
#: Characters. A form of base64 shorter than this is met by chance.
_SHORTEST_ENCODED = 10

_RUN = re.compile(r"[A-Za-z0-9_.~-]+")
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
    return not shapes.hollow(value)


def forms(value: str) -> Iterator[tuple[str, bool]]:
    """All forms, the value itself first, without doubles, each with whether it is base64."""
    seen = set()
    for form, encoded in (*((form, False) for form in _forms(value)), *((form, True) for form in _encoded(value))):
        if len(form) >= SHORTEST and form not in seen:
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


class Known:
    """An index over known values. Forms that lie in a long run of token characters are looked for in the narrowed text only."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self._narrow: list[tuple[str, str, str, bool]] = []
        self._whole: list[tuple[str, str, bool]] = []

    def learn(self, value: str, kind: str) -> bool:
        """Adds a value; False where it is known already, too short or trivial."""
        if value in self.kinds or not acceptable(value):
            return False
        self.kinds[value] = kind
        for form, encoded in forms(value):
            probe = max(_RUN.findall(form), key=len, default="")
            if len(probe) >= RUN:
                self._narrow.append((probe, form, kind, encoded))
            else:
                self._whole.append((form, kind, encoded))
        return True

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def find(self, text: str, narrow: str) -> list[Found]:
        """All occurrences of all forms."""
        out: list[Found] = []
        for form, kind, encoded in self._whole:
            if form in text:
                _collect(text, form, kind, encoded, out)
        for probe, form, kind, encoded in self._narrow:
            if probe in narrow and form in text:
                _collect(text, form, kind, encoded, out)
        return out

    def beginning(self, text: str, least: int) -> int:
        """Where a known value begins that the end of the text cut off after at least ``least`` characters; -1 for nowhere."""
        first = -1
        for value in self.kinds:
            for length in range(min(len(value) - 1, len(text)), least - 1, -1):
                if text.endswith(value[:length]):
                    at = len(text) - length
                    first = at if first < 0 else min(first, at)
                    break
        return first


def _collect(text: str, form: str, kind: str, encoded: bool, out: list[Found]) -> None:
    at = text.find(form)
    while at >= 0:
        start, end = at, at + len(form)
        if encoded:  # the characters that a neighbour shares hold some of the value's bits, too
            for _ in range(2):
                start -= start > 0 and text[start - 1] in _BASE64
                end += end < len(text) and text[end] in _BASE64
            while end < len(text) and text[end] == "=":
                end += 1
        out.append(Found(start, end, kind, "known-value"))
        at = text.find(form, at + len(form))


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
        said = NOTHING if folder(name, value) else named(name) if value.isdigit() else variable(name)
        if said.strength and (shapes.secret(value, said, quoted=True, tight=True) or _stands_out(value, said)):
            out[value] = "env"
        elif len(value) <= 8192:
            for start, end, *_ in (*DEFAULT.find(value, DEFAULT.narrow(value)), *addresses.find(value)):
                if acceptable(value[start:end]):
                    out[value[start:end]] = "env"
    return out
