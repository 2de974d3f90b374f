"""What a session's steps cost: one way of reading counts, recorded or imported, for ``show``, ``ls`` and ``cost``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.exchange.claude_code_calls import usage_of
from tachograph.fleet import prices

TABLE = 'date = 2026-01-31\ncurrency = "EUR"\n[[model]]\nids = ["m"]\ninput = 2\noutput = 10\ncache_read = 1\ncache_write = 4\n'


def test_counts_are_read_alike_from_a_recording_and_from_a_transcript() -> None:
    said = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
        "service_tier": "standard",
    }
    assert prices.counted(usage_of(said)) == prices.Tokens(1, 2, 3, 4)
    assert prices.counted({"output_tokens": 2}) == prices.Tokens(0, 2, 0, 0)
    assert prices.counted({"total_tokens": 2}) is None
    assert prices.counted({}) is None


def test_show_ls_and_cost_say_the_same_of_an_imported_transcript(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    (tmp_path / "prices.toml").write_text(TABLE)
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-01-31T10:00:00.000Z", "message": {"role": "user", "content": "Hi"}},
        {
            "type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s", "timestamp": "2026-01-31T10:00:01.000Z", "requestId": "r1",
            "message": {
                "id": "m1", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 500},
            },
        },
    ]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert tacho("import", str(tmp_path / "s.jsonl")).returncode == 0
    table = ("--prices", str(tmp_path / "prices.toml"))
    shown = tacho("show", "@last", "--json", *table)
    assert shown.json()["cost"]["total"] == pytest.approx(0.007)
    assert "0.0070 EUR" in tacho("show", "@last", *table).stdout
    assert tacho("cost", "--by", "session", "--json", *table).json()["total"] == pytest.approx(0.007)
    assert tacho("ls", "--json", *table).json()[0]["cost"] == pytest.approx(0.007)
