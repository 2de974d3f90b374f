"""All importers, in the order in which they are asked. A new one is added here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .claude_code import ClaudeCodeImporter
from .importing import HEAD

if TYPE_CHECKING:
    from tachograph.core.drafts import Importer

IMPORTERS: tuple[Importer, ...] = (ClaudeCodeImporter(),)


def recognise(name: str, head: bytes) -> Importer | None:
    """The importer for a file, from its name and its first ``HEAD`` bytes; None if it is of no kind we know."""
    return next((importer for importer in IMPORTERS if importer.recognises(name, head[:HEAD])), None)
