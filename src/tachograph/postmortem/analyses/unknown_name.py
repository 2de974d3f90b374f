"""A name that the model made up, and that turned out to be the name of nothing, or of something else.

Cause: an identifier (a package, a host, an account, a table) that stands first in what the model itself wrote: no prompt, person, tool or file had it.
Consequence: it went into something that acts, and a later result says of exactly this name that there is no such thing, or that it is not what it
was taken for. Where the model looked for something, heard that it is not there, and went on otherwise, nothing came of it.

It cannot see a name that was made up and exists, nor one that nobody has complained about (``invented_value`` looks at what has to be known).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import names_one, terms
from tachograph.postmortem.meaning.citing import called, joined, said
from tachograph.postmortem.meaning.effects import effects
from tachograph.postmortem.meaning.once import entered
from tachograph.postmortem.meaning.outgoing import arguments_of

from .contract import LIKELY, STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

NAME = "unknown_name"

#: What is said of a name that names nothing, or the wrong thing. It has to stand close to the name.
_NOTHING = Sieve(
    re.compile(
        r"\b(?:no (?:such|matching|module|package|distribution|record|entry|host|user|account|table|column|project|version)\b|not (?:found|exist\w*|known|registered|listed|available|recogni[sz]ed|resolved?|published)"
        r"|(?:does|did) not (?:exist|resolve)|doesn't exist|unknown|unresolved|unrecogni[sz]ed|could not (?:find|resolve|be found)|cannot (?:find|resolve|be found)|can't find|unable to (?:find|resolve|locate)|nonexistent|non-existent"
        r"|typosquat\w*|quarantin\w+|suspicious|compromised|post-?install script|exfiltrat\w+|malicious|malware|hallucinat\w*|impersonat\w*|belongs to (?:another|someone|a different)|is not (?:ours|one of)|404)\b",
        re.IGNORECASE,
    ),
    "404|available|belongs to a|belongs to someone|can't find|cannot find|compromised|could not find|exfiltrat|exist|found|hallucinat|impersonat|is not one of|is not ours|known|listed|malicious|malware|no account|no column|no distribution|no entry|no host|no matching|no module|no package|no project|no record|no such|no table|no user|no version|install script|published|quarantin|recognised|recognized|registered|resolve|suspicious|typosquat|unable to find|unable to locate",
)
_NEAR = 80
_DIGITS = re.compile(r"[-+.\d/:]+\Z")


def run(case: Case) -> Iterator[Finding]:
    """At most one finding: the first such name."""
    passages = entered(case)
    reports = [
        one for one in passages if one.kind in ("tool_result", "file", "document", "subagent") and _NOTHING.search(one.text[:20_000])
    ]
    if not reports:
        return
    first: dict[str, Passage] = {}
    for passage in passages:
        for term in terms(passage.text[:20_000]):
            first.setdefault(term, passage)
    for effect in effects(case):
        given = arguments_of(effect.run)[:20_000]
        for term in dict.fromkeys(terms(given)):
            came = first.get(term)
            if came is None or came.kind != "model" or _DIGITS.match(term) or not _tells(term):
                continue
            report = next((one for one in reports if one.seq > effect.run.seq and _says_nothing(one.text[:20_000], term)), None)
            if report is None or _replaced(case, term, report):
                continue
            what = Evidence(event_id=report.event_id, seq=report.seq, what=f"a result says that there is nothing of the name {said(term)}")
            yield Finding(
                cause="model", analysis=NAME, confidence=STRONG + 0.05 if effect.sure else LIKELY + 0.1, first_event=came.event_id, first_seq=came.seq,
                evidence=joined([Evidence(event_id=came.event_id, seq=came.seq, what=f"{said(term)} stands here first"), called(effect.run), what]),
                statement=f"The model wrote {said(term)}, which nothing before had named; it went into {called(effect.run).what}, and a later result says that it is not what it was taken for.",
            )  # fmt: skip
            return


def _tells(term: str) -> bool:
    """Whether a term is the kind of name that things outside have. Paths, and what is joined by underscores alone, are names within a program: those
    are looked for and made all the time."""
    return len(term) >= 5 and "/" not in term and (names_one(term) or "-" in term) and any(mark in term for mark in "-.@:0123456789")


def _says_nothing(text: str, term: str) -> bool:
    lowered = text.lower()
    at = lowered.find(term)
    while at >= 0:
        begin = max(at - _NEAR, lowered.rfind("\n", 0, at) + 1)
        end = lowered.find("\n", at)
        if _NOTHING.search(text[begin : min(at + len(term) + _NEAR, end if end >= 0 else len(text))]):
            return True
        at = lowered.find(term, at + len(term))
    return False


def _replaced(case: Case, term: str, report: Passage) -> bool:
    """Whether something that acts came behind the report and no longer has the name, in place of what had it."""
    later = [effect for effect in effects(case) if effect.run.seq > report.seq]
    return (
        bool(later)
        and all(term not in terms(arguments_of(effect.run)[:20_000]) for effect in later)
        and any(effect.run.name == earlier.run.name for effect in later for earlier in effects(case) if earlier.run.seq < report.seq)
    )


ANALYSIS = Analysis(name=NAME, looks_for="a name that the model made up, and of which a later result says that it names nothing", run=run)
