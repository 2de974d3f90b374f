"""Vectors of packs that were changed."""

from __future__ import annotations

from pathlib import Path

from vectors_common import SESSION, Entropy, Parts, add, cut, flip, store, vector, whole

from tachograph.format import layout


@vector("frame-flipped", "tampered", "One bit of the second frame is another.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    flip(parts.path("content.pack"), len(parts.header) + len(parts.frames[0]) + 20)


@vector("frame-missing", "tampered", "The second frame is gone.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    del parts.frames[1]
    parts.keep_frames()


@vector("frames-swapped", "tampered", "The second and the third frame have changed places.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    parts.frames[1], parts.frames[2] = parts.frames[2], parts.frames[1]
    parts.keep_frames()


@vector("pack-cut", "tampered", "The pack ends inside its last frame.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    cut(Parts(folder).path("content.pack"), 10)


@vector("pack-extra", "torn", "Bytes behind the last frame that nobody has declared.", checks=("tail",))
def _(folder: Path) -> None:
    whole(folder)
    add(Parts(folder).path("content.pack"), b"extra")


@vector("salt-flipped", "tampered", "One bit of the pack's salt is another: no frame would open any more.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    flip(Parts(folder).path("content.pack"), 20)


@vector("wrong-data-key", "tampered", "The wrapped key is another than the one that the frames were sealed with.", checks=("content",))
def _(folder: Path) -> None:
    whole(folder)
    opened, other = store(folder), b"another data key".ljust(32, b".")
    (folder / layout.keys(SESSION)).write_bytes(opened.wrapped(SESSION, other, opened.recipients(), Entropy("wrap")))
