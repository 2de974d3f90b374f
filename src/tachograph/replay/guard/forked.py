"""Trying something that cannot be undone, in a child that is thrown away."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def forked(attempt: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """What ``attempt`` gives in a forked child (a JSON object); ``{"why": …}`` where the child died or raised.

    The child only makes system calls, so forking is safe although other threads may hold locks (Python warns of that
    from 3.12 on).
    """
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            os.write(write, json.dumps(attempt(*arguments)).encode())
        except BaseException as error:  # noqa: BLE001 - whatever it was, this process ends here and must not run its caller's code
            os.write(write, json.dumps({"why": f"{type(error).__name__}: {error}"}).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if not answer:
        return {"why": f"the child that tried it ended with status {status}"}
    found: dict[str, Any] = json.loads(answer)
    return found
