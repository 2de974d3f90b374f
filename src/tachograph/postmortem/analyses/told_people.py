"""“Marek and Tove have been told”, where nothing was done by which anybody could have heard of it.

*Claim*: an answer says that people (by names that stand in the session, or by who they are: the guests, the customer, everybody) were told, informed,
notified or written to. *Against it*: of all that was done before, nothing sends, posts, comments or escalates, no call was given a text for somebody or told to notify,
and no result says that somebody was notified. Then either a tool that sends was offered and never called, or a result says in its own fields that
nobody was (``delivered: 0``, ``notices: none``).

Without one of these two nothing is said: many services notify people by themselves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.reports_abroad import done as done_abroad
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.claims import is_claim, said_done, sentences
from tachograph.postmortem.meaning.effects import is_shell

from .contract import STRONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.meaning.actions import Action, Doings, Reply

_TOLD = r"(?:told|informed|notified|alerted|e-?mailed|mailed|texted|messaged|contacted|phoned|briefed|written to|reminded)"
_ADVERB = r"(?:(?:now|just|also|already|all|both|each|since|then|successfully) ){0,3}"
_PASSIVE = re.compile(
    rf"(?P<who>[^.:;!?\n]{{2,160}}?) (?:has|have|was|were|are|is)\b {_ADVERB}(?:been {_ADVERB})?{_TOLD}\b(?! by\b| to (?!be\b)[a-z])|(?P<knows>[^.:;!?\n]{{2,160}}?) (?:has|have) been let know\b", re.IGNORECASE
)  # fmt: skip
_MAY_TELL = re.compile(rf"\b(?:{_TOLD}|let)\b", re.IGNORECASE)
_ACTIVE = re.compile(
    rf"\b(?:I|we)(?:['’]ve| have)? {_ADVERB}(?:{_TOLD} (?P<who>[^.:;!?\n]{{2,160}})|let (?P<knows>[^.:;!?\n]{{2,100}}?) know\b)", re.IGNORECASE
)  # fmt: skip
#: Who people are, where they are not named.
_PEOPLE = re.compile(
    r"\b(?:everyone|everybody|all of them|the others|him|her|them|she|he|they|both|(?:the|your|our|his|her|their|all|other) (?:\w+ ){0,2}(?:others?|guests?|participants?|attendees|invitees|customers?|clients?|patients?|team"
    r"|parents?|staff|colleagues?|tenants?|landlord|drivers?|suppliers?|managers?|members?|owners?|users?|residents?|families|family|students?|teachers?|neighbou?rs?|travell?ers?|passengers?|subscribers?|people|crew|volunteers?|applicants?|candidates?))\b",
    re.IGNORECASE,
)  # fmt: skip
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w'’-]{1,24}")
_OURSELVES = re.compile(r"\b(?:i|we|you|me|us|it)\Z", re.IGNORECASE)
#: Stems that say, in one of the other languages, that somebody was told.
_ABROAD = re.compile(
    r"inform|notifi|avis|avvis|aver|averti|preven|benachricht|verstandigt|unterricht|bescheid|gewaarschuwd|ingelicht|geinformeerd|comuni"
)
#: What a field or an argument about telling people is called, and values that mean that nobody was.
_TELLING = frozenset(
    stem(word) for word in ["notify", "notice", "notification", "delivered", "recipients", "informed", "invitations", "sent"]
)
#: … of these where the value is a number or a truth value.
_COUNTED = frozenset(stem(word) for word in ["email", "mail", "sms", "message", "alert", "letter", "call"])
_NOBODY = frozenset(["", "0", "0.0", "none", "no", "false", "off", "null", "nobody", "disabled", "suppressed", "skipped", "never", "keine", "aucun", "ninguno", "nessuno", "nenhum", "geen", "[]", "{}"])  # fmt: skip
_MODES = frozenset(["mode", "count", "status", "state", "type", "total", "number", "to"])
#: What a tool by which people hear of something has in its name, or among its arguments.
_BY_NAME = frozenset(stem(word) for word in ["comment", "note", "ticket", "message", "mail", "sms", "chat", "slack", "call", "phone", "letter", "notice", "invite", "invitation", "announce", "publish", "speak", "fax", "whatsapp", "teams"])  # fmt: skip
_BY_TEXT = frozenset(stem(word) for word in ["message", "comment", "note", "text", "body", "reason", "subject", "announcement", "remark"])
_MOST = 4000


def unheard(reply: Reply, known: Doings, case: Case) -> tuple[str, str, float, tuple[Evidence, ...]] | None:
    """The sentence of an answer that says that people were told, why that is not so, how sure that is, and what shows it."""
    if case.imported or reply.step.seen.state != "there":
        return None
    claimed = next((sentence for sentence in sentences(reply.text) if _says_told(sentence, known, reply)), None)
    if claimed is None:
        return None
    shown: list[Evidence] = []
    why = ""
    for action in known.actions_before(reply.before, _MOST):
        if action.step is not None and action.step.number >= reply.step.number:
            continue
        told, fields = _told(action)
        if told:
            return None
        if fields and action.effect is not None:
            why, shown = f"the result says {fields}", [action.cite(f"its result says {fields}")]
    offered = next((name for name in reply.step.seen.tools if "send" in groups(stems(name))), None)
    if not why and offered is None:
        return None
    lacks = f"{offered} was not called" if offered is not None else "nothing was done by which anybody is told"
    return claimed, "; ".join(part for part in (lacks, why) if part), STRONG + (0.05 if why else 0.0), tuple(shown)


def _says_told(sentence: str, known: Doings, reply: Reply) -> bool:
    if any(one.kind == "send" and _ABROAD.match(fold(one.word)) for one in done_abroad(sentence)):
        return not _by_others(known, reply)
    if _MAY_TELL.search(sentence) is None or not is_claim(sentence):
        return False
    for pattern in (_ACTIVE, _PASSIVE):
        for match in pattern.finditer(sentence):
            who = (match["who"] or match["knows"]).strip()
            # What stands before the verb is the subject, behind it the object: their nearer ends count.
            near = who[-100:] if pattern is _PASSIVE else re.split(r"\b(?:that|about|of|to|why|how|when|by|in|with)\b", who, maxsplit=1)[0]
            if (
                not near.strip()
                or _OURSELVES.search(near.strip())
                or (pattern is _ACTIVE and re.match(r"(?:you|me|us|it)\b", near, re.IGNORECASE))
            ):
                continue
            if _PEOPLE.search(near) or _named(near, known, reply):
                return not _by_others(known, reply)
    return False


def _named(text: str, known: Doings, reply: Reply) -> bool:
    """Whether a name in a text is one that stands in what the session was given."""
    names = {fold(name) for name in _NAME.findall(text)} - {"the", "all", "both", "done", "also", "then"}
    return bool(names) and any(
        names & set(re.findall(r"[^\W_]+", fold(passage.text[:20_000])))
        for passage in known.recent(reply.before)
        if passage.kind not in ("model", "system")
    )


def _by_others(known: Doings, reply: Reply) -> bool:
    """Whether somebody else, or a result, says that people were told: then it is passed on."""
    wanted = {stem(word) for word in ("told", "informed", "notified", "contacted", "emailed", "mailed", "messaged", "alerted")}
    for passage in known.recent(reply.before):
        if passage.kind == "user" and said_done(passage.text[:20_000]) & wanted:
            return True
        if passage.kind in ("document", "memory", "subagent", "file") and re.search(rf"\b{_TOLD}\b", passage.text[:20_000], re.IGNORECASE):
            return True
        if (
            passage.kind == "tool_result"
            and not isinstance(parsed(passage.text), dict | list)
            and re.search(rf"\b{_TOLD}\b", passage.text[:20_000], re.IGNORECASE)
        ):
            return True
    return False


def _told(action: Action) -> tuple[bool, str]:
    """Whether somebody may have heard of something by an action; and what its result says of that nobody did."""
    if not action.ok or (action.effect is None and action.run.effect == "read"):
        return False, ""
    fields = list(_fields(parsed(action.run.output.text()[:20_000]))) if action.effect is not None else []
    if any(value not in _NOBODY for _, value in fields):
        return True, ""
    none = next((f"{path}: {value or 'nothing'}" for path, value in fields), "")
    if none:
        return False, none
    name = stems(action.name)
    by_hand = (action.run.kind != "tool" or is_shell(action.name)) and bool(action.groups & {"send"})
    if by_hand or groups(name) & {"send", "tell", "escalate"} or name & _BY_NAME:
        return True, ""
    if action.effect is None:
        return False, ""
    if not groups(name) and not is_shell(action.name):
        return True, ""  # a tool whose name says nothing may have done it
    given = list(_fields(action.given))
    long = any(stems(path.rpartition(".")[2]) & _BY_TEXT and len(text) > 10 for path, text in action.leaves)
    return long or any(value not in _NOBODY for _, value in given) or bool(groups(stems(action.run.output.text()[:400])) & {"send"}), ""


def _fields(value: Any, path: str = "", about: bool = False, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The fields that are about telling people, each with its value in lower case; of a list how many it holds."""
    if depth > 8:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            name = f"{path}.{key}" if path else str(key)
            named = stems(str(key))
            counted = isinstance(item, bool | int | float) and bool(named & _COUNTED)
            mine = bool(named & _TELLING) or counted or (about and str(key).lower() in _MODES)
            if isinstance(item, dict):
                yield from _fields(item, name, about or mine, depth + 1)
            elif isinstance(item, list) and item and isinstance(item[0], dict):
                yield from _fields(item, name, about, depth + 1)
            elif mine:
                yield name, str(len(item)) if isinstance(item, list) else "null" if item is None else str(item).strip().lower()
    elif isinstance(value, list):
        for item in value[:50]:
            yield from _fields(item, path, about, depth + 1)
