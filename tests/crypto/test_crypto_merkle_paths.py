"""Inclusion proofs of several leaves of one tree are those of each by itself."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.crypto import merkle


@given(st.integers(1, 70), st.data())
def test_every_path_leads_to_the_root(size: int, data: st.DataObject) -> None:
    leaves = [merkle.leaf(str(number).encode()) for number in range(size)]
    tree = merkle.Frontier()
    for one in leaves:
        tree.add(one)
    wanted = data.draw(st.lists(st.integers(0, size - 1), max_size=8))
    found = merkle.paths(leaves, wanted)
    assert len(found) == len(wanted)
    for index, path in zip(wanted, found, strict=True):
        assert path == merkle.path(leaves, index)
        assert merkle.root_of(leaves[index], index, size, path) == tree.root()


def test_an_index_outside_is_refused() -> None:
    leaf = hashlib.sha256(b"").digest()
    for index in (-1, 1):
        with pytest.raises(ValueError, match=f"leaf {index} of a tree of 1"):
            merkle.paths([leaf], [0, index])
