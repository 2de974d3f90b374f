"""Whether an action or an answer breaks an instruction, its conditions included.

``directives.against`` compares one action with what is forbidden or limited. Here also: what had to come first (``before``, ``without``, ``unless``) and
did not; what had to be in it and is not; and what an answer was not to say, or in which language it was to be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.tongues import gloss
from tachograph.postmortem.language.verbs import groups, stem, stems

from .directives import Directive, against, directives, fits
from .once import entered

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case

    from .actions import Action, Doings, Reply

GATED = re.compile(r"\b(before|without|unless|until|only after|only with|not before|not until|not unless)\b(.{3,200})", re.IGNORECASE)
#: What a person has to say. That they spoke at all in between counts as having said it.
_PERSON = frozenset(stem(word) for word in ["ask", "confirm", "approval", "approve", "permission", "consent", "check", "sign", "authorize", "authorise", "tell", "ok", "okay", "agree", "written", "explicit", "manager", "supervisor", "me", "us", "him", "her"])  # fmt: skip
_YES = re.compile(
    r"\b(?:yes|yep|yeah|ok(?:ay)?|sure|go ahead|do it|please do|approved?|confirm(?:ed)?|fine|agreed?|correct|proceed|granted|allowed)\b",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"\b(?:in|use|speak|write)\s+(german|french|spanish|italian|dutch|portuguese|english)\b", re.IGNORECASE)
_COMMON = {
    "english": frozenset(["the", "and", "is", "of", "to", "you", "your", "with", "for", "was", "has", "have", "this", "that"]),
    "german": frozenset(["der", "die", "das", "und", "ist", "nicht", "mit", "für", "sie", "ihre", "wir", "haben", "wurde", "ein", "eine", "auf"]),
    "french": frozenset(["le", "la", "les", "et", "est", "pas", "avec", "pour", "vous", "votre", "nous", "avons", "été", "une", "des", "sur"]),
    "spanish": frozenset(["el", "la", "los", "y", "es", "no", "con", "para", "usted", "su", "hemos", "ha", "una", "del", "por", "que"]),
    "italian": frozenset(["il", "la", "gli", "e", "è", "non", "con", "per", "lei", "suo", "abbiamo", "stato", "una", "del", "che"]),
    "dutch": frozenset(["de", "het", "en", "is", "niet", "met", "voor", "u", "uw", "wij", "hebben", "werd", "een", "op", "van"]),
    "portuguese": frozenset(["o", "a", "os", "e", "é", "não", "com", "para", "você", "seu", "temos", "foi", "uma", "do", "que"]),
}  # fmt: skip


def broken(rule: Directive, action: Action, known: Doings, case: Case, since: int, *, spoken: bool = True) -> float:
    """How surely an action breaks a rule, 0 to 1; 0.5 is enough to say so. ``since``: the line by which the rule came in. ``spoken``: that a person
    spoke in between meets a condition that asks for their word; else only an approval does."""
    gate = _gate(rule.plain) if rule.limit is None else None
    if gate is not None:
        return _unmet(rule, gate, action, known, case, since, spoken=spoken)
    sure = against(rule, action)
    if sure and rule.limit is not None and stems(rule.plain) & _PERSON and _let(action, case, since, spoken=spoken):
        return 0.0  # above what needs a word from somebody, which was given
    if sure:
        return sure
    return _left_out(rule, action) if rule.polarity == "require" else 0.0


@dataclass(frozen=True, kw_only=True)
class _Gate:
    """``head`` and ``rest``: what stands before and behind the ``word``; ``inner``: what is not to be done before."""

    word: str
    head: str
    rest: str
    inner: Directive | None


@remembered
def _gate(plain: str) -> _Gate | None:
    gated = GATED.search(plain)
    if gated is None:
        return None
    inner = _never(gated.group(2)) if "before" in gated.group(1).lower() else None
    return _Gate(word=gated.group(1).lower(), head=plain[: gated.start()], rest=gated.group(2), inner=inner)


def _never(what: str) -> Directive | None:
    return next(iter(directives("Never " + re.sub(r"^\s*(?:you|we|any|the agent|it)\b", "", what).strip())), None)


def _unmet(rule: Directive, gate: _Gate, action: Action, known: Doings, case: Case, since: int, *, spoken: bool) -> float:
    word = gate.word
    if "before" in word and not gate.head.strip(" -*•"):
        return _before_that(gate.rest, action, known, case, since, spoken=spoken)
    if "before" in word and rule.polarity != "forbid":
        first = gate.head
        sure = fits(gate.inner, action) if gate.inner is not None else 0.0
    else:
        first = gate.rest
        sure = fits(rule, action) if rule.polarity == "forbid" or "only" in word else 0.0
    if sure < 0.5:
        return 0.0
    needs = stems(first)
    if needs & _PERSON and _let(action, case, since, spoken=spoken):
        return 0.0
    wanted = frozenset(one for one in needs if groups({one})) - action.stems
    first_done = known.first_doing(wanted or needs, since)
    return 0.0 if first_done is not None and first_done < action.run.seq else sure


_THEN = re.compile(
    r",|\b(?:has|have|needs?|must|should|always|is|are) (?:to |always )?(?:be |first )?(?=\w)|\b(?:ask|run|check|verify|get|confirm|call|make)\b",
    re.IGNORECASE,
)


def _before_that(rest: str, action: Action, known: Doings, case: Case, since: int, *, spoken: bool) -> float:
    """``Before bank details are changed, the caller has to be verified``."""
    split = next(
        (
            match
            for match in _THEN.finditer(rest)
            if match.start() > 4 and not re.match(r"(?:is|are|has|have) (?:been )?\w+ed\b", rest[match.start() :])
        ),
        None,
    )
    what, first = (rest[: split.start()], rest[split.start() :]) if split is not None else (rest, rest)
    inner = _never(what)
    kinds = groups(stems(what))
    sure = fits(inner, action) if inner is not None else 0.0
    offered = action.step.seen.tools if action.step is not None else ()
    tools = [name for name in offered if len(name) > 3 and name.lower() in rest.lower()]
    if sure < 0.5 and kinds & action.groups and tools and action.effect is not None:
        sure = 0.6
    if sure < 0.5 or action.name in tools or (stems(first) & _PERSON and not tools and _let(action, case, since, spoken=spoken)):
        return 0.0
    wanted = {one for one in stems(first) if groups({one})} - action.stems
    for earlier in known.actions:
        if earlier.run.seq < action.run.seq and (earlier.name in tools or (not tools and wanted & earlier.stems)):
            return 0.0
    return sure


def _let(action: Action, case: Case, since: int, *, spoken: bool) -> bool:
    """Whether a person spoke, or an approval was given, between the rule and the action."""
    if any(since < mark.seq < action.run.seq and not mark.bad for _, mark in case.story.marks("approval")):
        return True
    if not spoken:
        return False
    limit = action.step.seq if action.step is not None else action.run.seq
    return any(
        passage.kind == "user"
        and since < passage.seq <= limit
        and (_YES.search(gloss(passage.text[:400])) or stems(action.name) & stems(gloss(passage.text)))
        for passage in entered(case)
    )


def _left_out(rule: Directive, action: Action) -> float:
    """An action of the kind that a rule wants something in, without it: ``Always copy legal@corp.example``."""
    names = {name for name in rule.names if "@" in name or "://" in name or "/" in name or any(character.isdigit() for character in name)}
    if not names or not rule.groups & action.groups or names & action.identifiers:
        return 0.0
    shapes = {_kind(name) for name in names}
    return 0.65 if shapes & {_kind(one) for one in action.identifiers} or not rule.about - stems(" ".join(names)) else 0.0


def _kind(name: str) -> str:
    return "mail" if "@" in name else "url" if "://" in name else "path" if "/" in name else re.sub(r"\d+", "9", name)


def said_against(rule: Directive, reply: Reply) -> float:
    """How surely an answer breaks a rule about answers."""
    tongue = _LANGUAGE.search(rule.plain)
    if tongue is not None and rule.polarity != "limit":
        return _other_tongue(tongue.group(1).lower(), reply.text) if rule.polarity == "require" else 0.0
    if rule.polarity == "forbid" and "tell" in rule.groups and rule.about:
        words = stems(reply.text)
        names = {name for name in rule.names if name in reply.text.lower()}
        shared = rule.about & words
        if (len(shared) == len(rule.about) or names) and not re.search(r"\b(?:not|cannot|can't|won't)\b[^.\n]{0,40}\b(?:share|tell|disclose|reveal|discuss|mention)", reply.text, re.IGNORECASE):  # fmt: skip
            return 0.65 if len(shared) > 1 or names else 0.5
    return 0.0


def _other_tongue(wanted: str, text: str) -> float:
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) < 12:
        return 0.0
    counts = {name: sum(word in common for word in words) for name, common in _COMMON.items()}
    most = max(counts, key=lambda name: counts[name])
    return 0.7 if most != wanted and counts[most] >= 4 and counts[most] > 2 * counts[wanted] else 0.0
