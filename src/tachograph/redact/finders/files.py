"""Secrets in files that hold credentials by position rather than by name: ``.netrc``, ``.pgpass``, ``.htpasswd`` and LDAP hashes, the
``auth`` of a ``docker`` configuration, the key shares that ``vault operator init`` prints, the pairs in Bundler's variables, and what
a build service is told to mask.

Here the position proves the secret, so that short and wordy passwords go, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tachograph.redact import shapes
from tachograph.redact.finders import decode
from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

_GAP = r"(?:\s|\\[nrt]){1,16}"
_MACHINE = expression(rf"\b(?:machine{_GAP}[\w.:\[\]-]{{1,253}}|default(?={_GAP}(?:login|user|password)))")
_TOKEN = expression(rf"{_GAP}(login|user|password|passwd|account){_GAP}(?:\"([^\"\n]{{1,255}})\"|([^\s\"]{{1,255}}))")
_PGPASS = expression(
    r"(?:^|(?<=[\s\"'`])|(?<=\\n))(?:[\w.-]{1,253}|\*):(?:5432|5433|5439|6432|\*):[\w.*-]{1,63}:[\w.*@-]{1,63}:(?P<pw>(?:[^\s:\\\"'`]|\\[:\\]){3,128})",
    re.MULTILINE,
)
_HASH = expression(r"\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT)\}(?P<hash>[A-Za-z0-9+/$.]{13,128}={0,2})")
_AUTH = expression(
    r"(?:\\{0,4}[\"']auth\\{0,4}[\"']\s{0,8}:\s{0,8}\\{0,4}[\"']|\b_auth\s{0,4}=\s{0,4}[\"']?)(?P<auth>[A-Za-z0-9+/]{6,2048}={0,2})"
)
_SHARE = expression(r"Unseal Key \d{1,2}(?:\s\([^)\n]{1,40}\))?: {1,4}(?P<share>[A-Za-z0-9+/]{40,100}={0,2})")
#: ``BUNDLE_GEMS__EXAMPLE__COM``: the host is in the name, user and password are the value.
_BUNDLE = expression(r"BUNDLE_(?=[A-Z0-9_]{1,64}__)\w{4,140}[\s:=?.>\"'`]{1,12}(?P<pair>[\w.-]{4,64}:[\w.-]{6,64})(?![\w:/.])")


#: The commands of build services that declare a secret, and with it show it.
_DECLARED = expression(
    r"(?:::add-mask::|##vso\[task\.setvariable [^\]\n]{0,200}issecret=true[^\]\n]{0,80}\])(?P<value>[^\s\"'`$\\][^\r\n\"'`\\]{2,4096})"
)


#: What must be in a text for ``find``.
TRIGGERS = (
    Trigger(("machine", "default"), _MACHINE.pattern + _TOKEN.pattern),
    Trigger((":5432:", ":5433:", ":5439:", ":6432:", ":*:"), _PGPASS.pattern, re.MULTILINE),
    Trigger(("SHA", "MD5}", "CRYPT}"), _HASH.pattern),
    Trigger(("auth",), _AUTH.pattern),
    Trigger(("Unseal Key ",), _SHARE.pattern),
    Trigger(("BUNDLE_",), _BUNDLE.pattern),
    Trigger(("::add-mask::", "##vso["), _DECLARED.pattern),
)


def find(text: str) -> list[Found]:
    """Secrets of all such files in a text."""
    out: list[Found] = []
    if "machine" in text or "default" in text:
        out += _netrc(text)
    if any(port in text for port in (":5432:", ":5433:", ":5439:", ":6432:", ":*:")):
        out += [Found(*match.span("pw"), "password", "pgpass") for match in _PGPASS.finditer(text) if not shapes.hollow(match["pw"])]
    if "SHA" in text or "MD5}" in text or "CRYPT}" in text:
        out += [Found(*match.span("hash"), "password-hash", "ldap-hash") for match in _HASH.finditer(text)]
    if "auth" in text:
        out += [
            Found(*match.span("auth"), "authorization", "basic-auth") for match in _AUTH.finditer(text) if decode.credentials(match["auth"])
        ]
    if "Unseal Key " in text:
        out += [Found(*match.span("share"), "key", "vault-share") for match in _SHARE.finditer(text)]
    if "BUNDLE_" in text:
        out += [Found(*match.span("pair"), "password", "bundler") for match in _BUNDLE.finditer(text)]
    if "::add-mask::" in text or "##vso[" in text:
        out += [
            Found(*match.span("value"), "secret", "declared") for match in _DECLARED.finditer(text) if not shapes.hollow(match["value"])
        ]
    return out


def _netrc(text: str) -> Iterator[Found]:
    """``machine … login … password …`` on one line or several, in any order."""
    for machine in _MACHINE.finditer(text):
        at = machine.end()
        for _ in range(4):
            token = _TOKEN.match(text, at)
            if token is None:
                break
            group = 2 if token.group(2) is not None else 3
            value = _whole(token.group(group))
            start = token.start(group)
            if token.group(1) in ("password", "passwd") and len(value) >= 3 and not shapes.hollow(value) and value[0] not in "$<{":
                yield Found(start, start + len(value), "password", "netrc")
            at = start + len(value) + (group == 2)


def _whole(value: str) -> str:
    """Without an escaped line break and what follows it."""
    for escape in ("\\n", "\\r", "\\t", "\\\\"):
        value = value.partition(escape)[0]
    return value
