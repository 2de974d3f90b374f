from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.format import canonical
from tachograph.format.tree import TOO_DEEP, Node, TreeReader, TreeWriter

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(max_size=600)
)
texts = st.text(st.characters(), max_size=400)  # lone surrogates included
values = st.recursive(
    scalars | texts,
    lambda inner: (
        st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=8) | st.sampled_from(["$s", "$l", "$", "$$j"]), inner, max_size=6)
    ),
    max_leaves=40,
)


def digest(data: bytes) -> bytes:
    return hmac.digest(b"k" * 32, data, "sha256")


def reader(nodes: list[Node]) -> TreeReader:
    kept = {node.id: (node.kind, node.payload) for node in nodes}
    return TreeReader(kept.__getitem__)


@given(values)
def test_what_is_put_comes_back(value: Any) -> None:
    writer = TreeWriter(digest)
    name = writer.put(value)
    assert reader(writer.take()).get(name) == value


@given(st.lists(values, max_size=20), st.lists(values, max_size=20))
def test_equal_values_have_equal_ids_whatever_was_stored_before(first: list[Any], second: list[Any]) -> None:
    fresh, used = TreeWriter(digest), TreeWriter(digest)
    for length in range(len(first)):
        used.put(first[:length])
    used.put(first + second)
    assert used.put(second) == fresh.put(second)


@given(st.lists(values, min_size=1, max_size=30))
def test_a_growing_list_rebuilds_at_every_length(items: list[Any]) -> None:
    writer = TreeWriter(digest)
    names = [writer.put({"messages": items[: n + 1]}) for n in range(len(items))]
    read = reader(writer.take())
    assert [read.get(name) for name in names] == [{"messages": items[: n + 1]} for n in range(len(items))]


@given(st.lists(values, min_size=1, max_size=30), values)
def test_what_is_shared_is_what_is_read_alone(items: list[Any], other: Any) -> None:
    writer = TreeWriter(digest)
    puts = [{"messages": items[: n + 1], "other": other} for n in range(len(items))] + [items, other, {"messages": items[:1] + items[2:]}]
    names = [writer.put(value) for value in puts]
    nodes = writer.take()
    read = reader(nodes)
    assert [read.shared(name) for name in names] == puts
    assert [read.get(name) for name in reversed(names)] == [reader(nodes).get(name) for name in reversed(names)]


def test_the_messages_of_a_resent_history_are_the_same_objects() -> None:
    writer = TreeWriter(digest)
    names = [writer.put({"model": "m", "messages": conversation(turns)}) for turns in (20, 21, 30)]
    read = reader(writer.take())
    first, second, third = (read.shared(name)["messages"] for name in names)
    assert all(one is other for one, other in zip(first, second, strict=False))
    assert all(one is other for one, other in zip(second, third, strict=False))
    alone = read.get(names[0])["messages"]
    assert alone == first
    assert not any(one is other for one, other in zip(alone, first, strict=True))


def conversation(turns: int) -> list[dict[str, Any]]:
    return [{"role": "user" if n % 2 else "assistant", "content": hashlib.sha256(str(n).encode()).hexdigest() * 20} for n in range(turns)]


def test_a_resent_conversation_takes_linear_space() -> None:
    writer = TreeWriter(digest)
    sizes = []
    for turn in range(1, 201):
        writer.put({"model": "m", "messages": conversation(2 * turn)})
        sizes.append(sum(len(node.payload) for node in writer.take()))
    assert max(sizes[100:]) < 2 * max(sizes[10:20])


def test_a_moved_cache_mark_still_shares_the_prefix() -> None:
    writer = TreeWriter(digest)
    sizes = []
    for turn in range(1, 101):
        messages = conversation(2 * turn)
        messages[-1] = {**messages[-1], "cache_control": {"type": "ephemeral"}}
        writer.put({"messages": messages})
        sizes.append(sum(len(node.payload) for node in writer.take()))
    assert max(sizes[50:]) < 2 * max(sizes[5:10])


def test_large_bytes_are_cut_into_nodes() -> None:
    writer = TreeWriter(digest)
    data = bytes(range(256)) * (40 << 10)
    name = writer.put({"data": data})
    nodes = writer.take()
    assert max(len(node.payload) for node in nodes) <= 4 << 20
    assert reader(nodes).get(name) == {"data": data}


def test_deep_json_is_kept_as_text_and_comes_back() -> None:
    value: Any = "x"
    for _ in range(canonical.MAX_DEPTH + 50):
        value = [value]
    writer = TreeWriter(digest)
    name = writer.put(value)
    assert reader(writer.take()).get(name) == value


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner, "b": "x" * 300}])
def test_what_is_nested_beyond_sense_neither_fails_nor_comes_back_whole(wrap: Any) -> None:
    value: Any = "x"
    for _ in range(20_000):
        value = wrap(value)
    writer = TreeWriter(digest)
    name = writer.put(value)
    back, depth = reader(writer.take()).get(name), 0
    while not isinstance(back, str):
        back, depth = (back["a"] if isinstance(back, dict) else back[0]), depth + 1
    assert (back, depth) == (TOO_DEEP, canonical.MAX_NESTING + 1)


@pytest.mark.parametrize("payload", [b'{"a":[],"b":["%s",3]}', b'{"a":[],"b":["%s",0]}'])
def test_a_list_that_is_its_own_base_is_refused(payload: bytes) -> None:
    name = b"\1" * 32
    kept = {name: (b"L", payload % name.hex().encode())}
    with pytest.raises(ValueError, match="base"):
        TreeReader(kept.__getitem__).get(name)


def test_the_order_of_keys_belongs_to_the_value() -> None:
    value = {"z": 1, "a": {"y": "x" * 500, "b": [{"q": 1, "c": 2}] * 20}}
    writer = TreeWriter(digest)
    name = writer.put(value)
    back = reader(writer.take()).get(name)
    assert list(back) == ["z", "a"]
    assert list(back["a"]) == ["y", "b"]
    assert list(back["a"]["b"][3]) == ["q", "c"]


def test_a_mark_that_is_written_otherwise_is_a_mark_all_the_same() -> None:
    """No writer of ours escapes a dollar; what is read must not depend on that."""
    text = Node(b"t" * 32, b"S", b"a long text")
    for mark in (b"$s", b"\\u0024s"):
        node = Node(b"n" * 32, b"J", b'{"a":{"%s":"%s"}}' % (mark, text.id.hex().encode()))
        assert reader([text, node]).get(node.id) == {"a": "a long text"}
    plain = Node(b"p" * 32, b"J", b'{"a":{"$$s":"x"},"price":"5 $"}')
    assert reader([plain]).get(plain.id) == {"a": {"$s": "x"}, "price": "5 $"}
