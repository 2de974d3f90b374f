"""Reading bodies that may be anything: what every provider shares.

A recorder reads what agents send and what arrives, not what the documentation promises. So nothing here raises on a wrong type:
``obj``, ``seq`` and ``text`` give an empty value instead, and a number that is no number is left out. JSON is read exactly
(integers of any size) and strictly (no NaN, no overflow), so whatever was read can be written again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from tachograph.format import sse
from tachograph.providers.model import INVALID

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from tachograph.providers.model import Exchange

    Headers = Sequence[Sequence[str]]

_DEPTH = 20
_MAX_PROBLEMS = 10
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def loads(data: bytes | str) -> Any:
    """A JSON value; ValueError where ``data`` is not JSON or is nested too deeply.

    Servers written in JavaScript cut text between the halves of a surrogate pair and send each half as an escape. Such halves are
    joined where they meet, else they become U+FFFD: text with lone halves could not be stored as UTF-8.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        try:
            source = data if isinstance(data, str) else data.decode()
            if not _SURROGATE.search(source):
                raise ValueError("not JSON") from error
            halves = json.dumps(json.loads(source), ensure_ascii=False)
            return msgspec.json.decode(halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise ValueError("not JSON") from error


def obj(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def seq(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; what else is in it is left out."""
    return [item for item in seq(value) if isinstance(item, dict)]


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def word(value: Any) -> str | None:
    """A string that says something, or None."""
    return value if isinstance(value, str) and value else None


def whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flat(content: Any, depth: int = _DEPTH) -> str:
    """The words of a string, or of blocks that hold ``text`` or ``json``, in every provider's notation; one line break
    between blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and depth:
        return "\n".join(filter(None, (flat(block, depth - 1) for block in content)))
    if isinstance(content, dict) and depth:
        for key in ("text", "refusal", "content"):
            if key in content:
                return flat(content[key], depth - 1)
        if "json" in content:
            return dumps(content["json"])
    return ""


def dumps(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def header(headers: Headers, name: str) -> str | None:
    for pair in headers:
        if len(pair) == 2 and isinstance(pair[0], str) and pair[0].lower() == name and isinstance(pair[1], str):
            return pair[1]
    return None


def path_of(url: str) -> str:
    """The path of a URL as it was sent (still percent-encoded), without query and closing slash; never raises."""
    before_query = url.partition("?")[0].partition("#")[0]
    _, scheme, rest = before_query.partition("://")
    return (("/" + rest.partition("/")[2]) if scheme else before_query).rstrip("/")


def arguments(raw: Any, *, finished: bool = True) -> Any:
    """A tool's input from its JSON text. No text at all means no arguments; what is not JSON is kept under ``$invalid``."""
    if not isinstance(raw, str):
        return raw
    if not raw.strip():
        return {} if finished else {INVALID: raw}
    try:
        return loads(raw)
    except ValueError:
        return {INVALID: raw}


def spread(
    params: dict[str, Any],
    source: Mapping[str, Any],
    *,
    names: Mapping[str, str] | None = None,
    skip: Container[str] = (),
    origin: str = "",
) -> None:
    """Put the fields of ``source`` into ``params`` under the common names, and lose none: where two fields claim one name, the
    later keeps its own name, or if that is taken too, is told apart by ``origin``."""
    names = names or {}
    for key, value in source.items():
        if key in skip:
            continue
        name = names.get(key, key)
        if name in params or (name != key and name in source):
            name = key
        while name in params and params[name] != value:
            name = f"{origin or 'other'}.{name}"
        params[name] = value


def counts(source: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, int]:
    """The token counts in ``source`` under our names, in the order of ``names``; the first of two that mean the same wins."""
    usage: dict[str, int] = {}
    for key, name in names.items():
        number = whole(source.get(key))
        if number is not None and number >= 0:
            usage.setdefault(name, number)
    return usage


def answer_value(exchange: Exchange, problems: list[str] | None = None) -> Any:
    """The answer's body: JSON, else its text (which is a problem), else None where there is none."""
    if not exchange.answer:
        return None
    try:
        return loads(exchange.answer)
    except ValueError:
        if problems is not None:
            problems.append("the answer is not JSON" if exchange.complete else "the answer was cut and is not JSON")
        return exchange.answer.decode("utf-8", "replace")


def is_sse(exchange: Exchange) -> bool:
    """By the body first: the SDKs do not look at the content type of a stream, so what they accept may carry any."""
    start = exchange.answer[:64].lstrip(b"\xef\xbb\xbf\r\n ")
    if start.startswith((b"data:", b"event:", b":")):
        return True
    kind = header(exchange.answer_headers, "content-type") or ""
    return "text/event-stream" in kind.lower() and not start.startswith(b"{")


def sse_objects(exchange: Exchange, problems: list[str]) -> Iterator[dict[str, Any]]:
    """The data of each whole server-sent event, a JSON object. An event that was cut is left out: the agent never saw it."""
    for event in sse.parse(exchange.answer):
        if not event.complete or event.data.strip() in ("", "[DONE]"):
            continue
        try:
            value = loads(event.data)
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield value
        elif len(problems) < _MAX_PROBLEMS:
            problems.append(f"the data of the event at byte {event.start} are not a JSON object")


def failure(exchange: Exchange, body: Any) -> dict[str, Any] | None:
    """The error that an answer with a status of 400 or more reports, in any provider's notation, else None."""
    if exchange.status is None or exchange.status < 400:
        return None
    outer = obj(body)
    inner = outer.get("error")
    detail = obj(inner) or outer
    kind = (
        header(exchange.answer_headers, "x-amzn-errortype")
        or word(detail.get("type"))
        or word(detail.get("code"))
        or word(outer.get("__type"))
        or f"http_{exchange.status}"
    )
    message = word(inner) or word(detail.get("message")) or word(detail.get("Message")) or text(body)
    return fault(_error_name(kind), message, exchange, code=detail.get("code"))


def fault(kind: str, message: str, exchange: Exchange, *, code: Any = None) -> dict[str, Any]:
    error: dict[str, Any] = {"type": kind, "message": message, "status": exchange.status}
    if word(code) and code != kind:
        error["code"] = code
    return error


def request_id(exchange: Exchange) -> str | None:
    for name in ("request-id", "x-request-id", "x-amzn-requestid", "apim-request-id"):
        if value := header(exchange.answer_headers, name):
            return value
    return None


def _error_name(kind: str) -> str:
    # AWS: "ThrottlingException:http://internal.amazon.com/…" and "com.amazon.coral.service#ThrottlingException".
    return kind.partition(":")[0].rpartition("#")[2] or kind
