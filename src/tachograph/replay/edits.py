"""What a fork changes in a request to a model: its system prompt, a parameter, the model, a message. Pure.

``WHAT=VALUE``, where WHAT is one of

    model               the model's id (Bedrock: in the URL's path)
    prompt.system       the system prompt
    params.NAME         a sampling parameter under the name that ``tacho show`` gives it; null takes it away
    body.PATH           any place in the request's body, such as body.messages[2].content[0].text

Where these lie differs from one wire format to the next; ``providers/`` reads them, and this module writes them back to where they were
read from. A place that held something at the fork's step (``bound``) is a *message*: later requests carry it again, perhaps elsewhere,
and it is replaced in each of them, wherever the same text stands.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from tachograph.core.errors import UsageError
from tachograph.providers import bedrock, converse, invoke
from tachograph.redact.placeholder import neutral

NOTHING: Any = object()
"""There is nothing at that place."""

_STEP = re.compile(r"([^.\[\]]+)|\[(\d{1,9})\]")
_MODEL_IN_PATH = re.compile(r"(/model/)([^/?]+)(/[^/?]+)")
_DEPLOYMENT = re.compile(r"(/deployments/)([^/?]+)(/)")

#: Where a parameter may lie, by wire format: the first place that holds something, else the first of all.
_PLACES: dict[str, dict[str, tuple[str, ...]]] = {
    "anthropic": {
        "response_format": ("output_format", "output_config.format"),
        "reasoning_effort": ("output_config.effort",),
    },
    "chat": {
        "max_tokens": ("max_completion_tokens", "max_tokens"),
        "stop_sequences": ("stop",),
    },
    "responses": {
        "max_tokens": ("max_output_tokens",),
        "reasoning_effort": ("reasoning.effort",),
        "response_format": ("text.format",),
        "verbosity": ("text.verbosity",),
    },
    "converse": {
        "max_tokens": ("inferenceConfig.maxTokens",),
        "temperature": ("inferenceConfig.temperature",),
        "top_p": ("inferenceConfig.topP",),
        "stop_sequences": ("inferenceConfig.stopSequences",),
        "top_k": ("additionalModelRequestFields.top_k", "additionalModelRequestFields.topK"),
        "tool_choice": ("toolConfig.toolChoice",),
        "latency": ("performanceConfig.latency",),
        "service_tier": ("serviceTier.type",),
    },
    "nova": {
        "max_tokens": ("inferenceConfig.maxTokens", "inferenceConfig.max_new_tokens"),
        "temperature": ("inferenceConfig.temperature",),
        "top_p": ("inferenceConfig.topP", "inferenceConfig.top_p"),
        "top_k": ("inferenceConfig.topK", "inferenceConfig.top_k"),
        "stop_sequences": ("inferenceConfig.stopSequences", "inferenceConfig.stop_sequences"),
        "tool_choice": ("toolConfig.toolChoice",),
    },
    "titan": {
        "max_tokens": ("textGenerationConfig.maxTokenCount",),
        "temperature": ("textGenerationConfig.temperature",),
        "top_p": ("textGenerationConfig.topP",),
        "stop_sequences": ("textGenerationConfig.stopSequences",),
    },
    "text": {
        "max_tokens": ("max_tokens", "max_gen_len", "max_tokens_to_sample"),
        "top_p": ("top_p", "p"),
        "top_k": ("top_k", "k"),
        "stop_sequences": ("stop_sequences", "stop"),
    },
}


@dataclass(frozen=True, kw_only=True)
class Edit:
    """``what`` as in the module's text; ``value``: None takes it away; ``was``: what stood there at the fork's step, redacted."""

    what: str
    value: Any
    was: Any = NOTHING

    def to_json(self) -> dict[str, Any]:
        found = {"what": self.what, "value": self.value}
        return found if self.was is NOTHING else {**found, "was": self.was}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as far as it can be edited. ``body``: parsed JSON. ``provider``, ``operation``: as of ``providers.identify``."""

    provider: str
    operation: str
    url: str
    body: Any


def of_json(value: Any) -> Edit:
    """The edit of ``Edit.to_json``."""
    return Edit(what=str(value.get("what")), value=value.get("value"), was=value.get("was", NOTHING))


# -- what a person writes --------------------------------------------------------------------------------------------------


def parse(text: str, read: Callable[[str], str]) -> Edit:
    """``WHAT=VALUE``. A value ``@FILE`` is that file's text (``read``); of parameters and places it is JSON where it reads as JSON,
    else text."""
    what, equals, value = text.partition("=")
    what = what.strip()
    if not equals:
        raise UsageError(f"no = in {text!r}; write WHAT=VALUE, such as params.temperature=0")
    return Edit(what=_known(what), value=_value(what, value, read))


def parse_values(text: str, read: Callable[[str], str]) -> list[Edit]:
    """``WHAT=VALUE,VALUE``: one edit a value. Commas within JSON do not part; a system prompt is given as ``@FILE``."""
    what, equals, values = text.partition("=")
    what = what.strip()
    if not equals:
        raise UsageError(f"no = in {text!r}; write WHAT=VALUE,VALUE, such as model=claude-a,claude-b")
    _known(what)
    parts = list(_parts(values))
    if what == "prompt.system" and any(not part.startswith("@") for part in parts):
        raise UsageError("system prompts have commas of their own; give them as files, --vary prompt.system=@one.txt,@two.txt")
    return [Edit(what=what, value=_value(what, part, read)) for part in parts]


def named(what: str, value: Any) -> Edit:
    """An edit by name, its value as it is. Raises ``UsageError`` for a name that nothing has."""
    return Edit(what=_known(what), value=value)


def _known(what: str) -> str:
    if what in ("model", "prompt.system") or re.fullmatch(r"params\.[\w.-]{1,100}", what):
        return what
    if what.startswith("body.") and keys(what[5:]):
        return what
    raise UsageError(f"nothing is called {what!r}; it is model, prompt.system, params.NAME or body.PATH, such as body.messages[0].content")


def _value(what: str, value: str, read: Callable[[str], str]) -> Any:
    if value.startswith("@"):
        value = read(value[1:])
        if what == "prompt.system" or what.startswith("body."):
            value = value.removesuffix("\n")
    if what in ("model", "prompt.system"):
        if what == "model" and not value.strip():
            raise UsageError("no model in model=; name one")
        return value.strip() if what == "model" else value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _parts(values: str) -> Iterator[str]:
    depth, quoted, start = 0, False, 0
    for at, letter in enumerate(values):
        if letter == '"' and (at == 0 or values[at - 1] != "\\"):
            quoted = not quoted
        elif not quoted and letter in "[{":
            depth += 1
        elif not quoted and letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0 and not quoted:
            yield values[start:at].strip()
            start = at + 1
    yield values[start:].strip()


# -- places in a body ------------------------------------------------------------------------------------------------------


def keys(path: str) -> list[str | int]:
    """``messages[2].content`` as keys; empty where it is no path."""
    out: list[str | int] = []
    at = 0
    while at < len(path):
        if path[at] == "." and at:
            at += 1
        found = _STEP.match(path, at)
        if found is None:
            return []
        out.append(found[1] if found[1] is not None else int(found[2]))
        at = found.end()
    return out


def get(body: Any, path: str) -> Any:
    """The value at a path, or ``NOTHING``."""
    for key in keys(path):
        if isinstance(key, int):
            if not isinstance(body, list) or key >= len(body):
                return NOTHING
            body = body[key]
        elif not isinstance(body, dict) or key not in body:
            return NOTHING
        else:
            body = body[key]
    return body


def put(body: Any, path: str, value: Any) -> bool:
    """Write it there, in place, with the objects on the way to it; None takes it away. Whether there is such a place."""
    *way, last = keys(path)
    for key in way:
        if isinstance(key, str) and isinstance(body, dict):
            if key not in body:
                if value is None:
                    return True
                body[key] = {}
            body = body[key]
        elif isinstance(key, int) and isinstance(body, list) and key < len(body):
            body = body[key]
        else:
            return False
    if isinstance(last, str) and isinstance(body, dict):
        if value is None:
            body.pop(last, None)
        else:
            body[last] = value
        return True
    if isinstance(last, int) and isinstance(body, list) and last < len(body):
        if value is None:
            del body[last]
        else:
            body[last] = value
        return True
    return False


# -- reading ---------------------------------------------------------------------------------------------------------------


def shape(request: Request) -> str | None:
    """The wire format of the body: anthropic, chat, responses, converse, nova, titan, text; None for what no edit can read."""
    if not isinstance(request.body, dict):
        return None
    if request.provider == "anthropic":
        return "anthropic"
    if request.provider == "openai":
        return "chat" if request.operation == "chat.completions" else "responses" if request.operation.startswith("responses") else None
    if request.operation in ("Converse", "ConverseStream"):
        return "converse"
    if request.operation.startswith("InvokeModel"):
        found = invoke.shape_of_request(request.body)
        return "titan" if found == "text" and "textGenerationConfig" in request.body else found
    return None


def model(request: Request) -> str | None:
    """The model that is asked for."""
    if request.provider == "bedrock":
        return bedrock.model_of(request.url)
    found = request.body.get("model") if isinstance(request.body, dict) else None
    return found if isinstance(found, str) else None


def system(request: Request) -> str | None:
    """The text of the system prompt; None where there is none."""
    body, form = request.body, shape(request)
    if form == "anthropic":
        return _text(body.get("system"))
    if form in ("converse", "nova"):
        return _text(body.get("system"))
    if form == "chat":
        found = [_text(message.get("content")) for message in _system_messages(body.get("messages"))]
        return "\n".join(text or "" for text in found) if found else None
    if form == "responses":
        said = [_text(body.get("instructions"))] if body.get("instructions") is not None else []
        said += [_text(item.get("content")) for item in _system_messages(body.get("input"))]
        return "\n".join(text or "" for text in said) if said else None
    return None


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [block if isinstance(block, str) else str(block["text"]) for block in value if isinstance(block, str) or _has_text(block)]
        return "\n".join(texts) if texts else None
    return None


def _has_text(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def _system_messages(messages: Any) -> list[dict[str, Any]]:
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, dict) and message.get("role") in ("system", "developer")]


# -- writing ---------------------------------------------------------------------------------------------------------------


def bound(edits: Sequence[Edit], point: Request) -> tuple[Edit, ...]:
    """The edits, with what stood in their places at the fork's step. ``point``: that step's request, redacted."""
    out = []
    for edit in edits:
        if edit.what.startswith("body."):
            was = get(point.body, edit.what[5:])
            if was is NOTHING and not _can_be_made(point.body, edit.what[5:]):
                raise UsageError(f"the request has no place {edit.what}; tacho show SES --step N --json shows its places")
            edit = replace(edit, was=was)
        elif shape(point) is None:
            raise UsageError(f"requests of {point.provider} {point.operation} have no place that is called {edit.what}")
        elif edit.what == "prompt.system" and shape(point) in ("titan", "text"):
            raise UsageError("this model takes one text and no system prompt beside it; change the text, as in body.prompt=@FILE")
        out.append(edit)
    return tuple(out)


def _can_be_made(body: Any, path: str) -> bool:
    return put(copy.deepcopy(body), path, "?")


def apply(edits: Sequence[Edit], live: Request, masked: Any) -> tuple[Request, list[str]]:
    """The request as it is to be sent, and which edits changed something. ``masked``: the body, redacted: what ``was`` is compared with."""
    request = replace(live, body=copy.deepcopy(live.body))
    changed = []
    for edit in edits:
        before = (request.url, copy.deepcopy(request.body))
        if edit.what == "model":
            request = _with_model(request, str(edit.value))
        elif edit.what == "prompt.system":
            _put_system(request, edit.value)
        elif edit.what.startswith("params."):
            put(request.body, place(request, edit.what[7:]), edit.value)
        elif edit.was is NOTHING:
            put(request.body, edit.what[5:], edit.value)
        else:
            for path in _same(masked, edit.what[5:], edit.was):
                put(request.body, path, edit.value)
        if (request.url, request.body) != before:
            changed.append(edit.what)
    return request, changed


def place(request: Request, name: str) -> str:
    """Where the parameter of this name lies, or is to lie, in the request's body."""
    form = shape(request) or "chat"
    name = converse.snake(name) if form in ("converse", "nova") else name
    places = _PLACES.get(form, {}).get(name)
    if places is None:
        places = (f"additionalModelRequestFields.{name}",) if form == "converse" else (name,)
    return next((one for one in places if get(request.body, one) is not NOTHING), places[0])


def _with_model(request: Request, name: str) -> Request:
    if request.provider == "bedrock":
        return replace(request, url=_MODEL_IN_PATH.sub(lambda found: found[1] + quote(name, safe="") + found[3], request.url, count=1))
    request.body["model"] = name
    if request.provider == "openai":  # Azure names the deployment in the path
        return replace(request, url=_DEPLOYMENT.sub(lambda found: found[1] + quote(name, safe="") + found[3], request.url, count=1))
    return request


def _put_system(request: Request, text: str) -> None:
    body, form = request.body, shape(request)
    if form == "anthropic":
        body["system"] = _blocks(body["system"], {"type": "text", "text": text}) if isinstance(body.get("system"), list) else text
    elif form in ("converse", "nova"):
        body["system"] = _blocks(body.get("system"), {"text": text})
    elif form == "chat":
        _put_system_message(body, "messages", text)
    elif form == "responses":
        if "instructions" not in body and _system_messages(body.get("input")):
            _put_system_message(body, "input", text)
        else:
            body["instructions"] = text


def _blocks(old: Any, new: dict[str, Any]) -> list[Any]:
    """The new text in the place of all texts, with what says how it is cached."""
    blocks = old if isinstance(old, list) else []
    texts = [block for block in blocks if _has_text(block) or isinstance(block, str)]
    kept = {key: value for block in texts if isinstance(block, dict) for key, value in block.items() if key == "cache_control"}
    return [{**new, **kept}, *(block for block in blocks if block not in texts)]


def _put_system_message(body: dict[str, Any], field: str, text: str) -> None:
    messages = body.get(field)
    if not isinstance(messages, list):
        return
    old = _system_messages(messages)
    if not old:
        messages.insert(0, {"role": "system", "content": text})
        return
    old[0]["content"] = text
    body[field] = [message for message in messages if not any(message is other for other in old[1:])]


def _same(masked: Any, path: str, was: Any) -> list[str]:
    """The places where this message stands in a request: its own, else (the history was cut or summed up) all that hold the same."""
    if _equal(get(masked, path), was):
        return [path]
    last = keys(path)[-1]
    if not isinstance(was, (str, dict, list)) or was in ("", [], {}):
        return []
    return [other for other, value in _walk(masked, "") if keys(other)[-1] == last and _equal(value, was)]


def _equal(one: Any, other: Any) -> bool:
    return one is not NOTHING and _neutral(one) == _neutral(other)


def _neutral(value: Any) -> Any:
    if isinstance(value, str):
        return neutral(value)
    if isinstance(value, dict):
        return {key: _neutral(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_neutral(item) for item in value]
    return value


def _walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            if not re.search(r"[.\[\]]", key):
                yield from _walk(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, f"{path}[{number}]")


# -- in an editor ----------------------------------------------------------------------------------------------------------

#: Under these keys lies what was said, in every wire format.
_SAID = frozenset({"text", "content", "output", "arguments", "thinking", "instructions", "prompt", "inputText", "message", "system"})
_DATA = frozenset({"json", "input"})


def said(body: Any) -> list[tuple[str, str]]:
    """(path, text) of all that can be edited as text, in the request's order: what was said, and tools' results that are JSON (as JSON)."""
    out: list[tuple[str, str]] = []
    for path, value in _walk(body, ""):
        way = keys(path)
        last = next((key for key in reversed(way) if isinstance(key, str)), "")
        if isinstance(value, str) and last in _SAID:
            out.append((path, value))
        elif last in _DATA and way[-1] == last and isinstance(value, dict) and len(way) > 1:
            out.append((path, json.dumps(value, ensure_ascii=False, indent=1)))
    return [(path, text) for path, text in out if not path.startswith(("tools", "toolConfig"))]


def sheet(body: Any, title: str) -> str:
    """The page that a person edits: one part a text, each below a line that names its place."""
    parts = said(body)
    rule = _rule(parts)
    lines = [f"# {title}", f"# Change what is below the lines that begin with {rule}; leave those lines as they are."]
    for path, text in parts:
        lines += [f"{rule} {path}", text]
    return "\n".join(lines) + "\n"


def changed_in(body: Any, page: str) -> list[Edit]:
    """What was changed on the page of ``sheet``. Raises ``UsageError`` for a page whose lines do not fit."""
    parts = said(body)
    rule = _rule(parts)
    found: dict[str, list[str]] = {}
    at: list[str] | None = None
    for line in page.removesuffix("\n").split("\n"):
        if line.startswith(rule + " "):
            at = found.setdefault(line[len(rule) + 1 :].strip(), [])
        elif at is not None:
            at.append(line)
    known = dict(parts)
    if unknown := [path for path in found if path not in known]:
        raise UsageError(f"the edited page names {unknown[0]}, which is no place in the request; leave the lines with {rule} as they are")
    edits = []
    for path, lines in found.items():
        text = "\n".join(lines)
        if text == known[path] or text == known[path].removesuffix("\n"):
            continue
        was = get(body, path)
        value: Any = text
        if isinstance(was, dict):
            try:
                value = json.loads(text)
            except ValueError as error:
                raise UsageError(f"what was written at {path} is no JSON, {error}; edit it again") from None
        edits.append(Edit(what=f"body.{path}", value=value, was=was))
    return edits


def _rule(parts: list[tuple[str, str]]) -> str:
    rule = "===="
    while any(line.startswith(rule) for _, text in parts for line in text.split("\n")):
        rule += "="
    return rule
