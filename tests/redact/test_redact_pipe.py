"""A text in pieces is redacted as the whole is, in bounded memory."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import AWS, GITHUB, PASSWORD, PEM, SHAPED, redactor, trace

from tachograph.redact.pipe import Pipe

TEXT = f"first line\nexport TOKEN={GITHUB}\n{PEM}\npassword: {PASSWORD}\nthe end, {AWS}\nno line end"


def through(pieces: list[str], **how: object) -> str:
    pipe = Pipe(redactor(), **how)  # type: ignore[arg-type]
    return "".join([*map(pipe.feed, pieces), pipe.finish()])


@given(st.lists(st.integers(0, len(TEXT)), max_size=6))
def test_any_split_gives_the_redaction_of_the_whole(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[a:b] for a, b in itertools.pairwise(bounds)]
    assert through(pieces) == redactor().text(TEXT)


@given(st.integers(1, 60), st.integers(150, 2000))
def test_live_and_long_texts_let_nothing_out(size: int, hold: int) -> None:
    pieces = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
    for out in (through(pieces, live=True), through(pieces, hold=hold, ahead=400)):
        for secret in (*SHAPED, PASSWORD):
            if secret in TEXT:
                assert trace(secret, out, 12 if secret is PEM else 8) is None
        assert out.startswith("first line\n")
        assert out.endswith("no line end")


def test_a_long_text_is_the_same_as_a_short_one() -> None:
    text = "".join(f"line {n} of it\npassword={PASSWORD}{n}\n" for n in range(400))
    assert through([text], hold=1000, ahead=300) == redactor().text(text)


def test_live_hands_out_lines_and_holds_a_key_block() -> None:
    pipe = Pipe(redactor(), live=True)
    assert pipe.feed("one\ntw") == "one\n"
    assert pipe.feed("o\n") == "two\n"
    head, body, *rest = PEM.splitlines(keepends=True)
    assert pipe.feed(head) == ""
    assert pipe.feed(body) == ""
    out = pipe.feed("".join(rest) + "\n")
    assert out.startswith("[REDACTED:private-key:")
    assert out.endswith("]\n")
    assert pipe.feed("password:\n") == ""
    assert pipe.feed("  next\n") == "password:\n  next\n"
    assert pipe.tally.total() == 1


def test_an_opener_that_never_ends_does_not_hold_for_ever() -> None:
    pipe = Pipe(redactor(), live=True, ahead=500)
    pipe.feed(PEM.splitlines(keepends=True)[0])
    out = "".join(pipe.feed("a line of prose that is no key\n") for _ in range(50))
    assert "prose" in out
    assert pipe._held < 2000


@pytest.mark.parametrize("live", [False, True])
def test_memory_is_bounded(live: bool) -> None:
    pipe = Pipe(redactor(), live=live, hold=4000, ahead=1000)
    for _ in range(200):
        pipe.feed("no line end in this " * 10)
        assert pipe._held <= 4000
    assert pipe.finish()


def test_json_over_several_pieces_is_json() -> None:
    text = json.dumps({"password": PASSWORD, "next_token": "abc", "n": [1, 2]}, indent=1)
    out = through([text[:9], text[9:]])
    assert trace(PASSWORD, out) is None
    assert json.loads(out)["next_token"] == "abc"
