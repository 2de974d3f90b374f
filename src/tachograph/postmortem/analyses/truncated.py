"""An answer that was cut (``max_tokens``, a context that was full, a stop sequence in the midst of something) and was used as if it were whole.

Cause: the model call says that its answer did not end by itself, or a stop sequence cut it in the midst of JSON or of code, or
before the last of what the person had named. Consequence: its tool call ran;
its text was written, sent, printed or given to another call as it was; or it stands as the last answer.

None where the agent asked for the rest, asked again, or told the model that its call could not be read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.terms import terms, words
from tachograph.postmortem.meaning.citing import LONG, called, cite, joined, said
from tachograph.postmortem.meaning.outgoing import last_answers, outgoing
from tachograph.postmortem.meaning.symptoms import hard
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import one_line, textual, visible
from tachograph.providers.model import INVALID

from .contract import LIKELY, PROVEN, STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.shapes import Step

NAME = "truncated_output"

_CUT = frozenset(
    ["max_tokens", "length", "max_output_tokens", "model_length", "max_length", "token_limit", "incomplete", "model_context_window_exceeded", "max_new_tokens", "maxtokens"]
)  # fmt: skip
_STOPPED = frozenset(["stop_sequence", "stop", "stopsequence"])
_CONTINUE = re.compile(
    r"\b(?:continue|go on|carry on|keep going|resume|cut (?:off|short)|truncated|incomplete|the rest|where you (?:left|stopped|were)|finish (?:it|your|the)|max_?tokens|too long|try again|shorter)\b",
    re.IGNORECASE,
)
#: Characters at the end of a cut text by which it is found again, and how few are too few.
_TAIL, _FEW = 80, 12


def run(case: Case) -> Iterator[Finding]:
    """A finding for each cut answer that was used."""
    steps = case.story.steps
    ends = last_answers(case)
    for place, step in enumerate(steps):
        reason = str(step.call.finish_reason or "").lower()
        if step.bad or not (reason in _CUT or (reason in _STOPPED and step.call.params.get("stop_sequences") and _unfinished(step))):
            continue
        used = _used(case, step, steps[place + 1 :], final=step.number in ends)
        if used is None:
            continue
        sure, clause, shown = used
        limit = step.call.params.get("max_tokens") if reason in _CUT else step.call.params.get("stop_sequences")
        by = (
            f"{reason}{f', the limit was {textual(limit)}' if limit is not None else ''}"
            if reason in _CUT
            else f"the stop sequence {textual(limit)}"
        )
        end = _text(step)[-40:].strip()
        yield Finding(
            cause="parameters", analysis=NAME, confidence=sure, first_event=step.event_id, first_seq=step.seq,
            evidence=joined([cite(step, f"the answer was cut: {visible(one_line(by, LONG))}"), *shown]),
            statement=f"The answer of step {step.number} was cut ({visible(one_line(by, 80))}){f' at {said(end)}' if end else ''}; {clause}.",
        )  # fmt: skip


def _used(case: Case, step: Step, later: tuple[Step, ...], *, final: bool) -> tuple[float, str, list[Evidence]] | None:
    """How it was used: confidence, a clause, and what shows it."""
    asked = [part for part in step.reply if part.type == "tool_use"]
    if asked and step.reply[-1].type == "tool_use":
        return _ran(step, asked[-1].call_id, asked[-1].name, broken=isinstance(asked[-1].value, dict) and INVALID in asked[-1].value)
    follows = next((one for one in later if one.seen.conversation == step.seen.conversation and one.seen.state == "there"), None)
    text = _text(step)
    passed = _passed_on(case, step, text, follows)
    if follows is not None and _continued(follows):
        return None
    if passed is not None:
        return passed
    if not final:
        return None
    wrong = hard(case)
    if wrong:
        return STRONG, f"it was the last answer, and {wrong[0].what}", [wrong[0].evidence()]
    sure = LIKELY + 0.05 if text.strip() else LIKELY - 0.1
    return sure, "it stands as the last answer" if text.strip() else "nothing was said, and that stands as the last answer", []


def _ran(step: Step, call_id: str | None, name: str | None, *, broken: bool) -> tuple[float, str, list[Evidence]] | None:
    """Whether the tool call with which the answer was cut ran, and did not fail for it."""
    for item in step.items:
        if (
            isinstance(item, Run)
            and item.kind == "tool"
            and item.name == name
            and item.call_id in (call_id, None)
            and item.outcome == "ok"
            and not item.bad
        ):
            sure = PROVEN if broken or item.effect in ("write", "external") else STRONG
            return sure, f"its tool call ran: {visible(one_line(item.title, LONG))}", [called(item)]
    return None


def _passed_on(case: Case, step: Step, text: str, follows: Step | None) -> tuple[float, str, list[Evidence]] | None:
    tail = _flat(text)[-_TAIL:]
    if len(tail) < _FEW:
        return None
    for left in outgoing(case):
        if left.seq > step.seq and left.how != "answer" and tail in _flat(left.text):
            how = {"argument": "given to", "file": "written by", "printed": "printed"}[left.how]
            what = f"it was {how}{f' {left.evidence.what}' if left.how != 'printed' else ' as it was'}"
            return (PROVEN if left.how != "printed" else STRONG), what, [left.evidence]
    for other in case.story.steps:
        if other.number <= step.number or other is follows:
            continue
        for new in other.seen.messages:
            if not new.echo and any(tail in _flat(part.text) for part in new.message.parts if part.text):
                return STRONG, f"step {other.number} was given it as it was", [cite(other, "it stands in this request")]
    return None


def _continued(follows: Step) -> bool:
    """Whether the next call of the conversation asks for the rest, or asks the same again."""
    if follows.seen.history in ("same", "rewritten", "shortened"):
        return True
    new = [one for one in follows.seen.messages if not one.echo]
    texts = [part.text for one in new for part in one.message.parts if part.type == "text"]
    return not new or any(_CONTINUE.search(text[:600]) for text in texts) or any(part.is_error for one in new for part in one.message.parts)


def _text(step: Step) -> str:
    return "\n".join(part.text for part in step.reply if part.type == "text" and part.text)


def _flat(text: str) -> str:
    return "".join(text.split())


def _unfinished(step: Step) -> bool:
    """Whether what a stop sequence ended was not at its end: by its own form, or because the last of what the person had named is not in it."""
    text = _text(step)
    if unfinished(text):
        return True
    asked = [part.text for new in step.seen.messages if new.message.role == "user" for part in new.message.parts if part.type == "text"]
    named = [term for term in dict.fromkeys(terms(asked[-1][:8000])) if term in words(asked[-1][:8000])] if asked else []
    said_words = words(text[:20_000])
    there = [place for place, term in enumerate(named) if term in said_words]
    # In the order of what was asked for, until it breaks off.
    return len(there) >= 3 and len(named) - there[-1] > 3 and there[-1] * 4 < len(named) * 3


def unfinished(text: str) -> bool:
    """Whether a text ends in the midst of JSON, of a code block, or of a list that it announces."""
    bare = text.strip()
    if not bare:
        return False
    if bare.count("```") % 2 == 1 or bare[-1] in ":,([{":
        return True
    body = bare.removeprefix("```json").strip()
    return body[:1] in "{[" and not _balanced(body)


def _balanced(text: str) -> bool:
    depth = 0
    quoted = escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = quoted
        elif character == '"':
            quoted = not quoted
        elif not quoted:
            depth += (character in "{[") - (character in "}]")
    return depth == 0 and not quoted


ANALYSIS = Analysis(name=NAME, looks_for="an answer that was cut and used as whole", run=run)
