"""The conformance suite for importers: subclass it with your importer and files of its format.

Needs pytest and hypothesis.

    from tachograph.testing.importer_suite import ImporterSuite

    class TestAcme(ImporterSuite):
        importer = AcmeImporter()
        samples = {"run.jsonl": Path("run.jsonl").read_bytes()}
        foreign = {"notes.md": b"# Notes"}

It checks what the log and every reader rely on: the format is recognised and no other, each session is whole and can be stored,
references lead somewhere, nothing that somebody said stands in the clear envelope, the same bytes give the same drafts, no record
is lost or goes uncounted, and damage to a file costs the damaged records only.

A format that is not one JSON value per line overrides ``records`` and ``words``.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tachograph.core import events, ids
from tachograph.core.errors import ImportFailedError
from tachograph.format.tree import TreeReader, TreeWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tachograph.core.drafts import Draft, ImportedSession, Importer

HEAD = 64 << 10
#: Longer text in a line of the envelope is content in the wrong place.
LONGEST_LABEL = 300
LONGEST_LINE = 256 << 10

_DAMAGE = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
_WORD = re.compile(r"(?<![\\0-9A-Za-z])[0-9A-Za-z]{6,}")
_REFERENCES = ("parent_id", "asked_by", "told_to", "declared_id", "started_id")

#: One act of damage: what, where (a share of the file), how much, and what is put there.
_acts = st.tuples(
    st.sampled_from(("cut", "delete", "insert", "zero", "repeat", "join")),
    st.floats(0, 1),
    st.integers(0, 400),
    st.binary(max_size=12) | st.sampled_from((b'{"', b"}{", b'"', b"\n", b"\\", b"\0\0\0", b"\xef\xbb\xbf", "\u2028\x85".encode())),
)


class ImporterSuite:
    """Set the three class attributes; see the module's docstring."""

    importer: ClassVar[Importer]
    #: Whole files by name. Have at least one with every kind of record, and one with the damage that the format's writer causes.
    samples: ClassVar[Mapping[str, bytes]]
    #: Files of other formats, the more alike the better.
    foreign: ClassVar[Mapping[str, bytes]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        for fixture, files in (("sample", self.samples), ("stranger", self.foreign)):
            if fixture in metafunc.fixturenames:
                metafunc.parametrize(fixture, list(files))

    # What a format that is not JSON Lines overrides

    def records(self, data: bytes) -> int:
        """The least number of records in a file, which may be damaged; for an undamaged one, the very number."""
        return sum(bool(line.strip()) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))

    def is_damaged(self, data: bytes) -> bool:
        """Whether ``records`` may count too few."""
        return any(line.strip() and not _is_json(line) for line in data.split(b"\n"))

    def words(self, data: bytes) -> set[str]:
        """Words that must be found among the drafts."""
        return set(_WORD.findall(data.decode("utf-8", "replace")))

    # Helpers

    def sessions(self, name: str, data: bytes) -> list[ImportedSession]:
        return list(self.importer.read(name, data))

    def drafts(self, name: str) -> Iterator[Draft]:
        for session in self.sessions(name, self.samples[name]):
            yield from session.drafts

    # --- recognises

    def test_its_name_is_a_word(self) -> None:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.importer.name)

    def test_it_recognises_its_own(self, sample: str) -> None:
        data = self.samples[sample]
        assert self.importer.recognises(sample, data[:HEAD])
        assert self.importer.recognises("renamed", data[:HEAD]), "the content decides, not the name"

    def test_it_recognises_no_other(self, stranger: str) -> None:
        data = self.foreign[stranger]
        assert not self.importer.recognises(stranger, data[:HEAD])
        with pytest.raises(ImportFailedError) as caught:
            self.sessions(stranger, data)
        assert "\n" not in str(caught.value)

    @_DAMAGE
    @given(head=st.binary(max_size=200), name=st.text(max_size=20))
    def test_it_recognises_without_raising(self, head: bytes, name: str) -> None:
        assert isinstance(self.importer.recognises(name, head), bool)

    # --- sessions

    def test_sessions_are_named_and_whole(self, sample: str) -> None:
        sessions = self.sessions(sample, self.samples[sample])
        assert sessions
        assert len({session.source_id for session in sessions}) == len(sessions)
        for session in sessions:
            assert session.source_id
            assert session.parent_source_id != session.source_id
            first, last = session.drafts[0].event, session.drafts[-1].event
            assert isinstance(first, events.SessionStart)
            assert (first.source, first.imported_from, first.name) == ("import", self.importer.name, session.name)
            assert isinstance(last, events.SessionEnd)
            assert last.status == "imported"
            inner = [type(draft.event) for draft in session.drafts[1:-1]]
            assert events.SessionStart not in inner
            assert events.SessionEnd not in inner
            for kind, cls in (("model", events.ModelCall), ("tool", events.ToolCall)):
                assert last.calls.get(kind, 0) == sum(issubclass(found, cls) for found in inner)

    def test_events_have_ids_times_and_lanes(self, sample: str) -> None:
        for session in self.sessions(sample, self.samples[sample]):
            found = [draft.event.id for draft in session.drafts]
            assert all(ids.EVENT_ID.match(event_id) for event_id in found)
            assert len(set(found)) == len(found)
            assert all(draft.event.lane for draft in session.drafts)
            assert all(isinstance(draft.unix_ms, int) and draft.unix_ms >= 0 for draft in session.drafts)

    def test_references_lead_somewhere(self, sample: str) -> None:
        for session in self.sessions(sample, self.samples[sample]):
            known = {draft.event.id for draft in session.drafts}
            for draft in session.drafts:
                line = events.encode(draft.event)
                named = {line[key] for key in (*_REFERENCES, "duplicate_of") if line.get(key) is not None}
                assert named <= known - {draft.event.id}

    def test_tool_calls_follow_the_model_calls_that_asked(self, sample: str) -> None:
        for session in self.sessions(sample, self.samples[sample]):
            asked: set[str] = set()
            for draft in session.drafts:
                event = draft.event
                if isinstance(event, events.ModelCall):
                    asked.add(event.id)
                elif isinstance(event, events.ToolCall):
                    assert event.outcome in events.OUTCOMES
                    assert event.asked_by is None or event.asked_by in asked

    # --- envelope and contents

    def test_the_envelope_is_small_and_clean(self, sample: str) -> None:
        for draft in self.drafts(sample):
            event = draft.event
            line = events.encode(event)
            assert len(orjson.dumps(line)) <= LONGEST_LINE  # which also refuses lone surrogates
            for text in _strings(line):
                assert len(text) <= LONGEST_LABEL, f"{event.TYPE}: {text[:80]}… belongs into the contents"
                assert not re.search("[\x00-\x1f]", text)
            fields = {*event.__struct_fields__, *events.STAMP}
            assert fields.isdisjoint(event.extra), "a key of extra would replace a field of the line"
            assert not [key for key, value in line.items() if key.endswith("_uri") and value is not None]

    def test_events_survive_the_log(self, sample: str) -> None:
        for draft in self.drafts(sample):
            assert events.decode(orjson.loads(orjson.dumps(events.encode(draft.event)))) == draft.event

    def test_contents_can_be_stored(self, sample: str) -> None:
        nodes: dict[bytes, tuple[bytes, bytes]] = {}
        writer = TreeWriter(lambda data: hashlib.sha256(data).digest())
        reader = TreeReader(nodes.__getitem__)
        for draft in self.drafts(sample):
            for key, value in draft.contents.items():
                assert key.endswith("_uri")
                name = writer.put(value)
                nodes.update((node.id, (node.kind, node.payload)) for node in writer.take())
                assert reader.get(name) == value

    # --- nothing lost, nothing invented

    def test_the_same_bytes_give_the_same_drafts(self, sample: str) -> None:
        data = self.samples[sample]
        assert self.sessions(sample, data) == self.sessions(sample, bytes(bytearray(data)))

    def test_every_record_is_counted(self, sample: str) -> None:
        data = self.samples[sample]
        sessions = self.sessions(sample, data)
        counted = sum(session.understood + session.kept for session in sessions)
        assert counted >= self.records(data)
        if not self.is_damaged(data):
            assert counted == self.records(data)
        for session in sessions:
            assert session.kept == sum(map(_is_kept, session.drafts))

    def test_every_word_is_found(self, sample: str) -> None:
        data = self.samples[sample]
        missing = self.words(data) - _words_of(self.drafts(sample))
        assert not missing, f"lost: {sorted(missing)[:10]}"

    @_DAMAGE
    @given(acts=st.lists(_acts, min_size=1, max_size=4))
    @example(acts=[("insert", 0.5, 0, b"\xff")])
    @example(acts=[("zero", 0.5, 100, b"")])
    @example(acts=[("cut", 0, 20, b"")])
    @example(acts=[("join", 0.2, 0, b""), ("join", 0.7, 0, b"")])
    def test_damage_costs_only_what_it_hit(self, sample: str, acts: list[tuple[str, float, int, bytes]]) -> None:
        data = damage(self.samples[sample], acts)
        try:
            sessions = self.sessions(sample, data)
        except ImportFailedError:
            assert not self.importer.recognises(sample, data[:HEAD])
            return
        counted = sum(session.understood + session.kept for session in sessions)
        assert counted >= self.records(data)
        assert all(session.kept == sum(map(_is_kept, session.drafts)) for session in sessions)
        missing = self.words(data) - _words_of(draft for session in sessions for draft in session.drafts)
        assert not missing, f"lost: {sorted(missing)[:10]}"


def damage(data: bytes, acts: list[tuple[str, float, int, bytes]]) -> bytes:
    """What a crash, a full disk or two writers may leave of a file."""
    for kind, share, size, junk in acts:
        at = int(share * len(data))
        if kind == "cut":
            data = data[: max(0, len(data) - size)]
        elif kind == "delete":
            data = data[:at] + data[at + size :]
        elif kind == "insert":
            data = data[:at] + junk + data[at:]
        elif kind == "zero":
            data = data[:at] + bytes(len(data[at : at + size])) + data[at + size :]
        elif kind == "repeat":
            data = data[: at + size] + data[at:]
        else:
            end = data.find(b"\n", at)
            data = data if end < 0 else data[:end] + data[end + 1 :]
    return data


def _is_kept(draft: Draft) -> bool:
    event = draft.event
    if isinstance(event, events.Gap):
        return event.reason == "unreadable_line"
    return isinstance(event, events.Note) and event.subtype == "unknown_record"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _words_of(drafts: Iterator[Draft]) -> set[str]:
    """All words in drafts, as they would stand in a file of JSON and as they stand in raw text."""
    found: set[str] = set()
    for draft in drafts:
        for value in (events.encode(draft.event), *draft.contents.values()):
            if isinstance(value, bytes):
                text = value.decode("utf-8", "replace")
            else:
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            found.update(_WORD.findall(text))
    return found
