"""Does a value look like a secret, like the absence of one, or like code?

Names alone raise false alarms: ``password = os.environ["X"]``, ``token: str``, ``api_key=<your key>``. The judgement here is made of a few
plain tests, each about one way in which a value can be harmless.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from tachograph.redact.lazy import expression
from tachograph.redact.letters import BITS, cost, unlikely
from tachograph.redact.names import Named, Strength, words
from tachograph.redact.words import table

#: The beginning of a template variable, a stand-in in brackets, dots and stars, or a reference to a secret kept elsewhere.
_HOLLOW = expression(
    r"\$\{|\$\(|\$[A-Za-z_]|\$\d\b|\{\{|\{%|\{[A-Za-z_][^{}]*\}\Z|<[^<>]*>?\Z|&lt;|%\([A-Za-z_]\w*\)|%[sdr]\b|%[A-Za-z_]+%\Z|#\{|@\{|\[\["
    r"|\*{3}|\.{3}|…|•{3}|-{4}|_{4}|!(?:Ref|Sub|vault|secret|ENV)\b|ENC[\[(]|op://|vault:|ssm:|arn:|awssm:|gcp-sm:|secretref:"
)

_REPEATED = expression(r"([A-Za-z0-9*#.-])\1{23}")
#: ``[the shared key goes here]``.
_BRACKETED = expression(r"\[[A-Za-z]+(?: [A-Za-z]+)+\]?\Z")
#: ``PUT_YOUR_TOKEN_HERE``, ``your_private_key_placeholder_here1234``.
_PUT_HERE = expression(
    r"(?:put|insert|replace|enter|paste|add|use)[ _-](?:with[ _-])?(?:your|the|this|in)|your[ _-]?(?:\w{1,16}[ _-])?(?:api|access|secret|private|auth)?[ _-]?"
    r"(?:key|token|secret|password|id)|(?:key|token|secret|password|value)[ _-](?:goes[ _-])?here|placeholder|change[ _-]?me|not[ _-]a[ _-]?real",
    re.IGNORECASE,
)
#: Words of stand-ins without any separator: ``somefakekey``.
_GLUED_NOTHING = expression(
    r"(?=.{0,24}?(?:some|fake|your|dummy|example|sample|mock|here|invalid))"
    r"(?:some|fake|my|your|the|test|dummy|example|sample|mock|secret|password|passwd|pass|token|key|apikey|here|value|default|short|invalid)+\d{0,4}\Z",
    re.IGNORECASE,
)

_WORDS_OF_NOTHING = table(
    """
    none null nil undefined true false yes no on off empty unset string str text bytes int integer number float bool boolean
    object any array optional required secret password passwd pwd token key apikey api credentials credential auth value name
    your my the a an of for to changeme change me placeholder example sample dummy fake mock todo tbd fixme here insert enter
    put replace set provide add is not given redacted hidden masked removed omitted private public default test testing type
    user username email client access id var variable env environment bearer basic digest oauth field input label prompt this
    that real and or with from in new old confirm config file
    """
)

_SWITCHES = frozenset(("", "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default", "enabled", "disabled"))

_STOP = table(
    """
    the a an of to for is are was be in on at and or with from your you this that it must should will can not if as by
    """
)

_TYPES = expression(
    r"(?:u?int(?:eger)?(?:8|16|32|64|128)?|float(?:32|64)?|u?int\d+_t|uint8array|text|string|[A-Za-z]+\[\]|option(?:al)?[<\[].*"
    r"|var(?:char)?\(?\d*\)?|base64|utf-?8|sha-?\d+|md5|aes-?\d*(?:-\w+)*|rsa-?\d*|[hre]s\d{3}|ed25519|v\d+(?:\.\d+)*|oauth ?2(?:\.0)?"
    r"|(?:cram|digest)-md5|scram-sha-\d+(?:-plus)?|xoauth2|ntlmv?\d?)\Z",
    re.IGNORECASE,
)

_CODE = expression(
    r"\w\(|\)\s*$|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|^[A-Za-z_]\w*(?:\.\w+)*\[|->|=>|::|\s[|&]{1,2}\s|^[A-Za-z_]\w*\.(?:get|env|environ|config|settings)\b"
    r"|^(?:new|await|return|lambda|function|self|this|process|os|env|ctx|req|args|opts|options|config|settings|data|params)\b[.\[( ]"
)

#: What is code even where an environment is written: ``TOKEN=get_token()``, ``KEY=settings.key``.
_CALL = expression(r"[A-Za-z_][\w.]*[(\[].*[)\]]\Z|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z", re.DOTALL)

#: A literal that ended where one seemed to begin: ``"password = " + new Buffer(…``
_CONCATENATION = expression(r"\s*(?:\+|\.\$|\.\s|&\s|\|\|)\s*[\w$(\"'\[]?[^\"'`]*[\[(.$]")

_PATH = expression(
    r"(?:\.{0,2}/|~/|[A-Za-z]:\\)[\w.@%+~-]*(?:[/\\][\w.@%+~ -]*)*\Z"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:json|ya?ml|toml|txt|pem|crt|key|env|py|js|ts|go|rs|md|cfg|ini|conf|sh|html?|xml|png|svg)\Z"
)
_URL = expression(r"(?:https?|wss?|ftp|s3|gs|file|git|ssh|mailto|data|urn|tel):")
_ADDRESS = expression(r"[a-z][a-z0-9+.-]{1,24}://")
#: A handler in a table of routes: ``users/passwords#update``.
_ROUTE = expression(r"[a-z_]+(?:/[a-z_]+)+#[a-z_]+\Z")
#: A host name with or without port and path, or a mail address.
_HOST = expression(r"(?:[\w.+-]{1,64}@)?(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{1,5})?(?:/[\w./~%-]*)?\Z")
_DATE = expression(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?\Z")
UUID = expression(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
#: ``2.0.6``, ``4.4.0-rc1``, and with what a lock file joins to it: ``java-jwt:4.4.0=compileClasspath``.
_VERSION = expression(
    r"(?:[A-Za-z][\w.-]{0,63}:)?v?\d{1,5}(?:\.\d{1,8}){1,3}(?:[-.+][A-Za-z]{1,12}\.?\d{0,6})?(?:=[A-Za-z]{1,64}(?:,[A-Za-z]{1,64}){0,64})?,?\Z"
)
_NUMBER = expression(r"[+-]?\d+(?:[.,]\d+)*%?\Z")
_IDENTIFIER = expression(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SINGLE = expression(r"(.)\1*\Z", re.DOTALL)
_CAMEL = expression(r"[A-Z]?[a-z]+|[A-Z]+")
_RUNS = expression(r"[A-Za-z0-9]+")


def entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    n = len(text)
    return -sum(c / n * math.log2(c / n) for c in Counter(text).values()) if n else 0.0


def hollow(value: str) -> bool:
    """A stand-in: a template variable, ``<your-key>``, ``xxxx``, ``***``, ``changeme``, or one of our own placeholders."""
    if value[:1] == "$" and len(value) > 24 and sum(c.isdigit() for c in value) >= 4 and machine_made(value[1:]):
        return False  # a token that begins with a dollar sign
    if "[REDACTED" in value or _HOLLOW.match(value.lstrip("\"'`")) or _BRACKETED.match(value) or _PUT_HERE.search(value):
        return True
    if value.endswith(("..", "…")) or "[redacted" in value.lower() or _REPEATED.search(value):
        return True  # cut off by whoever wrote it, or no variety in it
    core = value.strip("\"'`<>[](){} \t;,")
    if len(core) < 3 or _SINGLE.match(core):
        return True
    letters = core.replace("-", "").replace("_", "").replace(".", "").lower()
    if (
        not letters
        or _SINGLE.match(letters)
        or "xxxxx" in letters
        or "*****" in core
        or "....." in core
        or ("00000000" in letters and len(set(letters)) < 4)
    ):
        return True
    if letters.startswith(("your", "insert", "replace", "changeme", "placeholder", "enteryour", "redacted", "todo")) and not any(
        c.isdigit() for c in letters
    ):
        return True
    if _GLUED_NOTHING.match(core):
        return True
    return (
        all(word in _WORDS_OF_NOTHING or (word.isdigit() and len(word) < 3) for word in words(core))
        if core.isascii() and _wordy(core)
        else False
    )


def template(value: str) -> bool:
    """Something that stands for a value where its place already says what it is: a reference, dots, a stand-in in brackets, ``your-…``."""
    core = value.strip("\"'`")
    return (
        not core
        or "[REDACTED" in core
        or _HOLLOW.match(core) is not None
        or _SINGLE.match(core) is not None
        or core[0] in "<[{$"
        or core.lower().startswith(("your", "enter", "insert", "xxx"))
    )


def _wordy(value: str) -> bool:
    return not any(not (c.isalnum() or c in " _-.:,'!?") for c in value)


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and other characters occur."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + (not value.isalnum() and value != "")
    )


def random(value: str, least: int = 16, *, joined: bool = True) -> bool:
    """Made by a machine: a run of at least ``least`` letters and digits that are no words. A UUID counts. ``joined``: so do shorter
    runs that separators join."""
    if UUID.match(value):
        return True
    runs = _RUNS.findall(value)
    run = max(runs, key=len, default="")
    if len(run) < least:
        return joined and len(runs) > 1 and len(value) >= 20 and _random_joined("".join(runs), runs)
    bits = entropy(run)
    has_digit = any(c.isdigit() for c in run)
    has_alpha = any(c.isalpha() for c in run)
    if has_digit and has_alpha:
        return bits >= 2.6 and not _numbered_words(run)
    # Letters only: in words of camel case the case changes every five letters or so, in random ones every second.
    return has_alpha and len(run) >= 20 and len(_CAMEL.findall(run)) * 3 > len(run) and bits >= 3.5


#: Characters. The rest of a longer value is as its beginning: text may be nothing but names, and each is looked at.
_ENOUGH = 192
_HEX = expression(r"(?:[0-9a-f]{32,}|[0-9A-F]{32,})\Z")
_DAY = expression(r"[12]\d{3}-[01]\d-[0-3]\d")
_TOKEN_LIKE = expression(r"[A-Za-z0-9_.+/~:|@=-]+\Z")
_GROUPS = expression(r"-?[A-Za-z0-9]{3,16}(?:-[A-Za-z0-9]{3,16}){2,8}\Z")


def machine_made(value: str, least: int = 12) -> bool:
    """A key or token out of a generator, beside the word for it: a UUID, digits in hex, letters and digits without words, groups of them.

    Digits alone count from twenty on, letters alone if they are no words.
    """
    return _machine_made(value[:_ENOUGH], least)


# A text says the same again and again, and one that is made to cost time does so most of all.
@lru_cache(maxsize=2048)
def _machine_made(value: str, least: int) -> bool:
    core = value.strip("-_=.")
    if len(core) < least or not _TOKEN_LIKE.match(value) or hollow(core) or _DATE.match(core) or _HOST.match(core) or _URL.match(core):
        return False
    if UUID.match(core):
        return True
    core = _DAY.sub("", core)
    if core.isdigit():
        return len(core) >= 20
    if _HEX.match(core):
        return entropy(core) >= 2
    runs = _RUNS.findall(core)
    if _GROUPS.match(core) and len(core) >= 20:
        wordy = sum(len(group) for run in runs for group in _CAMEL.findall(run) if len(group) > 3)
        return (wordy * 2 < len(core) and any(c.isdigit() for c in core)) or all(len(run) >= 5 and run.isupper() for run in runs)
    run = max(runs, key=len, default="")
    if (len(run) >= min(least, 16) or (len(run) >= 10 and len(core) >= 16)) and _scrambled(run):
        return True
    return len(core) >= 14 and len(runs) > 1 and _scattered("".join(runs), runs)


def _scattered(joined: str, runs: list[str]) -> bool:
    """Short runs with separators among them: digits are all over it, and few of its letters make words."""
    wordy = sum(len(group) for run in runs for group in _CAMEL.findall(run) if len(group) > 3 and cost(group) < 5)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(joined))
    alpha = "".join(c for c in joined if c.isalpha())
    mixed = len(_CAMEL.findall(alpha)) * 3 > len(alpha) and cost(alpha) > 4.6
    return (
        len(joined) >= 12
        and (changes >= 3 or mixed)
        and wordy <= 0.3 * len(joined)
        and entropy(joined) >= 3
        and any(c.isalpha() for c in joined)
    )


def _scrambled(run: str) -> bool:
    """Letters and digits in no order that words have."""
    digits = sum(c.isdigit() for c in run)
    alpha = "".join(c for c in run if c.isalpha())
    mixed = len(_CAMEL.findall(alpha)) * 3 > len(alpha) and cost(alpha) > 4.6
    if digits:
        return entropy(run) >= 2.4 and not _numbered_words(run) and (digits >= 2 or mixed or unlikely(alpha))
    return entropy(run) >= 3 and (mixed or unlikely(run))


def _random_joined(joined: str, runs: list[str]) -> bool:
    """Random characters with separators among them: few of its runs are words, and digits are all over it."""
    alpha = [group for run in runs for group in _CAMEL.findall(run)]
    digits = sum(c.isdigit() for c in joined)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(joined))
    wordy = sum(len(group) for group in alpha if len(group) >= 5)
    return (
        len(joined) >= 20
        and digits >= 3
        and len(joined) - digits >= 6
        and changes >= 5
        and wordy <= 0.3 * len(joined)
        and entropy(joined) >= 3.3
    )


def _numbered_words(run: str) -> bool:
    """``Python3Interpreter2``: camel-case words with few digits."""
    groups = re.findall(r"\d+|[A-Z]?[a-z]+|[A-Z]+", run)
    wordy = [group for group in groups if len(group) >= 4 and group.isalpha()]
    joined = "".join(wordy)
    return (
        sum(len(g) for g in groups if g.isdigit()) <= 4 and len(joined) > len(run) * 0.75 and not (len(joined) >= 12 and unlikely(joined))
    )


def password_like(value: str) -> bool:
    """Chosen by a person or a generator: at least six characters without blanks, out of three classes with a digit or two symbols among
    them, or with four different symbols."""
    if not 6 <= len(value) <= 128 or any(c.isspace() for c in value) or not any(c.isalnum() for c in value):
        return False
    symbols = {c for c in value if not c.isalnum()}
    many = classes(value)
    return (many >= 3 and (any(c.isdigit() for c in value) or len(symbols - _JOINING) >= 2)) or (len(symbols) >= 5 and len(value) >= 8)


def chosen(value: str) -> bool:
    """The same among the arguments of a call, where the names of other things stand, too: ``x-amz-content-sha256`` is one."""
    return password_like(value) and not _LOWER_NAME.match(value)


_LOWER_NAME = expression(r"[a-z0-9]+(?:[-_.:/][a-z0-9]+)+\Z")
#: What joins words in names, paths and sentences.
_JOINING = frozenset("_-./: ,'\"")


#: Minified code.
_OPERATORS = expression(r"&&|\|\||[=!]=|=!|=>|\)[,;.]|\(\)|,[A-Za-z_$]")


def crossed(value: str) -> bool:
    """Brackets that close what was not opened, in the middle of it: no code and no template looks like that."""
    if _OPERATORS.search(value):
        return False
    opened: list[str] = []
    for at, c in enumerate(value):
        if c in "([{":
            opened.append(c)
        elif c in ")]}":
            if opened and opened[-1] + c in ("()", "[]", "{}"):
                opened.pop()
            elif value[at + 1 : at + 2].isalnum():
                return True
    return False


def switch(value: str) -> bool:
    """Nothing, a truth value or a count: what a setting holds that is only called like a secret."""
    return value.strip().lower() in _SWITCHES or (value.isdigit() and len(value) < 4)


def harmless(value: str, *, quoted: bool, tight: bool = False) -> bool:
    """Plainly something else than a secret, whatever it is called: a type, a path, an address, a date, a number, code, prose."""
    if (
        _TYPES.match(value)
        or _VERSION.match(value)
        or _DATE.match(value)
        or _URL.match(value)
        or (_ADDRESS.match(value) and "@" not in value)
    ):
        return True
    if _ROUTE.match(value):
        return True
    if _PATH.match(value) and not random(value, 20):
        return True
    if _HOST.match(value) and not random(value, 20, joined=False):
        return True
    if crossed(value) and password_like(value):
        return False
    if not quoted and not tight and value[0] in "([{*&|+":
        return True
    if _CONCATENATION.match(value):
        return True
    if tight and _CALL.match(value):
        return True
    if not quoted and not tight and _CODE.search(value) and not (random(value, 20) and not any(c in "()[]" for c in value)):
        return True
    if any(c.isspace() for c in value):
        parts = value.split()
        return (
            len(parts) > 8
            or any(part.startswith(("/", "--")) for part in parts[1:])
            or any(part.lower().strip(".,:;!?") in _STOP for part in parts)
        )
    return False


#: One word and what no sentence and no code puts behind it: ``tangerine!``.
_EXCLAIMED = expression(r"[A-Za-z]{4,24}[!@#$%^&*?]{1,3}[A-Za-z]{0,8}\Z")
#: What machines make: shorter ones are examples.
_MADE = frozenset(("key", "token"))
_SHORTEST_KEY = 12
#: Characters. Shorter words with separators and a digit are examples, too: ``v2_pt_short``.
_SHORT_KEY = 20


def secret(value: str, said: Named, *, quoted: bool = True, tight: bool = False) -> bool:
    """Whether a value under a name is a secret.

    ``quoted``: it is a literal (a JSON string, a quoted word, a command line argument), so it cannot be code.
    ``tight``: written ``NAME=value`` in the manner of an environment, where a bare word is a literal, too.
    """
    return len(value) <= 65536 and _secret(value[:_ENOUGH], said, quoted, tight)


@lru_cache(maxsize=2048)
def _secret(value: str, said: Named, quoted: bool, tight: bool) -> bool:
    if len(value) < 4 or said.strength is Strength.NONE or hollow(value) or harmless(value, quoted=quoted, tight=tight):
        return False
    if said.kind == "pin":
        return value.isdigit() or random(value)
    if _NUMBER.match(value):
        return (said.kind == "password" and len(value) >= 6) or len(value) >= 20
    if said.kind in _MADE and len(value) < _SHORTEST_KEY:
        return False
    if random(value) or machine_made(value):
        return True
    if crossed(value) and password_like(value):
        return True
    if said.strength is Strength.LIKELY:
        return said.kind in ("password", "secret", "authorization") and password_like(value)
    if password_like(value):
        return True
    bare = not (quoted or tight)
    plain = all(word in _WORDS_OF_NOTHING for word in words(value))
    if said.kind in _MADE and len(value) < _SHORT_KEY and _LOWER_NAME.match(value.replace("_", "-")) and not _scattered(value, [value]):
        return False
    if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
        return len(value) >= 6 and not (bare and _IDENTIFIER.match(value) and "_" in value) and not plain
    if bare and said.kind == "password" and _EXCLAIMED.match(value):
        return True
    if bare or plain:
        return False
    if said.kind == "password":
        return True
    # A secret, key or token of letters only: words joined by separators are a name for it, not the thing.
    return not _wordy(value) or (len(value) >= 12 and entropy(value) >= 3.3 and not re.search(r"[ _.-]", value))


def vocabulary() -> str:
    """All tables as text, for a policy's fingerprint."""
    patterns = [
        pattern.pattern
        for pattern in (
            _HOLLOW,
            _BRACKETED,
            _PUT_HERE,
            _GLUED_NOTHING,
            _REPEATED,
            _ROUTE,
            _ADDRESS,
            _OPERATORS,
            _LOWER_NAME,
            _EXCLAIMED,
            _GROUPS,
            _HEX,
            _TYPES,
            _CODE,
            _CALL,
            _CONCATENATION,
            _PATH,
            _URL,
            _HOST,
            _DATE,
            _VERSION,
        )
    ]
    return repr((patterns, BITS, sorted(_WORDS_OF_NOTHING), sorted(_SWITCHES), sorted(_STOP)))
