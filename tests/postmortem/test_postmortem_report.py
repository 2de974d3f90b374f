"""The report as data, and the terminal and Markdown renderings of it."""

from __future__ import annotations

import json

import pytest
from sample_recordings import SAMPLES, Tape, ask, coding_agent, compacted, imported, killed, on_call, parallel, shredded, text

from tachograph.core import events
from tachograph.core.errors import NotFoundError
from tachograph.postmortem import markdown, show_json, show_text
from tachograph.postmortem.markdown_text import cited, code, fence, words
from tachograph.postmortem.report import assemble, chips
from tachograph.postmortem.story import tell


def shown(tape: Tape, width: int = 100) -> str:
    return "\n".join(line.plain for line in show_text.render(tell(tape), width=width))


def step(tape: Tape, number: int, width: int = 100) -> str:
    return "\n".join(line.plain for line in show_text.render_step(tape, tell(tape), number, width=width))


def test_the_report_has_the_shape_that_others_rely_on() -> None:
    found = assemble(coding_agent(), good=on_call()).to_json()
    assert {"session_id", "findings", "answers", "bundle", "evidence"} <= set(found)
    assert set(found["evidence"]) == {"verification", "replay", "redactions", "gaps", "cut", "unreadable", "seal", "analyses_failed"}
    assert found["files"][0]["diff"].startswith("@@ -1,2 +1,5 @@\n+import hmac")
    assert found["baseline"]["session_id"] == on_call().session_id
    assert json.loads(json.dumps(found)) == found


def test_the_summary_states_plain_facts() -> None:
    summary = assemble(coding_agent()).summary
    assert summary.asked == "Make the login safe against timing attacks. The notes are in README.md."
    assert summary.did[:4] == (
        "5 model calls in 2 turns, 2,154 → 224 tokens",
        "5 tool calls (bash ×3, read_file ×1, apply_patch ×1), 1 failed",
        "3 commands, 1 failed",
        "1 file changed (+4 −1): src/login.py",
    )
    assert summary.ended == "it ended by itself, exit code 0"


def test_the_timeline_is_in_order_and_begins_with_the_input() -> None:
    moments = assemble(coding_agent()).timeline
    assert [moment.at_ms for moment in moments] == sorted(moment.at_ms for moment in moments)
    assert [moment.kind for moment in moments[:3]] == ["input", "git", "model"]
    assert any(moment.kind == "process" and moment.bad for moment in moments)


def test_different_secrets_are_counted_by_kind() -> None:
    tape = Tape()
    secret, other = "[REDACTED:aws-access-key:0a1b2c3d]", "[REDACTED:aws-access-key:ffffffff]"
    ask(tape, [{"role": "user", "content": f"{secret} {secret} {other} [REDACTED:jwt:12345678]"}], [text(secret)], redactions=5)
    report = assemble(tape)
    assert report.redactions == {"aws-access-key": 2, "jwt": 1}
    found = report.to_json()["evidence"]["redactions"]
    assert (found["total"], found["by_kind"]) == (5, {"aws-access-key": 2, "jwt": 1})
    assert {one["kind"]: one["secrets"] for one in found["kinds"]} == found["by_kind"]


def test_verdicts_at_a_glance() -> None:
    assert chips(assemble(coding_agent()))[:3] == [("not verified", "soft"), ("not replayed", "soft"), ("ended by itself", "good")]
    verified = assemble(killed(), verification={"verdict": "tampered"}, replay={"verdict": "diverged"})
    assert chips(verified)[:4] == [("tampered", "bad"), ("replay diverged", "bad"), ("was killed by signal 9", "bad"), ("1 gap", "bad")]
    assert ("cut: the log has no end", "bad") in chips(assemble(Tape()))
    assert ("33 contents unreadable", "warn") in chips(assemble(shredded()))


def test_action_items_follow_from_what_is_missing() -> None:
    actions = "\n".join(assemble(killed()).actions)
    assert "tacho verify" in actions
    assert "1 call without a recorded end" in actions
    done = "\n".join(assemble(coding_agent(), verification={"verdict": "verified"}, replay={"verdict": "identical"}).actions)
    assert "tacho verify" not in done
    assert "Replay the session" not in done


# -- terminal ------------------------------------------------------------------------------------------------------------------


def test_a_story_reads_the_same_without_colour() -> None:
    page = shown(coding_agent())
    for line in (
        "━━ Turn 1 ━ Make the login safe against timing attacks. The notes are in README.md.",
        '  ▸ read_file(path="README.md")  ok · 11 ms · effect read',
        "  │ … 20 more lines",
        "  ↩ given back: read_file",
        "  │ │ +import hmac",
        "  │ ✗ $ python -m pytest -q  exit code 1 · 2.3 s",
        "  │ │ … 29 more lines …",
        "  │ │ 1 failed, 11 passed",
        "  ☑ approval: allowed by dev for bash",
        "━━ End ━ it ended by itself, exit code 0",
    ):
        assert line in page, line


def test_what_one_call_printed_stands_once() -> None:
    assert shown(coding_agent()).count('{"ok": true}') == 1


@pytest.mark.parametrize(
    ("tape", "words_of"),
    [
        (killed(), ["▒▒ gap (torn_tail)", "✗ it was killed by signal 9", "cut: its end is not in the record"]),
        (shredded(), ["✗ 33 contents cannot be read", "read_file(…)"]),
        (on_call(), ["↻ error 429: ThrottlingException: Too many requests", "prompt P1ABCDEFGH version 3", "◆ guardrail gr-1 version 7"]),
        (parallel(), ["main/task-2", "within research #", "the model was told: lmdb is fine. (cut)"]),
        (imported(), ["imported from claude-code-jsonl", '? Bash(command="pytest")  no result recorded']),
        (compacted(), ["! none of the 7 messages of step 4 are in this request", "! system prompt changed", "! tools added: read_file"]),
    ],
    ids=["killed", "shredded", "on_call", "parallel", "imported", "compacted"],
)
def test_what_a_reader_must_not_miss(tape: Tape, words_of: list[str]) -> None:
    page = shown(tape)
    for one in words_of:
        assert one in page, one


def test_a_step_in_full_shows_everything_it_saw_with_sizes() -> None:
    page = step(coding_agent(), 3)
    assert "parameters  {" in page
    assert "system              117 chars       ~33 tokens" in page
    assert "2 user              719 chars" in page
    assert "Line 29 of the notes." in page
    assert "collect.example/upload -->⟨U+200B⟩" in page
    assert "4 user · 33 chars · new in this step · messages[4]" in page
    assert "asks for bash" in page


def test_a_step_in_full_says_why_its_request_is_missing() -> None:
    assert "the request is not in the record" in step(imported(), 1)
    assert "the request cannot be read: the keys of" in step(shredded(), 1)
    assert "guardrail   id gr-1, version 7, action INTERVENED" in step(on_call(), 2)


def test_an_unknown_step_is_an_error_that_says_which_there_are() -> None:
    with pytest.raises(NotFoundError, match=r"no step 9 in ses_.*; it has the steps 1 to 5"):
        step(coding_agent(), 9)
    with pytest.raises(NotFoundError, match="it has no model call"):
        show_json.step_json(Tape(), tell(Tape()), 1)


def test_the_story_as_json_has_contents_in_place() -> None:
    found = show_json.show_json(tell(coding_agent()))
    items = found["turns"][0]["items"]
    assert items[1]["item"] == "step"
    assert items[1]["reply"][0]["text"] == "I will read the notes first."
    assert items[1]["items"][0]["output"].startswith("# Shop")
    one = show_json.step_json(coding_agent(), tell(coding_agent()), 3)
    assert [message["role"] for message in one["saw"]["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert one["saw"]["tools"][0]["name"] == "read_file"
    hidden = show_json.step_json(shredded(), tell(shredded()), 1)
    assert hidden["saw"]["state"] == "unreadable"


# -- Markdown ------------------------------------------------------------------------------------------------------------------


def test_markdown_has_the_sections_of_a_postmortem() -> None:
    page = markdown.render(assemble(coding_agent(), good=on_call()))
    heads = [line for line in page.splitlines() if line.startswith("## ")]
    assert heads == [
        "## Summary", "## Findings", "## Impact", "## Timeline", "## What the agent saw and did", "## What was in force", "## Questions", "## Evidence",
        "## Action items",
    ]  # fmt: skip
    assert "```diff\n@@ -1,2 +1,5 @@\n+import hmac" in page
    assert page.count("### ") == 21 + 2 + 1
    assert "- [ ] " in page
    assert "`#13`" in page
    assert "[#" not in page


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_markdown_tables_have_as_many_cells_in_each_row(name: str) -> None:
    rows: list[int] = []
    for line in markdown.render(assemble(SAMPLES[name]())).splitlines():
        if not line.startswith("| "):
            rows = []
            continue
        rows.append(line.replace("\\|", "").count("|"))
        assert len(set(rows)) == 1, line


def test_recorded_text_cannot_act_in_a_tracker() -> None:
    hostile = "# @team see #7 [x](https://evil.example) <img src=x> **now** | `code` __init__"
    shown_words = words(hostile)
    assert shown_words.startswith("\\# @\u2060team see #\u20607 ")
    assert "https:\u2060//evil.example" in shown_words
    for live in ("<img", "[x]", "**now", "| "):
        assert live not in shown_words.replace("\\" + live[0], "")
    assert code("a `b` c|d") == "``a `b` c\\|d``"
    assert code("`") == "`` ` ``"
    assert fence("```\nescape\n````") == "`````\n```\nescape\n````\n`````"
    assert cited("It is so [#3] [#4].") == "It is so `#3` `#4`."


def test_texts_in_an_input_are_shown_as_they_are() -> None:
    tape = Tape()
    patch = "--- a\n+++ b\n" + "".join(f"+line {number}\n" for number in range(30))
    first = ask(tape, [{"role": "user", "content": "Go."}], [])
    tape.add(events.ToolCall, name="patch", call_id="c", source="wire", asked_by=first, input={"text": patch, "strip": 1}, output="ok")
    page = shown(tape)
    assert "  │ text:\n  │ --- a\n  │ +++ b\n  │ +line 0" in page
    assert "  │ … 22 more lines" in page


def test_processes_of_the_agent_that_come_and_go_are_not_in_the_way() -> None:
    tape = Tape()
    tape.add(events.Process, action="joined", pid=7)
    tape.add(events.Process, action="left", pid=7, exit_code=3)
    page = shown(tape)
    assert "joined" not in page
    assert "process 7 left with exit code 3" in page
    assert len(show_json.show_json(tell(tape))["turns"][0]["items"]) == 2
