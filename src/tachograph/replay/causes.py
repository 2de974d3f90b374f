"""What usually makes a difference like this one. A guess, and told as one; but what has a name can be looked for.

Where the agent read a clock, entropy or the like, and the tape could not answer it (``unrecorded``), that is named: it is no guess then.
"""

from __future__ import annotations

import collections
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tachograph.redact.placeholder import PROTECTED, neutral

from . import volatile
from .difference import MISSING, Difference
from .tape import TapeCall
from .unify import Clash

#: ``cause`` of a divergence → what it is.
CAUSES = {
    "clock": "a date, a time or a duration",
    "entropy": "a random value: an id, a name of a temporary file, a drawn number",
    "order": "the same things in another order: a set, a folder's names, threads or tasks",
    "environment": "the machine: a path, a port, a process number, a host's name",
    "prompt": "a changed prompt",
    "code": "the agent's code is not what was recorded",
    "tap": "something that no tap sees: it was not recorded, so it is not answered",
    "secret": "a masked value is another one",
    "model": "another model or parameter",
    "tools": "other tool definitions",
    "sdk": "another version of a library",
    "endpoint": "another address",
    "command": "another command",
    "extra": "one call more than was recorded",
    "clash": "values that do not map one to one",
    "unknown": "nothing that has a name here",
}

#: Kinds of values (``volatile``) and of ambient reads → the cause that they are a sign of.
_SIGNS = {
    "date": "clock", "epoch": "clock", "uuid": "entropy", "hex": "entropy", "id": "entropy", "tmp": "entropy", "name": "entropy",
    "port": "environment", "pid": "environment",
}  # fmt: skip
_READS = {
    "clock": "clock", "monotonic": "clock", "entropy": "entropy", "random": "entropy", "listing": "order", "identity": "environment",
    "files": "environment", "sqlite": "clock",
}  # fmt: skip

#: A number of many digits behind the point is drawn or measured.
_FRACTION = re.compile(r"\d\.\d{6,}")
_MEASURED = re.compile(r"(?:elapsed|duration|latency|took|seconds|millis|_ms|_at|time)", re.IGNORECASE)
_UNIT = re.compile(r"\d ?(?:ns|us|µs|ms|s|sec|seconds|minutes|ago)\b")
_DRAWN = re.compile(r"(?:seed|nonce|random|jitter|uuid|token|salt|sample)", re.IGNORECASE)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,16}\b")
_PATH = re.compile(r"(?:^|[\s\"'=(])(?:/[\w.@+-]+){2,}|[A-Z]:\\")
_WORDS = re.compile(r"[^\s,;|\[\]{}()'\"]+")
#: What stands between all that separates paths, the variables of a query and the like. Times are written so, too.
_ITEMS = re.compile(r"[^\s,;:=|&?\[\]{}()'\"<>]+")

_ADVICE = {
    "clock": "hand it in as an argument or by a declared tool, or let the clock be replayed (no --live clock)",
    "entropy": "seed it, hand it in, or replay with --lenient, which takes such values as variables",
    "order": "sort it before it is used",
    "environment": "make it an argument or a fixed name below the workspace, or replay with --lenient",
}


class Cause(NamedTuple):
    """``kind``: one of ``CAUSES``; ``hint``: a sentence."""

    kind: str
    hint: str


def none_left(kind: str, name: str, calls: list[TapeCall]) -> Cause:
    """No recorded call of that kind is unused."""
    if any(call.kind == kind for call in calls):
        return Cause(
            "extra",
            "every recorded call of this kind was used already: the agent makes one call more than it did; look at what ends its loop, or "
            "at what makes it try again",
        )
    return Cause(
        "tap",
        f"the recording holds no {kind} call at all: the agent's code has changed, or what made {name or 'it'} was not tapped when it was recorded",
    )


def other_lane(recorded: str, live: str) -> Cause:
    """The same request from elsewhere."""
    return Cause(
        "order", f"the same request, but in lane {live} instead of {recorded}: the agent starts its threads or tasks in another order"
    )


def clashes(clash: Clash) -> Cause:
    """Lenient, and yet not."""
    more = ""
    if clash.kind in ("date", "epoch"):
        more = "; a replay is faster than its recording, so moments that differed may fall together: let the clock be replayed"
    return Cause("clash", f"{clash}: values must map one to one over the whole session{more}")


def of(differs: Difference, recorded: Any, live: Any, *, model: bool, unrecorded: Mapping[tuple[str, str], int]) -> Cause:
    """The cause of a difference between two canonical requests."""
    secret = _masked(differs)
    if secret is not None:
        return secret
    seen = _seen(differs, recorded, live, unrecorded)
    if seen:
        return _named(seen, unrecorded)
    return _by_place(differs.where, model=model, unrecorded=unrecorded)


def of_ending(
    kind: str, differs: Difference, recorded: Any, live: Any, *, refused: list[Mapping[str, Any]], code_changed: list[str],
    unrecorded: Mapping[tuple[str, str], int],
) -> Cause:  # fmt: skip
    """The cause of another output or ending, when all calls matched."""
    what = "printed" if kind == "output" else "ended"
    so_far = f"the agent {what} differently with the same answers: "
    if refused:
        first = refused[0]
        network = first.get("what") in ("connect", "socket", "getaddrinfo", "sendto")
        why = f"what the guard refused it ({first.get('what')} {first.get('where')}), which nothing had refused it when it was recorded"
        return Cause("tap" if network else "environment", so_far + why)
    seen = _seen(differs, recorded, live, unrecorded) if kind == "output" else None
    if seen:
        cause = _named(seen, unrecorded)
        return Cause(cause.kind, so_far + cause.hint)
    if code_changed:
        return Cause("code", f"{so_far}its code is not what was recorded ({', '.join(code_changed[:3])})")
    if unrecorded:
        cause = _named(_likeliest(unrecorded), unrecorded)
        return Cause(cause.kind, so_far + cause.hint)
    return Cause(
        "unknown", f"{so_far}its own code decides there, or something that no tap sees: standard input, a file, a library's native code"
    )


def in_code(cause: Cause, site: str | None, code_changed: list[str]) -> Cause:
    """The cause, where the agent's code is known to be another one."""
    if not code_changed or cause.kind in ("clock", "entropy", "clash", "code"):
        return cause
    path = (site or "").rpartition(":")[0]
    here = next((name for name in code_changed if path and posixpath.normpath(path).endswith("/" + name)), None)
    if here is None and cause.kind not in ("unknown", "extra", "tap", "prompt", "command"):
        return cause
    return Cause("code", f"{cause.hint}; the agent's code is not what was recorded ({here or ', '.join(code_changed[:3])})")


def in_files(cause: Cause, files: Sequence[Mapping[str, Any]]) -> Cause:
    """The cause, where files outside of the workspace are known to be others than the agent read when it was recorded."""
    if not files or cause.kind in ("clock", "entropy", "order", "clash", "secret", "code"):
        return cause
    named = ", ".join(f"{file['path']}: {file['why']}" for file in files[:3])
    more = f", and {len(files) - 3} more" if len(files) > 3 else ""
    what = f"a file outside of the workspace that the agent read is not what it was ({named}{more})"
    advice = "put it back, or keep it in the workspace, which is recorded"
    if cause.kind in ("prompt", "unknown"):
        return Cause("environment", f"{what}; {advice}")
    return Cause("environment", f"{cause.hint}; {what}; {advice}")


def _named(kind: str, unrecorded: Mapping[tuple[str, str], int]) -> Cause:
    places = [
        site for (read, site), _ in sorted(unrecorded.items(), key=lambda item: -item[1]) if _READS.get(read.partition(".")[0]) == kind
    ]
    known = f", read in {' and '.join(places[:3])}, where the recording has no value for it" if places else ""
    return Cause(kind, f"{_WHAT[kind]}{known}; {_ADVICE[kind]}")


_WHAT = {
    "clock": "the clock: a date, a time or a duration is another one",
    "entropy": "entropy: a random value is another one",
    "order": "order: the same things in another order, as of a set, a folder's names, threads or tasks",
    "environment": "the environment: a path, a port, a process number or a host's name is another one",
}


def _seen(differs: Difference, recorded: Any, live: Any, unrecorded: Mapping[tuple[str, str], int]) -> str | None:
    """What the values say, and what was read that the tape could not give. That the same things stand in another order is no guess, so it
    comes first: two paths that changed places look like two other paths."""
    if _reordered(differs, recorded, live):
        return "order"
    only = _only(unrecorded)
    if only:
        return only
    seen = _in_value(differs)
    if seen not in (None, "environment"):
        return seen
    # The last: a folder that has other names than it had, among other things that were read.
    moved = _same_things(differs, _ITEMS) or ("order" in _causes(unrecorded) and _is_path(differs))
    return "order" if moved else seen


def _is_path(differs: Difference) -> bool:
    return differs.words is not None and all(_PATH.search(" " + word) for word in differs.words)


def _causes(unrecorded: Mapping[tuple[str, str], int]) -> set[str | None]:
    return {_READS.get(read.partition(".")[0]) for read, _ in unrecorded}


def _only(unrecorded: Mapping[tuple[str, str], int]) -> str | None:
    """The cause, where everything that the tape could not give is of one: surer than what two values look like."""
    causes = _causes(unrecorded)
    return causes.pop() if len(causes) == 1 else None


def _likeliest(unrecorded: Mapping[tuple[str, str], int]) -> str:
    return _READS.get(max(unrecorded.items(), key=lambda item: item[1])[0][0].partition(".")[0], "environment")


def _in_value(differs: Difference) -> str | None:
    """What the two values say of themselves."""
    key = next((step for step in reversed(differs.path) if isinstance(step, str)), "")
    if differs.recorded is MISSING or differs.live is MISSING:
        return None
    if isinstance(differs.recorded, str) and isinstance(differs.live, str):
        return _in_text(differs, key)
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (differs.recorded, differs.live)):
        return None
    found = volatile.number(key, differs.recorded, differs.live)
    if found is not None:
        return _SIGNS[found.kind]
    if _DRAWN.search(key):
        return "entropy"
    if _MEASURED.search(key):
        return "clock"
    return "entropy" if all(_FRACTION.search(repr(each)) for each in (differs.recorded, differs.live)) else None


def _in_text(differs: Difference, key: str) -> str | None:
    at, words = differs.at, differs.words
    assert at is not None
    assert words is not None
    if all(_ADDRESS.search(word) for word in words):
        return "environment"  # an object's address
    ours, theirs = (_part(text, at) for text in (differs.recorded, differs.live))
    if ours is not None and theirs is not None and ours[0] == theirs[0]:
        found = volatile.kinds(*ours, theirs[1]) if ours[1] != theirs[1] else None
        if found:
            kind = next(each.kind for each in found if each.recorded != each.live)
            return _SIGNS[kind]
        if ours[0] in ("date", "epoch"):
            return "clock"
    near = [text[max(0, at - 24) : at + 24] for text in (differs.recorded, differs.live)]
    if all(any(c.isdigit() for c in word) for word in words) and _same_but_digits(*words):
        if all(_UNIT.search(text) for text in near) or all(_MEASURED.search(text) for text in near):
            return "clock"
        if all(_FRACTION.search(word) for word in words) or _DRAWN.search(key) or all(_DRAWN.search(text) for text in near):
            return "entropy"
    return "environment" if _is_path(differs) else None


def _masked(differs: Difference) -> Cause | None:
    """A difference in masked values, or in what is masked."""
    at = differs.at
    if at is None:
        return None
    texts = [neutral(differs.recorded), neutral(differs.live)]
    masked = [any(match.start() <= at < match.end() for match in PROTECTED.finditer(text, max(0, at - 40), at + 40)) for text in texts]
    if all(masked):
        return Cause("secret", "a masked value is another one: the agent has another secret than it had, or reads one that is not restored")
    if any(masked):
        return Cause("secret", "a value is masked in one of them only: another secret, or another policy (tacho replay --secret-from F)")
    return None


def _part(text: str, at: int) -> tuple[str, str] | None:
    part = next((each for each in volatile.split(text)[1] if each.start <= at <= each.end), None)
    return None if part is None else (part.sort, text[part.start : part.end])


def _same_but_digits(one: str, other: str) -> bool:
    digits = re.compile(r"[\d.]+")
    return digits.sub("#", one) == digits.sub("#", other)


def _reordered(differs: Difference, recorded: Any, live: Any) -> bool:
    """Whether the same things stand in another order: the words of a text, and so its lines, or the elements of a list around it."""
    if _same_things(differs, _WORDS):
        return True
    for step in differs.path:
        lists = isinstance(recorded, list) and isinstance(live, list) and 1 < len(recorded) == len(live)
        if lists and sorted(map(_dumped, recorded)) == sorted(map(_dumped, live)):
            return True
        try:
            recorded, live = recorded[step], live[step]
        except (KeyError, IndexError, TypeError):
            return False
    return False


def _same_things(differs: Difference, apart: re.Pattern[str]) -> bool:
    """Whether two texts are made of the same things, which ``apart`` finds. What is in a JSON text is, too."""
    if not isinstance(differs.recorded, str) or not isinstance(differs.live, str) or len(differs.recorded) != len(differs.live):
        return False
    found = [collections.Counter(apart.findall(neutral(text))) for text in (differs.recorded, differs.live)]
    return found[0] == found[1]


def _dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _by_place(path: str, *, model: bool, unrecorded: Mapping[tuple[str, str], int]) -> Cause:
    """What a difference at that place usually is."""
    if ".system" in path or path.startswith("body.instructions"):
        return Cause("prompt", "a changed system prompt")
    if path.startswith(("body.messages", "body.input", "body.prompt", "body.contents")):
        if unrecorded:
            return _named(_likeliest(unrecorded), unrecorded)
        return Cause("prompt", "a changed prompt, or something put into it that was not recorded: a file, standard input, what no tap sees")
    if path.startswith(("body.tools", "body.toolConfig")):
        return Cause("tools", "changed tool definitions")
    if path.startswith("body.") and model:
        return Cause("model", "a changed model or parameter")
    if path.startswith(("host", "path", "query", "method")):
        return Cause("endpoint", "another endpoint: a changed base URL, model id in the path, or a different call altogether")
    if path.startswith("headers"):
        return Cause("sdk", "a changed header, often another version of the SDK")
    if path.startswith(("argv", "shell", "cwd", "env")):
        return Cause("command", "another command, or the same one in another place")
    return Cause("unknown", "a changed input")
