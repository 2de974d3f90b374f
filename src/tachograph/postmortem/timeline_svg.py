"""A session as a picture: lanes as bands, calls as bars with their durations, everything else as marks; inline SVG,
no script.

Places are percentages of the width and sizes are pixels, so that the picture stretches with the page while its
letters stay legible; where there is too much for a narrow page, it keeps a least width and its frame scrolls. Where there
is too much for any page, what would lie on the same few pixels is one bar, whose tooltip counts it. Colour
never stands alone: kinds have rows of their own, failed calls an edge and a word in their tooltip, gaps a hatching
and a label.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from .markup import Markup, el, join
from .shapes import Attempt, Item, Mark, Run, Step, Story
from .story import headline
from .timescale import Scale, pack, scale
from .values import one_line
from .when import duration, offset
from .wording import model_name, run_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .signalled import Series, Told

#: Rows of a band, from the top.
_TRACKS = ("model", "tool", "process", "marks", "logs")
#: Those that are moments: how many rows each may take.
_MOMENTS = {"marks": 3, "logs": 1}
_MOST_LANES = 12
_MOST_ROWS = 8
_BAR, _STEP, _CURVE = 18, 23, 34
_TOP = 42
_GLYPHS = {
    "guardrail": "M0-6 6 0 0 6-6 0Z",
    "git": "M0-5a5 5 0 1 0 .01 0Z",
    "approval": "M-5-5h10v10h-10Z",
    "message": "M-6-4h12v8h-12Z",
    "workspace": "M0-6 6 5-6 5Z",
    "alarm": "M-6-5h12l-6 11Z",
    "incident": "M-2-7h4v5h5v4h-5v5h-4v-5h-5v-4h5Z",
    "deploy": "M0-7 6 0h-3v6h-6v-6h-3Z",
    "log": "M-5-5h10v2h-10ZM-5-1h10v2h-10ZM-5 3h7v2h-7Z",
}
#: With more bars and marks than this, those that would lie on each other are drawn as one; into how many columns all rows together are divided then.
MOST_BARS, _COLUMNS = 3000, 2400
#: Metrics that have a curve.
_MOST_CURVES = 6
_OUTSIDE = "outside of the session"
_NAMES = {
    "model": "model call",
    "tool": "tool call",
    "process": "command",
    "http": "HTTP request",
    "workspace": "file change",
    "git": "git",
    "message": "message",
    "failed": "failed, or an alarm that began",
    "log": "line of a log",
}


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Something that took time, or a moment (``track`` is ``marks`` or ``logs``). ``tip``: says it in words; of most, nobody asks."""

    track: str
    kind: str
    lane: str
    start: float
    end: float
    label: str
    short: str
    tip: Callable[[], str]
    bad: bool
    good: bool = False
    href: str | None = None


@dataclass(frozen=True, kw_only=True)
class Picture:
    """``start``: when the session began, in milliseconds since 1970, which is what the points of ``metrics`` count in."""

    story: Story
    signals: Sequence[Told] = ()
    metrics: Sequence[Series] = ()
    start: int = 0

    @cached_property
    def _told(self) -> list[Bar]:
        return list(_bars(self.story))

    @cached_property
    def bars(self) -> list[Bar]:
        """What happened in the session, by when it began."""
        return sorted(self._told, key=lambda bar: (bar.start, bar.end))

    @cached_property
    def outside(self) -> list[Bar]:
        """What other systems said, by when."""
        return sorted(_signals(self.signals), key=lambda bar: (bar.start, bar.end))

    @property
    def wide(self) -> bool:
        """Whether it holds so much that it should take all the width there is."""
        return len(self.bars) + len(self.signals) > 60

    @property
    def gathered(self) -> bool:
        """Whether a bar may stand for several."""
        return len(self.bars) + len(self.outside) > MOST_BARS

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of bars and marks in it."""
        found = dict.fromkeys(bar.kind for bar in (*self._told, *_signals(self.signals)))
        if any(bar.bad for bar in (*self.bars, *self.outside)):
            found["failed"] = None
        if any(True for _ in self.story.marks("gap")):
            found["gap"] = None
        return list(found)

    def legend(self) -> Markup:
        """What the colours and marks mean, for the kinds that occur."""
        entries = [el("li", _key(kind), _NAMES.get(kind, kind)) for kind in self.kinds]
        return el("ul", join(entries), class_="legend") if entries else Markup("")

    def draw(self) -> Markup:
        """The picture. Bars link to ``#step-N``, signals to ``#esN``."""
        story, bars, outside = self.story, self.bars, self.outside
        gaps = [mark for _, mark in story.marks("gap")]
        axis = scale([*_worked(bars), *((float(mark.at_ms), float(mark.at_ms)) for mark in gaps), *_outlying(outside)])
        bands = self._bands()
        columns = _COLUMNS // (len({(number, bar.track) for number, (_, band) in enumerate(bands) for bar in band}) or 1)
        drawn: list[Markup] = []
        y = float(_TOP)
        for number, (lane, band) in enumerate(bands):
            if len(bands) > 1:
                drawn.append(el("text", one_line(lane, 60), x=0, y=_px(y + 11), class_="lane"))
                y += 17
            pieces, height = _band(band, axis, y, min(max(columns, 60), 800) if self.gathered else None)
            drawn += pieces
            y += height
            if number + 1 == len(bands):
                for series in self.metrics[:_MOST_CURVES]:
                    drawn.append(_curve(series, axis, self.start, y))
                    y += _CURVE
            if number + 1 < len(bands):
                drawn.append(el("line", x1=0, x2="100%", y1=_px(y + 1), y2=_px(y + 1), class_="rule"))
                y += 8
        height = max(y, _TOP + _STEP) + 4
        least = _least_width(len(bars) + len(outside), len(axis.breaks()))
        words = f"{len(story.steps)} steps in {duration(story.duration_ms)}"
        return el(
            "svg",
            el("title", "Timeline", id="picture-title"),
            el("desc", f"{words}; the table below says the same in words.", id="picture-desc"),
            _hatching(),
            *_axis(axis, height, least),
            *_turns(story, axis, height, least),
            *drawn,
            *_gaps(story, gaps, axis, height),
            role="group",
            aria_labelledby="picture-title picture-desc",
            width="100%",
            height=_px(height),
            style=f"min-width:{least}px",
        )

    def _bands(self) -> list[tuple[str, list[Bar]]]:
        """The bars of each lane, those of too many lanes together, and what was outside."""
        by_lane: dict[str, list[Bar]] = {}
        for bar in self.bars:
            by_lane.setdefault(bar.lane, []).append(bar)
        lanes = sorted(by_lane, key=_natural)
        shown = lanes if len(lanes) <= _MOST_LANES else lanes[: _MOST_LANES - 1]
        bands = [(lane, by_lane[lane]) for lane in shown]
        if len(shown) < len(lanes):
            bands.append((f"{len(lanes) - len(shown)} more lanes", [bar for bar in self.bars if bar.lane not in shown]))
        if self.outside or self.metrics:
            bands.append((_OUTSIDE, self.outside))
        return bands


def _outlying(outside: Sequence[Bar]) -> Iterator[tuple[float, float]]:
    """What the axis must have room for: all but lines of logs, each of which would take as much as an alarm."""
    every = [(bar.start, bar.start) for bar in outside]
    return iter([at for at, bar in zip(every, outside, strict=True) if bar.kind != "log"] or every)


def _worked(bars: Sequence[Bar]) -> Iterator[tuple[float, float]]:
    """When something ran. A transcript says when an answer came and not how long it took; since what came before was what the model
    answered to, the time between was its work and is not shortened as rest."""
    latest = bars[0].start if bars else 0.0
    for bar in bars:
        yield bar.start, bar.end
        if bar.kind == "model" and bar.start == bar.end and latest < bar.start:
            yield latest, bar.start
        latest = max(latest, bar.end)


def _natural(lane: str) -> list[tuple[int, str]]:
    """``task-2`` before ``task-10``."""
    return [(int(word), "") if word.isdecimal() else (0, word) for word in re.split(r"(\d+)", lane)]


def _least_width(bars: int, breaks: int) -> int:
    return min(max(620, 7 * bars + 60 * breaks), 4000)


def _bars(story: Story) -> Iterator[Bar]:
    for step, item in story.walk():
        if isinstance(item, Step):
            for attempt in item.attempts:
                tip = partial(_attempt_words, item, attempt)
                yield _bar(
                    item, step, track="model", kind="model", label="", short="", tip=tip, bad=True, at=(attempt.start_ms, attempt.end_ms)
                )
            yield _bar(
                item, step, track="model", kind="model", label=f"step {item.number}", short=str(item.number), tip=partial(_step_words, item),
                bad=item.bad, at=(item.start_ms, item.end_ms),
            )  # fmt: skip
        elif isinstance(item, Run):
            track = "tool" if item.kind == "tool" else "process"
            bad = item.bad and item.outcome != "asked"
            tip, at = partial(_run_words, item), (item.start_ms, item.end_ms)
            yield _bar(item, step, track=track, kind=item.kind, label=item.name, short="", tip=tip, bad=bad, at=at)
        elif item.kind in _GLYPHS:
            tip, at = partial(_said, item.at_ms, item.title, 140), (item.at_ms, item.at_ms)
            yield _bar(item, step, track="marks", kind=item.kind, label="", short="", tip=tip, bad=item.bad, at=at)


def _attempt_words(step: Step, attempt: Attempt) -> str:
    return f"Step {step.number}, attempt: {attempt.outcome} {attempt.status or ''} after {duration(attempt.duration_ms)}"


def _step_words(step: Step) -> str:
    return f"Step {step.number} {offset(step.start_ms)}, {model_name(step)}, {duration(step.call.duration_ms)}: {headline(step)}"


def _run_words(run: Run) -> str:
    return f"{offset(run.start_ms)} {one_line(run.title, 140)}: {run_verdict(run)}, {duration(run.duration_ms)}"


def _said(at: int, words: str, most: int) -> str:
    return f"{offset(at)} {one_line(words, most)}"


def _bar(
    item: Item, step: Step | None, *, track: str, kind: str, label: str, short: str, tip: Callable[[], str], bad: bool, at: tuple[int, int]
) -> Bar:  # fmt: skip
    return Bar(
        track=track,
        kind=kind,
        lane=item.lane or "main",
        start=float(at[0]),
        end=float(max(at)),
        label=label,
        short=short,
        tip=tip,
        bad=bad,
        href=f"#step-{step.number}" if step is not None else None,
    )


def _signals(signals: Sequence[Told]) -> Iterator[Bar]:
    """What other systems said; a metric is a curve, and no mark."""
    for told in signals:
        kind = told.signal.kind if told.signal.kind in _GLYPHS else "message"
        if told.signal.kind != "metric":
            at, tip = float(told.at_ms), partial(_said, told.at_ms, told.what, 200)
            yield Bar(
                track="logs" if kind == "log" else "marks", kind=kind, lane=_OUTSIDE, start=at, end=at, label="", short="", tip=tip, bad=told.bad, good=told.signal.ends,
                href=f"#es{told.number}",
            )  # fmt: skip


def _curve(series: Series, axis: Scale, start: int, y: float) -> Markup:
    """A metric's course, from 0 or its least to its highest. The axis is in percent, so the curve is drawn on a thousand units that stretch."""
    values = [value for _, _, value in series.points]
    low, high = min(0.0, *values), max(0.0, *values)
    places = [
        f"{axis.percent(at - start) * 10:.1f},{22 - 20 * ((value - low) / (high - low) if high > low else 0):.1f}"
        for _, at, value in series.points
    ]
    number, at, highest = series.highest
    words = f"{one_line(series.name, 60)}: highest {highest:g} {series.unit}".strip()
    line = el("polyline", points=" ".join(places), vector_effect="non-scaling-stroke") if len(places) > 1 else None
    drawn = el("svg", line, x=0, y=_px(y + 10), width="100%", height=24, view_box="0 0 1000 24", preserve_aspect_ratio="none")
    label = el("text", words, x=0, y=_px(y + 9))
    tip = el("title", f"{words} at {offset(at - start)}")
    return el("a", el("g", tip, drawn, label, class_="curve"), href=f"#es{number}")


def _band(band: list[Bar], axis: Scale, y: float, columns: int | None) -> tuple[list[Markup], float]:
    """The bars of a lane, each kind in rows of its own, and the height that they take. ``columns``: in how many columns of the width what begins and
    ends together is one bar, if any is."""
    drawn: list[Markup] = []
    top = y
    for track in _TRACKS:
        mine = [bar for bar in band if bar.track == track]
        if not mine:
            continue
        if columns is not None:
            mine = _gathered(mine, axis, columns)
        places = [(axis.percent(bar.start), axis.percent(bar.end)) for bar in mine]
        rows = pack(places, 1.2 if track in _MOMENTS else 0.0, _MOMENTS.get(track, _MOST_ROWS))
        for bar, (left, right), row in zip(mine, places, rows, strict=True):
            at = y + row * _STEP
            drawn.append(_glyph(bar, left, at) if track in _MOMENTS else _rectangle(bar, left, right - left, at))
        y += (max(rows) + 1) * _STEP
    return drawn, y - top


def _gathered(bars: Sequence[Bar], axis: Scale, columns: int) -> list[Bar]:
    """The bars of a row, those that begin and end in the same column as one; what failed stays by itself."""
    together: dict[tuple[str, bool, bool, int, int], list[Bar]] = {}
    for bar in bars:
        begins, ends = (int(axis.percent(at) * columns / 100) for at in (bar.start, bar.end))
        together.setdefault((bar.kind, bar.bad, bar.good, begins, ends), []).append(bar)
    made = [group[0] if len(group) == 1 else _one_of(group) for group in together.values()]
    return sorted(made, key=lambda bar: (bar.start, bar.end))


def _one_of(group: Sequence[Bar]) -> Bar:
    begins, ends, kind = group[0].start, max(bar.end for bar in group), group[0].kind
    failed = ", failed" if group[0].bad else ""
    what = f"{len(group):,} × {_NAMES.get(kind, kind)}{failed}, {offset(round(begins))} to {offset(round(ends))}"
    return replace(group[0], end=ends, label=f"×{len(group):,}", short="", tip=partial(_first_of, what, group[0]))


def _first_of(what: str, bar: Bar) -> str:
    return f"{what}; the first: {bar.tip()}"


def _rectangle(bar: Bar, left: float, width: float, y: float) -> Markup:
    classes = f"bar {bar.kind}" + (" failed" if bar.bad else "")
    # A pixel apart from its neighbour, and never thinner than can be seen; the attribute is for readers that do no calc().
    style = f"width:max(3px,calc({_pc(width)} - 1px))"
    pieces = [el("rect", x=_pc(left), y=_px(y), width=_pc(width), height=_BAR, rx=2, style=style)]
    label = one_line(bar.label, 40) if width >= 5 else bar.short if width >= 1.6 else ""
    if label:
        inner = el("text", label, x=5, y=13)
        pieces.append(el("svg", inner, x=_pc(left), y=_px(y), width=_pc(width), height=_BAR))
    return _linked(bar, el("g", el("title", bar.tip()), pieces, class_=classes))


def _glyph(bar: Bar, left: float, y: float) -> Markup:
    shape = el("svg", el("path", d=_GLYPHS[bar.kind]), x=_pc(left), y=_px(y + 10), overflow="visible")
    return _linked(
        bar, el("g", el("title", bar.tip()), shape, class_=f"mark {bar.kind}" + (" failed" if bar.bad else " over" if bar.good else ""))
    )


def _linked(bar: Bar, drawn: Markup) -> Markup:
    return el("a", drawn, href=bar.href) if bar.href is not None else drawn


def _axis(axis: Scale, height: float, least: int) -> Iterator[Markup]:
    pixel = 100 / least
    taken: list[tuple[float, float]] = []
    for left, right, words in axis.breaks():
        middle = (left + right) / 2
        tip = el("title", f"{words} in which nothing ran")
        band = el("rect", x=_pc(left), y=_TOP - 6, width=_pc(right - left), height=_px(height - _TOP + 6))
        label = None
        if not taken or middle - 45 * pixel > taken[-1][1]:
            taken.append((middle - 45 * pixel, middle + 45 * pixel))
            edge = 45 * pixel  # a label does not stick out of the picture
            at, side = (left, "start") if middle < edge else (right, "end") if middle > 100 - edge else (middle, "middle")
            label = el("text", f"⋯ {words}", x=_pc(at), y=30, text_anchor=side)
        yield el("g", tip, band, label, class_="idle")
    ticks = axis.ticks(max(least // 95, 6))
    fine = any(ms % 100 for ms, _ in ticks)
    for ms, at in ticks:
        yield el("line", x1=_pc(at), x2=_pc(at), y1=_TOP - 6, y2=_px(height), class_="tick")
        if at + 40 * pixel <= 100 and all(at + 50 * pixel < left or right < at for left, right in taken):
            yield el("text", (f"+{ms / 1000:.3f} s" if fine else offset(ms)) if ms else "0", x=_pc(at), y=30, dx=3, class_="tick")


def _turns(story: Story, axis: Scale, height: float, least: int) -> Iterator[Markup]:
    if len(story.turns) < 2:
        return
    pixel = 100 / least
    last = -100.0
    for turn in story.turns:
        first = turn.items[0]
        at = axis.percent(first.at_ms if isinstance(first, Mark) else first.start_ms)
        yield el("line", x1=_pc(at), x2=_pc(at), y1=4, y2=_px(height), class_="turn")
        if at - last >= 60 * pixel:
            fits = at + 50 * pixel <= 100
            side = {"dx": 4 if fits else -4, "text_anchor": "start" if fits else "end"}
            yield el("text", f"turn {turn.number}", x=_pc(at), y=13, class_="turn", **side)
            last = at


def _gaps(story: Story, gaps: Sequence[Mark], axis: Scale, height: float) -> Iterator[Markup]:
    moments = sorted({_end_of(item) for _, item in story.walk() if not (isinstance(item, Mark) and item.kind == "gap")})
    for mark in gaps:
        before = max((moment for moment in moments if moment <= mark.at_ms), default=0)
        left, right = axis.percent(before), axis.percent(mark.at_ms)
        left, width = min(left, 98.8), max(right - left, 1.2)
        tip = el("title", f"{offset(mark.at_ms)} {mark.title}")
        hatched = el("rect", x=_pc(left), y=_TOP - 6, width=_pc(width), height=_px(height - _TOP + 6))
        label = el("text", "gap", x=_pc(left + width / 2), y=13, text_anchor="middle")
        yield el("g", tip, hatched, label, class_="gap")


def _end_of(item: Item) -> int:
    return item.at_ms if isinstance(item, Mark) else item.end_ms


def _hatching() -> Markup:
    line = el("line", x1=0, y1=0, x2=0, y2=6)
    pattern = el("pattern", line, id="hatching", width=6, height=6, pattern_units="userSpaceOnUse", pattern_transform="rotate(45)")
    return el("defs", pattern)


def _px(value: float) -> str:
    return f"{value:g}"


def _pc(value: float) -> str:
    return f"{min(max(value, 0.0), 100.0):.3f}%"


def _key(kind: str) -> Markup:
    if kind in _GLYPHS:
        drawn = el("g", el("path", d=_GLYPHS[kind], transform="translate(8 8)"), class_=f"mark {kind}")
    elif kind == "gap":
        drawn = el("g", el("rect", x=0, y=2, width=16, height=12), class_="gap")
    else:
        drawn = el("g", el("rect", x=0, y=2, width=16, height=12, rx=2), class_=f"bar {kind}")
    return el("svg", drawn, width=16, height=16, aria_hidden="true")
