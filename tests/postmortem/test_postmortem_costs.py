"""Money and tokens in the story: by step and in all, as counted by the provider; what is estimated has a ``~``."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len
from sample_recordings import SAMPLES, Tape, ask, coding_agent, start, text

from tachograph.postmortem import show_json, show_text
from tachograph.postmortem.costs import Costs
from tachograph.postmortem.story import tell
from tachograph.postmortem.wording import money, total_usage, usage


def priced(**more: Any) -> Costs:
    return Costs(**({"currency": "EUR", "where": "ours", "date": "2026-01-31"} | more))


def shown(tape: Tape, costs: Costs | None, width: int = 100) -> list[str]:
    return [line.plain for line in show_text.render(tell(tape), width=width, costs=costs)]


def test_each_step_and_the_whole_say_what_they_cost() -> None:
    lines = shown(coding_agent(), priced(steps={1: 0.5, 3: 1.25}), 120)
    steps = [line for line in lines if line.startswith("Step ")]
    assert ["EUR" in line for line in steps] == [True, False, True, False, False]
    assert "0.5000 EUR" in steps[0]
    assert any("tokens · 1.75 EUR ·" in line for line in lines)


def test_a_model_without_a_price_is_named_and_nothing_is_made_up_for_it() -> None:
    assert any(
        "1.00 EUR and more: no price is known for odd" in line for line in shown(coding_agent(), priced(steps={1: 1.0}, unknown=("odd",)))
    )
    assert any("cost unknown: no price is known for odd" in line for line in shown(coding_agent(), priced(unknown=("odd",))))
    assert not any("EUR" in line or "cost" in line for line in shown(coding_agent(), priced()))


def test_json_has_the_same() -> None:
    found = show_json.show_json(tell(coding_agent()), costs=priced(steps={2: 0.25}, unknown=("odd",)))
    assert found["cost"] == {"total": 0.25, "currency": "EUR", "unknown": ["odd"], "prices": {"where": "ours", "date": "2026-01-31"}}
    steps = [item for turn in found["turns"] for item in turn["items"] if item["item"] == "step"]
    assert [step["cost"] for step in steps] == [None, 0.25, None, None, None]


def one(provider: str = "anthropic", **counts: int) -> Tape:
    tape = Tape()
    start(tape)
    ask(tape, [{"role": "user", "content": "x" * 300}], [text("!")], system="y" * 100, provider=provider, usage=counts)
    return tape


def step_lines(tape: Tape) -> list[str]:
    return [line.plain for line in show_text.render_step(tape, tell(tape), 1)]


def test_the_tokens_of_a_request_are_those_that_the_provider_counted_and_its_parts_are_estimates_of_them() -> None:
    lines = step_lines(one(input_tokens=600, cache_read_tokens=200, output_tokens=9))
    assert any(line.startswith("━━ It saw · 400 characters, 800 tokens") for line in lines)
    assert [line.split("~")[1].split()[0] for line in lines if "chars  " in line] == ["200", "600"]
    assert any("the provider counted input 600, cache read 200, output 9" in line for line in lines)


def test_where_nothing_was_counted_all_are_estimates() -> None:
    lines = step_lines(one())
    assert any(line.startswith("━━ It saw · 400 characters, ~100 tokens") for line in lines)
    assert [line.split("~")[1].split()[0] for line in lines if "chars  " in line] == ["25", "75"]


def test_what_came_from_a_cache_is_told_alike_whatever_a_provider_calls_input() -> None:
    assert usage({"input_tokens": 400, "cache_read_tokens": 800, "output_tokens": 5}, "anthropic") == "400 (+800 cached) → 5 tokens"
    assert usage({"input_tokens": 1200, "cache_read_tokens": 800, "output_tokens": 5}, "openai") == "400 (+800 cached) → 5 tokens"
    assert total_usage(tell(one("openai", input_tokens=1200, cache_read_tokens=800)).steps) == {
        "input_tokens": 400,
        "cache_read_tokens": 800,
    }


@pytest.mark.parametrize(
    ("cost", "words"), [(0.0, "0.00 X"), (0.00002, "0.00002 X"), (1e-9, "<0.0000001 X"), (0.0123, "0.0123 X"), (1234.5, "1,234.50 X")]
)
def test_small_sums_keep_the_digits_that_matter(cost: float, words: str) -> None:
    assert money(cost, "X") == words


@pytest.mark.parametrize("name", sorted(SAMPLES))
@pytest.mark.parametrize("width", [40, 60, 120])
def test_no_fact_is_broken_or_cut(name: str, width: int) -> None:
    tape = SAMPLES[name]()
    story = tell(tape)
    costs = priced(steps={step.number: 0.0123 for step in story.steps})
    pages = [show_text.render(story, width=width, costs=costs)]
    pages += [show_text.render_step(tape, story, step.number, width=width, costs=costs) for step in story.steps]
    for page in pages:
        lines = [line.plain for line in page]
        assert all(cell_len(line) <= width for line in lines)
        assert "".join(lines).count("0.0123 EUR") >= 1 or not story.steps
        assert not any(line.endswith((" ·", "0.0123")) for line in lines)
    assert any(f"{story.redactions} redacted" in line.plain for line in pages[0])
