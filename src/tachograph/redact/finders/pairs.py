"""Secrets that a member of their own names: ``{"Value": "…", "Name": "DB_PASSWORD"}``, ``<add value="…" key="ApiPassword"/>``,
``<name>password</name><value>…</value>``, ``<setting name="password"><value>…``, and what ``terraform plan`` says of a change.

A name before its value in JSON, YAML and attributes is ``assignments``' business; here the value comes first, or in an element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tachograph.redact import shapes
from tachograph.redact.finders.assignments import Place, everywhere
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named
from tachograph.redact.names import named as builtin
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


#: What is behind the stem of a name in each of them: a change, the end of a literal, or of an element.
_ENDS = expression(
    r"[\w.-]{0,128}\"?[ ]{1,64}=[ ](?:\"[^\"\n]{0,1024}\"|\([a-z ]{1,40}\)|null)[ ]->[ ][\"(n]"
    rf"|[\w.:/-]{{0,128}}(?P<literal>{_Q})"
)
_ELEMENT_END = expression(r"[\w.: /-]{0,128}\s{0,32}</")
#: Characters before a name in which its value ends at the latest, if it is before it.
_BEFORE = 1200


def find(text: str, places: Iterable[Place] | None = None, *, named: Callable[[str], Named] = builtin) -> list[Found]:
    """The values of all such pairs of a text. ``places``: where the stems of names are; None: they are looked for."""
    values, closes = "alue" in text, "</" in text
    if not (values or closes or " -> " in text):
        return []
    wanted = set()
    for at, stem in everywhere(text) if places is None else places:
        if closes and _ELEMENT_END.match(text, at + len(stem)):
            wanted.add(_ELEMENTS)
        ends = _ENDS.match(text, at + len(stem))
        if ends is None:
            continue
        if ends["literal"] is None:
            wanted.add(_CHANGE)
        elif quote := 1 + max(text.rfind('"', max(0, at - 130), at), text.rfind("'", max(0, at - 130), at)):
            before = text[max(0, quote - 48) : quote - 1].rstrip("\\").rstrip()
            joint, word = before[-1:], before[:-1].rstrip().rstrip("\"'\\")[-4:].lower()
            if joint == "=" and closes and word.endswith(("name", "key", "id")):
                wanted.add(_NAMED_ELEMENT)
            if (
                joint
                and joint in ":="
                and values
                and word.endswith(("name", "key"))
                and text.rfind("alue", max(0, quote - _BEFORE), quote) >= 0
            ):
                wanted.add(_REVERSED)
    out: list[Found] = []
    for pattern in (_REVERSED, _ELEMENTS, _NAMED_ELEMENT, _CHANGE):
        for match in pattern.finditer(text) if pattern in wanted else ():
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
