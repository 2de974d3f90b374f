"""What a prompt asks for, sentence by sentence: what it forbids, asks for or allows, of what, and from which amount on.

Sentences are looked at by their words alone, in English and in the languages of ``tongues.py``. What is not understood is no instruction; nothing is concluded from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.language.terms import terms, words, words_of
from tachograph.postmortem.language.tongues import gloss
from tachograph.postmortem.language.verbs import stem

from .once import entered, once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case

Tone = Literal["forbids", "asks", "allows", "tells"]

_FORBIDS = re.compile(
    r"\b(?:never|do not|don't|don’t|must not|mustn't|may not|cannot|can't|can not|should not|shouldn't|shall not|not allowed to|not permitted to"
    r"|forbidden to|prohibited from|under no circumstances|refrain from|avoid|no longer|not to|without exception not)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:always|must|shall|required|requires?|have to|has to|need to|needs to|make sure|ensure|only|every|at least|mandatory)\b",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:may|can|allowed to|permitted to|free to|fine to|ok to|okay to|authori[sz]ed to|no need|without asking|optional)\b", re.IGNORECASE
)
#: What makes an instruction hold only at times.
_EXCEPT = re.compile(r"\b(?:unless|except|without|until|before|after|if|when|while|outside|other than|only)\b", re.IGNORECASE)
_BEYOND = re.compile(
    r"(?:\b(?:over|above|more than|exceed(?:s|ing)?|greater than|larger than|higher than|beyond|in excess of)|[>≥]=?)"
    r"\s*(?:an? )?(?:amount of |value of |total of |limit of )?(?P<sign>[$€£]|[A-Z]{3}\s)?\s*(?P<number>\d[\d,._]{0,15})\s*(?P<k>[kK]\b)?",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"\b(?:at most|up to|no more than|not more than|maximum(?: of| is|:)?|max\.?|limit(?: of| is|:)?|capped at|below|under|less than)"
    r"\s*(?:an? )?(?P<sign>[$€£]|[A-Z]{3}\s)?\s*(?P<number>\d[\d,._]{0,15})\s*(?P<k>[kK]\b)?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_BULLET = re.compile(r"\A\s*(?:[-*•#>]+|\d{1,3}[.)])\s*")


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """``about``: the stems of its telling words; ``verbs``: of those the one directly behind the word that forbids. ``beyond``: it holds for amounts
    above this; ``at_most``: it names this as the most; ``bound``: it holds only under a condition."""

    text: str
    tone: Tone
    about: frozenset[str]
    verbs: frozenset[str]
    beyond: float | None
    at_most: float | None
    bound: bool
    event_id: str
    seq: int
    step: int | None
    position: str


@once
def instructions(case: Case) -> tuple[Instruction, ...]:
    """Those of the system and developer prompts and of the tools' descriptions, in the order in which they came in."""
    found: list[Instruction] = []
    for passage in entered(case):
        if passage.kind == "system" and not passage.position.endswith(".schema"):
            for text in sentences(passage.text):
                found.append(read(text, event_id=passage.event_id, seq=passage.seq, step=passage.step, position=passage.position))
    return tuple(found)


def sentences(text: str) -> Iterator[str]:
    """A text's sentences and lines, without their bullets."""
    for piece in _SENTENCE.split(text):
        bare = _BULLET.sub("", piece).strip()
        if bare:
            yield bare


def read(text: str, *, event_id: str = "", seq: int = 0, step: int | None = None, position: str = "") -> Instruction:
    """One sentence."""
    plain = gloss(text)
    forbidding = _FORBIDS.search(plain)
    tone: Tone = "forbids" if forbidding else "asks" if _ASKS.search(plain) else "allows" if _ALLOWS.search(plain) else "tells"
    rest = plain[forbidding.end() :] if forbidding else plain
    beyond, most = _BEYOND.search(plain), _AT_MOST.search(plain)
    first = [stem(term) for term in terms(rest)[:8] if term in words(rest) and not term.endswith("ly") and term != "ever"][:1]
    return Instruction(
        text=text, tone=tone, about=stems(plain), verbs=frozenset(first) if forbidding else frozenset(),
        beyond=_number(beyond) if beyond else None, at_most=_number(most) if most and not beyond else None,
        bound=bool(_EXCEPT.search(rest)), event_id=event_id, seq=seq, step=step, position=position,
    )  # fmt: skip


def _number(found: re.Match[str]) -> float | None:
    try:
        return float(found["number"].replace(",", "").replace("_", "").rstrip(".")) * (1000 if found["k"] else 1)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's telling words, joined identifiers taken apart as well."""
    found = set()
    for word in words(text):
        if word in _NOTHING:
            continue
        found.add(stem(word))
        if "_" in word or "-" in word:
            found.update(stem(part) for part in words_of(word) if len(part) > 2 and part not in _NOTHING)
    return frozenset(found)


#: Words of any instruction, which say nothing of what it is about.
_NOTHING = frozenset(
    ["always", "never", "must", "shall", "may", "need", "needs", "make", "sure", "ensure", "don", "don't", "cannot", "allowed", "required", "agent", "assistant", "user", "users", "tool", "tools", "use", "used", "using", "help", "without", "every", "each", "first", "yourself", "thing", "things", "way", "say", "says", "ever", "least", "until", "unless", "except", "before", "after", "circumstances", "able", "want", "wants", "like", "via", "per", "let", "put", "be", "etc"]
)  # fmt: skip
