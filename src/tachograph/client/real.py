"""What our own code in the agent asks the system, as it was before any tap: a tap must never find itself, or the record would tell of the
recorder. Import from here what ``client/taps`` replaces; this module is loaded before the first tap."""

from __future__ import annotations

from os import getpid, getppid, urandom
from time import monotonic, monotonic_ns, time_ns

__all__ = ["getpid", "getppid", "monotonic", "monotonic_ns", "time_ns", "urandom"]
