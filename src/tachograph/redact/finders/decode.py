"""Secrets inside encodings: decode what is surely an encoded text, scan what comes out, and mask the encoded characters.

| encoding | taken for one | what is masked |
|---|---|---|
| base64, both alphabets, also wrapped | at least 24 characters that decode to text (UTF-8, or UTF-16 as PowerShell writes it) | the whole run |
| hexadecimal | at least 32 digits that decode to printable ASCII | the whole run |
| a terminal's colours | ``ESC [ … m`` | what stands between the characters of the secret, too |
| ``%41``, ``\\u0041``, ``\\x41``, ``&quot;``, quoted-printable | an escape of a printable ASCII character | what the secret's characters are written as |

What decodes to bytes that are no text is left alone: pictures, signatures, digests, ciphertext, random blobs. That is seen from the first
bytes, so a large picture costs nothing. What comes out is scanned once, and may itself hold an encoding: two layers, no more. Each layer of
base64 or hexadecimal is shorter than the one around it, and of the escapes only the lines around them are scanned again, so the cost is
linear in the text.

A prefilter needs no run of base64 characters to wake this module, of which every long identifier and path is one: of a text in base64 the
characters have bits that are always the same. So a text is only taken for one if its first bytes are well-formed: what begins in
ISO-8859-1 with other characters than those of ASCII, or in the middle of a character, is not decoded. Nor is anything found in a text
without such a beginning, ``%``, backslash, ``&`` and ``=``.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Literal, NamedTuple, Protocol

from tachograph.redact.prefilter.engines import Hit
from tachograph.redact.prefilter.trigger import ANYWHERE, Trigger
from tachograph.redact.spans import Found

#: Layers of encoding that are undone.
LAYERS = 2

_SHORTEST = 24
#: Characters of a line of wrapped base64: fewer are a word that happens to stand on a line of its own.
_SHORTEST_LINE = 40
_SHORTEST_HEX = 32
#: Bytes that are looked at first.
_SAMPLE = 24
#: Characters of context around an escape in a line without end.
_REACH = 2048

_HEAD_PLACE = re.compile(r"(?:(?<![A-Za-z0-9+])|(?<=\\[nrt]))(?=[A-Za-z0-9+/_-]{20})[A-Za-z0-9]")
#: A run of so many characters of base64, for whom nobody looked: each of them as one sign, all others as a blank.
_LONG_RUN = b"x" * 20
_IN_RUN = bytes(120 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+/_-") else 32 for code in range(256))
_HEX_RUN = re.compile(rf"(?<![A-Fa-f0-9])(?=[02-7])[A-Fa-f0-9]{{{_SHORTEST_HEX},}}")
_WRAP = r"(?:\r?\n|(?:\\r)?\\n)[ \t>#]{0,24}"
_RUN = re.compile(r"[A-Za-z0-9+/_-]+")
_NEXT_LINE = re.compile(rf"{_WRAP}([A-Za-z0-9+/_-]{{{_SHORTEST},}})")
_LAST_LINE = re.compile(rf"{_WRAP}[A-Za-z0-9+/_-]{{1,23}}={{0,2}}(?=[\s\"'\\]|\Z)")
_PART = re.compile(rf"[A-Za-z0-9+]{{{_SHORTEST - 2},}}={{0,2}}")
_GAPS = re.compile(r"\\[nr]|[\s>#]")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_PRINTABLE = bytes((9, 10, 13, *range(32, 127)))
_HIGH = bytes(range(128, 256))


#: What a byte of a text in UTF-8 can be: P is printable; A also nothing, which is half of UTF-16; a 2, or a 3, begins a character of two, or
#: of three or four bytes; L is one of these; R is the rest of one.
_SORTS = {
    "P": frozenset(_PRINTABLE),
    "A": frozenset((0, *_PRINTABLE)),
    "2": frozenset(range(0xC2, 0xE0)),
    "3": frozenset(range(0xE0, 0xF5)),
    "L": frozenset(range(0xC2, 0xF5)),
    "R": frozenset(range(0x80, 0xC0)),
}
#: Three bytes of which not all are in ASCII, at the beginning of a character.
_MIXED = ("AAL", "A2R", "A3R", "2RA", "2RL", "3RR")
#: The three behind such ones, by what is missing of the last character.
_COMPLETE, _ONE_MORE, _TWO_MORE = ("AAA", *_MIXED), ("RAA", "RAL", "R2R", "R3R"), ("RRA", "RRL", "RRR")
_BEHIND = {
    "AA2": _ONE_MORE,
    "AA3": _TWO_MORE,
    "A2R": _COMPLETE,
    "A3R": (*_ONE_MORE, *_TWO_MORE),
    "2RA": _COMPLETE,
    "2R2": _ONE_MORE,
    "2R3": _TWO_MORE,
}
_BEHIND["PAA"] = _COMPLETE
_BEHIND["3RR"] = (*_COMPLETE, *_ONE_MORE)
#: Base64 characters at the beginning that are looked at.
_HEAD = 8
_ALPHABET = (*ascii_uppercase, *ascii_lowercase, *digits, r"\-+", "/_")


def _set(numbers: Iterable[int]) -> str:
    """A class of the base64 characters that stand for these numbers."""
    return f"[{''.join(_ALPHABET[number] for number in sorted(numbers))}]"


def _group(sorts: str) -> str:
    """Four base64 characters that are three bytes of these sorts, as a pattern; it may match more."""
    first, second, third = (_SORTS[sort] for sort in sorts)
    middle = {byte >> 4 for byte in second}
    # Of the last byte the top two bits are in the third character, the others in the fourth.
    ends = [
        _set(number for number in range(64) if number & 3 == top) + _set({byte & 63 for byte in third if byte >> 6 == top})
        for top in sorted({byte >> 6 for byte in third})
    ]
    return _set({byte >> 2 for byte in first}) + _set(number for number in range(64) if number & 15 in middle) + f"(?:{'|'.join(ends)})"


def _any(groups: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(_group, groups))})"


def _head() -> str:
    """The beginning of a text in base64: six bytes of characters that are whole or go on."""
    by_next: dict[tuple[str, ...], list[str]] = {}
    for first, following in _BEHIND.items():
        by_next.setdefault(following, []).append(first)
    return "|".join(_any(first) + _any(following) for following, first in by_next.items())


def _sorted(data: bytes, sorts: str) -> bool:
    """Whether these bytes are of these sorts, each of its own."""
    return all(byte in _SORTS[sort] for byte, sort in zip(data, sorts, strict=False))


def _well_formed(sample: bytes) -> bool:
    """Whether a text begins as ``_head`` says."""
    first, second = sample[:3], sample[3:6]
    return any(_sorted(first, begun) and any(_sorted(second, sorts) for sorts in following) for begun, following in _BEHIND.items())


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
    # A terminal's colours (ECMA-48, SGR and erase), as grep, jq and test runners print them around names and values.
    _Escapes(("\x1b[",), re.compile(r"\x1b\[[0-9;]{0,16}[mK]"), re.compile(r"\x1b\[[0-9;]{0,16}[mK]"), lambda _: ""),
)


_FORM = _ESCAPES[0]._replace(each=re.compile(_ESCAPES[0].each.pattern + r"|\+"), undo=_form)
_BLANK = re.compile(r"\s")

#: What must be in a text for ``find``: the beginning of a text in base64 or in hexadecimal, or an escape.
TRIGGERS = (
    Trigger((), rf"(?:^|[^A-Za-z0-9+]|\\[nrt])(?:{_head()})", tail=_HEAD, run=_SHORTEST),
    Trigger((), rf"(?:^|[^A-Fa-f0-9])(?:[2-7][A-Fa-f0-9]|0[9AaDd]){{{_SHORTEST_HEX // 2}}}", tail=_SHORTEST_HEX),
    *(Trigger(escapes.marks, escapes.worth.pattern) for escapes in _ESCAPES),
)
_BASE64, _HEX, _FIRST_ESCAPE = range(3)
#: The hits of a text that was not looked at.
ANYTHING: tuple[Hit, ...] = tuple((number, ANYWHERE) for number in range(len(TRIGGERS)))


def find(text: str, scan: Scan, hits: Sequence[Hit] = ANYTHING) -> list[Found]:
    """What is masked because of what it decodes to. ``scan`` finds the secrets of a decoded text, and calls this again for the next
    layer. ``hits``: those of the triggers."""
    out: list[Found] = []
    heads = [at for number, at in hits if number == _BASE64]
    for start, end, decoded in _encoded(text, heads, [at for number, at in hits if number == _HEX]):
        inner = next(iter(scan(decoded)), None)
        if inner is not None:
            out.append(Found(start, end, inner.kind, inner.rule))
    for number in sorted({number for number, _ in hits if number >= _FIRST_ESCAPE}):
        escapes = _ESCAPES[number - _FIRST_ESCAPE]
        if any(mark in text for mark in escapes.marks):
            for low, high in _windows(text, escapes.worth):
                out += _unescaped(text[low:high], low, escapes, scan)
    return out


def possible(text: str) -> bool:
    """Whether anything in a text would be decoded."""
    if any(mark in text and escapes.worth.search(text) for escapes in _ESCAPES for mark in escapes.marks):
        return True
    return next(_encoded(text, [ANYWHERE], [ANYWHERE]), None) is not None


def credentials(text: str) -> str:
    """The ``user:password`` that a string is in base64, as ``Authorization: Basic`` and a registry's ``auth`` have it; else nothing."""
    decoded = _text(text) if 8 <= len(text) <= 1024 else None
    user, colon, password = (decoded or "").partition(":")
    return f"{user}:{password}" if colon and user and password and not any(c.isspace() for c in user) else ""


# -- runs ----------------------------------------------------------------------------------------------------------------


def _encoded(text: str, heads: list[int], hexes: list[int]) -> Iterator[tuple[int, int, str]]:
    """Where base64 and hexadecimal of a text stand, and that text. The places: where one may begin."""
    if heads:
        yield from _base64_runs(text, _starts(text, _HEAD_PLACE, heads))
    if hexes:
        yield from _hex_runs(text, _starts(text, _HEX_RUN, hexes))


def _starts(text: str, beginning: re.Pattern[str], places: list[int]) -> list[int]:
    """Those of the places where there is such a beginning, in order; all there are where nobody looked."""
    if ANYWHERE in places:
        # In long runs only: a search for these is many times faster.
        return [match.start() for start, end in _long_runs(text) for match in beginning.finditer(text, start, end)]
    return [at for at in sorted(set(places)) if beginning.match(text, at)]


def _long_runs(text: str) -> Iterator[tuple[int, int]]:
    signs = text.encode("ascii", "replace").translate(_IN_RUN)
    start = signs.find(_LONG_RUN)
    while start >= 0:
        end = signs.find(b" ", start)
        end = end if end >= 0 else len(signs)
        yield start, end
        start = signs.find(_LONG_RUN, end)


def _base64_runs(text: str, starts: list[int]) -> Iterator[tuple[int, int, str]]:
    tried = done = 0
    for start in starts:
        if start < done:
            continue
        if start >= tried and (not start or text[start - 1] not in "/_-"):
            tried = _wrapped(text, start)
            decoded = _begun(text[start:tried]) if tried - start >= _SHORTEST else None
            if decoded is not None:
                done = tried
                yield start, tried, decoded
                continue
        # It may be a part of a path, or of a token in parts.
        part = _PART.match(text, start)
        decoded = _begun(part.group()) if part is not None and part.end() - start >= _SHORTEST else None
        if part is not None and decoded is not None:
            done = part.end()
            yield start, done, decoded


def _wrapped(text: str, start: int) -> int:
    """Where the base64 ends whose first line begins here: lines as long as that one, of which the last may be shorter."""
    line = _RUN.match(text, start)
    end = line.end() if line is not None else start
    width = end - start
    full = width >= _SHORTEST_LINE
    while full and (line := _NEXT_LINE.match(text, end)) is not None and line.end() - line.start(1) <= width:
        full = line.end() - line.start(1) == width
        end = line.end()
    short = _LAST_LINE.match(text, end) if full and width % 4 == 0 else None
    end = short.end() if short is not None else end
    while end < len(text) and text[end] == "=":
        end += 1
    return end


def _begun(written: str) -> str | None:
    """``_text`` of what begins as the trigger says."""
    return _text(written) if _well_formed(_bytes(written[:_HEAD])) else None


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


def _hex_runs(text: str, starts: list[int]) -> Iterator[tuple[int, int, str]]:
    for start in starts:
        run = _HEX_RUN.match(text, start)
        if run is not None and len(run.group()) % 2 == 0:
            data = binascii.unhexlify(run.group())
            if not data.translate(None, _PRINTABLE):
                yield *run.span(), data.decode("ascii")


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
