"""What was done in a session, with what was known when it was decided.

An *action* is an outermost tool call, command or exchange. What it was given is what the model asked for; what ran is told by ``run``. What had
entered before it was decided is told by the place of its model call among the passages (``passages.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tachograph.format import canonical
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.hidden import unhidden
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import names_one, terms, values
from tachograph.postmortem.language.verbs import groups, stems
from tachograph.postmortem.shapes import Mark, Run, Step
from tachograph.postmortem.values import plain

from .effects import Effect, effects
from .once import entered, once
from .results import Failure, failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage
    from tachograph.providers.conversation import Part

#: Words in the names of tools that change files.
_EDITS = stems("patch edit write replace insert modify overwrite")
_ESCAPE = re.compile(r"\\[nrt\"/\\]")
#: Characters of one argument that are looked at for its words.
_LONG = 4000
#: What commands imply that their words do not say.
_IMPLIED = (
    (re.compile(r"\bgit push\b"), "push remote publish"),
    (re.compile(r"\bgit commit\b"), "commit"),
    (re.compile(r"\b(?:pytest|unittest|tox|nox|jest|vitest|rspec|phpunit|ctest)\b"), "run tests"),
    (re.compile(r"\brm\b|\brmdir\b|\bunlink\b"), "delete remove file"),
    (re.compile(r"\b(?i:drop|truncate)\s+(?i:table|database|schema)\b|\b(?i:delete)\s+(?i:from)\b"), "delete drop table database data"),
    (re.compile(r"\b(?i:update)\s+\w+\s+(?i:set)\b|\b(?i:insert)\s+(?i:into)\b"), "change write database data"),
    (re.compile(r"\bcurl\b|\bwget\b|\bscp\b|\brsync\b"), "network upload send"),
    (re.compile(r"\bkubectl (?:apply|rollout|set)|\bhelm (?:upgrade|install)|\bterraform apply"), "deploy change"),
    (re.compile(r"\b(?:pip|npm|yarn|pnpm|gem|cargo|apt|apt-get|brew)3? (?:install|add|i)\b"), "install package dependency"),
)  # fmt: skip
#: Whether any of them can be there.
_IMPLIES = Sieve(
    re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _IMPLIED)),
    "git |pytest|unittest|tox|nox|jest|vitest|rspec|phpunit|ctest|rm|unlink|table|database|schema|delete|update|insert|curl|wget|scp|rsync|kubectl|helm |terraform |pip|npm|yarn|gem|cargo|apt|brew",
)


def _implied(text: str) -> str:
    return "".join("\n" + more for pattern, more in _IMPLIED if pattern.search(text)) if _IMPLIES.may(text) else ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Action:
    """``asked``: the model's request for it, where it asked; ``effect``: where it, or something within it, reached beyond reading; ``before``: how
    many passages had entered when it was decided."""

    step: Step | None
    run: Run
    asked: Part | None
    effect: Effect | None
    before: int

    @property
    def name(self) -> str:
        return self.run.name

    @cached_property
    def given(self) -> Any:
        """Its arguments: as asked for, else as they ran."""
        return self.asked.value if self.asked is not None and self.asked.value is not None else self.run.input.value

    @cached_property
    def leaves(self) -> tuple[tuple[str, str], ...]:
        """Its arguments one by one, as (path, text)."""
        return tuple(values(self.given))

    @cached_property
    def text(self) -> str:
        """All its words: its name and its arguments' names and values."""
        if self.run.kind != "tool":
            said = [self.run.title, self.run.input.text()[:_LONG] if self.run.kind == "http" else ""]
            return "\n".join(said) + _implied(self.run.title)
        said = [self.run.name]
        said += [f"{path} {text[:_LONG]}" for path, text in self.leaves]
        whole = "\n".join(said)
        return whole + _implied(whole)

    @cached_property
    def call(self) -> bytes:
        """Its name and arguments, the same for the same call."""
        return canonical.dumps([self.run.name, plain(self.given)])

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(self.text)

    @cached_property
    def groups(self) -> frozenset[str]:
        """The kinds of doing that it names: by its tool's name; of a shell and the like by its command."""
        named = groups(stems(self.run.name)) if self.run.kind == "tool" else frozenset()
        return named or groups(self.stems)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms of its arguments, in their common form."""
        return frozenset(term for _, text in self.leaves for term in terms(text[:_LONG]))

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Those of its terms that name one thing; a file also where a patch names it (``a/…``, ``b/…``), and those that it changed."""
        found = {term for term in self.terms if names_one(term)}
        found.update(term[2:] for term in tuple(found) if term[:2] in ("a/", "b/") and len(term) > 4)
        found.update(change.path.lower() for change in self.run.changes)
        return frozenset(found)

    @cached_property
    def edits(self) -> bool:
        """Whether it changes a file, whatever its change then does."""
        return bool(self.run.changes) or bool(_EDITS & stems(self.run.name))

    @cached_property
    def failure(self) -> Failure | None:
        """How it failed, as far as its result says so."""
        return failure(self.run)

    @property
    def ok(self) -> bool:
        return self.run.outcome == "ok" and not self.run.bad

    def cite(self, what: str) -> Evidence:
        """As evidence."""
        return Evidence(event_id=self.run.event_id, seq=self.run.seq, what=what)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reply:
    """What a model said in words, in one answer. ``rests``: it asked for nothing more."""

    step: Step
    text: str
    rests: bool
    before: int

    def cite(self, what: str) -> Evidence:
        """As evidence."""
        return Evidence(event_id=self.step.event_id, seq=self.step.seq, what=what)


@dataclass(frozen=True, kw_only=True, eq=False)
class Doings:
    """``actions`` and ``replies`` in order; ``passages``: all texts that entered."""

    actions: tuple[Action, ...]
    replies: tuple[Reply, ...]
    passages: tuple[Passage, ...]

    @cached_property
    def acting(self) -> tuple[Action, ...]:
        """The actions that reached beyond reading."""
        return tuple(action for action in self.actions if action.effect is not None)

    @cached_property
    def by_talk(self) -> dict[int, list[Action]]:
        """The actions of each conversation, in order."""
        found: dict[int, list[Action]] = {}
        for action in self.actions:
            if action.step is not None:
                found.setdefault(action.step.seen.conversation, []).append(action)
        return found

    @cached_property
    def by_step(self) -> dict[int, list[Action]]:
        """The actions of each step, in order; those that belong to none at 0."""
        found: dict[int, list[Action]] = {}
        for action in self.actions:
            found.setdefault(action.step.number if action.step is not None else 0, []).append(action)
        return found

    @cached_property
    def _firsts(self) -> tuple[dict[str, int], dict[str, int]]:
        """From a term to the first passage that holds it; and to the first that is no model's answer."""
        told: dict[str, int] = {}
        answered: dict[str, int] = {}
        for place in range(len(self.passages) - 1, -1, -1):
            passage = self.passages[place]
            text = _ESCAPE.sub(" ", passage.text) if "\\" in passage.text else passage.text
            (answered if passage.kind == "model" else told).update(dict.fromkeys(unhidden(text).split(), place))
        outside = _of_terms(told)
        first = _of_terms(answered)
        for term, place in outside.items():
            if place < first.get(term, place + 1):
                first[term] = place
        return first, outside

    def first(self, term: str) -> int | None:
        """The place of the passage in which a term stands first."""
        return self._firsts[0].get(term)

    def first_told(self, term: str) -> int | None:
        """The place of the passage in which a term stands first, other than in a model's answer."""
        return self._firsts[1].get(term)

    @cached_property
    def brought(self) -> dict[int, list[tuple[Action, frozenset[str]]]]:
        """From the place of a passage to the actions with terms that stood nowhere before it, and these terms."""
        found: dict[int, list[tuple[Action, frozenset[str]]]] = {}
        for action in self.actions:
            by_place: dict[int, set[str]] = {}
            for term in action.terms:
                place = self.first(term)
                if place is not None and place < action.before and len(term) > 2:
                    by_place.setdefault(place, set()).add(term)
            for place, terms_of in by_place.items():
                found.setdefault(place, []).append((action, frozenset(terms_of)))
        return found

    # Long sessions: what matters to an action is near it. These look at the nearest alone, so that an analysis stays linear.

    @cached_property
    def _users(self) -> list[int]:
        return [place for place, passage in enumerate(self.passages) if passage.kind == "user"]

    def users(self, before: int, most: int = 24) -> list[Passage]:
        """The latest messages of people among the first ``before`` passages, in order."""
        end = bisect_left(self._users, before)
        return [self.passages[place] for place in self._users[max(end - most, 0) : end]]

    def recent(self, before: int, most: int = 240) -> tuple[Passage, ...]:
        """The latest of the first ``before`` passages."""
        return self.passages[max(before - most, 0) : before]

    @cached_property
    def definitions(self) -> tuple[Passage, ...]:
        """The schemas of the tools' parameters, each named by its tool."""
        return tuple(passage for passage in self.passages if passage.kind == "system" and passage.position.endswith(".schema"))

    @cached_property
    def _described(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for passage in self.passages:
            if passage.kind == "system" and passage.name and passage.position.endswith(".description"):
                found.setdefault(passage.name, []).append(passage.text)
        return found

    def described(self, name: str) -> list[str]:
        """What the definitions of a tool of this name say that it does."""
        return self._described.get(name, [])

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(passage): place for place, passage in enumerate(self.passages)}

    def place(self, passage: Passage) -> int:
        """Where a passage stands among all."""
        return self._places[id(passage)]

    @cached_property
    def by_event(self) -> dict[str, Action]:
        """Actions by the id of their event."""
        return {action.run.event_id: action for action in reversed(self.actions)}

    @cached_property
    def _befores(self) -> tuple[list[int], list[int]]:
        return list(accumulate((one.before for one in self.actions), max)), list(accumulate((one.before for one in self.replies), max))

    def actions_behind(self, place: int, most: int = 160) -> tuple[Action, ...]:
        """The next actions that were decided behind a passage."""
        begin = bisect_right(self._befores[0], place)
        return self.actions[begin : begin + most]

    def replies_behind(self, place: int, most: int = 160) -> tuple[Reply, ...]:
        """The next answers that were given behind a passage."""
        begin = bisect_right(self._befores[1], place)
        return self.replies[begin : begin + most]

    def actions_before(self, before: int, most: int = 160) -> tuple[Action, ...]:
        """The latest actions that were decided when fewer than ``before`` passages had entered."""
        end = bisect_left(self._befores[0], before)
        return self.actions[max(end - most, 0) : end]

    def first_doing(self, about: frozenset[str], since: int) -> int | None:
        """The least line behind ``since`` of an action that has any of these stems."""
        key = about, since
        if key not in self._first_doing:
            self._first_doing[key] = min(
                (action.run.seq for action in self.actions if action.run.seq > since and not about.isdisjoint(action.stems)), default=None
            )
        return self._first_doing[key]

    @cached_property
    def _first_doing(self) -> dict[tuple[frozenset[str], int], int | None]:
        return {}

    def own_words(self, passage: Passage) -> str:
        """A prompt's text without the tool results that the agent's code put into it."""
        return self._own.get(id(passage), passage.text)

    @cached_property
    def _own(self) -> dict[int, str]:
        found: dict[int, str] = {}
        results: list[str] = []
        for passage in self.passages:
            if passage.kind in ("tool_result", "document", "file", "memory", "subagent") and 20 <= len(passage.text) <= 200_000:
                results.append(passage.text)
                del results[:-64]
            elif passage.kind in ("user", "system") and results and len(passage.text) > 20:
                text = passage.text
                for result in results:
                    if result in text:
                        text = text.replace(result, "\n")
                if text is not passage.text:
                    found[id(passage)] = text
        return found


def _of_terms(pieces: dict[str, int]) -> dict[str, int]:
    """From the pieces of texts between blanks to their terms, each with the least of their places."""
    found: dict[str, int] = {}
    for piece, place in pieces.items():
        for term in terms(piece):
            if place < found.get(term, place + 1):
                found[term] = place
    return found


@once
def doings(case: Case) -> Doings:
    """What was done and said, in order."""
    passages = _as_told(case, entered(case))
    answered: dict[str, int] = {}
    for place, passage in enumerate(passages):
        if passage.position.startswith("output") and passage.kind in ("model", "subagent"):
            answered.setdefault(passage.event_id, place)
    seqs = list(accumulate((passage.seq for passage in passages), max))
    by_seq = {effect.run.seq: effect for effect in effects(case)}
    actions: list[Action] = []
    replies: list[Reply] = []
    parts: dict[str, Part] = {}

    def place_of(step: Step) -> int:
        if step.event_id in answered:
            return answered[step.event_id]
        return bisect_right(seqs, step.seq)

    for turn in case.story.turns:
        for item in turn.items:
            if isinstance(item, Run):
                before = bisect_left(seqs, item.seq)
                actions.append(Action(step=None, run=item, asked=None, effect=_effect(item, by_seq), before=before))
            if not isinstance(item, Step):
                continue
            before = place_of(item)
            said = "\n".join(part.text for part in item.reply if part.type == "text" and part.text)
            asks = [part for part in item.reply if part.type == "tool_use"]
            parts = {part.call_id: part for part in asks if part.call_id is not None}
            if said.strip():
                replies.append(Reply(step=item, text=said, rests=not asks and not item.call.tool_calls, before=before))
            for run in item.items:
                if isinstance(run, Run):
                    asked = parts.get(run.call_id or "")
                    actions.append(Action(step=item, run=run, asked=asked, effect=_effect(run, by_seq), before=before))
    return Doings(actions=tuple(actions), replies=tuple(replies), passages=passages)


def _as_told(case: Case, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """The passages without what commands and exchanges returned to the tool call that made them: the model was told what the tool made of it."""
    tools = {run.event_id for _, run in case.story.runs() if run.kind == "tool"}
    others = {run.event_id for _, run in case.story.runs() if run.kind != "tool"}
    texts: dict[int | None, list[str]] = {}
    for passage in passages:
        if passage.event_id in tools:
            texts.setdefault(passage.step, []).append(_bare(passage.text))

    def again(passage: Passage) -> bool:
        if passage.event_id not in others:
            return False
        if passage.within is not None:
            return True
        bare = _bare(passage.text)
        return any(bare in text for text in texts.get(passage.step, ()))

    return tuple(passage for passage in passages if not again(passage))


def _bare(text: str) -> str:
    return "".join((_ESCAPE.sub("", text) if "\\" in text else text).split())


def _effect(run: Run, by_seq: dict[int, Effect]) -> Effect | None:
    found = by_seq.get(run.seq)
    if found is not None:
        return found
    for child in run.children:
        inner = _effect(child, by_seq) if isinstance(child, Run) else None
        if inner is not None:
            return inner
    return None


def first_of(step: Step) -> tuple[str, int]:
    """The event and line of a step's first attempt."""
    return (step.attempts[0].event_id, step.attempts[0].seq) if step.attempts else (step.event_id, step.seq)


def allowed(case: Case, run: Run) -> bool:
    """Whether somebody's approval names this run, or stands right beside it."""
    for _, mark in case.story.marks("approval"):
        if not mark.bad and mark.detail.get("call_id") in (run.event_id, run.call_id) and mark.detail.get("call_id"):
            return True
    return False


def approvals(case: Case) -> list[Mark]:
    """Approvals that were given."""
    return [mark for _, mark in case.story.marks("approval") if not mark.bad]


def pieces(text: str) -> Iterator[str]:
    """A text's strings, where it is JSON, else itself."""
    value = parsed(text)
    if isinstance(value, str):
        yield value
    else:
        for _, leaf in values(value):
            yield leaf
