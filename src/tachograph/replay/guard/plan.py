"""What a guarded run may write, and how its workspace is shown: one frozen value, made by the host and obeyed by the child."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tachograph.core.errors import ReplayError

Mount = Literal["overlay", "bind", "none"]

#: POSIX semaphores and shared memory live here (``multiprocessing`` cannot do without).
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - named, not used as a temporary file


class GuardError(ReplayError):
    """The agent cannot be put under its guard in the way the plan says, so it must not be started."""


@dataclass(frozen=True, kw_only=True)
class GuardPlan:
    """One guarded run. Paths are absolute.

    ``scratch`` must not lie inside ``workspace``, and for an overlay it should lie on a real file system (not on
    another overlay).
    """

    #: Where the agent worked while it was recorded, and where it finds its files again.
    workspace: Path
    #: Made with mode 0700 where missing; holds ``upper/`` and ``work/`` of an overlay.
    scratch: Path
    #: The agent's private temporary directory (its ``TMPDIR``), usually ``scratch / "tmp"``. Keep it short: programs
    #: make unix sockets there (``multiprocessing``), whose paths may not be longer than 107 bytes.
    tmp: Path
    #: Files and directories that may be written besides.
    extra_writable: tuple[Path, ...] = ()
    #: ``overlay``: ``workspace`` itself, unchanged below, with the changes in ``scratch``; ``bind``: the tree
    #: ``source`` in its place; ``none``: no namespace, the agent runs with ``source`` as its working directory.
    mount: Mount = "overlay"
    #: The copied tree; for ``bind`` and ``none``.
    source: Path | None = None
    #: Unix sockets that the agent may connect to, besides those inside the writable directories. ``None`` does not
    #: look at unix sockets at all, and then a local database or container daemon that listens on one is within reach.
    sockets: tuple[Path, ...] | None = None
    #: (copy, place): files that are shown as the copy. Both exist. Not without a namespace.
    files: tuple[tuple[Path, Path], ...] = ()
    #: (scratch, folder): folders that are shown with the files of ``scratch / "upper"`` in them. Only where overlays are to be had.
    folders: tuple[tuple[Path, Path], ...] = ()
    #: Where the agent finds ``tmp``; None: under its own name. Not without a namespace.
    tmp_at: Path | None = None

    def __post_init__(self) -> None:
        if (self.mount == "overlay") == (self.source is not None):
            raise GuardError(f"a guard plan with mount {self.mount!r} and source {self.source}; only a copied tree has a source")

    @property
    def tree(self) -> Path:
        """The directory that the agent works in, as the agent names it."""
        return self.workspace if self.source is None or self.mount == "bind" else self.source

    @property
    def writable(self) -> tuple[Path, ...]:
        """All that may be written, as the agent names it; what ``Supervisor`` and ``client.guard.install`` are given."""
        return (self.tree, self.tmp_at or self.tmp, *self.extra_writable, SHARED_MEMORY)
