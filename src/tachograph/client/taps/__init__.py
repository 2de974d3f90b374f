"""The taps: each wraps one library at the place where bytes leave the process, when that library is first imported.

A tap is a module here with ``install(module)``, named in ``BUILT_IN`` with the imports that trigger it; until then it is not even
loaded. It must leave types, laziness and exceptions as they are, and goes through ``effects`` for everything. How to write one:
``docs/howto/write-a-tap.md``.

There is none for ``requests`` and ``botocore``: what they send passes through ``urllib3``, one attempt at a time.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import link

#: Tap modules of ours, in this package, and the modules that each taps. A library that is not there costs nothing.
BUILT_IN: Dict[str, Tuple[str, ...]] = {
    "httpx_tap": ("httpx", "httpx2"),
    "urllib3_tap": ("urllib3.connectionpool",),
    "urllib_tap": ("urllib.request",),
    "aiohttp_tap": ("aiohttp.client",),
    "clock_tap": ("time", "datetime"),
    "entropy_tap": ("os", "random", "ssl", "uuid", "uuid_utils"),
    "random_tap": ("random", "tempfile"),
    "listing_tap": ("os",),
    "identity_tap": ("os", "socket", "uuid", "getpass"),
    "sqlite_tap": ("sqlite3",),
    "os_tap": ("os",),
    "process_tap": ("subprocess",),
    "process_asyncio_tap": ("asyncio", "uvloop"),
    "multiprocessing_tap": (
        "multiprocessing.process",
        "multiprocessing.util",
        "multiprocessing.spawn",
        "multiprocessing.connection",
        "multiprocessing.pool",
        "concurrent.futures.process",
    ),
    "asyncio_tap": ("asyncio",),
    "loop_tap": ("asyncio", "uvloop"),
    "timers_tap": ("time", "threading", "concurrent.futures._base", "asyncio", "uvloop", "multiprocessing.connection"),
    "queue_tap": ("queue",),
    "work_tap": (
        "concurrent.futures._base",
        "concurrent.futures.thread",
        "concurrent.futures.process",
        "asyncio",
        "uvloop",
        "multiprocessing.pool",
        "multiprocessing.queues",
    ),
}

#: Libraries that are loaded and not tapped, because they are not as the tap expects, and why. Their calls go unrecorded.
failed: Dict[str, str] = {}


class _Finder:
    """Runs a tap right after the module it taps was executed, whoever imports it and when.

    It stays: a spec that somebody only looks at is no import, and a module that is imported anew is tapped anew.
    """

    def __init__(self, taps: Dict[str, List[str]]) -> None:
        self._taps = taps

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None) -> Any:
        taps = self._taps.get(fullname)
        if not taps:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, taps)
                return spec
        return None

    def invalidate_caches(self) -> None:
        """For ``importlib.invalidate_caches``; nothing is cached here."""


class _Loader:
    """The module's own loader, followed by the taps. To everybody who asks it for more, it is the module's own loader."""

    def __init__(self, inner: Any, taps: List[str]) -> None:
        self._inner = inner
        self._taps = taps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: Any) -> Any:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # The module must see its own loader, as it would without us (pkgutil, importlib.resources and pickle look at it).
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        module.__loader__ = self._inner
        self._inner.exec_module(module)
        for tap in self._taps:
            _install(tap, module)


def _install(tap: str, module: ModuleType) -> None:
    try:
        importlib.import_module("." + tap, __name__).install(module)
    except Exception as error:
        at = link.get()
        if at is not None and at.mode == "replay":
            raise  # untapped, it would do in earnest what the record is there to answer
        failed[module.__name__] = "%s: %s" % (type(error).__name__, error)


def install() -> None:
    """Arrange for every tap to be installed with its library; at once where the library is loaded already."""
    taps: Dict[str, List[str]] = {}
    for name, targets in BUILT_IN.items():
        for target in targets:
            taps.setdefault(target, []).append(name)
    sys.meta_path.insert(0, _Finder(taps))
    for target, waiting in taps.items():
        loaded = sys.modules.get(target)
        if loaded is not None:
            for name in waiting:
                _install(name, loaded)
