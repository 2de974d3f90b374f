"""What was in force in one session and not in another: the line, the parameter and the field, not a hash."""

from __future__ import annotations

import json
from typing import Any

from sample_recordings import SAMPLES, SYSTEM, Tape, ask, imported, start, text

from tachograph.core import events
from tachograph.postmortem import html, in_force, markdown
from tachograph.postmortem.bundle import Change
from tachograph.postmortem.report import assemble
from tachograph.postmortem.wording import change_lines, change_words


def session(*systems: str, **call: Any) -> Tape:
    tape = Tape()
    start(tape, facts={"argv": ["agent"], "env": {"A": "1"}})
    for system in systems or ("Be kind.",):
        ask(tape, [{"role": "user", "content": "?"}], [text("!")], system=system, **call)
    return tape


def changes(one: Tape, other: Tape) -> dict[tuple[str, str], Change]:
    return {(change.what, change.key): change for change in in_force.changes(one, other)}


def tool(description: str = "Pays.", **properties: Any) -> list[dict[str, Any]]:
    return [{"name": "pay", "description": description, "input_schema": {"type": "object", "properties": properties}}]


def test_of_a_prompt_the_lines_that_differ_and_the_hashes() -> None:
    (change,) = in_force.changes(session("a\nAsk first.\nc"), session("a\nDo not ask.\nc"))
    (detail,) = change.details
    assert detail.lines == (" a", "-Ask first.", "+Do not ask.", " c")
    assert (detail.before, detail.after, detail.seqs) == (change.before["hash"], change.after["hash"], (1, 1))
    assert change_words(change) == "system prompt: “Ask first.” → “Do not ask.”"
    assert json.loads(json.dumps(change.to_json()))["details"][0]["text"] == list(detail.lines)


def test_a_prompt_of_one_long_line_is_compared_by_its_sentences() -> None:
    (change,) = in_force.changes(session(SYSTEM * 9), session((SYSTEM * 9).replace("Never", "Always", 1)))
    assert [line for line in change_lines(change) if line[0] in "+-"] == ["-Never push to a remote.", "+Always push to a remote."]


def test_of_a_long_line_without_sentences_the_place_is_shown() -> None:
    words = "word " * 100
    (change,) = in_force.changes(session(words + "keep"), session(words + "drop"))
    assert change_words(change).endswith("word keep” → “…word word word word word word word word drop”")


def test_each_prompt_is_laid_beside_the_likest() -> None:
    one = session("You plan the work of others.", "You write code in Go.")
    other = session("You write code in Rust.", "You plan the work of others well.")
    (change,) = in_force.changes(one, other)
    pairs = [[line for line in detail.lines if line[0] in "+-"] for detail in change.details]
    assert pairs == [
        ["-You write code in Go.", "+You write code in Rust."],
        ["-You plan the work of others.", "+You plan the work of others well."],
    ]
    assert change_lines(change)[0] == "@ system prompt, #2 and #1"


def test_a_prompt_that_both_had_is_no_difference_beside_one_that_came() -> None:
    (change,) = in_force.changes(session("Be kind."), session("Be kind.", "Check the work."))
    assert [detail.lines for detail in change.details] == [("+Check the work.",)]
    assert change.details[0].before is None
    assert change_words(change) == "system prompt: “Check the work.” came"


def test_white_space_alone_is_a_difference_too() -> None:
    (change,) = in_force.changes(session(SYSTEM * 3), session((SYSTEM * 3).replace(". ", ".\n", 1)))
    assert any(line[0] in "+-" for line in change_lines(change))


def test_of_a_tool_the_description_and_the_fields() -> None:
    one = session(tools=tool("Pays. Ask before.", cents={"type": "integer"}, to={"type": "string"}))
    other = session(tools=tool("Pays.", cents={"type": "number"}, memo={"type": "string"}))
    change = changes(one, other)["tools", "pay"]
    assert {(detail.name, detail.before, detail.after) for detail in change.details} == {
        ("description", "Pays. Ask before.", "Pays."), ("schema cents.type", "integer", "number"), ("schema to.type", "string", None),
        ("schema memo.type", None, "string"),
    }  # fmt: skip
    assert change_words(change) == (
        "tool pay: description “Pays. Ask before.” → “Pays.”; schema cents.type “integer” → “number”; "
        "schema to.type “string” → not there; schema memo.type not there → “string”"
    )
    assert change_lines(change) == ["-Pays. Ask before.", "+Pays."]


def test_a_tool_that_came_says_what_it_is() -> None:
    assert change_words(changes(session(), session(tools=tool()))["tools", "pay"]) == "tool pay is new: “Pays.”"


def test_parameters_by_name() -> None:
    one = session(params={"temperature": 0, "max_tokens": 10, "stop": ["x"]})
    other = session(params={"temperature": 1, "max_tokens": 10})
    (change,) = in_force.changes(one, other)
    assert change_words(change) == "parameters messages: stop x → left to the provider; temperature 0 → 1"


def test_managed_prompts_models_and_guardrails_are_told_by_version() -> None:
    def one(version: str, model: str) -> Tape:
        tape = session(model_id=model, served_model_id=model + "-0", prompt={"id": "greet", "version": version})
        tape.add(events.Guardrail, guardrail_id="g", version=version, action="NONE")
        return tape

    found = [change_words(change) for change in in_force.changes(one("3", "a"), one("4", "b"))]
    assert found == [
        "managed prompt greet: version 3 → version 4", "model: a, served by a-0 → b, served by b-0", "guardrail g: version 3 → version 4",
    ]  # fmt: skip


def test_of_a_session_without_facts_no_environment_is_compared() -> None:
    assert not [change for change in in_force.changes(session(), imported()) if change.what == "environment"]


def test_a_request_that_cannot_be_read_leaves_the_hashes() -> None:
    one, other = session("a"), session("b")
    bundles = in_force.bundle(one), in_force.bundle(other)
    other.contents.clear()
    (change,) = in_force.changes(one, other, bundles=bundles)
    assert change.details == ()
    assert change_words(change).startswith("system prompt: hash sha256:")


def test_a_session_differs_in_nothing_from_itself() -> None:
    for name, sample in SAMPLES.items():
        assert in_force.changes(sample(), sample()) == (), name


def test_the_report_shows_the_changed_line_and_which_session_was_taken_and_why() -> None:
    good, bad = session("a\nAsk first.\nc"), session("a\nDo not ask.\nc")
    report = assemble(bad, good=good, compared=("compared with the last good session, ses_1: the same name",))
    for shown in (markdown.render(report), html.render(report)):
        assert "What changed since" in shown
        assert "Compared with the last good session, ses" in shown.replace("\\", "")
        assert "-Ask first." in shown
        assert "+Do not ask." in shown
    assert "“Ask first.” → “Do not ask.”" in next(one.answer or "" for one in report.answers if one.number == 16)
    assert report.to_json()["baseline"]["changes"][0]["details"][0]["text"] == [" a", "-Ask first.", "+Do not ask.", " c"]
    alone = markdown.render(assemble(bad, compared=("no last good session to compare with: there is no session before it",)))
    assert "No last good session to compare with: there is no session before it." in alone
