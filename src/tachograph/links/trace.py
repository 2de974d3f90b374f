"""From an incident, a deploy, a pull request or a commit to the sessions and steps that are behind it, and how each link is known.

incident ── deploys (the ledger) ── commits (git: since what was there before) ── sessions (trailers, notes, links, records, lines) ── steps
                                      └── pull requests (the commit's message, the sessions' links)
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import NotFoundError
from tachograph.log.book import said_by

from . import deploys, linking
from .blame import Blame
from .deploys import Deploy
from .git import Repository
from .refs import repository as named
from .sessions import Sessions
from .trailers import Origins

#: Commits of one deploy that are looked at, and files of one commit whose lines are.
MOST_COMMITS = 1000
MOST_FILES = 50
_MERGED = re.compile(
    r"(?:^Merge pull request #([1-9][0-9]{0,9}) |\(#([1-9][0-9]{0,9})\)$|^See merge request (?:[\w./-]{1,200})?!([1-9][0-9]{0,9})$)",
    re.MULTILINE,
)


_SQUASHED = re.compile(r"\A[^\n]*\(#[1-9][0-9]{0,9}\)|^See merge request |^Squashed commit of ", re.MULTILINE)


@dataclass(frozen=True)
class StepOf:
    """A step of a session: where it committed, or wrote lines of the commit. ``what``: in words."""

    step: int | None
    seq: int | None
    what: str


@dataclass(frozen=True)
class SessionOf:
    session_id: str
    how: str
    name: str | None
    steps: tuple[StepOf, ...]


@dataclass(frozen=True)
class CommitOf:
    sha: str
    subject: str
    author: str
    how: str
    prs: tuple[tuple[str, str], ...]
    """(reference, how it is known)"""
    sessions: tuple[SessionOf, ...]


@dataclass(frozen=True)
class DeployOf:
    deploy: Deploy
    how: str
    span: str
    commits: tuple[CommitOf, ...]
    sessions: tuple[SessionOf, ...] = ()


@dataclass
class Chain:
    """What is behind something. ``sessions``: those that are tied to it directly. ``notes``: what could not be followed."""

    asked: str
    kind: str
    deploys: list[DeployOf] = field(default_factory=list)
    commits: list[CommitOf] = field(default_factory=list)
    sessions: list[SessionOf] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether it leads to any session."""
        commits = [*self.commits, *(commit for one in self.deploys for commit in one.commits)]
        return bool(self.sessions or any(one.sessions for one in self.deploys) or any(commit.sessions for commit in commits))

    def to_json(self) -> dict[str, Any]:
        """As ``tacho trace --json`` has it."""
        return {
            "asked": self.asked, "kind": self.kind, "notes": self.notes,
            "deploys": [
                {"id": one.deploy.id, "sha": one.deploy.sha, "environment": one.deploy.environment, "at": one.deploy.at, "how": one.how, "commits_by": one.span,
                 "commits": list(map(_commit, one.commits)), "sessions": list(map(_session, one.sessions))}
                for one in self.deploys
            ],
            "commits": list(map(_commit, self.commits)), "sessions": list(map(_session, self.sessions)),
        }  # fmt: skip


class Trace:
    """``repository``: None where there is none, and deploys lead to no commits."""

    def __init__(self, sessions: Sessions, repository: Repository | None) -> None:
        self._sessions = sessions
        self._repository = repository
        self._origins = Origins(repository, sessions) if repository is not None else None
        self._blame = Blame(repository, sessions) if repository is not None else None

    def of(self, asked: str) -> Chain:
        """What is behind an incident, a deploy, a pull request or a commit. Raises ``NotFoundError`` for what nobody knows."""
        book = self._sessions.book
        by_id = {one.deploy.id: one for one in deploys.deployed(book)}
        blamed = deploys.of_incident(book, asked.removeprefix("incident="))
        linked = linking.meant(book, asked)
        if blamed:
            chain = Chain(asked, "incident")
            for name, entry in blamed:
                if name in by_id:
                    chain.deploys.append(self._deploy(by_id[name].deploy, f"tied to {asked} {said_by(entry)}", chain))
        elif asked.removeprefix("deploy=") in by_id:
            one = by_id[asked.removeprefix("deploy=")]
            chain = Chain(asked, "deploy")
            chain.deploys.append(self._deploy(one.deploy, f"recorded {said_by(one.entry)}", chain))
        elif linked:
            chain = Chain(asked, linked[0].ref.kind)
        else:
            chain = Chain(asked, "commit")
            chain.commits.append(self._commit(self._resolve(asked), "the commit that was named", chain))
        if chain.kind == "commit" and not chain.commits and self._repository is not None and self._repository.has(linked[0].ref.ref):
            chain.commits.append(self._commit(linked[0].ref.ref, "the commit that was named", chain))
        if self._repository is None and chain.deploys:
            chain.notes.append("not in a git repository: which commits a deploy brought cannot be told; run this in a clone")
        if chain.kind != "deploy" and not chain.commits:
            chain.sessions = [self._session(each.session_id, f"linked {said_by(each.entry)}", None) for each in linked]
        return chain

    def _resolve(self, asked: str) -> str:
        if self._repository is not None:
            try:
                return self._repository.commit(asked.removeprefix("commit="))
            except NotFoundError:
                pass
        raise NotFoundError(
            f"nobody knows {asked[:60]!r}: no incident, deploy, pull request or commit; tacho deploy link DEPLOY INCIDENT ties an incident to its deploy"
        )

    def _deploy(self, one: Deploy, how: str, chain: Chain) -> DeployOf:
        base, span = deploys.before(self._sessions.book, one)
        commits: list[CommitOf] = []
        if self._repository is not None:
            try:
                shas = self._repository.between(base, one.sha) if base is not None else [self._repository.commit(one.sha)]
            except NotFoundError as error:
                chain.notes.append(str(error))
                shas = []
            if base is not None and not shas and base != one.sha:
                chain.notes.append(f"{one.id} went back, from {base[:12]} to {one.sha[:12]}, and brought no commit")
            if base is None:
                chain.notes.append(
                    f"{one.id}: no deploy before it is recorded, so only its newest commit is followed; tacho deploy record --previous SHA says more"
                )
            if len(shas) > MOST_COMMITS:
                chain.notes.append(f"{one.id}: {len(shas)} commits, of which the newest {MOST_COMMITS} are followed")
            commits = [self._commit(sha, f"in {one.id}: {span}", chain) for sha in shas[-MOST_COMMITS:]]
        direct = [self._session(session_id, "linked to the deploy", None) for session_id in self._sessions.linked_to("deploy", one.id)]
        return DeployOf(one, how, span, tuple(commits), tuple(direct))

    def _commit(self, sha: str, how: str, chain: Chain) -> CommitOf:
        assert self._repository is not None
        assert self._origins is not None
        message = self._repository.message(sha)
        author = (self._repository.ask("log", "-1", "--format=%an", sha, "--") or "").strip()
        origins = [(one.session_id, one.how) for one in self._origins.of(sha)]
        if not origins or _SQUASHED.search(message):  # whose message may name some of its sessions only
            origins += [one for one in self._by_lines(sha, chain) if one[0] not in dict(origins)]
        found = [self._session(session_id, known, sha) for session_id, known in origins]
        prs: dict[str, str] = {}
        here = named(self._repository.remote())
        for match in _MERGED.finditer(message):
            number = match[1] or match[2] or match[3]
            prs.setdefault(f"{here}#{number}" if here else f"#{number}", "the commit's message names it")
        for session_id, _ in origins:
            for ref in self._sessions.links(session_id, "pr"):
                prs.setdefault(ref, f"{session_id} is linked to it")
        return CommitOf(sha, message.split("\n", 1)[0], author, how, tuple(prs.items()), tuple(found))

    def _by_lines(self, sha: str, chain: Chain) -> list[tuple[str, str]]:
        """The sessions that wrote a good part of the lines of a commit that says nothing."""
        assert self._repository is not None
        assert self._blame is not None
        names = (
            self._repository.ask("diff-tree", "--root", "--no-commit-id", "--name-only", "--diff-filter=AMT", "-r", "-z", sha, "--") or ""
        )
        files = [name for name in names.split("\0") if name]
        if len(files) > MOST_FILES:
            chain.notes.append(f"commit {sha[:12]} changed {len(files)} files, of which {MOST_FILES} were looked at")
        by: Counter[str] = Counter()
        every = 0
        for name in files[:MOST_FILES]:
            try:
                rows = self._blame.file(name, rev=sha)
            except NotFoundError:
                continue
            mine = [row for row in rows if row.line.sha == sha and row.line.text.strip()]
            every += len(mine)
            by.update(
                row.session_id for row in mine if row.session_id is not None and row.confidence in ("high", "medium") and "line" in row.how
            )
        return [
            (session_id, f"it wrote {count} of the commit's {every} lines")
            for session_id, count in by.most_common()
            if count >= 2 or count * 2 >= every
        ]

    def _session(self, session_id: str, how: str, sha: str | None) -> SessionOf:
        start = self._sessions.start(session_id)
        if start is None:
            return SessionOf(session_id, how + ", but its record is not in this store", None, ())
        return SessionOf(session_id, how, start.name or start.agent, tuple(self._steps(session_id, sha)))

    def _steps(self, session_id: str, sha: str | None) -> list[StepOf]:
        """Where the session committed: this very commit, else the commits of it that went into this one."""
        recording = self._sessions.recording(session_id)
        heads = [
            (entry.seq, event) for entry in (recording.entries if recording is not None else ())
            if (event := entry.event).TYPE == "git" and getattr(event, "cause", None) in ("made", "call") and str(getattr(event, "action", "")).startswith("commit")
        ]  # fmt: skip
        exact = [(seq, event) for seq, event in heads if getattr(event, "sha", None) == sha]
        out = []
        for seq, event in exact or heads:
            told = self._sessions.told(session_id, _parent(self._sessions, session_id, event) or seq)
            made = str(getattr(event, "sha", ""))[:12]
            out.append(StepOf(told.step, seq, f"committed {made}" + ("" if exact or sha is None else ", which went into this commit")))
        return out


def _parent(sessions: Sessions, session_id: str, event: Any) -> int | None:
    """The line of the call during which something happened."""
    recording = sessions.recording(session_id)
    entry = recording.by_id(event.parent_id) if recording is not None and event.parent_id else None
    return entry.seq if entry is not None else None


def _commit(one: CommitOf) -> dict[str, Any]:
    return {
        "sha": one.sha, "subject": one.subject, "author": one.author, "how": one.how, "pr": [{"ref": ref, "how": how} for ref, how in one.prs],
        "sessions": list(map(_session, one.sessions)),
    }  # fmt: skip


def _session(one: SessionOf) -> dict[str, Any]:
    steps = [{"step": each.step, "seq": each.seq, "what": each.what} for each in one.steps]
    return {"session_id": one.session_id, "name": one.name, "how": one.how, "steps": steps}
