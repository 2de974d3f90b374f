"""Kubernetes ``Secret`` manifests: every value under ``data`` and ``stringData`` goes, whatever its key is called; the keys stay.

YAML, with the kind before or after the data, in lists, in block scalars, indented by blanks or tabs; JSON as text, also escaped. A JSON value
that was understood as such asks ``is_secret``. A value that is a template (``{{ .Values.x }}``), encrypted (``ENC[…]``) or empty stays.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

from tachograph.redact import shapes
from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

#: Where the values are.
DATA = ("data", "stringData")

_KIND = expression(r"[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?[Ss]ecret[\"']?[ \t]*(?:#.*)?\r?\Z")
_TYPE = expression(
    r"[\"']?type[\"']?[ \t]*:[ \t]*[\"']?(?:kubernetes\.io/(?:dockercfg|dockerconfigjson|tls|basic-auth|ssh-auth|service-account-token)|Opaque)\b"
)
_LINE = expression(r"(?P<indent>[ \t]*(?:- {1,4})?)(?P<rest>[^\n]*)\n?")
_ENTRY = expression(r"[\"']?(?P<key>[\w.-]{1,253})[\"']?[ \t]*:(?:[ \t]+(?P<value>[^\n]*?))?[ \t]*\r?\Z")
_BLOCK = expression(r"[|>][+-]?\d?[+-]?(?:[ \t]+#.*)?\Z")
_COMMENT = expression(r"[ \t]#.*\Z")
#: Lines of a manifest that are read on either side of its kind.
_FAR = 2000

_Q = r"\\{0,4}\""
_JSON_DATA = expression(rf"{_Q}(?:data|stringData){_Q}\s{{0,8}}:\s{{0,8}}\{{([^{{}}]{{1,200000}})\}}")
_JSON_KIND = expression(rf"{_Q}kind{_Q}\s{{0,8}}:\s{{0,8}}{_Q}(\w{{1,64}}){_Q}")
_JSON_VALUE = expression(rf"{_Q}\s{{0,8}}:\s{{0,8}}{_Q}([^\"\\]{{1,200000}})")


#: What must be in a text for ``find``.
TRIGGERS = (
    Trigger(("kind", "kubernetes.io/"), r"kind[\"']?[ \t]*:[ \t]*[\"']?[Ss]ecret"),
    Trigger(("kind", "kubernetes.io/"), _TYPE.pattern),
    Trigger(("kind", "kubernetes.io/"), _JSON_KIND.pattern.replace(r"\w{1,64}", "(?i:secret)")),
)


class _Line(NamedTuple):
    """A line of YAML. ``indent``: the column of what stands on it, behind the dash of a list; ``dash``: whether there is one."""

    start: int
    indent: int
    dash: bool
    rest: str

    @property
    def empty(self) -> bool:
        return not self.rest.strip() or self.rest.startswith("#")


def is_secret(value: Mapping[Any, Any]) -> bool:
    """Whether a JSON object is a ``Secret``."""
    kind = value.get("kind")
    return isinstance(kind, str) and kind.lower() == "secret" and any(isinstance(value.get(key), dict) for key in DATA)


def worth(value: str) -> bool:
    """Whether there is anything to mask in a value of a manifest."""
    stripped = value.strip("\"' \t\r\n")
    return len(stripped) >= 3 and not shapes.hollow(stripped) and not stripped.startswith("ENC[")


def find(text: str) -> list[Found]:
    """The values of all Secret manifests of a text."""
    if "ecret" not in text and "kubernetes.io/" not in text:
        return []
    out: list[Found] = []
    if "kind:" in text or 'kind":' in text or "kind'" in text or "kubernetes.io/" in text:
        out += _yaml(text)
    if 'kind"' in text or "kind\\" in text:
        out += _json(text)
    return out


# -- YAML ----------------------------------------------------------------------------------------------------------------------


def _yaml(text: str) -> list[Found]:
    lines: list[_Line] = []
    marks: list[int] = []
    for match in _LINE.finditer(text):
        indent, rest = match["indent"], match["rest"]
        lines.append(_Line(match.start(), len(indent), "-" in indent, rest))
        if (_KIND.match(rest) or _TYPE.match(rest)) and rest:
            marks.append(len(lines) - 1)
    out: list[Found] = []
    seen: dict[int, int] = {}  # by column: the end of the last manifest there
    for mark in marks:
        column = lines[mark].indent
        if mark < seen.get(column, 0):
            continue
        low, high = _extent(lines, mark)
        low = max(low, seen.get(column, 0))
        seen[column] = high
        for number in range(low, high):
            line = lines[number]
            entry = _ENTRY.match(line.rest) if line.indent == column else None
            if entry is not None and entry["key"] in DATA and not (entry["value"] or "").strip():
                out += _values(text, lines, number + 1, high, column)
    return out


def _extent(lines: list[_Line], mark: int) -> tuple[int, int]:
    """The lines of the mapping in which a line stands: up to a line that is less indented, a dash or the mark between documents."""
    column = lines[mark].indent
    low = mark
    while low > max(0, mark - _FAR) and not lines[low].dash:
        above = lines[low - 1]
        if not above.empty and (above.indent < column or above.rest.startswith(("---", "..."))):
            break
        low -= 1
    high = mark + 1
    while high < min(len(lines), mark + _FAR):
        below = lines[high]
        ends = below.indent < column or (below.dash and below.indent <= column) or below.rest.startswith(("---", "..."))
        if not below.empty and ends:
            break
        high += 1
    return low, high


def _values(text: str, lines: list[_Line], number: int, high: int, column: int) -> list[Found]:
    """The values of the entries that are indented below a line."""
    out: list[Found] = []
    inner = -1
    while number < high:
        line = lines[number]
        number += 1
        if line.empty:
            continue
        if line.indent <= column:
            break
        inner = line.indent if inner < 0 else inner
        entry = _ENTRY.match(line.rest) if line.indent == inner else None
        if entry is None:
            continue
        more = number
        while more < high and (lines[more].indent > inner or not lines[more].rest.strip()):
            more += 1
        value = _COMMENT.sub("", entry["value"] or "").strip()
        if _BLOCK.match(value) or (not value and more > number):
            found = _lines(text, lines[number:more])
        else:
            start = line.start + line.indent + (entry.start("value") if entry["value"] else 0)
            found = _scalar(text, start, value, lines[number:more])
        if found is not None:
            out.append(found)
        number = more
    return out


def _lines(text: str, lines: list[_Line]) -> Found | None:
    """A block of lines, without the blanks around it."""
    full = [line for line in lines if line.rest.strip()]
    if not full:
        return None
    start = full[0].start + full[0].indent
    end = full[-1].start + full[-1].indent + len(full[-1].rest.rstrip())
    return Found(start, end, "secret", "manifest") if worth(text[start:end]) else None


def _scalar(text: str, start: int, value: str, more: list[_Line]) -> Found | None:
    """A value on the line of its key, in quotes or not, that may go on below."""
    if value[:1] in ("'", '"') and len(value) > 1 and value[-1] == value[0]:
        return Found(start + 1, start + len(value) - 1, "secret", "manifest") if worth(value) else None
    end = start + len(value)
    below = _lines(text, more)
    if below is not None and value:
        end = below.end
    return Found(start, end, "secret", "manifest") if value and worth(text[start:end]) else None


# -- JSON as text --------------------------------------------------------------------------------------------------------------


def _json(text: str) -> list[Found]:
    kinds = [(match.start(), match.group(1).lower()) for match in _JSON_KIND.finditer(text)]
    if not any(kind == "secret" for _, kind in kinds):
        return []
    out = []
    for block in _JSON_DATA.finditer(text):
        first = bisect_left(kinds, (block.start(), ""))
        before = [kind for _, kind in kinds[max(0, first - 1) : first]]
        after = kinds[first : first + 1]  # there is no kind inside of a block
        near = after and after[0][0] - block.end() < 80
        if (after[0][1] if near else "".join(before)) == "secret" or (not before and after and after[0][1] == "secret"):
            for value in _JSON_VALUE.finditer(text, block.start(1) - 1, block.end(1)):
                if worth(value.group(1)):
                    out.append(Found(*value.span(1), "secret", "manifest"))
    return out
