"""Recorded requests, masked by what is known now."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tachograph.host.again import Again
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy

SECRET = "tok" + "en-4f7a9c2e8b1d6053"
words = st.sampled_from(["hello", SECRET, f"key {SECRET} in a text", "", "x" * 300])
values = st.recursive(
    st.one_of(words, st.integers(), st.none(), st.booleans(), words.map(str.encode)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)), max_leaves=12,
)  # fmt: skip


def redactor() -> Redactor:
    made = Redactor(Policy.default(), key=b"k" * 32, learns=True)
    made.learn(SECRET, "env", sure=True)
    return made


@given(st.dictionaries(words, values, max_size=4))
def test_it_is_what_the_redactor_makes_of_it(request: dict[str, Any]) -> None:
    assert Again(redactor())(request) == redactor().settled(request, -1)


def test_each_text_is_looked_at_once(monkeypatch: Any) -> None:
    made = redactor()
    looked: list[Any] = []
    settled = made.settled
    monkeypatch.setattr(made, "settled", lambda value, since, tally=None: looked.append(value) or settled(value, since, tally))
    again = Again(made)
    history = [f"message {n}" for n in range(50)]
    for length in range(50):
        again({"history": history[:length]})
    assert len(looked) == len(set(looked)) == 50  # 49 messages and the name
    plain = {"history": history}
    assert again(plain) is plain
