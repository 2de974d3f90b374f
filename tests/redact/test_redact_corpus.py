"""Measured on public test cases, where they are at hand beside the work tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from redact_samples import redactor

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "secrets.jsonl"


@pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus is not at hand")
def test_the_corpus() -> None:
    red = redactor()
    secrets = masked = benign = alarms = 0
    for line in CORPUS.read_text("utf-8").splitlines():
        case = json.loads(line)
        text, secret = case["text"], case.get("secret")
        if case["class"] == "identifier":
            continue
        out = red.text(text)
        if case["is_secret"] and secret:
            secrets += 1
            covered = [range(span.start, span.end) for span in red.spans(text)]
            at = text.find(secret)
            whole = True
            while at >= 0:
                whole &= all(any(i in span for span in covered) for i in range(at, at + len(secret)))
                at = text.find(secret, at + 1)
            masked += whole
        elif case["class"] == "benign":
            benign += 1
            alarms += out != text
        assert red.text(out) == out
    assert masked / secrets > 0.78
    assert alarms <= 2
    assert benign > 400
