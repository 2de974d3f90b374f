"""Texts are taken apart piece by piece, and by quick looks; what is found is what the whole patterns find."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.postmortem import markup
from tachograph.postmortem.language import hidden, terms, tongues
from tachograph.postmortem.meaning import directives
from tachograph.postmortem.sources import read_by
from tachograph.postmortem.values import visible

_WORDS = [
    "Order", "A-12", "1,200.00", "a@b.example", "https://x.example/a?b=1.", "/srv/app.py", "~/x/y", "src/a_b.py:12", "-5%", "don't", "NOT", "important",
    "make", "sure", "off", "limits", "off-limits", "at", "most", "is", "expected", "to", "<!--", "x" * 24, "\u200b", "\u2028", "\x1c", "\x85", "\u00a0",
    ";", ".", "send", "Delete", "it", "3.Send", "straße", "ſhall", "has", "have", "keep", "away", "no", "mention", "client", "İs", "\n", "\t", "(pay", "RESTART",
]  # fmt: skip
_TEXTS = st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=6)), max_size=12).flatmap(
    lambda words: st.sampled_from(["", " ", "\n", "\u3000"]).map(lambda between: between.join(words))
)


@given(_TEXTS)
def test_the_terms_of_the_pieces_are_those_of_the_text(text: str) -> None:
    found = [terms._normal(term) for term in terms._TERM.findall(text)]
    assert terms.terms(text) == tuple(found)
    assert terms.identifiers(text) == {term for term in found if terms.names_one(term)}
    assert terms.words(text) == {term for term in found if term not in terms._COMMON and len(term) > 1}


def test_pieces_are_remembered_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_MOST_PIECES", 3)
    asked: list[str] = []
    pieces = terms.Pieces(lambda piece: asked.append(piece) or len(piece))  # type: ignore[func-returns-value]
    assert list(pieces.of("a bb a bb " + "c" * 100)) == [1, 2, 1, 2, 100]
    assert asked == ["a", "bb", "c" * 100]
    assert set(pieces) == {"a", "bb"}
    list(pieces.of("d e f"))
    assert set(pieces) == {"e", "f"}


@given(_TEXTS)
def test_a_quick_look_misses_no_instruction(text: str) -> None:
    lines = [line for line in directives._SENTENCES.split(text) if line]
    whole = directives._CUE.search(text) is not None or any(directives.imperative(line) for line in lines)
    assert directives._may_instruct(text) == (whole or directives.tongue(text) is not None)


@given(_TEXTS)
def test_hidden_text_is_looked_for_where_there_may_be_any(text: str) -> None:
    assert hidden._has_base64(text) == (hidden._BASE64.search(text) is not None)


@given(st.text(alphabet="catl -n./a'\"\\:=", max_size=20))
def test_a_command_is_taken_apart_as_the_shell_does(rest: str) -> None:
    command = "cat " + rest
    try:
        typed = shlex.split(command)
    except ValueError:
        typed = []
    assert read_by(command) == (typed[-1] if len(typed) > 1 and not typed[-1].startswith("-") and typed[0] == "cat" else None)


@given(st.text())
def test_markup_escapes_what_html_does(text: str) -> None:
    import html

    assert markup.text(text) == html.escape(visible(text), quote=True)


@given(
    st.lists(
        st.sampled_from(
            [
                "Bitte",
                "senden",
                "Sie",
                "es",
                "an",
                "the",
                "of",
                "per",
                "favore",
                "non",
                "envoyer",
                "l'argent",
                "no",
                "envíe",
                "el",
                "pago",
                "d'urgence",
                "stuur",
                "12",
                "a-b",
            ]
        ),
        max_size=14,
    )
)
def test_the_language_of_a_text_is_that_of_its_words(words: list[str]) -> None:
    text = " ".join(words)
    found = [tongues.fold(word) for word in tongues._LETTERS.findall(text)]
    english = sum(word in tongues._COMMON["english"] for word in found)
    counts = {name: sum(word in tongues._COMMON[name] for word in found) for name in tongues.LANGUAGES}
    best = max(counts, key=lambda name: counts[name])
    if len(found) < 3 or english > counts[best] + 1:
        assert tongues.tongue(text) is None
        return
    if counts[best] < 2 or sum(count == counts[best] for count in counts.values()) > 1:
        for name in counts:
            counts[name] += sum(tongues._looked_up(word, name) is not None and word not in tongues._ENGLISH for word in found)
        best = max(counts, key=lambda name: counts[name])
    said = counts[best] >= 2 and counts[best] > english and counts[best] * 12 >= len(found)
    assert tongues.tongue(text) == (best if said else None)


@given(st.sampled_from([*tongues._ANY_EXACT, *tongues._ANY_BEGINS, "x", "zzzzzz"]), st.text(alphabet="aenrstz", max_size=10))
def test_a_quick_look_misses_no_word_of_a_table(word: str, ending: str) -> None:
    bare = word + ending
    assert tongues._in_a_table(bare) == any(tongues._looked_up(bare, name) is not None for name in tongues.LANGUAGES)
