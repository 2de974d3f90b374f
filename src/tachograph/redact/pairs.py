"""Secrets that a member of their own names: ``{"Value": "…", "Name": "DB_PASSWORD"}``, ``<add value="…" key="ApiPassword"/>``,
``<name>password</name><value>…</value>``, ``<setting name="password"><value>…``, and what ``terraform plan`` says of a change.

A name before its value in JSON, YAML and attributes is ``assignments``' business; here the value comes first, or in an element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tachograph.redact import shapes
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named
from tachograph.redact.names import named as builtin
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

_Q = r"\\{0,4}[\"']"
_VALUE = rf"(?:\b|[a-z_])[vV]alue(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}{_Q}(?P<value>[^\"'\n\\<>]{{4,1024}}){_Q}\s{{0,4}},?\s{{0,16}}"
_KEY = rf"(?:{_Q})?(?:[A-Za-z_]{{0,16}})?(?:[nN]ame|[kK]ey)(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}{_Q}(?P<name>[\w.:/-]{{2,128}}){_Q}"
_REVERSED = expression(_VALUE + _KEY)
_ELEMENTS = expression(
    r"<(?:[\w.-]{1,32}:)?(?:name|key|Name|Key)>\s{0,32}(?P<name>[\w.: /-]{2,128}?)\s{0,32}</[\w.:-]{1,40}>\s{0,200}"
    r"<(?:[\w.-]{1,32}:)?(?:value|string|Value|String|data)>\s{0,32}(?P<value>[^<>]{4,4096}?)\s{0,32}</"
)
_NAMED_ELEMENT = expression(
    r"<[\w.:-]{1,64}\s[^<>]{0,200}?\b(?:name|key|id)=[\"'](?P<name>[\w.:/-]{2,128})[\"'][^<>]{0,200}(?<!/)>\s{0,64}(?:<value>\s{0,64})?(?P<value>[^<>\s][^<>]{3,4096}?)\s{0,64}</"
)
#: ``~ password = "old" -> "new"``, with anything that is no literal on one side.
_CHANGE = expression(
    r"\"?(?P<name>[\w.-]{2,128})\"?[ ]{1,64}=[ ](?:\"(?P<old>[^\"\n]{0,1024})\"|\([a-z ]{1,40}\)|null)[ ]->[ ](?:\"(?P<new>[^\"\n]{4,1024})\"|\([a-z ]{1,40}\)|null)"
)


def triggers(stems: Sequence[str]) -> tuple[Trigger, ...]:
    """What must be in a text for ``find``, given what the names of secrets contain."""
    stem = "(?:" + "|".join([*(re.escape(stem) for stem in stems if stem.isascii()), r"[^\x00-\x7f]"]) + ")"
    name = rf"[\w.:/-]{{0,128}}{stem}"
    return (
        Trigger(
            ("alue",),
            rf"value(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}{_Q}[^\"'\n\\<>]{{4,1024}}{_Q}\s{{0,4}},?\s{{0,16}}(?:{_Q})?\w{{0,16}}(?:name|key)(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}{_Q}{name}",
            re.IGNORECASE,
        ),
        Trigger(
            ("name>", "key>", "Name>", "Key>"),
            rf"(?:name|key)>\s{{0,32}}[\w.: /-]{{0,128}}{stem}[\w.: /-]{{0,128}}\s{{0,32}}</",
            re.IGNORECASE,
        ),
        Trigger(
            ("name=", "key=", "id="),
            rf"(?:name|key|id)=[\"']{name}[^<>]{{0,330}}>\s{{0,64}}(?:<value>)?\s{{0,64}}[^<>\s][^<>]",
            re.IGNORECASE,
        ),
        Trigger(
            (" -> ",),
            rf"{stem}[\w.-]{{0,128}}\"?[ ]{{1,64}}=[ ](?:\"[^\"\n]{{0,1024}}\"|\([a-z ]{{1,40}}\)|null)[ ]->[ ][\"(n]",
            re.IGNORECASE,
        ),
    )


def find(text: str, *, named: Callable[[str], Named] = builtin) -> list[Found]:
    """The values of all such pairs of a text."""
    out: list[Found] = []
    for needle, patterns in (("alue", (_REVERSED,)), ("</", (_ELEMENTS, _NAMED_ELEMENT)), (" -> ", (_CHANGE,))):
        if needle not in text:
            continue
        for pattern in patterns:
            for match in pattern.finditer(text):
                name = match["name"].strip()
                said = _said(name, named)
                if not said.strength or said.kind == "authorization":
                    continue
                for group in ("value",) if pattern is not _CHANGE else ("old", "new"):
                    value = match[group]
                    if value and value.lower() != name.lower() and shapes.secret(value, said, quoted=True):
                        out.append(Found(*match.span(group), said.kind, f"name:{name[:64]}"))
    return out


def _said(name: str, named: Callable[[str], Named]) -> Named:
    said = named(name.replace(" ", "_"))
    return said if said.strength else named(re.split(r"[.:/]", name)[-1])
