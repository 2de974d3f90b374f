"""What reached beyond reading: told by a declaration, by HTTP's methods, by what a command is known to do, or by a tool's name.

Only declarations and methods (RFC 9110, section 9.2.1) are certain. A name is a guess, and is said to be one (``sure``): ``send_invoice`` sends,
``get_invoice`` does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.tongues import english_of

from .once import once

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Run, Step

Reach = Literal["workspace", "outside"]

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
DOES = frozenset(
    ["accept", "ack", "acknowledge", "activate", "add", "adjust", "administer", "admit", "allocate", "alter", "append", "apply", "approve", "archive", "arm", "assign", "attach", "authorize", "ban", "bet", "bid", "block", "book", "brew", "broadcast", "buy", "cancel", "change", "charge", "checkout", "clean", "clear", "close", "commit", "complete", "configure", "confirm", "connect", "copy", "create", "credit", "cut", "deactivate", "debit", "decline", "deduct", "delete", "deploy", "destroy", "detach", "dial", "dim", "disable", "disarm", "discharge", "disclose", "disconnect", "dispatch", "dispense", "donate", "drain", "drive", "drop", "edit", "email", "emit", "enable", "enforce", "enqueue", "enroll", "erase", "escalate", "evict", "exchange", "exec", "execute", "expire", "expose", "extend", "failover", "feed", "file", "finalize", "fire", "fix", "flush", "forward", "fund", "give", "grant", "hand", "hedge", "hire", "import", "increase", "inform", "insert", "install", "invite", "invoke", "issue", "kick", "kill", "label", "launch", "lease", "lend", "liquidate", "lock", "log", "lower", "mail", "make", "mark", "merge", "migrate", "modify", "mount", "move", "mute", "notify", "offboard", "offer", "onboard", "open", "order", "override", "page", "patch", "pause", "pay", "perform", "persist", "pick", "pin", "place", "post", "prescribe", "print", "process", "promote", "provision", "publish", "purchase", "purge", "push", "put", "quarantine", "raise", "reassign", "rebook", "reboot", "record", "redeem", "reduce", "refer", "refund", "reject", "release", "remind", "remove", "rename", "renew", "rent", "reopen", "reorder", "replace", "reply", "reroute", "reschedule", "reserve", "reset", "resize", "resolve", "respond", "restart", "restore", "resume", "retry", "reveal", "revert", "revoke", "rollback", "rotate", "route", "run", "save", "scale", "schedule", "sell", "send", "set", "settle", "share", "ship", "short", "shutdown", "sign", "sms", "start", "stop", "store", "submit", "subscribe", "suspend", "swap", "switch", "sync", "tag", "tell", "terminate", "text", "ticket", "toggle", "top", "trade", "transfer", "trigger", "truncate", "turn", "tweet", "unassign", "unban", "unblock", "unlock", "unmount", "unmute", "unpin", "unsubscribe", "update", "upgrade", "upload", "upsert", "void", "waive", "warn", "water", "wipe", "wire", "withdraw", "write"]
)  # fmt: skip
_READS = frozenset(
    ["browse", "calculate", "check", "compare", "compute", "count", "describe", "diff", "estimate", "explain", "fetch", "find", "get", "grep", "inspect", "list", "load", "look", "lookup", "ls", "monitor", "parse", "peek", "ping", "predict", "preview", "query", "quote", "read", "recall", "retrieve", "review", "scan", "search", "select", "show", "simulate", "stat", "status", "summarize", "tail", "test", "validate", "verify", "view"]
)  # fmt: skip
#: Of the words that say that something is done those that are things as well.
_THINGS = frozenset(
    ["book", "credit", "document", "email", "file", "grant", "label", "lease", "letter", "log", "mail", "mark", "message", "note", "notice", "offer", "order", "page", "place", "post", "purchase", "record", "rent", "route", "run",
     "schedule", "share", "sign", "start", "stop", "store", "tag", "text", "ticket", "trade", "transfer", "water"]
)  # fmt: skip
#: Commands that change something outside of the workspace.
_OUTSIDE = re.compile(
    r"\b(?:git(?: -\S+(?: [\w.]+=\S+)?){0,6} push|gh (?:pr|release|issue|workflow) \w+|kubectl (?:apply|create|delete|drain|edit|patch|replace|rollout|scale|set)"
    r"|helm (?:install|upgrade|uninstall|rollback)|terraform (?:apply|destroy|import)|pulumi (?:up|destroy)|docker push|npm publish|twine upload"
    r"|aws \S+ (?:create|delete|put|update|terminate|stop|start|modify|run|copy|rm|mv|cp)\S*|gcloud .{0,60}(?:create|delete|deploy|update)"
    r"|az .{0,60}(?:create|delete|update)|systemctl (?:start|stop|restart|reload)|ansible-playbook|rsync|scp|sendmail|mail -s|shutdown|reboot)\b"
    r"|\bcurl\b.{0,200}?(?:-X ?(?:POST|PUT|PATCH|DELETE)|--data|-d |-F )"
    r"|\b(?:psql|mysql|sqlite3|mongo|redis-cli|bq)\b.{0,300}?\b(?i:insert|update|delete|drop|truncate|alter|create|flushall|flushdb)\b"
)
_INSIDE = re.compile(
    r"(?:^|[\s;&|(\x22'])(?:rm|mv|cp|mkdir|rmdir|touch|chmod|chown|tee|dd|truncate|patch|git(?: -\S+(?: [\w.]+=\S+)?){0,6} (?:commit|merge|rebase|reset|checkout|tag)|sed -i|make|npm|pip)\b|>"
)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """``sure``: by a declaration, by an HTTP method, or by a command that is known; else by a tool's name."""

    run: Run
    step: Step | None
    reach: Reach
    sure: bool

    @property
    def since(self) -> int:
        """The line from which on it was under way. A tool that is seen on the wire alone has its line behind the call that was told its result."""
        return (
            min(self.step.seq, self.run.seq) if self.step is not None and self.run.source in ("wire", "asked", "provider") else self.run.seq
        )


@once
def effects(case: Case) -> tuple[Effect, ...]:
    """What reached beyond reading, in order, the outer call of several within each other only. A call that was never made (asked for, or cut before
    it began) is none; one that failed is: nobody knows how far it came."""
    found: list[Effect] = []
    inner: set[int] = set()
    methods: dict[int, set[str]] = {}
    for step, run in case.story.runs():
        if run.kind == "http" and step is not None:
            methods.setdefault(step.number, set()).add((run.method or "GET").upper())
    for step, run in case.story.runs():
        if run.seq in inner:
            continue
        made = _effect(run, step)
        if made is not None and not made.sure and step is not None and _only_fetched(run, methods.get(step.number)):
            continue
        if made is not None:
            found.append(made)
            inner.update(_below(run))
    return tuple(found)


def _only_fetched(run: Run, methods: set[str] | None) -> bool:
    """Whether a tool's name may name a thing (``patient_file``, ``guest_book``) and not a deed, and all that its step exchanged was fetched."""
    if run.kind != "tool" or not methods or not methods <= set(_SAFE):
        return False
    said = [english_of(word) or word for word in words_of(run.name)]
    place = next((place for place, word in enumerate(said) if word in DOES), 0)
    return place > 0 and place == len(said) - 1 and said[place] in _THINGS


def _effect(run: Run, step: Step | None) -> Effect | None:
    if run.outcome == "asked":
        return None
    if run.effect in ("write", "external"):
        return Effect(run=run, step=step, reach="outside" if run.effect == "external" else "workspace", sure=True)
    if run.effect == "read":
        return None
    if run.kind == "http":
        return Effect(run=run, step=step, reach="outside", sure=True) if (run.method or "GET").upper() not in _SAFE else None
    if run.kind == "process" or is_shell(run.name):
        if _OUTSIDE.search(run.title):
            return Effect(run=run, step=step, reach="outside", sure=True)
        return Effect(run=run, step=step, reach="workspace", sure=False) if run.changes or _INSIDE.search(run.title) else None
    if run.changes:
        return Effect(run=run, step=step, reach="workspace", sure=True)
    return Effect(run=run, step=step, reach="outside", sure=False) if acts(run.name) else None


@lru_cache(maxsize=4096)
def acts(name: str) -> bool:
    """Whether a tool's name says that it does something rather than looks something up. Its first telling word decides: ``get_order`` reads,
    ``order_create`` acts."""
    for said in words_of(name):
        word = english_of(said) or said
        if word in _READS:
            return False
        if word in DOES:
            return True
    return False


def does(word: str) -> bool:
    """Whether a word of a tool's name says that it does something."""
    return word in DOES


@lru_cache(maxsize=4096)
def looks(name: str) -> bool:
    """Whether a tool's name says that it only looks something up. One that says neither does neither: nobody knows."""
    return next((word in _READS for word in words_of(name) if word in _READS or word in DOES), False)


@lru_cache(maxsize=4096)
def is_shell(name: str) -> bool:
    """Whether a tool runs commands: what it does stands in its arguments."""
    return bool({"bash", "shell", "sh", "terminal", "cmd", "command", "powershell"} & set(words_of(name)))


def _below(run: Run) -> set[int]:
    found: set[int] = set()
    waiting = list(run.children)
    while waiting:
        child = waiting.pop()
        found.add(child.seq)
        waiting += getattr(child, "children", ())
    return found
