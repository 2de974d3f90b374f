"""Why something is masked, in plain words, without saying what it is.

Of a value nothing is told but where it stands, how long it is, and the beginning that its rule makes public (``ghp_…``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tachograph.redact import shapes
from tachograph.redact.engine import Redactor
from tachograph.redact.rules import Rule


@dataclass(frozen=True)
class Finding:
    """``line`` and ``column`` count from 1, ``start`` and ``end`` from 0; all in characters. ``picture``: what the value looks like, without
    anything of its own."""

    line: int
    column: int
    start: int
    end: int
    kind: str
    rule: str
    why: str
    picture: str

    @property
    def length(self) -> int:
        """In characters, as it stands in the text."""
        return self.end - self.start


@dataclass(frozen=True)
class Near:
    """A name that says that its value is secret, beside a value that does not look like one."""

    line: int
    column: int
    name: str
    kind: str


#: What a rule's name, or its part before the colon, says. ``{}``: the part after the colon.
_WHY = {
    "name": "the name beside it, {}, says that its value is secret",
    "column": "the header of its column, {}, says that its value is secret",
    "prose": "a sentence tells it",
    "variable": "the variable's name, {}, says that its value is secret",
    "header": "the header {} holds a credential",
    "cookie": "the value of a cookie",
    "url-userinfo": "a credential before the @ of an address",
    "url-query": "the parameter {} of an address says that its value is secret",
    "service": "a random value beside the name of a service, {}, whose keys have no shape of their own",
    "command-flag": "an option of a command that takes a secret",
    "command-word": "a word of a command that is a secret there",
    "command-input": "what a command reads as a secret",
    "argument": "an argument of a call that takes a secret there",
    "manifest": "a value of a manifest that holds secrets",
    "basic-auth": "user and password in base64",
    "private-key": "a private key block, from its opener to its END or to the end of the text",
    "known-value": "a value that is known to be secret, from the environment or as it was given, in one of its forms",
    "cut-off": "the beginning of a secret where the text breaks off",
    "oauth-signature": "a signature of OAuth",
    "pii": "personal data that the policy asks for: {}",
}  # fmt: skip
_NAME = re.compile(r"([A-Za-z_][\w.-]{0,63})[\"']?[ \t]{0,8}[:=]")
_LEAST = 4


def explain(redactor: Redactor, text: str) -> list[Finding]:
    """What would be masked in a text, in its order."""
    spans = redactor.spans(text)
    # A name is told only where it holds nothing of what is masked.
    hidden = {text[span.start : span.end] for span in spans}
    rules = {rule.id: rule for rule in redactor.policy.rules}
    out = []
    for span in spans:
        line, column = place(text, span.start)
        value = text[span.start : span.end]
        rule = rules.get(span.rule)
        why = _shape(rule, value) if rule is not None else _words(span.rule, redactor, hidden)
        told = span.rule if rule is not None else _label(span.rule, redactor, hidden)
        out.append(Finding(line, column, span.start, span.end, span.kind, told, why, _picture(rule, value)))
    return out


def near(redactor: Redactor, text: str) -> list[Near]:
    """Names that promise a secret, where none was found beside them."""
    out = []
    spans = redactor.spans(text)
    hidden = {text[span.start : span.end] for span in spans}
    for match in _NAME.finditer(text):
        said = redactor.policy.named(match[1])
        after = match.end() + 4
        if said.strength and not any(span.start <= after and match.start() < span.end for span in spans):
            out.append(Near(*place(text, match.start()), _told(match[1], redactor, hidden), said.kind))
    return out


def place(text: str, at: int) -> tuple[int, int]:
    """Line and column of a character, both from 1."""
    begin = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at) + 1, at - begin + 1


def _shape(rule: Rule, value: str) -> str:
    begin = next((word for word in sorted(rule.keywords, key=len, reverse=True) if value.startswith(word)), None)
    words = f"it has the shape of rule {rule.id}"
    if begin is not None and len(value) - len(begin) >= _LEAST:
        words += f": begins with {begin}"
    if rule.entropy and rule.group == 0:
        words += (
            f", and is varied enough for a token: {shapes.entropy(value):.1f} bits a character, at least {rule.entropy:g} are asked for"
        )
    return words


def _words(rule: str, redactor: Redactor, hidden: set[str]) -> str:
    head, colon, name = rule.partition(":")
    if not colon:
        return _WHY[head].replace(", {},", "") if head in _WHY else f"found by rule {head}"
    return _WHY.get(head, "found by " + head + " {}").format(_told(name, redactor, hidden))


def _label(rule: str, redactor: Redactor, hidden: set[str]) -> str:
    head, colon, name = rule.partition(":")
    return head + colon + _told(name, redactor, hidden) if colon else rule


def _told(name: str, redactor: Redactor, hidden: set[str]) -> str:
    if any(value in name or (len(name) >= _LEAST and name in value) for value in hidden) or shapes.random(name):
        return "…"
    return redactor.text(name)


def _picture(rule: Rule | None, value: str) -> str:
    keywords = rule.keywords if rule is not None else ()
    begin = next(
        (word for word in sorted(keywords, key=len, reverse=True) if value.startswith(word) and len(value) - len(word) >= _LEAST), ""
    )
    return begin + "…"


def lines(findings: list[Finding], others: list[Near], where: str = "") -> Iterator[str]:
    """For people."""
    for each in findings:
        amount = f"{each.length} character{'s' if each.length > 1 else ''}"
        yield f"{where}{each.line}:{each.column}  {each.kind}, {amount}, {each.picture}"
        yield f"    {each.rule}: {each.why}"
    if not findings:
        yield f"{where}nothing to mask"
    for other in others:
        yield f"{where}{other.line}:{other.column}  left alone: the name {other.name} promises a {other.kind}, and what is beside it does not look like one"
