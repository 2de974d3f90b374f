from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tachograph.core.errors import UsageError
from tachograph.fleet import prices
from tachograph.fleet.prices import Prices, Tokens

DAY = datetime.date(2026, 9, 1)
TABLE = """
date = 2026-01-31
currency = "EUR"
sources = ["https://example.org/prices"]

[[model]]
ids = ["m", "m-2026"]
input = 2.0
output = 10
cache_read = 0.5
cache_write = 4.0

[[model]]
ids = ["changed"]
until = 2026-09-01
input = 1.0
output = 1.0

[[model]]
ids = ["changed"]
from = 2026-09-01
input = 3.0
output = 3.0
"""


@pytest.fixture
def table(tmp_path: Path) -> Prices:
    (tmp_path / "prices.toml").write_text(TABLE)
    return prices.load(str(tmp_path / "prices.toml"))


def test_each_kind_of_token_has_its_price(table: Prices) -> None:
    tokens = Tokens(input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=500_000)
    assert table.cost("anthropic", ("m",), DAY, tokens) == pytest.approx(2 + 1 + 1 + 2)
    assert (table.date, table.currency) == ("2026-01-31", "EUR")


def test_where_a_provider_counts_what_was_cached_as_input_too_it_is_paid_once(table: Prices) -> None:
    tokens = Tokens(input=1_000_000, cache_read=400_000)
    assert table.cost("openai", ("m",), DAY, tokens) == pytest.approx(0.6 * 2 + 0.4 * 0.5)
    assert table.cost("anthropic", ("m",), DAY, tokens) == pytest.approx(2 + 0.4 * 0.5)


def test_an_unknown_model_is_unknown_and_never_guessed(table: Prices) -> None:
    for name in ("m-2027", "M", "", None, "m ", "xm"):
        assert table.cost("anthropic", (name,), DAY, Tokens(input=1)) is None
    assert table.cost("anthropic", ("served-long-name", "m"), DAY, Tokens(input=1)) is not None


def test_a_kind_without_a_price_is_unknown_only_where_there_are_such_tokens(table: Prices) -> None:
    assert table.cost("", ("changed",), DAY, Tokens(input=1, cache_read=1)) is None
    assert table.cost("", ("changed",), DAY, Tokens(input=1)) is not None


def test_prices_change_by_the_day(table: Prices) -> None:
    million = Tokens(input=1_000_000)
    assert table.cost("", ("changed",), datetime.date(2026, 8, 31), million) == 1.0
    assert table.cost("", ("changed",), DAY, million) == 3.0
    assert table.cost("", ("changed",), None, million) is None
    assert table.cost("", ("m",), None, million) == 2.0


def test_the_table_of_the_package_is_dated_and_says_where_it_is_from() -> None:
    table = prices.load()
    assert datetime.date.fromisoformat(table.date) >= datetime.date(2026, 1, 1)
    assert all(source.startswith("https://") for source in table.sources)
    assert len(table.sources) >= 2
    assert table.cost("anthropic", ("claude-sonnet-4-5-20250929",), DAY, Tokens(input=1_000_000, output=1_000_000)) == 18.0
    for name, entries in table.entries.items():
        for entry in entries:
            assert set(entry.prices) >= {"input", "output"}, name
            assert entry.prices["output"] >= entry.prices["input"] > entry.prices.get("cache_read", 0.0), name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no date"), ("date = 2026-01-31\nper = 0", "per"), ("x", ""), ("date = 2026-01-31\n[[model]]\ninput=1", "entry 1 has no ids"),
        ('date = 2026-01-31\n[[model]]\nids=["a"]\ninput="free"', "no sum of money"), ('date = 2026-01-31\n[[model]]\nids=["a"]\ninput=-1', "no sum of money"),
        ('date = 2026-01-31\n[[model]]\nids=["a"]\nfrom="May"', "must be days"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(UsageError, match=why) as told:
        prices.load(str(tmp_path / "p.toml"))
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="--prices"):
        prices.load("/nowhere/prices.toml")
