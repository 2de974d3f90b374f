"""Settings, and the objects that they make: the one place where the clock, entropy, the environment and the file system meet.

Everything below gets what it needs handed in. A verb of the command line asks here, and nowhere else.
"""

from __future__ import annotations

import getpass
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tachograph.core.errors import KeyUnavailableError, NotHeldError, StoreError, UsageError
from tachograph.core.ports import Clock, Entropy, KeyWrap, Store
from tachograph.crypto import keys, vaultkeys
from tachograph.crypto.ring import Maker, Ring
from tachograph.crypto.wraps import BoxWrap, passphrase_wrap
from tachograph.format import layout
from tachograph.host.keyplace import KeyPlace
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.stores.local import LocalStore

if TYPE_CHECKING:
    from tachograph.host.policy import Chosen


class SystemClock:
    """The machine's clocks."""

    def unix_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user chose. ``key_file`` lies outside the store, so that a stolen store is unreadable."""

    store: str
    key_file: Path
    vault_key_file: Path
    clock: Clock
    entropy: Entropy


def settings(store: str | None = None) -> Settings:
    """From the command line, else the environment, else the XDG defaults."""
    home = Path(os.path.expanduser("~"))
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return Settings(
        store=store or os.environ.get("TACHO_STORE") or str(data / "tachograph"),
        key_file=Path(os.environ.get("TACHO_KEY") or config / "tachograph/key.json"),
        vault_key_file=Path(os.environ.get("TACHO_VAULT_KEY") or config / "tachograph/vault-key.json"),
        clock=SystemClock(),
        entropy=os.urandom,
    )


def policy(named: str | None = None) -> Chosen:
    """The redaction policy: of the file that is named on the command line, else in the environment, else found."""
    from tachograph.host.policy import choose  # only verbs that redact pay for the rules

    return choose(named or os.environ.get("TACHO_POLICY") or None, os.getcwd())


def store_at(where: str) -> Store:
    """The store that a path or URL names."""
    if where.startswith("s3://"):
        from tachograph.stores import s3_url

        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        return s3_url.open_url(where, spools=os.path.join(state, "tachograph", "spool"), clock=SystemClock())
    if "://" in where:
        raise UsageError(
            f"stores are local folders or buckets of S3, not {where.partition('?')[0]}; name a folder or s3://BUCKET/PREFIX with --store"
        )
    if os.path.exists(where) and not os.path.isdir(where):
        raise UsageError(f"not a folder, {where}; name the store's folder with --store")
    return LocalStore(where)


def key(chosen: Settings, *, make: bool = False) -> keys.KeyFile:
    """The user's key file; made at first use (0600) where ``make`` says so."""
    path = chosen.key_file
    try:
        return keys.load(path.read_bytes(), str(path))
    except FileNotFoundError:
        if not make:
            raise KeyUnavailableError(f"no key file at {path}; restore it from your backup or name another with TACHO_KEY") from None
    except OSError as error:
        raise KeyUnavailableError(f"cannot read the key file {path}, {error.strerror}; check its owner and mode") from None
    return _make_key(chosen, path)


def _make_key(chosen: Settings, path: Path) -> keys.KeyFile:
    made = keys.generate(chosen.entropy)
    there = _written_once(path, keys.dump(made), "TACHO_KEY")
    return made if there is None else keys.load(there, str(path))


class PrivateKey(NamedTuple):
    """The private key of the vaults, and its file. ``made``: by this call."""

    key: vaultkeys.VaultKey
    path: Path
    made: bool


def vault_key(chosen: Settings, named: str | None = None, *, make: Callable[[], None] | None = None) -> PrivateKey:
    """The private key of the vaults. Where there is none and ``make`` is given, that is called, to say with an exception if none may be
    made; then one is (0600). Raises ``UsageError`` for a place inside the store: who holds the store must not be able to unmask."""
    path = Path(named) if named is not None else chosen.vault_key_file
    store, real = os.path.realpath(chosen.store), os.path.realpath(path)
    if os.path.commonpath([store, real]) == store:
        raise UsageError(f"the private key of a vault must not lie in the store, {path}; name a place outside of {chosen.store} with --key")
    try:
        return PrivateKey(vaultkeys.load(path.read_bytes(), str(path)), path, made=False)
    except FileNotFoundError:
        if make is None:
            raise KeyUnavailableError(f"no private key of a vault at {path}; name the file that tacho vault init made with --key") from None
    except OSError as error:
        raise KeyUnavailableError(f"cannot read the private key {path}, {error.strerror}; check its owner and mode") from None
    make()
    made = vaultkeys.generate(chosen.entropy)
    there = _written_once(path, vaultkeys.dump(made), "--key")
    return PrivateKey(made if there is None else vaultkeys.load(there, str(path)), path, made=there is None)


def _written_once(path: Path, data: bytes, option: str) -> bytes | None:
    """Write a key file (0600) where there is none. The bytes that are there if somebody else was first, else None."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Written beside and linked into place: of two first uses at once, one key wins, and no half key is ever read.
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return path.read_bytes()
        finally:
            os.unlink(temporary)
    except OSError as error:
        raise StoreError(f"cannot make the key file {path}, {error.strerror}; name a writable place with {option}") from None
    return None


def ring(own: keys.KeyFile | None, place: KeyPlace) -> Ring:
    """All that this user can open wrapped keys with, and wrap them for."""
    spoken: list[str] = []

    def passphrases() -> Iterator[str]:
        if (named := os.environ.get("TACHO_PASSPHRASE_FILE")) and not spoken:
            spoken.append(passphrase_in(named))
        yield from spoken
        if not named:
            yield from _typed()

    def age(fields: Mapping[str, Any], _store: str) -> KeyWrap:
        from tachograph.wraps.age import AgeWrap

        return AgeWrap(fields, _age_identities)

    def kms(fields: Mapping[str, Any], store_id: str) -> KeyWrap:
        from tachograph.wraps.kms import KmsWrap, connect

        return KmsWrap(fields, store_id, connect)

    def keyring(fields: Mapping[str, Any], store_id: str) -> KeyWrap:
        from tachograph.wraps.keyring import private

        return BoxWrap("keyring", fields, private(f"{store_id}/{fields.get('id')}"))

    makers: dict[str, Maker] = {
        "passphrase": lambda fields, _store: passphrase_wrap(fields, passphrases),
        "age": age,
        "aws-kms": kms,
        "keyring": keyring,
    }
    return Ring(own, makers=makers, find=place.find)


def passphrase_in(path: str) -> str:
    """The first line of a file, which may be ``/dev/fd/N``. Raises ``KeyUnavailableError``; never says what is in it."""
    try:
        with open(path, encoding="utf-8") as file:
            said = file.readline(4096).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise KeyUnavailableError(f"cannot read the passphrase in {path}, {what}; name another file with TACHO_PASSPHRASE_FILE") from None
    if not said:
        raise KeyUnavailableError(f"the first line of {path} is empty, and no passphrase; name another file with TACHO_PASSPHRASE_FILE")
    return said


def new_passphrase() -> str:
    """A passphrase for a new recipient: of the file that is named, else typed twice. Raises ``UsageError``."""
    if named := os.environ.get("TACHO_PASSPHRASE_FILE"):
        return passphrase_in(named)
    if not _terminal():
        raise UsageError("no terminal to type a passphrase on; name a file that holds it with TACHO_PASSPHRASE_FILE")
    first = getpass.getpass("New passphrase: ")
    if getpass.getpass("Again: ") != first:
        raise UsageError("the two are not the same, and nothing was done; try again")
    return first


def _typed() -> Iterator[str]:
    for prompt in ("Passphrase of the store: ", "That is not it. Passphrase: ", "That is not it. Passphrase: "):
        if not _terminal():
            return
        yield getpass.getpass(prompt)


def _terminal() -> bool:
    """Whether there is somebody to ask."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _age_identities() -> str | None:
    path = os.environ.get("TACHO_AGE_IDENTITY")
    if not path:
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError as error:
        raise NotHeldError(f"cannot read {path}, {error.strerror}; name the file of an identity with TACHO_AGE_IDENTITY") from None


def open_for_reading(chosen: Settings) -> OpenStore:
    """An existing store. Raises ``UsageError`` where there is none. Without a key file, by whatever else opens it."""
    store = store_at(chosen.store)
    opening.describe(store)
    try:
        own = key(chosen)
    except KeyUnavailableError:
        if chosen.key_file.exists() or not opening.has_other_wraps(store):
            raise
        own = None
    return opening.open_store(store, ring(own, KeyPlace(chosen.key_file)))


#: What a killed maker of a store leaves: whole files, and those that were being written beside them.
_BEGUN = re.compile(re.escape(layout.STORE) + r"(\.\d+-\d+\.new)?\Z")


def _empty_or_begun(folder: str) -> bool:
    """Whether there is nothing in the folder, or only what ``opening.create`` leaves when it is killed; it goes on from there."""
    if not os.path.isdir(folder):
        return True
    keys_folder = os.path.join(folder, os.path.dirname(layout.STORE_KEYS))
    inside = os.listdir(keys_folder) if os.path.isdir(keys_folder) else []
    others = [name for name in os.listdir(folder) if name != os.path.basename(keys_folder) or not os.path.isdir(keys_folder)]
    return all(_BEGUN.match(name) for name in (*inside, *others))


def open_for_writing(chosen: Settings) -> OpenStore:
    """The store, made at first use. A folder that holds other things is not turned into one."""
    store = store_at(chosen.store)
    if not opening.exists(store):
        if not _empty_or_begun(chosen.store):
            raise UsageError(f"{chosen.store} is a folder with other things in it, and no store; name a new or empty one with --store")
        opening.create(store, key(chosen, make=True), chosen.entropy)
    # Never a new key for a store that has one: what it holds could not be read with it.
    own = key(chosen)
    own.signer()
    opened = opening.open_store(store, ring(own, KeyPlace(chosen.key_file)))
    opening.check_signer(opened)
    return opened
