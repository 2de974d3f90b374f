"""What an approver was shown as a sentence, against the arguments of the call that ran, one by one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import terms, words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.once import entered
from tachograph.postmortem.meaning.records import records
from tachograph.postmortem.values import textual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Run

#: A value in quotes or marks of code, and what looks like a name that a program uses.
_QUOTED = re.compile(r"['\"“”‘’«»`„]([^'\"“”‘’«»`„\n]{1,80})['\"“”‘’«»`]")
_NAME = re.compile(r"(?<![\w'])(?=[\w.@/-]{0,60}(?:[\d_@/-]|[a-z][A-Z]))[\w][\w.@/-]{1,60}[\w]")
_COUNT = re.compile(r"(?<![\w.,/:@-])(?:\d{1,3}(?:[.,]\d{3})+|\d{1,9})(?![\w/:@-]|[.,]\d)")
_WORD = re.compile(r"[^\W_]+")
#: What may stand between an argument's name in a sentence and its value: marks, and a single word; and how far behind it the value is looked for.
_BETWEEN = re.compile(r"[\s:=(\[-]{0,4}(?:[^\W\d_]{1,8}[\s:=]{1,3})?")
_BESIDE = 100
#: That there are more than are shown.
_MORE = re.compile(
    r"(?:…|\.\.\.|\b(?:etc|and (?:the )?(?:others?|more|rest)|all|every|each|usw|u\. ?a|et al|alle|tous|toutes|todos|todas|tutti|tutte)\b)|\*",
    re.IGNORECASE,
)
#: Words of arguments' names that stand in any sentence.
_PLAIN = frozenset(["the", "a", "of", "to", "text", "message", "body", "name", "id", "value", "note", "reason", "comment", "title", "description", "content"])  # fmt: skip


def in_its_place(case: Case, path: str, value: str, shown: str, given: Sequence[str]) -> str | None:
    """The value of the same kind that a sentence has where an argument's own value should stand: beside the argument's name (“… to segment 'pilot' …”).
    ``None`` where the sentence has the argument's value in any form, another argument's, another name of the same thing (a record has both), or none."""
    own = _bare(value)
    if not 2 <= len(value) <= 120 or not own or own in _bare(shown):
        return None
    names = {stem(fold(word)) for word in words_of(path.rpartition(".")[2].partition("[")[0]) if word not in _PLAIN and len(word) > 2}
    others = {_bare(text) for text in given}
    for match in _WORD.finditer(shown[:4000]) if names else ():
        if stem(fold(match[0])) not in names:
            continue
        beside = shown[match.end() : match.end() + _BESIDE]
        found = _QUOTED.search(beside) or _NAME.search(beside)
        if found is None or not _BETWEEN.fullmatch(beside[: found.start()]):
            continue
        there = found[1] if found.re is _QUOTED else found[0]
        bare = _bare(there)
        if not bare or bare in others or _look(there) != _look(value) or set(terms(there)) & set(terms(value)):
            continue
        if not _same_thing(case, value, there):
            return there
    return None


def another_size(case: Case, value: str, shown: str, run: Run) -> str | None:
    """The number that a sentence has, where a record says how many an argument stands for that the sentence leaves out, and as many were reached."""
    if not 2 <= len(value) <= 120 or _bare(value) in _bare(shown):
        return None
    told, given = _counts(shown), _counts(textual(run.input.value))
    reached = _counts(run.output.text()[:20_000])
    if not told or not reached:
        return None
    for passage in entered(case):
        if passage.seq >= run.seq or passage.kind in ("system", "user", "model") or value not in passage.text:
            continue
        for record in records(passage.text):
            if not any(text.lower() == value.lower() for _, text in record.fields):
                continue
            sizes = {int(text) for _, text in record.fields if text.isdigit() and len(text) < 10}
            other = sorted(told - sizes - given)
            if (sizes & reached) and not sizes & told and other and all(not 0.5 < other[0] / size < 2 for size in sizes & reached if size):
                return str(other[0])
    return None


def another_count(value: object, shown: str, given: object) -> str | None:
    """The number that a sentence has, where a list that it does not tell has another one of elements."""
    if not isinstance(value, list) or len(value) < 2 or any(_bare(str(one)) in _bare(shown) for one in value if isinstance(one, str | int)):
        return None
    rest = {key: one for key, one in given.items() if one is not value} if isinstance(given, dict) else {}
    told = _counts(shown) - _counts(textual(rest))
    return str(next(iter(told))) if len(told) == 1 and len(value) not in told else None


def left_out(value: object, path: str, shown: str, fields: object) -> str | None:
    """The first element of a list of names (a list, its text, or names with commas) that was not shown where another one was: under the same name in fields
    (``bucket`` for ``buckets``), or, of what looks like a name, in a sentence. ``None`` where it is told how many there are, or that there are more."""
    found = _names_in(value)
    if len(found) < 2:
        return None
    own = {stem(fold(word)) for word in words_of(path.rpartition(".")[2])}
    fields = parsed(shown) if isinstance(fields, str) else fields
    told = next(
        (
            textual(one)
            for key, one in (fields.items() if isinstance(fields, dict) else ())
            if {stem(fold(word)) for word in words_of(str(key))} == own
        ),
        None,
    )
    text = shown if told is None else told
    there = [_stands(name, text) for name in found]
    if not any(there) or all(there) or _counts(shown) & {len(found), len(found) - sum(there)} or _MORE.search(text):
        return None
    missing = [name for name, stands in zip(found, there, strict=True) if not stands and not _stands(name, shown)]
    if told is None:
        seen = {_look(name) for name, stands in zip(found, there, strict=True) if stands and _NAME.fullmatch(name)}
        missing = [name for name in missing if _NAME.fullmatch(name) and _look(name) in seen]
    return missing[0] if missing else None


def _names_in(value: object) -> list[str]:
    if isinstance(value, str) and 3 < len(value) <= 4000:
        if value.lstrip().startswith("["):
            value = parsed(value)
        else:
            parts = [one.strip() for one in value.split(",")]
            value = parts if not any(" " in one for one in parts) else None  # a sentence has commas, too
    if not isinstance(value, list):
        return []
    found = [one.strip() for one in value if isinstance(one, str)]
    return found if len(found) == len(value) and all(2 <= len(one) <= 80 and not one.isdigit() for one in found) else []


def _stands(name: str, text: str) -> bool:
    """Whether a text has a name as a whole: ``media`` is not in ``media-prod``."""
    return re.search(rf"(?<![\w-]){re.escape(fold(name))}(?![\w-])", fold(text)) is not None or in_other_spelling(name, text)


def _counts(text: str) -> set[int]:
    """The whole numbers in a text that may count something."""
    return {int(one.replace(",", "").replace(".", "")) for one in _COUNT.findall(text[:20_000]) if len(one) < 12}


def in_other_spelling(value: str, shown: str) -> bool:
    """Whether a sentence has a value with other blanks and marks: ``press-all`` as “Press (all)”."""
    bare = _bare(value)
    return len(bare) >= 5 and not bare.isdigit() and bare in _bare(shown)


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text))


def _look(text: str) -> str:
    """Its form: words and runs of digits, whatever joins them."""
    return re.sub(r"[^\w@]+|_", "-", re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", fold(text.strip()))))


def _same_thing(case: Case, one: str, other: str) -> bool:
    """Whether a record of the session has both, so that they may be two names of one thing."""
    mine, theirs = one.lower(), other.lower()
    for passage in entered(case):
        text = passage.text.lower()
        if mine in text and theirs in text:
            for record in records(passage.text):
                values = {value.lower() for _, value in record.fields}
                if mine in values and theirs in values:
                    return True
    return False
