"""Secrets inside encodings: decode what is surely an encoded text, scan what comes out, and mask the encoded characters.

| encoding | taken for one | what is masked |
|---|---|---|
| base64, both alphabets, also wrapped | at least 24 characters that decode to text (UTF-8, or UTF-16 as PowerShell writes it) | the whole run |
| hexadecimal | at least 32 digits that decode to printable ASCII | the whole run |
| ``%41``, ``\\u0041``, ``\\x41``, ``&quot;``, quoted-printable | an escape of a printable ASCII character | what the secret's characters are written as |

What decodes to bytes that are no text is left alone: pictures, signatures, digests, ciphertext, random blobs. That is seen from the first
bytes, so a large picture costs nothing. What comes out is scanned once, and may itself hold an encoding: two layers, no more. Each layer of
base64 or hexadecimal is shorter than the one around it, and of the escapes only the lines around them are scanned again, so the cost is
linear in the text.

A text without a run of 24 base64 characters, without ``%``, backslash, ``&`` and ``=`` cannot hold anything that this module finds.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from tachograph.redact.prefilter.engines import Hit
from tachograph.redact.prefilter.trigger import ANYWHERE, RUNS, Trigger
from tachograph.redact.spans import Found

#: Layers of encoding that are undone.
LAYERS = 2

_SHORTEST = 24
#: Characters of a line of wrapped base64: fewer are a word that happens to stand on a line of its own.
_SHORTEST_LINE = 40
_SHORTEST_HEX = 32
#: Characters. A longer run is no path, and no token with a prefix.
_LONGEST_PATH = 1024
#: Bytes that are looked at first.
_SAMPLE = 24
#: Characters of context around an escape in a line without end.
_REACH = 2048

_WRAP = re.compile(r"(?:\r?\n|(?:\\r)?\\n)[ \t>#]{0,24}")
_LAST_LINE = re.compile(r"(?:\r?\n|(?:\\r)?\\n)[ \t>#]{0,24}[A-Za-z0-9+/_-]{1,23}={0,2}(?=[\s\"'\\]|\Z)")
_PART = re.compile(rf"(?<![A-Za-z0-9+])[A-Za-z0-9+]{{{_SHORTEST - 2},}}={{0,2}}")
_PARTS = re.compile(r"[^A-Za-z0-9+=]")
_GAPS = re.compile(r"\\[nr]|[\s>#]")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes((9, 10, 13, *range(32, 127)))
_HIGH = bytes(range(128, 256))

_NAMED = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}


class Finding(Protocol):
    """What is used of a finding in a decoded text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def rule(self) -> str: ...


Scan = Callable[[str], Iterable[Finding]]


class _Escapes(NamedTuple):
    """One way of writing a character. A text without any of the ``marks`` has none; ``worth``: an escape which says that the text is
    written so; ``each``: all that is to be undone then."""

    marks: tuple[str, ...]
    worth: re.Pattern[str]
    each: re.Pattern[str]
    undo: Callable[[re.Match[str]], str]


def _percent(match: re.Match[str]) -> str:
    return bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace")


def _form(match: re.Match[str]) -> str:
    return " " if match.group() == "+" else _percent(match)


def _backslash(match: re.Match[str]) -> str:
    digits = match.group(1) or match.group(2)
    if digits:
        return chr(int(digits, 16))
    return _SIMPLE.get(match.group(3), match.group(3))


def _entity(match: re.Match[str]) -> str:
    name = match.group(1)
    return _NAMED[name] if name in _NAMED else chr(int("0" + name[1:], 0) if name[1] in "xX" else int(name[1:]))


def _quoted(match: re.Match[str]) -> str:
    digits = match.group(1)
    return bytes.fromhex(digits).decode("latin-1") if digits else ""


_ESCAPES = (
    _Escapes(("%",), re.compile(r"%[2-7][0-9A-Fa-f]"), re.compile(r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f]){1,64}"), _percent),
    _Escapes(
        ("\\u00", "\\x"),
        re.compile(r"\\(?:u00|x)[2-7][0-9A-Fa-f]"),
        re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([\\/\"'nrt]))"),
        _backslash,
    ),
    _Escapes(
        ("&",),
        re.compile(r"&(?:quot|amp|lt|gt|apos|#[xX][2-7][0-9A-Fa-f]|#\d{2,3});"),
        re.compile(r"&(quot|amp|lt|gt|apos|#[xX][0-9A-Fa-f]{1,4}|#\d{1,4});"),
        _entity,
    ),
    _Escapes(("=3D",), re.compile(r"=(?:3D|\r?\n)"), re.compile(r"=(?:([0-9A-F]{2})|\r?\n)"), _quoted),
)


_FORM = _ESCAPES[0]._replace(each=re.compile(_ESCAPES[0].each.pattern + r"|\+"), undo=_form)
_BLANK = re.compile(r"\s")

#: What must be in a text for ``find``: runs of base64 characters, among which hexadecimal is, too, or an escape.
TRIGGERS = (
    RUNS,
    *(Trigger(escapes.marks, escapes.worth.pattern) for escapes in _ESCAPES),
)
_RUNS = 0
#: The hits of a text that was not looked at.
ANYTHING: tuple[Hit, ...] = tuple((number, ANYWHERE) for number in range(len(TRIGGERS)))


def find(text: str, scan: Scan, hits: Sequence[Hit] = ANYTHING) -> list[Found]:
    """What is masked because of what it decodes to. ``scan`` finds the secrets of a decoded text, and calls this again for the next
    layer. ``hits``: those of the triggers."""
    out: list[Found] = []
    runs = [at for number, at in hits if number == _RUNS]
    for start, end, decoded in _encoded(text, runs):
        inner = next(iter(scan(decoded)), None)
        if inner is not None:
            out.append(Found(start, end, inner.kind, inner.rule))
    for number in sorted({number for number, _ in hits} - {_RUNS}):
        escapes = _ESCAPES[number - 1]
        if any(mark in text for mark in escapes.marks):
            for low, high in _windows(text, escapes.worth):
                out += _unescaped(text[low:high], low, escapes, scan)
    return out


def possible(text: str) -> bool:
    """Whether anything in a text would be decoded."""
    if any(mark in text and escapes.worth.search(text) for escapes in _ESCAPES for mark in escapes.marks):
        return True
    return next(_encoded(text, [ANYWHERE]), None) is not None


def credentials(text: str) -> str:
    """The ``user:password`` that a string is in base64, as ``Authorization: Basic`` and a registry's ``auth`` have it; else nothing."""
    decoded = _text(text) if 8 <= len(text) <= 1024 else None
    user, colon, password = (decoded or "").partition(":")
    return f"{user}:{password}" if colon and user and password and not any(c.isspace() for c in user) else ""


# -- runs ----------------------------------------------------------------------------------------------------------------


def _encoded(text: str, places: list[int]) -> Iterator[tuple[int, int, str]]:
    runs = list(_matches(text, _LONG_RUN, places)) if places else []
    if runs:
        yield from _base64_runs(text, [_run(text, match) for match in runs])
        yield from _hex_runs(text, [match.span() for match in runs if match.end() - match.start() >= _SHORTEST_HEX])


def _matches(text: str, pattern: re.Pattern[str], places: list[int]) -> Iterator[re.Match[str]]:
    """What a pattern matches at these places, in order."""
    if ANYWHERE in places:
        yield from pattern.finditer(text)
        return
    for at in sorted(set(places)):
        match = pattern.match(text, at)
        if match is not None:
            yield match


#: Whole runs.
_LONG_RUN = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_SHORTEST},}}")
_LONG_HEX = re.compile(rf"(?<![A-Fa-f0-9])[A-Fa-f0-9]{{{_SHORTEST_HEX},}}")


def _run(text: str, match: re.Match[str]) -> tuple[int, int]:
    # In a string that is written with escapes a line's end is two characters, of which the second looks like base64.
    start, end = match.span()
    return (start + 1 if text[start] in "nr" and text[start - 1 : start] == "\\" else start), end


def _base64_runs(text: str, runs: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Where base64 of a text stands, and that text."""
    number = 0
    while number < len(runs):
        start, end = runs[number]
        width = end - start
        number += 1
        if width >= _SHORTEST_LINE:
            # Wrapped: lines as long as the first one; the last may be shorter.
            full = True
            while (
                full and number < len(runs) and runs[number][1] - runs[number][0] <= width and _WRAP.fullmatch(text, end, runs[number][0])
            ):
                full = runs[number][1] - runs[number][0] == width
                end = runs[number][1]
                number += 1
            short = _LAST_LINE.match(text, end) if full and width % 4 == 0 else None
            end = short.end() if short is not None else end
        yield from _one(text, start, end)


def _one(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    while end < len(text) and text[end] == "=":
        end += 1
    written = text[start:end]
    decoded = _text(written)
    if decoded is not None:
        yield start, end, decoded
        return
    if len(written) > _LONGEST_PATH or _PARTS.search(written) is None:
        return
    # It may be a part of a path, or of a token in parts
    for part in _PART.finditer(written):
        if _SHORTEST <= part.end() - part.start() < len(written):
            decoded = _text(part.group())
            if decoded is not None:
                yield start + part.start(), start + part.end(), decoded


def _text(written: str) -> str | None:
    """The text that base64 stands for; None where it stands for something else."""
    if not _texty(_bytes(written[: _SAMPLE * 4 // 3])):
        return None
    data = _bytes(_GAPS.sub("", written) if "\n" in written or "\\" in written else written)
    if b"\0" in data[:_SAMPLE]:
        return data[: len(data) // 2 * 2].decode("utf-16-le", "replace")
    head = data[:4096]
    if len(head.translate(None, _PRINTABLE + _HIGH)) * 20 > len(head):
        return None
    text = data.decode("utf-8", "replace")
    return text if text.count("\ufffd", 0, 4096) * 20 <= len(head) else None


def _bytes(written: str) -> bytes:
    raw = written.encode("ascii", "replace").rstrip(b"=").translate(_STANDARD)
    if len(raw) % 4 == 1:
        raw = raw[:-1]  # cut off: what is there may be read all the same
    try:
        return binascii.a2b_base64(raw + b"==="[: -len(raw) % 4])
    except binascii.Error:
        return b""


def _texty(sample: bytes) -> bool:
    if sample.isascii():
        if sample[1::2] and not any(sample[1::2]):
            sample = sample[::2]  # UTF-16 of ASCII
        return bool(sample) and not sample.translate(None, _PRINTABLE)
    text = sample.decode("utf-8", "ignore")
    lost = len(sample) - len(text.encode())
    return lost <= 3 and not text.encode().translate(None, _PRINTABLE + _HIGH)


def _hex_runs(text: str, runs: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    for low, high in runs:
        for match in _LONG_HEX.finditer(text, low, high):
            run = match.group()
            if len(run) % 2 or binascii.unhexlify(run[:_SHORTEST_HEX]).translate(None, _PRINTABLE):
                continue
            data = binascii.unhexlify(run)
            if not data.translate(None, _PRINTABLE):
                yield *match.span(), data.decode("ascii")


# -- escapes -------------------------------------------------------------------------------------------------------------


def _windows(text: str, worth: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The lines that hold an escape, neighbours joined; of a line without end what is around its escapes."""
    low = high = -1
    for match in worth.finditer(text):
        at = match.end()
        if at < high and (at <= high - _REACH // 2 or high == len(text) or text[high - 1] == "\n"):
            continue
        start = max(text.rfind("\n", max(0, at - _REACH), at) + 1, at - _REACH, 0)
        end = text.find("\n", at, at + _REACH) + 1 or min(len(text), at + _REACH)
        if start > high >= 0:
            yield low, high
        low, high = (low, end) if 0 <= start <= high else (start, end)
    if high > 0:
        yield low, high


class _Place(NamedTuple):
    """An escape: where it is in the decoded text, and where in the written one."""

    start: int
    end: int
    low: int
    high: int


def _unescaped(text: str, base: int, escapes: _Escapes, scan: Scan) -> Iterator[Found]:
    if escapes is _ESCAPES[0] and "+" in text and _BLANK.search(text.strip()) is None:
        escapes = _FORM  # a form, where a blank is a plus
    pieces: list[str] = []
    places: list[_Place] = []
    at = length = 0
    for match in escapes.each.finditer(text):
        put = escapes.undo(match)
        length += match.start() - at
        pieces += [text[at : match.start()], put]
        places.append(_Place(length, length + len(put), *match.span()))
        length += len(put)
        at = match.end()
    pieces.append(text[at:])
    starts = [place.start for place in places]
    for found in scan("".join(pieces)):
        start = _written(found.start, bisect_right(starts, found.start), places, inside="low")
        end = _written(found.end, bisect_left(starts, found.end), places, inside="high")
        yield Found(base + start, base + end, found.kind, found.rule)


def _written(index: int, number: int, places: Sequence[_Place], *, inside: Literal["low", "high"]) -> int:
    """Where a character of the decoded text is in the written one; ``number`` escapes begin before it. Inside of an escape it is the
    escape's beginning or its end."""
    if not number:
        return index
    place = places[number - 1]
    if index < place.end or (inside == "high" and index == place.end):
        return place.low if inside == "low" else place.high
    return place.high + index - place.end
