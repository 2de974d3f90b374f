"""The adapter to Presidio, against something that answers as its engine does: the real one needs a model of hundreds of megabytes."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from redact_samples import GITHUB, KEY

from tachograph.core.errors import UsageError
from tachograph.redact.engine import Redactor
from tachograph.redact.finders import presidio
from tachograph.redact.policy import Policy


class Engine:
    """Takes two capitalised words for a person."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def analyze(self, text: str, language: str, entities: list[str], score_threshold: float) -> list[Any]:
        assert (language, score_threshold) == ("en", presidio.LEAST)
        self.sizes.append(len(text))
        found = re.finditer(r"[A-Z][a-z]+ [A-Z][a-z]+", text) if "PERSON" in entities else ()
        return [SimpleNamespace(start=m.start(), end=m.end(), entity_type="PERSON", score=0.85) for m in found]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name == "presidio_analyzer" else real(name))
    monkeypatch.setitem(sys.modules, "presidio_analyzer", SimpleNamespace(AnalyzerEngine=Engine))
    presidio.analyzer.cache_clear()


def test_a_person_is_masked_under_a_policy_that_asks(installed: None) -> None:
    policy = Policy.of({"pii": ["presidio:PERSON"]})
    red = Redactor(policy, key=KEY)
    out = red.text(f"ask Jane Roe about {GITHUB}.")
    assert "Jane" not in out
    assert re.fullmatch(r"ask \[REDACTED:person:[0-9a-f]{8}\] about \[REDACTED:github-token:[0-9a-f]{8}\]\.", out)
    assert red.text(out) == out
    assert "Jane Roe" in Redactor(Policy.default(), key=KEY).text("Jane Roe")
    assert policy.fingerprint != Policy.default().fingerprint


def test_a_long_text_is_taken_in_parts_that_end_with_a_word() -> None:
    engine = Engine()
    text = "Jane Roe said\n" * 20_000
    found = list(presidio.find(text, ["presidio:PERSON"], engine))
    assert len(found) == 20_000
    assert all(text[each.start : each.end] == "Jane Roe" for each in found)
    assert len(engine.sizes) > 2
    assert max(engine.sizes) <= 100_000
    assert list(presidio.find("x" * 250_000, ["presidio:PERSON"], engine)) == []


def test_without_presidio_a_policy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'tachograph\[presidio\]'"):
        Policy.of({"pii": ["presidio:PERSON"]})
    with pytest.raises(UsageError, match="presidio:PERSON"):
        Policy.of({"pii": ["presidio:person"]})
