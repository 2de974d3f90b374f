"""A case: everything that an explanation may rest on, and the form of an answer that cites it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import in_force
from .bundle import Bundle, Change, bundle
from .changes import FileTotal, totals
from .commands import GitAction, git_actions, is_check
from .shapes import Run, Step, Story
from .story import tell
from .values import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tachograph.core.signals import Signals

    from .analyses.contract import Finding
    from .ports import Recording

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """An event that an answer rests on, and what it shows; or a signal (``seq`` 0): the number of it in the report."""

    event_id: str
    seq: int
    what: str
    signal: int | None = None

    def to_json(self) -> dict[str, Any]:
        """``{"event_id", "seq", "what"}``, of a signal ``{"signal", "what"}``."""
        if self.signal is not None:
            return {"signal": self.signal, "what": self.what}
        return {"event_id": self.event_id, "seq": self.seq, "what": self.what}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to one question. ``answer`` is ``None`` where the record holds nothing; ``not_recorded`` says what
    is missing and what would have recorded it, also where a part is known."""

    number: int
    question: str
    answer: str | None
    evidence: tuple[Evidence, ...]
    not_recorded: str | None

    def to_json(self) -> dict[str, Any]:
        """``{"question", "answer", "evidence", "not_recorded"}``."""
        return {
            "question": self.question,
            "answer": self.answer,
            "evidence": [one.to_json() for one in self.evidence],
            "not_recorded": self.not_recorded,
        }


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """Another session that saw the same. ``did``: what it did from then on, in words; empty where nothing lasting is known."""

    session_id: str
    name: str | None
    status: str
    did: str


#: From the id of an event to the other sessions that saw what it shows.
Spread = Callable[[str], Sequence[Elsewhere]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is known. ``verification`` and ``replay`` are the reports of those verbs; ``good``: the last good session, told alike; ``forks``: the
    sessions that were forked from this one (edited, varied, asked again); ``links``: what the team attached, as ``kind=ref``, when it was recorded and since; ``spread``: who else in the store saw what an event shows; ``signals``: what other systems said around
    that time, None where none were asked."""

    recording: Recording
    story: Story
    bundle: Bundle
    files: tuple[FileTotal, ...]
    git: tuple[GitAction, ...]
    verification: Mapping[str, Any] | None = None
    replay: Mapping[str, Any] | None = None
    good: Case | None = None
    forks: tuple[Recording, ...] = ()
    links: tuple[str, ...] = ()
    spread: Spread | None = None
    signals: Signals | None = None

    @property
    def baseline(self) -> Bundle | None:
        """What was in force in the last good session."""
        return self.good.bundle if self.good is not None else None

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What differs from what was in force in the last good session."""
        good = self.good
        return in_force.changes(good.recording, self.recording, bundles=(good.bundle, self.bundle)) if good is not None else ()

    @cached_property
    def event_ids(self) -> dict[int, str]:
        """From a line to the id of its event."""
        return {entry.seq: entry.event.id for entry in self.recording.entries}

    @property
    def imported(self) -> bool:
        """Whether the session was read from another tool's transcript."""
        return self.story.start is not None and self.story.start.source == "import"

    def checks(self) -> tuple[tuple[Step | None, Run], ...]:
        """Commands and tool calls that checked work, in order; one within another counts once."""
        return self._checks

    @cached_property
    def _checks(self) -> tuple[tuple[Step | None, Run], ...]:
        found: list[tuple[Step | None, Run]] = []
        inner: set[int] = set()
        for step, run in self.story.runs():
            if run.seq not in inner and is_check(run):
                inside = [child for child in run.children if isinstance(child, Run) and is_check(child)]
                inner.update(child.seq for child in inside)
                found.append((step, inside[0] if len(inside) == 1 else run))
        return tuple(found)

    def effects(self) -> tuple[tuple[Step | None, Run], ...]:
        """Runs that by their own account reach beyond reading: tools declared ``write`` or ``external``, and HTTP
        exchanges with a method that is not safe (RFC 9110, section 9.2.1)."""
        return self._effects

    @cached_property
    def _effects(self) -> tuple[tuple[Step | None, Run], ...]:
        return tuple(
            (step, run)
            for step, run in self.story.runs()
            if run.effect in ("write", "external") or (run.kind == "http" and (run.method or "GET").upper() not in _SAFE_METHODS)
        )


def open_case(
    recording: Recording,
    *,
    verification: Mapping[str, Any] | None = None,
    replay: Mapping[str, Any] | None = None,
    good: Recording | None = None,
    forks: Iterable[Recording] = (),
    links: Iterable[str] = (),
    spread: Spread | None = None,
    signals: Signals | None = None,
    redactions: bool = True,
) -> Case:
    """Read a recording for explanation, and the last good one beside it. ``redactions``: as of ``tell``; of the last good one nobody asks for them."""
    story = tell(recording, redactions=redactions)
    return Case(
        recording=recording,
        story=story,
        bundle=bundle(recording),
        files=totals(story),
        git=tuple(git_actions(story)),
        verification=verification,
        replay=replay,
        good=open_case(good, redactions=False) if good is not None else None,
        forks=tuple(forks),
        links=tuple(dict.fromkeys([*(story.start.links if story.start is not None else ()), *links])),
        spread=spread,
        signals=signals,
    )


@dataclass
class Saying:
    """An answer while it is put together: sentences, citations, and what is missing. ``findings``: what the analyses have found."""

    case: Case
    findings: tuple[Finding, ...] = ()
    sentences: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def say(self, sentence: str) -> None:
        """Add a sentence."""
        self.sentences.append(sentence)

    def lack(self, sentence: str) -> None:
        """Add what is missing (as it stands behind “Not recorded:”), and what would have recorded it."""
        self.missing.append(sentence)

    def cite(self, seqs: int | Iterable[int] | None, what: str) -> str:
        """Citations to stand at the end of a clause, with a blank before each: `` [#3] [#5]``. At most five; the rest
        is counted."""
        wanted = [] if seqs is None else [seqs] if isinstance(seqs, int) else list(dict.fromkeys(seqs))
        ids = self.case.event_ids
        for seq in wanted[:5]:
            if not any((one.seq, one.what) == (seq, what) for one in self.evidence):
                self.evidence.append(Evidence(event_id=ids.get(seq, ""), seq=seq, what=what))
        more = f" and {len(wanted) - 5} more" if len(wanted) > 5 else ""
        return "".join(f" {_OPEN}{seq}{_CLOSE}" for seq in wanted[:5]) + more

    def cite_signals(self, numbers: int | Iterable[int] | None, what: str) -> str:
        """As ``cite``, of signals by their numbers in the report: `` [#s2]``."""
        wanted = [] if numbers is None else [numbers] if isinstance(numbers, int) else list(dict.fromkeys(numbers))
        for number in wanted[:5]:
            if not any((one.signal, one.what) == (number, what) for one in self.evidence):
                self.evidence.append(Evidence(event_id="", seq=0, what=what, signal=number))
        more = f" and {len(wanted) - 5} more" if len(wanted) > 5 else ""
        return "".join(f" {_OPEN}s{number}{_CLOSE}" for number in wanted[:5]) + more

    def answer(self, number: int, question: str) -> Answer:
        """The finished answer."""
        cited = {str(one.seq) if one.signal is None else f"s{one.signal}" for one in self.evidence}
        return Answer(
            number=number,
            question=question,
            answer=_with_citations(self.sentences, cited),
            evidence=tuple(self.evidence),
            not_recorded=_with_citations(self.missing, cited),
        )


#: Stand for the brackets of a citation until an answer is finished. ``visible`` lets no control character out of a recording, so
#: that recorded words can say ``[#7]`` and still not cite.
_OPEN, _CLOSE = "\x02", "\x03"
_MARKED = re.compile(r"\x02(s?\d+)\x03")


def _with_citations(sentences: list[str], cited: set[str]) -> str | None:
    words = " ".join(sentences).replace("[#", "[ #")
    pieces = _MARKED.split(words)  # text and numbers by turns
    shown = [
        visible(piece) if place % 2 == 0 else f"[#{piece}]" if piece in cited else f"[ #{piece}]" for place, piece in enumerate(pieces)
    ]
    return "".join(shown) or None


def sentence(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def counted(number: int, word: str, plural: str | None = None) -> str:
    """``1 file``, ``3 files``."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def listed(items: Iterable[str], limit: int = 8) -> str:
    """``a, b and 3 more``."""
    every = list(items)
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more
