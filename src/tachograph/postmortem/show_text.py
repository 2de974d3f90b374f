"""The story as text for a terminal: one scrolling column in which each step shows only what is new.

Every line is a ``rich.text.Text`` no wider than asked for. It reads the same without colour: who speaks is a label,
an error has a ``✗``, a gap says that it is one, and whatever is cut away is counted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tachograph.core.errors import NotFoundError
from tachograph.providers.conversation import conversation

from .case import counted, listed
from .changes import diff_lines, size_words
from .page import Page
from .seen import message_chars, part_chars, parts_chars, tool_texts
from .shapes import Mark, Run, Step, Story
from .telling import (
    Block,
    Known,
    blocks,
    heading,
    input_text,
    reply_blocks,
    run_facts,
    several_lanes,
    shows_input,
    shows_output,
    warnings,
    words,
    worth_telling,
)
from .values import error_text, one_line, plain, read, tokens, visible
from .when import duration, offset
from .wording import ending, forked, history, input_tokens, money, run_verdict, total_usage, usage

if TYPE_CHECKING:
    from rich.text import Text

    from .costs import Costs
    from .ports import Recording

CARD_LINES = 12
MESSAGE_LINES = 24
BRIEF_LINES = 6

_LIMITS = {"system": BRIEF_LINES, "thinking": BRIEF_LINES, "tools": 3}
_MARKS = {
    "guardrail": "◆",
    "git": "◇",
    "approval": "☑",
    "message": "▪",
    "note": "·",
    "gap": "▒▒",
    "workspace": "±",
    "process": "·",
    "printed": "»",
    "unknown": "?",
}


def render(story: Story, *, width: int = 100, only: Story | None = None, left_out: int = 0, costs: Costs | None = None) -> list[Text]:
    """A session as a story. ``only``: what of it is told (``picking.py``), and how much that leaves out."""
    page = Page(width)
    _head(page, story, costs)
    known = Known.of(story)
    lanes = several_lanes(story)
    if only is not None:
        page.line(
            (f"only what was asked for; {counted(left_out, 'other step, run or mark', 'other steps, runs and marks')} left out", "warn")
        )
    for turn in (only or story).turns:
        page.blank()
        page.line((f"━━ Turn {turn.number} ", "turn"), (f"━ {one_line(turn.opening, 200)}" if turn.opening else "━", "turn"))
        for item in turn.items:
            if isinstance(item, Step):
                _step(page, item, known, lanes=lanes, costs=costs)
            elif isinstance(item, Run):
                page.blank()
                _run(page, item, "  ")
            else:
                _mark(page, item, "  ")
    page.blank()
    style = "bad" if story.cut or (story.end is not None and story.end.status == "error") else "turn"
    page.line(("━━ End ━ ", "turn"), (ending(story), style), right=f"#{story.end_seq}" if story.end_seq is not None else "")
    _redacted(page, story)
    return page.lines


def _redacted(page: Page, story: Story) -> None:
    if not story.redacted.kinds:
        return
    page.blank()
    page.line(("━━ Redacted", "turn"))
    wide = max(len("kind"), *(min(len(one.kind), 40) for one in story.redacted.kinds))
    page.line((f"  {'kind':<{wide}}  masked  secrets  events  first", "dim"))
    for one in story.redacted.kinds:
        secrets = str(len(one.fingerprints)) if one.fingerprints else "?"
        page.line((f"  {one.kind:<{wide}}  {one.count:>6,}  {secrets:>7}  {len(one.events):>6,}  #{one.first}", ""))
    page.wrapped(story.redacted.who_saw, indent="  ", style="dim")


def _repeated(page: Page, step: Step, indent: str) -> None:
    for one in step.repeated:
        page.wrapped(f"! {one.words()}", indent=indent, style="warn" if one.origin != "input" else "dim")


def _head(page: Page, story: Story, costs: Costs | None) -> None:
    start = story.start
    name = (start.name or start.agent if start is not None else None) or "session"
    page.line((name, "title"), ("  " + story.session_id, "dim"))
    facts = story.facts.value if isinstance(story.facts.value, dict) else {}
    argv = facts.get("argv")
    if isinstance(argv, list):
        page.line((" ".join(str(word) for word in argv), ""), (f"  in {facts['cwd']}" if facts.get("cwd") else "", "dim"))
    if start is not None and start.source == "import":
        page.line((f"imported from {start.imported_from or 'a transcript'}", ""))
    if start is not None and start.forked_from:
        page.line((forked(start.forked_from), "warn"))
    if start is not None and start.repo_sha:
        where = " ".join(filter(None, (start.repo_url, start.repo_sha[:12], f"on {start.branch}" if start.branch else "")))
        dirty = ", with uncommitted changes" if start.dirty else ""
        if len(where) + len(dirty) <= page.width:
            page.line((where, ""), (dirty, "warn"))
        else:
            page.wrapped(where)
            if dirty:
                page.wrapped(dirty.removeprefix(", "), indent="  ", style="warn")
    counts = [counted(len(story.steps), "step")]
    for kind, word in (("tool", "tool call"), ("process", "command"), ("http", "HTTP request")):
        count = sum(run.kind == kind for _, run in story.runs())
        counts += [counted(count, word)] if count else []
    used = usage(total_usage(story.steps))
    parts = [story.started_at or "at an unknown time", duration(story.duration_ms), *counts, *([used] if used else [])]
    parts += [_money(costs)] if costs is not None and (costs.steps or costs.unknown) else []
    parts.append(f"{story.redactions} redacted")
    page.facts(parts, style="dim")
    for _, mark in story.marks("gap"):
        page.line((f"▒▒ {mark.title}", "bad"), right=f"#{mark.seq}")
    if story.cut:
        page.line((f"✗ {ending(story)}", "bad"))
    for why in dict.fromkeys(why for _, _, why in story.unreadable):
        count = sum(one == why for _, _, one in story.unreadable)
        page.wrapped(f"✗ {counted(count, 'content')} cannot be read: {why}", style="bad")


def _money(costs: Costs) -> str:
    total = costs.total
    without = f"no price is known for {listed(map(visible, costs.unknown), 3)}" if costs.unknown else ""
    if total is None:
        return f"cost unknown: {without}"
    return money(total, costs.currency) + (f" and more: {without}" if without else "")


def _step(page: Page, step: Step, known: Known, *, lanes: bool, costs: Costs | None) -> None:
    page.blank()
    around = known.around(step)
    facts = heading(step, lanes=lanes, costs=costs) + ([f"within {one_line(around.name, 40)} #{around.seq}"] if around is not None else [])
    facts.append(offset(step.start_ms))
    style, line = "bad" if step.bad else "step", " · ".join(facts)
    if len(line) + 18 < page.width:
        page.line((f"Step {step.number}", style), (f" · {line}", "dim"), right=f"#{step.seq}")
    else:
        page.line((f"Step {step.number}", style), (f" · {facts[0]}", "dim"), right=f"#{step.seq}")
        page.facts(facts[1:], indent="  ", style="dim")
    for attempt in step.attempts:
        status = f" {attempt.status}" if attempt.status is not None else ""
        said = one_line(error_text(attempt.error), 160)
        took, right = f" · {duration(attempt.duration_ms)}", f"#{attempt.seq}"
        tried = f"  ↻ {attempt.outcome}{status}"
        if len(tried) + len(said) + len(took) + len(right) + 3 <= page.width:
            page.line((f"{tried}: {said}", "bad"), (took, "dim"), right=right)
        else:
            page.line((tried, "bad"), (took, "dim"), right=right)
            page.wrapped(said, indent="  │ ", style="bad", lines=BRIEF_LINES)
    for warning in warnings(step):
        page.wrapped(f"! {warning}", indent="  ", style="warn")
    if step.seen.state == "there" and not warnings(step) and step.seen.history in ("same", "kept_by_provider"):
        page.line((f"  {history(step.seen)}", "dim"))
    _repeated(page, step, "  ")
    for block in blocks(step, known):
        _block(page, block)
    if step.bad:
        page.wrapped(f"✗ {step.call.outcome}: {error_text(step.error) or 'no answer'}", indent="  ", style="bad", lines=CARD_LINES)
    for item in step.items:
        if isinstance(item, Run):
            _run(page, item, "  ")
        else:
            _mark(page, item, "  ")


def _block(page: Page, block: Block) -> None:
    if block.kind == "results":
        page.line((f"  ↩ {block.text}", "dim"))
        return
    style = "bad" if block.kind == "missing" else "thinking" if block.kind == "thinking" else ""
    page.line((f"  {block.label}", block.kind if block.kind in ("user", "reply", "assistant", "tool") else "dim"))
    page.wrapped(block.text, indent="  │ ", style=style, lines=_LIMITS.get(block.kind, MESSAGE_LINES), prose=block.prose)


def _run(page: Page, run: Run, indent: str) -> None:
    sign = "?" if run.outcome == "asked" else "✗" if run.bad else "▸"
    style = "bad" if run.bad and run.outcome != "asked" else "warn" if run.outcome == "asked" else "tool"
    verdict = run_verdict(run)
    facts = " · ".join([verdict, *run_facts(run)])
    right = "".join(f" #{seq}" for seq in (run.seq, *run.also)).strip()
    title = one_line(run.title, 400)
    room = page.width - len(indent) - len(facts) - len(right) - 8
    if len(title) <= max(room, 24):
        page.line((f"{indent}{sign} {title}", style), (f"  {facts}", "bad" if run.bad else "dim"), right=right)
    else:
        page.wrapped(f"{sign} {title}", indent=indent, style=style, lines=4)
        page.line((f"{indent}  {facts}", "bad" if run.bad else "dim"), right=right)
    bar = indent + "│ "
    if shows_input(run):
        page.wrapped(input_text(run), indent=bar, style="dim", lines=CARD_LINES)
    for value, label, look in ((run.output, "", ""), (run.error, "", "bad"), (run.given, "the model was told: ", "warn")):
        text = error_text(value) if look == "bad" else value.text()
        if text and (value is not run.output or shows_output(run)):
            look = "bad" if value.state == "unreadable" else look
            page.wrapped(label + text, indent=bar, style=look, lines=CARD_LINES, ends=run.bad)
    _changes(page, run, bar)
    for child in run.children:
        if isinstance(child, Run):
            _run(page, child, bar)
        else:
            _mark(page, child, bar)


def _changes(page: Page, item: Run | Mark, indent: str) -> None:
    for change in item.changes:
        page.line((f"{indent}± {change.path}", "title"), (f"  {change.action}, {size_words(change)}", "dim"))
        page.diff(diff_lines(change.before, change.after), indent=indent + "│ ", lines=CARD_LINES)


def _mark(page: Page, mark: Mark, indent: str) -> None:
    if not worth_telling(mark):
        return
    style = "bad" if mark.bad else "dim" if mark.kind in ("note", "process", "unknown") else "title"
    page.line((f"{indent}{_MARKS.get(mark.kind, '·')} {mark.title}", style), right=f"#{mark.seq}")
    if mark.kind in ("message", "printed", "approval") or (mark.kind == "guardrail" and mark.bad) or _is_remark(mark):
        page.wrapped(mark.body.text(), indent=indent + "│ ", lines=MESSAGE_LINES if mark.kind == "message" else CARD_LINES)
    _changes(page, mark, indent)


def _is_remark(mark: Mark) -> bool:
    return mark.kind == "note" and isinstance(mark.body.value, str)


# -- one step in full ---------------------------------------------------------------------------------------------------------


def find_step(story: Story, number: int) -> Step:
    """The step of that number. Raises ``NotFoundError``."""
    for step in story.steps:
        if step.number == number:
            return step
    count = len(story.steps)
    known = f"it has the steps 1 to {count}" if count else "it has no model call"
    raise NotFoundError(f"no step {number} in {story.session_id}; {known}")


def render_step(recording: Recording, story: Story, number: int, *, width: int = 100, costs: Costs | None = None) -> list[Text]:
    """One step in full: everything the model saw with sizes, the parameters, the versions, and what it answered."""
    step = find_step(story, number)
    page = Page(width)
    model, *facts = heading(step, lanes=True, costs=costs)
    page.line((f"Step {step.number}", "step"), (f" · {model}", "dim"), right=f"#{step.seq}")
    page.facts([*facts, step.ts, offset(step.start_ms), step.event_id], indent="  ", style="dim")
    _versions(page, step)
    for warning in warnings(step):
        page.wrapped(f"! {warning}", style="warn")
    request = read(recording, step.call.prompt_redacted_uri)
    if request.there:
        _request(page, step, request.value)
    elif request.state == "unreadable":
        page.wrapped(f"✗ the request cannot be read: {request.why}", style="bad")
    else:
        page.wrapped("✗ the request is not in the record: a transcript holds answers only", style="bad")
    _repeated(page, step, "")
    page.blank()
    page.line(("━━ It answered", "turn"), (f" · {_counted(step)}" if step.call.usage else "", "dim"))
    for block in reply_blocks(step):
        page.line((block.label, "reply" if block.kind == "reply" else "dim"))
        page.wrapped(block.text, indent="│ ", style="thinking" if block.kind == "thinking" else "", prose=block.prose)
    for part in step.reply:
        if part.type in ("tool_use", "tool_result"):
            page.line((f"{'asks for' if part.type == 'tool_use' else 'result of'} {part.name or part.call_id or 'a tool'}", "tool"))
            page.wrapped(words(part), indent="│ ", prose=False)
    if step.bad:
        page.wrapped(f"✗ {step.call.outcome}: {error_text(step.error) or 'no answer'}", style="bad")
    elif not step.reply and step.reply_value.state == "absent":
        page.line(("no answer is in the record", "bad"))
    return page.lines


def _counted(step: Step) -> str:
    """Every count that the provider gave, under its name; what was nothing is not worth a word."""
    told = {name.removesuffix("_tokens").replace("_", " "): count for name, count in step.call.usage.items() if count}
    return "the provider counted " + (", ".join(f"{name} {count:,}" for name, count in told.items()) or "no tokens")


def _versions(page: Page, step: Step) -> None:
    call = step.call
    rows = [
        ("model", f"requested {call.model_id or 'not named'}, served {call.served_model_id or 'not named'}"),
        ("parameters", json.dumps(plain(call.params), ensure_ascii=False) if call.params else "none in the record"),
    ]
    if call.prompt:
        rows.append(("prompt", f"{call.prompt.get('id', '?')} version {call.prompt.get('version', '?')}"))
    if call.guardrail:
        words_of = ", ".join(f"{key} {value}" for key, value in call.guardrail.items())
        rows.append(("guardrail", words_of))
    if call.prompt_hash:
        rows.append(("prompt hash", call.prompt_hash))
    if call.repo_sha:
        rows.append(("code", call.repo_sha))
    for name, value in rows:
        page.wrapped(value, indent=" " * 12, first=f"{name:<12}", style="dim")


def _request(page: Page, step: Step, body: object) -> None:
    talk = conversation(step.call.provider, step.call.operation, body)
    tools = tool_texts(talk)
    sizes = [("system", parts_chars(talk.system)), ("tools", sum(map(len, tools.values())))]
    sizes += [(f"{index} {message.role}", message_chars(message)) for index, message in enumerate(talk.messages)]
    total = sum(size for _, size in sizes)
    told = input_tokens(step.call.usage, step.call.provider)
    # what the provider counted is shared out by length; where it counted nothing, length is all there is to go by
    estimate = tokens if told is None or not total else lambda size: round(size * told / total)
    page.blank()
    page.line(("━━ It saw", "turn"), (f" · {total:,} characters, {f'~{tokens(total):,}' if told is None else f'{told:,}'} tokens", "dim"))
    for name, size in sizes:
        if size:
            share = round(24 * size / total) if total else 0
            page.line((f"{name:<14}", ""), (f"{size:>9,} chars  {f'~{estimate(size):,}':>8} tokens  ", "dim"), ("▪" * share, "dim"))
    if talk.system:
        page.blank()
        page.line(("system", "title"), (f" · {parts_chars(talk.system):,} chars", "dim"))
        for part in talk.system:
            page.wrapped(words(part), indent="│ ")
    if tools:
        page.blank()
        page.line(("tools", "title"), (f" · {len(tools)}", "dim"))
        for name, definition in tools.items():
            page.line((f"{name}", "tool"), (f" · {len(definition):,} chars", "dim"))
            page.wrapped(definition, indent="│ ", style="dim", prose=False)
    first_new = step.seen.messages[0].index if step.seen.messages else len(talk.messages)
    for index, message in enumerate(talk.messages):
        page.blank()
        new = " · new in this step" if index >= first_new and step.seen.since_step is not None else ""
        page.line((f"{index} {message.role}", "title"), (f" · {message_chars(message):,} chars{new} · {message.path}", "dim"))
        for part in message.parts:
            if part.type != "text":
                about = " ".join(filter(None, (part.type, part.name, part.call_id, "error" if part.is_error else "")))
                page.line((f"[{about}] {part_chars(part):,} chars", "tool"))
            page.wrapped(words(part), indent="│ ", prose=part.type == "text")
