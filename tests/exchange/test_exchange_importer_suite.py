"""The suite must find what it is there to find: each importer here has one of the bugs that real ones had."""

from __future__ import annotations

import dataclasses
import random
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import pytest

from tachograph.core.events import ModelCall, Note, ToolCall
from tachograph.exchange.claude_code import ClaudeCodeImporter
from tachograph.testing.importer_suite import ImporterSuite, damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tachograph.core.drafts import Draft, ImportedSession

SAMPLE = b"""\
{"type":"user","sessionId":"s","uuid":"u1","message":{"role":"user","content":"something wonderful"}}
{"type":"assistant","sessionId":"s","uuid":"u2","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"type":"hitherto-unknown","sessionId":"s"}
"""


class Spoilt(ClaudeCodeImporter):
    """The real importer with its sessions or its input spoilt."""

    def __init__(
        self,
        *,
        data: Callable[[bytes], bytes] = lambda data: data,
        session: Callable[[ImportedSession], ImportedSession] = lambda session: session,
    ) -> None:
        self._data, self._session = data, session

    def read(self, name: str, data: bytes) -> Iterator[ImportedSession]:
        return map(self._session, super().read(name, self._data(data)))


def drafts(change: Callable[[Draft], Draft | None]) -> Spoilt:
    def spoil(session: ImportedSession) -> ImportedSession:
        changed = tuple(new for draft in session.drafts if (new := change(draft)) is not None)
        return dataclasses.replace(session, drafts=changed)

    return Spoilt(session=spoil)


def event(draft: Draft, cls: type, **fields: Any) -> Draft:
    if not isinstance(draft.event, cls):
        return draft
    return dataclasses.replace(draft, event=msgspec.structs.replace(draft.event, **fields))


def contents(draft: Draft, **fields: Any) -> Draft:
    return dataclasses.replace(draft, contents={**draft.contents, **fields})


def check(importer: ClaudeCodeImporter, *, damaged: bool = False) -> set[str]:
    """The names of the tests that fail."""

    class Suite(ImporterSuite):
        samples: ClassVar = {"s.jsonl": SAMPLE}
        foreign: ClassVar = {"x.md": b"# A title\n"}

    suite = Suite()
    Suite.importer = importer
    failed = set()
    for name in dir(Suite):
        if name.startswith("test_") and (damaged or "damage" not in name):
            arguments = {"sample": "s.jsonl"} if "sample" in _parameters(getattr(Suite, name)) else {}
            arguments |= {"stranger": "x.md"} if "stranger" in _parameters(getattr(Suite, name)) else {}
            try:
                getattr(suite, name)(**arguments)
            except Exception:
                failed.add(name.removeprefix("test_"))
    return failed


def _parameters(function: Any) -> tuple[str, ...]:
    inner = getattr(function, "hypothesis", None)
    code = (inner.inner_test if inner else function).__code__
    return tuple(code.co_varnames[: code.co_argcount])


def test_a_good_importer_passes() -> None:
    assert check(ClaudeCodeImporter(), damaged=True) == set()


@pytest.mark.parametrize(
    ("importer", "expected"),
    [
        (drafts(lambda draft: None if isinstance(draft.event, Note) else draft), "every_record_is_counted"),
        (Spoilt(data=lambda data: data.rsplit(b"\n", 2)[0]), "every_record_is_counted"),
        (Spoilt(data=lambda data: data.replace(b"wonderful", b"")), "every_word_is_found"),
        (drafts(lambda draft: event(draft, Note, subtype="something wonderful")), "every_record_is_counted"),
        (drafts(lambda draft: event(draft, ToolCall, asked_by="evt_" + "0" * 26)), "references_lead_somewhere"),
        (drafts(lambda draft: event(draft, ModelCall, extra={"usage": 1})), "the_envelope_is_small_and_clean"),
        (drafts(lambda draft: event(draft, ModelCall, finish_reason="because " * 99)), "the_envelope_is_small_and_clean"),
        (drafts(lambda draft: event(draft, ModelCall, finish_reason="\ud83d")), "the_envelope_is_small_and_clean"),
        (drafts(lambda draft: event(draft, ModelCall, output_uri="content:x")), "the_envelope_is_small_and_clean"),
        (drafts(lambda draft: event(draft, ModelCall, usage={"input_tokens": 1.5})), "events_survive_the_log"),
        (drafts(lambda draft: contents(draft, text="x")), "contents_can_be_stored"),
        (drafts(lambda draft: contents(draft, text_uri={1, 2})), "contents_can_be_stored"),
        (drafts(lambda draft: event(draft, ModelCall, id="evt_1")), "events_have_ids_times_and_lanes"),
        (drafts(lambda draft: dataclasses.replace(draft, unix_ms=None)), "events_have_ids_times_and_lanes"),
        (drafts(lambda draft: None if isinstance(draft.event, ToolCall) else draft), "sessions_are_named_and_whole"),
        (drafts(lambda draft: contents(draft, text_uri=random.random())), "the_same_bytes_give_the_same_drafts"),
        (Spoilt(session=lambda session: dataclasses.replace(session, parent_source_id="s")), "sessions_are_named_and_whole"),
    ],
)
def test_a_bad_importer_is_caught(importer: Spoilt, expected: str) -> None:
    assert expected in check(importer)


def test_an_importer_that_gives_up_is_caught() -> None:
    class Strict(ClaudeCodeImporter):
        def read(self, name: str, data: bytes) -> Iterator[ImportedSession]:
            data.decode()  # one bad byte, and the whole file is lost
            return super().read(name, data)

    class Lazy(ClaudeCodeImporter):
        def recognises(self, name: str, head: bytes) -> bool:
            return name.endswith(".jsonl")

    assert check(Strict(), damaged=True) == {"damage_costs_only_what_it_hit"}
    assert "it_recognises_its_own" in check(Lazy())


def test_damage_is_what_it_says() -> None:
    data = b"one\ntwo\n"
    assert damage(data, [("cut", 0.0, 5, b"")]) == b"one"
    assert damage(data, [("delete", 0.5, 2, b"")]) == b"one\no\n"
    assert damage(data, [("insert", 0.5, 0, b"\0")]) == b"one\n\0two\n"
    assert damage(data, [("zero", 0.5, 2, b"")]) == b"one\n\0\0o\n"
    assert damage(data, [("repeat", 0.0, 4, b"")]) == b"one\none\ntwo\n"
    assert damage(data, [("join", 0.0, 0, b"")]) == b"onetwo\n"
