"""Redacting a JSON value: every string leaf and every key, with what the keys around a leaf say about it.

- A secret name masks its string, the strings of its list, and a long number under a name that can only be a secret's; never ``true``,
  ``false`` or ``null``.
- ``{"name": "PASSWORD", "value": "…"}`` and ``["authorization", "…"]`` are a name and its value, too.
- Media, model signatures and encrypted reasoning are opaque: a changed character makes a provider refuse them, so only known values are
  looked for in them.
- What has no secret comes back as the same object.

One walk serves two purposes, chosen by the ``Leaves`` given to it: new values, or offsets in the JSON text that a value was parsed from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from tachograph.redact import shapes
from tachograph.redact.finders import decode, headers, manifests
from tachograph.redact.known import SHORTEST_SURE
from tachograph.redact.lazy import expression
from tachograph.redact.names import NOTHING, Named, Strength, about, singular
from tachograph.redact.policy import Policy
from tachograph.redact.scanner import Depth
from tachograph.redact.spans import Edit
from tachograph.redact.words import table

#: Deeper values are masked whole: recursion over hostile input must end.
MAX_DEPTH = 200

_NAME_KEYS = ("name", "key", "Name", "Key", "field", "header", "variable", "label", "parameter", "k", "id", "title", "option")
#: Names of a member whose own name is that of another member.
_VALUE_KEYS = ("value", "Value", "val", "v", "stringValue", "string_value", "intValue")

_OPAQUE = table(
    """
    signature encrypted_content encrypted_index encryptedContent thoughtSignature thought_signature redactedContent b64_json
    integrity encrypted_stdout encryptedStdout reasoning_encrypted_content
    """
)
#: A container registry's or npm's ``user:password`` in base64.
_CREDENTIALS = ("auth", "_auth")
#: Of a JSON web key, which a member ``kty`` tells.
_PRIVATE_MEMBERS = ("d", "p", "q", "dp", "dq", "qi", "k", "r", "t")
_MEDIA_TYPE = expression(r"(?:image|audio|video|font)/|application/(?:pdf|octet-stream|zip|gzip|wasm|vnd\.)")
_DATA_URL = expression(r"data:[\w.+/-]{0,80}(?:;[\w=.-]{1,40}){0,4};base64,")
_BASE64 = expression(r"[A-Za-z0-9+/_-]{64,}={0,2}\Z")
_ENCODED = expression(r"[A-Za-z0-9+/_.:-]{64,}={0,2}\Z")
#: Characters. A random key of an object under a secret's name is masked from there on.
_LONG_KEY = 16
_CERTAIN_NUMBERS = ("password", "pin", "secret")


class Leaves(Protocol):
    """What a walk does with the leaves it meets."""

    def string(self, value: str, edits: list[Edit]) -> str:
        """The string to put in its place."""

    def number(self, value: float, kind: str) -> Any:
        """What to put in the place of a number that must go."""

    def scan(self, value: str, depth: Depth) -> list[Edit]:
        """The secrets of a string by itself."""

    def raw(self, value: bytes) -> bytes:
        """The bytes to put in their place."""


class Walk:
    """A walk over JSON-like values under one policy."""

    def __init__(self, policy: Policy, leaves: Leaves) -> None:
        self._policy = policy
        self._leaves = leaves
        self._under = ""  # the name that says something about the value at hand

    def value(self, value: Any, said: Named = NOTHING, depth: int = 0, *, opaque: bool = False) -> Any:
        """The value with its secrets masked; the same object where there are none. ``said`` is what the key above it says."""
        if isinstance(value, str):
            return self._string(value, said, opaque=opaque)
        if isinstance(value, dict):
            return self._dict(value, said, depth) if depth < MAX_DEPTH else self._too_deep()
        if isinstance(value, (list, tuple)):
            return self._list(value, said, depth) if depth < MAX_DEPTH else self._too_deep()
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, (int, float)):
            return self._number(value, said)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._leaves.raw(bytes(value))
        return value

    def _string(self, value: str, said: Named, *, opaque: bool = False) -> str:
        edits = self._leaves.scan(value, Depth.KNOWN if opaque or _is_opaque(value) else Depth.ALL)
        if said.strength and not (edits and _covers(edits, value)):
            named = self._named(value, said)
            if named:
                edits = named
        return self._leaves.string(value, edits) if edits else value

    def _named(self, value: str, said: Named) -> list[Edit]:
        if said.kind in ("cookie", "authorization"):
            return headers.edits(said.kind, value, said, sure=False)
        if value[:1] in "{[" and value[-1:] in "}]":
            return []  # JSON inside a string: its own names say more
        start, end = len(value) - len(value.lstrip()), len(value.rstrip())
        if self._policy.allows(value[start:end]):
            return []
        return [Edit(start, end, said.kind, rule=f"name:{self._under[:64]}")] if shapes.secret(value[start:end], said, quoted=True) else []

    def _number(self, value: float, said: Named) -> Any:
        if (
            said.strength is Strength.STRICT
            and said.kind in _CERTAIN_NUMBERS
            and len(str(value).lstrip("-")) > 5
            and not self._policy.allows(str(value))
        ):
            return self._leaves.number(value, said.kind)
        return value

    def _dict(self, value: dict[Any, Any], said: Named, depth: int) -> Any:
        pair, pair_name = self._pair(value)
        under = self._under
        media = _is_media(value)
        web_key = isinstance(value.get("kty"), str)
        sealed = manifests.is_secret(value)
        out: dict[Any, Any] | None = None
        for position, (key, item) in enumerate(value.items()):
            new_key = key
            name = NOTHING
            opaque = False
            if isinstance(key, str):
                new_key = self._key(key, said)
                name = self._policy.named(key)
                if not name.strength and isinstance(item, (dict, list)):
                    name = self._policy.named(singular(key))
                if not name.strength and holds_value(key):
                    name = pair or (said if len(value) <= 2 else NOTHING)
                    self._under = pair_name if pair else under
                elif name.strength:
                    self._under = key
                elif said.strength:
                    name = _inherited(key, item, said)
                if web_key and key in _PRIVATE_MEMBERS:
                    self._under = key
                    name = Named(Strength.STRICT, "private-key")
                opaque = (key in _OPAQUE and _is_encoded(item)) or (media and key in ("data", "bytes"))
            if sealed and key in manifests.DATA and isinstance(item, dict):
                new: Any = self._sealed(item)
            elif key in _CREDENTIALS and isinstance(item, str) and decode.credentials(item):
                new = self._leaves.string(item, [Edit(0, len(item), "authorization", rule="basic-auth")])
            else:
                new = self.value(item, name, depth + 1, opaque=opaque)
            if out is None and (new is not item or new_key is not key):
                out = dict(list(value.items())[:position])
            if out is not None:
                out[new_key] = new
        self._under = under
        return value if out is None else out

    def _sealed(self, value: dict[Any, Any]) -> Any:
        """The data of a Kubernetes Secret: every value is one."""
        out = {
            key: self._leaves.string(item, [Edit(0, len(item), "secret", rule="manifest")])
            if isinstance(item, str) and manifests.worth(item)
            else item
            for key, item in value.items()
        }
        return out if any(out[key] is not value[key] for key in value) else value

    def _key(self, key: str, said: Named) -> str:
        edits = self._leaves.scan(key, Depth.ALL) if len(key) >= SHORTEST_SURE else []
        if said.strength and not edits and shapes.machine_made(key, _LONG_KEY) and not self._policy.allows(key):
            edits = [Edit(0, len(key), said.kind, rule=f"name:{self._under[:64]}")]  # {"tokens": {"…": "ann"}}
        return self._leaves.string(key, edits) if edits else key

    def _pair(self, value: dict[Any, Any]) -> tuple[Named | None, str]:
        """What the name says in a ``{"name": …, "value": …}``, and that name."""
        if not any(holds_value(key) for key in value):
            return None, ""
        for key in (*_NAME_KEYS, *_name_keys(value)):
            name = value.get(key)
            if isinstance(name, str) and len(name) <= 128:
                # OpenTelemetry writes http.request.header.authorization
                said = self._policy.named(name)
                if not said.strength and "." in name:
                    said = self._policy.named(name.rsplit(".", 1)[-1])
                if said.strength:
                    return said, name
        return None, ""

    def _list(self, value: list[Any] | tuple[Any, ...], said: Named, depth: int) -> Any:
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str) and not said.strength:
            header = headers.said_of(value[0], self._policy.headers) if len(value[0]) <= 64 else None
            if header is not None:
                name = self._string(value[0], NOTHING)
                self._under = value[0]
                second = self._string(
                    value[1], header if header.kind in ("cookie", "authorization") else header._replace(strength=Strength.LIKELY)
                )
                return value if name is value[0] and second is value[1] else [name, second]
        out: list[Any] | None = None
        for position, item in enumerate(value):
            new = self.value(item, said if isinstance(item, (str, int, dict)) else NOTHING, depth + 1)
            if out is None and new is not item:
                out = list(value[:position])
            if out is not None:
                out.append(new)
        return value if out is None else out

    def _too_deep(self) -> Any:
        return self._leaves.number(0, "too-deep")


def _inherited(key: str, item: Any, said: Named) -> Named:
    """What a secret's name says about the members of the object below it: ``{"password": {"old": "…", "new": "…"}}``. Tokens and keys are
    objects of other kinds, too, and what is about a secret stays."""
    if said.kind == "cookie":
        said = Named(Strength.LIKELY, "token")
    elif said.kind in ("authorization", "pin", "signature") or (said.kind in ("key", "token") and said.strength is not Strength.STRICT):
        return NOTHING
    if about(key) or key in _NAME_KEYS:
        return NOTHING
    if not isinstance(item, str):
        return said if isinstance(item, (dict, list)) else NOTHING
    member = said if said.kind == "token" else said._replace(strength=Strength.STRICT)
    return member if not any(c.isspace() for c in item) and shapes.secret(item, member, quoted=False) else NOTHING


def holds_value(key: Any) -> bool:
    """``value``, ``ParameterValue``, ``option_value``."""
    return key in _VALUE_KEYS or (isinstance(key, str) and key.endswith(("Value", "_value")))


def _name_keys(value: dict[Any, Any]) -> Iterator[str]:
    """``ParameterKey``, ``option_name``."""
    return (key for key in value if isinstance(key, str) and len(key) <= 32 and key.endswith(("Key", "_key", "Name", "_name")))


def _covers(edits: list[Edit], value: str) -> bool:
    return len(edits) == 1 and edits[0].end - edits[0].start >= len(value.strip())


def _is_opaque(value: str) -> bool:
    return value.startswith("data:") and _DATA_URL.match(value) is not None and _BASE64.match(value, value.find(",") + 1) is not None


def _is_media(value: dict[Any, Any]) -> bool:
    """Whether ``data`` or ``bytes`` beside it is an encoded picture, sound or document."""
    if not ("data" in value or "bytes" in value):
        return False
    data = value.get("data", value.get("bytes"))
    if not isinstance(data, str) or _BASE64.match(data[:65536].rstrip("=") or "-") is None:
        return False
    kind = value.get("type")
    if kind == "redacted_thinking":
        return True
    for key in ("media_type", "mimeType", "mime_type", "mediaType"):
        if isinstance(value.get(key), str):
            return _MEDIA_TYPE.match(value[key]) is not None
    return len(data) >= 256 and ("bytes" in value or "format" in value or kind in ("base64", "image", "audio", "file"))


def _is_encoded(item: Any) -> bool:
    """Nothing but the characters of an encoding, and many of them: a signature, ciphertext, a digest."""
    return isinstance(item, str) and _ENCODED.match(item) is not None
