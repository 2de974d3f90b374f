"""How many of how many: “3 of 5 tables restored”, ``{"sent": 3, "total": 5}``; and who speaks of all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .parsing import parsed
from .terms import words
from .verbs import groups, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF = re.compile(
    r"(?<![\w.,/-])(\d{1,6})\s?(?:(?:out )?of|/|von|de|sur|di|van|sobre|su)\s?(?:the |den |las |los |les |os |as )?(\d{1,6})(?![\w/-]|[.,]\d)((?:\s[^\W\d_][\w-]{1,30}){0,4})",
    re.IGNORECASE,
)
#: What stands before a place in a row, which is no count of things done.
_PLACE = re.compile(r"(?:page|step|part|chapter|attempt|try|showing|first|rated?|rating|score|round|slide|section|seite|schritt|página|étape|pagina|line|item|row|level|stage|day|week|q|phase)\W{0,3}\Z", re.IGNORECASE)  # fmt: skip
_WHOLE = (
    "total",
    "of",
    "expected",
    "requested",
    "planned",
    "all",
    "count",
    "size",
    "recipients",
    "attempted",
    "submitted",
    "required",
    "wanted",
)
_LEFT = frozenset(
    [
        "failed",
        "failures",
        "errors",
        "skipped",
        "missing",
        "rejected",
        "pending",
        "remaining",
        "bounced",
        "undelivered",
        "invalid",
        "unreachable",
    ]
)
#: Things that nobody counts as done.
_NO_DEED = frozenset(
    ["page", "limit", "offset", "per", "id", "number", "port", "year", "version", "index", "cursor", "retries", "attempts", "priority"]
)
_ALL = re.compile(
    r"\b(?:all|every|each|both|everything|entire(?:ly)?|whole|complete(?:ly|d)?|full(?:y)?|100 ?%|without exception|alle[nsr]?|sämtliche\w*|vollständig|komplett|tod[oa]s|completo|completamente"
    r"|tous|toutes|entièrement|complètement|tutt[ie]|completamente|interamente|allemaal|volledig)\b",
    re.IGNORECASE,
)
_BAD = re.compile(r"\b(?:incomplete\w*|partial\w*|fail\w*|errors?|missing|rejected|not all|could not|unreachable|corrupt\w*|damaged|broken|skipped|unvollständig|fehl\w*|incomplet\w+|falt\w+|erreurs?|errore|onvolledig)\b", re.IGNORECASE)  # fmt: skip
_COUNTED = re.compile(r"(?<![\w.,/-])(\d{1,6})(?![\w/-]|[.,]\d)")


#: Numbers as they are said.
_SAID = {
    word: number
    for number, words_ in enumerate(
        ["two zwei dos deux due dois duas twee both beide ambos ambas entrambi entrambe", "three drei tres trois tre três drie", "four vier cuatro quatre quattro quatro", "five fünf cinco cinq cinque vijf",
         "six sechs seis sei zes", "seven sieben siete sept sette sete zeven", "eight acht ocho huit otto oito", "nine neun nueve neuf nove negen", "ten zehn diez dix dieci dez tien",
         "eleven elf once onze undici", "twelve zwölf doce douze dodici doze twaalf"],
        2,
    )
    for word in words_.split()
}  # fmt: skip
_WORD_OR_NUMBER = re.compile(r"(?<![\w.,/-])(?:\d{1,4}|[^\W\d_]{2,9})(?![\w/-]|[.,]\d)")


def numbers_said(text: str) -> frozenset[int]:
    """The whole numbers in a text, in figures or (up to twelve) in words."""
    found = {int(one) if one.isdigit() else _SAID.get(one.lower(), 0) for one in _WORD_OR_NUMBER.findall(text[:4000])}
    return frozenset(found - {0})


@dataclass(frozen=True, kw_only=True)
class Partial:
    """``done`` of ``whole``; ``nouns``: stems of what is counted and of what was done to it; ``deeds``: those of them that name what was done;
    ``bad``: the result says itself that some failed or are missing; ``text``: as it stands there."""

    done: int
    whole: int
    nouns: frozenset[str]
    deeds: frozenset[str]
    bad: bool
    text: str


@lru_cache(maxsize=1024)
def partials(text: str) -> tuple[Partial, ...]:
    """The counts of a result in which some were left out."""
    value = parsed(text[:100_000])
    return tuple(_of_value(value, 0)) if isinstance(value, dict | list) else tuple(_of_text(text[:100_000]))


def _of_text(text: str) -> Iterator[Partial]:
    for match in _OF.finditer(text):
        done, whole = int(match.group(1)), int(match.group(2))
        if done >= whole or whole < 2 or _PLACE.search(text[max(match.start() - 20, 0) : match.start()]):
            continue
        counted = words(match.group(3))
        if counted:
            line = text[max(text.rfind("\n", 0, match.start()), match.start() - 200, 0) : match.end() + 200]
            yield Partial(
                done=done, whole=whole, nouns=frozenset(map(stem, counted)), deeds=frozenset(stem(word) for word in counted if _is_deed(word)),
                bad=_BAD.search(line) is not None, text=match.group().strip(),
            )  # fmt: skip


def _of_value(value: Any, depth: int) -> Iterator[Partial]:
    if depth > 8:
        return
    if isinstance(value, list):
        for item in value[:400]:
            yield from _of_value(item, depth + 1)
    elif isinstance(value, dict):
        counts = {
            str(key).lower(): item for key, item in value.items() if isinstance(item, int) and not isinstance(item, bool) and item >= 0
        }
        whole = next(((key, counts[key]) for name in _WHOLE for key in counts if name in _parts(key)), None)
        nouns = frozenset().union(*(stems(key) for key in counts)) if counts else frozenset()
        if whole is not None and whole[1] >= 2:
            for key, done in counts.items():
                parts = _parts(key)
                left = bool(parts & _LEFT)
                if key == whole[0] or done > whole[1] or (done == 0 if left else done == whole[1]) or parts & _NO_DEED:
                    continue
                deeds = frozenset(stem(word) for word in parts if _is_deed(word))
                if left or deeds:
                    yield Partial(
                        done=whole[1] - done if left else done, whole=whole[1], nouns=nouns, deeds=deeds, bad=left,
                        text=f"{key}: {counts[key]}, {whole[0]}: {whole[1]}",
                    )  # fmt: skip
                    break
        for item in value.values():
            if isinstance(item, str):
                yield from _of_text(item[:20_000])
            else:
                yield from _of_value(item, depth + 1)


def of_everything(text: str) -> bool:
    """Whether a text speaks of all of something, or of each."""
    return _ALL.search(text) is not None


def _is_deed(word: str) -> bool:
    return word in ("sent", "paid", "ok", "done", "succeeded", "sold", "built") or (
        len(word) > 4 and word.endswith("ed") and word != "returned"
    )


def _parts(key: str) -> set[str]:
    return set(re.split(r"[^a-z]+", key))


def of_all(sentence: str, partial: Partial) -> bool:
    """Whether a sentence says of the things counted that it was all of them, with their number; and that the same was done to them, unless the result
    says itself that some are missing."""
    if _ALL.search(sentence) is None or any(
        int(match.group(1)) == partial.done and partial.done != partial.whole for match in _COUNTED.finditer(sentence)
    ):
        return False
    spoken = stems(sentence)
    if not spoken & partial.nouns or not (partial.bad or spoken & partial.deeds or groups(spoken) & groups(partial.deeds)):
        return False
    return any(int(match.group(1)) == partial.whole for match in _COUNTED.finditer(sentence))
