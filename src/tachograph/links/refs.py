"""References as people write them, in the one form in which the ledger keeps them. Pure: what git knows is handed in.

| kind       | written                                                        | kept                              |
|------------|----------------------------------------------------------------|-----------------------------------|
| `commit`   | any name that git resolves, or a full id                       | 40 or 64 hexadecimal digits       |
| `pr`       | the URL of a pull or merge request, `owner/repo#7`, `#7`, `7`  | `host/owner/repo#7`               |
| `deploy`   | as your platform names it: an id, a URL                        | as written                        |
| `incident` | as your tracker numbers it: `INC-7`                            | as written                        |
| `ci`       | the build's URL or id                                          | as written                        |

A reference that cannot be right is refused, and never guessed: a link that points nowhere is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tachograph.core.errors import UsageError

KINDS = ("commit", "pr", "deploy", "incident", "ci")
#: Characters.
LONGEST = 300
_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_SHORT = re.compile(r"[0-9a-f]{7,64}\Z")
_PATH = r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+"
_URL = re.compile(rf"/({_PATH}?)/(?:-/)?(?:pull|pulls|pull-requests|merge_requests)/([1-9][0-9]{{0,9}})(?:/.*)?\Z")
_NUMBERED = re.compile(rf"({_PATH})[#!]([1-9][0-9]{{0,9}})\Z")
_NUMBER = re.compile(r"[#!]?([1-9][0-9]{0,9})\Z")
_PRINTABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?\Z")


@dataclass(frozen=True)
class Ref:
    """A reference in its kept form."""

    kind: str
    ref: str

    def __str__(self) -> str:
        return f"{self.kind}={self.ref}"


@dataclass(frozen=True)
class Place:
    """Where somebody stands. ``commit`` resolves a name to a full id, None where there is no such commit or no repository; ``remote`` is the
    repository's URL, None where it has none."""

    commit: Callable[[str], str | None]
    remote: str | None


NOWHERE = Place(lambda _: None, None)


def parse(text: str, place: Place = NOWHERE) -> Ref:
    """``KIND=REF``. Raises ``UsageError``."""
    kind, equals, ref = text.partition("=")
    if kind not in KINDS or not equals:
        raise UsageError(f"not a link, {text[:60]!r}; write KIND=REF with KIND one of {', '.join(KINDS)}")
    return Ref(kind, keep(kind, ref.strip(), place))


def keep(kind: str, ref: str, place: Place = NOWHERE) -> str:
    """A reference of that kind in its kept form. Raises ``UsageError``."""
    if not _PRINTABLE.match(ref) or len(ref) > LONGEST:
        raise UsageError(f"{ref[:60]!r} cannot be the {kind} of a link; up to {LONGEST} printable characters")
    if kind == "commit":
        found = place.commit(ref) or (ref.lower() if _SHA.match(ref.lower()) else None)
        if found is None:
            raise UsageError(f"no commit {ref[:70]!r} in the repository here; write its full id, or say it in the repository")
        return found
    return _pull(ref, place) if kind == "pr" else ref


def matches(found: Ref, asked: str) -> bool:
    """Whether somebody who asks for this means that one: the reference itself, with its kind or without, a commit by its first seven digits
    or more, a pull request by its URL, or without the host, or by its number with ``#``."""
    kind, equals, rest = asked.partition("=")
    if equals and kind in KINDS:
        if kind != found.kind:
            return False
        asked = rest
    if asked == found.ref:
        return True
    if found.kind == "commit":
        return bool(_SHORT.match(asked.lower())) and found.ref.startswith(asked.lower())
    if found.kind == "pr":
        wanted = _from_url(asked) or asked.replace("!", "#")
        return found.ref == wanted or found.ref.endswith(("/" + wanted) if not wanted.startswith("#") else wanted)
    return False


def repository(remote: str | None) -> str | None:
    """``host/owner/repo`` of a remote's URL, as git writes them (URL or ``host:path``); None for a path on this machine."""
    if not remote:
        return None
    if "://" in remote:
        parts = urlsplit(remote)
        host, path = parts.hostname or "", parts.path
    else:
        host, _, path = remote.partition(":")
        host = host.rpartition("@")[2]
    path = path.strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host and re.fullmatch(_PATH, path) and "/" not in host else None


def _pull(ref: str, place: Place) -> str:
    if (found := _from_url(ref)) is not None:
        return found
    here = repository(place.remote)
    if (match := _NUMBERED.match(ref)) is not None:
        named, number = match.groups()
        if here is not None and named.count("/") == 1:
            named = f"{here.partition('/')[0]}/{named}"
        return f"{named}#{number}"
    if (match := _NUMBER.match(ref)) is not None and here is not None:
        return f"{here}#{match[1]}"
    raise UsageError(f"not a pull request, {ref[:60]!r}; write its URL, owner/repo#7, or #7 in a repository with a remote")


def _from_url(ref: str) -> str | None:
    if not ref.startswith(("https://", "http://")):
        return None
    parts = urlsplit(ref)
    match = _URL.match(parts.path)
    return f"{(parts.hostname or '').lower()}/{match[1]}#{match[2]}" if match is not None and parts.hostname else None
