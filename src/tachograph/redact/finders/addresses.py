"""Secrets in addresses: ``scheme://user:password@host``, ``?api_key=…&sig=…``, ``user:password@tcp(host)``, ``thin:user/password@host``.

The password of a userinfo goes, also one with characters in it that it should not have (``@``, ``/``, ``#``); the user name goes with it where
it is itself random (a pair of keys, a token before ``:x-oauth-basic``). Host, port and database stay: they are evidence, not secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tachograph.redact import shapes
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named, Strength, named
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

_RUN = expression(r"[^\s\"'`<>\\]{1,1000}")
_END_OF_AUTHORITY = expression(r"[/?#]")
_USER = expression(r"[^\s/?#,;()\[\]|]{0,128}\Z")
_HOST = expression(r"[\w\[${.%-]")
_HEX_USER = expression(r"(?=\d*[a-fA-F])[0-9a-fA-F]{8,128}\Z")
_PORT = expression(r"\d{1,5}(?:[/?#]|\Z)")
_GO_DSN = expression(r"(?<![\w/])[\w.$-]{1,64}:([^\s\"'`/]{3,256})@(?:tcp|unix)\(")
_THIN = expression(r":thin:[^\s/@\"']{1,64}/([^\s@\"'`]{3,128})@")

_EXAMPLE_HOST = expression(
    r"(?:[\w.-]*\bexample\b[\w.-]*|[\w-]{1,63}|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|[\w.-]+\.(?:test|invalid|localhost))(?:[:/?#]|\Z)",
    re.IGNORECASE,
)
_QUERY = expression(r"[?&;#]([A-Za-z][\w.\[\]%-]{0,63})=([^\s&#\"'`<>\\;]{4,4096})")

#: Names of query parameters that are too short or too common to count anywhere else.
_PARAMETERS = {
    **dict.fromkeys(
        (
            "key",
            "sig",
            "signature",
            "x-amz-signature",
            "x-goog-signature",
            "access_sig",
            "hmac",
            "hdnea",
            "hdnts",
            "auth",
            "token",
            "code",
            "ticket",
        ),
        "signature",
    ),
    **dict.fromkeys(("x-amz-credential", "x-goog-credential", "x-amz-security-token", "credential", "googleaccessid"), "token"),
    **dict.fromkeys(("pwd", "pw", "pass"), "password"),
}

EXAMPLE_USERS = frozenset(("user", "username", "usr", "name", "login", "foo", "me", "myuser", "myusername", "your-username", "xxx"))
EXAMPLE_PASSWORDS = frozenset(("password", "pass", "passwd", "pwd", "pw", "bar", "passphrase", "yyy", "mypassword", "token", "apikey"))


#: What must be in a text for ``find``.
TRIGGERS = (
    Trigger(("://",), r"://[^\s\"'`<>\\]{1,1000}@"),
    Trigger(("?", "&", "#access_token="), _QUERY.pattern),
    Trigger(("@tcp(", "@unix("), _GO_DSN.pattern),
    Trigger((":thin:",), _THIN.pattern),
)


def find(text: str) -> list[Found]:
    """Secrets in addresses anywhere in a text."""
    out: list[Found] = []
    at = text.find("://")
    while at >= 0:
        run = _RUN.match(text, at + 3)
        if run is not None and "@" in run.group():
            out += _credentials(run)
        at = text.find("://", at + 3)
    if "?" in text or "&" in text or "#access_token=" in text:
        for match in _QUERY.finditer(text):
            found = _parameter(match)
            if found is not None:
                out.append(found)
    if "@tcp(" in text or "@unix(" in text:
        out += _plain(_GO_DSN, text)
    if ":thin:" in text:
        out += _plain(_THIN, text)
    return out


def _plain(pattern: re.Pattern[str], text: str) -> Iterator[Found]:
    for match in pattern.finditer(text):
        password = match.group(1)
        if not shapes.hollow(password) or password.isalpha():
            yield Found(*match.span(1), "password", "url-userinfo")


def _credentials(run: re.Match[str]) -> Iterator[Found]:
    """Of what follows ``://``: one pair, or one per host of a list."""
    text = run.group()
    end = _END_OF_AUTHORITY.search(text)
    authority = text[: end.start()] if end else text
    if "@" not in authority:
        found = _unescaped(text, authority, run.start())
        if found is not None:
            yield found
        return
    pieces = authority.split(",")
    if not all("@" in piece for piece in pieces[:-1]) or len(pieces) == 1:
        pieces = [authority] if authority.count("@") == 1 or "," not in authority else [authority[: _first_host(authority)]]
    at = 0
    for piece in pieces:
        cut = piece.rfind("@")
        if cut > 0 and _HOST.match(piece, cut + 1):
            found = _userinfo(piece[:cut], text[at + cut + 1 :], run.start() + at)
            if found is not None:
                yield found
        at += len(piece) + 1


def _first_host(authority: str) -> int:
    """Where the first host ends, in an authority in which a comma precedes another ``@``."""
    comma = authority.find(",", authority.find("@"))
    return comma if comma >= 0 else len(authority)


def _unescaped(text: str, authority: str, at: int) -> Found | None:
    """A password that holds a ``/``, ``?`` or ``#`` which should have been escaped."""
    user, colon, _ = authority.partition(":")
    cut = text.find("@", len(authority))
    password = text[len(user) + 1 : cut]
    if (
        not colon
        or _PORT.match(password)
        or not 6 <= len(password) <= 128
        or "?" in password
        or not _HOST.match(text, cut + 1)
        or not shapes.password_like(password)
    ):
        return None
    return _userinfo(text[:cut], text[cut + 1 :], at)


def _userinfo(userinfo: str, host: str, at: int) -> Found | None:
    """``at`` is where it begins in the text."""
    user, colon, password = userinfo.partition(":")
    if _USER.match(user) is None:
        return None
    end = at + len(userinfo)
    if not password:
        # https://<token>@host, https://<token>:@host
        return Found(at, at + len(user), "token", "url-userinfo") if shapes.random(user, 16 if colon else 20) else None
    if len(password) < 3:
        return None
    if (
        len(set(password)) == 1
        or (shapes.hollow(password) and not password.isalpha())
        or password.startswith(("$", "{", "<", "%s", "[", "*"))
    ):
        return None
    stand_in = (user.lower() in EXAMPLE_USERS and password.lower() in EXAMPLE_PASSWORDS) or (password.isalpha() and len(password) < 4)
    if stand_in and _EXAMPLE_HOST.match(host):
        return None  # user:password@host in an explanation
    if user == password and len(user) < 12:
        return None  # guest:guest is on every page of the manual
    if password.isdigit() and len(password) < 6:
        return None
    both = _HEX_USER.match(user) or shapes.random(user, 16)
    return Found(at if both else end - len(password), end, "password", "url-userinfo")


def _parameter(match: re.Match[str]) -> Found | None:
    name, value = match.group(1), match.group(2)
    kind = _PARAMETERS.get(name.lower())
    if kind is None:
        said = named(name)
    elif kind == "password":
        said = Named(Strength.STRICT, kind)
    else:
        said = Named(Strength.LIKELY, kind)
        if name.lower() in ("code", "ticket") and not shapes.random(value, 20):
            return None
    if said.strength is Strength.NONE or not shapes.secret(value, said, quoted=True):
        return None
    return Found(*match.span(2), said.kind, f"url-query:{name[:64]}")
