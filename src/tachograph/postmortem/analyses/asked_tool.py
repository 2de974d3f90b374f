"""The tool that a request asks for by its name, where another one was called that has the same object.

* *By what verbs mean*: the request has the verb of an offered tool's name, not that of the one that was called, which shares a word of its name.
* *By the names of the offered tools alone*: two names differ in the one word for the deed (``pause_campaign`` and ``end_campaign``), or are that word
  (``archiver`` and ``supprimer``), and the one that was asked for takes what the other one was given. The request orders the one, in a sentence about the
  thing, without a condition; and neither the other one nor anything of its kind. No word has to be known: forms of it have a beginning in common.

No other tool is meant where the one that was asked for was called as well, or had no use (a result, an answer or an instruction says so), where several
things were done with the object, or where the person was asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import terms, words_of
from tachograph.postmortem.language.tongues import english_of, fold
from tachograph.postmortem.language.verbs import groups, is_verb, stem, stems
from tachograph.postmortem.meaning.claims import reports_trouble
from tachograph.postmortem.meaning.effects import looks

from .siblings import NOT, parameters

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

_SENTENCE = re.compile(r"[.!?;\n]+(?=\s|\Z)|\n")
_CLAUSE = re.compile(r"[,:–—]\s|\s-\s")
_WORD = re.compile(r"[^\W\d_]+")
#: What says that something could not be done.
_COULD_NOT = re.compile(
    r"\b(?:can't|cannot|can not|could not|couldn't|unable|impossible|not (?:possible|allowed|supported|available)|fail\w*|error|instead|next|later|still to|nicht (?:moglich|erlaubt)|kann\w*|konnte\w*|fehl\w*|stattdessen|peut|pouvait|pu|possible|echou\w*|echec"
    r"|puede|pude|pudo|imposible|posible|puo|potuto|possibile|impossibile|pode|possivel|impossivel|kan|kon|mogelijk|onmogelijk)\b"
)
#: What stands before a noun.
_NOUN = frozenset(
    ["the", "a", "an", "my", "our", "your", "his", "her", "its", "their", "this", "that", "these", "those", "no", "any", "each", "every", "of", "with", "on", "for", "by", "in", "from", "at", "per", "last", "next", "new", "first",
     "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "meine", "unsere", "mit", "von", "zur", "zum", "im", "le", "la", "les", "un", "une", "du", "mon", "ma", "mes", "notre", "votre", "cette", "ce", "cet",
     "el", "los", "las", "una", "mi", "su", "nuestro", "nuestra", "il", "lo", "gli", "i", "uno", "mio", "mia", "nostra", "o", "os", "as", "um", "uma", "meu", "minha", "nossa", "het", "een", "mijn", "onze", "was", "is", "were", "been"]
)  # fmt: skip
_IF = re.compile(r"\b(?:if|unless|whether|either|or|otherwise|instead|after|wenn|falls|ob|oder|sonst|si|sinon|ou|sino|altrimenti|tenzij)\b")
#: Endings of what was done, or is being done.
_DONE = ("ed", "ing", "é", "ée", "és", "ées", "ado", "ada", "ados", "adas", "ato", "ata", "ati", "ido", "ida", "idos", "ito", "ita", "iti", "uto", "uta", "iert")  # fmt: skip
#: Letters that forms of a word have in common; shorter words are the same.
_COMMON = 5
#: Actions and answers around an act that are looked at.
_NEAR = 40
#: Characters of a request.
_LONG = 4000


def other_asked(action: Action, request: Passage, known: Doings) -> tuple[str, bool] | None:
    """The name of the tool that a request asks for, and whether the names of the offered tools tell it alone."""
    if action.step is None or action.run.kind != "tool":
        return None
    text = known.own_words(request)
    since = [
        other
        for other in (*known.actions_before(action.before, _NEAR), *known.actions_behind(action.before - 1, _NEAR))
        if other.run.seq > request.seq or (other.step is not None and other.step.seq > request.seq)
    ]
    called = {one.run.name for one in since}
    offered = [name for name in action.step.seen.tools if name != action.name and name not in called]
    for name in offered:
        asked = _by_verb(action.name, name, stems(text))
        ordered = asked and any(asked <= stems(one) and not _IF.search(one.lower()) for one in _SENTENCE.split(text[:_LONG]))
        deed = next((word for word in words_of(name) if stem(word) in asked), "")
        if ordered and not _has_no_use(action, request, deed, known):
            return name, False
    for name in offered:
        deeds = _deeds(action.name, name)
        if deeds is None or _reads(name) or len(deeds[1]) < 4:
            continue
        if fold(deeds[1])[:_COMMON] not in _beginnings(text[:_LONG]):
            continue
        if _orders(text[:_LONG], action, name, deeds) and not _several(action, since) and not _has_no_use(action, request, deeds[1], known):
            taken = parameters(name, known).keys()
            # Names without a common object are of one kind where they take the same.
            if (
                (taken and taken == parameters(action.name, known).keys())
                if len(words_of(name)) == 1
                else not taken or _keys(action) <= taken
            ):
                return name, True
    return None


@remembered
def _beginnings(text: str) -> frozenset[str]:
    """The first letters of a text's words."""
    return frozenset(fold(word)[:_COMMON] for word in _WORD.findall(text))


def _by_verb(mine: str, other: str, asked: frozenset[str]) -> frozenset[str]:
    """The stems by which a request asks for the other one of two tools that share a word."""
    own, theirs = {stem(word) for word in words_of(mine)}, {stem(word) for word in words_of(other)}
    doing = {one for one in own if is_verb(one)}
    if not doing or doing & asked or not theirs & own - {one for one in theirs & own if is_verb(one) and len(theirs & own) > 1}:
        return frozenset()
    other_doing = frozenset(one for one in theirs - own if is_verb(one))
    return other_doing if other_doing <= asked and own - theirs <= doing else frozenset()


def _deeds(mine: str, other: str) -> tuple[str, str] | None:
    """The one word in which two names differ, at the same end of both."""
    own, theirs = words_of(mine), words_of(other)
    if not own or len(own) != len(theirs):
        return None
    if own[1:] == theirs[1:] and own[0] != theirs[0]:
        return own[0], theirs[0]
    if own[:-1] == theirs[:-1] and own[-1] != theirs[-1]:
        return own[-1], theirs[-1]
    return None


def _reads(name: str) -> bool:
    return looks("_".join(english_of(word) or word for word in words_of(name)))


def _keys(action: Action) -> set[str]:
    return {path.partition(".")[0].partition("[")[0] for path, _ in action.leaves}


def is_form(word: str, of: str) -> bool:
    """Whether a word is one of another word's forms that order something: a verb as it is, or with the same first letters."""
    spoken, meant = fold(word), fold(of)
    if word.lower().endswith(_DONE) and not meant.endswith(fold(word)[-2:]):
        return False
    if spoken == meant:
        return True
    return len(meant) >= _COMMON and spoken[:_COMMON] == meant[:_COMMON] and abs(len(spoken) - len(meant)) <= 4


def _orders(text: str, action: Action, name: str, deeds: tuple[str, str]) -> bool:
    """Whether a request orders the other deed, of this thing, and not the one that was done."""
    own, theirs = deeds
    objects = {stem(word) for word in words_of(name)} - {stem(theirs)}
    spoken = stems(text)
    kinds = groups({stem(own)}) - groups({stem(theirs)})
    spoken |= {stem(english) for word in _WORD.findall(text) if (english := english_of(word))}
    if any(is_form(word, own) for word in _WORD.findall(text)) or stem(own) in spoken or kinds & groups(spoken - objects - {stem(theirs)}):
        return False
    things = action.terms & set(terms(text))
    fields = {stem(word) for key in _keys(action) for word in words_of(key)} | objects
    for sentence in _SENTENCE.split(text):
        if _IF.search(sentence.lower()):
            continue
        if not (things & set(terms(sentence)) if things else fields & stems(sentence)):
            continue
        tokens = _WORD.findall(sentence)
        for at, token in enumerate(tokens):
            if is_form(token, theirs) and (at == 0 or tokens[at - 1].lower() not in _NOUN):
                # What is not to be stands in the same clause: “put it into the archive, we no longer need it” orders it.
                return not any(NOT.search(clause) for clause in _CLAUSE.split(sentence) if token in _WORD.findall(clause))
    return False


def _several(action: Action, since: list[Action]) -> bool:
    """Whether another thing was done with the object for the same request: the one as a step of what was asked for."""
    return any(
        other.effect is not None and other.run.name != action.name and (other.terms & action.terms or not action.terms) for other in since
    )


def _owns_up(text: str, deed: str) -> bool:
    """Whether a last answer says of the other deed only that it was not done, without a reason: that is no use that it did not have."""
    told = [sentence for sentence in _SENTENCE.split(text) if fold(deed)[:4] in fold(sentence)]
    return bool(told) and all(NOT.search(one) for one in told) and "?" not in text and not _COULD_NOT.search(fold(text))


def _has_no_use(action: Action, request: Passage, deed: str, known: Doings) -> bool:
    """Whether something says that the other tool cannot do it, or is not to be used; or the person is asked about it."""
    theirs = fold(deed)
    for passage in known.passages[known.place(request) + 1 : action.before]:
        if passage.kind != "model" and theirs[:4] in fold(passage.text[:20_000]):
            return True
    for passage in (*known.passages[: min(8, action.before)], *known.users(action.before, 4)):
        if passage is request or passage.kind not in ("system", "user") or ".tools[" in passage.position:
            continue
        for sentence in _SENTENCE.split(known.own_words(passage)[:20_000]):
            words = _WORD.findall(sentence)
            if any(is_form(word, deed) for word in words):
                return True
    place = known.place(request)
    for reply in known.replies_behind(place, _NEAR):
        spoken = theirs[:4] in fold(reply.text)
        if spoken and reply.rests and action.step is not None and reply.step.number > action.step.number and _owns_up(reply.text, deed):
            continue
        if spoken and ("?" in reply.text or reports_trouble(reply.text) or any(is_form(word, deed) for word in _WORD.findall(reply.text))):
            return True  # it says that this is still to be done
    return False
