"""A loopback server that answers as the APIs of GitHub and GitLab do about the comments of a pull request: pages, tokens, limits, errors."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "token-of-the-test"


@dataclass
class Forge:
    """``comments``: id → body. ``fails``: answers to give before the right ones, each (status, headers, body); None: hang up. ``foreign``: ids of comments
    that the token may not change."""

    platform: str
    page: int = 2
    comments: dict[int, str] = field(default_factory=dict)
    fails: list[tuple[int, dict[str, str], Any] | None] = field(default_factory=list)
    foreign: set[int] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)
    next_url: str | None = None
    redirect: str | None = None

    def __enter__(self) -> Forge:
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                return

            def do(self) -> None:
                forge._answer(self)

            do_GET = do_POST = do_PATCH = do_PUT = do

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}" + ("/api/v4" if self.platform == "gitlab" else "")

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        length = int(http.headers.get("Content-Length") or 0)
        document = json.loads(http.rfile.read(length)) if length else None
        self.asked.append((http.command, http.path))
        if self.fails:
            failure = self.fails.pop(0)
            if failure is None:
                http.connection.close()
                return
            self._send(http, *failure)
            return
        if self.redirect:
            self._send(http, 301, {"Location": self.redirect}, {"message": "Moved Permanently"})
            return
        given = (
            http.headers.get("Authorization") == f"Bearer {TOKEN}"
            if self.platform == "github"
            else http.headers.get("PRIVATE-TOKEN") == TOKEN
        )
        if not given:
            self._send(http, 401, {}, {"message": "Bad credentials" if self.platform == "github" else "401 Unauthorized"})
            return
        parts = urlsplit(http.path)
        root = "/repos/acme/shop/issues/7/comments" if self.platform == "github" else "/api/v4/projects/acme%2Fshop/merge_requests/7/notes"
        one = "/repos/acme/shop/issues/comments/" if self.platform == "github" else root + "/"
        method = {"github": "PATCH", "gitlab": "PUT"}[self.platform]
        if parts.path == root and http.command == "GET":
            self._list(http, parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()})
        elif parts.path == root and http.command == "POST":
            number = max(self.comments, default=0) + 1
            self.comments[number] = document["body"]
            self._send(http, 201, {}, self._one(number))
        elif http.command == method and parts.path.startswith(one) and int(unquote(parts.path.rpartition("/")[2])) in self.comments:
            number = int(parts.path.rpartition("/")[2])
            if number in self.foreign:
                self._send(http, 403, {}, {"message": "Resource not accessible by integration"})
                return
            self.comments[number] = document["body"]
            self._send(http, 200, {}, self._one(number))
        else:
            self._send(http, 404, {}, {"message": "Not Found" if self.platform == "github" else "404 Project Not Found"})

    def _list(self, http: BaseHTTPRequestHandler, path: str, query: dict[str, str]) -> None:
        page = int(query.get("page", "1"))
        numbers = sorted(self.comments)
        shown = numbers[(page - 1) * self.page : page * self.page]
        more = page * self.page < len(numbers)
        headers = {}
        if more and self.platform == "github":
            headers["Link"] = (
                f'<{self.next_url or self.url + path}?per_page=100&page={page + 1}>; rel="next", <{self.url}{path}?page=9>; rel="last"'
            )
        elif more:
            headers["X-Next-Page"] = str(page + 1)
        self._send(http, 200, headers, [self._one(number) for number in shown])

    def _one(self, number: int) -> dict[str, Any]:
        return {
            "id": number,
            "body": self.comments[number],
            **({"html_url": f"https://example.org/{number}"} if self.platform == "github" else {}),
        }

    @staticmethod
    def _send(http: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: Any) -> None:
        data = json.dumps(body).encode()
        http.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(data)
