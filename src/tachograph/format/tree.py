"""Content as a persistent tree: any JSON value (and ``bytes``) as nodes that are stored once (``docs/format/v1.md``, section 5).

An agent resends its whole conversation at every turn. Stored naively that is quadratic; here a list is *base + added elements*, so a
turn costs what it added. A node's id is a keyed hash of what the node *means*, not of how it was cut: equal values have equal ids
in every session of a store, whatever came before them. The order of an object's keys belongs to the value: what a tool returned is
given back as it was.

    stub     = how a value appears inside a node: itself when small, else a reference
    {"$s": id} long string      {"$b": [id…]} bytes      {"$j": id} large object or small list
    {"$l": id} list             {"$t": id} JSON nested too deeply, kept as text
    a key of the value's own that begins with "$" is written with one more "$"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import canonical

STRING, BYTES, JSON, LIST = b"S", b"B", b"J", b"L"

#: A string longer than this is a node of its own.
INLINE = 256
#: So is an object or short list whose encoding is longer than this. Larger than a message of an ordinary conversation (whose long texts
#: are nodes already): a message then comes with the list that it was added to, not as one more node to look up.
INLINE_OBJECT = 1024
#: Lists shorter than this are written in place unless they are large.
SHORT_LIST = 8
#: Lists up to this length are kept whole by a reader that shares (tools' definitions, the blocks of a message).
SHARED_LIST = 64
#: Bytes are cut into nodes of this size: a frame must stay small enough to encrypt and decrypt in one piece.
BLOB = 4 << 20

#: Stands for what no reader would come through (``canonical.MAX_NESTING``); ``canonical.loads`` makes no such value.
TOO_DEEP = "[nested too deeply]"

Digest = Callable[[bytes], bytes]


class Node(NamedTuple):
    """``id``: 32 bytes; ``kind``: one byte; ``payload``: its bytes, at most about ``BLOB``."""

    id: bytes
    kind: bytes
    payload: bytes


class TreeWriter:
    """Turns values into nodes that were not there yet. ``digest`` is the store's keyed hash."""

    def __init__(self, digest: Digest) -> None:
        self._digest = digest
        self._known: set[bytes] = set()
        self._prefixes: dict[bytes, tuple[bytes, int]] = {}
        self._fresh: list[Node] = []

    def put(self, value: Any) -> bytes:
        """The id of ``value``. New nodes wait in ``take``."""
        stub = self._stub(value, 0)
        if isinstance(stub, dict) and len(stub) == 1:
            ((mark, reference),) = stub.items()
            if mark in ("$s", "$j", "$l") and isinstance(reference, str):
                return bytes.fromhex(reference)
        return self._add(JSON, canonical.dumps_ordered(stub))

    def take(self) -> list[Node]:
        """The nodes made since the last call, children before parents."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def _add(self, kind: bytes, payload: bytes) -> bytes:
        name = self._digest(kind + payload)
        self._store(name, kind, payload)
        return name

    def _store(self, name: bytes, kind: bytes, payload: bytes) -> None:
        if name not in self._known:
            self._known.add(name)
            self._fresh.append(Node(name, kind, payload))

    def _stub(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            if len(value) <= INLINE:
                return value
            return {"$s": self._add(STRING, value.encode("utf-8", "surrogatepass")).hex()}
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"$b": [self._add(BYTES, part).hex() for part in _parts(bytes(value))]}
        if isinstance(value, dict):
            if depth > canonical.MAX_DEPTH:
                return {"$t": self._add(STRING, canonical.dumps_ordered(_plain(value))).hex()}
            stub = {_escape(str(key)): self._stub(item, depth + 1) for key, item in value.items()}
            encoded = canonical.dumps_ordered(stub)
            return stub if len(encoded) <= INLINE_OBJECT else {"$j": self._add(JSON, encoded).hex()}
        if isinstance(value, (list, tuple)):
            if depth > canonical.MAX_DEPTH:
                return {"$t": self._add(STRING, canonical.dumps_ordered(_plain(value))).hex()}
            return self._list([self._stub(item, depth + 1) for item in value])
        return value

    def _list(self, stubs: list[Any]) -> Any:
        encoded = [canonical.dumps_ordered(stub) for stub in stubs]
        size = sum(map(len, encoded)) + len(encoded)
        if len(stubs) < SHORT_LIST and size <= INLINE_OBJECT:
            return stubs
        chain = [self._digest(LIST)]
        for item in encoded:
            chain.append(self._digest(LIST + chain[-1] + item))
        whole = chain[-1]
        if whole in self._known:
            return {"$l": whole.hex()}
        base: list[Any] | None = None
        shared = 0
        for length in range(len(stubs), 0, -1):
            found = self._prefixes.get(chain[length])
            if found is not None:
                base, shared = [found[0].hex(), found[1]], length
                break
        self._store(whole, LIST, canonical.dumps_ordered({"a": stubs[shared:], "b": base}))
        for length in range(shared + 1, len(stubs) + 1):
            self._prefixes[chain[length]] = (whole, length)
        return {"$l": whole.hex()}


def _parts(data: bytes) -> list[bytes]:
    return [data[at : at + BLOB] for at in range(0, len(data), BLOB)]


def _escape(key: str) -> str:
    return "$" + key if key.startswith("$") else key


def _plain(value: Any, depth: int = canonical.MAX_DEPTH) -> Any:
    """A deep value without bytes, so that it can be written as text."""
    if isinstance(value, (dict, list, tuple)) and depth >= canonical.MAX_NESTING:
        return TOO_DEEP
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("latin-1")
    return value


_REFERENCES = frozenset(("$s", "$b", "$j", "$l", "$t"))


def _has_mark(payload: bytes) -> bool:
    """Whether a name in it may begin with the mark, written as it is or escaped."""
    return b'"$' in payload or b"\\u0024" in payload


class TreeReader:
    """Rebuilds values. ``fetch`` gives (kind, payload) of an id and raises ``KeyError`` for one that is not there."""

    def __init__(self, fetch: Callable[[bytes], tuple[bytes, bytes]]) -> None:
        self._fetch = fetch
        self._lists: dict[bytes, list[Any]] = {}
        self._nodes: dict[bytes, Any] = {}
        self._elements: dict[int, tuple[Any, Any]] = {}

    def get(self, name: bytes) -> Any:
        """The value with that id. Raises ``KeyError`` (a node is missing) or ``ValueError`` (a node is no node)."""
        kind, payload = self._fetch(name)
        if kind == STRING:
            return payload.decode("utf-8", "surrogatepass")
        if kind == JSON:
            value = canonical.loads(payload)
            # Where no name begins with the mark there is nothing to be put in its place: all that a small call says.
            return self._value(value) if _has_mark(payload) else value
        if kind == LIST:
            return [self._value(stub) for stub in self._stubs(name)]
        raise ValueError(f"a node of unknown kind {kind!r}")

    def shared(self, name: bytes) -> Any:
        """As ``get``; but what several values have in common (the messages of a history that is sent again) is one object in all of them, decoded
        once. For readers of a whole session, who change nothing: a change would be in all of them."""
        kind, payload = self._fetch(name)
        if kind == JSON:
            value = canonical.loads(payload)
            return self._share(value) if _has_mark(payload) else value
        if kind == LIST:
            return [item if type(item) is str else self._shared_element(item) for item in self._stubs(name)]
        return self.get(name)

    def _shared_element(self, stub: Any) -> Any:
        """The value of an element of a list. Lists that grew out of each other hold the same stubs."""
        known = self._elements.get(id(stub))
        if known is None:
            known = self._elements[id(stub)] = stub, self._share(stub)  # the stub is kept, so that its id stays its own
        return known[1]

    def _share(self, stub: Any) -> Any:
        if type(stub) is list:
            return [item if type(item) is str else self._share(item) for item in stub]
        if type(stub) is not dict:
            return stub
        if len(stub) == 1:
            mark = next(iter(stub))
            if mark in ("$j", "$l", "$s"):
                name = bytes.fromhex(stub[mark])
                if name not in self._nodes:
                    value = self.shared(name)
                    if mark == "$l" and len(value) > SHARED_LIST:
                        return value  # it has grown, and will not come again as it is: its elements do
                    self._nodes[name] = value
                return self._nodes[name]
            if mark in _REFERENCES:
                return self._referred(mark, stub[mark])
        return {key[1:] if key[:1] == "$" else key: item if type(item) is str else self._share(item) for key, item in stub.items()}

    def _stubs(self, name: bytes) -> list[Any]:
        # Walk to a base that is known, then build forwards: recursion depth must not grow with the length of a session.
        chain: list[tuple[bytes, list[Any], int]] = []
        at: bytes | None = name
        start: list[Any] = []
        seen: set[bytes] = set()
        take = 0
        while at is not None:
            ready = self._lists.get(at)
            if ready is not None:
                start = ready
                break
            if at in seen:
                raise ValueError("a list is its own base")
            seen.add(at)
            kind, payload = self._fetch(at)
            if kind != LIST:
                raise ValueError("a list whose base is no list")
            node = canonical.loads(payload)
            base = node["b"]
            take = int(base[1]) if base else 0
            chain.append((at, node["a"], take))
            at = bytes.fromhex(base[0]) if base else None
        built = list(start)
        for _, added, shared in reversed(chain):
            if not 0 <= shared <= len(built):
                raise ValueError("a list that takes more of its base than there is")
            del built[shared:]
            built += added
        # Only the list that was asked for is kept: the next turn's is made from it.
        self._lists[name] = built
        return built

    def _value(self, stub: Any) -> Any:
        kind = type(stub)
        if kind is list:
            return [item if type(item) is str else self._value(item) for item in stub]
        if kind is not dict:
            return stub
        if len(stub) == 1:
            mark = next(iter(stub))
            if mark[:1] == "$" and mark in _REFERENCES:
                return self._referred(mark, stub[mark])
        # Members that are short strings are not worth a call each when a prompt of hundreds of messages is rebuilt.
        return {key[1:] if key[:1] == "$" else key: item if type(item) is str else self._value(item) for key, item in stub.items()}

    def _referred(self, mark: str, reference: Any) -> Any:
        if mark == "$b":
            return b"".join(self._fetch(bytes.fromhex(part))[1] for part in reference)
        kind, payload = self._fetch(bytes.fromhex(reference))
        if kind == STRING:
            text = payload.decode("utf-8", "surrogatepass")
            return canonical.loads(text) if mark == "$t" else text
        return self.get(bytes.fromhex(reference))
