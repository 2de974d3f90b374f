"""What in a request may be another value in another run: identifiers, moments, ports, process numbers, temporary paths. Pure.

``split`` takes a text apart into what must be the same and what may be volatile; its *shape* is the text with each of the latter replaced
by its sort, so that texts which may unify are found by an index. Whether two such parts really are two values of the same kind is decided
by looking at both (``kinds``): a random id is told from a word only by what another run has in its place.

Cautious on purpose: a number that is no time, a model's name, a version, a word with a digit at its end are never volatile; and a masked
secret is literal, so that it is never taken for a value, nor a value for it.

Kinds: ``uuid``, ``hex``, ``id`` (random letters and digits: ULIDs, base62, base64url, with or without a prefix), ``date``, ``epoch``,
``port``, ``pid``, ``tmp``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

#: Kinds of which two equal values are the same thing: nobody draws the same one twice.
STRONG = frozenset({"uuid", "hex", "id", "tmp"})

#: Shortest hexadecimal number or random id that counts. Characters.
SHORTEST = 8

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? "
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_CLOCK = r"\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)(?![0-9A-Za-z]))?"
_ROOT = r"(?:/private)?(?:/tmp|/var/tmp|/dev/shm|/var/folders/[^/\s]{2}/[^/\s]{1,64}/T)"
_SCRATCH = r"/tacho-replay-[a-z0-9_]{8}/tmp"

_PARTS = re.compile(
    "|".join((
        r"\[REDACTED:(?:[a-z0-9-]{1,64}:)?[0-9a-f]{8}\]",
        (rf"(?P<date>(?<!\d)\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}{_ZONE})?(?!\d)"
        rf"|(?<!\d)\d{{4}}/\d\d/\d\d(?: {_CLOCK}{_ZONE})?(?!\d)"
        r"|(?<![0-9A-Za-z])\d{8}[T_-]\d{6}(?:\.\d{1,6})?Z?(?![0-9A-Za-z])"
        rf"|(?:{_DAY})?(?<!\d)\d{{1,2}} {_MONTH} \d{{4}}(?: {_CLOCK}{_ZONE})?(?!\d)"
        rf"|(?:{_DAY})?(?<![A-Za-z]){_MONTH}\.? {{1,2}}\d{{1,2}}(?:,? {_CLOCK}{_ZONE})?,? \d{{4}}(?!\d)"
        r"|(?<![\d:.])\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?![\d:]))"),
        r"(?P<uuid>(?<![0-9A-Za-z])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z]))",
        rf"(?P<tmp>(?<![\w.]){_ROOT}(?:{_SCRATCH})?/[A-Za-z0-9_.-]{{0,80}}[A-Za-z0-9_])",
        r"(?P<name>(?<![A-Za-z0-9])tmp[a-z0-9_]{8}(?![A-Za-z0-9_]))",
        r"(?:localhost|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[[0-9a-fA-F:]{2,39}\]|://[A-Za-z0-9.-]{1,100}):(?P<port>\d{2,5})(?!\d)",
        r"(?<![A-Za-z])[Pp]ort[\"']?[ :=]{1,3}(?P<port_2>\d{4,5})(?![\d.])",
        r"(?<![A-Za-z])[Pp]?[Pp][Ii][Dd][\"']?[ :=#]{1,3}(?P<pid>\d{1,7})(?![\d.])",
        r"/proc/(?P<pid_2>\d{1,7})(?!\d)",
        r"(?<![\w.])(?P<epoch>[12]\d{9}\.\d{1,9})(?![\w.])",
    ))
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z0-9_-]{8,}")
_TELLING = re.compile(r"[0-9]|[a-z][A-Z]|[A-Z][a-z]")
_JOINTS = re.compile(r"([-_])")
_HEX = re.compile(r"[0-9a-f]+\Z|[0-9A-F]+\Z")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
_DIGITS = re.compile(r"[0-9]+\Z")
_DIGIT_RUN = re.compile(r"[0-9]+")
_LETTER_RUN = re.compile(r"[a-z]+|[A-Z]+")
_TMP = re.compile(rf"(?P<root>{_ROOT})(?P<scratch>{_SCRATCH})?/(?P<name>.*)\Z", re.DOTALL)
_FORM = re.compile(r"(?<=:\d\d)[.,]\d{1,9}|\d+| +|[A-Za-z]{2,}")

#: Digits of a time in seconds, milliseconds, microseconds and nanoseconds since 1970, from 2001 to 2049.
_EPOCHS = (10, 13, 16, 19)
_FIRST, _LAST = 1_000_000_000, 2_500_000_000


class Part(NamedTuple):
    """A stretch of a text that may be volatile. ``sort``: what it looks like by itself."""

    start: int
    end: int
    sort: str


class Found(NamedTuple):
    """Two values in the same place, of one kind."""

    kind: str
    recorded: str
    live: str


@functools.lru_cache(maxsize=8192)
def split(text: str) -> tuple[str, tuple[Part, ...]]:
    """The shape of a text, and its parts."""
    parts: list[Part] = []
    at = 0
    for match in _PARTS.finditer(text):
        sort = match.lastgroup
        parts += _words(text, at, match.start() if sort is None else match.start(sort))
        if sort is not None:
            parts.append(Part(match.start(sort), match.end(sort), sort.partition("_")[0]))
        at = match.end()
    parts += _words(text, at, len(text))
    if not parts:
        return text, ()
    pieces = []
    at = 0
    for part in parts:
        pieces += [text[at : part.start], "\0", part.sort, "\0"]
        at = part.end
    return "".join([*pieces, text[at:]]), tuple(parts)


def _words(text: str, start: int, end: int) -> Iterator[Part]:
    if end - start < SHORTEST:
        return
    for match in _WORD.finditer(text, start, end):
        if _TELLING.search(match[0]):
            yield Part(match.start(), match.end(), "word")


def pairs(recorded: str, live: str) -> list[Found] | None:
    """The values that stand in the same places of two texts, equal ones included; None where the texts differ in more than such values."""
    shape, parts = split(recorded)
    if recorded == live:
        return [found for part in parts for found in same(part.sort, recorded[part.start : part.end])]
    other, others = split(live)
    if shape != other or len(parts) != len(others):
        return None
    out: list[Found] = []
    at = place = 0
    for part, twin in zip(parts, others, strict=True):
        if recorded[at : part.start] != live[place : twin.start]:
            return None
        one, two = recorded[part.start : part.end], live[twin.start : twin.end]
        found = same(part.sort, one) if one == two else kinds(part.sort, one, two)
        if found is None:
            return None
        out += found
        at, place = part.end, twin.end
    return out if recorded[at:] == live[place:] else None


def same(sort: str, text: str) -> list[Found]:
    """The values of a part that is what it was."""
    if sort == "word":
        return [Found(kind, value, value) for kind, value in values(sort, text) if kind != "whole"]
    return [Found("tmp" if sort == "name" else sort, text, text)]


def values(sort: str, text: str) -> Iterator[tuple[str, str]]:
    """What a part can be a value of, taken by itself: where it was recorded, and nothing is known of another run."""
    if sort != "word":
        yield "tmp" if sort == "name" else sort, text
        return
    if len(text) >= 16 and _jumbled(text):
        yield "whole", text
    for piece in _JOINTS.split(text):
        if len(piece) >= SHORTEST:
            if _DIGITS.match(piece):
                if _is_epoch(piece):
                    yield "epoch", piece
            elif _HEX.match(piece):
                yield "hex", piece
            elif _jumbled(piece):
                yield "id", piece


def kinds(sort: str, recorded: str, live: str) -> list[Found] | None:
    """Two different parts of one sort as values of the same kind; None where they are not."""
    if sort == "word":
        return _word(recorded, live)
    if sort in ("tmp", "name"):
        return [Found("tmp", recorded, live)] if _temporary(recorded, live) else None
    if sort == "date":
        return [Found("date", recorded, live)] if _form(recorded) == _form(live) else None
    if sort == "port":
        return [Found("port", recorded, live)] if all(1024 <= int(each) <= 65535 for each in (recorded, live)) else None
    if sort == "epoch":
        return [Found("epoch", recorded, live)] if _is_epoch(recorded[:10]) and _is_epoch(live[:10]) else None
    return [Found(sort, recorded, live)]


def number(key: str, recorded: float, live: float) -> Found | None:
    """Two different JSON numbers as values of the same kind. ``key``: the name that they stand under."""
    one, two = repr(recorded), repr(live)
    lowered = key.lower()
    if isinstance(recorded, int) and isinstance(live, int):
        if lowered in ("pid", "ppid") and recorded > 0 and live > 0:
            return Found("pid", one, two)
        if lowered == "port" and 1024 <= recorded <= 65535 and 1024 <= live <= 65535:
            return Found("port", one, two)
    return Found("epoch", one, two) if _moment(one) and _moment(one) == _moment(two) else None


def numeric(key: str, value: float) -> tuple[str, str] | None:
    """The kind of a JSON number that may be volatile, and its text; None for all others."""
    text, lowered = repr(value), key.lower()
    if isinstance(value, int) and lowered in ("pid", "ppid", "port"):
        return ("port" if lowered == "port" else "pid"), text
    return ("epoch", text) if _moment(text) else None


def _moment(text: str) -> int:
    """In how many digits the whole part of a number tells a time; 0 if it does not."""
    whole = text.partition(".")[0]
    return len(whole) if whole.isdigit() and _is_epoch(whole) else 0


def _is_epoch(digits: str) -> bool:
    return len(digits) in _EPOCHS and _FIRST <= int(digits[:10]) < _LAST


def _word(recorded: str, live: str) -> list[Found] | None:
    ours, theirs = _JOINTS.split(recorded), _JOINTS.split(live)
    if len(ours) == len(theirs):
        out: list[Found] = []
        for one, two in zip(ours, theirs, strict=True):
            if one == two:
                out += [found for found in same("word", one) if len(one) >= SHORTEST]
            elif (found := _piece(one, two)) is not None:
                out.append(found)
            else:
                break
        else:
            return out
    # A random text of base64url has hyphens anywhere: all of it is one value, after the name that it begins with.
    prefix = _NAMED.match(recorded)
    twin = _NAMED.match(live)
    start = prefix.end() if prefix is not None else 0
    if (prefix and prefix[0]) != (twin and twin[0]):
        return None
    one, two = recorded[start:], live[start:]
    if len(one) == len(two) >= 16 and _mixed(one, two) and (_jumbled(one) or _jumbled(two)):
        return [Found("id", one, two)]
    return None


#: What kind of id it is, says its beginning.
_NAMED = re.compile(r"[a-z]{3,16}[-_]")


def _piece(recorded: str, live: str) -> Found | None:
    if min(len(recorded), len(live)) < SHORTEST:
        return None
    if _DIGITS.match(recorded) and _DIGITS.match(live):
        return Found("epoch", recorded, live) if len(recorded) == len(live) and _is_epoch(recorded) and _is_epoch(live) else None
    both = recorded + live
    if len(recorded) == len(live) and _HEX.match(both):
        # Words may have the letters of hexadecimal numbers, numbers all of their digits; only together they are sure.
        return Found("hex", recorded, live) if not both.isalpha() and not both.isdigit() else None
    long = len(recorded) >= 16 and len(live) >= 16
    mixed = (len(recorded) == len(live) or long) and _letters_and_digits(recorded) and _letters_and_digits(live)
    return Found("id", recorded, live) if mixed and (_jumbled(recorded) or _jumbled(live)) else None


def _mixed(one: str, two: str) -> bool:
    return all(any(map(str.islower, text)) and any(map(str.isupper, text)) for text in (one, two)) and any(map(str.isdigit, one + two))


def _letters_and_digits(text: str) -> bool:
    return _TELLING.search(text) is not None and not _DIGITS.match(text)


def _jumbled(text: str) -> bool:
    """Whether letters and digits are mixed as no word's are."""
    if _ULID.match(text):
        return True
    runs = _DIGIT_RUN.findall(text)
    longest = max((len(run) for run in _LETTER_RUN.findall(text)), default=0)
    if len(text) < 12:
        return sum(map(len, runs)) >= 2 and longest < 4 and not text.isdigit()
    if longest >= 7:
        return False
    inside = len(runs) > 1 or (bool(runs) and not text.endswith(runs[-1]))
    cases = any(c.islower() for c in text) and any(c.isupper() for c in text)
    return len(runs) > 1 or (inside and cases) or (cases and len(text) >= 16 and len(_LETTER_RUN.findall(text)) >= 7)


def _temporary(recorded: str, live: str) -> bool:
    ours, theirs = _TMP.match(recorded), _TMP.match(live)
    if ours is not None and theirs is not None:
        if ours["root"] != theirs["root"]:
            return False
        recorded, live = ours["name"], theirs["name"]
        if recorded == live:  # below the folder that the replay gave
            return True
    return _drawn(recorded, live)


def _drawn(recorded: str, live: str) -> bool:
    """Whether two names are of one ``tempfile``: eight characters drawn from letters, digits and the underscore between prefix and suffix."""
    if len(recorded) != len(live):
        return False
    start = next(n for n, (a, b) in enumerate(zip(recorded, live, strict=True)) if a != b)
    end = next(n for n in range(len(live), 0, -1) if recorded[n - 1] != live[n - 1])
    for low in range(max(0, end - 8), start + 1):
        one, two = recorded[low : low + 8], live[low : low + 8]
        if len(one) == 8 and _LETTERS.match(one) and _LETTERS.match(two) and sum(a != b for a, b in zip(one, two, strict=True)) >= 4:
            runs = [max((len(run) for run in _LETTER_RUN.findall(each)), default=0) for each in (one, two)]
            apart = not low or not recorded[low - 1].isalnum()
            if recorded[:low].endswith("tmp") or ((apart or min(runs) < 6) and not (one + two).isalpha()):
                return True
    return False


_LETTERS = re.compile(r"[a-z0-9_]{8}\Z")


def _form(date: str) -> str:
    """How a moment is written, whatever it is. A fraction of a second may be missing."""
    return _FORM.sub(_written, date)


def _written(match: re.Match[str]) -> str:
    text = match[0]
    if text[0].isdigit():
        return "d" if len(text) <= 2 else "0" * len(text)
    return "" if text[0] in ".," else " " if text[0] == " " else text if text in ("UTC", "GMT") else "N"
