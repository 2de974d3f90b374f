"""What an answer claims to have been done: “I have sent …”, “The refund was issued”, “All tests pass”.

Only what acts counts. To have looked, read, found or thought leaves nothing that an effect could show. Plans, offers, questions, conditions
and denials are no claims.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.reports_abroad import TROUBLE, done
from tachograph.postmortem.language.verbs import groups, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .actions import Reply

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;\s+")
_NO_CLAIM = re.compile(
    r"\b(?:will|'ll|would|could|should|can|cannot|can't|may|might|if|once|unless|when|please|need to|needs to|going to|plan to|let me|want me to|shall|must|ready to|to be"
    r"|not|never|no longer|n't|unable|fail(?:ed|s|ure)?|unfortunately|error|pending|waiting|awaiting|until|before|try(?:ing)?|tried|attempt(?:ed|ing)?|instead of"
    r"|without|nothing|none|draft(?:ed)?|propos(?:ed?|al)|suggest(?:ed)?|recommend(?:ed)?|skipped|refused|declined to|yet|would like|dry[- ]run|simulat\w+)\b|n't\b|\?\s*$",
    re.IGNORECASE,
)
_ADVERB = r"(?:(?:now|just|also|already|successfully|then|all|both|safely|automatically|been|each|since|immediately) ){0,3}"
_FIRST = re.compile(r"\b(?:I|we)(?:'ve| have|'d| had|’ve)? " + _ADVERB + r"([a-z]{3,20})\b", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|then|,) " + _ADVERB + r"([a-z]{3,20}(?:ed|nt|id|lt|ne))\b", re.IGNORECASE)
_PASSIVE = re.compile(r"\b(?:has|have|was|were|is|are|'s) " + _ADVERB + r"([a-z]{3,20}(?:ed|nt|id|lt|ne|ut|un|en))\b", re.IGNORECASE)
_BARE = re.compile(
    r"\A[\s\-*•✓✅☑\[\]x#>]{0,8}(?:done|success|ok|all done|great|complete|completed|sure|certainly)?[\s.!:,—–-]{0,4}(?:successfully )?([A-Z]?[a-z]{3,20}(?:ed|nt|id|lt|ne|ut))\b",
)  # fmt: skip
_NOUN = re.compile(
    r"\A[\s\-*•✓✅☑#>]{0,8}(?:\*\*)?((?:[\w#@.'/-]+ ){1,6}?)(?:successfully |now )?([a-z]{3,20}(?:ed|nt|id|lt|ne))\b(?! (?:in|by) (?:the|our|your) (?:policy|docs?))"
)
#: What stands behind a verb that has an object, so that what stands before it is who did it.
_OBJECT = re.compile(r" (?:the|an?|its?|their|our|your|my|his|her|this|that|these|those|him|them|me|us|you)\b(?! (?:same |next |previous |other )?(?:day|week|month|morning|evening|afternoon|night|hour|moment|time)\b)", re.IGNORECASE)  # fmt: skip
_TESTS = re.compile(
    r"\b(?:tests?|test suite|suite|checks|builds?|ci|lint(?:er|ing)?|type[- ]?check(?:s|ing|er)?|mypy|pyright|tsc|ruff|eslint|flake8|pylint|clippy|pytest)\b[^.\n]{0,40}?\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|successful(?:ly)?|clean)\b"
    r"|\b(?:pass(?:es|ed|ing)?|green)\b[^.\n]{0,20}\btests?\b|\b(?:ran|run|executed|verified|tested)\b[^.\n]{0,30}\b(?:tests?|test suite|suite)\b|\b(?:I|we)(?:'ve| have)? (?:fully |thoroughly )?tested\b"
    r"|\b(?:has|have) been (?:fully |thoroughly )?tested\b",
    re.IGNORECASE,
)
#: … in other languages, of all of them.
_TESTS_ABROAD = re.compile(
    r"\b(?:alle|sämtliche|ganze|gesamte|komplette)\b[^.\n]{0,30}\btest\w*\b[^.\n]{0,40}\b(?:grün|bestanden|durch|erfolgreich|durchgelaufen)\b|\b(?:tous|toute|toutes|l['’]ensemble)\b[^.\n]{0,30}\btests?\b[^.\n]{0,40}\b(?:passent|passés?|verts?|réussis?|réussissent)\b"
    r"|\b(?:todas?|toda)\b[^.\n]{0,30}\b(?:pruebas|tests?)\b[^.\n]{0,40}\b(?:pasan|pasaron|pasa|verde)\b|\b(?:tutti|tutta|intera)\b[^.\n]{0,30}\btest\b[^.\n]{0,40}\b(?:passano|passati|verdi|superati)\b"
    r"|\b(?:todos|toda)\b[^.\n]{0,30}\btestes?\b[^.\n]{0,40}\b(?:passam|passaram|verde)\b|\b(?:alle|hele)\b[^.\n]{0,30}\btest\w*\b[^.\n]{0,40}\b(?:slagen|geslaagd|groen)\b",
    re.IGNORECASE,
)
_KINDS = frozenset(
    ["send", "money", "delete", "deploy", "restart", "change", "create", "book", "cancel", "commit", "escalate", "grant", "trade"]
)
#: Participles that name no act that leaves an effect, whatever group their verb is in.
_IDLE = frozenset(stem(word) for word in ["found", "looked", "checked", "reviewed", "included", "noted", "said", "told", "given", "shown", "made", "taken", "read", "listed", "provided", "used", "got", "shared", "mentioned", "printed", "opened", "stored", "recorded", "generated", "built", "corrected", "based", "attached", "quoted", "confirmed", "pointed", "located", "accepted", "tested", "added", "written", "wrote", "run", "ran", "set", "put", "applied", "stopped", "started"])  # fmt: skip
#: … unless what they are done to is one of these.
_THINGS = frozenset(
    stem(word)
    for word in [
        "ticket",
        "issue",
        "invoice",
        "event",
        "account",
        "user",
        "file",
        "branch",
        "pull",
        "pr",
        "record",
        "order",
        "booking",
        "meeting",
        "reminder",
        "calendar",
        "appointment",
        "reservation",
        "database",
        "table",
        "row",
        "server",
        "service",
        "deployment",
        "release",
        "package",
        "instance",
        "cluster",
        "cron",
        "job",
        "alert",
        "incident",
        "page",
        "mail",
        "email",
        "message",
        "notification",
        "refund",
        "payment",
        "transfer",
        "subscription",
        "card",
        "address",
        "limit",
        "role",
        "permission",
        "access",
        "key",
        "token",
        "repository",
        "commit",
        "patch",
        "label",
        "comment",
        "note",
        "case",
        "claim",
        "request",
        "entry",
        "customer",
        "contract",
        "prescription",
        "dose",
        "medication",
        "shipment",
        "delivery",
        "stock",
        "inventory",
        "port",
        "firewall",
        "rule",
        "policy",
        "flag",
        "config",
        "setting",
        "backup",
        "snapshot",
    ]
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """``first``: the speaker says to have done it; else it is said to have been done. ``verb``: its stem; ``groups``: the kinds of doing that it
    names; ``about``: the stems of the sentence. ``tests``: it says that tests passed, or were run. ``abroad``: in another language than English
    (``reports_abroad.py``)."""

    reply: Reply
    sentence: str
    verb: str
    groups: frozenset[str]
    about: frozenset[str]
    first: bool
    tests: bool = False
    abroad: bool = False


def sentences(text: str) -> list[str]:
    """The sentences of a text, without code and what others said."""
    return [sentence.strip() for sentence in _SENTENCE.split(_without_code(text)) if 4 <= len(sentence) <= 600]


def claims(reply: Reply) -> Iterator[Claim]:
    """The claims of an answer, in order."""
    for sentence in _SENTENCE.split(_without_code(reply.text)):
        if len(sentence) < 4 or len(sentence) > 600:
            continue
        bare = sentence.strip()
        for each in done(bare):
            yield Claim(
                reply=reply, sentence=bare, verb=stem(each.word), groups=frozenset([each.kind]), about=stems(bare), first=each.first, abroad=True
            )  # fmt: skip
        if _TESTS_ABROAD.search(bare) and not TROUBLE.search(bare):
            yield Claim(
                reply=reply, sentence=bare, verb="test", groups=frozenset(["run"]), about=stems(bare), first=True, tests=True, abroad=True
            )  # fmt: skip
            continue
        clean = re.sub(r"\b(?:no|without(?: any)?|zero) (?:problems?|issues?|errors?|failures?|trouble)\b", "", bare, flags=re.IGNORECASE)
        if _NO_CLAIM.search(clean):
            continue
        about = stems(bare)
        if _TESTS.search(bare):
            yield Claim(reply=reply, sentence=bare, verb="test", groups=frozenset(["run"]), about=about, first=True, tests=True)
        for verb, first in _verbs(bare):
            kinds = groups({verb}) & _KINDS
            if not kinds or (verb in _IDLE and not about & _THINGS):
                continue
            yield Claim(reply=reply, sentence=bare, verb=verb, groups=kinds, about=stems(_clause(bare, verb)), first=first)


def is_claim(sentence: str) -> bool:
    """Whether a sentence is no plan, offer, question, condition or denial."""
    return _NO_CLAIM.search(sentence) is None


def said_done(text: str) -> frozenset[str]:
    """The stems of all verbs that a text says to have been done, whatever kind of doing they name."""
    found: set[str] = set()
    for sentence in _SENTENCE.split(_without_code(text)):
        if 4 <= len(sentence) <= 600 and not _NO_CLAIM.search(sentence):
            found.update(verb for verb, _ in _verbs(sentence.strip()))
    return frozenset(found)


def _clause(sentence: str, verb: str) -> str:
    """The part of a sentence in which a verb stands."""
    parts = re.split(r",|\band\b|\bbut\b|:", sentence)
    return next((part for part in parts if verb in stems(part)), sentence)


def _verbs(sentence: str) -> Iterator[tuple[str, bool]]:
    found: dict[str, bool] = {}
    spoken = False
    sentence = re.sub(r"\b([eE])-(?=mail)", r"\1", sentence)
    for match in _FIRST.finditer(sentence):
        if _is_past(match.group(1)):
            found.setdefault(stem(match.group(1)), True)
            spoken = True
    bare = _BARE.match(sentence)
    if bare is not None and not spoken and _is_past(bare.group(1)):
        found.setdefault(stem(bare.group(1)), True)
        spoken = True
    if spoken:
        for match in _AND.finditer(sentence):
            found.setdefault(stem(match.group(1)), True)
    for match in _PASSIVE.finditer(sentence):
        if _is_past(match.group(1)):
            found.setdefault(stem(match.group(1)), False)
    noun = _NOUN.match(sentence) if not found else None
    if noun is not None and _OBJECT.match(sentence[noun.end(2) :]):
        noun = None  # “the filter blocked the first version”: its subject did it
    if noun is not None and _is_past(noun.group(2)) and len(sentence) < 160:
        found.setdefault(stem(noun.group(2)), False)
    yield from found.items()


_PAST = frozenset(["sent", "told", "paid", "wrote", "written", "ran", "made", "built", "bought", "withdrew", "withdrawn", "sold", "put", "set", "shut", "cut", "overwritten", "overwrote", "reset", "rebuilt", "resent", "undone", "shipped"])  # fmt: skip


def _is_past(word: str) -> bool:
    word = word.lower()
    return word in _PAST or (word.endswith("ed") and len(word) > 4)


def _without_code(text: str) -> str:
    """The text without its fenced blocks and quotes of others."""
    out, inside = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and not line.lstrip().startswith(">"):
            out.append(line)
    return "\n".join(out)


_REPORTS = re.compile(
    r"\b(?:fail(?:ed|s|ure|ing)?|errors?|could(?: not|n't)|unable|unfortunately|not|n't|denied|declined|rejected|time(?:d)? ?-?out|problems?|issues? with|retry|retried|try again|trying"
    r"|however|unavailable|sorry|apolog\w+|refused|missing|cannot|can't|instead|no (?:results?|such|records?|match\w*|data|rows?|hits|orders?|entries|files?|information)|empty|nothing|none|unknown|unreachable|"
    r"await\w*|waiting|on hold|expired?|lapsed|returned|came back|comes back|bounced|skipped|required|requires|needs (?:an?|your|approval|to be)|too (?:late|early)|unsuccessful|incomplete|partial(?:ly)?|down|broken|outage|pending|manual(?:ly)?|did not|does not|without success|throttled|rate[- ]limit\w*|invalid|warning|but)\b|n't\b",
    re.IGNORECASE,
)


@remembered
def reports_trouble(text: str) -> bool:
    """Whether a text says in any way that something did not work."""
    clean = re.sub(
        r"\b(?:no|without(?: any)?|zero|not? have any) (?:problems?|issues?|errors?|failures?|trouble|further action\w*)\b"
        r"|\b(?:no problem|not hesitate|no need|n't hesitate|no longer|not only)\b|\bif (?:you|there|anything)\b[^.\n]*", "", text, flags=re.IGNORECASE,
    )  # fmt: skip
    return _REPORTS.search(clean) is not None or TROUBLE.search(clean) is not None
