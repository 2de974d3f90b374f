"""Secrets below their name or in a list behind it.

- YAML: a block scalar (``password: |``), a value on the next line, a list (``tokens:`` and ``- …`` below it).
- A list on the same line, of YAML, JSON or a programming language: ``passwords: [a, b]``, ``TOKENS = ("a", "b")``.

What stands below a name without an indentation, or is a mapping of its own, is not its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tachograph.redact import shapes
from tachograph.redact.finders.assignments import Place, everywhere
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named, Strength, singular
from tachograph.redact.names import named as builtin
from tachograph.redact.spans import Found

#: A key by itself on its line, or with the sign of a block scalar.
_KEY = expression(
    r"^(?P<indent>[ \t]{0,64}(?:- {1,4})?)[\"']?(?P<name>[^\W\d][\w.-]{0,62})[\"']?[ \t]{0,8}:[ \t]{0,8}(?P<block>[|>][+-]?\d?[+-]?)?[ \t]{0,8}(?:#[^\n]{0,200})?\r?\n",
    re.MULTILINE,
)
_BELOW = expression(r"(?P<indent>[ \t]*)(?P<dash>- {1,4})?(?P<rest>[^\n]*)\n?")
#: A mapping of its own, which is no value.
_MAPPING = expression(r"[\"']?[\w.-]{1,64}[\"']?[ \t]{0,8}:(?:[ \t]|\Z)|[\[{&*!|>#%@]")
_LIST = expression(
    r"(?<![\w.$-])(?P<name>[A-Za-z_$][\w.$-]{1,62})[\"']?[ \t]{0,8}(?::[ ]?[A-Za-z][\w\[\], .|]{0,40}?[ ]?=|:?=>?|:)[ \t]{0,8}(?:new[ ]\w{1,32}[ ]?\[\][ ]?)?[\[({](?P<items>[^\[\](){}\n]{6,4096})[\])}]"
)
_ITEM = expression(
    r"\s{0,16}(?:\\{0,4}(?P<q>[\"'`])(?P<quoted>[^\"'`\n\\]{1,1024})\\{0,4}(?P=q)|(?P<bare>[^\s\"'`,:=]{1,1024}))\s{0,16}(?:,|\Z)"
)

#: Characters of a name.
_LONGEST_NAME = 64
#: Characters of a line before the stem of its name.
_LONGEST_LINE = 160
#: Lines of a block or a list, and characters of each.
_MOST, _LONGEST = 2000, 4096


#: Behind a stem, what is behind a name with something below it, or before a list.
_OPENS = expression(
    r"[\w.$-]{0,62}[\"']?[ \t]{0,8}(?:(?P<below>:[ \t]{0,8}(?:[|>][+-]?\d?[+-]?)?[ \t]{0,8}(?:#|\r?\n))"
    r"|(?::[ ]?[A-Za-z][\w\[\], .|]{0,40}?[ ]?=|:?=>?|:)[ \t]{0,8}(?:new[ ]\w{1,32}[ ]?\[\][ ]?)?[\[({])"
)
_NAME_CHAR = frozenset(".$-_")


def find(text: str, places: Iterable[Place] | None = None, *, named: Callable[[str], Named] = builtin) -> list[Found]:
    """Secrets below and in lists behind their names. ``places``: where the stems of names are, sorted; None: they are looked for."""
    out: list[Found] = []
    done = 0  # the end of the last name with something below it, or of what was
    listed = 0  # the end of the last list
    for at, stem in everywhere(text) if places is None else places:
        opens = _OPENS.match(text, at + len(stem))
        if opens is None:
            continue
        if opens["below"] is not None:
            if at >= done:
                start = text.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1
                if start or at < _LONGEST_LINE:
                    found, done = _key(text, start, done, named)
                    out += found
        elif at >= listed:
            found, listed = _list(text, at, listed, named)
            out += found
    return out


def _key(text: str, start: int, done: int, named: Callable[[str], Named]) -> tuple[list[Found], int]:
    """What is below the name on the line that begins at ``start``, and where that ends; ``done`` if the line is no such name."""
    key = _KEY.match(text, start)
    if key is None:
        return [], done
    said = _said(key["name"], named)
    if not said.strength or said.kind == "authorization":
        return [], key.end()
    rule = f"name:{key['name'][:64]}"
    found, end = (_block if key["block"] else _values)(text, key, said, rule)
    return found, max(end, key.end())


def _list(text: str, at: int, done: int, named: Callable[[str], Named]) -> tuple[list[Found], int]:
    """What is in the list behind the name around ``at``, and where that ends; ``done`` if there is none."""
    begin = at
    while begin > max(done, at - _LONGEST_NAME) and (text[begin - 1].isalnum() or text[begin - 1] in _NAME_CHAR):
        begin -= 1
    match = _LIST.match(text, begin)
    if match is None:
        return [], done
    said = _said(match["name"], named)
    items = _items(text, match, said) if said.strength and said.kind != "authorization" else ()
    return list(items), match.end()


def _said(name: str, named: Callable[[str], Named]) -> Named:
    """What the name of one or of several says."""
    name = name.replace(" ", "_")
    said = named(name)
    return said if said.strength else named(singular(name))


def _block(text: str, key: re.Match[str], said: Named, rule: str) -> tuple[list[Found], int]:
    """The lines that are indented below a name, as far as each looks like a secret; all of them if one of them is random."""
    column = len(key["indent"].expandtabs())
    at = key.end()
    lines: list[tuple[int, int]] = []
    for _ in range(_MOST):
        line = _BELOW.match(text, at) if at < len(text) else None
        if line is None:
            break
        start = line.start("dash") if line["dash"] else line.start("rest")
        end = line.start("rest") + len(line["rest"].rstrip())
        if start < end:
            if len(line["indent"].expandtabs()) <= column:
                break
            lines.append((start, end))
        at = line.end()
    values = [text[start:end] for start, end in lines]
    if not values:
        return [], at
    solid = not any(c.isspace() for value in values for c in value)
    if solid and any(shapes.random(value) or shapes.machine_made(value) for value in values) and not any(map(shapes.hollow, values)):
        return [Found(lines[0][0], lines[-1][1], said.kind, rule)], at
    return [
        Found(start, end, said.kind, rule)
        for start, end in lines
        if end - start <= _LONGEST and not _MAPPING.match(text, start, end) and shapes.secret(text[start:end], said, quoted=True)
    ], at


def _values(text: str, key: re.Match[str], said: Named, rule: str) -> tuple[list[Found], int]:
    """One value on the next line, or a list."""
    column = len(key["indent"].expandtabs())
    out: list[Found] = []
    at = key.end()
    for number in range(_MOST):
        line = _BELOW.match(text, at) if at < len(text) else None
        if line is None:
            break
        indent = len(line["indent"].expandtabs())
        rest = line["rest"].rstrip()
        if not rest or rest.startswith("#"):
            if not rest and not number:
                break
            at = line.end()
            continue
        dashed = line["dash"] is not None
        if indent < column or (indent == column and not dashed) or (number and not dashed):
            break
        at = line.end()
        found = None if _MAPPING.match(rest) else _scalar(line.start("rest"), rest, said, rule)
        if found is not None:
            out.append(found)
        elif not dashed:
            break
    return out, at


def _scalar(start: int, value: str, said: Named, rule: str) -> Found | None:
    comment = re.search(r"[ \t]#", value)
    if comment is not None:
        value = value[: comment.start()].rstrip()
    quoted = len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]
    if quoted:
        start, value = start + 1, value[1:-1]
    elif any(c.isspace() for c in value) or value[-1:] in ",;":
        return None
    if (
        not quoted
        and not shapes.random(value)
        and not shapes.machine_made(value)
        and not shapes.chosen(value.replace("_", "-"))
        and not value.isalnum()
    ):
        return None  # the name of something
    if shapes.secret(value, said, quoted=quoted):
        return Found(start, start + len(value), said.kind, rule)
    return None


def _items(text: str, match: re.Match[str], said: Named) -> Iterator[Found]:
    """The literals of a list; bare words of YAML only if they are random, since they may be names of anything in code."""
    at, end = match.span("items")
    while at < end:
        item = _ITEM.match(text, at, end)
        if item is None:
            return
        at = item.end()
        group = "quoted" if item["quoted"] is not None else "bare"
        value = item[group]
        sure = said.strength is Strength.STRICT and group == "quoted"
        if shapes.secret(value, said if sure else Named(Strength.LIKELY, said.kind), quoted=group == "quoted") and (
            shapes.random(value, 12) or shapes.password_like(value) or (sure and any(c.isdigit() for c in value) and value.isalnum())
        ):
            yield Found(*item.span(group), said.kind, f"name:{match['name'][:64]}")
