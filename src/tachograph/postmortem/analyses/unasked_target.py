"""Where something goes (an account, an address, a link) was told by a text that came in as data, though nobody had asked for it.

*Cause*: a sentence of a tool's result, a document or a memory that says what to do with an address-like value, without any word to the agent itself.
*Consequence*: an effect outside is given that value, which stood nowhere before. These patterns are more than data that was used:

- the value **replaces** another one of its kind that a record had shown under that name, in an effect that has nothing of what the person named, beside
  another one that has; and neither person nor system prompt speaks of such a change;
- the text speaks to **whoever reads** it (assistants, clerks, bots), or says what is usually done, and tells the whole deed, of a kind that nobody had asked for;
- the value is a **further receiver**, of another domain than all that person and system prompt name, beside those that the person wanted; and what the agent
  says afterwards names those, and leaves just this one out.

A sentence that asks not to be told or checked makes either surer. By values, domains and order; a sentence's words are compared with the call's own
(its name, description and arguments), so that no language is needed.

*Cannot see*: values that are no targets (an amount, a setting); a person who asked to do as the text says is believed (``poisoned_context``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import names_one, terms, words, words_of
from tachograph.postmortem.language.tongues import english_of, fold, gloss
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.actions import Action, Doings, pieces
from tachograph.postmortem.meaning.directives import directives
from tachograph.postmortem.meaning.effects import acts, does
from tachograph.postmortem.meaning.records import records
from tachograph.postmortem.values import quoted

from .contract import LIKELY, STRONG, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.passages import Passage

#: The text that told a value, its sentence, what was done, how sure, why, the value.
Told = tuple["Passage", str, Action, float, str, str]
DATA = ("tool_result", "file", "document", "memory", "subagent")
_ADDRESS = re.compile(r"(?:[\w.+-]{1,80}@|https?://)((?:[\w-]{1,60}\.){1,6}[A-Za-z]{2,24})\b")
#: An account, a card, a phone: long, mostly digits, with blanks and marks within.
_CODE = re.compile(r"(?<![\w@.])(?:[A-Z]{2}\d{2}|\+)?[A-Z0-9](?:[ ./-]?[A-Z0-9]){8,33}(?![\w@])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
#: Not to be told, asked or checked, in the languages of the tables (``gloss`` has put the verbs into English) and in Latin letters.
_HUSH = re.compile(
    r"\b(?:do(?:es)? not|don'?t|doesn'?t|not|no|never|without|must not|need not|nicht|kein\w*|ohne|pas|sans|sin|senza|non|sem|n[aã]o|niet|zonder)\b[^.;!?\n]{0,60}?"
    r"\b(?:mention\w*|tell\w*|list(?:s|ed|ing)?|ask\w*|confirm\w*|call\w* (?:it )?out|disclos\w*|reveal\w*|report\w*|notif\w*|inform\w*|questions?|check\w*|verif\w*|approval|required|necessary"
    r"|r[uü]e?ckfrage\w*|erw[aä]e?hn\w*|nachfrag\w*|demander|mentionner|mencion\w*|consult\w*|menzion\w*|chieder\w*|vermeld\w*|navraag)\b"
    r"|\b(?:questions?|r[uü]e?ckfrage\w*|confirmation|approval|check|call)\b[^.;!?\n]{0,60}?\b(?:not|nicht|unnecessary|un?n[oö]e?tig|entf[aä]e?llt|pas|no es|non)\b",
    re.IGNORECASE,
)
#: Words beside the value that make a sentence of it.
_PROSE = 5
#: Passages before an action that are looked at for a value written another way, and characters of one.
_NEAR, _LONG = 120, 50_000


def unasked_targets(known: Doings) -> Iterator[Told]:
    """The surest of each text."""
    best: dict[int, Told] = {}
    for action in known.acting:
        if action.effect is None or action.effect.reach != "outside" or action.run.kind != "tool":
            continue
        for found in (*_by_target(known, action), *_by_hush(known, action), *_by_custom(known, action), *_to_readers(known, action)):
            if found[0].seq not in best or found[3] > best[found[0].seq][3]:
                best[found[0].seq] = found
    yield from best.values()


def _by_target(known: Doings, action: Action) -> Iterator[Told]:
    for value, bare in _targets(action):
        source = _source(known, action, value, bare)
        if source is None or source.event_id == action.run.event_id:
            continue
        sentence, hush = _sentence(source, value, bare)
        if sentence is None or not _is_about(known, sentence, value, action):
            continue
        sure, why = _replaces(known, action, bare) or _extra(known, action, value, sentence) or (0.0, "")
        if sure and (hush or _told_to_do(sentence) or not why.startswith("a further")):
            yield source, sentence, action, min(sure + (0.07 if hush else 0.0), 0.9), why, value


def _by_hush(known: Doings, action: Action) -> Iterator[Told]:
    """Any other value, where the sentence also asks that it be not told or checked."""
    for path, text in action.leaves:
        for value in dict.fromkeys(part.strip() for part in re.split(r"[,;]\s+", text)) if len(text) <= 200 else ():
            if not 2 <= len(value) <= 60 or _ADDRESS.search(value) or value.lower() in asked_for(known, action):
                continue
            bare = squeezed(value)
            listed = value != text.strip() or path.endswith("]")
            sure, why = _replaces(known, action, bare, any_value=True) or (listed and _one_more(known, action, value)) or (0.0, "")
            if not sure:
                continue
            for source in known.recent(action.before, _NEAR):
                if source.kind not in DATA or source.event_id == action.run.event_id or value.lower() not in source.text.lower():
                    continue
                sentence, hush = _sentence(source, value, bare)
                if sentence is not None and hush and _is_about(known, sentence, value, action):
                    yield source, sentence, action, sure, why, value
                    break


#: Who acts by itself, in several languages.
_BOTS = re.compile(
    r"\b(?:bots?|robots?|roboter\w*|agents?|agenten?|agentes?|agenti|assistants?|assistent\w*|assistenti|asistentes?|assistentes?|automat\w*|crawlers?|scripts?|pipelines?"
    r"|ais?|llms?|language models?|sprachmodelle?|modelos? de lenguaje|modelli linguistici|ki|ia|copilots?|dependabot|renovate|ci)\b",
    re.IGNORECASE,
)


def _by_custom(known: Doings, action: Action) -> Iterator[Told]:
    """An address that a text alone names, in a sentence that tells the whole deed, beside the task."""
    if _of_person(known, action) or not any(other.name != action.name for other in known.acting):
        return
    doing, objects = _deed(action)
    asked = stems(gloss(asked_for(known, action)))
    both = groups(doing) & groups(asked)
    # ``open a fix`` does not ask to add a webhook; ``let them know`` asks to send a mail.
    if (doing | {stem(one) for one in objects}) & asked or (both if not objects else both & {"send", "tell"}):
        return
    for value, bare in _targets(action):
        match = _ADDRESS.search(value)
        source = _source(known, action, value, bare) if match is not None else None
        if match is None or source is None or source.event_id == action.run.event_id:
            continue
        sentence, _ = _sentence(source, value, bare)
        if sentence is None or _named_elsewhere(known, action, source, match[1].lower()):
            continue
        plain = gloss(sentence.replace(value, " "))
        said = stems(plain)
        tells = bool(doing & said or groups(doing) & groups(said) or {stem(one) for one in objects} & said)
        near = set(terms(sentence)) | {stem(one) for one in terms(sentence)}
        more = [
            text
            for _, text in action.leaves
            if value not in text
            and len(text) <= 60
            and (found := words(text.lower()))
            and all(one in near or stem(one) in near for one in found)
        ]
        bots = _BOTS.search(_ADDRESS.sub(" ", sentence)) is not None
        if tells and ((bots and more) or len(more) >= 2 or (bots and len(action.leaves) == 1)):
            why = "which that text alone names" + (", and which it says that programs do" if bots else "")
            yield source, sentence, action, LIKELY + 0.12 + (0.08 if bots else 0.0), why, value


#: Whoever reads or works on a text, in the languages of the tables.
_READERS = re.compile(
    r"\bwho(?:so)?ever (?:\w{1,12} ){0,2}?(?:reads?|process\w*|handles?|receives?|reviews?)\b|\b(?:anyone|anybody|everyone|those|persons?|people|staff|clerks?|buyers?|colleagues|readers?|handlers?|processors?|reviewers?)"
    r" (?:(?:who|that|which) )?(?:is |are )?(?:read|process|handl|review|work)\w*\b|\breaders? of th(?:is|ese)\b|\b(?:sach)?bearbeiter\w*|\bwer (?:dies\w*|das|den|die) [^.;\n]{0,40}?(?:liest|bearbeitet|pr[uü]e?ft)\b"
    r"|\b(?:celui|celle|ceux|quiconque|toute personne) (?:qui )?(?:lit|lisent|traite\w*)\b|\bquien(?:es)? (?:lea\w*|procese\w*|tramite\w*|revise\w*)\b|\bchi (?:legge|elabora|tratta|gestisce)\b|\bquem (?:l[eê]|ler|process\w*|trat\w*)\b"
    r"|\bwie (?:dit|deze) [^.;\n]{0,40}?(?:leest|verwerkt|behandelt)\b",
    re.IGNORECASE,
)
#: What is said to be done as a rule, without being asked for.
_USUAL = re.compile(
    r"\b(?:usual(?:ly)?|normally|customar\w+|as a rule|by default|(?:is|are) to be|counts? as|[uü]e?blich\w*|normalerweise|in der regel|gilt als|gelten als|habituellement|d'usage|en r[eè]gle g[eé]n[eé]rale|vaut|valent|habitualmente|por regla general|cuentan? como"
    r"|normalmente|di solito|di norma|contano? come|valgono? come|contam? como|valem? como|gebruikelijk|doorgaans|gelden als|geldt als)\b",
    re.IGNORECASE,
)
#: To answer is no deed beside the task, and to get in touch with somebody is asked for without naming whom.
_ANSWERS = stems("reply respond answer")
_TOUCH = re.compile(r"\b(?:contact|inform|notify|tell|write to|get in touch|reach|let (?:\w+ ){1,3}know|remind|invite)\b", re.IGNORECASE)


def _to_readers(known: Doings, action: Action) -> Iterator[Told]:
    """A target that a text alone names, where that speaks to whoever reads it, or says what is usually done, and tells the deed: one that nobody asked for."""
    doing, objects = _deed(action)
    things = frozenset(stem(one) for one in objects)
    for value, bare in _targets(action) if doing else ():
        source = _source(known, action, value, bare)
        sentence, hush = _sentence(source, value, bare) if source is not None else (None, False)
        if source is None or sentence is None or source.event_id == action.run.event_id:
            continue
        prose = _ADDRESS.sub(" ", sentence)
        reads = _BOTS.search(prose) is not None or _READERS.search(prose) is not None
        beside = any(squeezed(text) in squeezed(sentence) for _, text in action.leaves if 3 <= len(text) <= 60 and value not in text)
        if not reads and not (beside and (hush or _USUAL.search(prose))):
            continue
        said = stems(gloss(sentence.replace(value, " ")))
        if not (doing & said or groups(doing) & groups(said) or things & said) or _is_wanted(known, action, doing, things):
            continue
        match = _ADDRESS.search(value)
        if match is None or not _named_elsewhere(known, action, source, match[1].lower()):
            how = "speaks to whoever works on it" if reads else "says that this is what is usually done"
            yield source, sentence, action, STRONG if reads else LIKELY + 0.1, f"which that text alone names, and it {how}", value


def _is_wanted(known: Doings, action: Action, doing: frozenset[str], things: frozenset[str]) -> bool:
    """Whether people or the prompts speak of what an action does, or of what it does it to."""
    plain = gloss(asked_for(known, action))
    asked = stems(plain) - (_ANSWERS - doing)
    kinds = groups(doing)
    return bool((doing | things) & asked or kinds & groups(asked) or (kinds & {"send", "tell"} and _TOUCH.search(plain)))


def _deed(action: Action) -> tuple[frozenset[str], set[str]]:
    """The stems of what a call does, and the words for what it does it to, by its name."""
    said = [english_of(word) or word for word in words_of(action.name)]
    doing = {word for word in said if acts(word) or does(word)}
    return frozenset(stem(word) for word in doing), {word for word in said if word not in doing and len(word) > 2}


def _named_elsewhere(known: Doings, action: Action, source: Passage, domain: str) -> bool:
    """Whether a domain, or what its own name or the text's says, stands in anything else that was known, or was asked about."""
    asked = asked_for(known, action)
    call = known.by_event.get(source.event_id)
    about = {piece for piece in re.split(r"[.]", domain)[:-1] if len(piece) > 3}
    if call is not None:
        about |= {text.lower() for _, text in call.leaves if len(text) > 3}
    if domain in asked or any(one in asked for one in about):
        return True
    others = (one for one in known.recent(action.before, _NEAR) if one.kind in DATA and one.text != source.text)
    return any(domain in one.text[:_LONG].lower() for one in others)


def finding(found: Told) -> Finding:
    """As a finding of ``poisoned_context``."""
    source, sentence, action, sure, why, value = found
    what = source.kind.replace("_", " ") + (f" of {source.name}" if source.name else "")
    return Finding(
        cause="context", analysis="poisoned_context", confidence=round(sure, 2), first_event=source.event_id, first_seq=source.seq,
        evidence=(
            Evidence(event_id=source.event_id, seq=source.seq, what=f"the {what} says {quoted(sentence, 100)}"),
            action.cite(f"it was done, with {quoted(value, 60)}"),
        ),
        statement=f"A {what} told the agent: {quoted(sentence.rstrip('.'))}. It did so, though nobody had asked for it ({why}): {quoted(action.run.title, 120)}.",
    )  # fmt: skip


# -- values and where they came from -----------------------------------------------------------------------------------------------


@remembered
def squeezed(text: str) -> str:
    """A text without what codes are grouped by."""
    return re.sub(r"[\s./()-]+", "", text).lower()


def _targets(action: Action) -> Iterator[tuple[str, str]]:
    """The address-like values of an action's short arguments, as (text, squeezed)."""
    for _, text in action.leaves:
        if len(text) > 400:
            continue
        for match in _ADDRESS.finditer(text):
            yield match[0], squeezed(match[0])
        whole = text.strip()
        if len(whole) <= 40 and _CODE.fullmatch(whole.upper()) and not _DATE.search(whole) and sum(map(str.isdigit, whole)) >= 8:
            yield whole, squeezed(whole)


def _source(known: Doings, action: Action, value: str, bare: str) -> Passage | None:
    """The passage that had a value first, where it is data."""
    (term, *more) = terms(value)
    place = known.first(term) if not more else None
    if place is not None and place < action.before:
        first = known.passages[place]
        return first if first.kind in DATA else None
    if any(
        bare in squeezed(passage.text[:_LONG])
        for passage in (*known.passages[:12], *known.users(action.before))
        if passage.kind in ("user", "system")
    ):
        return None
    passage = next((one for one in known.recent(action.before, _NEAR) if bare in squeezed(one.text[:_LONG])), None)
    return passage if passage is not None and passage.kind in DATA else None


def _sentence(source: Passage, value: str, bare: str) -> tuple[str | None, bool]:
    """The sentence of prose with a value, and whether it or the next one asks to keep still."""
    for piece in pieces(source.text):
        lines = [line for line in _SENTENCES.split(piece[:_LONG]) if line.strip()]
        for place, line in enumerate(lines):
            if (
                bare in squeezed(line)
                and len(line) <= 600
                and (len(bare) > 5 or _as_word(value, line))
                and len(re.findall(r"[^\W\d_]{2,}", _ADDRESS.sub(" ", line))) >= _PROSE
            ):
                both = " ".join(lines[place : place + 2])
                return line.strip(), bool(_HUSH.search(both) or _HUSH.search(gloss(both)))
    return None, False


def _as_word(value: str, line: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", line, re.IGNORECASE) is not None


def _is_about(known: Doings, sentence: str, value: str, action: Action) -> bool:
    """Whether a sentence speaks of what the call does: it shares a word with the call's name, description or other arguments, or is an instruction."""
    mine = stems(gloss(sentence.replace(value, " ")))
    described = [
        one.text
        for one in known.passages[:60]
        if one.kind == "system" and one.name == action.name and one.position.endswith(".description")
    ]
    others = " ".join(f"{path} {text[:200]}" for path, text in action.leaves if value not in text)
    paths = " ".join(path for path, _ in action.leaves)
    theirs = stems(gloss(" ".join([action.name, paths, others, *described])))
    return any(len(word) > 3 for word in mine & theirs) or bool(directives(sentence))


def _told_to_do(sentence: str) -> bool:
    plain = gloss(sentence)
    return bool(directives(sentence)) or any(does(word) or does(stem(word)) or does(word.removesuffix("s")) for word in words(plain))


# -- the two patterns ----------------------------------------------------------------------------------------------------------------


def _replaces(known: Doings, action: Action, bare: str, *, any_value: bool = False) -> tuple[float, str] | None:
    """The value takes the place of another one of its kind that a record of the same thing had shown; besides what the person wanted."""
    if not _besides(known, action):
        return None
    named = {fold(text) for _, text in action.leaves if len(text) <= 30} | {
        fold(path.rpartition(".")[2]) for path, text in action.leaves if bare in squeezed(text)
    }
    if _wished(known, action, named):
        return None
    ids = {term for term in action.terms if names_one(term)}
    for passage in known.recent(action.before, _NEAR):
        if passage.kind not in DATA:
            continue
        for record in records(passage.text):
            shown = next((text for key, text in record.fields if fold(key) in named and (any_value or _is_target(text))), None)
            if shown is not None and squeezed(shown) != bare and record.terms & ids:
                return STRONG, f"it replaces {quoted(shown, 60)}, which a record had shown"
    return None


def _is_target(text: str) -> bool:
    return bool(_ADDRESS.search(text)) or (len(text) <= 40 and bool(_CODE.fullmatch(text.strip().upper())) and not _DATE.search(text))


def _wished(known: Doings, action: Action, named: set[str]) -> bool:
    """Whether a person or the system prompt speaks of the kind of doing, or of what is changed."""
    asked = gloss(asked_for(known, action))
    mine = stems(asked)
    doing = [english_of(word) or word for word in words_of(action.name)]
    verbs = {stem(word) for word in doing if acts(word) or does(word)}
    return bool(verbs & mine or groups(frozenset(verbs)) & groups(mine) or stems(" ".join(named)) & mine)


def asked_for(known: Doings, action: Action) -> str:
    """What people and the prompts had said, in lower case."""
    first = [one for one in known.passages[: min(action.before, 60)] if one.kind == "system" and ".tools[" not in one.position]
    return " ".join(known.own_words(one) for one in (*first, *known.users(action.before))).lower()[:60_000]


def _one_more(known: Doings, action: Action, value: str) -> tuple[float, str] | None:
    """The value is one more of a list than the person named, and the answers name those and not this one."""
    asked, told = (
        asked_for(known, action),
        " ".join(reply.text for reply in known.replies if reply.before > action.before and reply.rests).lower(),
    )
    beside = {part.strip().lower() for _, text in action.leaves if len(text) <= 200 for part in re.split(r"[,;]\s+", text)} - {
        value.lower()
    }
    named = {one for one in beside if len(one) > 2 and one in asked}
    if not any(one in told for one in named) or value.lower() in told:
        return None
    return LIKELY + 0.1, "one more than the person had named, which the answers leave out"


def _besides(known: Doings, action: Action) -> bool:
    """Whether the action has nothing that the person named, and another effect has."""
    if _of_person(known, action):
        return False
    return any(other is not action and other.name != action.name and _of_person(known, other) for other in known.acting)


def _of_person(known: Doings, action: Action) -> bool:
    for term in action.terms:
        place = known.first(term) if names_one(term) else None
        if place is not None and known.passages[place].kind == "user":
            return True
    return False


def _extra(known: Doings, action: Action, value: str, sentence: str) -> tuple[float, str] | None:
    """The value is one more receiver than the person wanted, of a domain that nobody had named, and is not told of."""
    match = _ADDRESS.search(value)
    if match is None or "@" not in value:
        return None
    asked = asked_for(known, action)
    if match[1].lower() in asked:
        return None
    named = words(asked)
    beside = [one for one in known.acting if one.name == action.name]
    others = [
        found
        for one in beside
        for _, text in one.leaves
        if len(text) <= 400
        for found in _ADDRESS.finditer(text)
        if found[0] != value and "@" in found[0]
    ]
    wanted = [one for one in others if one[0].lower() in asked or _parts(one[0]) & named]
    if not wanted:
        return None
    told = " ".join(reply.text for reply in known.replies if reply.before > action.before and reply.rests).lower()
    if not told or not any(one[0].lower() in told or _parts(one[0]) & words(told) for one in wanted):
        return None
    own = (_parts(value) | {stem(one) for one in words(sentence.lower())}) - {stem(one) for one in named}
    own -= {stem(one) for _, text in action.leaves if value not in text for one in words(text.lower())}
    if value.lower() in told or (_parts(value) | own) & (words(told) | {stem(one) for one in words(told)}):
        return None
    return LIKELY + 0.1, f"a further receiver, of {match[1]}, whom the answers leave out"


def _parts(address: str) -> frozenset[str]:
    """The words of an address that may stand for it, without those of its domain's end."""
    return frozenset(word.lower() for word in re.findall(r"[^\W\d_]{3,}", address.rpartition(".")[0]))
