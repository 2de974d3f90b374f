"""Questions to a server over HTTP, with the standard library: bounded in time, size and number, and with no place for a token to leak.

A redirect is an error: it could lead a token elsewhere. A token goes over TLS, or stays on this machine. Errors name the server and say what it
answered in a number, and never repeat a header or a body.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tachograph.core.errors import SignalError
from tachograph.core.signals import Budget

#: Bytes of one answer.
LARGEST = 8 << 20
#: Seconds in which a server must say something.
SILENCE = 15.0
#: Seconds of a wait that a server may ask for, and how often.
_LONGEST_WAIT, _TRIES = 10.0, 3
_AGAIN = (429, 502, 503, 504)


class UnreachableError(SignalError):
    """The server is not there: another question would wait as long."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Server:
    """``base``: its address, without a query. ``secret``: headers that only a server that is who it says gets to see."""

    def __init__(self, base: str, budget: Budget, *, headers: Mapping[str, str], secret: Mapping[str, str]) -> None:
        parts = urlsplit(base)
        self.name = parts.netloc.rpartition("@")[2]
        self._base = base.rstrip("/")
        self._budget = budget
        self._headers = {"Accept": "application/json", "User-Agent": "tachograph", **headers, **secret}
        if secret and parts.scheme != "https" and not local(parts.hostname or ""):
            raise SignalError(f"a token would go to {self.name} in the clear; use its https address")
        # On this machine no proxy is asked: that could see what stays here.
        proxies = [urllib.request.ProxyHandler({})] if local(parts.hostname or "") else []
        self._opener = urllib.request.build_opener(_NoRedirect, *proxies)

    def get(self, path: str) -> Any:
        """The JSON that the server answers. Raises ``SignalError``."""
        request = urllib.request.Request(self._base + path, headers=self._headers)  # noqa: S310 -- http and https only, see the readers
        for turn in range(_TRIES):
            try:
                with self._opener.open(request, timeout=self._patience()) as answer:
                    return self._json(self._body(answer))
            except urllib.error.HTTPError as error:
                with error:
                    wait = _seconds(error.headers.get("Retry-After"), turn)
                    if error.code in _AGAIN and turn + 1 < _TRIES and wait <= _LONGEST_WAIT and self._budget.wait(wait):
                        continue
                    raise SignalError(self._refused(error.code)) from None
            except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
                raise UnreachableError(f"{self.name} cannot be reached, {_why(error)}; check the address and the network") from None
        raise SignalError(f"{self.name} has no time for this; try again later")

    def _patience(self) -> float:
        left = self._budget.left
        if not left:
            raise SignalError(f"{self.name} did not answer within {self._budget.seconds:.0f} s; ask for less, or a shorter --window")
        return min(SILENCE, left)

    def _body(self, answer: http.client.HTTPResponse) -> bytes:
        pieces, size = [], 0
        while piece := answer.read1(1 << 16):
            size += len(piece)
            if size > LARGEST:
                raise SignalError(f"{self.name} answered more than {LARGEST >> 20} MiB; ask for less, or a shorter --window")
            pieces.append(piece)
            self._patience()
        return b"".join(pieces)

    def _json(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise SignalError(f"what {self.name} answered is no JSON; check the address") from None

    def _refused(self, code: int) -> str:
        if code in (401, 403):
            return f"{self.name} refused (HTTP {code}); check the token and what it may read"
        if 300 <= code < 400:
            return f"{self.name} leads elsewhere (HTTP {code}), which is not followed; name the address itself"
        return f"{self.name} answered with HTTP {code}; " + (
            "try again later" if code >= 500 or code == 429 else "check what was asked for"
        )


def local(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _seconds(said: str | None, turn: int) -> float:
    return float(said) if said is not None and said.isascii() and said.isdigit() and len(said) < 6 else 0.5 * 2**turn


def _why(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not good ({reason.verify_message})"
    if isinstance(reason, TimeoutError):
        return "it is silent"
    if isinstance(reason, OSError):
        return (reason.strerror or type(reason).__name__).lower()
    return f"it speaks no HTTP ({type(reason).__name__})"
