"""os.urandom and what else asks the system for chance: recorded as it came, and given again. Nothing is seeded while recording.

``secrets``, ``uuid4``, ``SystemRandom`` and numpy's generators take theirs from here. Chance that a C library draws by itself (OpenSSL's,
a database's) is not seen.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable

from .. import ambient
from .patching import wrap_builtin

#: What is asked for at once and is longer is not kept, and is another in a replay.
_MOST = 1 << 20


def install(module: ModuleType) -> None:
    """Wrap the sources of chance in ``os``, ``random``, ``ssl``, ``uuid`` or ``uuid_utils``."""
    if not ambient.wants("entropy"):
        return
    if module.__name__ == "random":
        import os

        module._urandom = os.urandom  # type: ignore[attr-defined]  # bound by name, perhaps before this
    elif module.__name__ == "uuid":
        wrap_builtin(module, "uuid1", _uuid1(module))
    elif module.__name__ == "uuid_utils":
        # In Rust, with chance and a clock of its own; LangChain's ids are from here.
        for name in ("uuid1", "uuid4", "uuid6", "uuid7", "_uuid4_int", "_uuid7_int"):
            if hasattr(module, name):
                wrap_builtin(module, name, _made_elsewhere("entropy." + name, module.UUID))
    else:
        for name in ("urandom", "getrandom") if module.__name__ == "os" else ("RAND_bytes",):
            if hasattr(module, name):
                wrap_builtin(module, name, _source("entropy." + name))


def _source(kind: str) -> Callable[[Callable[..., bytes]], Callable[..., bytes]]:
    def make(original: Callable[..., bytes]) -> Callable[..., bytes]:
        read = ambient.read

        def urandom(size: int, *more: Any) -> bytes:
            if not isinstance(size, int) or not 0 < size <= _MOST:
                return original(size, *more)
            found = bytes.fromhex(read(kind, lambda: original(size, *more).hex()))
            return found if len(found) == size else original(size, *more)  # another agent than the recorded one

        return urandom

    return make


def _made_elsewhere(kind: str, cls: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An id, as a ``cls`` or as a number, whatever it is made from."""
    whole = kind.endswith("_int")

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **kwargs: Any) -> Any:
            text = ambient.read(kind, lambda: "%032x" % (original(*args, **kwargs) if whole else original(*args, **kwargs).int))
            return int(text, 16) if whole else cls(text)

        return made

    return make


def _uuid1(module: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def uuid1(node: Any = None, clock_seq: Any = None) -> Any:
            safe: Any = None

            def real() -> Any:
                nonlocal safe
                made = original(node, clock_seq)
                safe = made.is_safe
                return [made.hex, made.is_safe.value]

            text, value = ambient.read("entropy.uuid1", real)
            return module.UUID(hex=text, is_safe=safe or module.SafeUUID(value))

        return uuid1

    return make
