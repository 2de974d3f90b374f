"""Rules of the user's own: from a document (a table of ``tachograph.toml``, a line of a record) to a ``Rule``, checked.

A rule that would not do what its author means is refused, with the reason: a pattern that does not compile or is not linear, a keyword
that is not in every match, an example that is not found, a counter-example that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.redact import linear
from tachograph.redact.finders.vendors import Vendors
from tachograph.redact.rules import Rule
from tachograph.redact.rules.rule import Expression

#: Characters before a keyword at which a match may begin.
_REACH = 256
#: Characters. A shorter keyword is in every text.
_KEYWORD = 3
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")

_KEYS: dict[str, type] = {
    "id": str, "kind": str, "pattern": str, "keywords": list, "group": int, "entropy": float, "positive": list, "negative": list,
    "reach": int,
}  # fmt: skip


def rule(given: Mapping[str, Any], where: str, *, taken: Iterable[str] = (), proven: bool = False) -> Rule:
    """``where`` names the rule in errors; ``taken`` are ids that are given away; ``proven``: it was checked with its examples when it was
    written into a record, and comes without them now."""
    unknown_keys(given, _KEYS, where)
    for key, wanted in _KEYS.items():
        value = given.get(key)
        if value is not None and (not isinstance(value, (int, float) if wanted is float else wanted) or isinstance(value, bool)):
            raise UsageError(f"{where}: {key} is {_named(wanted)}, not {_named(type(value))}; correct it there")
        if wanted is list and value is not None:
            strings(value, f"{where}: {key}")
    identity = identifier(given.get("id"), f"{where}: id")
    if identity in taken:
        raise UsageError(f"{where}: there is a rule {identity!r} already; choose another id, or name it in rules.remove as well")
    kind = identifier(given.get("kind", identity), f"{where}: kind")
    pattern = given.get("pattern")
    if not pattern:
        raise UsageError(f"{where}: there is no pattern; give a regular expression that matches the secret")
    if (wrong := linear.trouble(pattern, re.ASCII)) is not None:
        raise UsageError(f"{where}: the pattern {wrong}")
    found = linear.shape(pattern, re.ASCII)
    group = found.groups.get("secret", given.get("group", 0))
    if not 0 <= group <= re.compile(pattern, re.ASCII).groups:
        raise UsageError(f"{where}: the pattern has no group {group}; 0 stands for the whole match")
    keywords, reach = _keywords(given, found, where)
    made = Rule(
        id=identity, kind=kind, keywords=keywords, pattern=Expression(pattern, re.ASCII), group=group, reach=given.get("reach", reach),
        positive=tuple(given.get("positive", ())), negative=tuple(given.get("negative", ())), inside=False,
        entropy=float(given.get("entropy", 0.0)),
    )  # fmt: skip
    if not proven:
        _prove(made, where)
    return made


def document(made: Rule) -> dict[str, Any]:
    """What ``rule(…, proven=True)`` makes the rule of again."""
    return {
        "id": made.id, "kind": made.kind, "pattern": made.pattern.pattern, "keywords": list(made.keywords), "group": made.group,
        "entropy": made.entropy, "reach": made.reach,
    }  # fmt: skip


def _keywords(given: Mapping[str, Any], found: linear.Shape, where: str) -> tuple[tuple[str, ...], int]:
    """The keywords, and how far before one a match may begin."""
    literals = [(text, before) for text, before in found.literals if len(text) >= _KEYWORD and before <= _REACH]
    if "keywords" not in given:
        if not literals:
            raise UsageError(
                f"{where}: the pattern holds no literal text of at least {_KEYWORD} characters; give keywords, of which each match holds one"
            )
        text, before = max(literals, key=lambda each: (each[1] == 0, len(each[0])))
        return (text,), before
    keywords = tuple(given["keywords"])
    if not keywords or any(len(word) < _KEYWORD for word in keywords):
        raise UsageError(f"{where}: keywords are one or more texts of at least {_KEYWORD} characters each; shorter ones are everywhere")
    begin = all(any(before == 0 and text.startswith(word) for text, before in found.literals) for word in keywords)
    return keywords, 0 if begin else min(_REACH, found.longest)


def _prove(made: Rule, where: str) -> None:
    if not made.positive:
        raise UsageError(f"{where}: there is no example; give at least one text in positive that the rule is to find")
    vendors = Vendors((made,))
    for number, text in enumerate(made.positive, 1):
        # Of an example nothing is quoted: it may be a secret.
        if not any(word in text for word in made.keywords):
            raise UsageError(f"{where}: positive example {number} holds none of the keywords; each match must hold one")
        if not vendors.find(text):
            raise UsageError(f"{where}: positive example {number} is not found; correct the pattern, its entropy, or the example")
    for number, text in enumerate(made.negative, 1):
        if vendors.find(text):
            raise UsageError(f"{where}: negative example {number} is found; make the pattern stricter, or correct the example")


# -- what other tables of the file need, too ----------------------------------------------------------------------------------


def identifier(value: Any, where: str) -> str:
    """Lower-case letters, digits and hyphens."""
    if not isinstance(value, str) or not _ID.match(value) or len(value) > 60:
        raise UsageError(f"{where} is made of lower-case letters, digits and single hyphens, at most 60; correct it there")
    return value


def strings(value: Any, where: str) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise UsageError(f"{where} is a list of texts that are not empty; correct it there")
    return value


def unknown_keys(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Raises for the first key that is not known."""
    for key in given:
        if key not in known:
            raise UsageError(f"{where}: there is no key {key!r}{nearest(key, known)}")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error: what may have been meant."""
    import difflib  # only whoever errs pays for it

    options = sorted(known)
    close = difflib.get_close_matches(name, options, 1, 0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(options)}" if len(options) <= 20 else "; the reference has a list"


def _named(kind: type) -> str:
    return {str: "a text", list: "a list", int: "a whole number", float: "a number", dict: "a table", bool: "true or false"}.get(
        kind, kind.__name__
    )
