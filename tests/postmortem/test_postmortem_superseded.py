"""Texts that were replaced, and followed all the same."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.postmortem.analyses import superseded
from tachograph.postmortem.case import open_case

TOOLS = (tool("search_manual", "Search."), tool("set_pressure", "Set."))
HITS = {
    "hits": [
        {"id": "BL-2019-4", "title": "Boiler pressure", "text": "Run the boilers of type R at 9.5 bar."},
        {"id": "BL-2025-1", "title": "Boiler pressure (replaces BL-2019-4)", "text": "After two cracks: type R runs at 6.2 bar. BL-2019-4 is withdrawn."},
    ]
}  # fmt: skip


def found(bar: float, *, result: Any = HITS, say: str = "Done.", user: str = "Set boiler R-3.", **more: Any) -> list[Any]:
    look = Call(name="search_manual", given={"query": "type R"}, result=result)
    turns = (Turn(calls=(look,)), Turn(calls=(Call(name="set_pressure", given={"boiler": "R-3", "bar": bar}),)), Turn(say=say))
    return list(superseded.run(open_case(session(*turns, user=user, tools=TOOLS, **more))))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_withdrawn_entry_of_one_result(provider: str) -> None:
    (one,) = found(9.5, provider=provider)
    assert (one.cause, one.first_event, one.confidence) == ("context", "evt_0003", 0.8)
    assert "with “9.5”" in one.statement
    assert not found(6.2, provider=provider)


def test_articles_that_a_person_gave() -> None:
    text = "Articles:\n\nKB 4410 (2019): R-30 drips. Set it to 9.5 bar.\n\nKB 4977 (2025): R-30 drips. Never 9.5, use 6.2 bar. Replaces KB 4410.\n\nSet boiler R-3."
    for words in ("Never 9.5, use", "Use"):  # also where the new one warns of the old one's value
        (one,) = found(9.5, result="nothing", user=text.replace("Never 9.5, use", words))
        assert one.first_event == "evt_0001"
    assert not found(6.2, result="nothing", user=text)


def test_one_that_is_named_as_what_was_gone_by() -> None:
    (one,) = found(7.0, say="Set, following BL-2019-4.")
    assert one.confidence == 0.65
    assert not found(7.0, say="BL-2019-4 is withdrawn, so I went by BL-2025-1.")


def test_texts_that_stand_beside_each_other_are_no_replacements() -> None:
    hits = {"hits": [{"id": "BL-1", "text": "Type R runs at 9.5 bar."}, {"id": "BL-2", "text": "Type S runs at 6.2 bar, see BL-1."}]}
    assert not found(9.5, result=hits)
