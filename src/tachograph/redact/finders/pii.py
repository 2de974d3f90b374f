"""Personal data, off unless a policy asks for it: e-mail addresses, phone numbers, payment cards, IBANs, US social security numbers.

Numbers are everywhere, so a finding needs more than digits: a checksum (cards: Luhn and an issuer's range; IBANs: mod 97 and the country's
length), a valid range (social security numbers), or a form that is written for people (phones: international, or a national grouping).

Sources: ISO/IEC 7812 and the card networks' published ranges; the IBAN registry (ISO 13616); the SSA's rules for numbers issued; E.164 and
the numbering plans of North America, France and the United Kingdom; RFC 5321 for lengths in addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

_EMAIL = expression(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}([^\W\d_]{2,24}|xn--[a-z0-9-]{2,59})(?![\w-])")
#: ``icon@2x.png`` and the remote of a repository are no addresses.
_FILES = frozenset(["png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "bmp", "pdf", "css", "js", "ts", "mjs", "map", "html", "json"])

_PHONE = expression(
    r"(?<![\w.+/-])(?:"
    r"\+[1-9](?:[ .\u00a0-]{0,2}\(?\d\)?){7,14}(?<=\d\d)"
    r"|(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[.-])[2-9]\d\d[ .-]\d{4}"
    r"|(?<![0-9A-Fa-f]{2} )0[1-9](?:[ .]\d\d){4}(?![ .][0-9A-Fa-f]{2}\b)"
    r"|0(?:20 \d{4} \d{4}|1\d1 \d{3} \d{4}|7\d{3} \d{3} ?\d{3}|1\d{3} \d{6})"
    r")(?![\w-]|[.]\d)"
)

_DIGITS = expression(r"(?<![\w.+-])\d(?:[ -]?\d){11,18}(?![\w-]|\.\d)")
#: Groups as printed on a card, or none.
_CARD_GROUPS = ((), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 1))
#: First and last beginning of an issuer's numbers, and their lengths.
_ISSUERS = (
    ("4", "4", (13, 16, 19)),
    ("51", "55", (16,)),
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),
    ("37", "37", (15,)),
    ("6011", "6011", (16, 17, 18, 19)),
    ("644", "659", (16, 17, 18, 19)),
    ("300", "305", (14, 16)),
    ("36", "36", (14, 15, 16)),
    ("38", "39", (14, 16)),
    ("3528", "3589", (16, 17, 18, 19)),
    ("62", "62", (16, 17, 18, 19)),
    ("5018", "5018", (12, 13, 14, 15, 16)),
    ("5020", "5020", (12, 13, 14, 15, 16)),
    ("5038", "5038", (12, 13, 14, 15, 16)),
    ("6304", "6304", (12, 13, 14, 15, 16)),
)

_IBAN = expression(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_IBAN_GROUPS = expression(r"(?:[A-Z0-9]{4} ){3,8}[A-Z0-9]{1,4}\Z")
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21,
    "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18,
    "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23,
    "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27,
    "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28,
    "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27,
    "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip

_SSN = expression(r"(?<![\w.+-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\w-]|\.\d)")
#: Printed on sample cards and in advertisements; nobody's.
_NOBODYS = frozenset(("078051120", "219099999", "457555462", "123456789"))
_SAYS_SSN = expression(r"(?i)\b(?:ssn|social[ _-]security)")


def _emails(text: str) -> Iterator[Found]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            local = match.group()[: match.group().index("@")]
            if match.group(1).lower() in _FILES or local == "git" or local.startswith(".") or local.endswith(".") or ".." in local:
                continue
            if _userinfo(text, match.start()):
                continue
            yield Found(match.start(), match.end(), "email", "pii:email")


def _userinfo(text: str, at: int) -> bool:
    """Inside of an address of the web: what comes before the @ is a password there, and the host after it is to be seen."""
    scheme = text.rfind("://", max(0, at - 256), at)
    return scheme >= 0 and not any(c.isspace() or c in "/\"'<>,;" for c in text[scheme + 3 : at])


def _phones(text: str) -> Iterator[Found]:
    for match in _PHONE.finditer(text):
        digits = [c for c in match.group() if c.isdigit()]
        if 8 <= len(digits) <= 15 and match.group().count("(") == match.group().count(")") and len(set(digits)) > 2:
            yield Found(match.start(), match.end(), "phone", "pii:phone")


def _cards(text: str) -> Iterator[Found]:
    for match in _DIGITS.finditer(text):
        written = match.group()
        digits = written.replace(" ", "").replace("-", "")
        if " " in written and "-" in written:
            continue
        groups = tuple(map(len, re.split("[ -]", written))) if len(digits) != len(written) else ()
        if groups in _CARD_GROUPS and _issued(digits) and luhn(digits) and len(set(digits)) > 1:
            yield Found(match.start(), match.end(), "card", "pii:card")


def _issued(digits: str) -> bool:
    return any(len(digits) in lengths and first <= digits[: len(first)] <= last for first, last, lengths in _ISSUERS)


def luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _ibans(text: str) -> Iterator[Found]:
    for match in _IBAN.finditer(text):
        # What follows in capitals may be the next word: the country says where the number ends.
        length = _IBAN_LENGTHS.get(match.group()[:2], 0)
        end, count = match.start(), 0
        while end < match.end() and count < length:
            count += text[end] != " "
            end += 1
        written = text[match.start() : end]
        compact = written.replace(" ", "")
        follows = text[end : end + 1]
        if count != length or not length or (follows.isalnum() and follows.isascii()):
            continue
        if (" " not in written or _IBAN_GROUPS.match(written)) and mod97(compact):
            yield Found(match.start(), end, "iban", "pii:iban")


def mod97(iban: str) -> bool:
    """The check of ISO 13616: moved round and read as a number, it leaves 1."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


def _ssns(text: str) -> Iterator[Found]:
    for match in _SSN.finditer(text):
        digits = match.group().replace("-", "").replace(" ", "")
        said = match.group(1) == "-" or _SAYS_SSN.search(text, max(0, match.start() - 40), match.start()) is not None
        if said and digits not in _NOBODYS:
            yield Found(match.start(), match.end(), "ssn", "pii:ssn")


_FINDERS: dict[str, Callable[[str], Iterator[Found]]] = {"email": _emails, "phone": _phones, "card": _cards, "iban": _ibans, "ssn": _ssns}

#: What a policy may ask for.
KINDS = tuple(_FINDERS)

#: What must be in a text for ``find``.
TRIGGERS = (Trigger((), r"[@\d]"),)


def find(text: str, kinds: Iterable[str]) -> list[Found]:
    """Personal data of these kinds; ranges of different kinds may overlap."""
    out: list[Found] = []
    for kind in sorted(kinds):
        out += _FINDERS[kind](text)
    return out
