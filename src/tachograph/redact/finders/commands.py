"""Secrets on command lines: ``curl -u me:…``, ``mysql -p…``, ``sshpass -p …``, ``vault operator unseal …``, ``echo … | docker login
--password-stdin``.

A short flag says nothing by itself (``ssh -p`` is a port, ``cp -p`` a switch), so the search begins at the names of programs. Behind one, the
words of the same command are read as a shell would read them, over continued lines, up to a pipe or the end of the line; a row of quoted
words (``["docker", "login", "-p", "…"]``) is a command, too. Long flags with a telling name are ``assignments``' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tachograph.redact import names, shapes
from tachograph.redact.finders import headers
from tachograph.redact.finders.addresses import EXAMPLE_PASSWORDS, EXAMPLE_USERS
from tachograph.redact.finders.programs import BY_NAME, IMPACKET, INPUTS, NAMES, ORACLES, OTHERS, Program
from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.engines import lower
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

#: Characters of a command that are read behind a program's name.
_COMMAND = 2000
#: Words of a command.
_MAX_WORDS = 60
#: Words read again, because a command may stand in another (``kubectl exec x -- vault …``), beyond a share of the text's length.
_WORDS = 2000
#: Characters before a program's name that are searched for an opening quote.
_BEFORE = 200


class Word(NamedTuple):
    """A word of a command, in characters of the text, without the quotes around it."""

    start: int
    end: int
    text: str


#: What must be in a text for ``find``: a program's name by itself, by its number in ``NAMES``, or last a way to hand over a secret.
TRIGGERS = (
    *(
        Trigger(
            (name,),
            rf"(?:^|[^a-z0-9_.$@-]|\\[nt]){re.escape(name)}(?:\.exe|\.cmd|\.bat)?[\"']?[ \t,\\]",
            re.IGNORECASE,
            caseless=True,
        )
        for name in NAMES
    ),
    Trigger(INPUTS, caseless=True),
)

_NAME_BEFORE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.$@-")
_SUFFIX = expression(r"(?:\.exe|\.cmd|\.bat)?(?=[\"']?[ \t,\\])", re.IGNORECASE)
_GAP = expression(r"[ \t]*(?:(?:\\|\^|`)\r?\n[ \t]*|\\n[ \t]*(?=-))*")
_SWITCH = expression(r"-|/[A-Za-z]+(?::|\Z)")
_TARGET = expression(r"(?:[\w.-]{1,64}[/\\])?[\w.$-]{1,64}:([^\s@]{3,128})@[\w.-]+\Z")
_ORACLE = expression(r"[\w.$-]{1,64}/([^\s@/]{3,128})(?:@\S*)?\Z")
_PLAIN = expression(r"[^\s\"'\\|;&`<>]+")
_ITEM = expression(r"[\"']?\s{0,200},\s{0,200}(?P<q>[\"'])")


def find(text: str, woken: Iterable[int] | None = None) -> list[Found]:
    """Secrets of all commands in a text. ``woken``: the numbers of the triggers that are in it, where that is known."""
    out: dict[tuple[int, int], Found] = {}
    lowered = lower(text)
    read, budget = 0, len(text) // 8 + _WORDS
    for name in NAMES if woken is None else [NAMES[number] for number in sorted(woken) if number < len(NAMES)]:
        at = lowered.find(name)
        while at >= 0:
            end = at + len(name)
            if at == 0 or lowered[at - 1] not in _NAME_BEFORE or lowered[at - 2 : at] in ("\\n", "\\t"):
                suffix = _SUFFIX.match(text, end)
                if suffix is not None:
                    words = list(_words(text, at, suffix.end()))
                    read += len(words)
                    for found in _interpreted(name, words):
                        out[found.start, found.end] = found
                    if words and read > budget:
                        end = words[-1].end  # a text of nothing but commands: the same name among the words is not looked at
            at = lowered.find(name, end)
    for found in _piped(text, lowered):
        out[found.start, found.end] = found
    return list(out.values())


def of(argv: Sequence[str]) -> list[tuple[int, Found]]:
    """Secrets of one command that is words already: the number of the word, and what to mask in it."""
    out = []
    for first in range(min(len(argv), 8)):
        base = re.split(r"[/\\]", argv[first])[-1].lower().removesuffix(".exe")
        for size in (3, 2, 1):
            called = " ".join([base, *argv[first + 1 : first + size]])
            if called in BY_NAME or called in OTHERS:
                # Words lie apart by one character, so that each place belongs to one of them.
                words, starts, at = [], [], 0
                for word in argv[first + size :]:
                    words.append(Word(at, at + len(word), word))
                    starts.append(at)
                    at += len(word) + 1
                for found in _interpreted(called, words[: _MAX_WORDS * 4]):
                    number = max(n for n, start in enumerate(starts) if start <= found.start)
                    low = starts[number]
                    out.append((first + size + number, found._replace(start=found.start - low, end=found.end - low)))
                return out
    return out


# -- words ---------------------------------------------------------------------------------------------------------------------


def _words(text: str, begin: int, at: int) -> Iterator[Word]:
    """The words behind a program's name, as far as its command goes."""
    stop = min(len(text), at + _COMMAND)
    opening = text[begin - 1 : begin]
    if opening in ('"', "'") and text[at : at + 1] == opening:
        yield from _items(text, at, stop)
        return
    far = max(0, begin - _BEFORE)
    before = text[max(far, text.rfind("\n", far, begin) + 1) : begin]
    # The command may itself stand in quotes, which end it: sh -c "curl …"
    around = "".join(quote for quote in "\"'" if before.count(quote) % 2 and not before.endswith("'s "))
    for _ in range(_MAX_WORDS):
        gap = _GAP.match(text, at, stop)
        at = gap.end() if gap else at
        word, at = _word(text, at, stop, around)
        if word is None:
            return
        yield word


def _word(text: str, start: int, stop: int, around: str) -> tuple[Word | None, int]:
    """The word at a place, and where it ends. Quotes around all of it are left out."""
    at = start
    pieces = 0
    inner: tuple[int, int] | None = None
    while at < stop and pieces < 16:
        c = text[at]
        plain = _PLAIN.match(text, at, stop)
        if plain is not None:
            at = plain.end()
        elif c == "\\" and text[at + 1 : at + 2] in ('"', "'"):
            end = text.find(text[at : at + 2], at + 2, stop)
            if end < 0 or (text[at + 1] in around and pieces):
                break
            inner = (at + 2, end)
            at = end + 2
        elif c == "\\" and at + 1 < stop and text[at + 1] not in "\r\n":
            at += 2
        elif c in "\"'" and c not in around:
            end = text.find(c, at + 1, stop)
            if end < 0 or "\n" in text[at:end]:
                break
            inner = (at + 1, end)
            at = end + 1
        elif c in "<>" and not pieces:
            close = text.find(">", at, min(stop, at + 80))  # <a stand-in>
            if c == ">" or close < 0:
                break
            at = close + 1
        elif c == "&" and text[at + 1 : at + 2] != "&" and pieces and at + 1 < stop and text[at + 1].isalnum():
            at += 1
        else:
            break
        pieces += 1
    if at == start:
        return None, at
    if pieces == 1 and inner is not None:
        return Word(*inner, text[slice(*inner)]), at
    end = at
    while end > start + 1 and (text[end - 1] in ",)]}" and not _opened(text[start:end])):
        end -= 1
    return Word(start, end, text[start:end]), at


def _opened(word: str) -> bool:
    closing = word[-1]
    return closing == "," or word.count({")": "(", "]": "[", "}": "{"}[closing]) >= word.count(closing)


def _items(text: str, at: int, stop: int) -> Iterator[Word]:
    """The words of a list of literals."""
    for _ in range(_MAX_WORDS):
        item = _ITEM.match(text, at, stop)
        if item is None:
            return
        end = text.find(item["q"], item.end(), stop)
        if end < 0:
            return
        yield Word(item.end(), end, text[item.end() : end])
        at = end


# -- meaning -------------------------------------------------------------------------------------------------------------------


def _interpreted(called: str, words: list[Word]) -> Iterator[Found]:
    for program in BY_NAME.get(called, ()):
        yield from _flags(program, words)
        yield from _positions(program, words)
    if called == "htpasswd":
        yield from _htpasswd(words)
    elif called in ("kubectl", "oc"):
        yield from _literals(words)
    elif called in IMPACKET or called in ORACLES:
        pattern = _TARGET if called in IMPACKET else _ORACLE
        for word in words:
            match = pattern.match(word.text)
            if match is not None and _plausible(match.group(1), 3):
                yield Found(word.start + match.start(1), word.start + match.end(1), "password", "command-word")
                return
    elif called == "gh secret set":
        yield from _flags(Program((), values=("-b", "--body")), words)
    elif called == "convertto-securestring":
        yield from _first_value(words)
    elif called == "connect-viserver":
        yield from _flags(Program((), values=("-password", "-pass")), [word._replace(text=word.text.lower()) for word in words])


def _flags(program: Program, words: list[Word]) -> Iterator[Found]:
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else None
        for flags, taken in (
            (program.values, _value),
            (program.pairs, _pair),
            (program.percent, _percent),
            (program.cookies, _cookies),
        ):
            for flag in flags:
                part = _behind(flag, word, following)
                if part is not None:
                    yield from taken(part)
        for flag in program.glued:
            if word.text.startswith(flag) and len(word.text) > len(flag):
                yield from _value(_tail(word, len(flag)))


def _behind(flag: str, word: Word, following: Word | None) -> Word | None:
    """What a flag is given: the next word, or what is joined to it."""
    if word.text == flag:
        return following
    if not word.text.startswith(flag):
        return None
    if word.text[len(flag)] == "=":
        return _tail(word, len(flag) + 1)
    return _tail(word, len(flag)) if len(flag) == 2 and flag not in ("-P", "-t", "-k", "-K", "-s", "-b") else None


def _tail(word: Word, size: int) -> Word:
    """The word without its beginning and without the quotes around the rest."""
    rest = word.text[size:]
    start, end = word.start + size, word.end
    if len(rest) > 1 and rest[0] == rest[-1] and rest[0] in "\"'":
        return Word(start + 1, end - 1, rest[1:-1])
    return Word(start, end, rest)


def _value(word: Word) -> Iterator[Found]:
    start, text = word.start, word.text
    if text.startswith("pass:"):
        start, text = start + 5, text[5:]
    elif re.match(r"(?:env|file|fd|stdin)\b:?", text):
        return
    if _plausible(text):
        yield Found(start, word.end, "password", "command-flag")


def _pair(word: Word) -> Iterator[Found]:
    """``user:password``, masked whole as the same pair in an Authorization header is."""
    user, colon, password = word.text.partition(":")
    if user.count("{") > user.count("}"):
        return  # ${USER:-…}: the colon of a variable's default
    bare = password.strip("\"'")
    if not colon or "[REDACTED:" in user + colon:
        return  # the colon of a placeholder parts nothing
    if not bare:
        user = user.strip("\"'")
        if shapes.random(user, 12) or shapes.password_like(user):
            yield Found(word.start, word.end, "password", "command-flag")
        return
    if user.strip("\"'").lower() in EXAMPLE_USERS and bare.lower() in EXAMPLE_PASSWORDS:
        return
    if _plausible(bare, 3) and bare.lower() not in EXAMPLE_PASSWORDS and not (user == bare and len(user) < 12):
        yield Found(word.start, word.end, "password", "command-flag")


def _percent(word: Word) -> Iterator[Found]:
    for sign in "%,":
        user, found, password = word.text.partition(sign)
        if found and user and _plausible(password):
            yield Found(word.start + len(user) + 1, word.end, "password", "command-flag")
            return


def _cookies(word: Word) -> Iterator[Found]:
    if "=" in word.text:
        for edit in headers.cookies(word.text, first_only=False):
            if not shapes.hollow(word.text[edit.start : edit.end]):
                yield Found(word.start + edit.start, word.start + edit.end, "cookie", "command-flag")


def _positions(program: Program, words: list[Word]) -> Iterator[Found]:
    plain = [word for word in words if not _SWITCH.match(word.text)] if program.places or program.named else []
    texts = [word.text for word in plain]
    for beginning, places in program.places:
        size = len(beginning)
        if tuple(texts[:size]) == beginning:
            for place in places:
                if size + place < len(plain) and _telling(plain[size + place].text):
                    yield Found(plain[size + place].start, plain[size + place].end, "key", "command-word")
    if program.names[0] == "bundle" and texts[:1] == ["config"]:
        for word in plain[1:]:
            if re.fullmatch(r"[\w.-]{8,}:[\w.-]{8,}", word.text) and shapes.random(word.text, 8):
                yield Found(word.start, word.end, "password", "command-word")
    for beginning in program.named:
        size = len(beginning)
        if tuple(texts[:size]) == beginning and len(plain) >= size + 1:
            yield from _assigned(plain[size:])


def _assigned(words: list[Word]) -> Iterator[Found]:
    """A name and its value, as two words or as one with a sign between them."""
    name, sign, value = words[0].text.partition("=")
    said = names.named(name.rsplit(":", 1)[-1].strip("_"))
    if sign:
        word = Word(words[0].start + len(name) + 1, words[0].end, value)
    elif len(words) > 1:
        word = words[1]
    else:
        return
    if said.strength and shapes.secret(word.text, said, quoted=True):
        yield Found(word.start, word.end, said.kind, "command-word")


def _htpasswd(words: list[Word]) -> Iterator[Found]:
    """``htpasswd -b file user password``, ``htpasswd -nb user password``."""
    flags = "".join(word.text[1:] for word in words if re.match(r"-[A-Za-z]+\Z", word.text))
    plain = [word for word in words if not word.text.startswith("-") and not (word.text.isdigit() and len(word.text) < 3)]
    place = 1 if "n" in flags else 2
    if "b" in flags and len(plain) > place:
        yield from _value(plain[place])


def _literals(words: list[Word]) -> Iterator[Found]:
    """``--from-literal=name=value``, ``--docker-password=value``."""
    for number, word in enumerate(words):
        text, start = word.text, word.start
        if text == "--from-literal" and number + 1 < len(words):
            text, start = words[number + 1].text, words[number + 1].start
        elif text.startswith("--from-literal="):
            text, start = text[15:], start + 15
            while text[:1] in ("'", '"'):
                text, start = text[1:].rstrip("'\""), start + 1
        elif text.startswith("--docker-password="):
            text, start = "password=" + text[18:], start + 9
        else:
            continue
        name, sign, value = text.partition("=")
        stripped = value.strip("'\"")
        if sign and len(stripped) >= 3 and not shapes.hollow(stripped) and not stripped.startswith("$"):
            low = start + len(name) + 1 + value.find(stripped)
            yield Found(low, low + len(stripped), "secret", "command-word")


def _first_value(words: list[Word]) -> Iterator[Found]:
    for word in words:
        if not word.text.startswith("-"):
            if _plausible(word.text.strip("\\\"'")):
                inner = word.text.strip("\\\"'")
                low = word.start + word.text.find(inner)
                yield Found(low, low + len(inner), "password", "command-word")
            return


# -- what is given on the standard input ---------------------------------------------------------------------------------------

_PIPED = expression(
    r"\b(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+|['\"]%s(?:\\n)?['\"][ \t]+)?(?:\"([^\"\n]{3,255})\"|'([^'\n]{3,255})'|([^\s'\"|;&<>]{3,255}))[ \t]*\|"
    r"(?=[^\n|;]{0,300}(?:--password-stdin|--with-token|--token-stdin|\bchpasswd\b|--stdin\b|\bsudo[ \t]+-S\b|\bvault[ \t]+login[ \t]+-|\bcargo[ \t]+login\b))"
)
_HERE = expression(
    r"(?:--password-stdin|--with-token|--token-stdin|\bchpasswd\b|--stdin\b|\bsudo[ \t]+-S\b)[^\n|;<]{0,200}<<<[ \t]*"
    r"(?:\"([^\"\n]{3,255})\"|'([^'\n]{3,255})'|([^\s'\"|;&<>]{3,255}))"
)


def _piped(text: str, lowered: str) -> Iterator[Found]:
    """``echo … | docker login --password-stdin``, ``gh auth login --with-token <<< …``"""
    if not any(word in lowered for word in INPUTS):
        return
    for pattern in (_PIPED, _HERE):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            value = match.group(group)
            start = match.start(group)
            if "chpasswd" in text[match.end() : match.end() + 300].partition("\n")[0] and ":" in value:
                start += value.index(":") + 1
                value = value.partition(":")[2]
            if _plausible(value) and (len(value) >= 8 or not value.isalpha()):
                yield Found(start, match.end(group), "password", "command-input")


def _plausible(value: str, least: int = 4) -> bool:
    """No variable, stand-in, path, address or number of a port."""
    if not least <= len(value) <= 512 or value.startswith(("$", "//", "-", "%(", "[", "{{", "<")) or re.match(r"%\w+%\Z", value):
        return False
    if value.isdigit() and len(value) < 6:
        return False
    if shapes.hollow(value) and not shapes.random(value.strip("{}"), 12):
        return False
    return not shapes.harmless(value, quoted=True)


def _telling(value: str) -> bool:
    """A value that stands where a secret stands and looks like one."""
    return _plausible(value) and (shapes.random(value, 12) or shapes.password_like(value))
