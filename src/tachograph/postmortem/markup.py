"""Markup that cannot be forgotten to be escaped.

``el("p", "1 < 2", class_="note")`` gives ``<p class="note">1 &lt; 2</p>``. A plain string is escaped and made
``visible`` wherever it stands, as a child and in an attribute; only a ``Markup`` is taken as it is, and only ``el``,
``text`` and ``trusted`` make one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .values import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = frozenset({"meta", "br", "hr"})


class Markup(str):
    """Markup that is finished."""

    __slots__ = ()


Child = Markup | str | None
Attribute = str | int | bool | None


#: As ``html.escape`` with its quotes.
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
#: Nothing in a text like this is escaped, or made visible.
_PLAIN = re.compile(r"[\w .,;:/#%()+=@?!$*-]*", re.ASCII)


def text(content: str) -> Markup:
    """Text as markup."""
    if isinstance(content, Markup):
        return content
    return Markup(content if _PLAIN.fullmatch(content) else visible(content).translate(_ESCAPED))


def trusted(content: str) -> Markup:
    """Markup written by ourselves (a stylesheet); never anything recorded."""
    return Markup(content)


def join(children: Iterable[Child]) -> Markup:
    """Several pieces one after another."""
    return Markup("".join(text(child) for child in children if child is not None))


def el(tag: str, *children: Child | Iterable[Child], **attributes: Attribute) -> Markup:
    """An element. ``class_`` is ``class``, ``view_box`` is ``viewBox``, other underscores are hyphens; ``True`` is an
    attribute without a value; ``None`` and ``False`` leave it out."""
    words = "".join([_attribute(name, value) for name, value in attributes.items() if value is not None and value is not False])
    if tag in _VOID:
        return Markup(f"<{tag}{words}>")
    inner = "".join([_child(child) for child in children])
    return Markup(f"<{tag}{words}>{inner}</{tag}>")


def _child(child: Child | Iterable[Child]) -> str:
    if child is None:
        return ""
    return text(child) if isinstance(child, str) else join(child)


def _attribute(name: str, value: Attribute) -> str:
    if value is True:
        return f" {_name(name)}"
    return f' {_name(name)}="{value if type(value) is int else text(str(value))}"'


@lru_cache(maxsize=256)
def _name(name: str) -> str:
    return _CAMELS.get(name) or name.rstrip("_").replace("_", "-")


_CAMELS = {
    "view_box": "viewBox",
    "pattern_units": "patternUnits",
    "pattern_transform": "patternTransform",
    "preserve_aspect_ratio": "preserveAspectRatio",
}
