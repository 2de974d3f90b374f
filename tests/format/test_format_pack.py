from __future__ import annotations

import struct

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tachograph.format import pack
from tachograph.format.tree import Node

nodes = st.lists(
    st.builds(Node, st.binary(min_size=32, max_size=32), st.sampled_from([b"S", b"B", b"J", b"L"]), st.binary(max_size=400)), max_size=12
)


def test_the_header() -> None:
    salt = bytes(range(32))
    assert pack.header(salt) == b"TACHOPK1" + salt
    assert pack.salt_of(pack.header(salt) + b"frames") == salt


@pytest.mark.parametrize("data", [b"", b"TACHOPK1", b"TACHOPK1" + bytes(31), b"TACHOPK2" + bytes(32), bytes(40)])
def test_other_bytes_are_no_pack(data: bytes) -> None:
    with pytest.raises(ValueError, match="version 1"):
        pack.salt_of(data)


def test_a_frame_is_bound_to_its_place_in_words() -> None:
    assert pack.associated("ses_X", 3, 0) == b"tachograph/v1 frame ses_X 3 0"


def test_a_frame_begins_with_its_length() -> None:
    assert pack.framed(b"box") == b"\0\0\0\3box"


@given(nodes)
def test_nodes_come_back(wanted: list[Node]) -> None:
    assert list(pack.nodes(pack.plain(wanted))) == wanted


def test_the_bytes_of_a_node() -> None:
    plain = zstandard.ZstdDecompressor().decompress(pack.plain([Node(b"\1" * 32, b"S", b"text")]))
    assert plain == b"\1" * 32 + b"S" + b"\0\0\0\4" + b"text"


@given(nodes, st.data())
def test_a_cut_frame_is_refused(wanted: list[Node], data: st.DataObject) -> None:
    whole = b"".join(n.id + n.kind + struct.pack(">I", len(n.payload)) + n.payload for n in wanted)
    cut = data.draw(st.integers(0, len(whole)))
    frame = zstandard.compress(whole[:cut])
    ends = [0]
    for node in wanted:
        ends.append(ends[-1] + 37 + len(node.payload))
    if cut in ends:
        assert pack.nodes(frame) == wanted[: ends.index(cut)]
    else:
        with pytest.raises(ValueError, match="ends inside"):
            pack.nodes(frame)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"decompress|ends inside"):
        list(pack.nodes(data + b"\1"))


def test_one_zstd_frame_and_nothing_behind_it() -> None:
    one = pack.plain([Node(b"\1" * 32, b"S", b"text")])
    for more in (b"x", one):
        with pytest.raises(ValueError, match="decompress"):
            list(pack.nodes(one + more))


@pytest.mark.parametrize("stated", [True, False])
def test_a_bomb_is_refused_whether_or_not_it_states_its_size(monkeypatch: pytest.MonkeyPatch, stated: bool) -> None:
    monkeypatch.setattr(pack, "MAX_FRAME", 1 << 16)
    good = zstandard.ZstdCompressor(write_content_size=stated).compress(bytes(32) + b"S" + struct.pack(">I", 1000) + bytes(1000))
    assert len(list(pack.nodes(good))) == 1
    bomb = zstandard.ZstdCompressor(write_content_size=stated).compress(bytes(1 << 17))
    assert len(bomb) < 100
    with pytest.raises(ValueError, match="frame"):
        list(pack.nodes(bomb))


@given(st.lists(st.integers(0, 60), max_size=30))
def test_groups_keep_order_and_size(sizes: list[int]) -> None:
    wanted = [Node(bytes([number]) * 32, b"B", bytes(size)) for number, size in enumerate(sizes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "FRAME", 100)
        groups = list(pack.groups(wanted))
    assert [node for group in groups for node in group] == wanted
    assert all(groups)
    assert all(len(group) == 1 or sum(len(node.payload) for node in group) <= 100 for group in groups)


def test_no_node_no_frame() -> None:
    assert list(pack.groups([])) == []
