"""A look-up that could not answer, and the thing that it looked for was made anew.

The look-up failed, or says that it cannot tell now (an index that is being rebuilt, a part of the results, maintenance). Behind it something of the same
kind was created, by the names of the tools or by the address that both called, with a value that had been looked for. That there is none may be concluded
from a look-up that says so, and not from one that could not look.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.tongues import english_of, fold
from tachograph.postmortem.language.verbs import stem, stems
from tachograph.postmortem.meaning.effects import looks
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import one_line, quoted

from .contract import STRONG
from .depends import BARE, fails

if TYPE_CHECKING:
    from tachograph.postmortem.case import Evidence
    from tachograph.postmortem.meaning.actions import Action, Doings

#: What makes a thing that was not there. ``upsert`` and the like look by themselves.
_MAKES = frozenset(stem(word) for word in ["create", "add", "register", "insert", "open", "enroll", "onboard", "generate", "make", "new", "provision", "enrol", "signup", "import"])  # fmt: skip
#: Of these what no name of a look-up has.
_ENTERS = frozenset(stem(word) for word in ["register", "enroll", "enrol", "onboard", "signup"])
_LOOKS_ITSELF = frozenset(["upsert", "ensure", "merge", "sync", "or"])
#: What looks at something else than whether there is one.
_OTHER_LOOKS = frozenset(
    ["validate", "verify", "calculate", "compute", "quote", "preview", "estimate", "test", "simulate", "price", "format", "parse"]
)
#: Actions behind a look-up that are looked at.
_NEAR = 40
#: What a result says that cannot tell, in seven languages, without accents.
_NOT_NOW = re.compile(
    r"\b(?:being (?:re)?(?:built|indexed|migrated|synced|synchroni[sz]ed|loaded|imported)|re-?build(?:ing)?\b|re-?index\w*|temporar(?:y|ily)|(?:try|retry|come back|check) (?:again|later)|not (?:yet )?(?:ready|available|synced|complete|searchable|reachable)"
    r"|incomplete|partial(?:ly)?|(?:under|in|for) maintenance|unavailable|degraded|time[d ]?-?out|could not be (?:reached|searched|read)|not all (?:\w+ )?(?:were|was|could)"
    r"|wird (?:gerade |derzeit )?(?:neu )?(?:aufgebaut|aktualisiert|indexiert|gewartet)|im (?:neu)?aufbau|wartung\w*|spater (?:erneut|noch einmal|wieder|nochmals)|vorubergehend|unvollstandig\w*|nicht (?:erreichbar|verfugbar)"
    r"|en (?:cours de )?(?:reconstruction|maintenance|reindexation)|reessay\w+|temporairement|indisponible|incomplets?|incompletes?|reconstru\w+|mantenimiento|temporalmente|intentel[oa]|reintente|no disponible|incomplet[oa]s?"
    r"|manutenzione|riprova\w*|temporaneamente|non disponibile|manutencao|tente (?:novamente|mais tarde)|temporariamente|indisponivel|onderhoud|probeer|tijdelijk|niet (?:beschikbaar|bereikbaar)|onvolledig)"
)
#: Fields that say so by themselves: true for the first, false for the second.
_IF_TRUE = frozenset(["partial", "incomplete", "degraded", "timed_out", "timedout", "rebuilding", "indexing", "reindexing", "stale", "is_partial", "unvollstaendig", "incomplet", "parcial", "parziale"])  # fmt: skip
_IF_FALSE = frozenset(["complete", "ready", "available", "is_complete", "index_ready", "up_to_date", "vollstaendig", "complet", "completo"])
_LONG = 4000


def cannot_tell(run: Run) -> str | None:
    """What a result says that has no hits, and that it could not look everywhere; a hit, or nothing but “none”, is an answer."""
    told = run.given if run.given.there else run.output
    text = told.text() if told.there else ""
    if not 0 < len(text) <= _LONG:
        return None
    value = parsed(text)
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and isinstance(value[0].get("text"), str):
        text = value[0]["text"]
        value = parsed(text)
    if isinstance(value, dict):
        if any(isinstance(item, list | dict) and item for item in value.values()):
            return None
        for key, item in value.items():
            name = re.sub(r"[^a-z]+", "_", fold(str(key)))
            if (item is True and name in _IF_TRUE) or (item is False and name in _IF_FALSE):
                return f"{key}: {str(item).lower()}"
            if isinstance(item, str) and _empty_besides(value) and _NOT_NOW.search(fold(item[:600])):
                return one_line(item, 100)
        return None
    return one_line(text, 100) if isinstance(value, str) and len(text) <= 600 and _NOT_NOW.search(fold(text)) else None


def _empty_besides(value: dict[str, object]) -> bool:
    """Whether an object is no record of a thing: it has an empty list or nothing, a count of none, or few fields."""
    return len(value) <= 3 or any(item in ([], {}, None) or (item == 0 and item is not False) for item in value.values())


def made_anew(known: Doings, action: Action, reported: int | None) -> tuple[str, float, Evidence] | None:
    """What was created for want of an answer, before anybody was told. ``reported``: the step that told it."""
    run = action.run
    if action.effect is not None or action.step is None or not action.terms:
        return None
    if set(words_of(_english(action.name))) & _OTHER_LOOKS:
        return None
    kinds, place = _object(action), _address(run, reads=True)
    for later in known.actions_behind(action.before, _NEAR):
        if later.name == action.name and later.run.kind == "tool":
            if later.terms == action.terms and _answers(later):
                return None
            continue
        if (
            later.effect is None
            and looks(_english(later.name))
            and action.terms & later.terms
            and kinds & _object(later)
            and _answers(later)
        ):
            return None  # it was looked for in another way
        if later.step is None or later.step.number <= action.step.number or not later.ok or later.failure is not None:
            continue
        deeds = {stem(word) for word in (*words_of(later.name), *words_of(_english(later.name)))}
        if later.effect is None and not deeds & _ENTERS:
            continue
        if reported is not None and later.step.number >= reported:
            return None
        if any(passage.kind == "user" for passage in known.passages[action.before : later.before]):
            return None
        if set(words_of(later.name)) & _LOOKS_ITSELF or not (deeds & _MAKES or (later.run.kind == "http" and later.run.method == "POST")):
            continue
        same = bool(kinds & _object(later)) or (place is not None and place == _address(later.run, reads=False))
        if not same or not {term for term in action.terms & later.terms if len(term) > 2} or _told_to(known, later, deeds & _MAKES):
            continue
        return f"it then made {quoted(later.run.title, 100)}, as if there were none", STRONG + 0.02, later.cite("what was made anew")
    return None


def _answers(action: Action) -> bool:
    """Whether a look-up found something, or says that there is nothing."""
    return (action.failure is None or action.failure.kind == "nothing") and cannot_tell(action.run) is None


def _english(name: str) -> str:
    return "_".join(english_of(word) or word for word in words_of(name))


def _object(action: Action) -> frozenset[str]:
    """The words of a tool's name for what it is about."""
    if action.run.kind != "tool":
        return frozenset()
    words = [word for word in words_of(action.name) if len(word) > 3 and word not in BARE]
    return frozenset(stem(word) for word in words if not looks(_english(word))) - _MAKES - {"exist", "email", "name", "phone"}


def _address(run: Run, *, reads: bool) -> str | None:
    """The path that a call asked, or to which it gave something; without what it was asked for."""
    made = [run] if run.kind == "http" else [child for child in run.children if isinstance(child, Run) and child.kind == "http"]
    for one in made:
        if ((one.method or "GET").upper() in ("GET", "HEAD")) == reads:
            path = urlsplit(one.title.rpartition(" ")[2]).path.rstrip("/").lower()
            parts = path.split("/")
            return "/".join(parts[:-1] if reads and len(parts) > 2 and (any(c.isdigit() for c in parts[-1]) or parts[-1] in ("search", "lookup", "find", "query")) else parts)  # fmt: skip
    return None


def _told_to(known: Doings, later: Action, made: set[str]) -> bool:
    """Whether somebody said that it is to be made where the look-up fails."""
    return any(
        fails(sentence) and stems(sentence) & made
        for passage in (*known.passages[: min(8, later.before)], *known.users(later.before, 4))
        if passage.kind in ("system", "user")
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", passage.text[:20_000])
    )
