"""Secrets in addresses: ``scheme://user:password@host`` and ``?api_key=…&sig=…``.

Also the value of ``-u user:password`` and of short flags of programs that take a password there (``mysql -p…``, ``sshpass -p …``), because
they are the same idea: who I am, in one word.
"""

from __future__ import annotations

import re

from tachograph.redact import shapes
from tachograph.redact.names import Named, Strength, named
from tachograph.redact.spans import Found

_USERINFO = re.compile(r"://([^\s/?#\"'`<>@\\:,;(){}\[\]|]{0,128})(?::([^\s\"'`<>\\]{1,512}?))?@(?=[\w\[${.-])")
_QUERY = re.compile(r"[?&;#]([A-Za-z][\w.\[\]%-]{0,63})=([^\s&#\"'`<>\\;]{4,4096})")

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

_EXAMPLE_USERS = frozenset(("user", "username", "usr", "name", "login", "foo", "me"))
_EXAMPLE_PASSWORDS = frozenset(("password", "pass", "passwd", "pwd", "pw", "bar"))

#: Up to the flag on the same command; then the flag's value, in quotes or not.
_BEFORE = r"[\w.-]{0,20}\b[^\n|;&]{0,1000}?\s"
_WORD = r"['\"]?([^\s'\"]{4,255})"

#: After the name of a program that takes user and password in one word.
_USER = (
    r"[\w.-]{0,20}\b[^\n]{0,1000}?\s(?:-u|--user|--proxy-user|-U)[ =]?"
    r"(?:\"[^\"\n]{1,128}?:([^\"\n]{1,256})\"|'[^'\n]{1,128}?:([^'\n]{1,256})'"
    r"|[^\s\"':]{1,128}:(?:\"([^\"\n]{1,256})\"|'([^'\n]{1,256})'|([^\s\"']{1,256})))"
)

#: Programs, and what comes after their names when they are given a password.
_PROGRAMS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (programs, re.compile(rest if rest is _USER else _BEFORE + rest, re.ASCII))
    for programs, rest in (
        (("mysql", "mariadb", "mycli"), r"-p(?=[^\s-])" + _WORD),
        (("sshpass",), r"-p ?" + _WORD),
        (
            (
                "docker login",
                "podman login",
                "nerdctl login",
                "buildah login",
                "skopeo login",
                "registry login",
                "oc login",
                "az login",
                "smbmap",
            ),
            r"-[pP]\s+" + _WORD,
        ),
        (("mongo", "psexec", "PsExec", "mosquitto_", "crackmapexec"), r"-[pP]\s+" + _WORD),
        (("redis-cli",), r"-a\s+" + _WORD),
        (("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"), r"-w\s+" + _WORD),
        (("zip",), r"-P\s+" + _WORD),
        (("7z",), r"-p" + _WORD),
        (("htpasswd",), r"-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+" + _WORD),
        (("curl", "wget", "smbclient", "rclone"), _USER),
        (("openssl",), r"-pass(?:in|out)?\s+pass:([^\s'\"<]{4,255})"),
    )
)


_NAMES = re.compile("|".join(re.escape(program) for programs, _ in _PROGRAMS for program in programs))

#: Characters between a program's name and its flag.
_COMMAND = 1000

#: A short flag that one of these programs takes. Without one there is nothing to look for.
_SHORT = re.compile(r" -(?:[puawPUbc]|-user|-proxy-user)")


def find(text: str) -> list[Found]:
    """Secrets in addresses anywhere in a text."""
    out: list[Found] = []
    if "://" in text:
        at = text.find("://")
        while at >= 0:
            match = _USERINFO.match(text, at)
            if match is not None:
                found = _userinfo(match)
                if found is not None:
                    out.append(found)
            at = text.find("://", at + 3)
    if "?" in text or "&" in text or "#access_token=" in text:
        for match in _QUERY.finditer(text):
            found = _parameter(match)
            if found is not None:
                out.append(found)
    return out


def _userinfo(match: re.Match[str]) -> Found | None:
    user, password = match.group(1), match.group(2)
    if password is None:
        # https://<token>@host
        return Found(*match.span(1), "token", "url-userinfo") if shapes.random(user, 20) else None
    if len(password) < 3:
        return None
    if "/" in password and ("?" in password or " " in password):
        return None
    if (shapes.hollow(password) and not password.isalpha()) or password.startswith(("$", "{", "<", "%s", "[", "*")):
        return None
    if user.lower() in _EXAMPLE_USERS and password.lower() in _EXAMPLE_PASSWORDS:
        return None  # user:password@host in an explanation
    if user == password and len(user) < 12:
        return None  # guest:guest is on every page of the manual
    if password.isdigit() and len(password) < 6:
        return None
    return Found(*match.span(2), "password", "url-userinfo")


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


def commands(text: str) -> list[Found]:
    """Passwords behind the short flags of well-known programs."""
    out: dict[tuple[int, int], Found] = {}
    for flag in _SHORT.finditer(text):
        far = max(0, flag.start() - _COMMAND)
        begin = max(far, text.rfind("\n", far, flag.start()) + 1)
        if _NAMES.search(text, begin, flag.start()) is None:
            continue
        for programs, pattern in _PROGRAMS:
            for program in programs:
                at = text.rfind(program, begin, flag.start())
                if at >= 0 and not text[at - 1 : at].isalnum():
                    found = _password(pattern.match(text, at + len(program)))
                    if found is not None:
                        out[found.start, found.end] = found
    return list(out.values())


def _password(match: re.Match[str] | None) -> Found | None:
    if match is None or match.lastindex is None:
        return None
    password = match.group(match.lastindex)
    if password.startswith(("$", "//", "-", "{")) or shapes.hollow(password) or shapes.harmless(password, quoted=True):
        return None
    return Found(*match.span(match.lastindex), "password", "command-flag")
