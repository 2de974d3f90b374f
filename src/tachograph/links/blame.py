"""Which session wrote a line, and how that is known.

Two questions of every line, and what both answers say together:

1. Which sessions did its commit come from (``trailers.py``)? Git's own blame names the commit, through white space and moved lines.
2. Which sessions wrote such a line before that commit was made (``anchors.py``), and what is around it (``runs.py``)?

| said                                                                            | confidence |
|---------------------------------------------------------------------------------|------------|
| the commit's session wrote the line among others, with words that are its alone  | high       |
| no session is named, and one alone wrote all that, in this file                  | high       |
| several wrote it, or it stands alone, or elsewhere                               | medium     |
| it appeared during a call, which others can have caused                          | medium     |
| the commit's only session, whose record does not have the line                   | low        |

A line that lay uncommitted before the session began, or was committed before the first session, is a person's. Of the rest nobody knows: ``unknown``.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

from tachograph.core import authored
from tachograph.core.errors import NotFoundError

from . import runs
from .anchors import Written
from .git import Line, Repository
from .runs import Found
from .sessions import Sessions, Told
from .trailers import Origin, Origins

#: Seconds by which a commit may be older than the record of what is in it: clocks of two machines.
SLACK = 5
LEVELS = ("low", "medium", "high")
_NAMED = ("trailer", "note", "link", "recorded")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the answer. ``who``: ``session``, ``human``, ``unknown``. ``how``: of the commit, then of the line; ``why``: in words."""

    line: Line
    who: str
    confidence: str | None
    how: tuple[str, ...]
    why: str
    session_id: str | None = None
    told: Told = field(default_factory=Told)
    prs: tuple[str, ...] = ()
    deploys: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As ``tacho blame --json`` has it."""
        return {
            "line": self.line.number, "text": self.line.text, "who": self.who, "confidence": self.confidence, "how": list(self.how),
            "why": self.why, "session_id": self.session_id, "step": self.told.step, "tool": self.told.tool, "event_id": self.told.event_id,
            "seq": self.told.seq, "model": self.told.model, "prompt": self.told.prompt, "prompt_version": self.told.prompt_version,
            "approver": self.told.approver, "pr": list(self.prs), "deploy": list(self.deploys), "commit": self.line.sha,
            "path": self.line.path, "author": self.line.author,
        }  # fmt: skip


@dataclass(frozen=True)
class _Verdict:
    who: str
    session_id: str | None
    confidence: str | None
    how: tuple[str, ...]
    why: str
    seq: int | None = None


class Blame:
    """Of one repository. ``anchors_only``: as if no commit said anything."""

    def __init__(self, repository: Repository, sessions: Sessions, *, anchors_only: bool = False) -> None:
        self._repository = repository
        self._sessions = sessions
        self._origins = Origins(repository, sessions)
        self._anchors_only = anchors_only
        self._all: list[Written] | None = None
        self._first: str | None = None

    def file(self, name: str, *, rev: str | None = None, first: int | None = None, last: int | None = None) -> list[Row]:
        """A row for each line asked for. Raises ``NotFoundError`` for a file or lines that are not there."""
        lines = self._repository.blame(name, rev, moves=False)
        if first is not None and first > len(lines):
            raise NotFoundError(f"{name} has {len(lines)} lines, and no line {first}; name one that is there")
        verdicts = _around(self._verdicts(lines, self._repository.blame(name, rev, moves=True), name, rev), lines)
        end = last if last is not None else first if first is not None else len(lines)
        return [self._row(line, verdict) for line, verdict in zip(lines, verdicts, strict=True) if (first or 1) <= line.number <= end]

    def sessions_of(self, sha: str) -> list[Origin]:
        """The sessions of a commit."""
        return [] if self._anchors_only else self._origins.of(sha)

    # -- one line ----------------------------------------------------------------------------------------------------------

    def _verdicts(self, lines: list[Line], older: list[Line], name: str, rev: str | None) -> list[_Verdict | None]:
        """None for a line that says nothing by itself, and for which nothing else speaks. ``older``: where the lines may have been moved from."""
        shas = {line.sha for line in [*lines, *older] if line.sha is not None}
        origins = {sha: {one.session_id: one for one in self.sessions_of(sha)} for sha in shas}
        everybody = self._everybody() if any(not origins.get(line.sha or "") for line in lines) else []
        theirs = [
            one for session_id in {one for by in origins.values() for one in by} if (one := self._sessions.written(session_id)) is not None
        ]
        known = {one.session_id: one for one in [*everybody, *theirs]}
        paths = {name, *(line.path for line in lines if line.path)}
        until = [_iso(line.at + SLACK) if line.sha is not None else "9999" for line in lines]

        def attributed(sessions: dict[str, Written], named: bool) -> list[Found | None]:
            def allowed(number: int, write: runs.Written) -> bool:
                by = origins.get(lines[number].sha or "") if named else None
                return write.ts <= until[number] and (not by or write.session_id in by)

            return runs.attribute(
                [line.text for line in lines], [write for one in sessions.values() for write in one.writes], allowed,
                lambda write: _same(write.path, paths), lambda path: self._repository.text(path, rev),
            )  # fmt: skip

        found = attributed(known, named=True)
        open_ = [
            n
            for n, line in enumerate(lines)
            if found[n] is None and origins.get(line.sha or "") and authored.telling(authored.normal(line.text))
        ]
        others: list[Found | None] = [None] * len(lines)
        if open_:  # a squash in somebody's own words names some of its sessions
            everybody = self._everybody()
            known = {one.session_id: one for one in [*everybody, *theirs]}
            others = attributed(known, named=False)
        out = []
        for line, before, match, other in zip(lines, older, found, others, strict=True):
            named = origins.get(line.sha or "") or {}
            if match is None and not named:
                line, named = before, origins.get(before.sha or "") or {}  # moved here by somebody who is no session
            verdict = self._judge(line, match, named, known, everybody)
            if (
                other is not None
                and other.write.session_id not in named
                and other.own
                and other.sole
                and other.write.kind == "said"
                and match is None
            ):
                verdict = _Verdict(
                    "session",
                    other.write.session_id,
                    "medium",
                    ("line",),
                    "it wrote the line, and what is around it; its commit names others",
                    other.write.seq,
                )
            out.append(verdict)
        return out

    def _judge(
        self, line: Line, match: Found | None, origins: dict[str, Origin], known: dict[str, Written], everybody: list[Written]
    ) -> _Verdict | None:
        text = authored.normal(line.text)
        if not text:
            return None
        if match is not None and (match.place or match.own or match.write.path is None):
            return _matched(match, origins.get(match.write.session_id), lay_there=text in known[match.write.session_id].base)
        telling = authored.telling(text)
        how = tuple(sorted({one.how for one in origins.values()}))
        if origins:
            theirs = [known[session_id] for session_id in origins if session_id in known]
            if telling and any(text in one.base for one in theirs):
                return _Verdict("human", None, "medium", how, "it lay there, uncommitted, when the session began")
            if len(origins) > 1:
                why = f"its commit is of {len(origins)} sessions, and none of them wrote such a line"
                return _Verdict("unknown", None, None, how, why) if telling else None
            (origin,) = origins.values()
            if not theirs:
                why = "its commit names this session, whose record is not in this store or cannot be read"
                return _Verdict("session", origin.session_id, "medium" if origin.how in _NAMED else "low", how, why)
            if not telling:
                return None
            why = "its commit is of this session, whose record does not have the line: a program or a person can have written it"
            return _Verdict("session", origin.session_id, "low", how, why)
        if line.sha is not None and self._first is not None and _iso(line.at) < self._first:
            return _Verdict("human", None, "high", (), "committed before the first session that is recorded of this repository")
        if not everybody:
            return _Verdict("unknown", None, None, (), "no session of this repository is in the store")
        return _Verdict("unknown", None, None, (), "no session names the commit, and none wrote such a line") if telling else None

    def _everybody(self) -> list[Written]:
        if self._all is None:
            self._all = [
                one for session_id in self._sessions.of(self._repository) if (one := self._sessions.written(session_id)) is not None
            ]
            self._first = min((one.began for one in self._all), default=None)
        return self._all

    def _row(self, line: Line, verdict: _Verdict) -> Row:
        session_id = verdict.session_id
        told = self._sessions.told(session_id, verdict.seq) if session_id is not None and verdict.seq is not None else Told()
        return Row(
            line=line, who=verdict.who, confidence=verdict.confidence, how=verdict.how, why=verdict.why, session_id=session_id, told=told,
            prs=tuple(self._sessions.links(session_id, "pr")) if session_id is not None else (),
            deploys=tuple(self._sessions.links(session_id, "deploy")) if session_id is not None else (),
        )  # fmt: skip


def _matched(match: Found, origin: Origin | None, *, lay_there: bool) -> _Verdict:
    """A line that a session wrote, by what is around it, and by what its commit says."""
    how = (*([origin.how] if origin is not None else []), "line")
    first = "its commit is of this session, and " if origin is not None else ""
    said = match.write.kind == "said"
    if lay_there:
        level, why = "low", "the line lay there already when it began"
    elif not said and match.write.kind == "call":
        level, why = "medium", "the line appeared in a file during a call of it"
    elif not said:
        level, why = "low", "the line appeared in a file while it was recorded, outside of any call"
    elif (
        match.own
        and match.sole
        and match.chars >= (runs.SURE if match.place else runs.SURE_ELSEWHERE)
        and (origin is not None or match.place)
    ):
        level, why = "high", "it wrote the line, and what is around it" + ("" if match.place else ", in another place")
    elif not match.sole:
        level, why = "medium", "it wrote the line, as others did"
    else:
        level, why = (
            "medium",
            "it wrote such a line, with nothing around it that is its own" if not match.own else "it wrote the line, in another place",
        )
    return _Verdict("session", match.write.session_id, level, how, (first + why)[:1].lower() + (first + why)[1:], match.write.seq)


def _same(path: str | None, paths: set[str]) -> bool:
    """Whether a path as a tool wrote it is one of these of the repository."""
    path = (path or "").removeprefix("./")
    return bool(path) and any(path == one or path.endswith("/" + one) or one.endswith("/" + path) for one in paths)


def _around(found: list[_Verdict | None], lines: list[Line]) -> list[_Verdict]:
    """Lines that say nothing by themselves (brackets, blank ones) go with those around them, where these are of one commit and one session."""
    out: list[_Verdict] = []
    for number, verdict in enumerate(found):
        if verdict is not None:
            out.append(verdict)
            continue
        before = next((n for n in range(number - 1, -1, -1) if found[n] is not None), None)
        after = next((n for n in range(number + 1, len(found)) if found[n] is not None), None)
        near = [one for n in (before, after) if n is not None and lines[n].sha == lines[number].sha and (one := found[n]) is not None]
        sessions = {one.session_id for one in near}
        if near and len(sessions) == 1 and near[0].session_id is not None:
            what = "a blank line" if not lines[number].text.strip() else "a line that could be anybody's"
            out.append(_Verdict("session", near[0].session_id, "low", ("around",), f"{what}, among lines of this session", near[0].seq))
        elif near and all(one.who == "human" for one in near):
            out.append(_Verdict("human", None, "low", ("around",), "among lines of a person"))
        else:
            out.append(_Verdict("unknown", None, None, (), "a line that could be anybody's"))
    return out


def _iso(seconds: int) -> str:
    """As the log writes times."""
    return datetime.datetime.fromtimestamp(max(0, seconds), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.999Z")
