"""Who reads content is entered in the ledger."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Sequence

from tachograph import wiring
from tachograph.log.opening import OpenStore

from .output import print_notes


def quickly() -> None:
    """For a verb that makes millions of small objects, keeps them all and ends: looking for cycles among them would take longer than its work. Nor are
    they taken apart at the end, when the interpreter looks for cycles once more: the process leaves all of it behind."""
    gc.disable()
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def enter(chosen: wiring.Settings, opened: OpenStore, subjects: Sequence[str | None], verb: str) -> None:
    """Enter that this invocation is about to read the content of these sessions (None: of all). Where that cannot be done (a store that
    is only read, a key that cannot seal) the reading goes on, and standard error says so."""
    from tachograph.host import entering

    note = entering.enter_read(opened, list(subjects), verb, clock=chosen.clock, entropy=chosen.entropy)
    if note is not None:
        print_notes([note])
