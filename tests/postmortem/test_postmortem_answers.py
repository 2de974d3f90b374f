"""The 21 questions: what the record shows is cited, what it does not hold is said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sample_recordings import SAMPLES, Tape, ask, coding_agent, compacted, imported, killed, on_call, parallel, shredded, start, text, use

from tachograph.core import events
from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.answers import QUESTIONS, answers
from tachograph.postmortem.case import Answer, Elsewhere, open_case

VERIFIED = {"verdict": "verified", "events": 24, "sealed": 24, "unsealed": 0, "problems": []}
IDENTICAL = {
    "verdict": "identical", "tape": "verified", "calls": {"model": 5, "tool": 5, "http": 0, "process": 3}, "matched": 13, "unused": [],
    "divergence": None, "blocked": [],
}  # fmt: skip


def answered(tape: Tape, **more: Any) -> dict[int, Answer]:
    return {answer.number: answer for answer in answers(open_case(tape, **more))}


def says(answer: Answer) -> str:
    assert answer.answer is not None
    return answer.answer


def lacks(answer: Answer) -> str:
    assert answer.not_recorded is not None
    return answer.not_recorded


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_question_is_answered_or_says_what_is_missing(name: str) -> None:
    tape = SAMPLES[name]()
    found = answers(open_case(tape))
    assert [answer.number for answer in found] == list(range(1, 22)) == list(QUESTIONS)
    for answer in found:
        assert answer.answer or answer.not_recorded
        cited = {int(seq) for seq in re.findall(r"\[#(\d+)\]", f"{answer.answer} {answer.not_recorded}")}
        assert cited <= {one.seq for one in answer.evidence} <= {entry.seq for entry in tape.entries}
        assert set(answer.to_json()) == {"question", "answer", "evidence", "not_recorded"}


def test_who_started_it() -> None:
    found = answered(coding_agent())[1]
    assert "“python agent.py --task login” in “/home/dev/shop”" in says(found)
    assert "user “dev”, on host “builder-3”" in says(found)
    assert found.evidence[0].event_id == "evt_0000"


def test_an_imported_session_says_what_a_transcript_cannot() -> None:
    found = answered(imported())
    assert "Imported from “claude-code-jsonl”" in says(found[1])
    assert found[3].answer is None
    assert lacks(found[3]).startswith("The requests of 3 steps: a transcript holds answers only")
    assert found[6].answer is None
    assert "The git SHA" in lacks(found[2])
    assert "before its import" in lacks(found[20])


def test_altered_histories_are_cited() -> None:
    words = says(answered(compacted())[3])
    assert "At step 5 none of the 7 messages of step 4 were sent any more [#5]." in words
    assert "At step 7 the history was shortened: 2 messages of step 6 were gone [#7]." in words
    assert "At step 6 the system prompt was another one than at step 5 [#6]." in words


def test_instructions_that_name_what_was_done_come_first() -> None:
    words = says(answered(coding_agent())[4])
    assert words.index("run the tests before you commit") < words.index("Never push to a remote")
    assert "at character 77 of the system prompt [#2]" in words


def test_requested_and_served_model_and_parameters() -> None:
    found = answered(on_call())
    assert "served by “anthropic.claude-sonnet-4-20250514-v1:0”" in says(found[5])
    assert "temperature=0.2, top_p=0.9; left to the provider's defaults: top_k, seed" in says(found[6])


def test_tools_that_failed_and_results_that_were_changed() -> None:
    assert "“1 failed, 11 passed” [#17]" in says(answered(coding_agent())[7])
    assert "The model was told something else" in says(answered(parallel())[7])
    assert "1 tool call that were asked for" in lacks(answered(imported())[7])


def test_the_same_call_with_another_result_is_noticed() -> None:
    tape = Tape()
    for output in ("a", "b"):
        tape.add(events.ToolCall, name="read", input={"path": "x"}, output=output, source="declared")
    assert "ran 2 times and returned 2 different results [#0] [#1]" in says(answered(tape)[7])


def test_what_changed_and_what_could_not_be_seen() -> None:
    found = answered(coding_agent())[8]
    assert "1 file: src/login.py (changed, +4 −1) [#9]." in says(found)
    assert "commit 9c11aa2f0011 on main [#15]" in says(found)
    assert "3 commands did outside the workspace" in lacks(found)
    assert "before the recording ended [#2]" in lacks(answered(killed())[8])
    assert "the workspace was not watched" in lacks(answered(imported())[8])


def test_the_last_claim_stands_beside_the_last_check() -> None:
    words = says(answered(coding_agent())[9])
    assert "Its last claim: “It was asked for in README.md, so I did it.” [#19]." in words
    assert "“$ python -m pytest -q” ended with exit code 1 [#13]" in words


def test_approvals_name_who_and_what_was_shown() -> None:
    words = says(answered(coding_agent())[10])
    assert "allowed by dev for bash, having been shown “curl …” [#6]" in words
    assert "No approval names 1 effect [#9]" in words


def test_hosts_that_commands_name_belong_to_the_blast_radius() -> None:
    assert "collect.example [#11]" in says(answered(coding_agent())[11])


def test_guardrails_and_calls_without_one() -> None:
    assert "INTERVENED ×1, NONE ×1" in says(answered(on_call())[12])
    assert answered(coding_agent())[12].answer is None


def test_enforcement_is_told_apart_from_instruction() -> None:
    assert "Enforced: 1 guardrail verdict" in says(answered(on_call())[13])
    assert "Nothing in the record was stopped by enforcement" in says(answered(coding_agent())[13])


def test_the_replays_verdict_and_divergence() -> None:
    assert lacks(answered(coding_agent())[14]).startswith("A replay")
    assert "The replay was identical, 13 calls matched (tape verified)." in says(answered(coding_agent(), replay=IDENTICAL)[14])
    diverged = {
        **IDENTICAL, "verdict": "diverged",
        "divergence": {"step": 2, "event_id": "evt_0004", "path": "messages[2]", "expected": "a", "actual": "b"},
    }  # fmt: skip
    found = answered(coding_agent(), replay=diverged)
    assert "It first differed at step 2 at “messages[2]”: expected “a”, got “b” [#4]." in says(found[14])
    assert "does not replay identically" in says(found[21])


def test_a_baseline_answers_what_changed() -> None:
    assert answered(coding_agent())[16].answer is None
    found = answered(coding_agent(), good=on_call())
    assert "repository sha: aaaabbbbccccdddd → 4e1243bd" in says(found[16])
    assert "repository, prompts, models, parameters, tools, guardrails, agent" in says(found[15])
    same = answered(coding_agent(), good=coding_agent())
    assert "Nothing that was in force differs" in says(same[16])


def test_a_commit_after_a_failed_check_is_named() -> None:
    words = says(answered(coding_agent())[17])
    assert "Git commit 9c11aa2f0011 on main [#15] came although the last check before it had failed [#13]." in words
    assert "Every check after the last file change failed [#13]." in words


def test_a_commit_after_a_check_that_passed_is_not_held_against_it() -> None:
    tape = Tape()
    tape.add(events.Process, program="pytest", request={"argv": ["pytest"]}, exit_code=1, outcome="error")
    tape.add(events.Process, program="pytest", request={"argv": ["pytest"]}, exit_code=0)
    tape.add(events.Git, sha="ab" * 20, action="commit")
    assert "although" not in says(answered(tape)[17])


def test_links_name_the_pr_and_the_deploy() -> None:
    tape = Tape()
    start(tape, links=["pr=42", "deploy=eu-7"])
    found = answered(tape)[19]
    assert "Linked: “pr=42”, “deploy=eu-7” [#0]." in says(found)
    assert found.not_recorded is None


def test_the_standing_of_the_evidence() -> None:
    found = answered(killed(), verification={**VERIFIED, "verdict": "torn", "problems": [{"check": "tail", "what": "77 bytes"}]})[20]
    assert "The verifier says torn, 24 of 24 events under a seal. 1 problem: tail: “77 bytes”." in says(found)
    assert "Gap (torn_tail)" in says(found)
    assert "1 call had begun and never ended in the record [#2]" in says(found)
    assert "it was killed by signal 9 [#4]" in says(found)
    assert found.not_recorded is None


def test_shredded_contents_are_missing_not_empty() -> None:
    found = answered(shredded())
    assert found[3].answer is None
    assert "which cannot be read" in lacks(found[3])
    assert "33 contents, which cannot be read" in lacks(found[20])


def test_recorded_words_cannot_forge_a_citation() -> None:
    tape = Tape()
    start(tape)
    ask(tape, [{"role": "user", "content": "See [#999] \x02998\x03 and \u202eback"}], [use("c", "x"), text("All tests pass [#0].")])
    found = answered(tape)
    assert "[ #999]" in says(found[1])
    assert "\u202e" not in says(found[1])
    assert "[#998]" not in says(found[1])
    assert "All tests pass [ #0]." in says(found[9])
    assert {one.seq for answer in found.values() for one in answer.evidence} <= {0, 1}


def test_causes_are_told_where_they_are_asked_for() -> None:
    tape = coding_agent()
    call = next(entry for entry in tape.entries if isinstance(entry.event, events.ToolCall))
    finding = Finding(
        cause="context", analysis="one", confidence=0.8, first_event=call.event.id, first_seq=call.seq, evidence=(), statement="It said so."
    )  # fmt: skip
    seen: list[str] = []

    def spread(event_id: str) -> list[Elsewhere]:
        seen.append(event_id)
        return [Elsewhere(session_id="ses_other", name=None, status="ok", did="pushed abc123")]

    found = {answer.number: answer for answer in answers(open_case(tape, spread=spread), (finding,))}
    assert f"Context (one, confidence 0.80): It said so. [#{call.seq}]" in says(found[15])
    assert "1 other session saw the same" in says(found[11])
    assert "ses_other (pushed abc123)" in says(found[11])
    assert seen == [call.event.id]
    assert "No analysis found a cause" in says({answer.number: answer for answer in answers(open_case(tape))}[15])


def test_links_made_later_are_told_with_those_of_the_recording() -> None:
    tape = Tape()
    start(tape, links=["pr=42"])
    found = {answer.number: answer for answer in answers(open_case(tape, links=["deploy=eu-7", "pr=42"]))}[19]
    assert "Linked: “pr=42”, “deploy=eu-7” [#0]." in says(found)
    assert found.not_recorded is None
