"""The 21 questions that a postmortem of an agent must answer, each answered from the record or not at all.

An answer states what the record shows and cites the lines that show it, as ``[#seq]``. Where the record holds nothing
the answer is ``None`` and ``not_recorded`` says what would have recorded it; where it holds a part, both are there.
Nothing is inferred here about intent, fault or truth: causes are the analyses' (``analyses/``), which say by what evidence and how sure they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import answers_effects, answers_evidence, answers_inputs
from .case import Answer, Case, Saying

if TYPE_CHECKING:
    from collections.abc import Callable

    from .analyses.contract import Finding

QUESTIONS: dict[int, tuple[str, Callable[[Saying], None]]] = {
    1: ("Who or what started it?", answers_inputs.started_by),
    2: ("Which artifacts were in force?", answers_inputs.in_force),
    3: ("What exactly did it see at each step?", answers_inputs.saw),
    4: ("Which instruction forbade or permitted it?", answers_inputs.instructions),
    5: ("Was the requested model the one that served?", answers_inputs.models),
    6: ("Which parameters?", answers_inputs.parameters),
    7: ("What did the tools return; was it stale, malicious, misread?", answers_effects.tools),
    8: ("What did it change?", answers_effects.changed),
    9: ("Is it reversible? Did its claim match reality?", answers_effects.reversible),
    10: ("Who approved, seeing what?", answers_effects.approved),
    11: ("What is the blast radius?", answers_effects.reach),
    12: ("Guardrails: active, fired, should have fired?", answers_effects.guardrails),
    13: ("Was it held by instruction or by enforcement?", answers_effects.enforcement),
    14: ("Is it deterministic?", answers_evidence.deterministic),
    15: ("Was it the model, the prompt, a tool, the policy or the harness?", answers_evidence.cause),
    16: ("What changed since the last good one?", answers_evidence.changed_since),
    17: ("Why was it not caught?", answers_evidence.not_caught),
    18: ("When and by whom was it detected; how was it contained?", answers_evidence.detected),
    19: ("Which PR and which deploy shipped it?", answers_evidence.shipped),
    20: ("Is the evidence complete and untouched?", answers_evidence.complete),
    21: ("Which test keeps it from coming back; who owns it?", answers_evidence.test),
}


def answers(case: Case, findings: tuple[Finding, ...] = ()) -> tuple[Answer, ...]:
    """All answers, in the order of the questions; the causes that analyses have found are in those that ask for them."""
    found = []
    for number, (question, tell) in QUESTIONS.items():
        saying = Saying(case, findings)
        tell(saying)
        found.append(saying.answer(number, question))
    return tuple(found)
