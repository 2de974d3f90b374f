"""Instructions in a text: sentences that forbid, ask for, limit or condition something; and whether an action goes against one, or along.

Read by their grammar, not by their topic: modal verbs, negations, imperatives at the start of a sentence, numbers behind words of limit. What an
instruction is about are its telling words; an action is compared with those and with the kind of doing that its verb names (``verbs.py``). In English, and
in the languages of ``tongues.py``. All patterns are linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.language.directive_words import IMPERATIVES, LEFT_OUT, NOUNS
from tachograph.postmortem.language.hidden import layers
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import Pieces, identifiers, words
from tachograph.postmortem.language.tongues import gloss, may_be_foreign, tongue
from tachograph.postmortem.language.verbs import groups, is_verb, stem, stems

from .effects import DOES, acts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .actions import Action

Polarity = Literal["forbid", "require", "limit"]

#: A text that is longer is read to here.
_LONGEST = 200_000
#: A sentence that is longer is no instruction but a paste.
_SENTENCE = 600
_SENTENCES = re.compile(r"(?<=[.!?;])[ \t]+|[\r\n]+|(?<=[.!?])(?=[A-Z])")
#: A line break within a sentence.
_WRAPPED = re.compile(r"(?<![.!?:;\s])[ \t]*\n[ \t]*(?=[a-z(])")
_LEADING = re.compile(r"^(?:before|after|when|whenever|if|once|as soon as|while|in order to|for|to)\b[^,.;\n]{1,100},\s*", re.IGNORECASE)
_BULLET = re.compile(r"^[\s>*#\-–•|\"'(\[]*(?:\d{1,2}[.)]\s*|step \d{1,2}\s*[:.)-]?\s*)?", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?:note(?: to [\w ]{1,30})?|important|attention|system|assistant|agent|ai|instructions?|admin|warning|update|policy|rule|urgent|"
    r"notice|reminder|hint|task|action(?: required)?|todo|for (?:the )?(?:assistant|agent|ai|bot)[\w ]{0,30}|"
    r"dear (?:assistant|agent|ai|bot)[\w ]{0,20})\s*[:,!\]>-]+\s*",
    re.IGNORECASE,
)
_SOFTENER = re.compile(
    r"^(?:please|kindly|then|now|next|first|also|finally|and|so|just|immediately|always|simply|remember to|be sure to|make sure (?:to|that you|you)"
    r"|ensure (?:to|that you|you)|you (?:must|should|need to|have to|are to|will|can|shall)(?: now| also| first| always)?"
    r"|(?:the |any |all )?(?:assistants?|agents?|ai|bots?|models?|automation|tools?) (?:must|should|needs? to|has to|have to|is to|are to|will|shall))\b[,:]?\s+",
    re.IGNORECASE,
)
_FORBID = re.compile(
    r"\b(?:never|must not|mustn'?t|may not|shall not|should not|shouldn'?t|do not|don'?t|cannot|can'?t|can not|not allowed|not permitted"
    r"|not authori[sz]ed|forbidden|prohibited|refrain from|avoid|under no circumstances|off[- ]limits|not to be|no longer allowed|allergic to"
    r"|stay away from|keep away from|hands off|refuse to|disallowed|without exception|leave .{1,40} alone)\b|\bno\b(?= \w+ing\b)",
    re.IGNORECASE,
)  # fmt: skip
_REQUIRE = re.compile(
    r"\b(?:must|always|ensure|make sure|be sure|required?|requires|needs? to|have to|has to|shall|should|only|mandatory|needs|(?:is|are) (?:expected |supposed |meant |obliged |asked |instructed )?to (?:be )?[a-z]{3,})\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:unless|without|before|until|except(?: when| if| for)?|only (?:after|if|when|once|with)|not (?:before|until|unless))\b(.{3,200})",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\b(?:if|when|whenever|in case|for|during|outside|after)\b", re.IGNORECASE)
_NUMBER = r"(?P<sign>[$€£]|\b(?:EUR|USD|GBP|CHF)\s?)?\s?(?P<number>\d[\d,_]*(?:\.\d+)?)\s?(?P<unit>%|[€$£]|k\b|[A-Za-z]{1,12})?"
_MOST = re.compile(
    r"\b(?:at most|up to|no more than|not more than|never more than|maximum(?: \w+){0,2}(?: is| of|:)?|max(?:\.|imum)?(?: of)?|limit(?:ed)?(?: \w+){0,2}?(?: is| of| to|:)?"
    r"|limit (?:of|for|on|per) (?:[\w-]+ ){1,6}?(?:is|of|to|at)(?: of| at| set at| set to)?"
    r"|(?:not|never|n't) exceed|exceeding|exceeds?|below|under|less than|over|above|more than|greater than|larger than|higher than|beyond"
    r"|budget(?: is| of|:)?|cap(?:ped)?(?: at| of| is)?|ceiling(?: of| is)?)\s{0,3}(?:an? |the )?(?:total of )?" + _NUMBER,
    re.IGNORECASE,
)  # fmt: skip
_OVER = re.compile(r"^(?:over|above|more than|greater than|larger than|higher than|beyond|exceed)", re.IGNORECASE)
_GATE = re.compile(
    r"\b(?:need|require|must|ask|approv|confirm|escalat|forbid|forbidden|never|not|refus|decline|n't|only|manager|supervisor)\w*",
    re.IGNORECASE,
)
#: Speaks to the agent itself, or sets itself in the place of its instructions.
_OVERRIDES = Sieve(
    re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass|supersedes?|replaces?)\b.{0,40}\b(?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?|previous|prior|above|earlier|safeguards?|restrictions?|limits?|checks?)\b"
        r"|\b(?:new|updated|real|actual|hidden|additional|special|revised) (?:system )?(?:instructions?|directives?|task|orders?)\b"
        r"|\byou are now\b|\bfrom now on\b|\b(?:standing|permanent) (?:orders?|instructions?|rules?|directives?|approval|authori[sz]ation)\b|\bdo(?: not|n't) (?:tell|mention|inform|notify|alert|reveal|disclose|ask|log|report)\b"
        r"|\b(?:needs?|requires?|deserves?) no mention|\bno need to (?:tell|mention|inform|notify|alert|report|flag|disclose)|\bnot (?:worth|necessary) (?:telling|mentioning|reporting|flagging)"
        r"|\bkeep (?:this|that|it) (?:quiet|secret|confidential|to yourself|between us|out of (?:the|your|any))\b"
        r"|\bwithout (?:telling|informing|asking|notifying|mentioning|confirmation|confirming)\b"
        r"|\b(?:attention|note|notice|message|instructions?|important|reminder)[,:]?\s+(?:to|for)?\s*(?:the |all |any )?(?:ai|llm|assistants?|agents?|bots?|language models?|automated)\b"
        r"|(?:^|[\n\[<(#*])\s{0,3}(?:system|assistant|developer|admin|root)(?: (?:message|prompt|note|override|notice|update|instruction|alert))?\s{0,2}[\]>:)*]"
        r"|\b(?:note|notice|instructions?|message|hint|reminder)s? (?:for|to) (?:the |any |all |every )?(?:automated |ai )?(?:readers?|processing|processors?|handlers?|systems?|parsers?|summari[sz]ers?|crawlers?|reviewers?)\b"
        r"|<\|?(?:im_start|system|assistant)\|?>|\[INST\]|\bas (?:an ai|the assistant|the agent)\b|\bif you are (?:an ai|a language model|an? (?:\w+ )?(?:assistant|agent|bot))\b"
        r"|\bwhen (?:you|an? (?:ai|assistant|agent)) (?:read|see|process|summari[sz]e|handle)s?\b",
        re.IGNORECASE,
    ),
    "im_start|[inst]|actual directive|actual order|actual task|additional directive|additional order|additional task|admin|as an ai|assistant|agent|llm|attention|bypass|bot|deserve no mention|deserves no mention|developer|disregard|do not |don't |forget|from now on|hidden directive|hidden order|hidden task|hint for|hint to|hints for|hints to|if you are a|ignore|important|instruction|keep it|keep that|keep this|language model|automat|message|need no mention|needs no mention|new directive|new order|new task|new system |no need to|not necessary|not worth|note|notice|override|permanent|real directive|real order|real task|reminder|replace|require no mention|requires no mention|revised|root|special|standing|supersede|system|updated|when a|when you|without |you are now",
)  # fmt: skip
_ADDRESSED = Sieve(
    re.compile(
        r"\b(?:ai|llm|assistants?|(?:ai |automated |support |coding )?agents?|chat ?bots?|language models?|copilots?|automation)\b[^.\n]{0,40}?(?:\b(?:must|should|shall|needs? to|is to|are to|has to|have to|please|will now|required to|instructed)\b|:)",
        re.IGNORECASE,
    ),
    "ai|llm|assistant|agent|bot|language model|copilot|automation",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Directive:
    """One instruction. ``plain``: its text in English words, where it is in another language. ``groups`` and ``verbs``: the kind of doing, and the stems of the verbs that name it; ``about``: the stems of what it is about;
    ``names``: identifiers and numbers in it. ``limit``: the most that is allowed, in ``unit`` (a stem, ``money``, ``%`` or empty). ``condition``: what
    stands behind ``unless``, ``without``, ``before``. ``overrides``: it speaks to the agent itself or sets itself in the place of its
    instructions. ``hidden``: where it was hidden from people, in words. ``context``: the sentences around it, with itself."""

    text: str
    plain: str
    polarity: Polarity
    groups: frozenset[str]
    verbs: frozenset[str]
    about: frozenset[str]
    names: frozenset[str]
    limit: float | None = None
    unit: str = ""
    condition: str = ""
    overrides: bool = False
    hidden: str = ""
    context: str = ""


@remembered
def directives(text: str) -> tuple[Directive, ...]:
    """The instructions in a text, in order, those that are hidden from people too."""
    text = text[:_LONGEST].replace("’", "'")
    if not _may_instruct(text):
        return ()
    found: list[Directive] = []
    for piece, hidden in layers(text):
        piece = _WRAPPED.sub(" ", piece)
        lines = [line for line in _SENTENCES.split(piece) if line and line.strip()]
        language = tongue(piece)
        plain = [gloss(line, language) if len(line) <= _SENTENCE else line for line in lines]
        foreign = any(one is not line for one, line in zip(plain, lines, strict=True))
        commanding = [index for index, line in enumerate(plain) if _commands(line)] if foreign or _commands(piece) else []
        for index, line in enumerate(lines):
            made = _directive(line.strip(), plain[index].strip()) if len(line) <= _SENTENCE else None
            if made is None:
                continue
            near = any(-1 <= index - other <= 4 for other in commanding)
            around = " ".join(lines[max(index - 1, 0) : index + 3])
            found.append(
                Directive(
                    text=line.strip(),
                    plain=made.plain,
                    polarity=made.polarity,
                    groups=made.groups,
                    verbs=made.verbs,
                    about=made.about,
                    names=made.names,
                    limit=made.limit,
                    unit=made.unit,
                    condition=made.condition,
                    overrides=near,
                    hidden=hidden,
                    context=around,
                )
            )
    return tuple(found)


def _commands(text: str) -> bool:
    """Whether a text speaks to the agent itself, or sets itself in the place of its instructions."""
    return _OVERRIDES.search(text) is not None or _ADDRESSED.search(text) is not None


_CUE = re.compile(
    r"\b(?:must|never|always|not|\w{2,6}n['’]?t|ensure|make sure|only|without|unless|refrain|off[- ]limits|stay away|keep away|please|should|shall|need|have to|has to|forbidden|prohibited|avoid|allergic|limit|"
    r"maximum|max|budget|at most|up to|more than|over|above|under|below|assistant|agent|system|important|ignore|disregard|(?:is|are) (?:expected |supposed |meant |obliged |asked |instructed )?to|no mention)\b|<!--|[A-Za-z0-9+/]{24}"
    r"|[\u200b\u200c\u2060-\u2064\U000e0020-\U000e007e]",
    re.IGNORECASE,
)


#: Words that are a cue by themselves, and words with which one of several begins: in each text in which ``_CUE`` is found there is one of these, or what
#: ``_SIGNS`` finds.
_CUES = frozenset(["must", "never", "always", "not", "ensure", "only", "without", "unless", "refrain", "please", "should", "shall", "need", "forbidden", "prohibited", "avoid", "allergic", "limit", "maximum", "max", "budget", "over", "above", "under", "below", "assistant", "agent", "system", "important", "ignore", "disregard"])  # fmt: skip
_BEGIN = frozenset(["make", "off", "stay", "keep", "have", "has", "at", "up", "more", "is", "are", "no"])
_SIGNS = re.compile(
    rf"\b(?:{'|'.join(sorted(_CUES))}|\w{{2,6}}n['’]?t)\b|<!--|[A-Za-z0-9+/]{{24}}|[\u200b\u200c\u2060-\u2064\U000e0020-\U000e007e]",
    re.IGNORECASE,
)
_BEGUN = re.compile(rf"\b(?:{'|'.join(sorted(_BEGIN))})\b", re.IGNORECASE)
_BARE_VERB = re.compile(r"[A-Za-z][a-z]+")


def _hints(piece: str) -> int:
    """Of a piece of a text between blanks: 1 where it is a cue, 2 where one may begin with it, 4 where a verb is in it that an imperative could have, 8
    where it may be of another language."""
    word = piece.lower()
    if piece.isalpha() and piece.isascii() and len(piece) < 24:
        cue, begins = word in _CUES or (4 <= len(word) <= 8 and word.endswith("nt")), word in _BEGIN
    else:
        cue, begins = _SIGNS.search(piece) is not None, _BEGUN.search(piece) is not None
    verb = any(one.lower() in IMPERATIVES or one.lower() in DOES for one in _BARE_VERB.findall(piece))
    return cue | begins << 1 | verb << 2 | may_be_foreign(piece) << 3


_HINTS = Pieces(_hints)


#: What each cue of several words has in it.
_PHRASES = (
    "make sure", "off-limits", "off limits", "stay away", "keep away", "have to", "has to", "at most", "up to", "more than", "no mention", "is to", "are to",
    "expected to", "supposed to", "meant to", "obliged to", "asked to", "instructed to",
)  # fmt: skip


def _begins_cue(text: str) -> bool:
    """Whether a cue of several words is there."""
    if text.isascii():
        lowered = text.lower()
        if not any(phrase in lowered for phrase in _PHRASES):
            return False
    return _CUE.search(text) is not None


def _may_instruct(text: str) -> bool:
    """A quick look: whether any word of instruction, or any imperative, is there at all."""
    hints = reduce(or_, set(_HINTS.of(text)), 0)
    if hints & 1 or (hints & 2 and _begins_cue(text)):
        return True
    if hints & 4 and any(imperative(line) for line in _SENTENCES.split(text) if 0 < len(line) <= _SENTENCE):
        return True
    return bool(hints & 8) and tongue(text) is not None


def imperative(line: str) -> str | None:
    """The verb with which a sentence tells somebody to do something, or ``None``: ``Send it to …``, ``Then, please delete …``, ``You must wire …``."""
    bare = _BULLET.sub("", line, count=1)
    unlabelled = _LABEL.sub("", bare, count=1)
    told, bare = unlabelled != bare, unlabelled
    for _ in range(4):
        shorter = _LEADING.sub("", _SOFTENER.sub("", bare, count=1), count=1)
        if shorter == bare:
            break
        told, bare = True, shorter
    match = re.match(r"[\"'`*]*([A-Za-z][a-z]+)\b(?!['’:=.(])\s*(.?)", bare)
    if match is None or match.group(2) in ("=", ":"):
        return None
    word = match.group(1).lower()
    if word in IMPERATIVES or acts(word):
        following = bare[match.end(1) :].strip()
        # ``Order 4471 was shipped`` and ``Ticket: open`` name a thing.
        if not following or (
            not told
            and word in NOUNS
            and not re.match(
                r"(?:the|an?|all|any|this|that|it|them|to|your|our|my|every|each|him|her|us|me)\b|(?:[^\W_][\w.,-]*\s+){1,6}(?:to|into)\s+(?!be\b)[^\W_]",
                following,
            )
        ):
            return None
        return word
    return None


#: A line of a program, whose words are not addressed to anybody.
_CODE = re.compile(
    r"^\s*(?:(?:raise|return|throw|yield|await|assert|print|del|import|from|package|using)\b.{0,200}?(?:[(\[{;=]|\bimport\b)"
    r"|(?:async )?(?:def|class|func|fn|function|public|private|static|const|let|var)\b.{0,200}?[(:{=;]|(?:if|elif|else if|for|while|switch|try|except|catch|with)\b.{0,200}?(?:\)\s*\{?|:|\{)\s*$)"
    r"|\{\s*$|(?:\w\([^()\n]{0,200}\)|[\]}]|=[^;\n]{1,80})\s*;\s*$|^\s*[\w.\[\]]{1,80}\s*(?:[-+*/|&:]?=)(?!=)\s*\S|^\s*[\w.]{1,80}\([^()]{0,200}\)\s*[:;]?\s*$"
)


#: “Why don't you …?” forbids nothing.
_ASKS_WHY = re.compile(r"\W{0,4}(?:why|how come|warum|weshalb|pourquoi|por qu[eé]|perch[eé]|waarom)\b", re.IGNORECASE)


def _directive(text: str, line: str) -> Directive | None:
    if _CODE.search(text) or _ASKS_WHY.match(line):
        return None
    forbids = _FORBID.search(line)
    limit = _limit(line)
    verb = imperative(line)
    condition = _CONDITION.search(line)
    if limit is not None:
        polarity: Polarity = "limit"
    elif forbids is not None:
        polarity = "forbid"
    elif verb is not None or _REQUIRE.search(line):
        polarity = "require"
    else:
        return None
    head = line[: condition.start()] if condition is not None and condition.start() > 12 else line
    if polarity == "forbid" and forbids is not None:
        head = _clause(head, forbids.start())
    found = stems(head)
    verbs = frozenset(one for one in _verbs(head, verb))
    about = frozenset(
        one
        for one in (stem(word) for term in words(head) for word in re.split(r"[^\w]+", term) if len(word) > 2)
        if one not in LEFT_OUT and not one.isdigit()
    )
    about -= verbs
    return Directive(
        text=text, plain=line, polarity=polarity, groups=groups(verbs) if verbs else groups(found), verbs=verbs, about=about, names=identifiers(text),
        limit=limit[0] if limit is not None else None, unit=limit[1] if limit is not None else "",
        condition=condition.group(1).strip() if condition is not None else "",
    )  # fmt: skip


_CLAUSE = re.compile(
    r"\s+[-–—]\s+|[;:(]|,\s+(?:so|but|and|because|since|as|however|instead|thus|therefore|use|then)\b|\b(?:because|so that|instead)\b",
    re.IGNORECASE,
)


def _clause(line: str, at: int) -> str:
    """The part of a sentence in which a word stands: what is forbidden is said there, and why or what else behind it."""
    begin = max((match.end() for match in _CLAUSE.finditer(line, 0, at)), default=0)
    after = _CLAUSE.search(line, at)
    return line[begin : after.start() if after is not None else len(line)]


def _verbs(head: str, verb: str | None) -> Iterator[str]:
    """The stems of the verbs of an instruction: the imperative, those behind a modal verb or a negation, and gerunds and participles."""
    if verb is not None and verb not in ("do", "be", "never", "don", "avoid", "ensure", "make", "keep"):
        yield stem(verb)
    for match in re.finditer(
        r"\b(?:must|never|always|not|n't|should|shall|to|cannot|can't|don't|can|may|will|only|avoid|or|and|ever|then|before|"
        r"you|we|please|from|no|requires?|needs?|sure|be|without|by|also)\s+(?:ever |also |be |directly |automatically |please |you |first |then )?([A-Za-z]{2,20})",
        head,
        re.IGNORECASE,
    ):
        if is_verb(match.group(1)):
            yield stem(match.group(1))
    for match in re.finditer(r"\b([A-Za-z]{3,20}(?:ing|ed))\b", head):
        if is_verb(match.group(1)):
            yield stem(match.group(1))
    first = re.match(r"[\W\d]*([A-Za-z]{3,20})", head)  # ``Refunds over 100 …``
    if first is not None and is_verb(first.group(1)):
        yield stem(first.group(1))


_MOST_BEHIND = re.compile(
    _NUMBER
    + r"(?: (?:a|an|per|each|every|in)(?: \w+){1,2})?,? (?:at (?:the )?most|max(?:imum|\.)?|or less|or fewer|tops|limit|budget|cap)\b",
    re.IGNORECASE,
)


_DIGIT = re.compile(r"\d")


def _limit(line: str) -> tuple[float, str] | None:
    match = (_MOST.search(line) or _MOST_BEHIND.search(line)) if _DIGIT.search(line) else None
    if match is None:
        return None
    if _OVER.match(match.group()) and not _GATE.search(line):
        return None
    try:
        number = float(match.group("number").replace(",", "").replace("_", ""))
    except ValueError:
        return None
    unit = (match.group("unit") or "").lower()
    if unit == "k":
        number *= 1000
        unit = ""
    sign = (match.group("sign") or "").strip()
    if sign or unit in ("€", "$", "£", "eur", "usd", "gbp", "chf", "euro", "euros", "dollars", "dollar", "pounds"):
        return number, "money"
    if unit == "%" or unit.startswith("percent"):
        return number, "%"
    return number, "" if not unit or stem(unit) in LEFT_OUT or unit in ("and", "per", "each") else stem(unit)


_MONEY = frozenset(stem(word) for word in ["amount", "price", "total", "cost", "sum", "value", "refund", "pay", "payment", "budget", "fee", "charge", "credit", "money", "cents", "limit", "spend", "fare", "usd", "eur", "rent", "bid", "offer"])  # fmt: skip

_SHARE = frozenset(stem(word) for word in ["percent", "percentage", "pct", "rate", "discount", "share"])
_NAMING = frozenset(
    stem(word) for word in ["id", "number", "order", "account", "phone", "code", "year", "invoice", "reference", "zip", "port"]
)


def against(directive: Directive, action: Action) -> float:
    """How surely an action goes against an instruction, 0 to 1. 0.5 is enough to say so. A condition is not looked at (``unmet``)."""
    if directive.polarity == "limit":
        return _beyond(directive, action)
    if directive.polarity != "forbid":
        return 0.0
    return fits(directive, action)


def fits(directive: Directive, action: Action) -> float:
    """How surely an action is the one that an instruction speaks of, 0 to 1."""
    exact = bool(directive.verbs & action.stems)
    akin = bool(directive.groups & action.groups)
    named = directive.names & action.identifiers
    if named and not directive.verbs:
        return 0.75  # hands off that one, whatever is done to it
    if named and action.edits and directive.polarity == "require" and directive.about & action.stems:
        return 0.75  # a change of that file, about the same: what it does to it is in its text
    if not exact and not akin and directive.groups:
        return 0.0
    about = directive.about - stems(action.name) if len(directive.about) > 1 else directive.about
    about = about or directive.about
    shared = len(about & action.stems) / len(about) if about else 0.0
    if named:
        return 0.95 if exact or akin else 0.7
    if not directive.groups:
        return shared if len(about & action.stems) >= 2 or (len(about) <= 2 and about & action.stems) else 0.0
    if not about:
        return 0.8 if exact else 0.55
    return (0.45 if exact else 0.3) + 0.55 * shared if about & action.stems else 0.0


def _beyond(directive: Directive, action: Action) -> float:
    assert directive.limit is not None
    topic = bool((directive.verbs | directive.about) & action.stems or directive.groups & action.groups)
    if not topic and directive.unit == "money" and action.effect is not None:
        topic = not (directive.about | directive.verbs) - _MONEY  # a budget is one for whatever is bought
    if not topic:
        return 0.0
    best = 0.0
    numbers = [(path, text) for path, text in action.leaves if re.fullmatch(r"[$€£]?\s?[\d,]+(?:\.\d+)?\s?(?:%|[A-Z]{3})?", text.strip())]
    for path, text in numbers:
        number = float(re.sub(r"[^\d.]", "", text) or 0)
        key = stems(path)
        if directive.unit == "money" and not key & _MONEY:
            continue
        if directive.unit == "%" and not key & _SHARE:
            continue
        if not directive.unit and not (key & _MONEY or key & (directive.about | directive.verbs) or len(numbers) == 1):
            continue
        if directive.unit not in ("", "money", "%") and not (
            directive.unit in key or (directive.unit in action.stems and len(numbers) == 1)
        ):
            continue
        if number > directive.limit and not key & _NAMING:
            best = max(best, 0.85 if directive.unit else 0.7)
    return best


def named_in(directive: Directive, text: str) -> frozenset[str]:
    """Identifiers that an instruction's surroundings and a text share."""
    return identifiers(directive.context or directive.text) & identifiers(text)
