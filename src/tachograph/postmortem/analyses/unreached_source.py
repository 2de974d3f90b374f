"""“Confirmed by the national register, which I consulted”, where what came in says that the register cannot be had.

*Claim*: a sentence of a last answer says that a source was consulted, or that it confirms something. *Against it*: a result names the same source (by two of its words,
or by a long one) in a sentence that says that it is not public, not found, or open to members only; and no result behind that names it without saying so.

None where the answer itself says that something could not be had. *Cannot see*: a source that nothing in the session speaks of.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.consulted import CONSULTED, closed
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.reports_abroad import TROUBLE
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import is_claim, sentences

from .contract import STRONG

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.actions import Doings, Reply

#: Words of any report.
_ANY = "about above after again against their there these those which while would could should other being where found figure figures number numbers value values confirmed verified checked consulted according currently result results source sources official eingesehen geprüft bestätigt überprüft laut dieser diese dieses wurde wurden haben quelle zahlen consultado verificado confirmado según datos fuente consulté vérifié confirmé selon données source consultato verificato confermato secondo sono stato stata dati fonte consultei verifiquei confirmado segundo dados geraadpleegd gecontroleerd bevestigd volgens bron"
_PLAIN = frozenset(fold(word) for word in _ANY.split())
_WORD = re.compile(r"[^\W\d_]{5,}")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
#: Letters of a word that names a source by itself (Handelsregister), and passages that are looked at.
_LONG, _MOST = 12, 120


def unreached(reply: Reply, known: Doings, case: Case) -> tuple[str, str, float, tuple[Evidence, ...]] | None:
    """The sentence of an answer that says that a source was consulted, why that is not so, how sure that is, and what shows it."""
    if case.imported or not reply.rests or not CONSULTED.search(reply.text) or closed(reply.text):
        return None
    for sentence in sentences(reply.text):
        if not CONSULTED.search(sentence) or not is_claim(sentence) or TROUBLE.search(sentence):
            continue
        own = _words(sentence)
        for passage in reversed(known.recent(reply.before, _MOST)):
            if passage.kind not in ("tool_result", "subagent", "document") or len(passage.text) > 50_000:
                continue
            named = [piece for piece, its in _pieces(passage.text) if _names(own & its)]
            if not named:
                continue
            # The latest that speaks of it decides; what says nothing of how to get at it may be the source itself.
            shut = next((piece for piece in named if closed(piece)), None)
            if shut is None:
                break
            why = f"no call reached it, and a result says {said(shut)}"
            return sentence, why, STRONG, (Evidence(event_id=passage.event_id, seq=passage.seq, what=f"the result says {said(shut)}"),)
    return None


@remembered
def _pieces(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The sentences of a result, each with its telling words."""
    return tuple((piece, _words(piece)) for piece in _SENTENCE.split(text) if piece.strip())


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in _WORD.findall(text[:4000])) - _PLAIN


def _names(shared: frozenset[str]) -> bool:
    return len(shared) >= 2 or any(len(word) >= _LONG for word in shared)
