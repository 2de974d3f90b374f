"""Siblings: tools, or values of one argument, that differ in the target alone (``exec_live`` and ``exec_staging``, ``env: live | staging``), and which of two
a request names.

Two tools are siblings where their names differ in one word and their parameters are the same. What a request names is told by the clause that has the
act's own words or the terms of its arguments; where that names neither, by the whole message; where that names neither, by an earlier one. A name counts
where it is a target: behind a preposition, or behind the word for the act.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import terms, words_of
from tachograph.postmortem.language.verbs import groups, is_verb, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

#: Requests behind which a target is no longer looked for.
_ASKED = 6
_CLAUSE = re.compile(r"[.!?;:\n]+(?=\s|\Z)|[;\n]|,\s")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[\w.-]+")
_TOWARDS = frozenset(["on", "onto", "in", "into", "to", "at", "from", "for", "against", "auf", "im", "ins", "zu", "zum", "zur", "nach", "für", "von", "vom", "aus", "bei", "sur", "dans", "vers", "à", "au", "pour", "de", "du", "en", "al", "para", "por", "desde", "hacia", "su", "sul", "nel", "per", "da", "op", "naar", "voor", "em", "no", "na"])  # fmt: skip
NOT = re.compile(r"\b(?:not|don't|don’t|never|except|without|nicht|kein\w*|außer|ohne|pas|sauf|sans|sin|salvo|non|tranne|senza|niet|behalve|não|exceto|sem)\b", re.IGNORECASE)  # fmt: skip
#: What is only compared with.
_THAN = re.compile(
    r"\b(?:than|unlike|compared|like|as (?:in|on|with)|wie|als|verglichen|comme|que|como|rispetto|dan|zoals)\b", re.IGNORECASE
)
#: Names of arguments that say where something is done, or in what.
_WHERE = frozenset(["env", "environment", "target", "stage", "cluster", "region", "database", "db", "account", "branch", "tenant", "site", "store", "warehouse", "location", "zone", "space", "realm", "instance", "host", "destination", "currency", "side", "direction", "umgebung", "ziel", "entorno", "environnement", "ambiente"])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sibling:
    """``name``: the one that the request names, ``word`` by which; ``own``: the word of the one that was used; ``request``: which says so."""

    name: str
    word: str
    own: str
    request: Passage


def other_meant(action: Action, requests: list[Passage], known: Doings) -> Sibling | None:
    """The sibling that a request names, where another one was used and the request does not name that."""
    if action.step is None or action.run.kind != "tool":
        return None
    for name, own, word in (*_tools(action, known), *_options(action, known)):
        request = _names_other(own, word, action, requests, known)
        if request is not None and not _done_there(name, own, action, known):
            return Sibling(name=name, word=word, own=own, request=request)
    return None


def _tools(action: Action, known: Doings) -> Iterator[tuple[str, str, str]]:
    """The siblings of a tool, each with the word of this one and its own."""
    assert action.step is not None
    mine = words_of(action.name)
    for name in action.step.seen.tools:
        theirs = words_of(name)
        if name == action.name or len(mine) < 2 or len(theirs) < 2:
            continue
        only, other = set(mine) - set(theirs), set(theirs) - set(mine)
        if len(only) != 1 or len(other) != 1 or not set(mine) & set(theirs):
            continue
        own, word = only.pop(), other.pop()
        if (is_verb(own) and mine[0] == own) or (is_verb(word) and theirs[0] == word) or stem(own) == stem(word):
            continue
        takes = parameters(action.name, known)
        if takes and takes.keys() == parameters(name, known).keys():
            yield name, own, word


def _options(action: Action, known: Doings) -> Iterator[tuple[str, str, str]]:
    """The other values that an argument may have, where it says where something is done."""
    taken = parameters(action.name, known)
    for path, text in action.leaves:
        if not set(words_of(path.rpartition(".")[2])) & _WHERE:
            continue
        allowed = taken.get(path, {}).get("enum")
        if isinstance(allowed, list) and text in allowed:
            yield from ((one, text, one) for one in allowed[:24] if isinstance(one, str) and one != text and len(one) > 2)


def parameters(name: str, known: Doings) -> dict[str, dict[str, Any]]:
    """A tool's parameters."""
    for passage in reversed(known.definitions):
        if passage.name == name:
            schema = parsed(passage.text)
            properties = schema.get("properties") if isinstance(schema, dict) else None
            if isinstance(properties, dict):
                return {str(key): one if isinstance(one, dict) else {} for key, one in properties.items()}
    return {}


def _done_there(name: str, own: str, action: Action, known: Doings) -> bool:
    """Whether the same was done by the sibling before: then it is done in both."""
    return any(
        (one.name == name and one.leaves == action.leaves)
        or (one.name == action.name and any(text == name for _, text in one.leaves) and _but(one, name) == _but(action, own))
        for one in known.actions_before(action.before)
    )


def _but(action: Action, value: str) -> list[tuple[str, str]]:
    """The arguments of a call other than one value."""
    return [leaf for leaf in action.leaves if leaf[1] != value]


def _names_other(own: str, word: str, action: Action, requests: list[Passage], known: Doings) -> Passage | None:
    mine, theirs = stem(own), stem(word)
    shared = {stem(one) for one in words_of(action.name)} - {mine}
    about = {one for _, text in action.leaves for one in terms(text[:2000]) if len(one) > 3 and one not in (own, word)}
    for place, request in reversed(list(enumerate(requests[-_ASKED:]))):
        text = known.own_words(request)[:8000]
        named = stems(text) & {mine, theirs}
        if not named:
            continue
        clauses = [piece for piece in _CLAUSE.split(text) if piece.strip()]
        scores = [
            2 * len(about & set(terms(piece))) + bool((shared & stems(piece)) or groups(shared) & groups(stems(piece))) for piece in clauses
        ]
        best = [piece for piece, score in zip(clauses, scores, strict=True) if score == max(scores) and score > 0]
        told = [piece for piece in best if stems(piece) & {mine, theirs}] or [piece for piece in clauses if not _THAN.search(piece)]
        if any(mine in stems(piece) for piece in told) or any(theirs in stems(piece) and NOT.search(piece) for piece in told):
            return None
        if not any(_is_target(piece, theirs, shared) for piece in told):
            return None
        # Somebody spoke of the other one since, and was answered.
        later = requests[-_ASKED:][place + 1 :]
        asked = later and any(
            mine in stems(reply.text) for reply in known.replies_behind(known.place(request)) if reply.before < action.before
        )
        return None if asked else request
    return None


def _is_target(clause: str, word: str, deed: set[str]) -> bool:
    tokens = _TOKEN.findall(clause)
    for at, token in enumerate(tokens):
        if stem(token) == word or word in stems(token):
            before = tokens[max(at - 3, 0) : at]
            if any(one.lower() in _TOWARDS or stem(one) in deed for one in before):
                return True
    return False
