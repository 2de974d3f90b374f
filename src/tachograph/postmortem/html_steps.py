"""The steps of a session as HTML: only what is new, tool cards that read as a call, diffs with their colours.

A page must stay one that a browser opens. Where all would be more than there is room for, what is cited comes first, then how it began and ended, then
what went wrong, then the rest in order; in the place of what is left out stands how much it is, and how it is shown.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .case import counted
from .changes import diff_lines, size_words
from .markup import Markup, el, join
from .shapes import Item, Mark, Run, Step, Story, Turn
from .telling import (
    Block,
    Known,
    blocks,
    heading,
    input_text,
    run_facts,
    several_lanes,
    shows_input,
    shows_output,
    warnings,
    worth_telling,
)
from .values import clip, clip_ends, error_text, one_line
from .when import duration, offset
from .wording import history, run_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CARD_LINES = 12
#: Beyond this, a text is cut even inside what unfolds: a page must stay a page. Characters.
MOST_CHARS = 40_000
#: Characters of steps from which on a page is no longer printed whole: some hundred sheets.
MOST_PRINTED = 600_000
#: Sessions with more steps than this have their tool cards folded unless something went wrong in them.
MANY_STEPS = 30

_CLIPPED = {"user": 24, "assistant": 24, "reply": 40, "tool": CARD_LINES, "other": CARD_LINES}


#: Of how many items at the beginning and at the end a page that has no room for all shows first.
_EDGE = 40


@dataclass
class _Room:
    """``left``: bytes."""

    left: float


@dataclass(frozen=True)
class _Setting:
    session: str
    known: Known
    lanes: bool
    folded: bool
    heading: str
    room: _Room
    cited: frozenset[int]


def steps(story: Story, *, room: float = float("inf"), cited: frozenset[int] = frozenset()) -> Markup:
    """All turns with their steps, as far as there is ``room``, in bytes. ``cited``: the lines of the log that are shown first."""
    setting = _Setting(
        story.session_id, Known.of(story), several_lanes(story), len(story.steps) > MANY_STEPS, "h4" if len(story.turns) > 1 else "h3",
        _Room(room), cited,
    )  # fmt: skip
    items = [item for turn in story.turns for item in turn.items]
    made = _made(items, setting, 0)
    pieces: list[Markup] = []
    if cited and sum(map(len, filter(None, made))) > MOST_PRINTED:
        pieces.append(el("p", "On paper only the steps that a claim rests on; the page itself has more of them.", class_="note on-paper"))
        made = [_off_paper(item, one, cited) for item, one in zip(items, made, strict=True)]
    at = 0
    for turn in story.turns:
        if len(story.turns) > 1:
            pieces.append(_turn(turn))
        pieces += _with_left_out(turn.items, made[at : at + len(turn.items)], setting, None)
        at += len(turn.items)
    return join(pieces)


def _off_paper(item: Item, made: Markup | None, cited: frozenset[int]) -> Markup | None:
    return made if made is None or not cited.isdisjoint(_lines(item)) else el("div", made, class_="off-paper")


def _turn(turn: Turn) -> Markup:
    says = el("span", one_line(turn.opening, 160), class_="says") if turn.opening else None
    return el("h3", el("span", f"Turn {turn.number}"), says, class_="turn", id=f"turn-{turn.number}")


# -- as far as there is room -------------------------------------------------------------------------------------------------------


def _made(items: Sequence[Item], setting: _Setting, keep: float) -> list[Markup | None]:
    """The markup of items, ``None`` where there was no room for one. ``keep``: the room that these must leave to what is around them."""
    made: list[Markup | None] = [None] * len(items)
    room = setting.room
    for index in _by_weight(items, setting.cited) if len(items) > 2 * _EDGE and room.left < float("inf") else range(len(items)):
        if room.left <= keep:
            break
        before = room.left
        one = _item(items[index], setting)
        room.left = before - (len(one) if one.isascii() else len(one.encode(errors="replace")))
        made[index] = one
    return made


def _by_weight(items: Sequence[Item], cited: frozenset[int]) -> list[int]:
    """In which order items are shown: see at the top."""
    last = len(items) - _EDGE

    def weight(index: int) -> int:
        item = items[index]
        if cited and not cited.isdisjoint(_lines(item)):
            return 0
        if index < _EDGE or index >= last:
            return 1
        return 2 if _went_wrong(item) else 3

    return sorted(range(len(items)), key=weight)


def _lines(item: Item) -> Iterator[int]:
    yield item.seq
    for child in item.items if isinstance(item, Step) else item.children if isinstance(item, Run) else ():
        yield from _lines(child)


def _went_wrong(item: Item) -> bool:
    if isinstance(item, Step):
        return item.bad or any(map(_went_wrong, item.items))
    return item.bad or (isinstance(item, Run) and item.trouble_inside)


def _several(items: Sequence[Item], setting: _Setting, step: int | None) -> list[Markup]:
    """What is within a step or a run. It takes no more than half of the room that is left."""
    return _with_left_out(items, _made(items, setting, setting.room.left / 2 if setting.room.left < float("inf") else 0), setting, step)


def _with_left_out(items: Sequence[Item], made: Sequence[Markup | None], setting: _Setting, step: int | None) -> list[Markup]:
    """What was made, with a line in the place of each stretch that was not. ``step``: within which they are."""
    pieces: list[Markup] = []
    missing: list[Item] = []
    for item, one in zip(items, made, strict=True):
        if one is None:
            missing.append(item)
            continue
        if missing:
            pieces.append(_left_out(missing, setting, step))
            missing = []
        pieces.append(one)
    if missing:
        pieces.append(_left_out(missing, setting, step))
    return pieces


def _left_out(items: Sequence[Item], setting: _Setting, step: int | None) -> Markup:
    numbers = [item.number for item in items if isinstance(item, Step)]
    inner = [one for item in items for one in (item.items if isinstance(item, Step) else [item])]
    calls = sum(isinstance(one, Run) for one in inner)
    marks = sum(isinstance(one, Mark) and worth_telling(one) for one in inner)
    what = [counted(len(numbers), "step")] if numbers else []
    what += [counted(calls, "call")] if calls else []
    what += [counted(marks, "mark")] if marks else []
    first, last = (min(numbers), max(numbers)) if numbers else (step, step)
    where = f" --from {first} --to {last}" if first is not None else ""
    name = f"Step {first:,}" if first == last and first is not None else f"Steps {first:,} to {last:,}" if first is not None else "Here"
    said = f"… {name}: {', '.join(what) or 'nothing to be told'}, for which this page has no room. "
    return el(
        "p",
        [el("span", id=f"step-{number}") for number in numbers],
        said,
        el("code", f"tacho show {shlex.quote(setting.session)}{where}"),
        " shows it.",
        class_="note no-room",
    )


# -- one by one --------------------------------------------------------------------------------------------------------------------


def _item(item: Item, setting: _Setting) -> Markup:
    if isinstance(item, Step):
        return _step(item, setting)
    return _run(item, setting) if isinstance(item, Run) else _mark(item)


def _step(step: Step, setting: _Setting) -> Markup:
    around = setting.known.around(step)
    facts = [*heading(step, lanes=setting.lanes), offset(step.start_ms)]
    within = el("span", "within ", el("a", around.name, href=f"#e{around.seq}"), class_="about") if around is not None else None
    title = el(
        setting.heading,
        el(
            "span",
            el("span", f"Step {step.number}", class_="bad" if step.bad else None),
            el("span", " · ".join(facts), class_="about"),
            within,
        ),
        anchor(step.seq),
    )
    notes = [el("p", f"! {warning}", class_="note warn") for warning in warnings(step)]
    if not notes and step.seen.history in ("same", "kept_by_provider"):
        notes.append(el("p", history(step.seen), class_="note"))
    notes += [el("p", f"! {one.words()}", class_="note warn" if one.origin != "input" else "note") for one in step.repeated]
    failed = None
    if step.bad:
        failed = el("pre", f"{step.call.outcome}: {error_text(step.error) or 'no answer'}", class_="error")
    return el(
        "article",
        title,
        [_attempt(one.seq, f"{one.outcome} {one.status or ''}".strip(), error_text(one.error), one.duration_ms) for one in step.attempts],
        notes,
        [_block(block) for block in blocks(step, setting.known)],
        failed,
        _several(step.items, setting, step.number),
        class_="step",
        id=f"step-{step.number}",
    )


def _attempt(seq: int, outcome: str, words: str, ms: float | None) -> Markup:
    said = f": {one_line(words, 200)}" if words else ""
    return el("p", "↻ failed attempt, ", el("span", outcome + said, class_="bad"), f" · {duration(ms)} ", anchor(seq), class_="note")


def anchor(seq: int) -> Markup:
    """The number of a line of the log, as the place that citations of it lead to."""
    return el("a", f"#{seq}", href=f"#e{seq}", id=f"e{seq}", class_="ref", title="the line of the log")


def _block(block: Block) -> Markup:
    if block.kind == "results":
        return el("p", f"↩ {block.text}", class_="note")
    look = f"said {block.kind}"
    if block.kind in ("system", "thinking", "tools") and len(block.text) > 240:
        folded = el("details", el("summary", f"{block.label}, {len(block.text):,} characters"), el("div", block.text, class_="text"))
        return el("div", folded, class_=look)
    lines = _CLIPPED.get(block.kind)
    who = el("span", block.label, class_="who")
    if not block.prose:
        return el("div", who, _clipped(block.text, lines or CARD_LINES), class_=look)
    shown, more = clip(_within(block.text), lines) if lines is not None else (_within(block.text).split("\n"), 0)
    rest = None
    if more:
        hidden = "\n".join(_within(block.text).rstrip("\n").split("\n")[-more:])
        rest = el("details", el("summary", f"… {more:,} more lines"), el("div", hidden, class_="text"), class_="more")
    return el("div", who, el("div", "\n".join(shown), class_="text"), rest, class_=look)


def _clipped(content: str, lines: int, *, look: str | None = None, ends: bool = False) -> Markup:
    """Preformatted text, its first lines shown and the rest to unfold (from the middle where the end matters)."""
    content = _within(content).rstrip("\n")
    if ends:
        head, more, tail = clip_ends(content, lines)
    else:
        (head, more), tail = clip(content, lines), []
    if not more:
        return el("pre", "\n".join(head), class_=look)
    every = content.split("\n")
    middle = every[len(head) : len(head) + more]
    return join(
        [
            el("pre", "\n".join(head), class_=look),
            el("details", el("summary", f"… {more:,} more lines"), el("pre", "\n".join(middle), class_=look), class_="more"),
            el("pre", "\n".join(tail), class_=look) if tail else None,
        ]
    )


def _within(content: str) -> str:
    if len(content) <= MOST_CHARS:
        return content
    return content[:MOST_CHARS] + f"\n[{len(content) - MOST_CHARS:,} more characters; tacho show prints them]"


def _run(run: Run, setting: _Setting) -> Markup:
    verdict = el("span", run_verdict(run), class_="bad" if run.bad and run.outcome != "asked" else None)
    facts = run_facts(run)
    call = [
        el("code", one_line(run.title, 400), class_="title"),
        " ",
        el("span", verdict, "".join(f" · {fact}" for fact in facts), class_="about"),
        *(el("span", id=f"e{seq}") for seq in run.also),
    ]
    inner = [*_contents(run), *_changes(run), *_several(run.children, setting, None)]
    look = f"run {run.kind}" + (" failed" if run.bad and run.outcome != "asked" else "")
    look += " open-end" if run.outcome in ("asked", "cut") else ""
    # Beside the part that folds: a link within what is clicked to fold is none for a keyboard. Of some, the line is that of the answer.
    place = anchor(run.seq) if run.source not in ("asked", "provider") else None
    if not inner:
        return el("div", el("div", call, class_="call"), place, class_=look)
    unfold = not setting.folded or run.bad or run.trouble_inside or bool(run.changes)
    return el("div", el("details", el("summary", call), el("div", inner, class_="inner"), open=unfold), place, class_=look)


def _contents(run: Run) -> Iterator[Markup]:
    if shows_input(run):
        yield el("p", "input", class_="part")
        yield _clipped(input_text(run), CARD_LINES)
    if run.output.text() and shows_output(run):
        yield _clipped(run.output.text(), CARD_LINES, ends=run.bad)
    if run.error.state != "absent":
        yield _clipped(error_text(run.error), CARD_LINES, look="error", ends=True)
    if run.given.there:
        yield el("p", "The model was told something else:", class_="part warn")
        yield _clipped(run.given.text(), CARD_LINES)


def _changes(item: Run | Mark) -> Iterator[Markup]:
    for change in item.changes:
        yield el("p", el("code", change.path), el("span", f" {change.action}, {size_words(change)}", class_="soft"), class_="file")
        yield from diff(diff_lines(change.before, change.after), lines=30)


def diff(hunks: list[str], *, lines: int) -> Iterator[Markup]:
    """A unified diff with coloured lines."""
    if not hunks:
        return
    shown, rest = (hunks, []) if len(hunks) <= lines + 1 else (hunks[:lines], hunks[lines:])
    yield el("pre", map(_diff_line, shown), class_="diff", tabindex=0)
    if rest:
        folded = el("pre", map(_diff_line, rest[:5000]), class_="diff", tabindex=0)
        cut = el("p", f"… {len(rest) - 5000:,} more lines are in the record", class_="soft") if len(rest) > 5000 else None
        yield el("details", el("summary", f"… {len(rest):,} more lines"), folded, cut, class_="more")


def _diff_line(line: str) -> Markup:
    look = {"+": "add", "-": "del", "@": "at"}.get(line[:1])
    return el("span", line or " ", class_=look)


_SIGNS = {"guardrail": "◆", "git": "◇", "approval": "☑", "workspace": "±", "printed": "»"}


def _mark(mark: Mark) -> Markup:
    if not worth_telling(mark):
        return join([])
    if mark.kind == "gap":
        return el("p", el("span", mark.title), " ", anchor(mark.seq), class_="gapline")
    body = mark.body.text()
    if mark.kind == "message":
        who = el("span", mark.title, " ", anchor(mark.seq), class_="who")
        look = "said user" if mark.detail.get("role") == "user" else "said"
        return el("div", who, el("div", _within(body), class_="text"), class_=look)
    sign = _SIGNS.get(mark.kind, "·")
    line = el("p", f"{sign} ", el("span", mark.title, class_="bad" if mark.bad else None), " ", anchor(mark.seq), class_="note")
    shown = mark.kind in ("printed", "approval", "guardrail") or (mark.kind == "note" and isinstance(mark.body.value, str))
    inner = [_clipped(body, CARD_LINES) if body and shown else None, *_changes(mark)]
    return join([line, el("div", inner, class_="mark-body") if any(inner) else None])
