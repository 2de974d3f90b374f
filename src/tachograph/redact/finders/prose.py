"""Secrets that a sentence tells: "the password for the staging server is …", "your new PIN is …", "log in with admin / …".

Sentences speak of passwords all the time without telling one. So a value must look like one: letters and digits, mixed case with a symbol, or
a literal in quotes. Keys and tokens must be random, PINs are digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tachograph.redact import shapes
from tachograph.redact.finders.assignments import Place, everywhere
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named, Strength
from tachograph.redact.prefilter.engines import lower
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

_CHOSEN = r"(?:pass(?:word|phrase|code|wd| phrase)|pwd|passwort|kennwort|contraseña|mot de passe)"
_KEY = r"(?:(?:api|access|secret|private|auth|license) ?(?:key|token)|token|secret)"
_PIN = r"(?:PIN(?: code)?|[Pp]in code|[Pp]asscode|OTP|(?:[Vv]erification|[Ss]ecurity|[Oo]ne[- ]time|[Ll]ogin|[Cc]onfirmation) (?:code|password))"
_PIN_SAYS = r"(?:[ ](?:for|of)[ ][^\n.;:=!?]{1,40}?)?(?:[ ](?:is|was)(?:[ ]now)?:?|:)[ ]{1,2}[`\"'*]{0,2}"
#: Anything of the same sentence; a dot inside of a word does not end it.
_BETWEEN = r"(?P<between>(?:[^\n.;:=!?]|\.(?=\S)){0,60}?)"
_SAYS = (
    r"(?:(?:[ ](?:is|was|were|got|has[ ]been))?(?:[ ]now)?[ ](?:changed|reset|set|updated|rotated)[^\n.;:=!?]{0,40}?[ ]to"
    r"|[ ](?:is|was|will[ ]be)(?:[ ](?:now|still|currently))?|[ ]to|[ ](?:ist|es|est))[:,]?[ ]{1,2}"
)
_VALUE = r"(?:\*{2})?(?P<quote>[`\"'“‘«])?(?P<value>[^\s`\"'“”‘’«»]{4,128})"

_TOLD = expression(rf"\b(?:(?P<password>{_CHOSEN})|(?P<key>{_KEY}))\b{_BETWEEN}{_SAYS}{_VALUE}", re.IGNORECASE)
_PIN_TOLD = expression(rf"\b{_PIN}{_PIN_SAYS}(?P<value>\d(?:[ -]?\d){{3,7}})(?![\w.,-]?\d|\w)")
_LOGIN = expression(
    r"\b(?:log(?:ged|ging)?[ -]?in|sign(?:ed)?[ -]?in|logins?|credentials|creds|user(?:name)?|authenticate)\b(?:[ ](?:with|as|using|is|are)|[ ]to[ ]\S{1,60}[ ](?:with|as))?:?"
    r"[ ]{1,2}(?:the[ ])?(?:user(?:name)?[ ])?[`'\"]?(?P<user>[\w.@+-]{2,64})[`'\"]?"
    r"(?P<sign>[ ]/[ ]|/|:|,?[ ](?:and[ ]|with[ ])?(?:the[ ])?(?:password|pass|pw|pwd):?[ ])(?P<quote>[`'\"])?(?P<value>[^\s`'\"]{4,128})",
    re.IGNORECASE,
)
#: What is said of passwords: ``8-character``, ``256-bit``, ``sha512crypt``.
_MEASURE = expression(
    r"\d{1,5}[-–]?[A-Za-z]{1,12}\Z|(?:sha|md|aes|rsa|utf|base|bcrypt|pbkdf|argon|sha3|hs|rs|es|v|oauth|ipv|http|win|mp|py|python)[-_]?\d",
    re.IGNORECASE,
)
_WORD_DIGITS = expression(r"[A-Za-z]{3,32}\d{1,8}[!@#$%&*?]?\Z|(?=\D{0,32}\d)(?=[^A-Z]{0,32}[A-Z])(?=[^a-z]{0,32}[a-z])\w{6,64}\Z")

#: What must be in a text for ``find``.
TRIGGERS = (
    Trigger(("PIN", "in code", "asscode", "OTP", " code", " password", "-time"), rf"{_PIN}{_PIN_SAYS}\d"),
    Trigger(("log", "sign", "cred", "user", "authenticate"), _LOGIN.pattern, re.IGNORECASE, caseless=True),
)
#: How the words before a code end, and what ``_LOGIN`` begins with.
_PIN_ENDS = ("PIN", "OTP", "code", "password")
_PIN_REST = expression(rf"(?:[ ]code)?{_PIN_SAYS}\d")
_LOGINS = ("log", "sign", "cred", "user", "authenticate")

#: The stems that are in what a sentence speaks of, as far as one of them is a word here, and what it says of it.
_WORDS = frozenset(("pass", "pw", "kennwort", "contrase", "key", "token", "secret"))
_WORD_AT = expression(
    r"(?:pass(?:word|phrase|code|wd|wort|e| phrase)|pwd|kennwort|contraseña|key|token|secret)\b[^\n;:=!?]{0,128}", re.IGNORECASE
)
_VERB = expression(r"[ ](?:is|was|be|now|still|currently|to|ist|es|est)[:,]?[ ]", re.IGNORECASE)
#: Characters before such a stem in which the words begin.
_BEFORE = 12


def find(text: str) -> list[Found]:
    """Codes and logins that the sentences of a text tell."""
    out: list[Found] = []
    if any(_PIN_REST.match(text, at + len(word)) for word in _PIN_ENDS for at in _all(text, word)):
        out += [Found(*match.span("value"), "pin", "prose") for match in _PIN_TOLD.finditer(text)]
    lowered = lower(text)
    done = 0
    for at in sorted(at for word in _LOGINS for at in _all(lowered, word)):
        if at >= done and (match := _LOGIN.match(text, at)) is not None:
            out += _login(match)
            done = match.end()
    return out


def _all(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def told(text: str, places: Iterable[Place] | None = None) -> list[Found]:
    """Passwords, keys and tokens that the sentences of a text tell. ``places``: where the stems of names are, sorted; None: they are looked
    for."""
    out: list[Found] = []
    floor = 0
    for at, stem in everywhere(text) if places is None else places:
        if stem not in _WORDS:
            continue
        word = _WORD_AT.match(text, at)
        if word is None or not _VERB.search(text, at, word.end() + len(": ")):
            continue
        start = max(floor, at - _BEFORE)
        while start <= at:
            match = _TOLD.match(text, start)
            if match is not None:
                out += _told(text, match)
                # The next one may begin between this name and what only seemed to be its value.
                floor = match.start() + 4 if match["between"] else match.start("value")
            start = max(start + 1, floor)
    return out


def _told(text: str, match: re.Match[str]) -> Iterator[Found]:
    value = match["value"]
    quoted = match["quote"] is not None
    if not quoted:
        value = value.rstrip(".,;:?)]}*>\\")
    start = match.start("value")
    said = Named(Strength.STRICT, "password") if match["password"] else Named(Strength.LIKELY, "token")
    if said.kind == "token":
        sure = shapes.random(value, 16, joined=False) and any(c.isdigit() for c in value)
    elif quoted:
        # A word in quotes is one where it is said whose password it is.
        sure = not value.isalpha() or not value.islower() or match["between"].startswith((" for ", " of "))
        end = start + len(value)
        sure = sure and text[end : end + 1] in "`\"'”’»"
    else:
        sure = looks_chosen(value)
    if sure and shapes.secret(value, said, quoted=quoted):
        yield Found(start, start + len(value), said.kind, "prose")


def _login(match: re.Match[str]) -> Iterator[Found]:
    value = match["value"]
    if match["quote"] is None:
        value = value.rstrip(".,;:?)]}*>\\")
    tight = match["sign"] in "/:"
    if tight and ("." in match["user"] or not shapes.password_like(value) or "/" in value):
        return
    if looks_chosen(value) and shapes.secret(value, Named(Strength.STRICT, "password"), quoted=False):
        start = match.start("value")
        yield Found(start, start + len(value), "password", "prose")


def looks_chosen(value: str) -> bool:
    """Whether a bare word of a sentence looks like a password: no word of the language, no measure, no name of an algorithm."""
    if _MEASURE.match(value) or shapes.harmless(value, quoted=False) or shapes.hollow(value) or not any(c.isalpha() for c in value):
        return False
    if "_" in value and value.isidentifier():
        return shapes.random(value)
    return shapes.password_like(value) or shapes.random(value, 12) or _WORD_DIGITS.match(value) is not None
