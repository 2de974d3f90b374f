"""A request that another model answered than was asked for: a gateway that falls back, an alias that moved.

Cause: the answer names a model of another family than the request, and the name that was asked for is one by which models are known (so no alias or
deployment of one's own), or it served other calls of the session itself. Consequence: that very answer decided something that reached beyond reading;
what only looked things up did no harm. The good session's models are ``changed_since_good``'s matter: what served there as well is not told here.

It cannot see a model that was replaced under its own name, nor whether the other model's decision was wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.meaning.citing import begun, called, cite, joined, said
from tachograph.postmortem.meaning.effects import effects
from tachograph.postmortem.meaning.symptoms import hard

from .changes_calls import route
from .contract import LIKELY, STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.effects import Effect

NAME = "other_model_served"

#: Names by which models are known, whoever serves them; what else is asked for may be an alias.
_KNOWN = re.compile(
    r"\A(?:gpt-|o[1345](?:\b|-)|chatgpt|claude|gemini|gemma|llama|mistral|mixtral|codestral|ministral|magistral|command|nova|titan|jamba|deepseek|qwen|grok|phi-|kimi|glm-)",
    re.IGNORECASE,
)
#: Which release of a model: a date, a number of the provider's, “latest”.
_RELEASE = re.compile(r"(?:[-@](?:\d{8}|\d{4}-\d\d-\d\d|\d{4}|00\d|latest|preview)|-v\d{1,2}(?::\d{1,2})?|:\d{1,3})\Z")


def model(name: str | None) -> str:
    """A model's name without its route and its release: two ids with one such name are the same model."""
    bare = route(name)
    while (shorter := _RELEASE.sub("", bare)) != bare and shorter:
        bare = shorter
    return bare.replace(".", "-")


def run(case: Case) -> Iterator[Finding]:
    """One finding: the first answer of another model that decided an effect."""
    usual = (
        {model(step.call.served_model_id) for step in case.good.story.steps if step.call.served_model_id}
        if case.good is not None
        else set()
    )
    own = {
        model(step.call.model_id)
        for step in case.story.steps
        if step.call.model_id and model(step.call.served_model_id) == model(step.call.model_id)
    }
    made: dict[int, Effect] = {}
    for effect in effects(case):
        if effect.step is not None:
            made.setdefault(effect.step.number, effect)
    for step in case.story.steps:
        asked, served = step.call.model_id, step.call.served_model_id
        if step.bad or not asked or not served or step.number not in made:
            continue
        wanted, got = model(asked), model(served)
        if wanted == got or got in usual:
            continue
        if wanted not in own and not (_KNOWN.match(wanted) and _KNOWN.match(got)):
            continue
        wrong = hard(case)
        event_id, seq = begun(step)
        done = made[step.number]
        also = "; other calls of the session had the model that was asked for" if wanted in own else ""
        yield Finding(
            cause="model", analysis=NAME, confidence=STRONG if wrong else LIKELY, first_event=event_id, first_seq=seq,
            evidence=joined([cite(step, f"{served} answered"), called(done.run), *(one.evidence() for one in wrong[:2])]),
            statement=f"{said(asked)} was asked for and {said(served)} answered{also}; its answer decided {said(done.run.title)}.",
        )  # fmt: skip
        return


ANALYSIS = Analysis(name=NAME, looks_for="a request that another model answered than was asked for, and that decided an effect", run=run)
