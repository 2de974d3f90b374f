"""``tacho audit-secrets``: everything that a store holds, looked at again with the rules of today.

One session is in memory at a time. What many events share (an agent sends its whole history at every turn, and equal content has equal
ids in all sessions) is looked at once: an object, a list or an element of one that was seen under the same name before is passed over.
What is found is reported by place, kind and rule; the value never.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError, ShreddedError, StoreError, TachographError
from tachograph.format import canonical, layout
from tachograph.format.tree import JSON, LIST, STRING, TreeReader
from tachograph.log import ledger
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids
from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import PLACEHOLDER
from tachograph.redact.policy import Policy
from tachograph.redact.spans import Edit

#: Ids that are remembered as seen; beyond, they are forgotten and some things are looked at twice.
MAX_SEEN = 2_000_000
#: Bytes of a file that is not the store's own.
MAX_FILE = 64 << 20
#: Written by the log itself: numbers, hashes, ids and places.
_OWN_FIELDS = frozenset({"v", "seq", "ts", "session_id", "type", "frames", "hash", "redactions", "redacted_kinds", "files", "fingerprints"})
_OWN_VALUE = re.compile(r"(?:content:|hmac-sha256:)[0-9a-f]{64}\Z|(?:evt|ses)_[0-9A-HJKMNP-TV-Z]{26}\Z")
_OWN_FILE = re.compile(
    r"store\.json\Z|keys/lock\Z|keys/(?:store|vault|recipients|verifiers|ledger|ses_[0-9A-Z]{26})\.json(?:\.\d+-\d+\.new)?\Z|vault/ses_[0-9A-Z]{26}\.vault\Z"
    r"|(?:ledger|sessions/ses_[0-9A-Z]{26})/(?:lock|\d{8}\.(?:events\.jsonl|content\.pack|seals))\Z"
    # What lies there is made from the envelopes and the ledger, which are looked at themselves.
    r"|catalogue/(?:lock|state\.json|(?:[a-z]+/day=[0-9-]{10}/)?[0-9A-Za-z_.-]+\.parquet)\Z"
)


@dataclass(frozen=True, kw_only=True)
class Missed:
    """Something that the rules of today mask and that was kept as it was. ``place``: a field and the way to it, or a line of a file."""

    session_id: str | None
    event_id: str | None
    seq: int | None
    place: str
    kind: str
    rule: str
    fingerprint: str
    count: int

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass
class Audit:
    """The audit of one store. ``run`` yields what is found; the other fields fill while it goes."""

    opened: OpenStore
    policy: Policy
    known: Mapping[str, str] = field(default_factory=dict)
    sessions: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    shredded: list[str] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def names(self) -> list[str]:
        """The logs to look at."""
        return [*session_ids(self.opened.store), *([layout.LEDGER] if ledger.exists(self.opened.store) else [])]

    def session(self, session_id: str) -> Iterator[Missed]:
        """One log: lines, contents, torn tails."""
        self.sessions += session_id != layout.LEDGER
        scan = _Scan(self.policy, self.opened.fingerprint_key, self.known)
        try:
            recording = Recording(self.opened, session_id)
        except TachographError as error:
            self.unreadable.append((session_id, str(error)))
            return
        for tail in recording.tails:
            for found in scan.text(tail.data.decode("utf-8", "surrogateescape")):
                yield _missed(found, f"torn tail of segment {tail.segment}", session_id)
        fresh = _Fresh(recording, self)
        for entry in recording.entries:
            line = {k: v for k, v in entry.line.items() if k not in _OWN_FIELDS and not (isinstance(v, str) and _OWN_VALUE.match(v))}
            for found in scan.value(line):
                yield _missed(found, "line", session_id, entry.event.id, entry.seq)
            for name, uri in entry.line.items():
                if not (isinstance(uri, str) and name.endswith("_uri") and uri.startswith("content:")):
                    continue
                try:
                    value = fresh.content(name, uri)
                    results = [*(scan.wire(value) if name == "wire_uri" else scan.value(value))]
                except ShreddedError:
                    if session_id not in self.shredded:
                        self.shredded.append(session_id)
                    continue
                except (TachographError, KeyError, ValueError, RecursionError) as error:
                    said = str(error) if isinstance(error, TachographError) else "does not decode; run tacho verify on it"
                    self.unreadable.append((session_id, f"{name} of line {entry.seq}: {said}"))
                    if isinstance(error, (KeyUnavailableError, FormatError)):
                        return  # the whole pack
                    continue
                for found in results:
                    yield _missed(found, name, session_id, entry.event.id, entry.seq)

    def files(self) -> Iterator[Missed]:
        """Files in the store that are not the store's own."""
        store = self.opened.store
        scan = _Scan(self.policy, self.opened.fingerprint_key, self.known)
        for name in store.names(""):
            if _OWN_FILE.match(name):
                continue
            shown = name.encode("unicode_escape").decode("ascii")
            try:
                data = store.read(name, limit=MAX_FILE)
            except StoreError as error:
                self.unreadable.append((shown, str(error)))
                continue
            for found in scan.text(data.decode("utf-8", "surrogateescape")):
                yield _missed(found, f"file {shown}", None)

    def first_time(self, *what: bytes) -> bool:
        """Whether this was not looked at yet."""
        digest = hashlib.blake2b(b"\0".join(what), digest_size=8, key=self.opened.content_key).digest()
        name = int.from_bytes(digest, "big")
        if name in self._seen:
            return False
        if len(self._seen) >= MAX_SEEN:
            self._seen.clear()
        self._seen.add(name)
        return True


@dataclass(frozen=True)
class _Found:
    path: str
    kind: str
    rule: str
    fingerprint: str
    count: int


def _missed(found: _Found, where: str, session_id: str | None, event_id: str | None = None, seq: int | None = None) -> Missed:
    place = where + (found.path if found.path[:1] in ("[", "") else "." + found.path)
    return Missed(
        session_id=session_id, event_id=event_id, seq=seq, place=place, kind=found.kind, rule=found.rule,
        fingerprint=found.fingerprint, count=found.count,
    )  # fmt: skip


class _Noting(Redactor):
    """Remembers by which rule each placeholder was made."""

    rules: dict[str, str]

    def placeholder(self, edit: Edit, text: str, tally: Counter[str] | None = None) -> str:
        made = super().placeholder(edit, text, tally)
        self.rules.setdefault(made.strip('"'), edit.rule)
        return made


class _Scan:
    """Masks values as a recording would, and tells where that changed something."""

    def __init__(self, policy: Policy, key: bytes, known: Mapping[str, str]) -> None:
        self._redactor = _Noting(policy, key=key, known=known)
        self._redactor.rules = {}

    def value(self, value: Any) -> Iterator[_Found]:
        masked = self._redactor.document(value)
        if masked is not value:
            yield from self._different(value, masked, "")

    def text(self, text: str) -> Iterator[_Found]:
        masked = self._redactor.text(text)
        if masked != text:
            yield from self._leaf(text, masked, "")

    def wire(self, value: Any) -> Iterator[_Found]:
        """The bytes of an answer, put together as a stream is."""
        if not isinstance(value, dict) or not isinstance(value.get("data"), bytes) or not value["data"]:
            yield from self.value(value)
            return
        yield from self.value({key: item for key, item in value.items() if key != "data"})
        head = value["head"] if isinstance(value.get("head"), dict) else {}
        headers = [pair for pair in head.get("headers") or [] if isinstance(pair, list) and len(pair) == 2]
        data = value["data"]
        masked = b"".join(self._redactor.answer(headers, list(_chunks(value, data)))[1])
        if masked != data:
            yield from self._leaf(data.decode("latin-1"), masked.decode("latin-1"), "data")

    def _different(self, old: Any, new: Any, path: str) -> Iterator[_Found]:
        if new is old:
            return
        if isinstance(old, dict) and isinstance(new, dict):
            for (key, item), (named, masked) in zip(old.items(), new.items(), strict=False):
                inner = f"{path}.{named}" if path else str(named)
                if key != named:
                    yield from self._leaf(str(key), str(named), f"{inner} (the name itself)")
                yield from self._different(item, masked, inner)
        elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
            for index, (item, masked) in enumerate(zip(old, new, strict=False)):
                yield from self._different(item, masked, f"{path}[{index}]")
        elif isinstance(old, bytes) and isinstance(new, bytes):
            yield from self._leaf(old.decode("latin-1"), new.decode("latin-1"), path)
        else:
            yield from self._leaf(str(old), str(new), path)

    def _leaf(self, old: str, new: str, path: str) -> Iterator[_Found]:
        if old == new:
            return
        before = Counter(PLACEHOLDER.findall(old))
        for made, count in (Counter(PLACEHOLDER.findall(new)) - before).items():
            _, kind, fingerprint = made[1:-1].split(":")
            yield _Found(path[:400], kind, self._redactor.rules.get(made, ""), fingerprint, count)


def _chunks(value: dict[str, Any], data: bytes) -> Iterator[bytes]:
    pieces = value.get("pieces")
    lengths = [p[3] for p in pieces if isinstance(p, list) and len(p) > 3 and p[0] == "chunk"] if isinstance(pieces, list) else []
    if sum(n for n in lengths if type(n) is int) != len(data):
        yield data
        return
    at = 0
    for length in lengths:
        yield data[at : at + length]
        at += length


class _Fresh(TreeReader):
    """Contents without what was looked at before: in its place is null, so that places keep their numbers."""

    def __init__(self, recording: Recording, audit: Audit) -> None:
        super().__init__(recording.node)
        self._node = recording.node
        self._audit = audit

    def content(self, field_name: str, uri: str) -> Any:
        return self._by_name(bytes.fromhex(uri[8:]), field_name)

    def _by_name(self, name: bytes, above: str) -> Any:
        kind, payload = self._node(name)
        if kind == STRING:
            return payload.decode("utf-8", "surrogatepass")
        if not self._audit.first_time(b"node", above.encode("utf-8", "surrogatepass"), name):
            return None
        if kind == JSON:
            return self._fresh(canonical.loads(payload), above)
        if kind == LIST:
            return [self._element(stub, above) for stub in self._stubs(name)]
        raise ValueError("a node of unknown kind")

    def _element(self, stub: Any, above: str) -> Any:
        # Strings stay: beside each other they may be a name and its value.
        if not isinstance(stub, (dict, list)):
            return stub
        first = self._audit.first_time(b"item", above.encode("utf-8", "surrogatepass"), canonical.dumps_ordered(stub))
        return self._fresh(stub, above) if first else None

    def _fresh(self, stub: Any, above: str) -> Any:
        if isinstance(stub, list):
            return [self._element(item, above) for item in stub]
        if not isinstance(stub, dict):
            return stub
        if len(stub) == 1:
            ((mark, reference),) = stub.items()
            if mark in ("$j", "$l", "$s"):
                return self._by_name(bytes.fromhex(reference), above)
            if mark in ("$b", "$t"):
                return self._referred(mark, reference)
        return {key[1:] if key[:1] == "$" else key: self._fresh(item, key) for key, item in stub.items()}
