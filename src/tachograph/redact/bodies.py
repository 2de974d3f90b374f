"""Request bodies as redacted JSON-like values.

| body | value |
|---|---|
| JSON | the value |
| ``application/x-www-form-urlencoded`` | ``{"$form": [[key, value]…]}`` |
| ``multipart/*`` | ``{"$multipart": [{"headers": [[name, value]…], "body": value}…]}``, the boundary (random) dropped |
| other UTF-8 | text |
| anything else | bytes |

It fails closed: JSON that does not parse or has a key twice (two readers might see two values) is scanned as text, and a body whose content
encoding cannot be undone is masked whole, because nobody can say what is in it. A text in another charset than UTF-8 is decoded first: in
UTF-16 no rule would know a token.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from tachograph.redact import encodings, jsontext
from tachograph.redact.lazy import expression, raw_expression
from tachograph.redact.names import Strength

if TYPE_CHECKING:
    from tachograph.redact.engine import Redactor

_BOUNDARY = expression(r"boundary=\"?([^\";,]{1,200})", re.IGNORECASE)
_NAME = expression(r"[;\s]name=\"?([^\";]{1,128})", re.IGNORECASE)
#: Never in a form, where blanks are written as ``+`` or ``%20`` (WHATWG URL, application/x-www-form-urlencoded).
_NO_FORM = raw_expression(rb"[\x00-\x20\x7f-\xff\"<>{}\\^`|]")
_CHARSET = expression(r"charset=\"?([\w.:-]{1,40})", re.IGNORECASE)
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
#: Multipart bodies in multipart bodies: deeper ones are scanned as text.
_MAX_NESTING = 8
#: Of the characters of a text, as a share: more undecodable bytes make it no text.
_BINARY = 0.1


def redacted(
    redactor: Redactor, data: bytes, *, content_type: str, content_encoding: str, tally: Counter[str] | None, nesting: int = 0
) -> Any:
    """See the module's table."""
    if content_encoding and content_encoding.strip().lower() != "identity":
        try:
            data = b"".join(encodings.decode([data], content_encoding))
        except encodings.UndecodableError:
            return undecodable(redactor, data, tally)
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        form = _form(redactor, data, tally)
        if form is not None:
            return form
    if kind.startswith("multipart/") and nesting < _MAX_NESTING:
        boundary = _BOUNDARY.search(content_type)
        if boundary is not None:
            parts = _multipart(redactor, data, boundary.group(1), tally, nesting)
            if parts is not None:
                return parts
    try:
        text = data.decode(_charset(data, content_type))
    except UnicodeError:
        return redactor.raw(data, tally)
    if is_json(kind) or (kind in ("", "application/octet-stream") and text.lstrip()[:1] in ("{", "[")):
        try:
            return redactor.document(jsontext.loads(text), tally)
        except (ValueError, RecursionError):
            return redactor.text(text, tally)
    return redactor.text(text, tally)


def _charset(data: bytes, content_type: str) -> str:
    """The codec of a body: what its first bytes say, else what its type says, if that is a codec of text."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return codec
    said = _CHARSET.search(content_type)
    if said is not None:
        try:
            "".encode(said.group(1))  # LookupError, too, for a codec that is no charset
        except LookupError:
            return "utf-8"
        return said.group(1)
    return "utf-8"


def undecodable(redactor: Redactor, data: bytes, tally: Counter[str] | None) -> str:
    """Stands for a body that nobody can look into."""
    from tachograph.redact.spans import Edit

    return redactor.placeholder(Edit(0, 0, "undecodable", data.decode("latin-1")), "", tally)


def is_json(kind: str) -> bool:
    """Whether a media type (lower case, without parameters) is JSON."""
    return kind in ("application/json", "text/json", "application/x-amz-json-1.0", "application/x-amz-json-1.1") or kind.endswith("+json")


def is_text(text: str) -> bool:
    """Whether bytes decoded with ``surrogateescape`` are text, a damaged place or two aside."""
    if text.isascii():
        return "\0" not in text
    sample = text[:4096]
    odd = sum(1 for c in sample if "\udc80" <= c <= "\udcff" or c == "\0")
    return odd <= len(sample) * _BINARY


def _form(redactor: Redactor, data: bytes, tally: Counter[str] | None) -> Any:
    if _NO_FORM.search(data):
        return None  # labelled a form by a library's default; taken for one, it would be read to pieces that say nothing
    try:
        pairs = parse_qsl(data.decode("ascii"), keep_blank_values=True, strict_parsing=bool(data), max_num_fields=10_000)
    except ValueError:
        return None
    return {"$form": [[redactor.text(name, tally), _field(redactor, name, value, tally)] for name, value in pairs]}


def _field(redactor: Redactor, name: str, value: Any, tally: Counter[str] | None) -> Any:
    said = redactor.policy.named(name)
    if said.strength is Strength.NONE:
        return redactor.document(value, tally)
    return redactor.document({name: value}, tally)[name]


def _multipart(redactor: Redactor, data: bytes, boundary: str, tally: Counter[str] | None, nesting: int) -> Any:
    mark = b"--" + boundary.encode("utf-8", "surrogateescape")
    pieces = data.split(mark)
    if len(pieces) < 2:
        return None
    parts = []
    for piece in pieces[1:]:
        if piece.startswith(b"--"):
            break
        head, blank, body = piece.partition(b"\r\n\r\n")
        if not blank:
            head, blank, body = piece.partition(b"\n\n")
        body = body[:-2] if body.endswith(b"\r\n") else body.removesuffix(b"\n")
        headers = [
            [name.strip(), value.strip()]
            for name, colon, value in (line.partition(":") for line in head.decode("utf-8", "replace").splitlines())
            if colon
        ]
        lowered = {name.lower(): value for name, value in headers}
        value = redacted(
            redactor, body, content_type=lowered.get("content-type", ""), content_encoding="", tally=tally, nesting=nesting + 1
        )
        named = _NAME.search(lowered.get("content-disposition", ""))
        if named is not None:
            value = _field(redactor, named.group(1), value, tally)
        parts.append({"headers": redactor.headers(headers, tally), "body": value})
    return {"$multipart": parts}
