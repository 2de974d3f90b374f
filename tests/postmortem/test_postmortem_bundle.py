"""What was in force, and the difference between two sessions."""

from __future__ import annotations

import json

from sample_recordings import ARN, Tape, ask, coding_agent, compacted, imported, on_call, start, text

from tachograph.core import events
from tachograph.postmortem.bundle import bundle, difference


def test_a_recorded_session_shows_everything_that_was_in_force() -> None:
    found = bundle(coding_agent())
    assert found.agent == "shop-fixer"
    assert found.argv == "python agent.py --task login"
    assert found.repository == {
        "url": "https://git.example/acme/shop", "sha": "4e1243bd22c66e76c2ba9eddc1f91394e57f9f83", "branch": "main", "dirty": False,
    }  # fmt: skip
    assert [fact.key for fact in found.tools] == ["read_file", "apply_patch", "bash"]
    assert found.parameters[0].value == {
        "set": {"max_tokens": 1024, "temperature": 0}, "defaults": ["top_p", "top_k", "seed", "stop_sequences", "tool_choice"],
    }  # fmt: skip
    assert found.parameters[0].count == 5
    assert (found.python, found.system, found.policy) == ("cpython 3.12.4", "Linux 6.8 x86_64", "policy-v1:7d1f")
    assert list(found.packages)[:2] == ["anthropic", "httpx"]


def test_managed_prompts_and_guardrails_with_versions_and_verdicts() -> None:
    found = bundle(on_call())
    assert (found.prompts[0].key, found.prompts[0].value) == (f"managed prompt {ARN.rsplit(':', 1)[0]}", {"version": "3"})
    assert found.models[0].value == {"provider": "bedrock", "requested": ARN, "served": "anthropic.claude-sonnet-4-20250514-v1:0"}
    assert found.guardrails[0].value == {"version": "7", "verdicts": {"INTERVENED": 1, "NONE": 1, "no verdict": 1}}


def test_each_system_text_is_a_fact_of_its_own() -> None:
    prompts = bundle(compacted()).prompts
    assert [fact.count for fact in prompts] == [5, 2]
    assert len({fact.value["hash"] for fact in prompts}) == 2


def test_a_transcript_holds_no_parameters_and_none_are_made_up() -> None:
    found = bundle(imported())
    assert (found.parameters, found.prompts, found.packages, found.facts_recorded) == ((), (), {}, False)
    assert found.source == "claude-code-jsonl"
    assert found.models[0].value["served"] is None


def test_a_model_that_never_answered_is_still_listed() -> None:
    tape = Tape()
    ask(tape, [{"role": "user", "content": "?"}], [], outcome="failed", served_model_id=None)
    assert bundle(tape).models[0].value["served"] is None


def test_the_difference_names_exactly_what_changed() -> None:
    def session(temperature: float, package: str, system: str) -> Tape:
        tape = Tape()
        start(tape, facts={"argv": ["a"], "packages": {"anthropic": package}})
        ask(tape, [{"role": "user", "content": "?"}], [text("!")], system=system, params={"temperature": temperature})
        return tape

    good, bad = bundle(session(0, "0.80.0", "Be careful.")), bundle(session(1, "0.81.0", "Be quick."))
    changes = difference(good, bad)
    assert [(change.what, change.key) for change in changes] == [
        ("prompts", "system text"),
        ("parameters", "messages"),
        ("packages", "anthropic"),
    ]
    assert (changes[2].before, changes[2].after) == ("0.80.0", "0.81.0")
    assert changes[1].after["set"] == {"temperature": 1}
    assert difference(good, good) == ()


def test_verdicts_and_counts_are_no_difference() -> None:
    one, other = Tape(), Tape()
    one.add(events.Guardrail, guardrail_id="g", version="1", action="NONE")
    for action in ("NONE", "INTERVENED"):
        other.add(events.Guardrail, guardrail_id="g", version="1", action=action)
    assert difference(bundle(one), bundle(other)) == ()


def test_a_bundle_is_json() -> None:
    assert json.loads(json.dumps(bundle(on_call()).to_json()))["guardrails"][0]["value"]["version"] == "7"
