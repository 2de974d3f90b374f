"""Deploys: which commit went where, when. Entries of the ledger (``deployed``), read from what deploys, or said.

A deploy is keyed by the commit that it put there. What came with it are the commits since the one that was there before: the deploy before it in
the same environment, unless it is said.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import ConflictError, NotFoundError, UsageError
from tachograph.host.custody import Keeper
from tachograph.log.book import Book, entry_of
from tachograph.log.reader import Entry

from . import refs
from .refs import Place

_REVISION, _SOURCE, _CREATED, _VERSION = (f"org.opencontainers.image.{name}" for name in ("revision", "source", "created", "version"))
#: States of GitHub in which a deployment has not put anything anywhere.
_UNDONE = ("failure", "error", "pending", "queued", "in_progress", "waiting", "abandoned")
_HEX = re.compile(r"[0-9a-fA-F]{7,64}\Z")
#: Bytes of a document, and deploys in one.
LIMIT, MOST = 16 << 20, 10_000


@dataclass(frozen=True, kw_only=True)
class Deploy:
    """``sha``: the commit that was put there; ``previous``: the one before, if that is said. ``at``: ISO 8601, in UTC. ``source``: what said so."""

    id: str
    sha: str
    environment: str | None = None
    at: str | None = None
    previous: str | None = None
    source: str = "arguments"


@dataclass(frozen=True)
class Known:
    """A deploy, and the entry that recorded it."""

    deploy: Deploy
    entry: Entry


def read(kind: str, text: str) -> list[Deploy]:
    """The deploys in a document: ``github``, ``oci`` or ``argocd``. Raises ``UsageError`` for one that is none."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"not JSON, what {_NAMES[kind]} is to be read from; {_WHENCE[kind]} prints it") from None
    found = list(_READERS[kind](document))[:MOST]
    if not found:
        raise UsageError(f"no deploy in it, which {_NAMES[kind]} would have; {_WHENCE[kind]} prints one")
    return found


def _github(document: Any) -> Iterator[Deploy]:
    """GitHub's REST API: a deployment, a list of them, or the event of a webhook (``deployment`` with ``deployment_status``)."""
    for one in document if isinstance(document, list) else [document]:
        if not isinstance(one, dict):
            continue
        deployment = one["deployment"] if isinstance(one.get("deployment"), dict) else one
        status = one.get("deployment_status") if isinstance(one.get("deployment_status"), dict) else {}
        state = (status or {}).get("state") or deployment.get("state")
        if not _sha(deployment.get("sha")) or deployment.get("id") is None or state in _UNDONE:
            continue
        at = (status or {}).get("created_at") or deployment.get("created_at")
        yield Deploy(
            id=f"github-{deployment['id']}", sha=str(deployment["sha"]).lower(), environment=_text(deployment.get("environment")), at=_time(at),
            source="github",
        )  # fmt: skip


def _oci(document: Any) -> Iterator[Deploy]:
    """Labels of an image: what ``docker inspect``, ``skopeo inspect`` or ``crane config`` print."""
    for one in document if isinstance(document, list) else [document]:
        if not isinstance(one, dict):
            continue
        config: dict[str, Any] = next((one[name] for name in ("Config", "config") if isinstance(one.get(name), dict)), {})
        labels = next((found for found in (config.get("Labels"), one.get("Labels"), one.get("annotations")) if isinstance(found, dict)), {})
        digests = one.get("RepoDigests")
        name = one.get("Digest") or one.get("Id") or (digests[0] if isinstance(digests, list) and digests else None) or labels.get(_VERSION)
        if _sha(labels.get(_REVISION)):
            sha = str(labels[_REVISION]).lower()
            yield Deploy(
                id=f"image-{name}" if name else f"image-of-{sha[:12]}",
                sha=sha,
                at=_time(labels.get(_CREATED) or one.get("Created")),
                source="oci",
            )


def _argocd(document: Any) -> Iterator[Deploy]:
    """Applications of Argo CD: each deploy in ``status.history``, with what was there before it."""
    items = document.get("items") if isinstance(document, dict) and isinstance(document.get("items"), list) else [document]
    for one in items if isinstance(items, list) else ():
        if not isinstance(one, dict):
            continue
        metadata, status = one.get("metadata"), one.get("status")
        name = _text(metadata.get("name")) if isinstance(metadata, dict) else None
        history = status.get("history") if isinstance(status, dict) else None
        destination = one.get("spec", {}).get("destination", {}) if isinstance(one.get("spec"), dict) else {}
        environment = _text(destination.get("namespace")) if isinstance(destination, dict) else None
        previous: str | None = None
        entries = [each for each in history if isinstance(each, dict)] if isinstance(history, list) else []
        for each in sorted(entries, key=lambda each: str(each.get("deployedAt"))):
            revisions = each.get("revisions")
            sha = (
                each.get("revision") or next((rev for rev in revisions if _sha(rev)), None)
                if isinstance(revisions, list)
                else each.get("revision")
            )
            if not _sha(sha):
                continue  # a chart's version, which names no commit
            sha = str(sha).lower()
            yield Deploy(
                id=f"argocd-{name or 'application'}-{each.get('id', sha[:12])}", sha=sha, environment=environment or name, at=_time(each.get("deployedAt")),
                previous=previous, source="argocd",
            )  # fmt: skip
            previous = sha


_READERS = {"github": _github, "oci": _oci, "argocd": _argocd}
_NAMES = {
    "github": "GitHub's deployments",
    "oci": f"an image's labels with {_REVISION}",
    "argocd": "an Application of Argo CD with status.history",
}
_WHENCE = {"github": "gh api repos/OWNER/REPO/deployments", "oci": "docker inspect IMAGE", "argocd": "argocd app get NAME -o json"}


def record(by: Keeper, deploys: list[Deploy], place: Place, incidents: list[str]) -> list[tuple[Deploy, bool]]:
    """Enter deploys in the ledger, each once; with whether it was new. Raises ``UsageError`` for a commit that cannot be, ``ConflictError`` for an id
    that is another deploy's."""
    known = {one.deploy.id: one.deploy for one in deployed(by.book())}
    out: list[tuple[Deploy, bool]] = []
    for one in deploys:
        kept = Deploy(
            id=refs.keep("deploy", one.id), sha=refs.keep("commit", one.sha, place), environment=one.environment, at=one.at, source=one.source,
            previous=refs.keep("commit", one.previous, place) if one.previous is not None else None,
        )  # fmt: skip
        for name in ("id", "environment"):
            value = getattr(kept, name)
            if value is not None and by.masked(value) != value:
                raise UsageError(f"the {name} of the deploy holds what looks like a secret; name it otherwise")
        there = known.get(kept.id)
        if there is not None and (there.sha, there.environment) != (kept.sha, kept.environment):
            raise ConflictError(
                f"the deploy {kept.id} is of {there.sha[:12]} already, and not of {kept.sha[:12]}; name this one otherwise with --id"
            )
        if there is None:
            detail = {
                "deploy": kept.id,
                "sha": kept.sha,
                "environment": kept.environment,
                "at": kept.at,
                "previous": kept.previous,
                "source": kept.source,
            }
            by.enter(by.entry("deployed", None, detail={name: value for name, value in detail.items() if value is not None}), None)
            known[kept.id] = kept
        out.append((kept, there is None))
        for incident in incidents:
            blame(by, kept.id, refs.keep("incident", incident))
    return out


def deployed(book: Book) -> list[Known]:
    """All deploys, in the order in which they happened."""
    found = []
    for entry in book.entries:
        event = entry_of(entry)
        if event.action == "deployed":
            fields = {name: str(value) for name, value in event.detail.items() if name != "deploy" and name in Deploy.__dataclass_fields__}
            if "sha" in fields:
                found.append(Known(Deploy(**{**fields, "id": str(event.detail.get("deploy"))}), entry))
    return sorted(found, key=lambda one: _sortable(one.deploy.at or one.entry.ts))


def _sortable(at: str) -> str:
    """A time of a deploy, or of the ledger, so that text order is time order: some have milliseconds, some have not."""
    return at if "." in at else at.replace("Z", ".000Z")


def before(book: Book, one: Deploy) -> tuple[str | None, str]:
    """(the commit that was there before a deploy, how that is known)."""
    if one.previous is not None:
        return one.previous, f"{one.source} says what was there before"
    earlier = None
    for each in deployed(book):
        if each.deploy.id == one.id:
            return (
                (earlier, "the deploy before it in that environment") if earlier is not None else (None, "no deploy before it is recorded")
            )
        if each.deploy.environment == one.environment:
            earlier = each.deploy.sha
    return None, "no deploy before it is recorded"


def blame(by: Keeper, deploy: str, incident: str) -> bool:
    """Enter that an incident came with a deploy; whether that is new. Raises ``NotFoundError`` for a deploy that is not recorded."""
    book = by.book()
    if deploy not in {one.deploy.id for one in deployed(book)}:
        raise NotFoundError(f"no deploy {deploy} is recorded; tacho deploy ls shows which are")
    if by.masked(incident) != incident:
        raise UsageError("the incident holds what looks like a secret; write it without")
    if any(name == deploy for name, _ in of_incident(book, incident)):
        return False
    by.enter(by.entry("linked", None, detail={"kind": "incident", "ref": incident, "deploy": deploy}), None)
    return True


def clear(by: Keeper, deploy: str, incident: str, reason: str) -> None:
    """Take that back by a further entry. Raises ``ConflictError`` where it was not said."""
    if not any(name == deploy for name, _ in of_incident(by.book(), incident)):
        raise ConflictError(f"{deploy} is not tied to {incident}; tacho trace {incident} shows what is")
    by.enter(by.entry("unlinked", None, detail={"kind": "incident", "ref": incident, "deploy": deploy}), reason)


def of_incident(book: Book, incident: str) -> list[tuple[str, Entry]]:
    """The deploys that an incident is tied to, with the entries that say so."""
    found: dict[str, Entry] = {}
    for entry in book.entries:
        event = entry_of(entry)
        deploy = event.detail.get("deploy")
        if event.subject is None and event.action in ("linked", "unlinked") and deploy is not None and event.detail.get("ref") == incident:
            if event.action == "linked":
                found.setdefault(str(deploy), entry)
            else:
                found.pop(str(deploy), None)
    return list(found.items())


def _sha(value: Any) -> bool:
    return isinstance(value, str) and bool(_HEX.match(value))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _time(value: Any) -> str | None:
    """As the log writes times; None where it is none."""
    return time_of(value) if isinstance(value, str) else None


def time_of(value: str) -> str | None:
    """ISO 8601 with an offset, in UTC; None for what is none. With milliseconds where there are any: a deploy comes after what was done in its second."""
    try:
        found = datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d{1,12}", r"\1", value))
    except ValueError:
        return None
    if found.tzinfo is None:
        return None
    found = found.astimezone(datetime.UTC)
    parts = f".{found.microsecond // 1000:03}" if found.microsecond >= 1000 else ""
    return found.strftime(f"%Y-%m-%dT%H:%M:%S{parts}Z")
