"""Whether a result says that something failed, or that there is nothing: by the event, by what a command or an exchange ended with, or by its words.

A tool may answer ``200`` with an error in the body; what the model was told counts, and it is looked at as a model would read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tachograph.postmortem.commands import is_check
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.values import ABSENT, Value, error_text, one_line

from .effects import acts as names_act

if TYPE_CHECKING:
    from tachograph.postmortem.shapes import Run

_STATUS = frozenset(
    ["error", "errored", "failed", "failure", "fail", "rejected", "declined", "denied", "timeout", "timed_out", "timedout", "not_found", "notfound",
     "unavailable", "aborted", "cancelled_by_server", "invalid", "unauthorized", "forbidden", "refused", "blocked", "bounced", "undeliverable", "exception",
     "not_sent", "unprocessed", "partial_failure"]
)  # fmt: skip
_BEGINS = re.compile(
    r"\A[\s\"'*\[(]{0,4}(?:\w{1,30}(?:error|exception)\b|errors?\b(?! (?:rate|budget|count|log|handling))|exception\b|traceback|fail(?:ed|ure)\b|fatal\b|http(?:/\d\.\d)?[ :]?(?:status )?[45]\d\d\b"
    r"|[45]\d\d\s?[{\[:\-–(]|[45]\d\d (?:\w+ ?){1,4}(?:error|found|unavailable|timeout|denied|request|unauthorized|forbidden|gateway|conflict)|time(?:d )?-?out\b|permission denied|access denied|unauthori[sz]ed\b|forbidden\b"
    r"|connection (?:refused|reset|timed out|error)|could not\b|couldn't\b|cannot\b|can't\b|unable to\b|no such (?:file|table|user|host|record)|command not found|bash: |rejected\b|declined\b"
    r"|(?:the )?(?:request|operation|call|command|transaction|payment|message|email|upload|deployment|update|query|job|tool)(?: \w+){0,2} (?:has |was |could not|cannot|did not|has been |is )?(?:failed|fail|rejected|declined|denied|timed out|not (?:sent|completed|applied|processed|executed|delivered)|be (?:sent|completed|applied|processed|executed|delivered|found))\b)",
    re.IGNORECASE,
)  # fmt: skip
_ANYWHERE = Sieve(
    re.compile(
        r"Traceback \(most recent call last\)|\b(?:exit|return)(?:ed)?[ _]?(?:code|status)?[ :=]{1,3}[1-9]\d{0,2}\b|^(?:npm ERR!|error(?:\[\w+\])?: |fatal: |ERROR[: ]|E: )"
        r"|: (?:No space left on device|Permission denied|No such file or directory|Connection (?:refused|reset by peer|timed out)|Broken pipe|Read-only file system|Disk quota exceeded"
        r"|Input/output error|Operation not permitted|Device or resource busy|command not found|Killed|Out of memory|Segmentation fault)\b",
        re.MULTILINE,
    ),
    ": broken pipe|: command not found|: connection refused|: connection reset by peer|: connection timed out|: device or resource busy|: disk quota exceeded|: killed|: no space left on device|: no such file or directory|: operation not permitted|: out of memory|: permission denied|: read-only file system|: segmentation fault|: input/output error|e: |error|exit|fatal: |npm err!|return|traceback (most recent call last)",
)
_NOTHING = re.compile(
    r"\A\W{0,3}(?:no (?:results?|matches|matching \w+|records?|rows?|entries|items|data|documents?|hits)(?: (?:found|were found|returned|available))?|none|null|nothing(?: found)?|empty|0 (?:results?|rows?|matches|hits|records?)|n/a)\W{0,3}\Z",
    re.IGNORECASE,
)
_TESTS = re.compile(r"\b[1-9]\d{0,5} (?:failed|failures?|failing|errors?)\b|^FAILED\b|\bBUILD FAILED\b|\b(?:failed|failures|errors)[\"']?\s?[:=]\s?[1-9]", re.MULTILINE)  # fmt: skip
_CHECKING = frozenset(["test", "lint", "ci", "pytest", "typecheck"])


@dataclass(frozen=True, kw_only=True)
class Failure:
    """``kind``: ``error``, or ``nothing`` where a result is empty; ``what``: in words."""

    kind: Literal["error", "nothing"]
    what: str


def failure(run: Run) -> Failure | None:
    """How a run failed, as far as its result says so; ``None`` for one that did not, or of which nothing is known. Found out once for each run."""
    kept = vars(run)
    if _KEPT not in kept:
        kept[_KEPT] = _failure(run)
    found: Failure | None = kept[_KEPT]
    return found


_KEPT = f"{__name__}.failure"


def _failure(run: Run) -> Failure | None:
    if run.outcome in ("asked", "cut", "cancelled", "closed"):
        return None
    if run.status is not None and run.status >= 400:
        return Failure(kind="error", what=f"HTTP {run.status}")
    if run.exit_code:
        return Failure(kind="error", what=f"exit code {run.exit_code}")
    if run.outcome != "ok":
        said = error_text(run.error) or run.output.text()
        return Failure(kind="error", what=one_line(said, 100) or run.outcome)
    for told in (run.given, run.output):
        if told.there:
            return of_value(
                told.value,
                told.text(),
                acts=run.effect in ("write", "external") or _reached(run),
                tool=run.name if run.kind == "tool" else "",
                given=run.input,
            )
    return None


def _reached(run: Run) -> bool:
    """Whether a tool made an exchange that changes something (RFC 9110, section 9.2.1)."""
    return any(
        getattr(child, "kind", "") == "http" and (getattr(child, "method", None) or "GET").upper() in ("POST", "PUT", "PATCH", "DELETE")
        for child in run.children
    )


def of_value(value: Any, text: str, *, acts: bool = False, tool: str = "", given: Value = ABSENT) -> Failure | None:
    """How a result's words say that it failed. ``acts``: of a tool that acts, nothing to say is no failure. ``tool``: its name, if it is a tool's;
    ``given``: its arguments."""
    acts = acts or names_act(tool)
    value = parsed(value) if isinstance(value, str) else value
    value = parsed(text) if isinstance(value, list) and isinstance(text, str) else value
    if isinstance(value, dict):
        said = _of_object(value, acting=acts, given=given) or _of_wrapped(value, tool, given, acting=acts)
        if said is not None:
            return Failure(kind="error", what=one_line(said, 100))
        if isinstance(value.get("body"), dict):
            return of_value(value["body"], "", acts=acts, tool=tool, given=given)
    elif isinstance(value, str):
        match = _BEGINS.search(value[:400]) or _ANYWHERE.search(value[:20_000])
        if match is not None:
            line = value[value.rfind("\n", 0, match.start()) + 1 :]
            return Failure(kind="error", what=one_line(line, 100))
    if not acts and (value in (None, "", [], {}) or (isinstance(value, str) and (not value.strip() or _NOTHING.match(value[:80])))):
        return Failure(kind="nothing", what="nothing")
    if not acts and isinstance(value, dict) and _is_empty(value):
        return Failure(kind="nothing", what="nothing")
    return None


def _of_object(value: dict[str, Any], *, acting: bool = False, given: Value = ABSENT) -> str | None:
    named = {str(key).lower().replace("-", "_"): item for key, item in value.items()}
    for key in ("error", "errors", "exception", "error_message", "errormessage", "failure", "fault"):
        item = named.get(key)
        if item not in (None, "", [], {}, False, 0, "none", "None", "null"):
            if _is_record(named, key, given) or (key == "errors" and not acting and isinstance(item, int)):
                continue
            return f"{key}: {item.get('message', item) if isinstance(item, dict) else item}"
    for key in ("success", "ok", "succeeded", "is_success", "delivered", "accepted", "applied"):
        if named.get(key) is False:
            return f"{key}: false" + (f", {named['message']}" if isinstance(named.get("message"), str) else "")
    for key in ("is_error", "iserror", "failed"):
        if named.get(key) is True:
            return f"{key}: true"
    for key in ("status", "state", "result", "outcome", "code", "status_code", "statuscode", "http_status", "httpstatus"):
        item = named.get(key)
        if isinstance(item, str) and item.strip().lower().replace(" ", "_").replace("-", "_") in _STATUS and len(named) <= 8:
            return f"{key}: {item}" + (f", {named['message']}" if isinstance(named.get("message"), str) else "")
        if isinstance(item, int) and not isinstance(item, bool) and 400 <= item <= 599 and key != "result":
            return f"{key}: {item}"
    for key in (
        "exit_code",
        "exitcode",
        "returncode",
        "return_code",
        "exit_status",
        "exit",
        *(("code",) if {"stdout", "stderr"} & named.keys() else ()),
    ):
        if isinstance(named.get(key), int) and not isinstance(named[key], bool) and named[key]:
            last = next((line for line in reversed(str(named.get("stderr") or "").splitlines()) if line.strip()), "")
            return f"{key}: {named[key]}" + (f", {last.strip()}" if last else "")
    return None


#: What an error comes with. Anything else in an object is what was asked for.
_ENVELOPE = frozenset(
    ["status", "state", "code", "message", "msg", "detail", "details", "reason", "hint", "description", "success", "ok", "timestamp", "time", "date", "request_id", "requestid", "trace_id",
     "traceid", "correlation_id", "path", "method", "url", "type", "title", "instance", "retryable", "retry_after", "documentation_url", "docs", "help", "error_code", "errorcode", "error_type",
     "error_description", "status_code", "statuscode", "http_status", "exit_code", "stdout", "stderr", "source", "service", "severity", "level", "result", "data", "note", "attempt", "attempts"]
)  # fmt: skip


def _is_record(named: dict[str, Any], key: str, given: Value) -> bool:
    """Whether an object is a record of which a field is called so (what is broken at a customer's), rather than an error: it is complete besides."""
    if (
        key not in ("error", "failure", "fault", "errors")
        or isinstance(named[key], dict | list | bool)
        or named.get("success") is False
        or named.get("ok") is False
    ):
        return False
    asked = given.text().lower() if given.there else ""
    others = [
        item
        for name, item in named.items()
        if name != key and name not in _ENVELOPE and item not in (None, "", [], {}) and str(item).lower() not in asked
    ]
    return len(others) >= 3


#: Results are often wrapped: ``{"result": {…}}``, ``{"data": {"payment": {…}}}``.
_WRAPS = frozenset(
    ["result", "results", "data", "response", "body", "payload", "output", "answer", "return", "reply", "item", "details", "content"]
)
#: What a code, a state or a reason says where something was not done. Of a tool that looks something up these are what it found (a subscription that
#: has expired); of one that acts they are how it went.
_NOT_DONE = frozenset(
    ["aborted", "bounced", "conflict", "declined", "denied", "dropped", "duplicate", "error", "exceeded", "exception", "exhausted",
     "expired", "fail", "failed", "failure", "fault", "forbidden", "ignored", "illegal", "incomplete", "ineligible", "insufficient", "invalid", "lapsed",
     "mismatch", "missing", "noop", "nosuch", "overdrawn", "refused", "rejected", "returned", "skipped", "throttled",
     "timeout", "unable", "unauthorised", "unauthorized", "unavailable", "undeliverable", "undelivered", "unknown", "unprocessed", "unreachable", "unsent",
     "unsupported"]
)  # fmt: skip
_NOT_DONE_OF_TWO = re.compile(
    r"\b(?:not (?:found|sent|done|allowed|permitted|applied|accepted|processed|available|executed|completed|delivered|eligible|enough|issued|booked|paid|supported|valid)"
    r"|no (?:such|match|funds|stock|seats?|rooms?|change|op|effect|space|capacity|availability)|out of (?:stock|range|memory|office|credit)|sold out|timed out|on hold|over (?:limit|quota)|limit reached"
    r"|requires? \w+|needs? (?:approval|review|confirmation|action|authorization)|(?:pending|awaiting) (?:approval|review|confirmation|authorization|verification|manual|payment|signature)"
    r"|manual review|under review|too (?:many|late|early|large|small))\b"
)  # fmt: skip
_CODES = frozenset(
    ["code", "status", "state", "result", "outcome", "reason_code", "status_code", "result_code", "response_code", "error_code", "disposition",
     "decision", "verdict", "resolution", "delivery", "delivery_status", "payment_status", "order_status", "transaction_status", "booking_status"]
)  # fmt: skip
_WORDS = frozenset(
    ["message", "detail", "details", "reason", "note", "info", "description", "text", "warning", "msg", "explanation", "comment", "hint"]
)
#: Counts and lists of what was not done, by a tool that acts on several.
_LEFT_OUT = frozenset(["failed", "failures", "rejected", "errors", "undelivered", "bounced", "unsent", "declined", "not_sent", "failed_count", "error_count", "num_failed", "invalid",
    "abgewiesen", "abgelehnt", "zuruckgewiesen", "zurueckgewiesen", "fehlgeschlagen", "fehlerhaft", "rejete", "rejetes", "refuse", "refuses", "echoue", "echoues", "echecs", "rechazado", "rechazados", "rechazadas",
    "fallido", "fallidos", "fallidas", "rifiutato", "rifiutati", "respinto", "respinti", "fallito", "falliti", "rejeitado", "rejeitados", "recusado", "recusados", "falhado", "falhas", "afgewezen", "geweigerd", "mislukt"])  # fmt: skip
_NOTHING_DONE = re.compile(
    r"\b(?:nothing (?:was|has been|were|is|got) (\w+)|no (?:\w{1,30} ){1,3}?(?:was|were|has been|have been) (\w+)|(?:was|were|has|have|is|are) (?:not|never) (?:been )?(\w+)"
    r"|(?:could not|couldn't|cannot|can't|did not|was unable to|unable to|failed to) (?:be )?(\w+))\b",
    re.IGNORECASE,
)


def _of_wrapped(value: dict[str, Any], tool: str, given: Value, *, acting: bool, depth: int = 0) -> str | None:
    """How an object, or the one thing that it wraps, says that what a tool was to do was not done."""
    if depth:
        said = _of_object(value, acting=acting, given=given)
        if said is not None:
            return said
    if acting and len(value) <= 12:
        said = _of_doing(value, tool, given)
        if said is not None:
            return said
    if depth < 4:
        for key, item in value.items():
            if isinstance(item, dict) and (str(key).lower() in _WRAPS or len(value) == 1):
                said = _of_wrapped(item, tool, given, acting=acting, depth=depth + 1)
                if said is not None:
                    return said
    return None


def _of_doing(value: dict[str, Any], tool: str, given: Value) -> str | None:
    own = stems(tool)
    told = next((item for key, item in value.items() if str(key).lower() in _WORDS and isinstance(item, str) and item.strip()), "")
    more = f", {told}" if told else ""
    for key, item in value.items():
        name = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower())
        if item is False and _same_deed(stems(name), own):
            return f"{key}: false{more}"
        if name in _CODES and isinstance(item, str) and len(item) <= 60:
            said = re.sub(r"[^a-z0-9]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", item).lower()).strip()
            says_so = (set(said.split()) & _NOT_DONE and "not" not in said.split()) or _NOT_DONE_OF_TWO.search(said)
            if says_so and not _meant(said, own, given):
                return f"{key}: {item}" + (more if told != item else "")
        if (name in _LEFT_OUT or fold(str(key)) in _LEFT_OUT) and (
            (isinstance(item, int) and not isinstance(item, bool) and item > 0) or (isinstance(item, list) and item)
        ):
            return f"{key}: {len(item) if isinstance(item, list) else item}{more}"
        if name in _WORDS and isinstance(item, str):
            for match in _NOTHING_DONE.finditer(item[:600]):
                verb = next(one for one in match.groups() if one)
                if match.group(1) or _same_deed(stems(verb), own):
                    return f"{key}: {item}"
    return None


def _same_deed(one: frozenset[str], own: frozenset[str]) -> bool:
    """Whether a word names what a tool is for."""
    return bool(one & own) or bool(groups(one) & groups(own))


def _meant(said: str, own: frozenset[str], given: Value) -> bool:
    """Whether a state is what the tool was to bring about: ``rejected`` of ``reject_claim``, or of ``set_status`` with ``rejected``."""
    return _same_deed(stems(said), own) or bool(stems(said) & stems(given.text()[:4000]) if given.there else False)


def _is_empty(value: dict[str, Any]) -> bool:
    lists = [item for item in value.values() if isinstance(item, list)]
    counts = [
        item
        for key, item in value.items()
        if str(key).lower() in ("count", "total", "hits", "total_count", "size") and isinstance(item, int)
    ]
    return bool(lists or counts) and not any(lists) and not any(counts) and len(value) <= 4 and (bool(lists) or len(value) == 1)


def not_done(what: str) -> frozenset[str]:
    """The stems of the words in a failure that say that something was not done."""
    said = re.sub(r"[^a-z0-9]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", what).lower()).split()
    return frozenset(stem(word) for word in said if word in _NOT_DONE or word in _STATUS)


#: A line of a log that says that what was to be done failed; not a count of none, and not a try that was followed by another.
_LINE = re.compile(
    r"^(?![^\n]{0,80}\b(?:0|no|if|when|any|without) (?:\w{1,20} )?(?:failed|failures?|errors?)\b)[^\n]{0,80}?\b(?:(?:copy|copying|write|writing|read|upload|download|transfer|backup|restore|import|export|sync|migration|commit|save|delete|update|insert|send|sending|delivery|publish|print|job|step|command|operation|request|transaction|mount|login|connection|verification|render|encode|build|deploy|deployment|install|installation|order|payment|booking)s? (?:has |was )?(?:failed|aborted|refused|denied|rejected)\b|failed to \w+|failed (?:after|at|with|because|on)\b|aborting\b|giving up\b)[^\n]{0,200}$",
    re.IGNORECASE | re.MULTILINE,
)
_AGAIN = re.compile(
    r"\b(?:retr(?:y|ying|ied)|again|attempt|recovered|resum(?:ed|ing)|fall(?:ing)? ?back|warn(?:ing)?|skipp(?:ed|ing)|optional|non-fatal|ignored)\b",
    re.IGNORECASE,
)


def failed_within(text: str) -> str | None:
    """The line of a program's output, of several, that says that its work failed; its other lines are as always. To be asked of what acts alone: a log that
    was read says such things of others."""
    if text.count("\n") < 1 or len(text) > 20_000 or _AGAIN.search(text):
        return None
    match = _LINE.search(text)
    return match.group().strip() if match is not None else None


def checks(run: Run) -> bool:
    """Whether a run checks work (tests, lint, a build): that those fail is their result, and no error of theirs."""
    return is_check(run) or (run.kind == "tool" and bool(stems(run.name) & _CHECKING))


def check_failed(run: Run) -> bool:
    """Whether a check says that the work is not good."""
    if run.bad or failure(run) is not None:
        return True
    text = run.given.text() or run.output.text()
    return _TESTS.search(text[-20_000:]) is not None
