"""The taps: each wraps one library at the place where bytes leave the process, when that library is first imported.

A tap is a module here with ``MODULES`` (the import names that trigger it) and ``install(module)``. It must not import what it taps,
must leave types, laziness and exceptions as they are, and goes through ``effects`` for everything. How to write one:
``docs/howto/write-a-tap.md``.

There is none for ``requests`` and ``botocore``: what they send passes through ``urllib3``, one attempt at a time.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Sequence

from .. import link

#: Tap modules of ours, in this package. A tap that is missing on purpose (no such library) costs nothing.
BUILT_IN = (
    "httpx_tap",
    "urllib3_tap",
    "urllib_tap",
    "aiohttp_tap",
    "os_tap",
    "process_tap",
    "process_asyncio_tap",
    "multiprocessing_tap",
    "asyncio_tap",
    "loop_tap",
)

#: Libraries that are loaded and not tapped, because they are not as the tap expects, and why. Their calls go unrecorded.
failed: Dict[str, str] = {}

Hook = Callable[[ModuleType], None]


class _Finder:
    """Runs a tap right after the module it taps was executed, whoever imports it and when.

    It stays: a spec that somebody only looks at is no import, and a module that is imported anew is tapped anew.
    """

    def __init__(self, hooks: Dict[str, List[Hook]]) -> None:
        self.hooks = hooks

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None) -> Any:
        hooks = self.hooks.get(fullname)
        if not hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, hooks)
                return spec
        return None

    def invalidate_caches(self) -> None:
        """For ``importlib.invalidate_caches``; nothing is cached here."""


class _Loader:
    """The module's own loader, followed by the taps. To everybody who asks it for more, it is the module's own loader."""

    def __init__(self, inner: Any, hooks: List[Hook]) -> None:
        self._inner = inner
        self._hooks = hooks

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
        for hook in self._hooks:
            _run(hook, module)


def _run(hook: Hook, module: ModuleType) -> None:
    try:
        hook(module)
    except Exception as error:
        at = link.get()
        if at is not None and at.mode == "replay":
            raise  # untapped, it would do in earnest what the record is there to answer
        failed[module.__name__] = "%s: %s" % (type(error).__name__, error)


def install() -> None:
    """Arrange for every tap to be installed with its library; at once where the library is loaded already."""
    hooks: Dict[str, List[Hook]] = {}
    for name in BUILT_IN:
        tap: Any = importlib.import_module("." + name, __name__)
        for target in tap.MODULES:
            hooks.setdefault(target, []).append(tap.install)
    sys.meta_path.insert(0, _Finder(hooks))
    for target, waiting in hooks.items():
        loaded = sys.modules.get(target)
        if loaded is not None:
            for hook in waiting:
                _run(hook, loaded)
