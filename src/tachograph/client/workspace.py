"""In a replay, a tool or command that is answered from the record must leave the files that it left: the host sends them with the
answer, and they are written here, inside the agent, under the same guard as everything else it writes.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any


def apply(payload: bytes) -> None:
    """``payload``: JSON ``{"root": …, "changes": [{"path","action","mode","text"|"base64"|"link"}]}``, or nothing."""
    if not payload:
        return
    found = json.loads(payload)
    root = os.path.realpath(found["root"])
    for change in found["changes"]:
        path = os.path.join(root, change["path"])
        if os.path.commonpath([root, os.path.realpath(os.path.dirname(path))]) != root:
            continue  # a recording must not be able to write beside the workspace, guard or no guard
        _apply(path, change)


def _apply(path: str, change: Any) -> None:
    if change["action"] == "deleted":
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.islink(path) or ("link" in change and os.path.lexists(path)):
        os.unlink(path)  # replaced, not followed: it may lead out of the workspace
    if "link" in change:
        os.symlink(change["link"], path)
        return
    data = base64.b64decode(change["base64"]) if "base64" in change else change["text"].encode("utf-8", "surrogatepass")
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, change.get("mode", 0o644))
