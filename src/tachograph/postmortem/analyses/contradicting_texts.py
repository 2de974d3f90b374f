"""Texts that contradict each other in the same words, and versions of one text: the one that was followed, where the other is not spoken of.

A part of ``stale_result``: documents of the context rather than a tool's values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.dates import date_in
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import identifiers, terms, values, words
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.records import records

from .contract import LIKELY, STRONG, Finding
from .used import Use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tachograph.postmortem.meaning.actions import Doings
    from tachograph.postmortem.passages import Passage

# -- contradicting documents -----------------------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?<=\")\s*,")
#: What prose has not: the number of a line, brackets, operators.
_CODE = re.compile(r"^\s*\d+\s*(?:→|\t|\|)|[{}=;<>]|\w\(|//|/\*|->|::|^\s*[#|+-]{2,}")
_NUMBER, _DIGIT = re.compile(r"\d[\d,]*(?:\.\d+)?"), re.compile(r"\d")


def documents(known: Doings) -> Iterator[Finding]:
    """Two texts that say the same in the same words, with other numbers."""
    lines: list[tuple[int, Passage, str, frozenset[str], tuple[str, ...]]] = []
    by_word: dict[frozenset[str], list[int]] = {}
    for place, passage in enumerate(known.passages):
        if passage.kind not in ("document", "file", "memory", "tool_result") or len(passage.text) > 100_000 or len(lines) > 600:
            continue
        for piece in _texts(passage.text):
            for line in _SENTENCE.split(piece) if _DIGIT.search(piece) else ():
                numbers = tuple(term for match in _NUMBER.findall(line) for term in terms(match))
                if (
                    not numbers
                    or _CODE.search(line)
                    or len(re.findall(r"\b[A-Za-z]{2,}\b", line)) < 4
                    or not 15 <= len(line) <= 300
                    or len(line.split()) < 4
                ):
                    continue
                about = frozenset(stem(word) for word in words(line) if not word[:1].isdigit() and len(word) > 2)
                if len(about) < 2:
                    continue
                for index in by_word.get(frozenset(sorted(about)[:1]), []) + by_word.get(frozenset(sorted(about)[-1:]), []):
                    found = _against(known, lines[index], (place, passage, line, about, numbers))
                    if found is not None:
                        yield found
                        return
                lines.append((place, passage, line, about, numbers))
                for key in {frozenset(sorted(about)[:1]), frozenset(sorted(about)[-1:])}:
                    by_word.setdefault(key, []).append(len(lines) - 1)


def _texts(text: str) -> list[str]:
    value = parsed(text)
    return [value] if isinstance(value, str) else [leaf for _, leaf in values(value)]


_Line = tuple[int, "Passage", str, frozenset[str], tuple[str, ...]]


def _against(known: Doings, one: _Line, other: _Line) -> Finding | None:
    if one[1].event_id == other[1].event_id and one[1].position == other[1].position and one[2] == other[2]:
        return None
    share = len(one[3] & other[3]) / max(len(one[3] | other[3]), 1)
    mine, theirs = set(one[4]) - set(other[4]), set(other[4]) - set(one[4])
    if share < 0.6 or not mine or not theirs or len(one[3] & other[3]) < 2 or identifiers(one[2]) - mine != identifiers(other[2]) - theirs:
        return None
    if one[1].event_id == other[1].event_id and share < 0.8:
        return None
    if not groups(one[3]) and not one[3] & _RULES:
        return None  # facts of two things, as like as lines of a table
    after = max(one[0], other[0])
    for line, wrong, right in ((one, mine, theirs), (other, theirs, mine)):
        use = _number_used(known, after, wrong, right, line[3])
        if use is None:
            continue
        rest = other if line is one else one
        return Finding(
            cause="context", analysis="stale_result", confidence=STRONG - 0.05, first_event=line[1].event_id, first_seq=line[1].seq,
            evidence=(
                Evidence(event_id=line[1].event_id, seq=line[1].seq, what=f"one says {said(line[2])}"),
                Evidence(event_id=rest[1].event_id, seq=rest[1].seq, what=f"the other says {said(rest[2])}"), use.evidence(),
            ),
            statement=f"Two texts contradict each other ({said(line[2])} and {said(rest[2])}); the first was followed in {use.words()}, and nobody was told of the other.",
        )  # fmt: skip
    return None


_RULES = frozenset(stem(word) for word in ["day", "days", "hours", "within", "limit", "maximum", "minimum", "must", "only", "allowed", "period", "window", "policy", "fee", "rate", "deadline", "return", "returns", "warranty", "notice", "dose", "per", "up", "least", "most", "version", "port", "timeout", "retention"])  # fmt: skip


def _number_used(known: Doings, place: int, wrong: set[str], right: set[str], about: frozenset[str]) -> Use | None:
    for reply in known.replies:
        said_terms = set(terms(reply.text))
        if reply.before > place and said_terms & right and said_terms & wrong:
            return None  # it spoke of both
    for action in known.acting:
        if action.before > place and wrong & action.terms and not right & action.terms:
            return Use(what=action, value=min(wrong & action.terms))
    for reply in known.replies:
        said_terms = set(terms(reply.text))
        if reply.before > place and reply.rests and wrong & said_terms and not right & said_terms and about & stems(reply.text):
            return Use(what=reply, value=min(wrong & said_terms))
    return None


# -- versions of one text --------------------------------------------------------------------------------------------------------

_VERSION = re.compile(
    r"(?:^|_)(?:valid_?from|effective(?:_?(?:from|date|as_of))?|version_?date|published(?:_?(?:at|on))?|revised(?:_?(?:at|on))?|approved_?on|updated(?:_?(?:at|on))?|last_?(?:updated|modified|reviewed)|issued(?:_?on)?|date|year)\Z"
)


def versions(known: Doings) -> Iterator[Finding]:
    """Texts of one topic that were found together, with dates: the older was followed, and the newer one not spoken of."""
    dated: list[tuple[int, Passage, datetime, str, frozenset[str]]] = []
    for place, passage in enumerate(known.passages):
        if passage.kind not in ("document", "file", "memory", "tool_result") or len(dated) > 60:
            continue
        for record in records(passage.text):
            when = next(
                (
                    date
                    for name, text in record.fields
                    if _VERSION.search(name) and (date := date_in(text if "-" in text else f"{text}-01-01"))
                ),
                None,
            )
            prose = max((text for _, text in record.fields), key=len, default="")
            if when is not None and len(prose.split()) >= 5:
                about = frozenset(stem(word) for word in words(prose) if len(word) > 2 or word.isdigit())
                if not any(other[3] == prose for other in dated):
                    dated.append((place, passage, when, prose, about))
    for older in dated:
        for newer in dated:
            if newer[2] <= older[2] or len(older[4] & newer[4]) < 3:
                continue
            found = _followed_older(known, older, newer)
            if found is not None:
                yield found
                return


def _followed_older(
    known: Doings, older: tuple[int, Passage, datetime, str, frozenset[str]], newer: tuple[int, Passage, datetime, str, frozenset[str]]
) -> Finding | None:
    mine, theirs = older[4] - newer[4], newer[4] - older[4]
    if not mine or not theirs:
        return None
    for reply in known.replies:
        spoken = {stem(word) for word in words(reply.text)} | set(terms(reply.text))
        if reply.before <= max(older[0], newer[0]) or not reply.rests or len(mine & spoken) < 2:
            continue
        if len(theirs & spoken) * 2 >= len(mine & spoken) or len(mine & spoken) * 3 < len(mine):
            return None
        return Finding(
            cause="context", analysis="stale_result", confidence=LIKELY + 0.07, first_event=older[1].event_id, first_seq=older[1].seq,
            evidence=(
                Evidence(event_id=older[1].event_id, seq=older[1].seq, what=f"the older text, of {older[2].date()}: {said(older[3])}"),
                Evidence(event_id=newer[1].event_id, seq=newer[1].seq, what=f"the newer one, of {newer[2].date()}: {said(newer[3])}"),
                reply.cite(f"it answers: {said(reply.text)}"),
            ),
            statement=f"Two texts on the same were found; the one of {older[2].date()} ({said(older[3])}) was followed, the newer one ({said(newer[3])}) not spoken of.",
        )  # fmt: skip
    return None
