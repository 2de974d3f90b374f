"""Which values, once found beside a secret's name or by their shape, are masked from then on wherever they turn up in the session.

``{"password": "X"}`` in one answer makes X secret in the next request, where it may stand alone. Learned is what is no word: at least
``SHORTEST`` characters, made by a machine or chosen as a password, and found by something sure. A UUID or a digest counts only where its
name can be nothing but a secret's. Of personal data nothing is learned, of a cut-off end neither. Beyond ``MOST`` values no more are
learned: they are masked where they are found, as without this module; values of the environment and those that a person names always are.

Why a replay stays exact. What has been learned at a moment depends on what was said before it, and in a replay that is not the same: answers
come from the tape with their secrets masked already, and the events of two lanes may come in another order. So the comparison of a live
request with a recorded one does not rest on that state. It is made over values that have been masked *anywhere*:

- A live word whose keyed fingerprint stands in any placeholder of the record is masked (``host.known``), however early it comes.
- Where no recorded call fits, the recorded requests are masked by what is known *now*, and a placeholder in a recorded string is held against
  the live characters in its place: if their fingerprint is the placeholder's, they are that value. Then the comparison is made again.

Both steps only ever replace characters by the placeholder of these very characters, so two requests become equal by them only if they were
equal before redaction, up to a collision of 32 keyed bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tachograph.redact import shapes
from tachograph.redact.finders import decode
from tachograph.redact.known import acceptable
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named, Strength

#: Characters.
SHORTEST = 8
LONGEST = 16384
#: Values in one session.
MOST = 10_000

_DIGEST = expression(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64})\Z")
#: Rules that go by a name, as ``rule:name``.
_BY_NAME = ("name", "variable", "url-query", "header")
#: Names and places that say little by themselves.
_WEAK = ("service", "cookie")
_COMPOUND = ("basic", "basic-auth", "authorization-header", "url-userinfo", "command-flag", "command-word", "header", "name")
_NEVER = ("", "known-value", "cut-off", "pii")
_CREDENTIAL_HEADERS = expression(r"authorization|api-?key|auth|token|secret", re.IGNORECASE)


def parts(value: str, rule: str) -> Iterator[str]:
    """A value, and the password in it where it is ``user:password`` or that in base64."""
    yield value
    if rule.partition(":")[0] in _COMPOUND:
        user, colon, password = (value if ":" in value else decode.credentials(value)).partition(":")
        if user and colon and not password.startswith("/"):
            yield password


def lasting(value: str, rule: str, named: Callable[[str], Named]) -> bool:
    """Whether a value that ``rule`` found is to be masked wherever it turns up. ``named`` says what a name means."""
    if not SHORTEST <= len(value) <= LONGEST:
        return False
    kind, _, name = rule.partition(":")
    if kind == "private-key":
        return True
    if kind in _NEVER or not acceptable(value) or any(c.isspace() for c in value):
        return False
    sure = kind not in _WEAK
    if kind in _BY_NAME:
        sure = named(name).strength is Strength.STRICT or (kind == "header" and _CREDENTIAL_HEADERS.search(name) is not None)
    if not sure:
        return shapes.random(value, 16) and not shapes.UUID.match(value) and not _DIGEST.match(value)
    return shapes.random(value, 8) or shapes.password_like(value)
