"""A look-up that failed with an error, and of which it was then said, or told to a tool, that there is none.

*Told to a tool*: a later effect that names the same thing fills a field of the look-up's own name (``allergies``; or of the name under which its answer
has nothing) with a value that means none. *Said*: an answer says that there is no such thing as the look-up is for, by its tool's name and description.
An error that says itself that there is nothing (not found) may be read so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.terms import words, words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import reports_trouble, sentences
from tachograph.postmortem.meaning.records import empty_fields
from tachograph.postmortem.values import quoted

from .contract import STRONG
from .depends import BARE, root, roots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Evidence
    from tachograph.postmortem.meaning.actions import Action, Doings, Reply
    from tachograph.postmortem.meaning.results import Failure

#: Actions and answers behind a look-up that are looked at.
_NEAR = 40
#: What a field holds that says that there is none, folded.
_NONE = frozenset(
    ["none", "no", "nil", "0", "n/a", "nothing", "zero", "false", "negative", "clear", "no known", "none known", "keine", "keiner", "kein", "nein", "nichts", "aucun", "aucune", "neant", "rien", "non",
     "ninguno", "ninguna", "nada", "nessuno", "nessuna", "niente", "nenhum", "nenhuma", "nao", "geen", "niets", "nee"]
)  # fmt: skip
#: Words in front of what there is not, in seven languages; some of them mean so only there.
_NO = re.compile(
    r"\b(?:no|none|nothing|zero|without|free of|kein\w{0,2}|nichts|ohne|aucune?|pas d[e'’]|rien|sans|ningun\w?|nada|sin|nessun\w?|niente|senza|nenhum\w?|sem|geen|niets|zonder)\b(?P<rest>[^.;:!?\n]{0,60})"
)
_NONE_AFTER = re.compile(
    r"(?P<rest>[^.;:!?\n]{0,60})[:=–-]\s{0,2}(?:none|nothing|no|nil|keine?r?|nichts|aucune?|rien|neant|ningun[oa]|nada|nessun[oa]|niente|nenhuma?|geen|niets)\b"
)
#: An error that says that there is nothing of the kind.
_ABSENT = re.compile(
    r"\b(?:404|410|not[ _-]?found|notfound|no such|no (?:\w+ ){0,2}(?:found|exists?|match\w*|results?|records?|entries|rows|data)|does not exist|doesn't exist|unknown|not (?:exist\w*|registered|listed|in)"
    r"|nicht (?:gefunden|vorhanden)|unbekannt|introuvable|inexistant\w?|inconnu\w?|no encontrad[oa]|no existe|desconocid[oa]|non trovat[oa]|inesistente|nao encontrad[oa]|nao existe|niet gevonden|onbekend)\b"
)
Shown = tuple[str, float, "Evidence"]


def is_absence(failed: Failure) -> bool:
    """Whether an error says that there is nothing of the kind."""
    return failed.kind == "nothing" or _ABSENT.search(fold(failed.what)) is not None


def tells(reply: Reply) -> bool:
    """Whether an answer says that something did not work; that there is none of something says no such thing."""
    spoken = _NOT_THERE.sub(" ", fold(reply.text))
    return reports_trouble(_NO_ALONE.sub(" ", _NO.sub(lambda match: match["rest"], spoken)))


_NO_ALONE = re.compile(r"\b(?:none|nothing)\b")
#: That somebody or something is not there, as of a list.
_NOT_THERE = re.compile(
    r"\b(?:(?:is|are|was|were)(?: not|n't)(?: yet)? (?:in|on|among|known|listed|registered|there|present|one of|a (?:customer|member|client|patient|user))|(?:does not|doesn't|do not|don't)(?: yet)? exist|not (?:yet )?(?:in|on) (?:the|our|file|record)"
    r"|(?:ist|sind|steht|war)\b[^.;!?\n]{0,20}? nicht (?:im|in|auf|bei|bekannt|vorhanden|registriert)|existiert\w* (?:noch )?nicht|nicht im (?:system|bestand)"
    r"|n'(?:est|existe|existent)(?: donc)? pas (?:dans|encore|connue?|enregistree?|inscrite?)?|no (?:esta|existe|figura|consta)\w*|non (?:e|esiste|risulta|figura) (?:nel|in|ancora|presente|registrat[oa])?|nao (?:esta|existe|consta)"
    r"|(?:staat|is|bestaat) (?:nog )?niet(?: (?:in|bekend|geregistreerd))?)"
)


def said_none(known: Doings, action: Action, failed: Failure) -> Shown | None:
    """What was made of it, or is said."""
    if action.effect is not None or action.step is None or action.run.kind != "tool" or is_absence(failed):
        return None
    return _to_a_tool(known, action) or _in_words(known, action)


def _to_a_tool(known: Doings, action: Action) -> Shown | None:
    named = {stem(word) for word in words_of(action.name)}
    for text in (action.run.given.text(), action.run.output.text()):
        named |= {stem(word) for name in empty_fields(text) for word in words_of(name)}
    named = {one for one in named if len(one) > 3 and one not in BARE}
    for later in known.actions_behind(action.before, _NEAR) if named else ():
        if later.effect is None or later.step is None or action.step is None or later.step.number <= action.step.number:
            continue
        if any(passage.kind == "user" for passage in known.passages[action.before : later.before]):
            return None
        if action.leaves and not action.terms & later.terms:
            continue
        for path, text in later.leaves:
            field = {stem(word) for word in words_of(path.rpartition(".")[2].partition("[")[0])}
            if field & named and fold(text).strip(" .!") in _NONE and not _told_so(known, later, field):
                return (
                    f"it then told {quoted(later.run.title, 100)} that there is none ({path}: {text})",
                    STRONG + 0.04,
                    later.cite(f"{path} is {text}"),
                )
    return None


def _told_so(known: Doings, later: Action, field: set[str]) -> bool:
    """Whether a person said themselves that there is none."""
    return any(
        field & {stem(word) for word in words(match["rest"])}
        for passage in known.users(later.before, 4)
        for match in _NO.finditer(fold(known.own_words(passage)[:4000]))
    )


def _in_words(known: Doings, action: Action) -> Shown | None:
    assert action.step is not None
    kind = _kind_of(known, action)
    again = any(
        other.name == action.name and other.failure is None and other is not action for other in known.actions_before(action.before + _NEAR)
    )
    own = {fold(term) for term in action.terms if len(term) > 2}
    for reply in known.replies_behind(action.before, _NEAR) if kind else ():
        if reply.step.number <= action.step.number:
            continue
        if any(passage.kind == "user" for passage in known.passages[action.before : reply.before]):
            return None
        for sentence in sentences(reply.text):
            if "?" in sentence or (again and not own & {fold(word) for word in words(sentence)}):
                continue
            if _told_of(known, reply.before, kind):
                return None
            if any(kind & set(_first_roots(piece, at_end=at_end)) for piece, at_end in _denied(sentence)):
                return f"it says {said(sentence)}", STRONG, reply.cite(f"it says that there is none: {said(sentence)}")
    return None


def _told_of(known: Doings, before: int, kind: frozenset[str]) -> bool:
    """Whether a person said themselves that there is none of a kind."""
    return any(
        kind & set(_first_roots(piece, at_end=at_end))
        for passage in known.users(before, 4)
        for piece, at_end in _denied(known.own_words(passage)[:4000])
    )


def _kind_of(known: Doings, action: Action) -> frozenset[str]:
    """The roots of the words that say what a call looks up, and no other call that went well did."""
    others = {
        other.name: other
        for other in known.actions_before(action.before + _NEAR)
        if other.name != action.name and other.failure is None and other.effect is None
    }
    taken: frozenset[str] = frozenset().union(*(roots(other, known) for other in list(others.values())[:24]))
    return roots(action, known) - taken - {root(word) for word in ("checks", "check", "search", "lookup", "looks", "fetch", "returns")}


def _denied(sentence: str) -> Iterator[tuple[str, bool]]:
    """What a sentence says that there is none of, and whether it stands at the end of the piece."""
    spoken = fold(sentence)
    yield from ((match["rest"], False) for match in _NO.finditer(spoken))
    yield from ((match["rest"], True) for match in _NONE_AFTER.finditer(spoken))


def _first_roots(piece: str, *, at_end: bool) -> list[str]:
    found = re.findall(r"[^\W\d_]+", piece)
    return [root(word) for word in (found[-4:] if at_end else found[:4])]
