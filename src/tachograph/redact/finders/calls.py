"""Secrets as arguments of well-known calls: ``NetworkCredential("user", "…")``, ``HTTPBasicAuth``, ``setopt(c, CURLOPT_USERPWD, "…")``.

The name of the callee says which of its arguments is a password or a key; only a literal is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tachograph.redact import shapes
from tachograph.redact.finders.addresses import EXAMPLE_PASSWORDS
from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

#: Callees, and the number of the argument that is secret, from 0.
CALLEES: dict[str, int] = {
    **dict.fromkeys(("AzureKeyCredential", "SecureString", "NewTokenCredential"), 0),
    **dict.fromkeys(
        (
            "NetworkCredential",
            "HTTPBasicAuth",
            "HTTPDigestAuth",
            "HTTPProxyAuth",
            "BasicAuth",
            "basicAuth",
            "basic_auth",
            "setBasicAuth",
            "SetBasicAuth",
            "set_basic_auth",
            "Credentials.basic",
            "UsernamePasswordCredentials",
            "UsernamePasswordToken",
            "UsernamePasswordAuthenticationToken",
            "PasswordAuthentication",
            "PasswordCredential",
            "BasicAWSCredentials",
            "AwsBasicCredentials.create",
            "NewStaticCredentials",
            "NewStaticCredentialsProvider",
            "AzureNamedKeyCredential",
            "StorageSharedKeyCredential",
            "NewSharedKeyCredential",
            ".login",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "DirectoryEntry",
            "mysqli_connect",
            "mysqli",
            "mysql_connect",
            "ldap_bind",
            "ftp_login",
            "DriverManager.getConnection",
            "PDO",
            "PlainAuth",
        ),
        2,
    ),
}
_OPTION = "CURLOPT_"

_NAMES = tuple(CALLEES)

_QUOTED = r"(?:@|[rbufRBUF]{1,2})?\\{0,4}[\"'](?P<value>[^\"'\\\n]{4,512})\\{0,4}[\"']"
_OPENING = expression(r"\s{0,8}\(\s{0,80}")
_ARGUMENT = expression(r"(?:\\{0,4}\"[^\"\n]{0,512}\"|'[^'\n]{0,512}'|[^,()\"'\n]{1,256})\s{0,8},\s{0,200}")
_LITERAL = expression(_QUOTED + r"\s{0,200}[,)]")
_CURLOPT = expression(
    r"CURLOPT_(?P<name>(?:PROXY)?USERPWD|(?:PROXY|TLSAUTH_|PROXY_TLSAUTH_)?PASSWORD|(?:PROXY_)?KEYPASSWD|XOAUTH2_BEARER|COOKIE)"
    r"[\"']?\s{0,8}(?:,|=>|\)\s{0,4}=)\s{0,80}" + _QUOTED
)
_TUPLE = expression(r"\bauth=\(\s{0,8}[\"'][^\"'\n]{1,128}[\"']\s{0,8},\s{0,80}" + _QUOTED + r"\s{0,8},?\s{0,8}\)")


#: What must be in a text for ``find``: a callee's name, by its number in ``_NAMES``, or one of the other two.
TRIGGERS = (
    *(Trigger((name,), re.escape(name) + r"\s{0,8}\(") for name in _NAMES),
    Trigger((_OPTION,), _CURLOPT.pattern),
    Trigger(("auth=(",), _TUPLE.pattern),
)


def find(text: str, woken: Iterable[int] | None = None) -> list[Found]:
    """Secrets among the arguments of all calls in a text. ``woken``: the numbers of the triggers that are in it, where that is known."""
    out: list[Found] = []
    for callee in _NAMES if woken is None else [_NAMES[number] for number in sorted(woken) if number < len(_NAMES)]:
        place = CALLEES[callee]
        at = text.find(callee)
        while at >= 0:
            end = at + len(callee)
            if callee[0] == "." or not (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
                out += _argument(text, end, place, sure=callee != ".login")
            at = text.find(callee, end)
    if _OPTION in text:
        for match in _CURLOPT.finditer(text):
            value = match["value"]
            password = value.partition(":")[2] if match["name"].endswith("USERPWD") else value
            if _plausible(password):
                out.append(Found(*match.span("value"), "password", "argument"))
    if "auth=(" in text:
        out += [Found(*match.span("value"), "password", "argument") for match in _TUPLE.finditer(text) if _plausible(match["value"])]
    return out


def _argument(text: str, at: int, place: int, *, sure: bool) -> Iterator[Found]:
    """``sure``: nothing else is ever given there, so a word will do."""
    opened = _OPENING.match(text, at)
    if opened is None:
        return
    at = opened.end()
    for _ in range(place):
        before = _ARGUMENT.match(text, at)
        if before is None:
            return
        at = before.end()
    literal = _LITERAL.match(text, at)
    if literal is None or not _plausible(literal["value"]):
        return
    value = literal["value"]
    if sure or shapes.random(value, 12) or shapes.password_like(value):
        yield Found(*literal.span("value"), "password", "argument")


def _plausible(value: str) -> bool:
    if len(value) < 4 or value.startswith(("$", "{", "<", "%")) or value.lower() in EXAMPLE_PASSWORDS:
        return False
    return not shapes.hollow(value) and not shapes.harmless(value, quoted=True)
