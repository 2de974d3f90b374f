"""What acts and what only looks; telling words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import coding_agent

from tachograph.postmortem.case import open_case
from tachograph.postmortem.language.terms import identifiers, terms, values, words
from tachograph.postmortem.meaning.effects import acts, effects
from tachograph.postmortem.meaning.once import once


@pytest.mark.parametrize(
    "name", ["send_invoice", "createTicket", "issue-refund", "order_create", "DeleteUser", "kb__update_page", "rollback"]
)
def test_names_that_act(name: str) -> None:
    assert acts(name)


@pytest.mark.parametrize("name", ["get_order", "list_send_jobs", "lookupCustomer", "search-orders", "weather", "check_open_tickets", ""])
def test_names_that_only_look(name: str) -> None:
    assert not acts(name)


def test_terms_are_the_same_however_they_are_written() -> None:
    assert terms("1,200.00 EUR") == terms("1200 eur")
    assert identifiers("Order A-4471 of ana@example.org, see /srv/app/cfg.yaml and https://x.test/a") == {
        "a-4471", "ana@example.org", "/srv/app/cfg.yaml", "https://x.test/a",
    }  # fmt: skip
    assert identifiers("the 12 large orders of well-known people") == frozenset()
    assert words("The refund of the order") == {"refund", "order"}
    assert list(values({"a": [{"b": "x"}, 3, True, None, " "]})) == [("a[0].b", "x"), ("a[1]", "3")]


@given(st.text())
def test_any_text_has_terms_in_linear_time_and_none_is_empty(text: str) -> None:
    assert all(terms(text)) or not terms(text)
    identifiers(text)


def test_what_several_analyses_ask_is_found_out_once_for_each_case() -> None:
    asked = []
    count = once(lambda case: asked.append(case) or len(asked))
    one, other = open_case(coding_agent()), open_case(coding_agent())
    assert [count(one), count(one), count(other), count(one)] == [1, 1, 2, 1]
    assert effects(one) is effects(one)
    assert one == open_case(one.recording)  # what is kept makes it no other case
