"""Legal holds and retention dates of S3's Object Lock, on all versions of a name.

A lock belongs to one version of an object. A version that is put over a name later has its own, or none; so whoever holds a session
holds every version that there is, and looks again later (``tacho retain``).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

from tachograph.core.errors import NotFoundError, StoreError

#: Answers that say that a version has no such lock: no error.
_NONE = ("NoSuchObjectLockConfiguration", "NoSuchObjectLegalHold", "InvalidRequest", "ObjectLockConfigurationNotFoundError")


class RefusedError(StoreError):
    """The server said no, and why in ``code``."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class S3Locks:
    """See ``core.ports.ObjectLocks``. ``call`` makes a request (what, name, operation, arguments), ``versions`` lists the ids of a name's versions."""

    def __init__(self, call: Callable[..., Any], target: Callable[[str], dict[str, str]], versions: Callable[[str], Iterator[str]]) -> None:
        self._call = call
        self._target = target
        self._versions = versions

    def hold(self, name: str, on: bool) -> int:
        changed = 0
        for version in list(self._versions(name)):
            if self._held(name, version) != on:
                self._call(
                    "hold" if on else "release", name, "put_object_legal_hold", **self._target(name), VersionId=version,
                    LegalHold={"Status": "ON" if on else "OFF"},
                )  # fmt: skip
                changed += 1
        return changed

    def held(self, name: str) -> bool:
        return any(self._held(name, version) for version in self._versions(name))

    def until(self, name: str) -> int | None:
        dates = [found for version in self._versions(name) if (found := self._until(name, version)) is not None]
        return max(round(at.timestamp() * 1000) for at, _ in dates) if dates else None

    def extend(self, name: str, until: int) -> None:
        wanted = datetime.datetime.fromtimestamp(until / 1000, datetime.UTC)
        for version in list(self._versions(name)):
            found = self._until(name, version)
            if found is not None and found[0] < wanted:
                self._call(
                    "extend the retention of", name, "put_object_retention", **self._target(name), VersionId=version,
                    Retention={"Mode": found[1], "RetainUntilDate": wanted},
                )  # fmt: skip

    def _held(self, name: str, version: str) -> bool:
        found = self._asked(name, "get_object_legal_hold", version)
        return found is not None and found.get("LegalHold", {}).get("Status") == "ON"

    def _until(self, name: str, version: str) -> tuple[datetime.datetime, str] | None:
        found = (self._asked(name, "get_object_retention", version) or {}).get("Retention", {})
        return (found["RetainUntilDate"], found.get("Mode", "GOVERNANCE")) if found.get("RetainUntilDate") else None

    def _asked(self, name: str, operation: str, version: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._call("read the lock of", name, operation, **self._target(name), VersionId=version)
        except NotFoundError:
            return None
        except RefusedError as error:
            if error.code in _NONE:
                return None
            raise
        return found
