"""A text's JSON value."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str) -> Any:
    """A text's JSON value where it is one, else the text."""
    bare = text.strip()
    if bare[:1] in "{[" and bare[-1:] in "}]":
        try:
            return json.loads(bare)
        except (ValueError, RecursionError):
            return text
    return text
