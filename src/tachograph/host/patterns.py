"""The compiled patterns of redaction, kept between sessions in the user's cache folder.

Compiling them takes a second or more, loading them a few milliseconds. A session loads them where they are, and starts without them where
they are not: findings are the same, scanning is slower. A host that lives longer than ``PATIENCE`` compiles them in a thread, for itself and
for the sessions after it.

The library trusts what it loads, so a file counts only if

- the folder and the file belong to this user and nobody else can write them, and no symbolic link is followed to them;
- the file begins with a keyed digest (BLAKE2b under a key derived from the store's fingerprint key) of the rest. Who can write the cache and
  cannot read the store's key, such as a container that shares the cache, cannot make a file that is loaded.

Anything else is as good as no file. Whoever can read the store's key reads every recording and needs no such trick.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
import threading
from collections.abc import Iterator, Mapping

from tachograph.redact.prefilter.index import Index

#: Seconds that a host lives before it compiles: the first moments belong to the command.
PATIENCE = 2.0
#: Bytes of a digest, and of the largest file that is read.
_DIGEST = 32
_LARGEST = 64 * 1024 * 1024
#: Files that are kept. A policy of the user's own, another store and another version each have one.
_KEPT = 6
_BEGINNING, _END = "patterns-", ".hs"


def folder(environment: Mapping[str, str]) -> str:
    """The cache folder, which need not exist."""
    base = environment.get("XDG_CACHE_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.join(environment.get("HOME") or os.path.expanduser("~"), ".cache"), "tachograph"
    )


def load(index: Index, cache: str, key: bytes) -> bool:
    """Puts the compiled patterns in place. False where there are none that may be used."""
    if not index.name:
        return False
    try:
        with _opened(cache) as at, _private(os.open(_name(index, key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)) as fd:
            if not stat.S_ISREG(os.fstat(fd).st_mode) or os.fstat(fd).st_size > _LARGEST:
                return False
            with open(fd, "rb", closefd=False) as file:
                data = file.read(_LARGEST)
    except OSError:
        return False
    return hmac.compare_digest(data[:_DIGEST], _digest(data[_DIGEST:], index, key)) and index.load(data[_DIGEST:])


def compile_and_keep(index: Index, cache: str, key: bytes) -> None:
    """Compiles the patterns, puts them in place, and writes them for the next session. What cannot be written is compiled again then."""
    data = index.compile()
    if not data:
        return
    with contextlib.suppress(OSError):
        os.makedirs(cache, mode=0o700, exist_ok=True)
        with _opened(cache) as at:
            _write(at, _name(index, key), _digest(data, index, key) + data)
            _tidy(at)


def later(index: Index, cache: str, key: bytes) -> None:
    """Has the patterns compiled, if they are not in place, while the caller goes on. Not before a fork."""
    if index.ready or not index.name:
        return

    def run() -> None:
        threading.Event().wait(PATIENCE)
        compile_and_keep(index, cache, key)

    threading.Thread(target=run, name="patterns", daemon=True).start()


def _name(index: Index, key: bytes) -> str:
    tag = hashlib.blake2b(b"name", key=_derived(key), digest_size=4).hexdigest()
    return f"{_BEGINNING}{index.name}-{tag}{_END}"


def _derived(key: bytes) -> bytes:
    return hashlib.blake2b(key, person=b"tacho-patterns").digest()


def _digest(data: bytes, index: Index, key: bytes) -> bytes:
    return hashlib.blake2b(index.name.encode() + data, key=_derived(key), digest_size=_DIGEST).digest()


@contextlib.contextmanager
def _private(fd: int) -> Iterator[int]:
    """A descriptor of what only this user can write. Raises PermissionError for anything else."""
    try:
        found = os.fstat(fd)
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError("others can write it")
        yield fd
    finally:
        os.close(fd)


def _opened(cache: str) -> contextlib.AbstractContextManager[int]:
    return _private(os.open(cache, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))


def _write(at: int, name: str, data: bytes) -> None:
    """All of it under its name, or nothing."""
    temporary = f".{name}.{os.getpid()}"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=at)
        with open(fd, "wb") as file:
            file.write(data)
        os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=at)
        raise


def _tidy(at: int) -> None:
    """Removes the oldest files, and what a killed process left."""
    ours = [name for name in os.listdir(at) if name.lstrip(".").startswith(_BEGINNING)]
    by_age = sorted(ours, key=lambda name: os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime, reverse=True)
    for name in by_age[_KEPT:]:
        os.unlink(name, dir_fd=at)
