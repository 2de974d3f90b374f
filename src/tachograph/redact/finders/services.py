"""Keys beside the name of the service they open, without an assignment: ``deepgram 1a2b…``, ``acme PRIVATE 9z8y…``, ``acmeSECRETkey-77aa…``.

Notes, tickets, chat messages and logs write them so. Two ways in:

- the name of a known service (``rules.service_names``), or
- any identifier that ends in one of ``WORDS`` (``acme-secret``, ``acmeTOKEN``), which then has to say more: written in capitals, or a word
  that means nothing but a secret;

then at most ``_FILL`` more such words, a joint, and a value that a machine made. Names that are assigned a value in the usual way are the
business of ``assignments``.

Only what is around the prefilter's hits is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tachograph.redact import shapes
from tachograph.redact.names import harmless_before, words
from tachograph.redact.prefilter.engines import Hit, lower
from tachograph.redact.prefilter.trigger import ANYWHERE, Trigger
from tachograph.redact.rules.service_names import AMBIGUOUS_NAMES, SERVICE_NAMES
from tachograph.redact.spans import Found

#: Words that say that a secret follows, lower-case.
WORDS = ("private", "secret", "access", "token", "key", "auth", "api")

#: The kinds of secret that they mean, the first of them that is there.
_KINDS = (
    ("secret", "secret"),
    ("token", "token"),
    ("key", "key"),
    ("private", "key"),
    ("access", "token"),
    ("auth", "token"),
    ("api", "key"),
)

#: Alone, in lower case and behind any identifier, these mean a secret.
_TELLING = frozenset(("private", "secret", "token"))

_MORE = r"(?:private|secret|access|tokens?|keys?|auth|api|code|id|pat|personal|record|search|app|deploy|project|master|service|account|write|read|client|live|test|prod|production|dev|sandbox|x|my|[0-9])"
_QUOTE = r"(?:\\{0,2}[\"'`])?"
#: What joins the last word and the value; a single dash is part of the value.
_JOINT_AFTER_NAME = (
    rf"{_QUOTE}(?:\s{{0,4}}(?:={{1,3}}>?|:{{1,3}}=|:|->|>|,)\s{{0,4}}|[ \t]{{1,4}}(?:is|was)[ \t]{{1,2}}|\s{{1,4}}|(?=-)){_QUOTE}"
)
_JOINT = _JOINT_AFTER_NAME.replace("|(?=-)", "|[._](?=[a-z0-9])|(?=-)")
#: The value's first characters; the rest is read from the text. Behind a name it may be shorter here: what is ``machine_made`` is not.
_HEAD = r"(?=-?[a-z0-9][a-z0-9_.+/~:|@-]{8})"
_WHOLE_HEAD = r"(?=-?[a-z0-9][a-z0-9_.+/~:|@-]{11})"

_WORD = re.compile(
    rf"(?P<first>private|secret|access|token|key|auth|api)(?P<more>(?:[ \t_.-]{{0,4}}{_MORE}){{0,4}}[a-z0-9]{{0,2}})(?P<joint>{_JOINT}){_WHOLE_HEAD}"
)
_AFTER_NAME = re.compile(
    rf"(?:(?:teams?|sms|crm|app|io|ai|hq)\b)?(?P<words>(?:[\s\"'=:_.-]{{0,4}}{_MORE}\b){{0,5}})(?P<joint>{_JOINT_AFTER_NAME}){_HEAD}"
)
_VALUE = re.compile(r"-?[A-Za-z0-9][A-Za-z0-9_.+/~:|@-]{8,1023}={0,3}")
_CAPITALS = re.compile("|".join(WORDS).upper())
_CLIENT_ID = re.compile(r"client\W?id\W*\Z")
#: The rest of an address: ``com/v1/…``.
_HOST_END = re.compile(r"[a-z]{2,6}[/:]")
_BEFORE = re.compile(r"(?<![a-z0-9+/])([a-z]{1,24}[0-9]{0,3}[a-z]{0,10})([ \t_.=:-]{0,4})\Z")
_KEEP = bytes(c if 97 <= c <= 122 or 48 <= c <= 57 else 32 for c in range(256))
_ENCODED = frozenset(name.encode() for name in SERVICE_NAMES)


#: Characters of a value without and with digits, what may be before one, and what may be between a word and one.
_C, _CD, _OPEN, _FILL = r"[A-Za-z_.+/~:|@-]", r"[A-Za-z0-9_.+/~:|@-]", r"[\s\"'`=:>,-]", r"[\sA-Za-z0-9\"'=:_.`\\>,-]"
#: Behind a name, a value has a digit within so many characters; without a word for it, it has an unbroken run of so many with a digit in it,
#: within ``_BEGINNING`` characters. That tells it from words.
_TELLING_PART = 20
_BEGINNING = 64
_UNBROKEN = re.compile(rf"[A-Za-z0-9+/_-]{{{_TELLING_PART},}}")
_DIGIT = re.compile("[0-9]")
#: Such a run up to its first digit or some characters further, so that it is nearly as long as it has to be.
_LETTERS, _ANY = "[A-Za-z+/_-]", "[A-Za-z0-9+/_-]"
_TELLING_RUN = "|".join(
    f"{_LETTERS}{{{least},{most}}}[0-9]{_ANY}{{{more}}}"
    for least, most, more in ((0, 3, 16), (4, 7, 12), (8, 11, 8), (12, 15, 4), (16, 95, 0))
)
#: What must be in a text for ``find``: a word and a value right behind it, a word and a value after a name, or a value without a word. Where
#: one of them ends is wanted.
TRIGGERS = (
    Trigger(WORDS, rf"(?i:{_WORD.pattern})-?[A-Za-z0-9]{_CD}{{11}}", caseless=True, tail=1),
    Trigger(
        WORDS,
        rf"(?i:{'|'.join(WORDS)}){_FILL}{{0,128}}{_OPEN}(?:{_C}{{0,5}}[0-9]{_CD}{{6}}|{_C}{{6,{_TELLING_PART - 1}}}[0-9])",
        caseless=True,
        tail=1,
    ),
    Trigger((), rf"(?:^|[^A-Za-z0-9+/_-])(?:{_TELLING_RUN})", tail=1, run=_TELLING_PART),
)
_BEHIND_WORDS, _BEHIND_NAMES = range(2)

#: Characters before the end of a hit within which the match for it begins: of the first trigger; of the others with the name before it.
#: A word, what may follow it, a joint and a value's beginning are at most 7 + 58 + 20 + 13; a name, words, a joint and the beginning of a
#: value up to the end of its telling run 50 + 75 + 20 + 81.
_BACK = (128, 256)


def find(text: str, hits: Iterable[Hit] = ((_BEHIND_WORDS, ANYWHERE), (_BEHIND_NAMES, ANYWHERE))) -> list[Found]:
    """Keys beside the names of services. ``hits``: those of the triggers."""
    lowered = lower(text)
    out: list[Found] = []
    words_at: list[int] = []
    names_at: list[int] = []
    for number, at in hits:
        (names_at if number else words_at).append(at)
    if words_at:
        out += _behind_words(text, lowered, _windows(len(text), words_at, _BACK[_BEHIND_WORDS]))
    if not names_at:
        return out
    windows = _windows(len(text), names_at, _BACK[_BEHIND_NAMES])
    plain = "\n".join([lowered[low:high] for low, high in windows]).encode("ascii", "replace")
    whole = _ENCODED.intersection(plain.translate(_KEEP).split())
    split = _ENCODED.intersection(plain.translate(_KEEP, b"-_.").split())
    for name in whole:
        out += _behind_name(text, lowered, re.compile(re.escape(name.decode())), name.decode())
    for name in split - whole:
        out += _behind_name(text, lowered, re.compile("[-_.]?".join(name.decode())), name.decode())
    return out


def _windows(length: int, places: Iterable[int], back: int) -> list[tuple[int, int]]:
    """What is at most ``back`` characters before the places, neighbours joined."""
    out: list[tuple[int, int]] = []
    for at in sorted(set(places)):
        if at == ANYWHERE:
            return [(0, length)]
        low = max(0, at + 1 - back)
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], at + 1)
        else:
            out.append((low, at + 1))
    return out


def _matches(lowered: str, windows: Iterable[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """As ``_WORD.finditer`` where all matches are in the windows; a search for the words themselves is several times faster."""
    places = []
    for low, high in windows:
        for word in WORDS:
            at = lowered.find(word, low, high)
            while at >= 0:
                places.append(at)
                at = lowered.find(word, at + 1, high)
    end = 0
    for at in sorted(places):
        if at >= end:
            match = _WORD.match(lowered, at)
            if match is not None:
                end = match.end()
                yield match


def _behind_words(text: str, lowered: str, windows: Iterable[tuple[int, int]]) -> Iterator[Found]:
    """``acmeSECRET-…``, ``acme private key …``."""
    for match in _matches(lowered, windows):
        begin = match.start()
        before = _BEFORE.search(lowered, max(0, begin - 40), begin)
        if before is None:
            continue
        name, first, more = before[1], match["first"], match["more"]
        if not more and first in ("key", "token") and harmless_before(first, words(text[before.start(1) : before.end(1)])[-1]):
            continue
        joint = match["joint"]
        known = name in SERVICE_NAMES or name + first in SERVICE_NAMES
        if more.endswith("id") and not (known and "client" not in more):
            continue  # an id is no secret
        if "\n" in joint and not known:
            continue
        told = {word for word in WORDS if word in first + more}
        assigned = any(c in joint for c in "=:>")
        if known:
            least = 12
        elif name in AMBIGUOUS_NAMES and assigned:
            least = 16
        elif _CAPITALS.search(text, begin, match.end("more")) is not None or (len(told) > 1 and told & {"key", "token"}):
            least = 14
        elif name in AMBIGUOUS_NAMES or text[begin].isupper():
            least = 24
        elif told & _TELLING or (assigned and not before[2].isspace() and first == "api" and not more):
            least = 20
        else:
            continue
        found = _value(text, match.end(), least, told)
        if found is None:
            continue
        start = match.end()
        if lowered[start] == "-":
            # What hangs on a word by a dash is one word with it: ``ACCESS key-77aa…``.
            while start > match.end("first") and not lowered[start - 1].isspace():
                start -= 1
        yield Found(start, found.end, found.kind, f"service:{name}")


def _behind_name(text: str, lowered: str, pattern: re.Pattern[str], name: str) -> Iterator[Found]:
    """``deepgram = …``, ``pagerduty: Token token=…``."""
    for match in pattern.finditer(lowered):
        at, end = match.span()
        if at and (lowered[at - 1].isalnum() or lowered[at - 1] in "/@"):
            continue
        after = _AFTER_NAME.match(lowered, end)
        if after is None or _CLIENT_ID.search(after["words"]):
            continue
        told = {word for word in WORDS if word in after["words"]}
        found = _value(text, after.end(), 12 if told else 20, told)
        if found is None:
            continue
        value = text[found.start : found.end]
        if _DIGIT.search(value, 0, _TELLING_PART + 1) if told else any(map(_DIGIT.search, _UNBROKEN.findall(value, 0, _BEGINNING))):
            yield found._replace(rule=f"service:{name}")


def _value(text: str, at: int, least: int, told: Iterable[str]) -> Found | None:
    match = _VALUE.match(text, at)
    if match is None:
        return None
    end = match.end()
    while end > at and text[end - 1] in ".:|@/~":
        end -= 1
    value = text[at:end]
    if _HOST_END.match(value) or not shapes.machine_made(value, least):
        return None
    kind = next((kind for word, kind in _KINDS if word in told), "key")
    return Found(at, end, kind)


def vocabulary() -> str:
    """What decides, as text, for a policy's fingerprint."""
    patterns = (_WORD, _AFTER_NAME, _VALUE, _HOST_END, _BEFORE)
    return repr(([pattern.pattern for pattern in patterns], sorted(SERVICE_NAMES), sorted(AMBIGUOUS_NAMES)))
