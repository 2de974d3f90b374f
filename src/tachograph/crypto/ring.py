"""All that this process can do with wrapped keys: make wraps for recipients, and open those whose secret is here.

What costs nothing is tried first; somebody is asked for a passphrase only when nothing else opens. A wrap that opens is not believed
yet: whoever can write the store can make one. The caller says whether what came out is the key (``wrapfile.py``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError, NotHeldError, StoreError
from tachograph.core.ports import Entropy, KeyWrap

from .keys import KeyFile
from .wraps import KeyFileWrap

#: The kinds of wraps, in the order in which they are tried.
KINDS = ("keyfile", "keyring", "age", "aws-kms", "passphrase")

#: (recipient, id of the store) → how it is wrapped for. Raises ``FormatError`` for one that is none, ``NotHeldError`` where what it
#: needs is not installed.
Maker = Callable[[Mapping[str, Any], str], KeyWrap]


_OF_A_WRAP = frozenset({"key_id", "box"})


class Ring:
    """``key``: the user's key file; ``find``: other key files, by their ids; ``makers``: the kinds besides key files. ``notes`` fills with
    lines that a person should read."""

    def __init__(
        self, key: KeyFile | None, *, makers: Mapping[str, Maker] | None = None, find: Callable[[str], KeyFile | None] | None = None
    ) -> None:
        self.key = key
        self.notes: list[str] = []
        self._makers = dict(makers or {})
        self._elsewhere = find
        self._made: dict[str, KeyWrap] = {}

    def holder(self, fields: Mapping[str, Any], store_id: str) -> KeyWrap:
        """How it is wrapped for a recipient; its secret is asked for once."""
        kind = fields.get("type")
        if kind == "keyfile":
            return KeyFileWrap(fields, self._find)
        if not isinstance(kind, str) or kind not in self._makers:
            raise NotHeldError(f"a wrap of the kind {str(kind)[:20]!a}, which this tachograph does not know; update it")
        # By all that it says: a wrap with a recipient's id and something else besides must not take the recipient's place.
        said = json.dumps([store_id, {name: value for name, value in fields.items() if name not in _OF_A_WRAP}], sort_keys=True)
        if said not in self._made:
            self._made[said] = self._makers[kind](fields, store_id)
        return self._made[said]

    def wrap(
        self, recipients: Sequence[Mapping[str, Any]], store_id: str, name: str, plain: bytes, entropy: Entropy, *, optional: bool = False
    ) -> dict[str, dict[str, Any]]:
        """A wrap for each recipient, by its id. One whose service cannot be reached is noted and left out: all of them only where that is
        ``optional``."""
        made: dict[str, dict[str, Any]] = {}
        failed: StoreError | NotHeldError | None = None
        for one in recipients:
            try:
                made[one["id"]] = self.holder(one, store_id).wrap(name, plain, entropy)
            except (StoreError, NotHeldError) as error:
                failed = error
                note = f"the key of {name} is not wrapped for {one.get('type')} {one.get('id')} yet, {error}; then run tacho keys rewrap"
                self.notes.append(" ".join(note.split()))
        if not made and not optional:
            raise failed or KeyUnavailableError(f"no recipient of the key of {name}; tacho keys add names one")
        return made

    def open(self, store_id: str, name: str, wraps: Any, where: str, *, good: Callable[[bytes], bool]) -> bytes:
        """What was wrapped for ``name``; one wrap that opens to a ``good`` key is enough. Raises ``KeyUnavailableError``: no wrap for a
        secret that is here, or none that opens; ``FormatError``: no wraps at all."""
        if not isinstance(wraps, list) or not all(isinstance(one, dict) for one in wraps):
            raise FormatError(f"not a file of wrapped keys, {where}; restore the file from a backup")
        missing: list[str] = []
        damaged = False
        for one in sorted(wraps, key=_rank):
            try:
                plain = self.holder({**one, "id": one.get("key_id")}, store_id).unwrap(name, one)
            except (NotHeldError, StoreError) as error:
                missing.append(str(error))
                continue
            except (KeyUnavailableError, FormatError):
                damaged = True
                continue
            if good(plain):
                return plain
            damaged = True
        if damaged:
            raise KeyUnavailableError(f"the wrapped key of {name} was damaged or is not its own, {where}; restore the file from a backup")
        others = ", ".join(sorted({ascii(one.get("key_id"))[1:17] for one in wraps})[:8]) or "none"
        kinds = {one.get("type") for one in wraps} - {"keyfile"}
        advice = "; ".join(dict.fromkeys(missing[-4:])) if kinds & set(KINDS) else "set TACHO_KEY to the right key file"
        if self.key is None:
            raise KeyUnavailableError(
                f"nothing at hand opens the content of {name if name != 'store' else 'this store'}, {where}; {advice}"
            )
        raise KeyUnavailableError(f"the content of {name} is wrapped for another key ({others}), yours is {self.key.id}, {where}; {advice}")

    def _find(self, name: str) -> KeyFile | None:
        if self.key is not None and self.key.id == name:
            return self.key
        return self._elsewhere(name) if self._elsewhere is not None else None


def _rank(wrap: Mapping[str, Any]) -> int:
    kind = wrap.get("type")
    return KINDS.index(kind) if kind in KINDS else len(KINDS)
