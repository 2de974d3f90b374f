"""A rule of the instructions that a later sentence of theirs lifts or contradicts, and an effect that follows the later one.

A part of ``changed_instructions`` (the later sentence came in within the session) and of ``contradicting_instructions`` (it stands in the same prompt). A sentence

- *lifts* a rule where it says that something of it is no longer so (``ignore``, ``no longer``, ``does not apply``, ``whatever was said earlier``; in other languages,
  too) and shares a telling word with it, or speaks of what was said before as a whole;
- *sets aside* what a rule is about (``whatever the floor says``, ``regardless of the limit``), where what stands behind that is the rule's own;
- *affirms* what a rule forbids flatly: its verb, and all that it is about; not flatly, where the prompt says that what came later goes before what came first.

A rule that sets a bound is followed no more where a call goes beyond it (``bounds``): a call within it follows both.

What an effect is about is also told by its tool's definition: ``send(client, text)`` sends a mail where the definition says so. A rule with a condition that was met
is not broken, and neither is one that a mode or a state had set, which is over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.directive_words import LEFT_OUT
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import words, words_of
from tachograph.postmortem.language.tongues import english_of, fold, gloss
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.directives import Directive, directives
from tachograph.postmortem.meaning.effects import acts, does
from tachograph.postmortem.meaning.instructions import sentences

from .bounds import kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tachograph.postmortem.meaning.actions import Action, Doings

#: Rules, and what was said before them, in English and, folded, in the languages of the tables.
_RULES = (
    r"rules?|instructions?|polic(?:y|ies)|guidelines?|restrictions?|limits?|requirements?|directions?|prompts?|above|earlier|previous|prior|before|former|regel\w*|anweisung\w*|vorgab\w*|oben|obig\w*"
    r"|bisherig\w*|vorherig\w*|fruher\w*|regles?|consignes?|precedent\w*|ci-dessus|reglas?|instruc\w*|anterior\w*|arriba|regol[ae]|istruzion\w*|sopra|regras?|acima|regels?|instructies?|eerder\w*|vorige|hierboven"
)
#: Something is no longer so.
_LIFTS = re.compile(
    rf"\b(?:ignor(?!ed|ing)\w*|disregard\w*|forget|vergiss|vergessen|oublie\w*|olvid\w+|dimentic\w+|esquec\w+|negeer)\b.{{0,40}}?\b(?:{_RULES})\b"
    r"|\b(?:no longer|not any ?more) (?:\w{1,12} ){0,2}?(?:used?|need\w*|necessary|requir\w*|valid|appl(?:y|ies)|holds?|binding|in force|wanted|asked|done|kept|made|written)\b|\b(?:does|do|need) not (?:any ?more )?(?:apply|hold)\b"
    r"|\b(?:is|are|was|were|has been|have been) (?:hereby |now )?(?:lifted|waived|withdrawn|superseded|rescinded|void|obsolete|dropped|abolished)\b|\b(?:replaces|overrides|supersedes)\b"
    r"|\bwhatever (?:was|is|has been|had been) (?:said|written)\b|\bnotwithstanding\b|\bcontrary to (?:the |what )"
    r"|\b(?:gilt|gelten|wird|werden|ist|sind) nicht (?:mehr|langer)\b|\bnicht mehr (?:notig|noetig|erforderlich|gebraucht|verwendet|benotigt|gultig)\b|\bentfall\w*|\baufgehoben\b|\bausser kraft\b"
    r"|\bne (?:\S{1,16} )?\S{1,20} plus\b|\bn'(?:est|a|ont|y a) plus\b|\bcaduque?s?\b|\bya no\b|\bsin efecto\b|\bqueda\w* anulad\w*|\bnon (?:\S{1,16} )?\S{1,20} piu\b|\bannullat\w*|\brevocat\w*"
    r"|\bja nao\b|\bnao (?:\S{1,16} )?\S{1,20} mais\b|\brevogad\w*|\b(?:geldt|gelden|wordt|worden|is|zijn) niet (?:meer|langer)\b|\bvervalt\b|\bvervallen\b",
    re.IGNORECASE,
)
#: Something is left out of account. What it is stands behind it.
_SETS_ASIDE = re.compile(
    r"\b(?:(?:whatever|no matter what|never mind what) (?=(?:\S{1,24} ){1,5}(?:says?|said|is|are|was|were|tells?|asks?|shows?|demands?|requires?)\b)|(?:regardless|irrespective|independent(?:ly)?) of|no matter|never mind|without regard (?:to|for)"
    r"|even (?:if (?:that|it|this) (?:is|goes|means) )?(?=(?:below|under|above|over|beyond|against)\b)|(?:egal|gleich|ganz gleich),? (?:was|wie|ob)|ungeachtet|unabhangig v\w+|ohne rucksicht auf|quoi qu\S*|quel(?:le)?s? que soi\w+|independamment d\w+"
    r"|sans tenir compte d\w+|sin importar|independientemente d\w+|sin tener en cuenta|a prescindere d\w+|indipendentemente d\w+|qualunque sia|independentemente d\w+|ongeacht|wat (?=(?:\S{1,24} ){1,4}ook\b))",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"[^,.;:!?\n]{1,80}")
#: What is in the one block goes before what is in the other: the one with this word.
_THESE = r"(?:these|this|the following|following|below|diese\w*|folgende\w*|nachstehende\w*|ces|cette|ce|estas?|estos?|este|queste|questi|questa|questo|deze|dit)"
_PREVAILS = re.compile(
    rf"\b{_THESE}(?: \S{{1,24}}){{1,4}}? (?:(?:always )?(?:takes?|have|has|had) (?:the )?(?:precedence|priority)|(?:always )?(?:prevails?|wins?|governs?|overrides?|supersedes?|counts?|goes first|go first|comes? first|goes before|go before)"
    r"|(?:haben|hat) vorrang|gehen vor|geht vor|prevalent|prevaut|priment|prime|l'emportent?|prevalecen?|tienen? (?:prioridad|preferencia)|prevalgono|prevale|hanno la precedenza|ha la precedenza|prevalecem?|tem prioridade|gaan voor|gaat voor|hebben voorrang|heeft voorrang)\b"
    rf"|\b(?:differ\w*|conflict\w*|contradict\w*|disagree\w*|clash\w*|in doubt|otherwise|widersprech\w*|widerspruch\w*|abweich\w*|contredi\w*|conflit|contradi\w*|conflicto|contrad\w+|conflitto|conflito|tegenspra\w*)\b[^.;\n]{{0,80}}?"
    rf"\b(?:go by|goes by|follow|use|apply|obey|keep to|stick to|gilt|gelten|gelten|befolge|folge|suis|suivez|appliquez?|sigue|siga|aplica|segui|segua|applica|segue|volg) {_THESE}\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|n't|nicht|nie|niemals|ne|no|nunca|non|mai|nao|niet|nooit)(?: \w{1,10})?\s*\Z", re.IGNORECASE)
#: What was said before, as a whole.
_BEFORE = re.compile(
    r"\b(?:above|earlier|previous|prior|former|preceding|first|original|old|foregoing|obig\w*|bisherig\w*|vorherig\w*|fruher\w*|precedent\w*|anterior\w*|anterior|precedent[ei]|sopra|acima|eerder\w*|vorige)"
    r" (?:rules?|instructions?|polic(?:y|ies)|guidelines?|restrictions?|limits?|directions?|prompts?|messages?|regeln?|anweisung\w*|vorgab\w*|regles?|consignes?|reglas?|instruccion\w*|regole|istruzion\w*|regras?|instruco\w*|regels?|instructies)\b"
    r"|\b(?:rules?|instructions?|everything|all|regles?|consignes?|reglas?|instrucciones|regole|istruzioni|regras|instrucoes|regeln|regels) (?:(?:that (?:was|were)|given|said|was said|were given) )?(?:above|before|earlier|so far|precedent\w*|anterior\w*|oben)\b"
    r"|\bwhatever (?:was|is|has been|had been) (?:said|written)\b",
    re.IGNORECASE,
)
#: A state that is over, or a condition that was met, lifts what it had set.
_STATE = re.compile(r"\b(?:modes?|phase|stage|approved|verified|confirmed|granted|authenticated|identified|finished|completed?|(?:is|are|was|were|now) over|ended|arrived|signed)\b", re.IGNORECASE)  # fmt: skip
_TIED = re.compile(
    r"\b(?:if|when|whenever|unless|only|except\w*|after|(?<!at )once|until|for (?!now\b)\w+|in case|other than|instead)\b", re.IGNORECASE
)
_HASTE = re.compile(
    r"\b(?:right away|at once|immediately|straight away|directly|yourself|always|every|any|all|without (?:asking|waiting|checking|approval))\b",
    re.IGNORECASE,
)
_GATE = re.compile(r"\b(?:without|unless|until|before|with|only after|only with|except)\b(.{3,160})", re.IGNORECASE)
_PEOPLE = stems("client customer user")
_LITTLE = (LEFT_OUT - _PEOPLE) | stems("yourself ever itself themselves always right away once go goes kept keep into earlier rule about")


@remembered
def _objects(rule: str) -> frozenset[str]:
    """The stems of what a sentence is about, customers and the like among it; of one in another language also its own words."""
    return frozenset(
        one
        for one in (stem(word) for term in words(gloss(rule)) | words(rule) for word in re.split(r"\W+", term) if len(word) > 2)
        if one not in _LITTLE and not one.isdigit()
    )


@remembered
def is_over(sentence: str) -> bool:
    """Whether a sentence tells of a state that is over, or of a condition that was met."""
    return _STATE.search(gloss(sentence)) is not None


@remembered
def _lifting(sentence: str) -> tuple[bool, bool]:
    """Whether a sentence says that something is no longer so, and whether that is all that was said before."""
    folded, plain = fold(sentence), gloss(sentence)
    if is_over(sentence) or not any(
        (match := _LIFTS.search(text)) is not None and not _NOT.search(text[: match.start()]) for text in (folded, plain)
    ):
        return False, False
    return True, bool(_BEFORE.search(folded) or _BEFORE.search(plain))


@remembered
def _aside(sentence: str) -> frozenset[str]:
    """The stems of what a sentence leaves out of account."""
    return frozenset(
        one
        for text in dict.fromkeys((fold(sentence), gloss(sentence)))
        for match in _SETS_ASIDE.finditer(text)
        if (behind := _ASIDE.match(text, match.end())) is not None
        for one in _objects(behind[0])
    )


@remembered
def prevails(sentence: str) -> bool:
    """Whether a sentence says that its own part of a prompt goes before another one."""
    return any(_PREVAILS.search(text) is not None for text in (fold(sentence), gloss(sentence)))


@remembered
def _telling(sentence: str) -> tuple[bool, bool]:
    """Whether a sentence tells something without a condition, and whether at once or in all cases."""
    plain = gloss(sentence)
    tells = not (_TIED.search(plain) or is_over(sentence) or any(one.polarity == "forbid" for one in directives(sentence)))
    return tells, tells and _HASTE.search(plain) is not None


def may_lift(sentence: str, *, flatly: bool) -> bool:
    """Whether a sentence lifts or contradicts anything, so that it is worth a look at what. ``flatly``: a contradiction counts at once or in all cases only."""
    return _lifting(sentence)[0] or bool(_aside(sentence)) or _telling(sentence)[flatly]


def lifts(rule: Directive, later: str) -> bool:
    """Whether a later sentence says that a rule, or something of it, is no longer so."""
    lifting, whole = _lifting(later)
    return lifting and (whole or bool((_objects(rule.text) & _objects(later)) - _PEOPLE))


def affirms(rule: Directive, later: str, *, flatly: bool) -> bool:
    """Whether a later sentence tells to do what a rule forbids without a condition. ``flatly``: at once or in all cases."""
    if rule.polarity != "forbid" or rule.condition or not rule.verbs or not _telling(later)[flatly] or _TIED.search(rule.plain):
        return False
    about = _objects(rule.text) - rule.verbs
    own = {stem(word) for word in words(gloss(rule.text))}
    return bool(about) and rule.verbs <= stems(gloss(later)) and about & own <= _objects(later)


def followed(
    known: Doings, first: Sequence[str], later: str, beside: str, actions: Sequence[Action], *, flatly: bool, ahead: bool = False
) -> Iterator[tuple[str, Action]]:
    """The first texts of which a later sentence lifts or contradicts a rule, and the first effect that follows it. ``beside``: that sentence and the next;
    ``ahead``: it stands in a part of the prompt that says to go before the others, so that it need not say more than what is beyond a rule's bound."""
    for text in first if ahead or may_lift(later, flatly=flatly) else ():
        for rule in directives(text):
            aside = rule.text not in later and bool(_aside(later) & _objects(rule.text) - _PEOPLE)
            if (
                ahead
                and rule.text not in later
                and (beyond := next((one for one in actions if _goes_beyond(known, rule, later, one)), None))
            ):
                yield text, beyond
                continue
            lifted = rule.text not in later and lifts(rule, later)
            if not lifted and not aside and (rule.text == later or not affirms(rule, later, flatly=flatly)):
                continue
            done = next(
                (
                    one
                    for one in actions
                    if _breaks(known, rule, one, surely=aside)
                    or (lifted and rule.polarity == "require" and _told(known, beside, one) and kept(known, rule.text, one) != "kept")
                ),
                None,
            )
            if done is not None and not _met(known, rule, done):
                yield text, done


def _is_of(known: Doings, rule: Directive, action: Action) -> bool:
    """Whether an action is what a rule speaks of, by its own words or by its tool's definition."""
    mine = _words(known, action)
    about = _objects(rule.text) - rule.verbs
    # A noun may be a verb as well: ``files are destroyed``.
    return bool(rule.verbs & mine or groups(rule.verbs) & action.groups) and (not about or bool(about & mine) or len(rule.verbs & mine) > 1)


def _goes_beyond(known: Doings, rule: Directive, later: str, action: Action) -> bool:
    """Whether an action breaks the bound of a rule and is about what a later sentence is."""
    mine = _words(known, action)
    return bool(_objects(later) & mine and (_objects(rule.text) | rule.verbs) & mine) and kept(known, rule.text, action) == "broken"


def _breaks(known: Doings, rule: Directive, action: Action, *, surely: bool) -> bool:
    """Whether an action is what a rule speaks of and, where that sets a bound, beyond it. ``surely``: a bound that cannot be compared is none that is broken."""
    bound = kept(known, rule.text, action)
    if bound == "broken":
        return bool((_objects(rule.text) | rule.verbs) & _words(known, action))
    if bound == "kept" or (surely and bound == "unknown"):
        return False
    return (not surely or rule.polarity == "forbid" or _GATE.search(rule.plain) is not None) and _is_of(known, rule, action)


def _told(known: Doings, text: str, action: Action) -> bool:
    """Whether a text tells to do what an action does: the verb of its name, and something that it is about."""
    said = [english_of(word) or word for word in words_of(action.name)]
    verbs = {stem(word) for word in said if acts(word) or does(word)}
    return bool(verbs & stems(gloss(text))) and bool((_objects(text) - verbs) & _words(known, action))


def _words(known: Doings, action: Action) -> frozenset[str]:
    return action.stems | stems(" ".join(gloss(one) for one in known.described(action.name)))


def _met(known: Doings, rule: Directive, action: Action) -> bool:
    """Whether what a rule wants for it was spoken of by a person, or done before."""
    gate = _GATE.search(rule.plain)
    if gate is None:
        return False
    wanted = _objects(gate[1]) - rule.verbs
    if any(len(wanted & stems(gloss(known.own_words(one)))) * 2 >= len(wanted) for one in known.users(action.before)) and wanted:
        return True
    return any(wanted & stems(" ".join(words_of(other.name))) - stems(action.name) for other in known.actions_before(action.before))


def split(text: str) -> list[str]:
    """The sentences of a text, their halves by a semicolon apart."""
    return [half.strip() for one in sentences(text) for half in re.split(r";\s+", one) if half.strip()]
