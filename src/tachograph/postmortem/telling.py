"""What a step shows, decided once for every rendering: the blocks of a story, without any look.

A *block* is a labelled piece of text of a step: new system text, a new message, thinking, the answer. Results of
tools are left to the cards of their runs and are only pointed at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .redacted import kind_words
from .shapes import Mark, Run
from .values import arguments, one_line, textual
from .when import duration
from .wording import flags, history, model_name, money, usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tachograph.providers.conversation import Part

    from .costs import Costs
    from .shapes import Item, Step, Story

BlockKind = Literal["system", "tools", "user", "assistant", "tool", "other", "thinking", "reply", "results", "missing"]


@dataclass(frozen=True, kw_only=True)
class Block:
    """``label`` says who speaks; ``text`` what; ``prose`` whether lines may be re-wrapped."""

    kind: BlockKind
    label: str
    text: str
    prose: bool = True


def heading(step: Step, *, lanes: bool, costs: Costs | None = None) -> list[str]:
    """The facts that stand in a step's heading, most important first."""
    found = [model_name(step)]
    if step.call.duration_ms is not None:
        found.append(duration(step.call.duration_ms))
    tokens = usage(step.call.usage, step.call.provider)
    found += [tokens] if tokens else []
    if costs is not None and step.number in costs.steps:
        found.append(money(costs.steps[step.number], costs.currency))
    found += [step.lane] if lanes and step.lane else []
    if step.call.prompt:
        found.append(f"prompt {_short_id(step.call.prompt.get('id'))} version {step.call.prompt.get('version', '?')}")
    if step.call.guardrail:
        verdict = step.call.guardrail.get("action")
        found.append(f"guardrail {step.call.guardrail.get('id', '?')}" + (f" {verdict}" if verdict else ""))
    if step.call.finish_reason not in (None, "end_turn", "stop", "tool_use", "tool_calls", "completed"):
        found.append(f"finished by {step.call.finish_reason}")
    if step.call.redactions:
        found.append(redacted_words(step.call.redactions, step.redacted_kinds))
    return found


def redacted_words(count: int, kinds: dict[str, int]) -> str:
    """``3 redacted (github-token ×2, password)``."""
    return f"{count} redacted" + (f" ({kind_words(kinds)})" if kinds else "")


def _short_id(value: object) -> str:
    return str(value or "?").rsplit("/", 1)[-1]


def warnings(step: Step) -> list[str]:
    """What a reader must not miss about a request: altered histories, prompts and tools."""
    found = [history(step.seen)] if step.seen.history in ("shortened", "rewritten", "restarted") else []
    return found + flags(step.seen)


@dataclass(frozen=True)
class Known:
    """The runs of a story by the id under which a model asked for them, and by event."""

    by_call: dict[str, Run]
    by_event: dict[str, Run]

    @classmethod
    def of(cls, story: Story) -> Known:
        """All runs of a story."""
        runs = [run for _, run in story.runs()]
        return cls({run.call_id: run for run in runs if run.call_id is not None}, {run.event_id: run for run in runs})

    def around(self, step: Step) -> Run | None:
        """The tool call within which a step happened."""
        return self.by_event.get(step.inside) if step.inside is not None else None


def blocks(step: Step, known: Known) -> Iterator[Block]:
    """The blocks of a step in the order in which they happened."""
    seen = step.seen
    if seen.state == "unreadable":
        yield Block(kind="missing", label="request", text="unreadable")
    if seen.system:
        yield Block(kind="system", label="system", text="\n\n".join(words(part) for part in seen.system))
    if seen.tools and seen.since_step is None:
        yield Block(kind="tools", label="tools", text=", ".join(seen.tools))
    for new in seen.messages:
        if not new.echo:
            yield from _message(new.message.role, new.message.parts, known)
    yield from reply_blocks(step)


def _message(role: str, parts: Sequence[Part], known: Known) -> Iterator[Block]:
    pointed: list[str] = []
    spoken: list[str] = []
    for part in parts:
        run = known.by_call.get(part.call_id) if part.type == "tool_result" and part.call_id else None
        if run is not None and run.outcome != "asked":
            pointed.append(one_line(run.name, 40))
        elif part.type == "tool_use":
            spoken.append(f"[asks for {part.name or 'a tool'}]")
        elif part.type == "thinking":
            yield Block(kind="thinking", label=f"{role}, thinking", text=words(part))
        else:
            spoken.append(words(part))
    if pointed:
        yield Block(kind="results", label="results", text="given back: " + ", ".join(pointed))
    if spoken:
        kind: BlockKind = role if role in ("user", "assistant", "tool") else "other"  # type: ignore[assignment]
        yield Block(kind=kind, label=role or "message", text="\n\n".join(spoken), prose=all(part.type == "text" for part in parts))


def reply_blocks(step: Step) -> Iterator[Block]:
    """What the model answered, without its tool calls: those have cards."""
    for part in step.reply:
        if part.type == "thinking":
            yield Block(kind="thinking", label="thinking", text=words(part))
        elif part.type not in ("tool_use", "tool_result") and words(part).strip():
            yield Block(kind="reply", label="model", text=words(part), prose=part.type == "text")
    if step.reply_value.state == "unreadable":
        yield Block(kind="missing", label="answer", text="unreadable")


def words(part: Part) -> str:
    """A part as text; pictures and the like by kind and size."""
    if part.type in ("image", "document") and not part.text:
        return f"[{part.type}, {len(textual(part.value)):,} characters of data]"
    return part.text or textual(part.value)


def several_lanes(story: Story) -> bool:
    """Whether it is worth saying in which lane a step ran."""
    return len({step.lane for step in story.steps}) > 1


def worth_telling(item: Item) -> bool:
    """Whether an item belongs in a reader's way. That a process of the agent came and went is not, unless it failed."""
    return not (isinstance(item, Mark) and item.kind == "process" and not item.bad)


def shows_input(run: Run) -> bool:
    """Whether a run's input says more than its title does."""
    if run.kind == "process" or not run.input.there:
        return False
    return run.kind == "http" or run.title != f"{run.name}({arguments(run.input.value, 1 << 30, 1 << 30)})"


def shows_output(run: Run) -> bool:
    """Whether a run's output is worth showing: not where a command within it printed the same."""
    text = _squashed(run.output.text())
    return not text or all(text not in _printed(child) for child in run.children if isinstance(child, Run))


def _printed(run: Run) -> set[str]:
    """A run's output as a tool may have passed it on: a stream alone, or both."""
    value = run.output.value
    if not isinstance(value, dict):
        return {_squashed(run.output.text())}
    out, err = (_squashed(textual(value.get(name))) for name in ("stdout", "stderr"))
    return {out, err, out + err, err + out}


def _squashed(text: str) -> str:
    return "".join(text.split())


def input_text(run: Run) -> str:
    """A run's input, its texts as they are rather than as JSON spells them."""
    value = run.input.value
    if not isinstance(value, dict) or not any(isinstance(item, str) and "\n" in item for item in value.values()):
        return run.input.text()
    return "\n".join(
        f"{key}:\n{item.rstrip()}" if isinstance(item, str) and "\n" in item else f"{key}: {textual(item)}" for key, item in value.items()
    )


def run_facts(run: Run) -> list[str]:
    """What stands beside a call: source, effect, time."""
    found = [duration(run.duration_ms)] if run.duration_ms is not None else []
    if run.effect:
        found.append(f"effect {run.effect}")
    if run.source == "provider":
        found.append("run by the provider")
    if not run.exact:
        found.append("result not exact")
    if run.redactions:
        found.append(redacted_words(run.redactions, run.redacted_kinds))
    if run.trouble_inside and not run.bad:
        found.append("something within it failed")
    return found
