"""Lines of older versions of the format, as this version means them (``docs/format/v1.md``, section 12).

What is stored never changes: lines are chained, sealed and verified as they stand. Only what a reader understands them to say is brought
up to date, one version at a time, after their chain was checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import layout

Fields = dict[str, Any]


def _as_it_is(fields: Fields) -> Fields:
    return fields


#: By version: from the fields of such a line those of the next version, ``v`` left alone; of the current version, the fields themselves.
#: A version that is not here cannot be read.
STEPS: dict[int, Callable[[Fields], Fields]] = {layout.VERSION: _as_it_is}


def current(fields: Fields) -> Fields:
    """A line's fields in the current version. Raises ``KeyError`` for a version that has no step: a newer one, or none at all."""
    version = fields.get("v")
    if type(version) is not int:
        raise KeyError(version)
    fields = STEPS[version](fields)
    for newer in range(version + 1, layout.VERSION + 1):
        fields = STEPS[newer]({**fields, "v": newer})
    return fields
