"""Sentences of other languages, with the words that the analyses look for put into English.

German, French, Spanish, Italian, Portuguese and Dutch. This is no translation: a word that is not in the tables stays as it is, and so do names and
numbers. What comes out is for the patterns and the stems alone; what is quoted to a person is always the text itself.

A verb's form is kept as far as it matters: what was done (``enviado``, ``wurde gesendet``) comes out as a past form, a noun as a plural (``Überweisung``
is ``transfers``), so that neither is taken for being told to do it. A word for *not* comes out as one of forbidding only where it stands as one does
(at the start of a clause, behind *may* or *shall*, before an infinitive): ``No se encontró`` forbids nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from .remembered import remembered
from .terms import Pieces
from .tongue_tables import COMMON, ENGLISH, NOUNS, PHRASES, TOLD, VERBS, WORDS

LANGUAGES = ("german", "french", "spanish", "italian", "portuguese", "dutch")
#: Characters of a text that are looked at for its language.
_LOOKED_AT = 4000
_COMMON = {language: frozenset(words.split()) for language, words in COMMON.items()}
_LETTERS = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"(?P<word>[^\W\d_]+)(?P<apostrophe>['’](?=[^\W\d_]))?")
#: ``5.000``, ``18.400,00``, ``6,8``: thousands and decimals the other way round.
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3}){1,5})(,\d{1,4})?(?![\d.,]\d)")
_DECIMALS = re.compile(r"(?<![\d.,])(\d{1,15}),(\d{1,2})(?!\d|[.,]\d)")
_SPACED = re.compile(r"(?<![\d.,])(\d{1,3}(?:[  ]000){1,3})(?![\d.,]\d)")
#: Endings of what was done, by language; they are looked for with their accents.
_DONE = {
    "spanish": ("ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas", "ó", "aron", "ieron"),
    "portuguese": ("ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas", "ou", "aram", "eram"),
    "italian": ("ato", "ata", "ati", "ate", "ito", "ita", "iti", "ite", "uto", "uta", "uti", "ute"),
    "french": ("é", "ée", "és", "ées"),
    "german": (),
    "dutch": (),
}
_NOT = frozenset(["nicht", "ne", "n", "no", "non", "nao", "niet"])
_TOLD = frozenset(TOLD.split())
_MODAL = re.compile(r"\b(?:may|must|should|shall|can)\b[^.;:!?]{0,80}\Z")
_HAPPENED = re.compile(r"\b(?:was|were|is|are|has|have|had|will)\b")
_CLAUSE = re.compile(r"[.;:!?\n]")
_START = re.compile(r"(?:\A|[.;:!?,(\n–—-])[\s\"'*>#•\d.)-]{0,8}(?:please |and |but |also )?\Z")
_INFINITIVES = {
    "german": ("en", "ern"), "dutch": ("en",), "french": ("er", "ir", "re"), "spanish": ("ar", "er", "ir"), "portuguese": ("ar", "er", "ir"),
    "italian": ("are", "ere", "ire"),
}  # fmt: skip


def fold(word: str) -> str:
    """A word in lower case without its accents: ``Überweisung`` is ``uberweisung``."""
    word = word.lower().replace("ß", "ss")
    return word if word.isascii() else "".join(one for one in unicodedata.normalize("NFKD", word) if not unicodedata.combining(one))


@remembered
def tongue(text: str) -> str | None:
    """The language of a text where it is one of the six, else ``None``: English, another, or too short to say. By its commonest words and those of
    the tables; English words count against it."""
    if sum(_FOREIGN.of(text[:_LOOKED_AT])) < 2:
        return None
    counted = Counter(_SIGNS_OF.of(text[:_LOOKED_AT]))
    length, english = 0, 0
    common, told = dict.fromkeys(LANGUAGES, 0), dict.fromkeys(LANGUAGES, 0)
    for (words, in_english, in_common, in_tables), times in counted.items():
        length += words * times
        english += in_english * times
        for name in in_common:
            common[name] += times
        for name in in_tables:
            told[name] += times
    if length < 3:
        return None
    best = max(LANGUAGES, key=lambda name: common[name])
    if english > common[best] + 1:
        return None
    # The tables tell of short sentences, in which hardly any of the commonest words stand.
    if common[best] < 2 or sum(count == common[best] for count in common.values()) > 1:
        common = {name: common[name] + told[name] for name in LANGUAGES}
        best = max(LANGUAGES, key=lambda name: common[name])
    return best if common[best] >= 2 and common[best] > english and common[best] * 12 >= length else None


def _signs(piece: str) -> tuple[int, int, tuple[str, ...], tuple[str, ...]]:
    """What a piece of a text between blanks says of its language: how many words, how many of the commonest English ones, and the languages of whose
    commonest words, or of whose tables, one is (once for each word)."""
    words = [fold(word) for word in _LETTERS.findall(piece)]
    english = sum(word in _COMMON["english"] for word in words)
    common = tuple(name for word in words for name in LANGUAGES if word in _COMMON[name])
    known = [word for word in words if word not in _ENGLISH and _in_a_table(word)]
    told = tuple(name for word in known for name in LANGUAGES if _looked_up(word, name) is not None)
    return len(words), english, common, told


_SIGNS_OF = Pieces(_signs)


def may_be_foreign(piece: str) -> bool:
    """Whether a piece of a text between blanks counts for any language; a text without such a one is in none of them."""
    return _FOREIGN[piece] > 0


#: Of each piece how much can be counted for one language at the most.
_FOREIGN = Pieces(lambda piece: len(_SIGNS_OF[piece][2]) + len(_SIGNS_OF[piece][3]))


@lru_cache(maxsize=16384)
def gloss(text: str, of: str | None = None) -> str:
    """A text with what the tables know in English. ``of``: its language where that is known, as of the text in which a short sentence stands; else it
    is looked at by itself. A text in English comes back as it is."""
    language = tongue(text) or (of if not _is_english(text) else None)
    if language is None:
        return text
    text = _numbers(text)
    for pattern, english in _PHRASES[language]:
        text = pattern.sub(english, text)
    made: list[str] = []
    end = 0
    for match in _TOKEN.finditer(text):
        made.append(text[end : match.start()])
        made.append(_word(match, language, text, "".join(made[-12:])))
        end = match.end()
    return "".join(made) + text[end:]


@lru_cache(maxsize=65536)
def english_of(word: str) -> str | None:
    """A single word in English, as of a tool's name, whichever of the languages it is of; ``None`` where it is none of theirs, is an English word, too, or
    means different things in two of them. Verbs in their infinitive alone: other forms look too much like English words."""
    bare = fold(word)
    if len(bare) < 4 or bare in _ENGLISH:
        return None
    for spelled in dict.fromkeys((bare, re.sub("([aou])e", r"\1", bare))):
        found = {
            meant[2:] for language in LANGUAGES if (meant := _looked_up(spelled, language)) is not None and _names(meant, spelled, language)
        }
        if len(found) == 1:
            return found.pop()
    return None


def _names(meant: str, bare: str, language: str) -> bool:
    return meant[:2] == "n:" or (meant[:2] == "v:" and bare.endswith(_INFINITIVES[language]))


def _is_english(text: str) -> bool:
    return sum(fold(word) in _COMMON["english"] for word in _LETTERS.findall(text[:_LOOKED_AT])) >= 2


def _numbers(text: str) -> str:
    text = _THOUSANDS.sub(lambda match: match[1].replace(".", "") + (match[2] or "").replace(",", "."), text)
    return _DECIMALS.sub(r"\1.\2", _SPACED.sub(lambda match: re.sub(r"\D", "", match[1]), text))


def _word(match: re.Match[str], language: str, text: str, before: str) -> str:
    said = match["word"]
    bare = fold(said)
    if match["apostrophe"]:  # ``n'envoyez``, ``l'agent``: the word before it is an article or a negation
        if bare in _NOT:
            return _negation(language, text, match.end(), before) + " "
        return (_looked_up(bare, language) or ("of the" if bare in ("d", "dell", "all") else "the" if len(bare) <= 4 else said)) + " "
    if bare in _NOT and (language, bare) not in (("french", "no"), ("german", "no"), ("dutch", "no"), ("french", "non")):
        return _negation(language, text, match.end(), before)
    found = _looked_up(bare, language)
    if found is None:
        return said
    kind, english = (found[0], found[2:]) if found[1:2] == ":" else ("", found)
    if kind == "v":
        return english + "ed" if said.lower().endswith(_DONE[language]) and len(said) > 4 else english
    return english + "s" if kind == "n" and not english.endswith("s") else english


def _negation(language: str, text: str, end: int, before: str) -> str:
    """What a word for *not* comes out as. ``end``: where it ends in the text; ``before``: what stands before it, in English by now."""
    following = [fold(word) for word in _LETTERS.findall(_CLAUSE.split(text[end : end + 120])[0])]
    first = following[0] if following else ""
    if _MODAL.search(before) or _looked_up(first, language) in ("must", "may", "should", "can"):
        return "must not"
    if first in _TOLD:
        return "not"
    if _START.search(before):
        return "do not"
    if language in ("german", "dutch"):
        # An infinitive at the end, without an auxiliary verb: it is not to be done. Else a verb at the beginning: do not do it.
        begins = _LETTERS.search(_CLAUSE.split(before)[-1])
        told = any(one.endswith("en") and (_looked_up(one, language) or "").startswith("v:") for one in (first, *following[-1:]))
        if (told and not _HAPPENED.search(before[-80:])) or (begins is not None and begins[0].lower() in _VERBS_ENGLISH):
            return "do not"
    return "not"


@lru_cache(maxsize=65536)
def _looked_up(bare: str, language: str) -> str | None:
    """What a folded word means: ``v:send``, ``n:transfer``, or other words as they are."""
    found = _EXACT[language].get(bare)
    if found is not None:
        return found
    begins = _BEGINS[language]
    for length in range(min(len(bare), 16), max(3, len(bare) - 8), -1):
        found = begins.get(bare[:length])
        if found is not None:
            return found
    return None


def _in_a_table(bare: str) -> bool:
    """Whether a folded word may mean something in any of the languages: a quick look."""
    return bare in _ANY_EXACT or any(bare[:length] in _ANY_BEGINS for length in range(max(3, len(bare) - 8) + 1, min(len(bare), 16) + 1))


def _table(language: str) -> tuple[dict[str, str], dict[str, str]]:
    exact: dict[str, str] = {}
    begins: dict[str, str] = {}
    for kind, table in (("", WORDS), ("n:", NOUNS), ("v:", VERBS)):
        for english, foreign in table[language].items():
            for word in foreign.split():
                if word.endswith("*"):
                    begins.setdefault(fold(word[:-1]), kind + english)
                else:
                    exact.setdefault(fold(word), kind + english)
    return exact, begins


_TABLES = {language: _table(language) for language in LANGUAGES}
_EXACT = {language: tables[0] for language, tables in _TABLES.items()}
_BEGINS = {language: tables[1] for language, tables in _TABLES.items()}
_ANY_EXACT, _ANY_BEGINS = frozenset().union(*_EXACT.values()), frozenset().union(*_BEGINS.values())
_PHRASES = {
    language: [(re.compile(rf"(?<!\w)(?:{foreign})(?!\w)", re.IGNORECASE), english) for english, foreign in PHRASES[language].items()]
    for language in LANGUAGES
}
_VERBS_ENGLISH = frozenset(english for table in VERBS.values() for english in table)
_ENGLISH = frozenset(ENGLISH.split()) | _COMMON["english"]
