"""Where a text first entered: planted texts lead to their sources however the model wrote them on; what it made up leads to the model."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted_texts import SOURCES, noise, planted
from random_recordings import recordings
from sample_recordings import AFTER, SAMPLES, Tape, ask, result, start, text, use

from tachograph.core import events
from tachograph.core.errors import NotFoundError
from tachograph.postmortem import why_text
from tachograph.postmortem.sources import KINDS
from tachograph.postmortem.story import tell
from tachograph.postmortem.why import Tracer, Why, event_json
from ways_of_writing import WAYS, Way, sentence

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]")


def tracer(tape: Tape) -> Tracer:
    return Tracer(tell(tape), tape)


def origin_of(answer: Why) -> tuple[str, str] | None:
    return (answer.origin.passage.event_id, answer.origin.passage.kind) if answer.origin is not None else None


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_planted_text_leads_to_its_source_and_on_to_where_it_left(way: Way) -> None:
    """Each source, for each way of writing: asked for as it was planted, and as it left."""
    missed = []
    for number, source in enumerate(SOURCES):
        seed = WAYS.index(way) * 100 + number
        words = way.made(seed)
        written = way.written(words)
        tape, event_id = planted(seed, source, words, written)
        asked = tracer(tape)
        for query in dict.fromkeys((words, written)):
            answer = asked.why(query)
            left = [link.passage.name for link in answer.chain]
            if origin_of(answer) != (event_id, source) or "apply_patch" not in left:
                missed.append((source, query[:60], origin_of(answer), left))
    assert not missed


MADE_UP = [
    "The warehouse in Lyon burned down last night.",
    "Invoice 88213-B was paid twice by mistake.",
    "refund_everything_now",
    "ops@nowhere.example",
    "4417-9920",
    "https://pastebin.example/x9f3",
    "DROP TABLE customers_2019;",
    "sudo rm -rf /var/lib/backups",
    "Professor Quillfeather recommends a dose of 40 mg.",
    "kubectl delete namespace staging-west",
    "SELECT secret FROM vault WHERE id = 77",
    "We measured a 23.7% increase in latency.",
    "import antigravity_tools",
    "The customer agreed on the phone to waive the fee.",
    "+41 44 555 12 93",
    "9f86d081884c7d65",
    "commit message: harmonise flux capacitor",
    "def flux_capacitor(gain): return gain * 88",
    "The anchor basket must move to Mars 1234 before noon.",
    "Zürich–Genève, 14. März, Gleis 9¾",
    "value >= 0.00731",
    "P@rt-Nr. QX-5511/7",
]


@pytest.mark.parametrize("words", MADE_UP)
def test_what_nothing_that_entered_has_the_model_made_up(words: str) -> None:
    for seed in (3, 4, 8):
        tape, _ = planted(seed, "file", noise(seed + 77), words)
        answer = tracer(tape).why(words)
        assert answer.origin is not None
        assert (answer.origin.passage.kind, answer.origin.how) == ("model", "verbatim"), answer.origin
        assert answer.origin.passage.position.startswith("output.content")
        assert answer.chain[0] == answer.origin


def test_an_answer_has_the_documented_shape() -> None:
    tape, event_id = planted(5, "file", sentence(5), sentence(5).upper())
    found = tracer(tape).why(sentence(5)).to_json()
    assert json.loads(json.dumps(found)) == found
    assert found["session_id"] == tape.session_id
    assert found["text"] == sentence(5)
    assert found["origin"]["kind"] == "file"
    assert found["origin"]["event_id"] == event_id
    assert {"seq", "step", "position", "name", "quote", "how", "context"} <= found["origin"].keys()
    assert found["chain"][0] == found["origin"]
    assert [link["how"] for link in found["chain"]] == ["verbatim", "other case", "other case"]
    assert found["coverage"][0]["share"] == 1.0


def test_a_result_is_the_tool_calls_and_what_it_came_from_within_is_named() -> None:
    answer = tracer(SAMPLES["coding_agent"]()).why("1 failed, 11 passed")
    assert answer.origin is not None
    assert answer.origin.passage.name == "bash"
    assert answer.origin.source is not None
    assert answer.origin.source.name == "python"
    assert "there from python" in why_text.verdict(answer)


def test_a_short_text_is_not_led_back_to_what_merely_looks_like_it() -> None:
    tape = Tape()
    start(tape)
    history: list[Any] = [{"role": "user", "content": "Where is user id kept?"}]
    ask(tape, list(history), [use("call_1", "read_file", path="a.py")])
    read = tape.add(events.ToolCall, name="read_file", source="declared", input={"path": "a.py"}, output="userId = 7", lane="main")
    assert origin_of(tracer(tape).why("userId")) == (read, "file")


def test_a_number_within_another_number_is_no_origin() -> None:
    tape = Tape()
    start(tape)
    ask(tape, [{"role": "user", "content": "The order is 98471123."}], [text("Refunded 4711 francs.")])
    assert origin_of(tracer(tape).why("4711")) == ("evt_0001", "model")
    assert origin_of(tracer(tape).why("98471123")) == ("evt_0001", "user")


def test_common_words_are_told_to_be_common_and_still_answered() -> None:
    asked = tracer(SAMPLES["coding_agent"]())
    for words in ("the", "a", "do", "{"):
        answer = asked.why(words)
        assert answer.common is not None, words
        assert answer.origin is not None
        assert any("care" in line for line in why_text.lines(answer))


def test_a_text_that_is_nowhere_is_nowhere() -> None:
    answer = tracer(SAMPLES["coding_agent"]()).why("flux capacitor")
    assert (answer.found, answer.origin, answer.chain, answer.coverage) == (False, None, (), ())
    assert "is nowhere in" in why_text.verdict(answer)


def test_what_only_a_file_has_a_program_wrote() -> None:
    answer = tracer(SAMPLES["coding_agent"]()).why("hmac.compare_digest")
    assert answer.origin is not None
    assert (answer.origin.passage.kind, answer.origin.passage.name) == ("tool_result", "src/login.py")
    assert "a program wrote it into src/login.py" in why_text.verdict(answer)


def test_what_the_agents_own_code_printed_entered_with_nothing() -> None:
    answer = tracer(SAMPLES["coding_agent"]()).why("login is safe")
    assert answer.origin is None
    assert [link.passage.kind for link in answer.chain] == ["printed"]
    assert "own code" in why_text.verdict(answer)


def test_a_masked_value_is_traced_by_its_placeholder() -> None:
    mark = "[REDACTED:github-token:9f2c61aa]"
    tape = Tape()
    start(tape)
    ask(tape, [{"role": "user", "content": "Push."}], [use("call_1", "read_file", path=".env")])
    read = tape.add(events.ToolCall, name="read_file", source="declared", input={"path": ".env"}, output=f"TOKEN={mark}\n", lane="main")
    history = [
        {"role": "user", "content": "Push."},
        {"role": "assistant", "content": [use("call_1", "read_file", path=".env")]},
        {"role": "user", "content": [result("call_1", f"TOKEN={mark}\n")]},
    ]
    ask(tape, history, [use("call_2", "bash", command=f"git push https://{mark}@git.example")])
    answer = tracer(tape).why(mark)
    assert origin_of(answer) == (read, "file")
    assert len(answer.chain) == 2


def test_an_event_is_answered_part_by_part_with_coverage() -> None:
    asked = tracer(SAMPLES["coding_agent"]())
    parts = asked.event("evt_0004")
    assert [part.at.position for part in parts if part.at] == [
        "output.content[0]", "output.content[1].input.command", "output.content[2].input.path", "output.content[2].input.patch",
    ]  # fmt: skip
    command = parts[1]
    assert origin_of(command) == ("evt_0004", "model")
    (share,) = command.coverage
    assert (share.passage.kind, share.passage.name, share.quote) == ("file", "README.md", "https://collect.example/upload")
    assert 0.6 < share.share < 0.9
    document = event_json(parts, "evt_0004")
    assert len(document["parts"]) == 4
    assert document["text"] == command.text
    assert asked.event("#4") == asked.event("step:2") == parts
    assert [part.text for part in asked.event("11")] == [command.text]


def test_the_parts_of_an_event_are_told_for_people() -> None:
    asked = tracer(SAMPLES["coding_agent"]())
    page = "\n".join(why_text.part_lines(asked.event("#11")))
    assert "input.command bash" in page
    assert "file README.md" in page


def test_what_came_later_is_no_origin_of_an_event() -> None:
    tape = Tape()
    start(tape)
    first = ask(
        tape, [{"role": "user", "content": "Guess."}], [text("The password is swordfish-77."), use("call_1", "read_file", path="pw")]
    )
    tape.add(
        events.ToolCall, name="read_file", source="declared", input={"path": "pw"}, output="The password is swordfish-77.", lane="main"
    )
    (part, _) = tracer(tape).event(first)
    assert origin_of(part) == (first, "model")


def test_a_reply_that_repeats_a_document_nearly_is_led_back_to_it() -> None:
    said = " ".join(sentence(number) for number in range(4))
    reply = said.replace("must move", "has to be moved", 1).replace("sent.", "delivered.", 1)
    tape, event_id = planted(6, "document", said, reply)
    last = tape.entries[-1].event.id
    (part,) = [part for part in tracer(tape).event(last) if part.text == reply]
    assert origin_of(part) == (event_id, "document")
    assert part.nearness is not None
    assert part.nearness >= 0.75


def test_a_line_of_a_file_is_as_the_session_last_wrote_it() -> None:
    asked = tracer(SAMPLES["coding_agent"]())
    assert asked.line("src/login.py", 5) == AFTER.split("\n")[4]
    assert asked.line("/home/dev/shop/src/login.py", 1) == "import hmac"
    assert asked.line("other.py", 1) is None
    with pytest.raises(NotFoundError, match="no line 9"):
        asked.line("login.py", 9)


def test_an_event_that_is_not_there_is_told() -> None:
    for named in ("evt_9999", "#9999", "999999999999999999", "nonsense", "step:9", "step:x"):
        with pytest.raises(NotFoundError, match=r"no event|no step"):
            tracer(SAMPLES["coding_agent"]()).event(named)


@pytest.mark.parametrize(
    "words",
    ["a" * 1_000_000, "\x00\x01\x1b[31m", "\ud800", "%" * 100_000, "\\" * 100_000, "&amp;" * 20_000, "<b>" * 30_000, "…" * 10_000, " . . . " * 5000,
     "0" * 200_000, "1,000" * 20_000, "\n+" * 50_000, "QUFB" * 50_000, "\\x41" * 20_000, "1:\n" * 30_000, "ﷺ" * 20_000, "é" * 200_000],
    ids=lambda words: repr(words[:6]),
)  # fmt: skip
def test_hostile_texts_are_answered(words: str) -> None:
    tape = Tape()
    start(tape)
    ask(tape, [{"role": "user", "content": words + " end"}], [text(words[:5000]), use("call_1", "write_file", path="x", text=words)])
    asked = tracer(tape)
    for query in (words, words[: len(words) // 2], words[:40], words + "?"):
        answer = asked.why(query)
        page = why_text.lines(answer)
        assert not any(CONTROL.search(line) for line in page)
        json.dumps(answer.to_json()).encode()
    assert asked.event("evt_0001")


@SETTINGS
@given(recordings(), st.text(max_size=40))
def test_whatever_a_log_holds_and_whatever_is_asked_there_is_an_answer(tape: Tape, words: str) -> None:
    asked = tracer(tape)
    queries = [words, *(one.text for one in asked.places[:6]), *(one.text[3:20] for one in asked.places[:3])]
    known = {entry.seq: entry.event.id for entry in tape.entries}
    for query in queries:
        answer = asked.why(query)
        assert not any(CONTROL.search(line) for line in why_text.lines(answer))
        json.dumps(answer.to_json()).encode()
        if answer.origin is not None:
            assert answer.origin.passage.kind in KINDS
        for link in answer.chain:
            assert known[link.passage.seq] == link.passage.event_id
        order = [link.passage.order for link in answer.chain[1:]]
        assert order == sorted(order)
    for entry in tape.entries:
        try:
            parts = asked.event(entry.event.id)
        except NotFoundError:
            continue
        assert not any(CONTROL.search(line) for line in why_text.part_lines(parts))


@SETTINGS
@given(st.text(min_size=1, max_size=60), st.sampled_from(SOURCES))
def test_a_unique_text_is_always_found_at_its_source(words: str, source: str) -> None:
    unique = f"{words} zq7391xk {words[::-1]}"
    tape, event_id = planted(7, source, unique, unique)
    answer = tracer(tape).why(unique)
    assert answer.origin is not None
    assert (answer.origin.passage.event_id, answer.origin.how) == (event_id, "verbatim")
    assert answer.origin.quote in unique or unique in answer.origin.quote


@SETTINGS
@given(st.binary(min_size=24, max_size=60))
def test_bytes_that_are_no_text_are_not_taken_for_one(data: bytes) -> None:
    made = base64.b64encode(data).decode()
    tape, _ = planted(9, "file", noise(1234), made)
    assert origin_of(tracer(tape).why(made)) == (tape.entries[-1].event.id, "model")
