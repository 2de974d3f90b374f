"""Phrases that every rendering uses alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.providers.model import CACHED_WITHIN

from .values import one_line, quoted, textual, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .bundle import Change, Detail
    from .shapes import Run, Seen, Step, Story


def ending(story: Story) -> str:
    """How the session ended, as a clause."""
    end = story.end
    if end is None:
        return "the log has no end"
    match end.status:
        case "ok":
            return "it ended by itself, exit code 0" if end.exit_code == 0 else "it ended by itself"
        case "error":
            return f"it ended with exit code {end.exit_code}" if end.exit_code is not None else "it ended with an error"
        case "killed":
            return f"it was killed by signal {end.signal}" if end.signal is not None else "it was killed"
        case "stopped":
            return "the fork was stopped there, since nothing could answer its next call"
        case "lost":
            return "nobody saw its end"
        case "imported":
            return "the transcript ends here"
    return f"it ended as {visible(one_line(end.status, 40))}"


def run_verdict(run: Run) -> str:
    """How a run ended, in a word or two."""
    if run.outcome == "asked":
        return "no result recorded"
    if run.outcome == "cut":
        return "cut: its end is not in the record"
    if run.exit_code is not None:
        return f"exit code {run.exit_code}"
    if run.status is not None:
        return f"status {run.status}"
    return run.outcome


def history(seen: Seen) -> str:
    """How a request relates to the one before it, as a clause; empty where there is nothing to say."""
    match seen.history:
        case "shortened":
            return f"history shortened: {seen.dropped} of the messages of step {seen.since_step} are gone"
        case "rewritten":
            return f"history rewritten: {seen.dropped} of the messages of step {seen.since_step} were replaced"
        case "restarted":
            return f"none of the {seen.dropped} messages of step {seen.since_step} are in this request"
        case "same":
            return f"the same messages as step {seen.since_step}"
        case "kept_by_provider":
            return f"continues step {seen.since_step}, whose messages the provider keeps"
        case "grew":
            return f"after the {seen.kept} messages of step {seen.since_step}"
    return ""


def flags(seen: Seen) -> list[str]:
    """What changed in a request besides its messages, one clause each."""
    found = []
    if seen.system_changed:
        found.append("system prompt changed")
    for word, names in (("added", seen.tools_added), ("removed", seen.tools_removed), ("changed", seen.tools_altered)):
        if names:
            found.append(f"tools {word}: {', '.join(visible(one_line(name, 40)) for name in names[:8])}")
    return found


def usage(counts: Mapping[str, int], provider: str | None = None) -> str:
    """``1,204 → 88 tokens``; what came from a cache beside it: ``404 (+800 cached) → 88 tokens``. Empty where nothing is known."""
    read, written, cached = (_counts(counts, provider).get(name) for name in _COUNTS)
    if read is None and written is None:
        return ""
    more = f" (+{cached:,} cached)" if cached else ""
    return f"{_number(read)}{more} → {_number(written)} tokens"


def total_usage(steps: tuple[Step, ...]) -> dict[str, int]:
    """The sum of what the answers reported, what came from caches apart from the input."""
    found: dict[str, int] = {}
    for step in steps:
        for name, count in _counts(step.call.usage, step.call.provider).items():
            found[name] = found.get(name, 0) + count
    return found


def input_tokens(counts: Mapping[str, int], provider: str | None) -> int | None:
    """All that the provider counted of a request, from a cache or not."""
    read = counts.get("input_tokens")
    if read is None or provider in CACHED_WITHIN:
        return read
    return read + counts.get("cache_read_tokens", 0) + counts.get("cache_write_tokens", 0)


_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens")


def _counts(counts: Mapping[str, int], provider: str | None) -> dict[str, int]:
    found = {name: counts[name] for name in _COUNTS if name in counts}
    if provider in CACHED_WITHIN and "input_tokens" in found:
        found["input_tokens"] = max(found["input_tokens"] - found.get("cache_read_tokens", 0), 0)
    return found


def money(cost: float, currency: str) -> str:
    """A sum of money: of small ones, the digits that matter."""
    if 0 < cost < 0.001:
        return f"{cost:.7f}".rstrip("0") + f" {currency}" if cost >= 0.0000001 else f"<0.0000001 {currency}"
    return f"{cost:,.4f} {currency}" if 0 < cost < 1 else f"{cost:,.2f} {currency}"


def _number(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def model_name(step: Step) -> str:
    """The served model where the answer names one, else the requested."""
    return visible(step.call.served_model_id or step.call.model_id or "a model")


def model_words(value: Mapping[str, Any]) -> str:
    """Requested and served model of a bundle's fact, as a clause."""
    requested, served = value.get("requested"), value.get("served")
    if served is None or served == requested:
        return visible(one_line(str(requested or "not named"), 200))
    return visible(one_line(f"{requested or 'not named'}, served by {served}", 400))


_ONE_OF = {"prompts": "prompt", "models": "model", "tools": "tool", "guardrails": "guardrail", "packages": "package"}
#: Differences in one change that a clause names; the rest is counted.
_MOST_DETAILS = 6
#: Characters of a text before the first one that differs, and in all.
_BEFORE, _SHOWN = 40, 160


def change_name(change: Change) -> str:
    """What is different: ``tool bash``, ``repository sha``, ``system prompt``, ``agent``."""
    if change.what == "prompts":
        return "system prompt" if change.key == "system text" else visible(one_line(change.key, 200))
    return f"{_ONE_OF.get(change.what, change.what)} {visible(one_line(change.key, 160))}".strip()


def change_words(change: Change, *, texts: bool = True) -> str:
    """A difference of two bundles as a clause. Without ``texts``, those are left to ``change_lines``, which are to follow."""
    name = change_name(change)
    details = [words for detail in change.details if (words := _detail(detail, change, texts=texts))]
    if details:
        more = f"; {len(details) - _MOST_DETAILS} more differences" if len(details) > _MOST_DETAILS else ""
        new = " is new" if change.before is None else " is gone" if change.after is None else ""
        return f"{name}{new}: {'; '.join(details[:_MOST_DETAILS])}{more}"
    if not texts and any(detail.lines for detail in change.details):
        return name
    before, after = _value(change, change.before), _value(change, change.after)
    if change.before is None:
        return f"{name} is new ({after})"
    if change.after is None:
        return f"{name} is gone (was {before})"
    return f"{name}: {before} → {after}"


def change_lines(change: Change) -> list[str]:
    """The hunks of the texts that differ, one text after another; each begins with what it is where there are several."""
    told = [detail for detail in change.details if detail.lines]
    out: list[str] = []
    for detail in told:
        if len(told) > 1:
            out.append(f"@ {detail.name}, " + " and ".join(f"#{seq}" for seq in detail.seqs if seq is not None))
        out += detail.lines
    return out


def _value(change: Change, value: Any) -> str:
    if change.what != "models":
        return brief(value)
    return " | ".join(model_words(one) for one in value) if isinstance(value, list) else model_words(value or {})


def _detail(detail: Detail, change: Change, *, texts: bool) -> str:
    if detail.lines:
        name = "" if change.what == "prompts" else detail.name
        return " ".join(filter(None, (name, _lines(detail.lines)))) if texts else "" if change.what == "prompts" else detail.name
    if detail.before is None and change.before is None:
        return quoted(str(detail.after))
    if detail.after is None and change.after is None:
        return f"was {quoted(str(detail.before))}"
    if change.what == "prompts":
        return f"too long to compare, {brief(detail.before)} → {brief(detail.after)}"
    none = "left to the provider" if change.what == "parameters" else "not there"
    before, after = (none if value is None else _short(value) for value in (detail.before, detail.after))
    return f"{visible(detail.name)} {before} → {after}"


def _short(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"one of"}:
        return " or ".join("left to the provider" if one is None else _short(one) for one in value["one of"])
    return quoted(value) if isinstance(value, str) else brief(value)


def _lines(lines: tuple[str, ...]) -> str:
    """Hunks in a few words: the first line that was, the first that is, and how many there are."""
    gone = [line[1:] for line in lines if line.startswith("-") and line[1:].strip()]
    come = [line[1:] for line in lines if line.startswith("+") and line[1:].strip()]
    if not gone or not come:
        found = come or gone
        if not found:
            return "blank lines"
        more = f" and {len(found) - 1} more lines" if len(found) > 1 else ""
        return f"{quoted(found[0])}{more} {'came' if come else 'is gone' if not more else 'are gone'}"
    before, after = _apart(gone[0], come[0])
    more = f", −{len(gone)} +{len(come)} lines in all" if len(gone) + len(come) > 2 else ""
    return f"{before} → {after}{more}"


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two lines, each from a little before they part."""
    if max(len(one), len(other)) <= _SHOWN:
        return quoted(one), quoted(other)
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(common - _BEFORE, 0)
    begin = "…" if start else ""
    return quoted(begin + one[start:]), quoted(begin + other[start:])


def brief(value: Any) -> str:
    """A value of a bundle in a few words."""
    if value is None:
        return "–"
    if isinstance(value, dict):
        return ", ".join(f"{visible(str(key))} {brief(item)}" for key, item in value.items() if item is not None) or "none"
    if isinstance(value, list):
        return " | ".join(brief(item) for item in value) or "none"
    words = value if isinstance(value, str) else textual(value)
    return visible(one_line(words, 120)) or quoted("")


def confidence_words(confidence: float) -> str:
    """How sure a finding is, for people (the steps of ``analyses/contract.py``)."""
    if confidence >= 0.9:
        return "the record shows it"
    if confidence >= 0.75:
        return "well supported"
    return "likely" if confidence >= 0.6 else "one of several explanations"


def forked(origin: dict[str, Any]) -> str:
    """Of a fork: what it is a fork of, and that it is one."""
    changed = ", ".join(str(one) for one in origin.get("changed") or ()) or "nothing"
    what = "asked again from" if origin.get("by") == "reask" else "a fork of"
    return f"not what happened: {what} {origin.get('session_id')} at step {origin.get('step')}, changed: {changed}"
