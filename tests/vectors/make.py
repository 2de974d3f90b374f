"""Makes the test vectors of the format: ``python tests/vectors/make.py`` writes them all anew, byte for byte the same.

Each vector is a folder: ``store/`` (one session), ``key.json`` (its key; of no use for anything else), and ``expect.json``, what a
verifier that holds the key must say:

    verdict, good, events, ended    as in the result of ``tacho verify``
    checks                          the names of all checks that have something to say, sorted
    about                           the scenario, in a sentence

A vector shows one thing. Where a line is forged, the chain, the seals and the frames are forged with it, by the right key: only the
check that is named can notice.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import zstandard

sys.path.insert(0, str(Path(__file__).parent))

import vectors_content
import vectors_lines
import vectors_seals
import vectors_whole
from vectors_common import KEY, OTHER, SESSION, VECTORS, Clock, Entropy, drafts, finish, store

from tachograph.crypto import keys

__all__ = ["KEY", "OTHER", "SESSION", "VECTORS", "Clock", "Entropy", "drafts", "finish", "store"]

#: Each has registered its own in ``VECTORS``.
MAKERS = (vectors_whole, vectors_lines, vectors_content, vectors_seals)
#: The compressor's output may change with its version; then only what does not depend on it can be compared.
MADE_WITH = "made_with.json"


def make(target: Path, name: str) -> None:
    """One vector, into ``target/name``."""
    folder = target / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    one = VECTORS[name]
    one.make(folder / "store")
    (folder / "key.json").write_bytes(keys.dump(KEY))
    (folder / "expect.json").write_text(json.dumps(one.expect(), indent=1) + "\n", encoding="utf-8")


def compressor() -> dict[str, str]:
    """What the bytes of a frame depend on besides this file."""
    return {"zstd": ".".join(map(str, zstandard.ZSTD_VERSION))}


def main(target: Path) -> None:
    for name in VECTORS:
        make(target, name)
    (target / MADE_WITH).write_text(json.dumps(compressor()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
