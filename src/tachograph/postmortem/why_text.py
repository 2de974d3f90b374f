"""The answer of ``tacho why`` for people: a sentence that says where a text came from, and the chain from there, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .manner import VERBATIM
from .near import FEWEST, THRESHOLD, telling, words_of
from .values import one_line, quoted, visible
from .why import NEARLY, said_by_a_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .passages import Passage
    from .why import Place, Share, Why

#: Shares that are told, and the least one that is worth a line.
MOST_SHARES, LEAST_SHARE = 6, 0.02
#: A text of the model's own of which this share stood somewhere before was put together rather than made up.
PUT_TOGETHER = 0.7
_EXIT = {
    "tool_call": "given to the tool", "command": "command", "request": "HTTP request", "written": "written to", "commit": "commit", "printed": "printed",
    "approval": "shown for approval", "note": "note", "guardrail": "guardrail",
}  # fmt: skip


def lines(answer: Why, *, width: int = 100) -> list[str]:
    """The answer for one text."""
    out = [verdict(answer)]
    if answer.common is not None:
        out.append(f"Take it with care: {answer.common}.")
    if answer.chain:
        out.append("")
        out += _chain(answer, width)
    out += _coverage(answer.coverage, width)
    if answer.found:
        out += ["", "next: " + next_command(answer)]
    return out


def part_lines(answers: Sequence[Why], *, width: int = 100) -> list[str]:
    """The answers for the parts of an event: the chain of each only back to its origin."""
    out: list[str] = []
    for answer in answers:
        assert answer.at is not None
        out += [*([""] if out else []), f"{answer.at.position}{_named(answer.at)}: {quoted(answer.text, max(20, width - 40))}"]
        out.append("  " + verdict(answer, short=True))
        origin = answer.origin
        if origin is not None and origin.passage.order != answer.at.order:
            out += ["  " + line for line in _link(origin, width - 2)]
        out += ["  " + line for line in _coverage(answer.coverage, width - 2)]
    if answers:
        origin = next((one.origin for one in answers if one.origin is not None and one.origin.passage.kind != "model"), None)
        step = origin.passage.step if origin is not None else None
        session = answers[0].session_id
        out += ["", f"next: tacho why {session} TEXT traces one of these words" + (f"; tacho show {session} --step {step}" if step else "")]
    return out


def verdict(answer: Why, *, short: bool = False) -> str:
    """Where the text came from, in a sentence."""
    what = "This" if short else quoted(answer.text, 120)
    origin = answer.origin
    if origin is None:
        if answer.chain:
            return f"{what} entered with nothing that is recorded: the agent's own code wrote it."
        return f"{what} is nowhere in {answer.session_id}."
    passage = origin.passage
    where = f"#{passage.seq}" + (f", step {passage.step}" if passage.step is not None else "")
    if passage.kind in ("model", "subagent") and said_by_a_model(passage):
        who = "the model" if passage.kind == "model" else "another agent's model"
        words = f", nor {THRESHOLD:.0%} of its words" if len(telling(words_of(answer.text))) >= FEWEST else ""
        how = "put it together" if sum(one.share for one in answer.coverage) >= PUT_TOGETHER else "made it up"
        return f"{what}: {who} {how} ({where}); nothing that entered before has it{words}."
    if passage.position.startswith(("workspace.", "changes.")):
        return f"{what}: a program wrote it into {visible(passage.name or 'a file')} ({where}); nothing that entered before has it."
    nearly = f", nearly: {answer.nearness:.0%} of its words" if answer.nearness is not None else ""
    manner = f", {origin.how}" if origin.how not in (VERBATIM, NEARLY) else ""
    inner = f"; there from {visible(origin.source.name or 'a call')} (#{origin.source.seq})" if origin.source is not None else ""
    return f"{what} came from {_source(passage)} ({where}{nearly}{manner}){inner}."


def _source(passage: Passage) -> str:
    name = visible(one_line(passage.name, 60)) if passage.name else ""
    match passage.kind:
        case "system":
            if passage.position.startswith("input.tools"):
                return f"the definition of the tool {name}"
            return "the system prompt" + (f" {name}" if name else "")
        case "user":
            return "the user"
        case "file":
            return f"the file {name}" if name else "a file"
        case "document":
            return f"a document: {name}" if name else "a document"
        case "memory":
            return f"a memory: {name}" if name else "the memory: nobody in this session said it"
        case "subagent" if passage.position.startswith("input."):
            return "what another agent was told"
        case "subagent":
            return "another agent" + (f": {name}" if name else "")
    return f"the result of {name}" if name else "a tool's result"


def next_command(answer: Why) -> str:
    """What to run next."""
    session = answer.session_id
    origin = answer.origin
    if origin is not None and origin.passage.step is not None:
        show = f"tacho show {session} --step {origin.passage.step}"
    else:
        show = f"tacho show {session}"
    last = answer.chain[-1].passage if answer.chain else None
    if last is not None and (origin is None or last.event_id != origin.passage.event_id):
        return f"{show}; tacho why {session} --event {last.event_id}"
    return show


def _chain(answer: Why, width: int) -> Iterator[str]:
    for place in answer.chain:
        yield from _link(place, width)
    if answer.more:
        yield f"  … and {answer.more:,} more places have it; --json has as many"


def _link(place: Place, width: int) -> Iterator[str]:
    """One link: where, what, how, and the words with what is around them."""
    passage = place.passage
    step = f"step {passage.step}" if passage.step is not None else ""
    head = f"  #{passage.seq:<5} {step:<8} {_what(passage)}"
    head += f"  [{place.how}]"
    before, quote, behind = (visible(" ".join(text.split())) for text in (place.before, place.quote, place.behind))
    if place.before[-1:].isspace() or place.quote[:1].isspace():
        before += " "
    if place.behind[:1].isspace():
        behind = " " + behind
    room = max(20, width - len(head) - 2)
    words = _around(before, quote, behind, room)
    if room >= len(quote) + 24 or room >= 60:
        yield f"{head}  {words}"
    else:
        yield head
        yield "          " + _around(before, quote, behind, max(20, width - 10))


def _around(before: str, quote: str, behind: str, room: int) -> str:
    """The quote in marks, with as much around it as there is room for."""
    if len(quote) + 2 > room:
        return f"“{one_line(quote, max(8, room - 2))}”"
    left = min(len(before), max(0, (room - len(quote) - 4) // 2))
    shown = before[len(before) - left :] if left else ""
    right = max(0, room - len(quote) - 4 - left)
    return ("…" if left < len(before) else "") + f"{shown}“{quote}”{behind[:right]}" + ("…" if right < len(behind) else "")


def _what(passage: Passage) -> str:
    if passage.kind in _EXIT:
        name = passage.name if passage.kind in ("tool_call", "written", "commit", "approval", "command", "request") else None
        return _EXIT[passage.kind] + (f" {visible(one_line(name, 50))}" if name else "")
    if passage.kind in ("model", "subagent"):
        who = "model" if passage.kind == "model" else "another agent"
        path = passage.position.split(".input.", 1)
        if len(path) == 2 and passage.name:
            return f"{who}: {visible(one_line(passage.name, 30))}({visible(one_line(path[1], 30))})"
        return f"{who}: " + (
            "thinking"
            if passage.name == "thinking"
            else "reply"
            if said_by_a_model(passage)
            else "was told"
            if passage.position.startswith("input.")
            else "result"
        )
    words = passage.kind.replace("_", " ")
    return words + (f" {visible(one_line(passage.name, 50))}" if passage.name else "")


def _named(passage: Passage) -> str:
    return f" {visible(one_line(passage.name, 60))}" if passage.name and passage.name != "thinking" else ""


def _coverage(shares: Sequence[Share], width: int) -> Iterator[str]:
    told = [one for one in shares if one.share >= LEAST_SHARE]
    if not told or (len(told) == 1 and told[0].share > 0.999):
        return
    yield ""
    total = min(1.0, sum(one.share for one in shares))
    yield f"Word by word, {total:.0%} of it stood somewhere before:"
    for one in told[:MOST_SHARES]:
        passage = one.passage
        head = f"  {one.share:>4.0%}  #{passage.seq:<5} {_what(passage)}"
        yield f"{head}  “{one_line(visible(one.quote), max(20, width - len(head) - 4))}”"
    if len(told) > MOST_SHARES:
        yield f"  … and {len(told) - MOST_SHARES} more"
