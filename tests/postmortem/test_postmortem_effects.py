"""What acts and what only looks; telling words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import coding_agent
from telling_tapes import Session

from tachograph.core import events
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


@pytest.mark.parametrize(
    ("tool", "method", "is_one"),
    [
        ("patient_file", "GET", False),  # a thing, and it was fetched
        ("guest_book", "GET", False),
        ("patient_file", "POST", True),
        ("file_patient", "GET", True),  # a deed: some services take one by GET
        ("invoice_cancel", "GET", True),
        ("table_book", None, True),  # nobody knows
    ],
)
def test_a_name_of_a_thing_is_no_deed_where_it_was_fetched(tool: str, method: str | None, is_one: bool) -> None:
    session = Session("openai").user("Look at A-3 for me.").model("", (tool, {"id": "A-3"}))
    if method is not None:
        session.tape.tick(5)
        session.tape.add(
            events.Http, method=method, host="api.example", status=200, lane="main", outcome="ok", duration_ms=4.0,
            request={"method": method, "url": "https://api.example/things/A-3", "headers": {}}, wire={"data": "{}"},
        )  # fmt: skip
    session.gives({"id": "A-3", "state": "open"}).model("It is open.")
    found = [effect.run.name for effect in effects(open_case(session.tape)) if effect.run.kind == "tool"]
    assert found == ([tool] if is_one else [])
