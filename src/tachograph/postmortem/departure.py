"""Where two sessions depart: their actions, aligned; the first that differs; what the model saw there; and what was in force.

An *action* is what a model asked for (a tool with its arguments), or a command or an exchange that the agent made by itself between two
model calls. Answers are no actions: a tool that answers otherwise is told as what the model saw.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tachograph.core.events import SessionStart
from tachograph.format import canonical
from tachograph.providers.conversation import conversation
from tachograph.replay.difference import first_difference

from . import in_force
from .bundle import system_text
from .outline import outline
from .shapes import Run, Step
from .values import ABSENT, arguments, plain, read, visible
from .wording import change_lines, change_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .bundle import Bundle, Change
    from .outline import Outline, Outlined
    from .ports import Recording

#: Lines of a difference between two texts.
_LINES = 60
#: Actions of each session, from where they part, among which it is looked for where they do the same again.
_MEETING = 2_000


@dataclass(frozen=True, kw_only=True)
class Action:
    """``step``: its number, None before the first. ``called``: how it reads as a call, where not by its name and input."""

    name: str
    input: Any
    step: int | None
    seq: int
    called: str | None = None

    @property
    def title(self) -> str:
        """It, as a call."""
        return self.called if self.called is not None else f"{self.name}({arguments(self.input)})"

    @cached_property
    def key(self) -> bytes:
        """Equal for equal actions."""
        return canonical.dumps([self.name, plain(self.input)])

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "input": plain(self.input), "title": self.title, "step": self.step, "seq": self.seq}


@dataclass(frozen=True, kw_only=True)
class Departure:
    """Two sessions, compared. ``at``: the number of actions that both begin with. ``first``: the first action that differs, of each (None
    where there is none left); ``argument``: the first differing argument of two calls of one tool, as (path, one, other). ``meet``: the
    actions of each at which they are the same again. ``saw``: the first difference in what the model was told where they depart, as (path,
    one, other). ``system``: the lines in which the system prompts differ there. ``answers``: where all actions are the same, the first that was
    answered otherwise, as (action, one, other)."""

    sessions: tuple[str, str]
    counts: tuple[int, int]
    at: int
    first: tuple[Action | None, Action | None]
    argument: tuple[str, Any, Any] | None
    meet: tuple[Action, Action] | None
    saw: tuple[str, Any, Any] | None
    system: tuple[str, ...]
    changes: tuple[Change, ...]
    origin: dict[str, Any] | None
    steps: tuple[int | None, int | None]
    answers: tuple[str, Any, Any] | None

    @property
    def same(self) -> bool:
        """All actions are the same."""
        return self.first == (None, None)

    def to_json(self) -> dict[str, Any]:
        one, other = self.first
        return {
            "sessions": list(self.sessions),
            "same": self.same,
            "actions": list(self.counts),
            "common": self.at,
            "first": [one.to_json() if one else None, other.to_json() if other else None],
            "steps": list(self.steps),
            "argument": _triple(self.argument),
            "meet": [action.to_json() for action in self.meet] if self.meet else None,
            "saw": _triple(self.saw),
            "system": list(self.system),
            "in_force": [change.to_json() for change in self.changes],
            "answers": _triple(self.answers),
            "forked_from": self.origin,
        }


def _triple(found: tuple[str, Any, Any] | None) -> dict[str, Any] | None:
    return None if found is None else {"path": found[0], "one": plain(found[1]), "other": plain(found[2])}


def compare(
    one: Recording, other: Recording, *, outlines: tuple[Outline, Outline] | None = None, bundles: tuple[Bundle, Bundle] | None = None
) -> Departure:
    """The second session against the first. ``outlines`` and ``bundles``: theirs, where they are at hand."""
    outlines = outlines or (outline(one), outline(other))
    first, second = (actions(side.items) for side in outlines)
    at = _common(first, second)
    departing = (first[at] if at < len(first) else None, second[at] if at < len(second) else None)
    argument = None
    if departing[0] is not None and departing[1] is not None and departing[0].name == departing[1].name:
        argument = first_difference(plain(departing[0].input), plain(departing[1].input))
    steps = _steps(outlines, departing)
    saw, system = _saw((one, other), steps)
    origin = next((entry.event.forked_from for entry in other.entries if isinstance(entry.event, SessionStart)), {})
    return Departure(
        sessions=(one.session_id, other.session_id), counts=(len(first), len(second)), at=at, first=departing, argument=argument,
        meet=_meet(first[at:], second[at:]), saw=saw, system=system,
        changes=in_force.changes(one, other, bundles=bundles),
        origin=origin if origin and origin.get("session_id") == one.session_id else None,
        steps=(steps[0].number if steps[0] else None, steps[1].number if steps[1] else None),
        answers=_answers(outlines) if departing == (None, None) else None,
    )  # fmt: skip


def _meet(first: Sequence[Action], second: Sequence[Action]) -> tuple[Action, Action] | None:
    """The first actions that are the same again, behind where two part."""
    if not first or not second:
        return None
    one, other = ([action.key for action in side[:_MEETING]] for side in (first, second))
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return next(((first[block.a], second[block.b]) for block in matcher.get_matching_blocks() if block.size), None)


def actions(items: Iterable[Outlined | Step | Run]) -> list[Action]:
    """What was done, in order."""
    found: list[Action] = []
    for item in items:
        if isinstance(item, Run):
            found.append(_own(item, None))
        else:
            asked = [part for part in item.reply if part.type == "tool_use"]
            found += [Action(name=part.name or "?", input=part.value, step=item.number, seq=item.seq) for part in asked]
            names = {part.name for part in asked}
            found += [
                _own(run, item.number) for run in item.items if isinstance(run, Run) and not (run.kind == "tool" and run.name in names)
            ]
    return found


def _own(run: Run, step: int | None) -> Action:
    value = run.input.value if run.input.there else None
    if run.kind == "process" and isinstance(value, dict):
        value = {name: value[name] for name in ("argv", "shell") if name in value}
    elif run.kind == "http" and isinstance(value, dict):
        value = {name: value[name] for name in ("method", "url", "body") if name in value}
    return Action(name=run.name, input=value, called=run.title, step=step, seq=run.seq)


def _common(first: Sequence[Action], second: Sequence[Action]) -> int:
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one.key != other.key:
            return at
    return min(len(first), len(second))


def _steps(
    outlines: tuple[Outline, Outline], departing: tuple[Action | None, Action | None]
) -> tuple[Outlined | Step | None, Outlined | Step | None]:
    """The steps that are to be laid side by side: where the first differing actions were asked for; of a session that has none left, the
    step of the same number, else its last."""
    numbers = [action.step if action is not None else None for action in departing]
    out = []
    for place, side in enumerate(outlines):
        wanted = numbers[place] if numbers[place] is not None else numbers[1 - place]
        steps = side.steps
        out.append(next((step for step in steps if step.number == wanted), steps[-1] if steps else None) if wanted is not None else None)
    return out[0], out[1]


def _saw(
    recordings: tuple[Recording, Recording], steps: tuple[Outlined | Step | None, Outlined | Step | None]
) -> tuple[tuple[str, Any, Any] | None, tuple[str, ...]]:
    requests: list[Any] = []
    texts: list[str] = []
    for recording, step in zip(recordings, steps, strict=True):
        request = read(recording, step.call.prompt_redacted_uri) if step is not None else ABSENT
        if step is None or not request.there:
            return None, ()
        requests.append(plain(request.value))
        texts.append(system_text(conversation(step.call.provider, step.call.operation, request.value).system))
    lines = in_force.text_lines(texts[0], texts[1]) if texts[0] != texts[1] else []
    return first_difference(requests[0], requests[1]), tuple(_most(lines))


def _most(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _LINES else [*lines[:_LINES], f"… and {len(lines) - _LINES} lines more"]


def _answers(outlines: tuple[Outline, Outline]) -> tuple[str, Any, Any] | None:
    """The first run of the same actions that ended otherwise."""
    for one, other in zip(outlines[0].runs(), outlines[1].runs(), strict=False):
        if one.title != other.title:
            return None
        here, there = one.output.text() or one.error.text(), other.output.text() or other.error.text()
        if here != there:
            found = first_difference(here, there)
            return (one.title, *(found[1:] if found else (here, there)))
    return None


# -- in words --------------------------------------------------------------------------------------------------------------


def lines(found: Departure) -> list[str]:
    """For a terminal."""
    one, other = found.sessions
    out = [f"- {one}", f"+ {other}" + _fork(found.origin)]
    if found.same:
        out.append(f"the same {found.at} action{'s' if found.at != 1 else ''} in both")
        if found.answers is not None:
            out += [
                f"first answered otherwise: {_one_line(found.answers[0])}",
                f"  - {_one_line(found.answers[1])}",
                f"  + {_one_line(found.answers[2])}",
            ]
    else:
        out.append(
            f"{found.at} action{'s' if found.at != 1 else ''} in common ({found.counts[0]} and {found.counts[1]} in all); then they depart:"
        )
        for sign, action in zip("-+", found.first, strict=True):
            where = f"step {action.step}, #{action.seq}: {_one_line(action.title)}" if action is not None else "no further action"
            out.append(f"  {sign} {where}")
        if found.argument is not None:
            out += [
                f"  in the argument {found.argument[0]}:",
                f"    - {_one_line(found.argument[1])}",
                f"    + {_one_line(found.argument[2])}",
            ]
        if found.meet is not None:
            out.append(f"  they do the same again at {_one_line(found.meet[0].title)} (#{found.meet[0].seq} and #{found.meet[1].seq})")
    if found.saw is not None:
        out += [
            f"what the model was told there differs first in {found.saw[0]}:",
            f"  - {_one_line(found.saw[1])}",
            f"  + {_one_line(found.saw[2])}",
        ]
    if found.system and not any(change_lines(change) for change in found.changes if change.what == "prompts"):
        out += ["the system prompt there:", *(f"  {visible(line)}" for line in found.system)]
    if found.changes:
        out.append("in force:")
        for change in found.changes:
            out.append(f"  {change_words(change, texts=False)}")
            out += [f"    {_one_line(line)}" for line in _most(change_lines(change))]
    else:
        out.append("in force: the same")
    return out


def _fork(origin: dict[str, Any] | None) -> str:
    if not origin:
        return ""
    return f"  (forked from it at step {origin.get('step')}: {', '.join(origin.get('changed') or ()) or 'nothing changed'})"


def _one_line(value: Any) -> str:
    if value is None:
        return "(none)"
    text = value if isinstance(value, str) else canonical.dumps(plain(value)).decode("utf-8", "replace")
    text = visible(text.replace("\n", "\\n"))
    return text if len(text) <= 240 else text[:239] + "…"
