"""Four eyes: who asked for something approved it themselves, where a second person is to do so.

*The rule* is a sentence of the instructions, of the tool's description, or of a record or document that came in before. *Who asked* is told by a field
of the call or of what was shown whose name says so (``requested_by``, ``pide``), by a sentence of it, or by a message in which somebody says who they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import values, words_of
from tachograph.postmortem.language.tongues import fold, gloss
from tachograph.postmortem.language.verbs import groups, stem
from tachograph.postmortem.meaning.actions import doings
from tachograph.postmortem.meaning.instructions import read, sentences
from tachograph.postmortem.meaning.once import entered, once

from .thresholds import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.effects import Effect
    from tachograph.postmortem.meaning.instructions import Instruction

    from .gates import Gate

#: A second person, in seven languages, without accents.
_SECOND = Sieve(
    re.compile(
        r"\b(?:(?:second|different|another|other) (?:[a-z]{1,20} )?(?:person|people|pair of eyes|employee|colleague|officer|approver|signatory|engineer|manager|nurse|clerk|pharmacist|controller|member)"
        r"|(?:someone|somebody|anyone|anybody) (?:else|other than)|other than (?:the|who|those|whoever)|(?:not|never) (?:be )?(?:by )?the same (?:person|one|employee|user|two)"
        r"|four[- ]eyes|two[- ](?:person|man|people) (?:rule|approval|control|integrity)|dual (?:control|approval|authori[sz]ation)|se(?:paration|gregation) of duties"
        r"|(?:nobody|no one|never|not|nor|cannot|can't) (?:[a-z]{1,20} ){0,5}(?:their|his|her|your|one's|its) own\b|self-approv\w+"
        r"|zweite\w? (?:person|kolleg\w+|mitarbeiter\w*|unterschrift|freigabe)|andere\w? (?:person|kolleg\w+|mitarbeiter\w*)|vier[- ]?augen\w*|jemand ander\w*|nicht (?:von )?(?:die|der)selben? person|zweitfreigabe|zweitunterschrift"
        r"|(?:nie|niemand|nicht|keiner?) (?:[a-z]{1,20} ){0,4}eigene\w?\b"
        r"|(?:une |d')?(?:autre|deuxieme|seconde) personne|quelqu'un d'autre|quatre yeux|personne (?:differente|distincte|autre)|double (?:validation|signature|controle)|(?:pas|jamais) (?:par )?la meme personne"
        r"|persona (?:distinta|diferente|diversa)|(?:otra|segunda|altra|seconda|un'altra) persona|cuatro ojos|alguien (?:distinto|diferente)|doble (?:firma|control|aprobacion)|distint[oa] de(?:l|  la| la| quien)?\b"
        r"|quattro occhi|qualcun altro|doppia (?:firma|approvazione)|(?:outra|segunda) pessoa|quatro olhos|pessoa (?:diferente|distinta)|dupla (?:aprovacao|assinatura)"
        r"|(?:tweede|andere) (?:persoon|collega|medewerker)|vier[- ]?ogen\w*|iemand anders|dubbele (?:goedkeuring|handtekening))"
    ),
    "second |different |other |person|people|eyes|else|the same|two-|two |dual|duties| own|self-approv|zweit|andere|augen|jemand|eigene|autre|yeux|double|ojos|alguien|doble"
    "|distint|occhi|qualcun|doppia|pessoa|olhos|dupla|persoon|tweede|ogen|iemand|dubbele",
)
#: Words for approving: their beginnings.
_APPROVES = (
    "approv", "sign", "authori", "confirm", "releas", "consent", "countersign", "check", "verif", "review", "eyes", "freig", "freizug", "genehm", "zustimm", "unterschr", "gegenzeich", "bestatig",
    "prufen", "gepruft", "augen", "valid", "approuv", "autoris", "accord", "visa", "yeux", "visto", "bueno", "aprob", "autoriz", "confirm", "firm", "conform", "ojos", "occhi", "autorizz", "conferm",
    "aprov", "assin", "olhos", "goedk", "akkoord", "teken", "getekend", "bevestig", "ogen", "second", "secund",
)  # fmt: skip
#: Words for having asked for something or entered it: their beginnings.
_ASKS = (
    "request", "ask", "initiat", "submitt", "raised", "prepared", "entered", "maker", "author", "created", "applicant", "proposed", "origin", "antrag", "beantrag", "anforder", "angeford", "anfrag", "erfass", "erstell",
    "eingereicht", "demand", "saisi", "redig", "pide", "pidio", "pedid", "pede", "solicit", "peticion", "inici", "richied", "richiest", "inserit", "aanvra", "aangevra", "verzoek", "ingevoerd", "ingediend",
)  # fmt: skip
_I_AM = re.compile(
    r"(?:\b(?:i am|i'm|this is|here is|my name is|ich bin|hier ist|hier spricht|mein name ist|je suis|c'est|je m'appelle|soy|me llamo|sono|mi chiamo|sou|chamo-me|ik ben|mijn naam is|hier is)"
    r"|^(?:from|von|de|da|van|requested by|requester|name|regards|best|thanks|thank you|gruss|grusse|merci|saludos|saluti|gracias|grazie|groeten|obrigad[oa])\b ?[:,–-]?)\s{0,3}(?P<rest>[^\n.;!?]{2,60})",
    re.MULTILINE,
)
_LETTERS = re.compile(r"[^\W\d_]+")
#: Characters of a result that are looked at for rules, and what a sentence may begin and end with.
_LONG, _NEAR = 20_000, 48


@dataclass(frozen=True)
class _Rule:
    instruction: Instruction
    tool: str | None


def own_approval(case: Case, effect: Effect, gate: Gate, deed: frozenset[str]) -> str | None:
    """The sentence that asks for a second person, where the approver is who had asked. ``deed``: the stems of what the effect does, in English."""
    if not _LETTERS.search(gate.approver) or not _rules(case):
        return None
    rule = next((one.instruction.text for one in _rules(case) if _holds(case, one, effect, deed)), None)
    return rule if rule is not None and _asked(case, effect, gate) else None


@once
def _rules(case: Case) -> tuple[_Rule, ...]:
    """The sentences that ask for a second person's approval."""
    found: list[_Rule] = []
    for passage in entered(case):
        if passage.kind in ("user", "model") or passage.position.endswith(".schema"):
            continue
        text = passage.text[:_LONG]
        if not _SECOND.search(fold(text)):
            continue
        for sentence in sentences(text):
            bare = fold(sentence)
            if _SECOND.search(bare) and any(word.startswith(_APPROVES) for word in _LETTERS.findall(bare)):
                of = read(sentence[:600], event_id=passage.event_id, seq=passage.seq, step=passage.step, position=passage.position)
                found.append(_Rule(of, passage.name if ".tools[" in passage.position else None))
    return tuple(found)


def _holds(case: Case, rule: _Rule, effect: Effect, deed: frozenset[str]) -> bool:
    one = rule.instruction
    if one.seq > effect.run.seq or below(case, effect, one):
        return False
    if rule.tool is not None:
        return rule.tool == effect.run.name
    bare = frozenset(
        stem(word) for word in _LETTERS.findall(f"{fold(one.text)} {gloss(one.text).lower()}") if not word.startswith(_APPROVES)
    )
    named = groups(bare) - {"grant", "sign", "send", "tell", "run"}
    return not named or bool(named & groups(deed)) or bool(bare & deed)


# -- who asked -------------------------------------------------------------------------------------------------------------------


def _asked(case: Case, effect: Effect, gate: Gate) -> bool:
    name = gate.approver
    if any(same_person(one, name) for one in _fields(effect.run.input.value)) or any(same_person(one, name) for one in _fields(gate.value)):
        return True
    if gate.shown is not None and not isinstance(gate.value, dict) and _in_words(gate.shown, name):
        return True
    known = doings(case)
    own = known.by_event.get(effect.run.event_id)
    asking = known.users(own.before if own is not None else len(known.passages), 3)
    return any(same_person(match["rest"], name, begins=True) for passage in asking for match in _I_AM.finditer(fold(passage.text[:4000])))


def _fields(value: object) -> Iterator[str]:
    """The values of the fields whose names say who asked."""
    for path, text in values(value):
        named = [fold(word) for word in words_of(path.rpartition(".")[2])]
        if len(text) <= 80 and any(word.startswith(_ASKS) for word in named) and not any(word.startswith(_APPROVES) for word in named):
            yield text


def _in_words(shown: str, name: str) -> bool:
    """Whether a sentence says that a person asked for it: “Requested by Mira Holt”."""
    text, whom = fold(shown[:4000]), fold(name).strip()
    at = text.find(whom) if len(whom) > 2 else -1
    while at >= 0:
        before = re.split(r"[.;!?\n,]", text[max(at - _NEAR, 0) : at])[-1]
        words = _LETTERS.findall(before)
        if any(word.startswith(_ASKS) for word in words) and not any(word.startswith(_APPROVES) for word in words):
            return True
        at = text.find(whom, at + 1)
    return False


def same_person(one: str, other: str, *, begins: bool = False) -> bool:
    """Whether two names are one person's: the same words, or the initial and the last of them (``i.robles`` and ``Iván Robles``). ``begins``: the first
    may go on."""
    mine, theirs = _LETTERS.findall(fold(one.partition("@")[0])), _LETTERS.findall(fold(other.partition("@")[0]))
    if not mine or not theirs or len("".join(theirs)) < 3:
        return False
    if begins:
        mine = mine[: len(theirs)]
    if sorted(mine) == sorted(theirs):
        return True
    return (
        len(mine) > 1 and len(theirs) > 1 and mine[-1] == theirs[-1] and mine[0][0] == theirs[0][0] and 1 in (len(mine[0]), len(theirs[0]))
    )
