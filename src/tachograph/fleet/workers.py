"""The same work on many parts, by as many processes as there are processors."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

P = TypeVar("P")
R = TypeVar("R")


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[P], R], parts: Sequence[P], *, alone: bool = False) -> Iterator[R]:
    """The results, in the order in which they are ready. ``alone``: by this process, since there is little to do. What work raises is
    raised here."""
    global _work
    count = min(len(parts), processors())
    if alone or count < 2:
        for part in parts:
            yield work(part)
        return
    _work = work
    try:
        # Forked, so that keys and stores come along as they are: a store may hold connections that only know how to be made anew.
        with multiprocessing.get_context("fork").Pool(count) as pool:
            yield from pool.imap_unordered(_done, parts)
    finally:
        _work = None


_work: Callable[[Any], Any] | None = None


def _done(part: Any) -> Any:
    assert _work is not None
    return _work(part)
