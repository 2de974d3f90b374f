"""A value that stands nowhere in what the model had seen, and that it acted on or told.

*Cause*: an identifying argument (an id, an account, an address, a URL) or a figure (an amount, a quantity, a dose) of an effect, or a figure
with a unit or an identifier in a last answer, that occurs nowhere before: not in the system prompt, not in what people said, not in any result, in
no other form either; and that cannot be worked out from it (``computed.py``). *Consequence*: the effect, or the answer. First event: the model call
that made it up. Surer where the context held another value for it.

*One of several*. Several calls of a tool each take what was looked up for their thing, and one takes another value (``odd_one.py``).

New content is new by nature and is left out: texts, code, titles, names of things to be created, generated keys, dates and times, settings of a
search. An answer's figures are only looked at where tools had looked something up.

*Cannot see*: a made-up name or statement without an identifier or a figure; a value that happens to stand elsewhere in the context (``wrong_argument``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import bare, computable, is_number, numbers, pieces_stand, shape
from tachograph.postmortem.language.terms import names_one, terms, words_of
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.records import empty_fields, records
from tachograph.postmortem.meaning.results import failure
from tachograph.postmortem.values import quoted

from .contract import LIKELY, STRONG, Analysis, Finding
from .odd_one import Odd, odd_ones

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

#: Names of arguments that point at one existing thing.
_POINTS = frozenset(
    ["id", "ids", "uuid", "no", "number", "nr", "code", "sku", "iban", "bic", "account", "acct", "card", "email", "mail", "to", "cc", "bcc", "recipient", "recipients", "receiver", "phone", "tel", "mobile", "sms", "url", "uri", "link", "host", "hostname", "server", "address", "ip", "domain", "order", "invoice", "customer", "client", "user", "patient", "ticket", "case", "booking", "reservation", "ref", "reference", "tracking", "serial", "vin", "isbn", "ean", "asin", "key", "project", "tenant", "member", "employee", "policy", "claim", "vendor", "supplier", "product", "item", "room", "flight", "seat", "device", "bucket", "table", "database", "db", "branch", "sha", "commit", "version", "tag", "image", "package", "dependency", "wallet", "iata", "account_number"]
)  # fmt: skip
_FIGURES = frozenset(
    [
        "amount",
        "price",
        "total",
        "cost",
        "sum",
        "refund",
        "quantity",
        "qty",
        "units",
        "dose",
        "dosage",
        "mg",
        "ml",
        "rate",
        "discount",
        "percent",
        "percentage",
        "salary",
        "value",
        "limit",
        "balance",
        "fee",
        "credit",
        "charge",
        "replicas",
        "shares",
        "volume",
        "temperature",
        "weight",
    ]
)
#: Names of arguments whose content is new by nature, or is a setting.
_NEW = frozenset(
    ["body", "text", "message", "content", "contents", "subject", "title", "description", "desc", "reason", "note", "notes", "comment", "summary", "query", "q", "question", "search", "prompt", "code", "patch", "diff", "script", "command", "cmd", "sql", "name", "label", "slug", "filename", "file", "path", "dir", "directory", "folder", "output", "old_string", "new_string", "old", "new", "html", "markdown", "idempotency", "request", "nonce", "token", "trace", "correlation", "session", "date", "time", "datetime", "start", "end", "from", "until", "since", "deadline", "due", "timestamp", "day", "month", "year", "when", "at", "timeout", "limit", "offset", "page", "size", "per", "top", "depth", "max", "min", "count", "retries", "attempts", "ttl", "interval", "priority", "severity", "level", "format", "type", "kind", "mode", "status", "state", "language", "lang", "currency", "unit", "category", "channel", "method", "action", "topic"]
)  # fmt: skip
#: Made by whoever calls.
_DRAWN = frozenset(["idempotency", "nonce", "token", "trace", "correlation", "session", "request", "dedup"])
_DATE = re.compile(r"\A\s*\d{4}-\d\d(?:-\d\d)?(?:[T ][\d:.+Z-]*)?\s*\Z|\A\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\Z|\A\d{1,2}:\d\d")
_PHONE = re.compile(r"(?:\+|0)[\d ()/.-]{7,24}\Z")
#: What a field for a telephone number is called.
_CALLED = re.compile(r"phone|tel|mobile|mobil|handy|cell|sms|fax|whatsapp|rufnummer|m[oó]vil|celular|portable|cellulare", re.IGNORECASE)
_FIGURE = re.compile(r"(?:[$€£]|\b(?:EUR|USD|GBP|CHF)\s?)\s?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?)\s?(?:[€$£%]|(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?|percent|mg|ml|kg|km|kWh|MB|GB|ms)\b)")  # fmt: skip
#: Values that are told. Each is looked for in all that was seen, and who has that many needs no more to know.
_ENOUGH = 20
_NAMED = re.compile(r"\b[A-Z]{2,6}[-_]?\d{3,12}\b|\b[A-Z]{1,5}-\d{2,12}(?:-\d+)*\b")


def find(case: Case) -> Iterator[Finding]:
    """Made-up values, each once, where they were used first; the first so many."""
    known = doings(case)
    told: set[str] = set()
    squeezed: list[str] = []
    lookups = [action for action in known.actions if action.effect is None and action.run.output.there]
    for odd in odd_ones(known):
        if odd.text not in told and len(told) < _ENOUGH:
            told.add(odd.text)
            yield _of_odd(odd, known)
    for action in known.actions:
        if action.effect is None or action.step is None or action.asked is None or action.step.seen.state == "unreadable":
            continue
        if action.step.seen.history == "kept_by_provider" and not known.passages[: action.before]:
            continue
        for path, text in action.leaves:
            key = _kind(path, text) or _of_record(path, text, action, known)
            if key is None or text in told or _is_known(text, key, action, known, squeezed, _others(action, path)):
                continue
            told.add(text)
            yield _of_action(action, path, text, key, known, lookups)
            if len(told) == _ENOUGH:
                return
    last = [reply for reply in known.replies if reply.rests]
    for reply in last:
        found = _of_answer(reply, known, squeezed, lookups, told) if lookups else None
        if found is not None:
            yield found


def _others(action: Action, path: str) -> str:
    return "\n".join(text for other, text in action.leaves if other != path)


def _kind(path: str, text: str) -> str | None:
    """``figure`` or ``name`` for an argument that is looked at."""
    name = path.rpartition(".")[2].partition("[")[0] or path
    words = words_of(name)
    text = text.strip()
    if not words or len(text) > 120 or "\n" in text or _DATE.match(text) or "redacted" in text.lower():
        return None
    if is_number(text) and set(words) & _FIGURES:
        return "figure"
    last = words[-1]
    if set(words) & _DRAWN:
        return None
    if (set(words) & _NEW and last not in _POINTS) or not (set(words) & _POINTS):
        return None
    if "@" in text or "://" in text:
        return "name"
    if " " in text.strip() and not re.fullmatch(r"[\d +()/-]{5,}|[A-Z]{2}\d\d(?: \w{1,4}){2,8}", text):
        return None
    return "name" if names_one(text.lower()) and (any(c.isdigit() for c in text) or "@" in text) and len(bare(text)) >= 3 else None


def _of_record(path: str, text: str, action: Action, known: Doings) -> str | None:
    """An argument whose name says nothing, and under whose very name a result has another value of that form."""
    name = path.rpartition(".")[2].partition("[")[0].lower()
    if (
        not text.strip()
        or len(text) > 60
        or " " in text.strip()
        or _DATE.match(text)
        or set(words_of(name)) & _NEW
        or not any(c.isdigit() for c in text)
    ):
        return None
    for passage in known.passages[: action.before][-60:]:
        if passage.kind in ("tool_result", "document", "file", "memory"):
            for record in records(passage.text):
                value = record.get(name)
                if value is not None and is_number(value) == is_number(text) and len(bare(text)) >= 3:
                    return "figure" if is_number(text) and not set(words_of(name)) & _POINTS and len(bare(text)) < 8 else "name"
    return None


def _is_known(text: str, key: str, action: Action, known: Doings, squeezed: list[str], beside: str) -> bool:
    before = action.before
    seen = known.passages[:before]
    if _stands(text, before, known, squeezed):
        return True
    if key == "name":
        terms_known = {term for term in re.split(r"[^\w.]+|[-_/]", text.lower()) if term and _was_told(term, before, known)}
        if is_number(text):
            return computable(float(terms(text)[0]), [], _loose(seen, beside)) if len(bare(text)) < 4 else False
        return pieces_stand(text, terms_known)
    value = float(terms(text)[0])
    if abs(value) < 3:
        return True
    return computable(value, _columns(seen), _loose(seen, beside))


def _was_told(term: str, before: int, known: Doings) -> bool:
    place = known.first_told(term)
    return place is not None and place < before


def _stands(text: str, before: int, known: Doings, squeezed: list[str]) -> bool:
    """Whether a value stands in what had entered, in any form. What the model itself said does not count."""
    parts = terms(text)
    if len(parts) == 1 and _was_told(parts[0], before, known):
        return True
    if not squeezed:
        squeezed += [bare(passage.text[:200_000]) if passage.kind != "model" else "" for passage in known.passages]
    wanted = bare(text)
    national = _national(text)
    if national is not None and any(national in squeezed[place] for place in range(before)):
        return True
    if len(wanted) < 3:
        short = re.compile(rf"(?<!\w){re.escape(text.strip())}(?!\w)")
        return any(short.search(passage.text) for passage in known.passages[:before] if passage.kind != "model")
    return any(wanted in squeezed[place] for place in range(before))


def _national(text: str) -> str | None:
    """Of a telephone number what is the same with and without the country's number."""
    digits = bare(text)
    if _PHONE.match(text.strip()) is None or not 9 <= len(digits) <= 15:
        return None
    return digits.removeprefix("00")[-8:] if digits.startswith("00") or text.strip().startswith("+") else digits[1:][-8:]


def _made_at(text: str, action: Action, known: Doings) -> tuple[str, int]:
    """The model call that said a value first."""
    assert action.step is not None
    wanted = bare(text)
    for passage in known.passages[: action.before]:
        if passage.kind == "model" and wanted in bare(passage.text[:20_000]):
            return passage.event_id, passage.seq
    return action.step.event_id, action.step.seq


def _loose(seen: tuple[Passage, ...], beside: str) -> list[float]:
    found: list[float] = numbers(beside)
    for passage in reversed(seen[-60:]):
        if passage.kind != "model":
            found += numbers(passage.text[:20_000])
        if len(found) > 300:
            break
    return list(dict.fromkeys(found))


def _columns(seen: tuple[Passage, ...]) -> list[list[float]]:
    """Numbers under the same name in one result."""
    found: list[list[float]] = []
    for passage in seen[-60:]:
        if passage.kind in ("tool_result", "document", "file", "user"):
            columns: dict[str, list[float]] = {}
            for record in records(passage.text):
                for name, text in record.fields:
                    values = numbers(text)
                    if len(values) == 1:
                        columns.setdefault(name, []).append(values[0])
            found += [column for column in columns.values() if len(column) > 1]
    return found


def _of_action(action: Action, path: str, text: str, key: str, known: Doings, lookups: list[Action]) -> Finding:
    assert action.step is not None
    other = _held(path, text, action, known)
    empty = _left_empty(path, text, action, known)
    failed = any(failure(one.run) is not None for one in lookups if one.step is not None and one.step.number < action.step.number)
    confidence = (STRONG + 0.08 if empty is not None else STRONG + 0.04 if other else LIKELY + 0.08 if key == "name" else LIKELY) - (
        0.1 if failed and empty is None else 0
    )
    event_id, seq = _made_at(text, action, known)
    instead = (
        f"; {said(empty[0])} is empty in what it had seen"
        if empty is not None
        else f"; what it had seen has {said(other)}"
        if other
        else ""
    )
    lacks = (Evidence(event_id=empty[1].event_id, seq=empty[1].seq, what=f"{empty[0]} is empty here"),) if empty is not None else ()
    return Finding(
        cause="model", analysis="invented_value", confidence=round(confidence, 2), first_event=event_id, first_seq=seq,
        evidence=(
            *lacks, Evidence(event_id=event_id, seq=seq, what=f"the model made up {path} = {said(text)}"),
            action.cite("it was used here"),
        ),
        statement=f"The model made up {said(text)} for {path} in {quoted(action.run.title, 100)}: it stands nowhere in what it had seen{instead}.",
    )  # fmt: skip


def _of_odd(odd: Odd, known: Doings) -> Finding:
    event_id, seq = _made_at(odd.text, odd.action, known)
    return Finding(
        cause="model", analysis="invented_value", confidence=STRONG + 0.06, first_event=event_id, first_seq=seq,
        evidence=(
            Evidence(event_id=odd.seen.event_id, seq=odd.seen.seq, what=f"{odd.field} is {said(odd.shown)} here"),
            Evidence(event_id=event_id, seq=seq, what=f"the model made {said(odd.text)} of it"), odd.action.cite("it was used here"),
        ),
        statement=f"The model gave {said(odd.text)} for {odd.path} in {quoted(odd.action.run.title, 100)}, where {odd.field} was {said(odd.shown)}; it stands "
        f"nowhere in what it had seen, and {odd.agree} other calls took what was looked up.",
    )  # fmt: skip


def _left_empty(path: str, text: str, action: Action, known: Doings) -> tuple[str, Passage] | None:
    """The field of a result that would hold it, and that is empty there."""
    kind = _CALLED if _PHONE.match(text.strip()) and len(bare(text)) >= 7 else re.compile("mail", re.IGNORECASE) if "@" in text else None
    wanted = set(words_of(path.rpartition(".")[2])) & _POINTS
    for passage in reversed(known.recent(action.before)):
        if passage.kind in ("tool_result", "document", "file", "memory") and ("null" in passage.text or '""' in passage.text):
            for name in empty_fields(passage.text):
                if (kind is not None and kind.search(name)) or (kind is None and wanted & set(words_of(name))):
                    return name, passage
    return None


def _held(path: str, text: str, action: Action, known: Doings) -> str | None:
    """Another value for it in the context: under the same name, else of the same form."""
    name = path.rpartition(".")[2].lower()
    wanted = {stem(word) for word in words_of(name)}
    for passage in reversed(known.passages[: action.before]):
        if passage.kind == "model":
            continue
        for record in records(passage.text):
            for field, value in record.fields:
                if {stem(word) for word in words_of(field)} & wanted and len(value) <= 120 and value != text:
                    return value
        for term in terms(passage.text[:20_000]):
            if names_one(term) and not is_number(term) and shape(term) == shape(text):
                return term
    return None


def _of_answer(reply: Reply, known: Doings, squeezed: list[str], lookups: list[Action], told: set[str]) -> Finding | None:
    earlier = [action for action in lookups if action.step is not None and action.step.number < reply.step.number]
    if not earlier or len(reply.text) > 6000:
        return None
    seen = known.passages[: reply.before]
    values = [match.group(1) or match.group(2) for match in _FIGURE.finditer(reply.text)]
    names = [match.group() for match in _NAMED.finditer(reply.text)]
    made_up: list[str] = []
    for text in names:
        if text not in told and not _stands(text, reply.before, known, squeezed) and not _in_calls(text, known, reply):
            made_up.append(text)
    loose: list[float] | None = None
    for text in values:
        value = float(text.replace(",", ""))
        if text in told or abs(value) < 3 or _stands(text, reply.before, known, squeezed) or _in_calls(text, known, reply):
            continue
        loose = _loose(seen, "") if loose is None else loose
        if (
            len(loose) <= 80
            and not computable(value, _columns(seen), [*loose, *numbers(" ".join(values))])
            and not _approximate(reply.text, text)
        ):
            made_up.append(text)
    if not made_up:
        return None
    text = made_up[0]
    failed = any(failure(one.run) is not None for one in earlier)
    return Finding(
        cause="model", analysis="invented_value", confidence=round(LIKELY - (0.1 if failed else 0), 2), first_event=reply.step.event_id, first_seq=reply.step.seq,
        evidence=(Evidence(event_id=reply.step.event_id, seq=reply.step.seq, what=f"the answer says {said(text)}, which stands nowhere before"),),
        statement=f"The answer says {said(text)}, which stands nowhere in what the model had seen and cannot be worked out from it.",
    )  # fmt: skip


def _in_calls(text: str, known: Doings, reply: Reply) -> bool:
    """Whether it stands in what the model asked of a tool, or what it said, before (then it was made up there)."""
    return any(
        bare(text) in bare(action.text) for action in known.actions if action.step is not None and action.step.number < reply.step.number
    )


def _approximate(answer: str, text: str) -> bool:
    at = answer.find(text)
    return bool(re.search(r"(?:about|around|approximately|roughly|~|≈|nearly|almost|up to|over|more than|less than|under|e\.g\.|for example|typically|usually|at least)\s*(?:[$€£]|EUR|USD)?\s?\Z", answer[max(at - 24, 0) : at], re.IGNORECASE))  # fmt: skip


ANALYSIS = Analysis(
    name="invented_value", looks_for="a value of an effect or an answer that stands nowhere in what the model had seen", run=find
)
