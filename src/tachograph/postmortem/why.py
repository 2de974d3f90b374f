"""The reverse watchpoint: where a text first entered a session, and how it was carried to where it left.

1. The text is looked for in every passage (``passages.py``) and exit (``exits.py``), verbatim and by skeleton, with layers of writing taken off both
   (``textforms.py``), with its numbers written another way, and with dots for what was left out.
2. The *origin* is the first passage that has it, in the order of entering. A short text (fewer than ``SURE`` letters) that a source has verbatim is
   not led back to something that merely looks like it. What a command or an exchange within a tool call returned is the tool call's, if that has it.
3. If the first to have it is the model, passages before that are asked whether they nearly have it (``near.py``); if not, the model made it up. A
   subagent that made it up is the origin ``subagent``.
4. The *chain* is everything that has it from there on, each with how it stands there.
5. *Coverage* says which share of the text is word by word in which passages before it was said (``coverage.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tachograph.core.errors import NotFoundError

from .changes import all_changes
from .coverage import Cover, cover
from .exits import EXITS, exits
from .haystack import Haystack, Hit
from .manner import VERBATIM, how, widened
from .near import COMMON, THRESHOLD, cut, near, shortened, words_of
from .passages import Passage, passages
from .sources import KINDS
from .textforms import forms, has_number, skeleton, spots
from .values import one_line, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .ports import Recording
    from .shapes import FileChange, Story

#: Letters and digits from which on a text that only looks alike is taken for the same.
SURE = 16
#: Links of a chain that are told; the rest is counted.
MOST_LINKS = 60
#: Parts of one event that are answered for.
MOST_PARTS = 200
#: Letters and digits from which on the passage that has most of a text letter by letter nearly has the text.
LONG = 40
#: In more passages than this share (of at least ``MANY``), a text of few letters is common.
COMMON_SHARE, MANY, FEW = 0.4, 10, 12
#: Characters of context on each side of a quote, and of the quote itself.
CONTEXT, MOST_QUOTED = 48, 240
_SAID = ("model", "subagent")
#: Where a near match is no source: what the model itself said, and what left.
_OWN = ("model", *EXITS)
NEARLY = "nearly"


def same_path(one: str, other: str) -> bool:
    """Whether two paths can be the same file, one of them seen from further down."""
    one, other = (side.replace("\\", "/").removeprefix("./") for side in (one, other))
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place that has the text. ``how``: ``verbatim``, or what is different there. ``quote``: the words as they stand there, ``before`` and
    ``behind`` what is around them. ``source``: where the text was still earlier, within the same tool call."""

    passage: Passage
    how: str
    quote: str
    before: str
    behind: str
    source: Passage | None = None

    def to_json(self) -> dict[str, Any]:
        """As an origin or a link of a chain."""
        one = self.passage
        found = {
            "kind": one.kind, "event_id": one.event_id, "seq": one.seq, "step": one.step, "position": one.position, "name": one.name, "how": self.how,
            "quote": self.quote, "context": self.before + self.quote + self.behind,
        }  # fmt: skip
        if self.source is not None:
            inner = self.source
            found["source"] = {"event_id": inner.event_id, "seq": inner.seq, "position": inner.position, "name": inner.name}
        return plain(found)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Share:
    """How much of a text one passage covers. ``share``: 0 to 1; ``quote``: the longest piece."""

    passage: Passage
    share: float
    quote: str

    def to_json(self) -> dict[str, Any]:
        one = self.passage
        found = {
            "kind": one.kind, "event_id": one.event_id, "seq": one.seq, "step": one.step, "position": one.position, "name": one.name,
            "share": round(self.share, 3), "quote": self.quote,
        }  # fmt: skip
        return plain(found)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Why:
    """The answer for one text. ``origin`` is ``None`` where nothing that entered has it. ``common``: why it says little, where it does. ``nearness``: of a
    near match, the share of the telling words. ``more``: links that are not told."""

    session_id: str
    text: str
    origin: Place | None
    chain: tuple[Place, ...] = ()
    coverage: tuple[Share, ...] = ()
    common: str | None = None
    nearness: float | None = None
    more: int = 0
    at: Passage | None = None

    @property
    def found(self) -> bool:
        """Whether the text is anywhere."""
        return self.origin is not None or bool(self.chain)

    def to_json(self) -> dict[str, Any]:
        """As ``tacho why --json`` has it."""
        found: dict[str, Any] = {
            "session_id": self.session_id, "text": plain(self.text),
            "origin": self.origin.to_json() if self.origin is not None else None,
            "chain": [one.to_json() for one in self.chain],
            "coverage": [one.to_json() for one in self.coverage],
            "common": self.common, "nearness": None if self.nearness is None else round(self.nearness, 3), "more": self.more,
        }  # fmt: skip
        if self.at is not None:
            found["position"] = self.at.position
        return found


def event_json(parts: Sequence[Why], named: str) -> dict[str, Any]:
    """As ``tacho why --event --json`` has it: the answer for the longest part, and all of them under ``parts``."""
    longest = max(parts, key=lambda one: len(one.text), default=None)
    if longest is None:
        return {"event": named, "parts": []}
    return {**longest.to_json(), "event": named, "parts": [one.to_json() for one in parts]}


def said_by_a_model(passage: Passage) -> bool:
    """Whether a passage is an answer of a model, this agent's or another's."""
    return passage.kind in _SAID and (passage.position.startswith("output.") or passage.position in ("output", "content"))


class Tracer:
    """Answers for one told recording; what it has to read is read when it is asked for the first time."""

    def __init__(self, story: Story, recording: Recording) -> None:
        self._story = story
        self._recording = recording

    @cached_property
    def places(self) -> list[Passage]:
        """Passages and exits in one order."""
        entered = passages(self._story, self._recording)
        results = {one.event_id: one.order for one in entered if one.position in ("output", "wire.data")}
        return sorted([*entered, *exits(self._story, results)], key=lambda one: one.order)

    @cached_property
    def _haystack(self) -> Haystack:
        return Haystack(self.places)

    def why(self, text: str, *, at: int | None = None) -> Why:
        """Where a text came from. ``at``: the number of the place that said it; what came later is no origin then."""
        text = text.strip("\n") if text.strip() else text
        hits = self._hits(text)
        upto = len(self.places) if at is None else at + 1
        entered = [index for index in sorted(hits) if index < upto and self.places[index].kind not in EXITS]
        first = self._first(text, hits, entered)
        nearness: float | None = None
        limit = upto if at is None else at
        if first is None or self.places[first].kind in _SAID:
            limit = min(limit, first) if first is not None else limit
            almost = self._nearly(text, limit)
            if almost is not None:
                hit, manner, nearness = almost
                hits[hit.index] = (hit, manner)
                first = hit.index
        if first is not None and self.places[first].kind not in _SAID:
            limit = self._said_at(hits, first, limit)
        if first is not None:
            carried = near(
                self._haystack, text, lambda index: index > first and index not in hits and self.places[index].kind in (*_SAID, *EXITS)
            )
            hits.update({index: (hit, NEARLY) for index, (hit, _) in carried.items()})
        covers = self._covers(text, limit)
        origin = self._origin(first, hits) or self._made(hits, upto)
        chain, more = self._chain(origin, first, hits)
        return Why(
            session_id=self._recording.session_id, text=text, origin=origin, chain=chain, coverage=covers, common=self._common(text, hits),
            nearness=nearness, more=more, at=self.places[at] if at is not None else None,
        )  # fmt: skip

    def event(self, named: str) -> list[Why]:
        """Where each part of what an event says came from: an answer's texts and arguments, a tool call's input, a command. ``named``: the event's id,
        the number of its line (``#12``), or ``step:4`` for that step's answer. Raises ``NotFoundError``."""
        event_id = self._named(named)
        own = [index for index, one in enumerate(self.places) if one.event_id == event_id]
        parts = [index for index in own if self.places[index].kind in (*_SAID, *EXITS)]
        if not parts and not own:
            raise NotFoundError(
                f"the event {named[:80]} of {self._recording.session_id} says nothing that is recorded; tacho show lists its steps"
            )
        return [self.why(self.places[index].text, at=index) for index in (parts or own)[:MOST_PARTS]]

    def _named(self, named: str) -> str:
        if named.startswith("step:"):
            step = next((one for one in self._story.steps if str(one.number) == named[5:]), None)
            if step is None:
                raise NotFoundError(
                    f"no step {named[5:80]} in {self._recording.session_id}, which has {len(self._story.steps)}; tacho show lists them"
                )
            return step.event_id
        number = named.removeprefix("#")
        entry = self._recording.by_id(named)
        if entry is None and number.isdecimal() and len(number) < 12:
            entry = next((one for one in self._recording.entries if one.seq == int(number)), None)
        if entry is None:
            raise NotFoundError(
                f"no event {named[:80]} in {self._recording.session_id}; tacho show numbers the lines ([#12]), tacho cat has the ids"
            )
        for _, run in self._story.runs():
            if entry.seq in run.also:
                return run.event_id
        for step in self._story.steps:
            if any(one.seq == entry.seq for one in step.attempts):
                return step.event_id
        return entry.event.id

    def line(self, path: str, number: int) -> str | None:
        """A line of a file as this session last wrote it; ``None`` where it wrote no such file. Raises ``NotFoundError`` for a line that is not there."""
        latest: FileChange | None = None
        for change in all_changes(self._story):
            if same_path(change.path, path) and change.after is not None and (latest is None or change.seq >= latest.seq):
                latest = change
        if latest is None or latest.after is None:
            return None
        lines = latest.after.split("\n")
        if lines[-1:] == [""]:
            lines.pop()
        if not 1 <= number <= len(lines):
            raise NotFoundError(
                f"{latest.path} had {len(lines)} lines when this session last wrote it, and no line {number}; name one that is there"
            )
        return lines[number - 1]

    # -- looking -----------------------------------------------------------------------------------------------------------

    def _hits(self, text: str) -> dict[int, tuple[Hit, str]]:
        """By place, where it has the text, and how it stands there."""
        found: dict[int, tuple[Hit, str]] = {}

        def take(hits: dict[int, Hit], taken: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> None:
            for index, hit in hits.items():
                known = found.get(index)
                if known is None or (hit.bounded and not known[0].bounded):
                    hit = widened(text, hit) if not (taken or more) else hit
                    found[index] = hit, how(text, hit, taken, more)

        take(self._haystack.verbatim(text))
        bones = skeleton(text)
        sure = {index for index, (hit, _) in found.items() if hit.bounded}
        if bones:
            take(self._haystack.alike(bones, sure))
        for taken, bare in forms(text):
            inner = skeleton(bare)
            if len(inner) >= 6 and inner != bones:
                take(self._haystack.alike(inner, found), taken)
        if has_number(text):
            take({index: hit for index, hit in self._haystack.numbered(text).items() if index not in found}, more=("numbers",))
        take({index: hit for index, hit in cut(self._haystack, text).items() if index not in found}, more=("cut short here",))
        take(shortened(self._haystack, text, {index: hit for index, (hit, _) in found.items()}), more=("cut short",))
        bounded = {index for index, (hit, _) in found.items() if hit.bounded}
        if bounded and len(bones) < SURE:
            found = {index: one for index, one in found.items() if index in bounded}
        return found

    def _first(self, text: str, hits: dict[int, tuple[Hit, str]], entered: list[int]) -> int | None:
        whole = [index for index in entered if "cut short" not in hits[index][1].split(", ")]
        if not whole:
            return None
        if len(skeleton(text)) < SURE:
            verbatim = [index for index in whole if hits[index][1] == VERBATIM and not said_by_a_model(self.places[index])]
            if verbatim:
                return verbatim[0]
        return whole[0]

    def _nearly(self, text: str, limit: int) -> tuple[Hit, str, float] | None:
        """The passage before ``limit`` that nearly has the text: the longest piece of it, or most of its words."""

        def outer(index: int) -> bool:
            return index < limit and self.places[index].kind not in _OWN and self.places[index].within is None

        def inner(index: int) -> bool:
            return index < limit and self.places[index].kind not in _OWN and self.places[index].within is not None

        for allowed in (outer, inner):  # what a tool call returned, before what something in it did
            if almost := near(self._haystack, text, allowed):
                hit, share = max(almost.values(), key=lambda one: (one[1], -one[0].index))
                return hit, NEARLY, share
            if (found := self._mostly(text, limit, allowed)) is not None:
                return found
        return None

    def _mostly(self, text: str, limit: int, allowed: Callable[[int], bool]) -> tuple[Hit, str, float] | None:
        """The one source that has most of a longer text, letter by letter."""
        bones = skeleton(text)
        if len(bones) < LONG:
            return None
        by_passage: dict[int, list[Cover]] = {}
        for one in cover(self._haystack, text, limit, allowed):
            by_passage.setdefault(one.index, []).append(one)
        for index, covers in by_passage.items():
            share = sum(one.length for one in covers) / len(bones)
            if share >= THRESHOLD:
                longest = max(covers, key=lambda one: one.length)
                passage = self.places[index]
                bare = (
                    next((form[1] for form in forms(passage.text) if form[0] == longest.how), passage.text) if longest.how else passage.text
                )
                mapped = spots(bare)
                begin, end = mapped[longest.at], mapped[longest.at + longest.length - 1] + 1
                return Hit(index, longest.how, bare, begin, end, True), NEARLY, share
        return None

    def _said_at(self, hits: dict[int, tuple[Hit, str]], first: int, limit: int) -> int:
        """The first place behind the origin at which the model had the text, else the end: what is before it covers the text."""
        return next((index for index in sorted(hits) if index > first and self.places[index].kind in (*_SAID, *EXITS)), limit)

    # -- telling -----------------------------------------------------------------------------------------------------------

    def _origin(self, first: int | None, hits: dict[int, tuple[Hit, str]]) -> Place | None:
        if first is None:
            return None
        passage = self.places[first]
        if passage.within is not None:
            outer = next(
                (index for index in sorted(hits) if self.places[index].event_id == passage.within and self.places[index].kind in KINDS),
                None,
            )
            if outer is not None:
                return replace(self._place(outer, hits), source=passage)
        return self._place(first, hits)

    def _made(self, hits: dict[int, tuple[Hit, str]], upto: int) -> Place | None:
        """The call that wrote a text into a file, where nothing that entered has it: a program made it."""
        first = min((index for index in hits if index < upto), default=None)
        if first is None or self.places[first].kind != "written":
            return None
        place = self._place(first, hits)
        return replace(place, passage=structs.replace(place.passage, kind="tool_result"))

    def _place(self, index: int, hits: dict[int, tuple[Hit, str]]) -> Place:
        hit, how = hits[index]
        said = hit.said
        quote = said if len(said) <= MOST_QUOTED else said[:MOST_QUOTED] + "…"
        before = hit.text[max(0, hit.begin - CONTEXT) : hit.begin]
        behind = hit.text[hit.end : hit.end + CONTEXT] if quote == said else ""
        return Place(passage=self.places[index], how=how, quote=quote, before=before, behind=behind)

    def _chain(self, origin: Place | None, first: int | None, hits: dict[int, tuple[Hit, str]]) -> tuple[tuple[Place, ...], int]:
        """From the origin on. What a tool call holds within itself is said once, with the call."""
        begin = first if first is not None else -1
        inner = origin.source if origin is not None else None
        told = [index for index in sorted(hits) if index >= begin and self.places[index] is not inner]
        shown = told if len(told) <= MOST_LINKS else [*told[: MOST_LINKS - 10], *told[-10:]]
        links = tuple(
            origin if origin is not None and self.places[index] is origin.passage else self._place(index, hits) for index in shown
        )
        return links, len(told) - len(shown)

    def _covers(self, text: str, limit: int) -> tuple[Share, ...]:
        """Which passages before number ``limit`` cover how much of the text."""
        bones = skeleton(text)
        if not bones:
            return ()
        found: dict[tuple[str, str], list[Cover]] = {}
        for one in cover(self._haystack, text, limit, lambda index: self.places[index].kind not in EXITS):
            passage = self.places[one.index]
            found.setdefault((passage.event_id, passage.position), []).append(one)
        mapped = spots(text) if found else []
        shares = []
        for covers in found.values():
            longest = max(covers, key=lambda one: one.length)
            quote = text[mapped[longest.begin] : mapped[longest.end - 1] + 1]
            share = sum(one.length for one in covers) / len(bones)
            shares.append(Share(passage=self.places[longest.index], share=share, quote=one_line(quote, MOST_QUOTED)))
        return tuple(sorted(shares, key=lambda one: -one.share))

    def _common(self, text: str, hits: dict[int, tuple[Hit, str]]) -> str | None:
        bones = skeleton(text)
        words = words_of(text)
        if text and not bones and len(text.strip()) >= 4:
            return None
        if len(bones) < 3:
            return "it is too short to be traced: it can stand anywhere by chance"
        if words and all(word in COMMON for word in words):
            return "it is made of common words alone: it can stand anywhere by chance"
        count = len(hits)
        if len(bones) < FEW and count >= MANY and count >= COMMON_SHARE * len(self.places):
            return f"it is common here: {count} of {len(self.places)} texts have it"
        return None
