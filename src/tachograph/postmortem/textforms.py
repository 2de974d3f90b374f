"""The forms that a text takes on its way through a session, and what is left of it in all of them.

Two instruments:

* ``skeleton``: the letters and digits of a text, in lower case and without accents. Case, white space, indentation, wrapping, quotation marks,
  ``+`` and ``>`` at the beginnings of lines, ``camelCase`` and ``snake_case`` make no difference to it.
* ``forms``: the same text with one or two layers of writing taken off it: escapes of JSON, HTML, URLs and shells, base64, hexadecimal, a
  patch's and a listing's beginnings of lines, markup.

A text is in another one when a form's skeleton of it is in a form's skeleton of the other. All of it is linear in the length of the texts.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from tachograph.core import authored

if TYPE_CHECKING:
    from collections.abc import Iterator

Form = tuple[tuple[str, ...], str]
"""What was taken off, in that order (``("base64", "JSON-escaped")``), and the text without it."""

_DELETED = bytes(code for code in range(128) if not chr(code).isalnum())
_LOWER = bytes(ord(chr(code).lower()) if code < 128 else code for code in range(256))
_NO_WORD = re.compile(r"[\W_]+")


def skeleton(text: str) -> str:
    """The letters and digits of a text: compatibility forms taken apart (NFKD), case folded, everything else left out."""
    if text.isascii():
        return text.encode("ascii").translate(_LOWER, _DELETED).decode("ascii")
    return _NO_WORD.sub("", unicodedata.normalize("NFKD", text).casefold())


def spots(text: str) -> list[int]:
    """For each character of ``skeleton(text)``, the place in the text that it comes from."""
    if text.isascii():
        return [index for index, char in enumerate(text) if char.isalnum()]
    found: list[int] = []
    for index, char in enumerate(text):
        kept = _NO_WORD.sub("", unicodedata.normalize("NFKD", char).casefold())
        if kept:
            found += [index] * len(kept)
    return found


# --- layers of writing ---------------------------------------------------------------------------------------------------

#: Shorter runs of base64 and hexadecimal are words and numbers.
SHORTEST_RUN = 16
_B64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_B64_WRAPPED = re.compile(r"(?<=[A-Za-z0-9+/]{40})\r?\n(?=[A-Za-z0-9+/]{4})")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?[0-9A-Fa-f]{16,}(?![0-9A-Za-z])")
_HEX_PAIRS = re.compile(r"(?:\\x|\b0x|\b)([0-9A-Fa-f]{2})(?![0-9A-Za-z])")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrtbf\"'/\\ $`!&()*?#;|<>~=%@^{}\[\]])")
_SURROGATES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_SHELL_JOIN = re.compile(r"'(?:\\''|\"'\"')|\"'\"'\"")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_NUMBERED = re.compile(r"^[ \t]{0,8}[0-9]{1,6}(?:\t|[:|→] ?|[ ]{2,4}|-(?=[ \t]))", re.MULTILINE)
_LISTED = re.compile(r"^[^\s:][^:\n]{0,200}:[0-9]{1,6}[:-]", re.MULTILINE)
#: The most characters that decoded runs of one text may have together.
MOST_DECODED = 4 << 20


def forms(text: str, depth: int = 2) -> Iterator[Form]:
    """The text with each layer taken off that it has, and with two where there is another one below. Not the text itself. A form whose skeleton is
    the same as that of the text says nothing new and is left out by whoever compares them."""
    if len(text) < 4:
        return
    seen = {text}
    waiting: list[Form] = [((), text)]
    for _ in range(depth):
        following: list[Form] = []
        for taken, one in waiting:
            for name, bare in _layers(one):
                if bare not in seen and len(bare) >= 3:
                    seen.add(bare)
                    following.append(((*taken, name), bare))
        yield from following
        waiting = following


def _layers(text: str) -> Iterator[tuple[str, str]]:
    if "\\" in text:
        yield "escaped", _SURROGATES.sub(_paired, _ESCAPE.sub(_unescaped, text))
    if "&" in text and ";" in text and _ENTITY.search(text):
        yield "HTML-escaped", html.unescape(text)
    if "%" in text and _PERCENT.search(text):
        yield "URL-escaped", unquote_plus(text, errors="replace")
    if "'" in text and _SHELL_JOIN.search(text):
        yield "shell-quoted", _SHELL_JOIN.sub("'", text)
    if "<" in text and ">" in text and _TAG.search(text):
        yield "marked up", _TAG.sub(" ", text)
    if "\n+" in text or "<<<<<<<" in text or text.startswith("+"):
        yield "in a patch", _patched(text)
    if "\n" in text:
        yield from _numbered(text)
    if long_run(text):
        yield from _encoded(text)
    if "\\x" in text or _spaced_hex(text):
        pairs = "".join(_HEX_PAIRS.findall(text))
        if len(pairs) >= SHORTEST_RUN and (found := _said(_unhexed(pairs))) is not None:
            yield "hexadecimal", found


def _unescaped(match: re.Match[str]) -> str:
    said = match[1]
    if len(said) > 1:
        return chr(int(said[1:], 16))
    return _PLAIN.get(said, said)


def _paired(match: re.Match[str]) -> str:
    """Two escapes that are one character (UTF-16)."""
    high, low = map(ord, match[0])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _patched(text: str) -> str:
    """What a patch leaves in the file: its added lines and those around them, without their first character."""
    added = authored.patched(text)
    if added != text:
        return added
    lines = text.split("\n")
    kept = [line[1:] for line in lines if line[:1] in "+ " and not line.startswith("+++ ")]
    return "\n".join(kept) if len(kept) * 2 >= len(lines) else text


def _numbered(text: str) -> Iterator[tuple[str, str]]:
    """Without the numbers of lines, where nearly every line has one: ``12\t…``, ``12: …``, ``src/a.py:12:…``."""
    lines = text.count("\n") + 1
    for pattern in (_NUMBERED, _LISTED):
        if len(pattern.findall(text)) * 5 >= lines * 4:
            yield "with line numbers", pattern.sub("", text)


_RUN_OF = bytes(97 if (chr(code).isalnum() and code < 128) or chr(code) in "+/_-" else 32 for code in range(256))
_LONG = b"a" * SHORTEST_RUN


def long_run(text: str) -> bool:
    """Whether anything in the text could be base64 or hexadecimal. Fast: most texts have nothing of the kind."""
    return len(text) >= SHORTEST_RUN and _LONG in text.encode("ascii", "replace").translate(_RUN_OF)


def _spaced_hex(text: str) -> bool:
    return len(text) >= 3 * SHORTEST_RUN // 2 - 1 and all(char in "0123456789abcdefABCDEF :," for char in text[:64])


def _encoded(text: str) -> Iterator[tuple[str, str]]:
    found: list[str] = []
    size = 0
    joined = _B64_WRAPPED.sub("", text) if "\n" in text else text
    for match in _B64.finditer(joined):
        size += len(match[0])
        if size > MOST_DECODED:
            break
        if (said := _base64(match[0])) is not None:
            found.append(said)
    if found:
        yield "base64", "\n".join(found)
    found, size = [], 0
    for match in _HEX.finditer(text):
        size += len(match[0])
        if size > MOST_DECODED:
            break
        digits = match[0][2:] if match[0][:2] == "0x" else match[0]
        if len(digits) % 2 == 0 and (said := _said(_unhexed(digits))) is not None:
            found.append(said)
    if found:
        yield "hexadecimal", "\n".join(found)


def _base64(run: str) -> str | None:
    """The text in a run of base64. What stands before it without a blank (``path/aGVsbG8…``) is gone past where it must be."""
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    starts = [0, *(index + 1 for index, char in enumerate(bare[:64]) if char == "/")]
    for start in starts:
        part = bare[start:]
        if len(part) < SHORTEST_RUN:
            return None
        cut = part[: len(part) // 4 * 4] if len(part) % 4 == 1 else part
        try:
            said = _said(base64.b64decode(cut + "=" * (-len(cut) % 4)))
        except (binascii.Error, ValueError):
            said = None
        if said is not None:
            return said
    return None


def _unhexed(digits: str) -> bytes:
    return bytes.fromhex(digits)


def _said(data: bytes) -> str | None:
    """Bytes as words, where they are some: text in UTF-8 (or UTF-16) of which nearly all can be printed."""
    if len(data) >= 8 and data[1::2].count(0) * 4 > len(data):
        data = data.decode("utf-16-le", "replace").encode("utf-8", "replace")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    printed = sum(char.isprintable() or char in "\n\r\t" for char in text)
    return text if printed * 10 >= len(text) * 9 else None


# --- numbers -------------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.,'’])[0-9][0-9.,'’_\u00a0\u202f]{0,40}(?![\w])")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[.,'’_\u00a0\u202f][0-9]{3}){1,9}")


def has_number(text: str) -> bool:
    """Whether a number of two digits or more is in the text."""
    return any(sum(map(str.isdigit, match[0])) >= 2 for match in _NUMBER.finditer(text))


def plain_numbers(text: str) -> str:
    """The text with its numbers written one way: ``1,200.00``, ``1'200`` and ``1.200,00`` are ``1200``, ``12.50`` is ``12d5``. The point is a letter,
    so that a skeleton keeps it."""
    return _NUMBER.sub(_plain_number, text)


def _plain_number(match: re.Match[str]) -> str:
    said = match[0]
    tail = ""
    while said and not said[-1].isdigit():
        said, tail = said[:-1], said[-1] + tail
    marks = [char for char in said if not char.isdigit()]
    whole, fraction = said, ""
    if marks:
        last = marks[-1]
        behind = said.rsplit(last, 1)[1]
        grouped = _GROUPED.fullmatch(said) is not None and len(set(marks)) == 1 and said[0] != "0" and (len(marks) > 1 or last != ".")
        if last in ".," and not grouped and marks.count(last) == 1 and not (last == "," and len(behind) == 3):
            whole, fraction = said.rsplit(last, 1)
        elif marks.count(".") > 1 and not grouped:
            return match[0]  # a version, an address: no number
    digits = "".join(char for char in whole if char.isdigit()).lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return digits + (f"d{fraction}" if fraction else "") + tail
