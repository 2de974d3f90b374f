"""What the agent prints is told to the host as it is written, and goes where it would have gone, through the same descriptor.

``sys.stdout`` is rebuilt over a raw file that tees: same encoding, error handler, buffering and ``isatty``. Output that does not pass
through Python's own objects (a child's, a C library's) is not the agent's word and is not told.
"""

from __future__ import annotations

import io
import os
import sys
import time
from typing import Any

from . import link
from .frames import pack


class _TeeFile(io.FileIO):
    """The raw end of a standard stream."""

    def write(self, data: Any) -> int:
        written = super().write(data)
        at = link.get()
        if at is not None and not at.lost and at.pid == os.getpid() and written:
            try:
                at.send(pack({"m": "output", "fd": self.fileno(), "t": time.monotonic_ns(), "c": 0}, bytes(memoryview(data)[:written])))
            except link.HostLost:
                # Printing is no effect: the next one will stop the agent.
                return written
        return written


def install() -> None:
    """Tee ``sys.stdout`` and ``sys.stderr``, where they are what Python made them."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if type(stream) is not io.TextIOWrapper or getattr(stream, "name", None) not in ("<stdout>", "<stderr>"):
            continue
        try:
            raw = _TeeFile(fd, "w", closefd=False)
        except OSError:
            continue
        raw.name = stream.name
        unbuffered = not isinstance(stream.buffer, io.BufferedWriter)
        rebuilt = io.TextIOWrapper(
            raw if unbuffered else io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors=stream.errors,
            newline="\n",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        stream.flush()
        setattr(sys, name, rebuilt)
        setattr(sys, "__%s__" % name, rebuilt)
