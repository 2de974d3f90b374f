"""Inclusion proofs, against the definition of RFC 6962, section 2.1.1, written down once more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.crypto import merkle
from tachograph.crypto.merkle import Frontier


def leaves(count: int) -> list[bytes]:
    return [merkle.leaf(bytes([number])) for number in range(count)]


def root(hashes: list[bytes]) -> bytes:
    tree = Frontier()
    for one in hashes:
        tree.add(one)
    return tree.root()


def naive_path(index: int, hashes: list[bytes]) -> list[bytes]:
    """PATH(m, D[n]) as the RFC says it."""
    if len(hashes) == 1:
        return []
    k = 1
    while k * 2 < len(hashes):
        k *= 2
    if index < k:
        return [*naive_path(index, hashes[:k]), root(hashes[k:])]
    return [*naive_path(index - k, hashes[k:]), root(hashes[:k])]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33])
def test_each_leaf_of_a_tree_is_proved(count: int) -> None:
    hashes = leaves(count)
    for index, leaf in enumerate(hashes):
        proof = merkle.path(hashes, index)
        assert proof == naive_path(index, hashes)
        assert merkle.root_of(leaf, index, count, proof) == root(hashes)


@given(st.integers(1, 40), st.data())
def test_no_other_place_length_leaf_or_path_leads_to_the_root(count: int, data: st.DataObject) -> None:
    hashes = leaves(count)
    index = data.draw(st.integers(0, count - 1))
    proof, expected = merkle.path(hashes, index), root(hashes)

    def leads(leaf: bytes, at: int, size: int, path: list[bytes]) -> bool:
        try:
            return merkle.root_of(leaf, at, size, path) == expected
        except ValueError:
            return False

    assert not leads(merkle.leaf(b"other"), index, count, proof)
    assert not leads(hashes[index], index, count, [*proof, bytes(32)])
    for at in range(count):
        assert leads(hashes[index], at, count, proof) == (at == index)
    if proof:
        place = data.draw(st.integers(0, len(proof) - 1))
        assert not leads(hashes[index], index, count, proof[:place] + proof[place + 1 :])
        assert not leads(hashes[index], index, count, [*proof[:place], bytes(32), *proof[place + 1 :]])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_there_is_no_proof_outside_the_tree(index: int, size: int) -> None:
    with pytest.raises(ValueError, match=f"leaf {index} of a tree of {size}"):
        merkle.path(leaves(size), index)
    with pytest.raises(ValueError, match=f"leaf {index} of a tree of {size}"):
        merkle.root_of(bytes(32), index, size, [])


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_tree_goes_on_from_its_peaks(before: int, after: int) -> None:
    hashes = leaves(before + after)
    first = Frontier()
    for one in hashes[:before]:
        first.add(one)
    second = Frontier(first.size, first.peaks)
    for one in hashes[before:]:
        second.add(one)
    assert (second.root(), second.size) == (root(hashes), len(hashes))


@pytest.mark.parametrize(("size", "peaks"), [(1, []), (0, [bytes(32)]), (3, [bytes(32)]), (1, [bytes(31)]), (-1, [bytes(32)])])
def test_peaks_that_no_tree_has_are_refused(size: int, peaks: list[bytes]) -> None:
    with pytest.raises(ValueError, match="not the peaks"):
        Frontier(size, peaks)


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(0, 40))
def test_a_tree_says_of_any_length_what_a_frontier_has_said_then(asked: list[int], count: int) -> None:
    frontier, tree = merkle.Frontier(), merkle.Tree()
    roots, peaks = [frontier.root()], [list(frontier.peaks)]
    for number in range(count):
        frontier.add(merkle.leaf(bytes([number])))
        tree.add(merkle.leaf(bytes([number])))
        roots.append(frontier.root())
        peaks.append(list(frontier.peaks))
        if number in asked:
            assert tree.root_at(number // 2) == roots[number // 2]
    for size in [*asked, count, 0]:
        if size <= count:
            assert (tree.root_at(size), tree.peaks_at(size)) == (roots[size], peaks[size])
        else:
            with pytest.raises(ValueError, match="leaves of"):
                tree.root_at(size)
