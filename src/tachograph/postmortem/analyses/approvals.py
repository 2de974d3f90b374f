"""An effect without the approval that it needed, or with one that was not of it.

Cause, in the order of how sure it is: a refused effect that was done; an approval that came after it, that nobody had answered or that had run out; an
approver who was shown something else than what ran, or less (``informed.py``); no approval where others of the kind have one, or where the instructions
ask for one; somebody who approves their own request (``own_approval.py``); an agent that approves for itself. The consequence is the effect.

Whether a person who said yes had understood it, the record does not show. Where nothing shows that approvals are the rule, an effect without one is none.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from tachograph.postmortem.language.amounts import amounts, number
from tachograph.postmortem.language.terms import names_one, terms, values, words_of
from tachograph.postmortem.language.tongues import english_of, fold, gloss
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.citing import called, cite, joined, said
from tachograph.postmortem.meaning.effects import Effect
from tachograph.postmortem.meaning.instructions import instructions, stems
from tachograph.postmortem.meaning.once import entered, once, spoken
from tachograph.postmortem.meaning.outgoing import arguments_of
from tachograph.postmortem.meaning.stopped import happened
from tachograph.postmortem.meaning.symptoms import doing, hard
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import quoted, visible

from .contract import LIKELY, PROVEN, STRONG, WEAK, Analysis, Finding
from .gates import Gate, agreed, before, gated, gates, pairs
from .informed import kept_from
from .own_approval import own_approval
from .shown_text import another_count, another_size, in_its_place, in_other_spelling, left_out
from .thresholds import below, worth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.meaning.instructions import Instruction

NAME = "approval"

_DEMANDS = re.compile(
    r"\b(?:approv\w+|sign[- ]?offs?|permission|consent|authori[sz]ation|confirm(?:ation|ed|s)?\b|human review|four[- ]eyes|second (?:person|pair)"
    r"|ask (?:the |a |an |your |for )?(?:user|human|customer|manager|operator|owner|supervisor|person|client|team|lead|duty|on-call|approval|permission)\w*)\b",
    re.IGNORECASE,
)
_NO_NEED = re.compile(
    r"\b(?:no|without|not need|don't need|do not need|not require[sd]?|needs no|never ask|do not ask|don't ask|already) (?:\w+ ){0,2}(?:approv|confirm|permission|ask|sign)",
    re.IGNORECASE,
)
_GATING = re.compile(
    r"\b(?:before|require[sd]?|requires|needs?|must|only (?:after|with|when|if)|without|never|always|obtain|get|wait|ask|mandatory|subject to|until"
    r"|brauch\w*|benötig\w*|bedarf|bedürf\w*|erforder\w*|requier\w*|necesit\w*|exig\w*|nécessit\w*|richied\w*|serv(?:e|ono)|requer\w*|precis\w*|nodig|vereis\w*|wymaga\w*)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\b(?:if|when|for|in|on|to|of)\s+([^,.;:]{3,80})", re.IGNORECASE)
_SELF = frozenset(["agent", "assistant", "model", "self", "llm", "ai", "bot", "me", "myself", "claude", "gpt"])
_WHERE = frozenset(
    ["to", "recipient", "recipients", "email", "cc", "bcc", "account", "iban", "host", "url", "env", "environment", "target", "path", "destination", "beneficiary", "payee", "channel", "phone", "address", "database", "bucket", "branch", "cluster", "namespace", "region", "table"]
)  # fmt: skip
#: What says how far a thing goes that is given: of it an approver has to see the value.
_HOW_FAR = frozenset(
    ["role", "roles", "level", "scope", "scopes", "permission", "permissions", "privilege", "privileges", "rights", "right", "access", "tier", "until", "expires", "expiry", "expiration", "duration", "validity",
     "rolle", "rollen", "stufe", "recht", "rechte", "berechtigung", "berechtigungen", "zugriff", "bis", "gueltig", "ablauf", "niveau", "droit", "droits", "acces", "jusqu", "echeance", "portee", "rol", "nivel",
     "permiso", "permisos", "alcance", "acceso", "hasta", "vencimiento", "ruolo", "livello", "permesso", "permessi", "accesso", "fino", "scadenza", "papel", "funcao", "permissao", "acesso", "ate", "validade",
     "recht", "rechten", "toegang", "tot", "geldig"]
)  # fmt: skip
_PLACES = frozenset(["production", "prod", "staging", "dev", "development", "test", "sandbox", "live", "qa", "canary", "preprod"])
_SAME_PLACE = {"prod": "production", "live": "production", "development": "dev"}
_NO_VALUE = frozenset(["none", "null", "default", "false", "true", "n/a", "standard", "info", "debug", "normal", "low", "medium"])
_ASKING = frozenset(["user", "customer", "human", "requester", "client", "caller", "owner"])
_UNTIL = re.compile(
    r"\b(?:until|expires?(?: at| on)?|valid (?:until|to|through))[:= ]*(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")
_CUT = re.compile(r"(?:…|\.\.\.|\[truncated\]|\[cut\])\s*[)\]}\"']*\s*\Z")


@dataclass(frozen=True, kw_only=True)
class _Lack:
    sure: float
    what: str
    gate: Gate | None


def run(case: Case) -> Iterator[Finding]:
    """For each effect its surest finding; one for each tool."""
    made: dict[str, Finding] = {}
    by_effect, _ = pairs(case)
    for effect in gated(case):
        if not happened(effect.run):
            continue
        known = made.get(effect.run.name)
        lack = _lack(case, effect, by_effect.get(effect.run.event_id, []), known.confidence if known is not None else 0.0)
        if lack is not None and (effect.run.name not in made or made[effect.run.name].confidence < lack.sure):
            made[effect.run.name] = _finding(case, effect, lack)
    yield from made.values()


def _lack(case: Case, effect: Effect, own: list[Gate], least: float) -> _Lack | None:
    """``least``: how sure a finding of this tool is that there is; one that is no surer is of no use."""
    earlier = [gate for gate in own if before(gate, effect)]
    granted = [gate for gate in earlier if gate.decision == "granted"]
    last = earlier[-1] if earlier else None
    if last is not None and last.decision == "refused":
        return _Lack(sure=PROVEN, what=f"was done although it had been refused ({_words(last)})", gate=last)
    if last is not None and last.decision == "open" and not granted:
        return _Lack(sure=STRONG + 0.05, what=f"was done although nobody had approved it ({_words(last)})", gate=last)
    if granted:
        return _of_granted(case, effect, granted[-1])
    late = next((gate for gate in own if gate.decision == "granted"), None)
    if late is not None:
        return _Lack(sure=STRONG + 0.05, what=f"was approved only when it had been done ({_words(late)})", gate=late)
    return _none(case, effect, least)


def _words(gate: Gate) -> str:
    return f"{visible(gate.word[:60]) or 'no decision'}{f' by {visible(gate.approver)}' if gate.approver else ''}"


def _of_granted(case: Case, effect: Effect, gate: Gate) -> _Lack | None:
    if (until := _ran_out(case, effect, gate)) is not None:
        return _Lack(sure=STRONG, what=f"was done when its approval had run out ({until})", gate=gate)
    found = _shown_otherwise(case, gate, effect, wrong=bool(hard(case)))
    if found is not None:
        return found
    kept = kept_from(case, effect, gate)
    if kept is not None:
        name, amount, others = kept
        what = f"is about {f'{amount:,.2f}'.removesuffix('.00')} by {said(name)}, of which the approver was shown nothing: {quoted(gate.shown or '')}"
        return _Lack(sure=STRONG - 0.05 if others else LIKELY, what=what, gate=gate)
    rule = own_approval(case, effect, gate, _deed(effect))
    if rule is not None:
        what = f"was approved by who had asked for it ({_words(gate)}), where a second person is to do so: {said(rule)}"
        return _Lack(sure=STRONG + 0.05, what=what, gate=gate)
    start = case.story.start
    names = {name.lower() for name in (start.agent, start.name) if name} if start is not None else set()
    approver = gate.approver.strip().lower()
    if approver and (approver in names or set(words_of(approver)) & _SELF):
        others = any(
            other.approver and not set(words_of(other.approver)) & _SELF and other.approver.lower() not in names for other in gates(case)
        )
        return _Lack(
            sure=STRONG if others or demanded(case, effect) else LIKELY,
            what=f"was approved by the agent itself ({_words(gate)})",
            gate=gate,
        )
    return None


def _ran_out(case: Case, effect: Effect, gate: Gate) -> str | None:
    # A day that the call itself has is of what is granted, and not of the approval.
    dated = any(_DAY.search(text) and set(words_of(path)) & _HOW_FAR for path, text in values(effect.run.input.value))
    found = _UNTIL.search(f"{gate.scope} {(gate.shown or '') if not dated else ''} {gate.word}"[:4000])
    entry = case.recording.by_id(effect.run.event_id)
    if found is None or entry is None:
        return None
    try:
        until, now = (datetime.fromisoformat(text.replace(" ", "T", 1)) for text in (found[1], entry.ts))
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=now.tzinfo)
    if len(found[1]) == 10:
        until = until.replace(hour=23, minute=59, second=59)
    return found[1] if now > until else None


def _shown_otherwise(case: Case, gate: Gate, effect: Effect, *, wrong: bool) -> _Lack | None:
    """Compares what was shown with what ran: another amount or place; or one that was not shown."""
    shown = gate.shown
    if shown is None or not shown.strip() or effect.run.kind != "tool":
        return None
    given = list(values(effect.run.input.value))
    text = shown.lower()
    numbers = {float(term) for term in terms(shown[:8000]) if number(term) is not None and not _of_word(term)}
    other: list[str] = []
    less: list[str] = []
    seen = 0
    much = dict(amounts(effect.run.input.value))
    for path, value in given:
        name = words_of(path.rpartition(".")[2])
        fields = _field(gate.value, path)
        if path in much:
            if any(abs(one - much[path] * factor) < 1e-9 for one in numbers for factor in (1, 100, 0.01)):
                seen += 1
            else:
                (other if numbers - _own(given, much) or fields is not None else less).append(f"{path}={value}")
        elif value.strip().lower() in text or in_other_spelling(value, shown):
            seen += 1
        elif fields is not None and len(value) < 200:
            other.append(f"{path}={value}")
        elif len(value) < 200 and set(name) & _WHERE and not _shared(value, text):
            (other if _alike(value, shown) else less).append(f"{path}={value}")
        elif (
            1 < len(value) < 200 and {fold(word) for word in name} & _HOW_FAR and not _shared(value, text) and not _known(case, gate, value)
        ):
            same_look = _alike(value, shown) or (_DAY.search(value) and _DAY.search(shown))
            (other if same_look else less).append(f"{path}={value}")
        elif in_its_place(case, path, value, shown, [text for _, text in given]) is not None or another_size(
            case, value, shown, effect.run
        ):
            other.append(f"{path}={value}")
    whole = effect.run.input.value
    for key, item in whole.items() if isinstance(whole, dict) and not isinstance(gate.value, dict) else ():
        if another_count(item, shown, whole) is not None:
            other.append(f"{len(item)} {key}")
    for key, item in whole.items() if isinstance(whole, dict) else ():
        if (missing := left_out(item, str(key), shown, gate.value)) is not None and not _known(case, gate, missing):
            other.append(f"{key}={missing}")
    if other:
        return _Lack(sure=STRONG + 0.07, what=f"has {said(other[0])}, where the approver was shown {quoted(shown)}", gate=gate)
    if less and (_CUT.search(shown) or seen):
        return _Lack(sure=STRONG - 0.05, what=f"has {said(less[0])}, of which the approver was shown nothing: {quoted(shown)}", gate=gate)
    if less and not seen:
        sure = LIKELY if wrong else WEAK + 0.07
        return _Lack(sure=sure, what=f"has {said(less[0])}, of which the approver was shown nothing: {quoted(shown)}", gate=gate)
    return None


def _known(case: Case, gate: Gate, value: str) -> bool:
    """Whether an approver need not be shown a value: the instructions name it, it says nothing, or who approves is the one that had asked for it."""
    bare = value.strip().lower()
    if bare in _NO_VALUE:
        return True
    own = not gate.approver.strip() or bool(set(words_of(gate.approver)) & _ASKING)
    return any(
        bare in passage.text.lower()
        for passage in spoken(case)
        if (passage.kind == "system" and ".tools[" not in passage.position) or (own and passage.kind == "user")
    )


def _of_word(term: str) -> bool:
    return any(character.isalpha() for character in term)


def _own(given: list[tuple[str, str]], much: dict[str, float]) -> set[float]:
    """Numbers of the call that are no amounts: a shown one of them is no other amount."""
    return {found for path, value in given if path not in much and (found := number(value)) is not None}


def _field(value: object, path: str) -> object | None:
    """What was shown under the same name, where the approver was shown fields."""
    if not isinstance(value, dict):
        return None
    inner = value.get("input") or value.get("arguments") or value.get("args") or value
    found = inner.get(path) if isinstance(inner, dict) else None
    return found if found is not None else value.get(path)


def _shared(value: str, text: str) -> bool:
    """Whether most of a value's telling words stand in the shown text, or it is the same place under another name."""
    own = {_SAME_PLACE.get(term, term) for term in terms(value)}
    there = {_SAME_PLACE.get(term, term) for term in terms(text)}
    return bool(own) and len(own & there) * 2 > len(own)


def _alike(value: str, shown: str) -> bool:
    """Whether the shown text has another value of the same look: an address for an address, a place for a place."""
    if set(terms(value)) & _PLACES:
        return bool(set(terms(shown)) & _PLACES)
    look = _look(value)
    return names_one(value.strip().lower()) and any(names_one(term) and _look(term) == look for term in terms(shown))


def _look(text: str) -> str:
    text = text.strip().lower()
    if "@" in text:
        return "@"
    if "://" in text:
        return "://"
    if text.startswith(("/", "~", "./")):
        return "/"
    return re.sub(r"[a-z]+", "a", re.sub(r"\d+", "9", text))


# -- none at all ---------------------------------------------------------------------------------------------------------------


def _none(case: Case, effect: Effect, least: float) -> _Lack | None:
    if agreed(case, effect):
        return None
    rule = demanded(case, effect)
    if rule is None and _free(case, effect):
        return None
    if rule is not None and effect.reach == "outside":
        much = worth(case, effect) if rule.beyond is not None else []
        told = f" (it is about {', '.join(f'{amount:,.2f}'.removesuffix('.00') for amount in much[:3])})" if much else ""
        return _Lack(sure=STRONG + 0.05, what=f"was done without an approval, which is asked for: {said(rule.text)}{told}", gate=None)
    if least >= STRONG:
        return None
    reused = _reused(case, effect)
    if reused is not None:
        return _Lack(
            sure=STRONG, what=f"rests on an approval of something else, for which {quoted(reused.shown or '')} was shown", gate=reused
        )
    others = _others(case, effect)
    if others is not None:
        where, count = others
        return _Lack(
            sure=STRONG,
            what=f"was done without an approval, which {count} {'other calls' if count > 1 else 'other call'} of this tool {where}",
            gate=None,
        )
    beside = _same_place(case, effect)
    if beside is not None:
        return _Lack(
            sure=STRONG - 0.05,
            what=f"was done without an approval, which {quoted(beside.title, 80)} had, by which the same is done ({_place(effect.run)})",
            gate=None,
        )
    return None


def _same_place(case: Case, effect: Effect) -> Run | None:
    """An approved call of another tool, of a name that shares a word, that ended at the same place by the same exchange: pay, and pay_batch."""
    place, name = _place(effect.run), stems(" ".join(words_of(effect.run.name)))
    _, for_all = _approved(case)
    if place is None or effect.run.kind != "tool" or (for_all is not None and for_all < effect.run.seq):
        return None
    return next(
        (run for run in _places(case).get(place, ()) if run.name != effect.run.name and stems(" ".join(words_of(run.name))) & name), None
    )


@once
def _places(case: Case) -> dict[str, list[Run]]:
    """The first approved call of each tool, by the place at which it ended."""
    approved, _ = _approved(case)
    found: dict[str, dict[str, Run]] = {}
    for effect in gated(case):
        if effect.run.event_id in approved.get(effect.run.name, ()) and (place := _place(effect.run)) is not None:
            found.setdefault(place, {}).setdefault(effect.run.name, effect.run)
    return {place: list(runs.values()) for place, runs in found.items()}


def _place(run: Run) -> str | None:
    """The one exchange that a call made which changes something, by its method and address."""
    made = [
        child
        for child in run.children
        if isinstance(child, Run) and child.kind == "http" and (child.method or "GET").upper() not in ("GET", "HEAD", "OPTIONS")
    ]
    return made[-1].title.partition("?")[0] if made else None


def _reused(case: Case, effect: Effect) -> Gate | None:
    """The approval of another call of the same tool that was about nearly the same: most of the values were shown, and not all."""
    given = {text.strip().lower() for _, text in values(effect.run.input.value) if len(text) < 200}
    for event_id, gate, shown in _granted(case).get(effect.run.name, ()):
        if event_id == effect.run.event_id or not before(gate, effect):
            continue
        known = {text for text in given if text in shown}
        if len(known) * 2 > len(given) and known != given:
            return gate
    return None


@once
def _granted(case: Case) -> dict[str, list[tuple[str, Gate, str]]]:
    """By a tool's name what was granted of its calls alone: the call's event, the approval, and what was shown, in lower case."""
    by_effect, _ = pairs(case)
    found: dict[str, list[tuple[str, Gate, str]]] = {}
    for effect in gated(case):
        for gate in by_effect.get(effect.run.event_id, ()):
            if gate.decision == "granted" and not gate.broad:
                found.setdefault(effect.run.name, []).append((effect.run.event_id, gate, (gate.shown or "").lower()))
    return found


@once
def _approved(case: Case) -> tuple[dict[str, set[str]], int | None]:
    """By a tool's name the events of its calls that were approved; and the line of the first approval of all that follow."""
    by_effect, _ = pairs(case)
    found: dict[str, set[str]] = {}
    for effect in gated(case):
        if any(gate.decision == "granted" for gate in by_effect.get(effect.run.event_id, ())):
            found.setdefault(effect.run.name, set()).add(effect.run.event_id)
    return found, min((gate.seq for gate in gates(case) if gate.broad and gate.decision == "granted"), default=None)


@once
def _always(case: Case) -> dict[str, int]:
    """How many calls of a tool there were, of the tools each call of which was put to somebody."""
    by_effect, _ = pairs(case)
    asked = [(effect.run.name, bool(by_effect.get(effect.run.event_id))) for effect in gated(case)]
    never = {name for name, any_asked in asked if not any_asked}
    return dict(Counter(name for name, _ in asked if name not in never))


def _others(case: Case, effect: Effect) -> tuple[str, int] | None:
    """Whether other calls of the same tool were approved, here or in the last good session; unless one approval was given for all that follow."""
    approved, for_all = _approved(case)
    if for_all is not None and for_all < effect.run.seq:
        return None
    count = len(approved.get(effect.run.name, set()) - {effect.run.event_id})
    if count:
        return "had here", count
    there = _always(case.good).get(effect.run.name) if case.good is not None else None
    return ("had in the last good session", there) if there else None


@once
def _demanding(case: Case) -> tuple[Instruction, ...]:
    """The instructions that ask for an approval."""
    return tuple(rule for rule in instructions(case) if _asks_leave(rule.text))


@lru_cache(maxsize=4096)
def _asks_leave(text: str) -> bool:
    """Whether a sentence, or what it says in English, asks for an approval."""
    both = f"{text}\n{plain}" if (plain := gloss(text)) != text else text
    return _DEMANDS.search(both) is not None and _GATING.search(both) is not None and _NO_NEED.search(both) is None


@once
def _described(case: Case) -> set[tuple[str, str, str | None]]:
    return {(passage.position, passage.event_id, passage.name) for passage in entered(case)}


def demanded(case: Case, effect: Effect) -> Instruction | None:
    """The instruction, if any, by which an effect needs an approval."""
    for rule in _demanding(case):
        if rule.seq > effect.run.seq:
            continue
        of_tool = ".tools[" in rule.position
        if of_tool and not _of_this_tool(case, rule, effect):
            continue
        about = doing(effect) | (stems(effect.run.title[:400]) if effect.run.kind == "tool" else frozenset())
        if not of_tool and not _acting(rule) & _deed(effect):
            continue
        if rule.beyond is not None:
            if not any(amount > rule.beyond for amount in worth(case, effect)):
                continue
        elif not of_tool and not _applies(rule, about | stems(arguments_of(effect.run)[:4000])):
            continue
        return rule
    return None


def _free(case: Case, effect: Effect) -> bool:
    """Whether an instruction asks for an approval from an amount on that this effect does not reach."""
    return any(
        rule.beyond is not None and rule.seq <= effect.run.seq and _acting(rule) & _deed(effect) and below(case, effect, rule)
        for rule in _demanding(case)
    )


def _acting(rule: Instruction) -> frozenset[str]:
    """What an instruction is about, without the approval itself."""
    return stems(_DEMANDS.sub(" ", rule.text)) | stems(_DEMANDS.sub(" ", gloss(rule.text)))


def _deed(effect: Effect) -> frozenset[str]:
    """The stems of what an effect does, in English as well."""
    return doing(effect) | frozenset(stem(english) for word in words_of(effect.run.name) if (english := english_of(word)))


def _of_this_tool(case: Case, rule: Instruction, effect: Effect) -> bool:
    return (rule.position, rule.event_id, effect.run.name) in _described(case)


def _applies(rule: Instruction, there: frozenset[str]) -> bool:
    """Whether the case that a sentence names is this one: of ``for refunds to new customers`` some word stands in the call."""
    found = [
        stems(match[1]) for match in _WHEN.finditer(_DEMANDS.sub(" ", rule.text)) if match[0].lower().startswith(("if", "when", "for"))
    ]
    return not found or all(not words or words & there for words in found)


def _finding(case: Case, effect: Effect, lack: _Lack) -> Finding:
    first = cite(lack.gate.item, "the approval") if lack.gate is not None else called(effect.run)
    shown: list[Evidence] = [first, called(effect.run), *(one.evidence() for one in hard(case)[:2])]
    return Finding(
        cause="approval", analysis=NAME, confidence=lack.sure, first_event=first.event_id, first_seq=first.seq, evidence=joined(shown),
        statement=f"{called(effect.run).what} {lack.what}.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="an effect without an approval, or with one that was not of it", run=run)
