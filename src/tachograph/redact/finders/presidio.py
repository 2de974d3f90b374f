"""Names, places and other personal data that have no shape: Microsoft Presidio finds them, where it is installed and a policy asks for it.

``pii = ["presidio:PERSON", "presidio:LOCATION"]`` in a policy; ``pip install 'tachograph[presidio]'`` and a model for it. What a model
finds depends on the model and on its version, so both belong to the policy's fingerprint: a replay elsewhere says that they differ.
It is a thousand times slower than everything else here.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Protocol

from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

#: Before the name of one of Presidio's entities, among the kinds of a policy.
PREFIX = "presidio:"
#: Below this Presidio is guessing. Its own scale, 0 to 1.
LEAST = 0.5
#: Characters that are analysed at once: its model refuses a million, and memory grows with it.
_PART = 100_000
_ENTITY = expression(r"presidio:[A-Z][A-Z_]{1,40}\Z")
_PACKAGE = "presidio_analyzer"

#: Letters, or what stands for one outside of ASCII: without them there is nothing to find.
TRIGGERS = (Trigger((), r"[A-Za-z]|[^\x00-\x7f]"),)


class Analyzer(Protocol):
    """What is used of Presidio's ``AnalyzerEngine``. A result has ``start``, ``end``, ``entity_type`` and ``score``."""

    def analyze(self, text: str, language: str, entities: list[str], score_threshold: float) -> Iterable[Any]: ...


def trouble(kind: str) -> str | None:
    """Why a kind of a policy cannot be looked for, in words; None if it can."""
    if not _ENTITY.match(kind):
        return f"{kind!r} is none of Presidio's entities; write presidio:PERSON"
    if importlib.util.find_spec(_PACKAGE) is None:
        return f"{kind!r} needs Presidio; pip install 'tachograph[presidio]'"
    return None


def version() -> str:
    """Of what finds these things here; empty where nothing does."""
    import importlib.metadata  # 25 ms, which nobody else needs

    try:
        return importlib.metadata.version("presidio-analyzer")
    except importlib.metadata.PackageNotFoundError:
        return ""


@lru_cache(maxsize=1)
def analyzer() -> Analyzer:
    """Presidio with its default model. It takes seconds to load, so it is loaded when first asked."""
    made: Analyzer = importlib.import_module(_PACKAGE).AnalyzerEngine()
    return made


def find(text: str, kinds: Iterable[str], engine: Analyzer | None = None) -> Iterator[Found]:
    """What Presidio takes for one of these ``presidio:…`` kinds. ``engine``: instead of the one that is installed."""
    entities = sorted(kind.removeprefix(PREFIX) for kind in kinds)
    for low, high in _parts(text):
        for result in (engine or analyzer()).analyze(text[low:high], language="en", entities=entities, score_threshold=LEAST):
            kind = str(result.entity_type)
            yield Found(low + result.start, low + result.end, kind.lower().replace("_", "-"), PREFIX + kind)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """The text in parts that end at the end of a line, or where there is none, of a word."""
    low = 0
    while len(text) - low > _PART:
        high = low + _PART
        cut = text.rfind("\n", low, high) + 1 or text.rfind(" ", low, high) + 1 or high
        yield low, cut
        low = cut
    yield low, len(text)
