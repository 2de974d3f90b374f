"""The same effect twice, and calls that were tried again and again.

*Duplicate effect*. *Cause*: a call that reaches outside ran twice with the same arguments. Its consequence is itself: it was done twice. Between the two:

* no model call, and the model had asked once: the agent's code did it (class ``harness``). Of two of the same that the model asked for, each has its own
  exchanges and commands; within one asked call, an exchange that succeeded twice was one too many; so was one that was made again behind a time-out or a
  broken connection, where a later result shows two of what was to be made once (``doubled.py``);
* an error or a timeout of the first that leaves it open whether it was done: the model asked again (class ``tool``). Two that both succeeded are what was
  wanted (two tickets); where the first had been forgotten, see ``lost_history``.

*Retry storm*. ``STORM`` or more failures of the same call in a row: by the agent's code, also within one call that the model asked for (class
``harness``), or asked for by the model (class ``tool``).

First event: the call that was repeated; of exchanges within one call, that call. No finding: a call that only reads; a first try that was refused before anything was done (429, 401, validation, connection
refused); an idempotency key that both have, in the call or in the exchange's head; calls that come to the same when done twice (set, update, close, PUT, DELETE); what a person asked for again, or what a look in between showed as not done;
shells, whose commands are run again all the time.

*Cannot see*: whether the other side told the two apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tachograph.format import canonical
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.meaning.actions import Action, doings, first_of
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.effects import acts, effects
from tachograph.postmortem.meaning.results import failure
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import plain, quoted, read

from .contract import LIKELY, PROVEN, STRONG, Analysis, Finding
from .doubled import Double, double_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.effects import Effect
    from tachograph.postmortem.passages import Passage

#: As many failures of the same call in a row are a storm. Clients of providers try again two to five times by themselves.
STORM, STORM_OF_MODEL = 6, 5
#: Doing this twice with the same arguments comes to the same as doing it once.
_SAME = frozenset(
    ["set", "update", "put", "replace", "delete", "remove", "close", "disable", "enable", "cancel", "mark", "tag", "label", "assign", "unassign", "lock", "unlock", "resolve", "archive", "restart", "stop", "start", "approve", "sync", "upsert", "save", "write", "overwrite", "rename", "move", "edit", "patch", "modify", "configure", "resize", "scale", "acknowledge", "ack", "subscribe", "unsubscribe", "revoke", "block", "unblock", "merge", "deploy", "rollback", "rotate", "reset", "check", "run", "execute", "apply", "pause", "resume", "drain"]
)  # fmt: skip
_KEY = re.compile(r"idempot|request[_-]?id|dedup|client[_-]?token|nonce|transaction[_-]?id|message[_-]?id", re.IGNORECASE)
#: Of these names those that only follow a request through logs: each try has its own.
_OF_TRACE = re.compile(r"\Ax[_-](?:\w{1,20}[_-])?request[_-]?id\Z", re.IGNORECASE)
#: Tries of one call that are cited.
_SHOWN = 8
#: Refused before anything was done.
_REFUSED = re.compile(
    r"\b(?:400|401|403|404|405|409|413|415|422|429|too many requests|rate[- ]?limit\w*|throttl\w+|unauthori[sz]ed|forbidden|permission|denied|invalid|validation|missing|required|malformed|bad request"
    r"|not found|no such|unknown|connection refused|could not resolve|name resolution|dns|insufficient|declined|rejected|schema|unsupported|not allowed|quota)\b",
    re.IGNORECASE,
)
#: A look that found nothing.
_EMPTY = re.compile(
    r"\A\s*(?:\[\s*\]|\{\s*\}|null|none|nothing|0)?\s*\Z|:\s*(?:\[\s*\]|\{\s*\}|null|0)\s*[,}]|\b(?:no|not any|without|zero|0) (?:\w+ ){0,3}?(?:found|match\w*|results?|records?|entr(?:y|ies)|rows?|bookings?|orders?|payments?|exists?)\b"
    r"|\b(?:not|never) (?:found|booked|placed|created|recorded|received|there|done)\b|\bdoes not exist\b",
    re.IGNORECASE,
)
#: Nobody knows whether it was done.
_OPEN = re.compile(r"time(?:d)?[ -]?out|deadline|50[0234]\b|gateway|reset by peer|connection (?:reset|closed|aborted|lost)|unavailable|no answer|broken|internal (?:server )?error|interrupted|temporar", re.IGNORECASE)  # fmt: skip


def find(case: Case) -> Iterator[Finding]:
    """Duplicates, then storms."""
    yield from _duplicates(case)
    yield from _within(case)
    yield from _storms(case)
    yield from _attempts(case)


def _duplicates(case: Case) -> Iterator[Finding]:
    known = doings(case)
    owners = {id(run): action for action in known.actions for run in (action.run, *_inside(action.run))}
    before: dict[bytes, Effect] = {}
    tries: dict[bytes, list[Effect]] = {}  # since the last one of which it is known that it came to nothing
    told: dict[bytes, tuple[bool, str | None]] = {}
    for effect in effects(case):
        run = effect.run
        if effect.reach != "outside" or run.kind == "process" or run.outcome in ("asked", "cut") or not _counts(effect):
            continue
        key = _key(run)
        first = before.get(key)
        before[key] = effect
        if first is None:
            tries[key] = [effect]
            continue
        failed = failure(first.run)
        failed = None if failed is not None and failed.kind == "nothing" else failed
        if failed is not None and _REFUSED.search(f"{failed.what} {first.run.output.text()[:500]}") and not _OPEN.search(failed.what):
            if key not in told:
                tries[key] = [effect]
            continue
        again = failure(run)
        if again is not None and again.kind == "error" and not _OPEN.search(again.what):
            continue  # the second was refused: it was done once
        by_code = _by_code(first, effect, owners) and not (run.kind == "http" and _has_key(case, run))
        if not by_code and (failed is None or _asked_again(known.passages, first, effect) or _seen_undone(case, first, effect)):
            if key not in told:
                tries[key] = [effect]
            continue  # two of the same are what was wanted, unless the first left it open whether it had been done
        tries[key].append(effect)
        if failed is not None and again is not None:
            continue  # both failed: a storm, if they are many
        told.setdefault(key, (by_code, failed.what if failed is not None else None))
    for key, (by_code, what) in told.items():
        yield _several(tries[key], by_code, what)


def _several(tries: list[Effect], by_code: bool, what: str | None) -> Finding:
    """``what``: how the try before the last one ended, where that was no success."""
    first, *others = (effect.run for effect in tries)
    who = "the agent's code made it again without asking the model" if by_code else "the model asked for it again"
    after = f" after {'each' if len(others) > 1 else 'the first'} {_ended(what)}" if what is not None else ""
    return Finding(
        cause="harness" if by_code else "tool", analysis="repeated_effect", confidence=PROVEN if what is None else STRONG + 0.05,
        first_event=first.event_id, first_seq=first.seq,
        evidence=(
            Evidence(event_id=first.event_id, seq=first.seq, what="the first time"),
            *(Evidence(event_id=one.event_id, seq=one.seq, what="the same again") for one in others[-_SHOWN:]),
        ),
        statement=f"{quoted(first.title, 120)} was {'done twice' if len(others) == 1 else f'made {len(tries)} times'} with the same arguments: {who}{after}.",
    )  # fmt: skip


def _ended(what: str) -> str:
    return f"ended with {said(what)}, which does not say that nothing was done"


def _counts(effect: Effect) -> bool:
    """Whether doing it twice is more than doing it once."""
    run = effect.run
    if run.kind == "http":
        return _posts(run)
    names = set(words_of(run.name))
    if names & {
        "bash",
        "shell",
        "terminal",
        "sql",
        "query",
        "python",
        "code",
        "exec",
        "command",
        "browser",
        "click",
        "note",
        "log",
        "memory",
        "think",
        "plan",
        "todo",
    }:
        return False
    first = next((word for word in words_of(run.name) if word in _SAME), None)
    return first is None and not _keyed(run.input.value)


def _keyed(value: Any) -> bool:
    return isinstance(value, dict) and any(_KEY.search(str(key)) for key in value)


def _key(run: Any) -> bytes:
    return canonical.dumps([run.name, run.title if run.kind == "http" else "", plain(run.input.value)])


def _by_code(first: Effect, second: Effect, owners: dict[int, Action]) -> bool:
    """Whether the agent's code did it again: in the same step, and the model had asked once (or not at all)."""
    if first.step is None or second.step is None or first.step.number != second.step.number:
        return first.step is None and second.step is None
    one, other = owners.get(id(first.run)), owners.get(id(second.run))
    if one is not None and other is not None and one is not other and one.asked is not None and other.asked is not None:
        return False  # each is what became of a call that the model asked for
    outer = other.run if other is not None else second.run
    wishes = [part for part in second.step.reply if part.type == "tool_use" and part.name == outer.name]
    if not wishes:
        return True
    same = [part for part in wishes if plain(part.value) == plain(outer.input.value)]
    return len(same) < 2 and (other is None or other.asked is None or len(wishes) < 2)


def _inside(run: Run) -> Iterator[Run]:
    """All runs within a run, in order."""
    for child in run.children:
        if isinstance(child, Run):
            yield child
            yield from _inside(child)


#: Words of a path by which a POST only looks, or opens a session.
_LOOKS = frozenset(["search", "query", "graphql", "lookup", "find", "list", "filter", "token", "oauth", "oauth2", "login", "auth", "session", "sessions", "status", "poll", "rpc", "jsonrpc", "mcp", "embeddings", "count", "validate", "preview", "estimate", "check"])  # fmt: skip


def _within(case: Case) -> Iterator[Finding]:
    """An exchange that was made twice within one call that the model asked for: with success, or behind one that may have been carried out; or a storm of
    them."""
    known = doings(case)
    for action in known.actions:
        if action.run.kind != "tool":
            continue
        made: dict[bytes, Run] = {}
        maybe: dict[bytes, Run] = {}
        twice = False
        row: list[Run] = []
        latest: bytes | None = None
        for run in (*_inside(action.run), None):
            key = _key(run) if run is not None and run.kind in ("http", "process") else None
            if run is not None and key is None:
                continue
            told = failure(run) if run is not None else None
            bad = told is not None and told.kind == "error"
            if row and not (bad and key == latest):
                yield from _storm_within(action, row)
                row = []
            if run is None or key is None:
                break
            if bad:
                row.append(run)
                latest = key
                if told is not None and _posts(run) and _OPEN.search(told.what):
                    maybe.setdefault(key, run)
            elif not twice and _posts(run) and run.outcome == "ok":
                if key in made and not _has_key(case, run):
                    twice = True
                    yield _twice_within(action, made[key], run)
                elif key in maybe and not _has_key(case, run) and (double := double_of(action, run, known)) is not None:
                    twice = True
                    yield _again_within(action, maybe[key], run, double)
                made.setdefault(key, run)


def _has_key(case: Case, run: Run) -> bool:
    """Whether an exchange's head has a key by which the other side knows that it is the same."""
    entry = case.recording.by_id(run.event_id)
    request = read(case.recording, getattr(entry.event, "request_uri", None)).value if entry is not None else None
    heads = request.get("headers") if isinstance(request, dict) else None
    names = heads if isinstance(heads, dict) else [one[0] for one in heads or () if isinstance(one, list | tuple) and one]
    return any(_KEY.search(str(name)) and not _OF_TRACE.search(str(name)) for name in names)


def _posts(run: Run) -> bool:
    """Whether an exchange does something each time that it is made."""
    path = run.title.partition("://")[2].partition("/")[2].partition("?")[0]
    if run.kind != "http" or (run.method or "").upper() != "POST" or set(words_of(path)) & _LOOKS:
        return False
    return not _KEY.search(run.input.text()[:4000])


def _twice_within(action: Action, first: Run, again: Run) -> Finding:
    return Finding(
        cause="harness", analysis="repeated_effect", confidence=STRONG + 0.05, first_event=action.run.event_id, first_seq=action.run.seq,
        evidence=(
            action.cite("the model had asked for it once"),
            Evidence(event_id=first.event_id, seq=first.seq, what="the first time"),
            Evidence(event_id=again.event_id, seq=again.seq, what="the same again, with success, too"),
        ),
        statement=f"{quoted(first.title, 120)} was done twice with the same content within {quoted(action.run.title, 100)}, which the model had asked for once.",
    )  # fmt: skip


def _again_within(action: Action, first: Run, again: Run, double: Double) -> Finding:
    told = failure(first)
    return Finding(
        cause="harness", analysis="repeated_effect", confidence=STRONG + 0.1, first_event=action.run.event_id, first_seq=action.run.seq,
        evidence=(
            action.cite("the model had asked for it once"),
            Evidence(event_id=first.event_id, seq=first.seq, what=f"the first time: {said(told.what) if told else ''}"),
            Evidence(event_id=again.event_id, seq=again.seq, what="the same again, without a key that says that it is the same"),
            Evidence(event_id=double.seen.event_id, seq=double.seen.seq, what=f"{double.other} and {double.own} are both there"),
        ),
        statement=(
            f"{quoted(action.run.title, 100)} was asked for once and done twice: the agent's code sent {quoted(first.title, 120)} again after the first"
            f" {_ended(told.what if told else '')}; now there is {said(double.other)} beside {said(double.own)}, with the same content."
        ),
    )  # fmt: skip


def _storm_within(action: Action, row: list[Run]) -> Iterator[Finding]:
    if len(row) < STORM:
        return
    told = failure(row[0])
    yield Finding(
        cause="harness", analysis="repeated_effect", confidence=STRONG + 0.05, first_event=row[0].event_id, first_seq=row[0].seq,
        evidence=(
            Evidence(event_id=row[0].event_id, seq=row[0].seq, what=f"the first failure: {said(told.what) if told else ''}"),
            Evidence(event_id=row[-1].event_id, seq=row[-1].seq, what=f"the last of {len(row)}"),
            action.cite("the call that the model asked for"),
        ),
        statement=f"{quoted(row[0].title, 120)} failed {len(row)} times in a row and was made again each time, by the agent's code within {quoted(action.run.title, 100)}, which the model had asked for once.",
    )  # fmt: skip


def _asked_again(passages: tuple[Passage, ...], first: Effect, second: Effect) -> bool:
    """Whether a person spoke in between."""
    return any(passage.kind == "user" and first.run.seq < passage.seq < second.run.seq for passage in passages)


def _seen_undone(case: Case, first: Effect, second: Effect) -> bool:
    """Whether something was looked up in between and said that nothing was there: the first had come to nothing."""
    return any(
        first.run.seq < run.seq < second.run.seq
        and run.kind == "tool"
        and run.effect in (None, "read")
        and not acts(run.name)
        and run.outcome == "ok"
        and _EMPTY.search(run.output.text()[:2000]) is not None
        for _, run in case.story.runs()
    )


def _storms(case: Case) -> Iterator[Finding]:
    row: list[Action] = []
    latest: bytes | None = None
    for action in (*doings(case).actions, None):
        key = canonical.dumps([action.run.name, action.run.kind, plain(action.run.input.value)]) if action is not None else None
        bad = action is not None and action.run.outcome != "asked" and (told := failure(action.run)) is not None and told.kind == "error"
        if action is not None and bad and (key == latest or not row):
            row.append(action)
            latest = key
            continue
        if row:
            yield from _storm(row)
        row, latest = ([action], key) if action is not None and bad else ([], None)


def _storm(row: list[Action]) -> Iterator[Finding]:
    steps = {action.step.number for action in row if action.step is not None}
    by_code = len(steps) <= 1
    if len(row) < (STORM if by_code else STORM_OF_MODEL):
        return
    told = failure(row[0].run)
    who = "by the agent's code, with no model call in between" if by_code else "as the model asked each time"
    yield Finding(
        cause="harness" if by_code else "tool", analysis="repeated_effect", confidence=STRONG if by_code else LIKELY,
        first_event=row[0].run.event_id, first_seq=row[0].run.seq,
        evidence=(row[0].cite(f"the first failure: {said(told.what) if told else ''}"), row[-1].cite(f"the last of {len(row)}")),
        statement=f"{quoted(row[0].run.title, 120)} failed {len(row)} times in a row and was made again each time, {who}.",
    )  # fmt: skip


def _attempts(case: Case) -> Iterator[Finding]:
    """A model call that was sent again and again, each time in vain."""
    for step in case.story.steps:
        if len(step.attempts) + (1 if step.bad else 0) < STORM:
            continue
        event_id, seq = first_of(step)
        yield Finding(
            cause="harness", analysis="repeated_effect", confidence=LIKELY, first_event=event_id, first_seq=seq,
            evidence=(
                Evidence(event_id=event_id, seq=seq, what="the first attempt"),
                Evidence(event_id=step.event_id, seq=step.seq, what=f"the last of {len(step.attempts) + 1}"),
            ),
            statement=f"The same model call was made {len(step.attempts) + 1} times in a row by the agent's code.",
        )  # fmt: skip


ANALYSIS = Analysis(name="repeated_effect", looks_for="an effect that was made twice, and calls tried again and again", run=find)
