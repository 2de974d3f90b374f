"""Words by what they mean for an action: the stem of a word, and the kind of doing that a verb names.

Rough on purpose: a stem need not be a word, only the same for ``cancel``, ``cancelled`` and ``cancellation``. The verbs and nouns of other languages
(``tongues.py``) have the stem of the English one: ``überweisen`` has that of ``transfer``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from .remembered import remembered
from .terms import Pieces
from .tongues import english_of

_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_IRREGULAR = {
    "sent": "send", "paid": "pay", "wrote": "write", "written": "write", "ran": "run", "made": "make", "built": "build", "bought": "buy",
    "withdrew": "withdraw", "withdrawn": "withdraw", "took": "take", "taken": "take", "told": "tell", "gave": "give", "given": "give",
    "kept": "keep", "found": "find", "got": "get", "held": "hold", "sold": "sell", "shown": "show", "began": "begin", "begun": "begin",
    "did": "do", "done": "do", "went": "go", "gone": "go", "overwritten": "overwrite", "overwrote": "overwrite", "drawn": "draw",
    "said": "say", "led": "lead", "spent": "spend", "lent": "lend", "left": "leave", "chosen": "choose", "chose": "choose", "put": "put",
    "quit": "quit", "shut": "shut", "prod": "product", "production": "product", "db": "databas", "dbs": "databas", "dev": "develop",
    "development": "develop", "env": "environ", "environment": "environ", "repo": "repositori", "repos": "repositori",
    "repository": "repositori", "config": "configur", "configuration": "configur", "cfg": "configur", "info": "inform", "acct": "account",
    "msg": "messag", "pw": "password", "passwd": "password", "pwd": "password", "creds": "credenti", "credential": "credenti",
    "credentials": "credenti", "qty": "quantiti", "quantity": "quantiti", "amt": "amount", "addr": "address", "tel": "phone",
    "emails": "email", "mails": "email", "mail": "email", "e-mail": "email", "docs": "document", "doc": "document", "tests": "test",
    "children": "child", "people": "person",
}  # fmt: skip
_GROUPS = {
    "send": "send email forward post share notify message upload export submit transmit exfiltrate dispatch sms text cc bcc page reply respond "
    "broadcast contact deliver push curl copy leak",
    "money": "pay refund transfer wire credit debit charge reimburse payout withdraw compensate spend disburse remit settle",
    "delete": "delete remove drop erase wipe purge destroy truncate rm clear discard terminate deprovision uninstall unlink expunge flush",
    "deploy": "deploy release publish ship roll rollout promote upgrade install apply launch",
    "restart": "restart reboot bounce restore failover stop start shutdown shut cycle kill halt drain",
    "change": "archive change modify update edit write set patch alter overwrite touch adjust replace rename move correct rewrite mutate modification "
    "configure reset scale resize tune lower raise increase reduce fix",
    "create": "create open add insert register make file generate provision enroll onboard append log record store save",
    "book": "book reserve order buy purchase schedule place procure reorder rebook prescribe dispense administer",
    "cancel": "cancel void revoke reject decline suspend unsubscribe abort close deactivate disable lock block ban",
    "run": "run execute invoke test call trigger",
    "grant": "grant approve allow authorize authorise enable unlock invite elevate permit unblock reactivate",
    "tell": "disclose reveal share expose mention tell leak give show print include say quote promise offer recommend",
    "commit": "commit push merge",
    "escalate": "escalate assign reassign handover route page",
    "sign": "sign confirm accept",
    "trade": "trade sell buy short liquidate",
}  # fmt: skip


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without its ending, in lower case."""
    word = word.lower().partition("'")[0]
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or any(character.isdigit() for character in word):
        return word
    word = english_of(word) or word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "shes", "ches", "xes")) else word[:-1]
    for ending in ("ations", "ation", "ments", "ment", "ions", "ion", "ings", "ing", "ied", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("y" if ending == "ied" else "")
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeious":
        word = word[:-1]
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 4 else word


_OF_STEM: dict[str, frozenset[str]] = {}
for _group, _members in _GROUPS.items():
    for _member in _members.split():
        _OF_STEM[stem(_member)] = _OF_STEM.get(stem(_member), frozenset()) | {_group}


def groups(stems: frozenset[str] | set[str]) -> frozenset[str]:
    """The kinds of doing that any of these stems names."""
    found: set[str] = set()
    for one in stems:
        found |= _OF_STEM.get(one, frozenset())
    return frozenset(found)


def is_verb(word: str) -> bool:
    """Whether a word's stem names a kind of doing."""
    return stem(word) in _OF_STEM


@remembered
def stems(text: str) -> frozenset[str]:
    """The stems of a text's words; identifiers (``sendInvoice``, ``send_invoice``) are taken apart."""
    return frozenset(chain.from_iterable(_STEMS.of(text)))


def _stems(piece: str) -> frozenset[str]:
    found: set[str] = set()
    for token in _WORD.findall(piece.replace("_", " ")):
        pieces = _PIECES.findall(token) if not token.islower() else [token]
        if len(pieces) > 1:
            found.update(stem(piece) for piece in pieces)
        found.add(stem(token))
    return frozenset(found)


_STEMS = Pieces(_stems)
