from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from redact_samples import GITHUB, KEY, PASSWORD, redactor, trace

from tachograph.redact.placeholder import PLACEHOLDER, fingerprint, fingerprints, neutral, origin, placeholder

MARK = placeholder("password", KEY, PASSWORD)


def test_where_a_placeholder_comes_from() -> None:
    told = redactor().text(f"password={PASSWORD}")
    before = set(fingerprints(told))
    assert before == {fingerprint(KEY, PASSWORD)}
    answer = f"I use {MARK}, and [REDACTED:password:00000000] too"
    assert redactor().text(answer) == answer
    assert [origin(digits, before=before, redactions=0) for digits in fingerprints(answer)] == ["copied", "invented"]
    said = redactor().text(f"it is {GITHUB}")
    assert [origin(digits, before=before, redactions=1) for digits in fingerprints(said)] == ["made"]
    assert fingerprints("nothing") == []


@given(st.text(min_size=1, max_size=60))
def test_a_placeholder_tells_nothing_of_its_value(value: str) -> None:
    mark = placeholder("secret", KEY, value)
    assert PLACEHOLDER.fullmatch(mark)
    assert neutral(mark) == f"[REDACTED:{fingerprint(KEY, value)}]"
    assert len(value) < 8 or trace(value, mark) is None or value in "[REDACTED:secret:"
    assert fingerprint(KEY, value) != fingerprint(b"another key", value)
