"""Which deploys of the ledger carried what a session committed, and what was deployed there afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tachograph.log.book import Book

from .deploys import Deploy, deployed
from .git import Repository

#: Deploys that git is asked about, and later ones of the same environment that are told.
_MOST_ASKED, _MOST_LATER = 200, 20


@dataclass(frozen=True)
class Shipped:
    """A deploy, when it was (ISO 8601), and what it is to the session, in words. ``later``: one after it, which may have taken it back."""

    deploy: Deploy
    at: str
    how: str
    later: bool = False


def shipped(book: Book, commits: Iterable[str], refs: Iterable[str], repository: Repository | None) -> list[Shipped]:
    """For each environment the first deploy with one of these commits in it (or one that is among ``refs``, as ``deploy=ID``), and those after it.
    Without a repository only a deploy of the very commit is known."""
    wanted, named = list(dict.fromkeys(commits)), {ref.removeprefix("deploy=") for ref in refs if ref.startswith("deploy=")}
    found: list[Shipped] = []
    since: dict[str | None, int] = {}
    asked = 0
    for one in deployed(book):
        deploy, at = one.deploy, one.deploy.at or one.entry.ts
        place = deploy.environment
        if place in since:
            since[place] += 1
            if since[place] <= _MOST_LATER:
                back = any(each.deploy.sha == deploy.sha for each in found if each.deploy.environment == place)
                found.append(Shipped(deploy, at, "the same commit again" if back else "deployed after it", later=True))
            continue
        how = "the session is linked to it" if deploy.id in named else None
        for sha in wanted if how is None else ():
            if deploy.sha.startswith(sha) or sha.startswith(deploy.sha):
                how = f"it put the commit {sha[:12]} there"
            elif repository is not None and asked < _MOST_ASKED:
                asked += 1
                inside = repository.ask("merge-base", "--is-ancestor", sha, deploy.sha) is not None
                how = f"the commit {sha[:12]} is in it" if inside else None
            if how is not None:
                break
        if how is not None:
            since[place] = 0
            found.append(Shipped(deploy, at, how))
    return found
