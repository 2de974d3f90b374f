"""One comment on a pull or merge request, through the platform's REST API: put there once, and brought up to date from then on.

The comment is known by a mark in it that nobody sees. The token goes to the API's own origin and nowhere else: no redirect is followed, and a next
page that lies elsewhere is refused.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from tachograph.core.errors import StoreError, UsageError

Platform = Literal["github", "gitlab"]

MARK = "<!-- tachograph: what the recorded sessions of this change did -->"
#: Characters of a comment that each platform takes.
LONGEST: dict[Platform, int] = {"github": 65_000, "gitlab": 900_000}
#: Seconds: of one request; that a rate limit is waited for, in all.
TIMEOUT = 30.0
PATIENCE = 120.0
#: Tries of a request that the platform could not answer, and pages of comments that are looked at.
TRIES = 4
PAGES = 200
#: Bytes of an answer.
LIMIT = 32 << 20
_NEXT = re.compile(r'<([^<>]{1,2000})>;[^,]{0,200}rel="?next"?')


@dataclass(frozen=True)
class Pull:
    """A pull or merge request. ``api``: the root of the platform's API."""

    platform: Platform
    api: str
    project: str
    number: int

    @property
    def comments(self) -> str:
        """Where its comments are, below the API's root."""
        if self.platform == "github":
            return f"/repos/{self.project}/issues/{self.number}/comments"
        return f"/projects/{quote(self.project, safe='')}/merge_requests/{self.number}/notes"

    def comment(self, number: int) -> str:
        """Where one of them is."""
        return f"/repos/{self.project}/issues/comments/{number}" if self.platform == "github" else f"{self.comments}/{number}"


@dataclass(frozen=True)
class Put:
    """``what``: ``added``, ``updated`` or ``unchanged``."""

    what: str
    url: str | None


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: Any


def pull_of(ref: str, *, platform: str | None, api: str | None) -> Pull:
    """The pull request of a reference in its kept form (``host/owner/repo#7``). Raises ``UsageError``."""
    where, _, number = ref.rpartition("#")
    host, _, project = where.partition("/")
    if not number.isdigit() or not project or ("." not in host and host != "localhost"):
        raise UsageError(f"on which platform is {ref}; write the URL of the pull request")
    kind: Platform = "gitlab" if platform == "gitlab" or (platform is None and "gitlab" in host) else "github"
    root = (
        api
        or {"github": "https://api.github.com" if host == "github.com" else f"https://{host}/api/v3", "gitlab": f"https://{host}/api/v4"}[
            kind
        ]
    )
    parts = urlsplit(root)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"not the URL of an API, {root[:80]}; write it as https://HOST/api/v4")
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(f"the token would cross the network in the clear, {root[:80]}; use https")
    return Pull(kind, root.rstrip("/"), project, int(number))


class Client:
    """Speaks to one platform. ``pause`` waits; ``now`` is Unix time, in seconds."""

    def __init__(
        self,
        pull: Pull,
        token: str,
        *,
        pause: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        job: bool = False,
    ) -> None:
        """``job``: the token is a CI job's (GitLab)."""
        self._pull = pull
        self._pause = pause
        self._now = now
        self._waited = 0.0
        name = "JOB-TOKEN" if job else "PRIVATE-TOKEN"
        own = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        self._headers = {
            "User-Agent": "tachograph",
            "Content-Type": "application/json",
            **(own if pull.platform == "github" else {name: token}),
        }

    def put(self, text: str) -> Put:
        """Make this the comment of ours: the one that is there is changed, and one added only where there is none."""
        body = f"{MARK}\n{text}"
        for found in self._ours():
            if str(found.get("body", "")).replace("\r\n", "\n").strip() == body.strip():
                return Put("unchanged", found.get("html_url"))
            method = "PATCH" if self._pull.platform == "github" else "PUT"
            answer = self._ask(method, self._pull.comment(int(found["id"])), {"body": body}, fine=(403, 404))
            if answer.status < 300:
                return Put("updated", answer.body.get("html_url") if isinstance(answer.body, dict) else None)
            # Somebody else's, who put our mark into it, or gone meanwhile: the next one, or one of our own.
        answer = self._ask("POST", self._pull.comments, {"body": body})
        return Put("added", answer.body.get("html_url") if isinstance(answer.body, dict) else None)

    def _ours(self) -> list[dict[str, Any]]:
        """The comments with our mark, oldest first, from all pages."""
        found: list[dict[str, Any]] = []
        order = "" if self._pull.platform == "github" else "&order_by=created_at&sort=asc"
        path: str | None = f"{self._pull.comments}?per_page=100{order}"
        for _ in range(PAGES):
            if path is None:
                break
            answer = self._ask("GET", path)
            for one in answer.body if isinstance(answer.body, list) else ():
                if isinstance(one, dict) and isinstance(one.get("id"), int) and MARK in str(one.get("body", "")):
                    found.append(one)
            path = self._next(answer)
        return found

    def _next(self, answer: _Answer) -> str | None:
        match = _NEXT.search(answer.headers.get("link", ""))
        if match is None:
            page = answer.headers.get("x-next-page", "")
            return f"{self._pull.comments}?per_page=100&page={page}&order_by=created_at&sort=asc" if page.isdigit() else None
        if not match[1].startswith(self._pull.api + "/"):
            raise StoreError(
                f"the next page of comments is not below {self._pull.api}, and the token goes nowhere else; name the API with --api"
            )
        return match[1].removeprefix(self._pull.api)

    # -- one request -------------------------------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, document: Any = None, fine: tuple[int, ...] = ()) -> _Answer:
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                answer = self._send(method, path, document)
            except (OSError, http.client.HTTPException) as error:
                # What was sent may have arrived: a comment that is added again would be a second one.
                if last or method == "POST":
                    raise StoreError(f"cannot reach {self._pull.api}, {error or type(error).__name__}; try again") from None
                self._wait(2.0**attempt)
                continue
            limited = self._limited(answer)
            if limited is not None and not last:
                self._wait(limited)
                continue
            if answer.status >= 500 and not last and method != "POST":
                self._wait(2.0**attempt)
                continue
            if answer.status < 300 or answer.status in fine:
                return answer
            raise StoreError(self._why(method, answer, limited is not None))
        raise AssertionError

    def _send(self, method: str, path: str, document: Any) -> _Answer:
        parts = urlsplit(self._pull.api + path)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        try:
            connection.request(
                method,
                parts.path + (f"?{parts.query}" if parts.query else ""),
                json.dumps(document).encode() if document is not None else None,
                self._headers,
            )
            answer = connection.getresponse()
            data = answer.read(LIMIT)
        finally:
            connection.close()
        try:
            body = json.loads(data) if data else None
        except ValueError:
            body = None
        return _Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)

    def _limited(self, answer: _Answer) -> float | None:
        """Seconds to wait, where the platform says that we ask too much."""
        headers = answer.headers
        spent = headers.get("x-ratelimit-remaining") == "0" or headers.get("ratelimit-remaining") == "0"
        said = isinstance(answer.body, dict) and "rate limit" in str(answer.body.get("message", "")).lower()
        if answer.status != 429 and not (answer.status == 403 and (spent or said or "retry-after" in headers)):
            return None
        if headers.get("retry-after", "").isdigit():
            return float(headers["retry-after"])
        reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
        return max(1.0, float(reset) - self._now()) if reset.isdigit() else 60.0

    def _wait(self, seconds: float) -> None:
        self._waited += seconds
        if self._waited > PATIENCE:
            raise StoreError(f"{self._pull.api} asks to wait for {seconds:.0f} s; try again then")
        self._pause(seconds)

    def _why(self, method: str, answer: _Answer, limited: bool) -> str:
        said = answer.body.get("message") or answer.body.get("error") if isinstance(answer.body, dict) else None
        words = " ".join(str(said or "no reason given").split())[:200]
        what = f"{self._pull.project}#{self._pull.number}"
        if limited:
            return f"the rate limit of {self._pull.api} is used up ({words}); try again later"
        if answer.status in (301, 302, 307, 308):
            return f"{self._pull.api} sends elsewhere for {what}, and the token goes nowhere else; was the repository renamed? Name it as it is called now"
        if answer.status == 401:
            return f"{self._pull.api} does not take the token ({words}); is it the right platform's, and still valid?"
        if answer.status == 403:
            need = "permissions: pull-requests: write" if self._pull.platform == "github" else "the scope api and the role Reporter or more"
            return f"the token may not comment on {what} ({words}); it needs {need}"
        if answer.status == 404:
            return f"{self._pull.api} knows no {what} for this token ({words}); check the reference, and that the token sees the repository"
        return f"{self._pull.api} answers {answer.status} to {method} for {what}: {words}; try again"
