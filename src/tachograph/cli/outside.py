"""Seals and proofs that lie outside of the store: reading them for ``tacho verify``."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass

from tachograph import wiring
from tachograph.core.errors import FormatError, StoreError, TachographError, UsageError
from tachograph.crypto import note
from tachograph.log import opening, proof
from tachograph.log.verify import Anchor, Verification, public_key

_PAIR = re.compile(r"([1-9][0-9]{0,18}):([0-9a-f]{64})\Z")
_BY = "the seal that was kept outside"


@dataclass(frozen=True)
class Seal:
    """A seal from elsewhere. ``log``: of which log it says to be, None where it does not say; ``text``: the signed note, None for a bare
    ``SIZE:ROOT``."""

    log: str | None
    size: int
    root: str
    text: str | None

    def anchor(self) -> Anchor:
        """What the log must agree with."""
        return Anchor(self.size, self.root, _BY)

    def judge(self, public: bytes | frozenset[bytes], result: Verification) -> None:
        """Add to the result of its log what is wrong with the seal itself."""
        if self.text is not None:
            try:
                note.open_note(self.text, public)
            except ValueError as error:
                result.problem("anchor", "the seal that was kept outside", 0, f"not by the key of this store ({error})")


def read_seal(named: str) -> Seal:
    """The seal in a file, on standard input (``-``), or spelt out as ``SIZE:ROOT``. Raises ``UsageError``."""
    if match := _PAIR.match(named):
        return Seal(None, int(match[1]), match[2], None)
    if re.match(r"[0-9]+:", named) and not os.path.exists(named):
        raise UsageError(f"not a seal, {named[:80]}; SIZE:ROOT is a number of lines and the 64 hexadecimal digits of the root over them")
    text = read_text(named)
    if match := _PAIR.match(text.strip()):
        return Seal(None, int(match[1]), match[2], None)
    if proof.is_proof(text):
        text = text.partition("\n\n")[2]
    try:
        point = note.claimed(text)
    except ValueError as error:
        raise UsageError(f"not a seal, {named} ({error}); tacho prove SES writes one, and SIZE:ROOT is one") from None
    log = point.origin.removeprefix(note.origin(""))
    if log == point.origin:
        raise UsageError(f"not the seal of a log of tachograph, {named}; tacho prove SES writes one")
    return Seal(log, point.size, point.root.hex(), text)


def is_outside(named: str | None) -> bool:
    """Whether ``tacho verify`` was given a proof or a seal instead of the name of a session."""
    return named == "-" or (named is not None and os.path.isfile(named))


def trusted(chosen: wiring.Settings, named: str | None) -> bytes | frozenset[bytes]:
    """The public keys of which a proof is believed: the one that was named (itself or its file), else those of the own key file."""
    if named is not None:
        try:
            return public_key(proof.verifier(read_text(named)) if os.path.isfile(named) else named)
        except FormatError as error:
            raise UsageError(f"--key {named[:80]}: {error}") from None
    own = wiring.key(chosen)
    try:
        return opening.open_store(wiring.store_at(chosen.store), own).trusted
    except TachographError:
        return own.public()  # a proof needs no store


def read_text(named: str) -> str:
    """A small text from a file or standard input. Raises ``UsageError``."""
    try:
        if named == "-":
            data = sys.stdin.buffer.read(proof.LIMIT + 1)
        else:
            with open(named, "rb") as file:
                data = file.read(proof.LIMIT + 1)
    except OSError as error:
        raise StoreError(f"cannot read {named}, {error.strerror}; check the path and its mode") from None
    try:
        if len(data) > proof.LIMIT:
            raise ValueError
        return data.decode("utf-8")
    except ValueError:
        raise UsageError(f"not a seal, a proof or a key, {named}; tacho prove SES writes seals and proofs") from None
