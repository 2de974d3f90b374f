"""A session, or some of its steps, as one HTML page for somebody else: what was seen and done, and proofs that the lines shown were sealed.

As the postmortem's page it needs nothing and asks for nothing; unlike that one it explains nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import html_steps, timeline_svg
from .case import counted, listed
from .html_page import page, section
from .markup import Markup, el, join
from .values import one_line
from .when import duration
from .wording import ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .shapes import Story


@dataclass(frozen=True, kw_only=True)
class Shared:
    """``story``: what is shown, of which ``steps`` are named where not all are; ``all_steps``: how many there are. ``verdict``: the verifier's
    report. ``proofs``: by line number; ``seal``: the newest seal, where there are no proofs. ``left_out``: why lines have no proof, by number.
    ``verifier``: the public key that seals, as the store names it."""

    story: Story
    all_steps: int
    steps: tuple[int, ...] | None
    verdict: Mapping[str, Any]
    proofs: Mapping[int, str]
    seal: str | None
    left_out: Mapping[int, str]
    verifier: str


def render(shared: Shared) -> str:
    """The page."""
    story = shared.story
    name = (story.start.name or story.start.agent if story.start is not None else None) or story.session_id
    sections = [("steps", "What it saw and did", [html_steps.steps(story)]), ("proof", "Proof", list(_proof(shared)))]
    if shared.steps is None:
        sections.insert(0, ("timeline", "Timeline", list(_timeline(story))))
    return page(
        title=f"Session: {one_line(name, 80)}",
        skip="steps",
        header=_header(shared, name),
        main=[section(*one) for one in sections],
        footer=f"Made by tachograph from {story.session_id}. A number after # is a line of its log.",
    )


def _header(shared: Shared, name: str) -> Markup:
    story = shared.story
    when = el("span", story.started_at or "at an unknown time", class_="whole")
    about = el("p", el("span", story.session_id, class_="mono"), " · ", when, f", {duration(story.duration_ms)}", class_="id")
    verdict = str(shared.verdict.get("verdict", "not verified"))
    look = {"verified": "good", "unsealed": "warn", "torn": "warn"}.get(verdict, "bad")
    end = ending(story).removeprefix("it ")
    chips = [(verdict, look), (end, "soft"), (counted(story.redactions, "redaction"), "soft")]
    some = None
    if shared.steps is not None:
        words = f"Only {counted(len(shared.steps), 'step')} of {shared.all_steps}: {_ranges(shared.steps)}. What else happened is not in this file."
        some = el("p", words, class_="warn prose")
    return el(
        "header",
        el("p", "Recorded agent session", class_="kind"),
        el("h1", one_line(name, 120)),
        about,
        el("ul", [el("li", words, class_=look) for words, look in chips], class_="chips"),
        some,
    )


def _ranges(steps: Sequence[int]) -> str:
    """``3-5, 9``."""
    found: list[list[int]] = []
    for step in steps:
        if found and found[-1][-1] == step - 1:
            found[-1].append(step)
        else:
            found.append([step])
    return listed((f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in found), 40)


def _timeline(story: Story) -> Iterator[Markup]:
    picture = timeline_svg.Picture(story=story)
    look = "picture wide" if picture.wide else "picture"
    yield el("div", picture.draw(), class_=look, tabindex=0, role="group", aria_label="Timeline, scrolls sideways")
    yield picture.legend()


def _proof(shared: Shared) -> Iterator[Markup]:
    if shared.proofs:
        yield el(
            "p",
            f"Each of {counted(len(shared.proofs), 'line')} shown here has a proof (C2SP tlog-proof) that it stands in a log which was sealed. A line holds "
            "its type, time, models, names, numbers and the addresses of its contents. The words of the contents are bound to those addresses by "
            "a key that only the holder of the store has: who wants those proved asks for tacho verify there.",
            class_="prose",
        )
    elif shared.seal is not None:
        yield el("p", "The log of this session ends in this seal: a size and a root over all of its lines, signed.", class_="prose")
    else:
        yield el("p", "Nothing of this session was sealed, so nothing of it can be proved.", class_="prose warn")
        return
    yield el("p", "To check this page where tachograph is installed, with no access to the store:", class_="prose")
    yield el("pre", f"tacho verify THIS-PAGE.html --key '{shared.verifier}'", tabindex=0)
    yield el(
        "p",
        "Take the key from its owner, by another way than this page: whoever could change the one could change the other.",
        class_="prose",
    )
    for number, text in shared.proofs.items():
        yield _folded(f"Proof of line {number}", text)
    if not shared.proofs and shared.seal is not None:
        yield _folded("The seal", shared.seal)
    if shared.left_out:
        yield el("ul", (el("li", f"line {number}: {why}") for number, why in shared.left_out.items()), class_="prose warn")


def _folded(title: str, text: str) -> Markup:
    # Found again by its class: log/proof.py.
    return el("details", el("summary", title), join([el("pre", text, class_="proof")]))
