"""asyncio tasks get their lanes (``lanes.install_asyncio``) as soon as there is an asyncio."""

from __future__ import annotations

from types import ModuleType

from .. import lanes


def install(module: ModuleType) -> None:
    """Number tasks by their creation."""
    lanes.install_asyncio()
