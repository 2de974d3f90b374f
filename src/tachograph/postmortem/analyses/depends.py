"""Which act a prompt or a person makes depend on another: “a reminder is deleted only when the amount has been collected”, “Order: checks, migration, deploy”.

A sentence says so that names both, by the words of their tools' names and descriptions, and has a word of order or condition. One about what to do when
something fails makes nothing depend on a success.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.terms import words, words_of
from tachograph.postmortem.language.tongues import fold

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
#: Words of order and condition, in seven languages, without accents.
_ORDER = frozenset(
    ["once", "only", "after", "until", "unless", "before", "first", "then", "order", "provided", "when", "if", "nur", "erst", "wenn",
     "sobald", "nachdem", "bevor", "vorher", "zuerst", "danach", "dann", "reihenfolge", "seulement", "uniquement", "apres", "avant",
     "si", "lorsque", "des", "abord", "ensuite", "puis", "ordre", "solo", "una", "vez", "despues", "antes", "cuando", "primero", "luego",
     "orden", "dopo", "prima", "se", "quando", "poi", "ordine", "somente", "apenas", "depois", "primeiro", "ordem", "alleen", "pas",
     "zodra", "nadat", "voordat", "eerst", "als", "wanneer", "daarna", "volgorde", "fois"]
)  # fmt: skip
_WHEN_IT_FAILS = re.compile(
    r"\b(?:fail\w*|errors?|declin\w+|reject\w+|refus\w+|unavailable|unable|cannot|can't|timeout|times? out|out of stock|not (?:found|available|possible|work)|problems?|otherwise|instead|even if|regardless"
    r"|fehl\w+|abgelehnt|scheiter\w+|sonst|andernfalls|nicht moglich|echou\w+|echec|erreur|sinon|fall\w+|error\w*|caso contrario|altrimenti|mislukt|anders)\b"
)
#: Words of tools' names and descriptions by which none is told from another.
BARE = frozenset(
    ["tool", "tools", "call", "the", "this", "that", "with", "from", "into", "for", "run", "command", "number", "code", "name", "value",
     "text", "data", "list", "item", "get", "set", "new", "all", "one", "its", "it", "has", "have", "been", "are", "und", "der", "die",
     "das", "den", "dem", "ein", "eine", "einen", "einem", "ist", "mit", "zu", "zum", "zur", "per", "les", "des", "une", "est", "sur",
     "par", "avec", "dans", "pour", "los", "las", "una", "del", "con", "por", "gli", "della", "nel", "het", "een", "van"]
)  # fmt: skip


def fails(sentence: str) -> bool:
    """Whether a sentence is about what to do when something fails."""
    return _WHEN_IT_FAILS.search(fold(sentence)) is not None


def roots(action: Action, known: Doings) -> frozenset[str]:
    """The beginnings of the words that say what a call does: of its tool's name and description; of a command, of its line."""
    said = " ".join(words_of(action.name))
    if action.run.kind == "tool":
        said += " " + next((p.text[:400] for p in _descriptions(known) if p.name == action.name), "")
    said += " " + " ".join(text[:200] for path, text in action.leaves if path.rpartition(".")[2] in ("command", "cmd", "script"))
    if action.run.kind == "process":
        said += " " + action.run.title[:200]
    return frozenset(root(word) for word in words(said) if _tells(word))


def _named(action: Action) -> frozenset[str]:
    return frozenset(root(word) for word in words_of(action.name) if _tells(word))


def depends(known: Doings, first: Action, then: Action) -> str | None:
    """The sentence by which ``then`` is to be done only behind ``first``, if there is one."""
    mine, other = roots(first, known), roots(then, known)
    named, named_other = _named(first), _named(then)
    only_mine, only_other = (mine - other) | (named - named_other), (other - mine) | (named_other - named)
    if not only_mine or not only_other:
        return None
    for passage in known.passages[: then.before]:
        if passage.kind not in ("system", "user") or ".tools[" in passage.position:
            continue
        for sentence in _SENTENCE.split(known.own_words(passage)[:20_000]):
            if not 8 <= len(sentence) <= 400:
                continue
            folded = fold(sentence)
            spoken = {root(word) for word in words(folded) if _tells(word)}
            if not spoken & only_mine or not spoken & only_other or _WHEN_IT_FAILS.search(folded):
                continue
            if _ORDER & set(re.findall(r"[^\W\d_]+", folded)):
                return sentence.strip()
    return None


def _descriptions(known: Doings) -> list[Passage]:
    kept = vars(known)
    if _KEPT not in kept:
        kept[_KEPT] = [one for one in known.passages if one.kind == "system" and one.position.endswith("].description")]
    found: list[Passage] = kept[_KEPT]
    return found


_KEPT = f"{__name__}.descriptions"


def _tells(word: str) -> bool:
    return len(word) >= 4 and word.isalpha() and fold(word) not in BARE and fold(word) not in _ORDER


def root(word: str) -> str:
    """The beginning of a word that its forms have in common: ``migrate`` and ``migration``."""
    word = fold(word)
    return word[:5] if len(word) > 5 else word.rstrip("s") if len(word) > 4 else word
