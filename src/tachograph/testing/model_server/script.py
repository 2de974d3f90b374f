"""The script: what the model says, and what goes wrong on the way.

Which turn answers a request is a function of that request alone, so conversations may run side by side and in any order:

1. the first turn whose ``when`` occurs in what was said since the last assistant message (user text and tool results), and whose
   ``asked`` occurs in the request as it was sent (path and body, as compact JSON);
2. else the turn at position N among those without either, N being the number of assistant messages in the request.

Only faults and draws are counted by the server: each fault of a turn is served once, and the next attempt goes on from there; of a turn's
``draws`` each request that does not ask for temperature 0 gets the next one, round and round.
"""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tachograph.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Fault = int | Literal["drop", "error"]

_GUARDRAIL_KEYS = {"action", "reason", "input", "outputs", "model_output"}
_ACTIONS = ("NONE", "GUARDRAIL_INTERVENED")


class ScriptError(UsageError):
    """A script that cannot be read, or a request that the script has no turn for."""


@dataclass(frozen=True)
class Turn:
    """One answer of the model.

    ``tool_calls``: ``{"name": str, "input": object}`` each.
    ``thinking``: sent where the provider shows it and the request asks for it (Anthropic and Bedrock ``thinking``,
    OpenAI Responses ``reasoning``), otherwise only billed.
    ``when``, ``asked``: see the module.
    ``draws``: scripted randomness, the other answers that this turn may get instead (a turn may stand among its own draws as ``{}``,
    which is this answer itself); at temperature 0 it is always this one.
    ``status``: an HTTP error, or several in order, before the answer proper; ``retry_after_ms`` goes with each.
    ``drop_after``: break the connection once, after this many chunks; of an answer that is not streamed, 0 sends
    nothing and more sends half the body. ``error_after``: end a stream once with the provider's own error event.
    ``first_delay_ms`` before the headers, ``delay_ms`` before each chunk after the first.
    ``chunk_chars``: length of the streamed pieces; by default a piece is a word.
    ``stop_reason``: in Anthropic's words, translated for the others; by default ``tool_use`` or ``end_turn``.
    ``guardrail`` (Bedrock, where the request names a guardrail): ``action`` (``NONE`` or ``GUARDRAIL_INTERVENED``),
    ``reason``, ``input`` and ``outputs`` (assessments as in AWS's ``GuardrailAssessment``), ``model_output`` (what the
    model had said before it was replaced by ``text``).
    ``model``: the model that served the answer, where it is not the one requested.
    """

    text: str = ""
    _: KW_ONLY
    tool_calls: Sequence[Mapping[str, Any]] = ()
    thinking: str = ""
    when: str | None = None
    asked: str | None = None
    draws: Sequence[Turn | Mapping[str, Any]] = ()
    status: int | Sequence[int] = ()
    retry_after_ms: int | None = None
    drop_after: int | None = None
    error_after: int | None = None
    delay_ms: int = 0
    first_delay_ms: int = 0
    chunk_chars: int | None = None
    stop_reason: str | None = None
    guardrail: Mapping[str, Any] | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        for call in self.tool_calls:
            if set(call) != {"name", "input"} or not isinstance(call["name"], str):
                raise ScriptError(f'a tool call is {{"name": text, "input": object}}, not {dict(call)!r}')
        if self.when == "" or self.asked == "":
            raise ScriptError("an empty `when` or `asked` would match every request; leave it out for a turn by position")
        object.__setattr__(self, "draws", tuple(self._drawn(number, drawn) for number, drawn in enumerate(self.draws)))
        if self.guardrail is not None:
            unknown = set(self.guardrail) - _GUARDRAIL_KEYS
            if unknown or self.guardrail.get("action", "NONE") not in _ACTIONS:
                raise ScriptError(f"a guardrail has {sorted(_GUARDRAIL_KEYS)}, with one of {_ACTIONS} as its action")
        bad = [status for status in self.statuses if not 400 <= status <= 599]
        if bad:
            raise ScriptError(f"a status is an HTTP error between 400 and 599, not {bad[0]}")

    def _drawn(self, number: int, drawn: Turn | Mapping[str, Any]) -> Turn:
        if isinstance(drawn, Turn):
            return drawn
        return replace(self, draws=()) if not drawn else _made(Turn, dict(drawn), f"draw {number}")

    @property
    def statuses(self) -> tuple[int, ...]:
        return (self.status,) if isinstance(self.status, int) else tuple(self.status)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What goes wrong at the first attempt, the second, …, before all goes well."""
        faults: list[Fault] = list(self.statuses)
        if self.drop_after is not None:
            faults.append("drop")
        if self.error_after is not None:
            faults.append("error")
        return tuple(faults)


@dataclass(frozen=True)
class Metric:
    """A CloudWatch series. ``values`` are oldest first; the last one belongs to the newest period asked for."""

    namespace: str
    name: str
    values: Sequence[float]
    dimensions: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Script:
    """``alarms`` are in CloudWatch's own words (``AlarmName``, ``StateValue``, …), times as seconds since 1970."""

    turns: Sequence[Turn] = ()
    metrics: Sequence[Metric] = ()
    alarms: Sequence[Mapping[str, Any]] = ()

    def choose(self, heard: str, spoken: int, sent: str = "") -> int:
        """The index of the turn that answers. Raises ScriptError where there is none."""
        by_position = [index for index, turn in enumerate(self.turns) if turn.when is None and turn.asked is None]
        for index, turn in enumerate(self.turns):
            if index not in by_position and (turn.when or "") in heard and (turn.asked or "") in sent:
                return index
        if spoken < len(by_position):
            return by_position[spoken]
        raise ScriptError(
            f"the script has no turn for this request: no `when` matches and it holds {spoken} assistant message(s), "
            f"but only {len(by_position)} turn(s) go by position; add a turn"
        )

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """A script from a JSON file: ``{"turns": […], "metrics": […], "alarms": […]}``, fields as in the classes."""
        try:
            value = json.loads(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            raise ScriptError(f"{path}: cannot be read as JSON: {error}") from error
        try:
            return cls.from_json(value)
        except ScriptError as error:
            raise ScriptError(f"{path}: {error}") from error

    @classmethod
    def from_json(cls, value: object) -> Script:
        known = _fields(cls, value, "the script")
        return cls(
            turns=[_made(Turn, turn, f"turn {n}") for n, turn in enumerate(known.get("turns", ()))],
            metrics=[_made(Metric, metric, f"metric {n}") for n, metric in enumerate(known.get("metrics", ()))],
            alarms=list(known.get("alarms", ())),
        )


_Made = TypeVar("_Made", Turn, Metric)


def _made(kind: type[_Made], value: object, where: str) -> _Made:
    known = _fields(kind, value, where)
    try:
        return kind(**known)
    except (ScriptError, TypeError) as error:  # TypeError: a value of the wrong type, or one that is missing
        raise ScriptError(f"{where}: {error}") from error


def _fields(kind: type[Script | Turn | Metric], value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScriptError(f"{where} is not a JSON object")
    unknown = set(value) - {field.name for field in fields(kind)}
    if unknown:
        raise ScriptError(f"{where} has unknown fields: {', '.join(sorted(unknown))}")
    return value
