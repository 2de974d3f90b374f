"""A tool failed, and the agent went on as if it had not.

*Cause*: the result of a call says that it failed, or that there is nothing: by the event, an exit code, an HTTP status, or words such as
``{"ok": false}`` in an answer that is otherwise a success. *Consequence*: no later answer says so, no later call makes up for it, and a later answer
claims that it was done, or tells what only that call could have told; or a call that has effects goes on behind a step that had to come first
(a backup, a check, a lock); or what a look-up could not look for is made anew (``made_anew.py``). An error that was reported, tried again with success, or worked around, is no finding.

Checks (tests, lint) that fail are not errors: they did what they are for. What is claimed of them is looked at by ``false_claim``.

Of a tool that acts, a result also says that nothing was done by a flag of its own deed (``"ticketed": false``), by a code or a state
(``CARD_DECLINED``, ``requires_approval``), by a count of those left out, or in a sentence, also where it is wrapped (``results.py``).

*Cannot see*: a failure that the tool's result does not tell; one that is told in another language than English.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.terms import identifiers, names_one, terms, words, words_of
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import claims, reports_trouble, said_done, sentences
from tachograph.postmortem.meaning.effects import acts, does, is_shell, looks
from tachograph.postmortem.meaning.results import Failure, checks, failed_within, failure, not_done
from tachograph.postmortem.meaning.symptoms import contains_only
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import one_line, quoted

from .contract import LIKELY, STRONG, Analysis, Finding
from .depends import depends
from .made_anew import cannot_tell, made_anew
from .said_none import is_absence, said_none, tells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence

#: Steps that others must be able to rely on.
_BEFORE = frozenset(
    stem(word)
    for word in [
        "backup",
        "copy",
        "archive",
        "snapshot",
        "validate",
        "verify",
        "check",
        "confirm",
        "lock",
        "authorize",
        "authorise",
        "approve",
        "test",
        "preflight",
        "precheck",
        "dump",
        "save",
        "export",
        "reserve",
        "hold",
        "stop",
        "drain",
        "disable",
        "migrate",
        "checkpoint",
        "sign",
    ]
)

#: Programs that run others; that two commands have them in common says nothing.
_PROGRAMS = frozenset(
    [
        "python",
        "python3",
        "node",
        "bash",
        "sh",
        "ruby",
        "perl",
        "php",
        "java",
        "npx",
        "sudo",
        "env",
        "cat",
        "ls",
        "grep",
        "head",
        "tail",
        "echo",
        "cd",
        "2>&1",
    ]
)


def find(case: Case) -> Iterator[Finding]:
    """The failures that were misread."""
    known = doings(case)
    for place, action in enumerate(known.actions):
        if action.step is None or action.run.source == "asked" or checks(action.run):
            continue
        failed = failure(action.run) or _within(action, known)
        if (failed is None or failed.kind == "nothing") and action.effect is None and (unsure := cannot_tell(action.run)) is not None:
            blind = list(_unsure(known, action, unsure))
            yield from blind
            if blind:
                continue
        if failed is None or _made_up_for(known, place, action, failed):
            continue
        later = [reply for reply in known.replies if reply.step.number > action.step.number]
        written = _written(known, place, action)
        looked = failed.kind == "error" and action.effect is None and not is_absence(failed)
        reports = [
            reply.step.number
            for reply in (*later, *written)
            if (tells(reply) if looked else reports_trouble(reply.text)) or _repeats(reply, action, failed)
        ]
        if reports:
            shown = _depended(known, place, action, failed, min(reports)) or _made_anew(known, action, failed, min(reports))
        else:
            shown = (
                _claimed(action, [*written, *later], failed)
                or _depended(known, place, action, failed, None)
                or said_none(known, action, failed)
                or _made_anew(known, action, failed, None)
                or _claimed_of_it(known, action, later, failed)
                or _told(known, action, later, failed)
                or _went_on(known, place, action, failed)
            )
        if shown is None:
            continue
        what, confidence, evidence = shown
        told = "found nothing" if failed.kind == "nothing" else f"failed ({said(failed.what)})"
        yield Finding(
            cause="tool", analysis="misread_error", confidence=confidence, first_event=action.run.event_id, first_seq=action.run.seq,
            evidence=(action.cite(f"the call {told}"), evidence),
            statement=f"{quoted(action.run.title, 100)} {told}, and the agent went on as if it had not: {what}.",
        )  # fmt: skip


def _unsure(known: Doings, action: Action, unsure: str) -> Iterator[Finding]:
    """A look-up that went well, and says that it could not look."""
    if action.step is None:
        return
    told = (reply.step.number for reply in known.replies_behind(action.before) if reply.step.number > action.step.number and tells(reply))
    shown = made_anew(known, action, min(told, default=None))
    if shown is not None:
        what, confidence, evidence = shown
        yield Finding(
            cause="tool", analysis="misread_error", confidence=confidence, first_event=action.run.event_id, first_seq=action.run.seq,
            evidence=(action.cite(f"it could not tell: {said(unsure)}"), evidence),
            statement=f"{quoted(action.run.title, 100)} could not tell ({said(unsure)}), and the agent took that for none: {what}.",
        )  # fmt: skip


def _made_anew(known: Doings, action: Action, failed: Failure, reported: int | None) -> tuple[str, float, Evidence] | None:
    return None if is_absence(failed) else made_anew(known, action, reported)


def _written(known: Doings, place: int, action: Action) -> list[Reply]:
    """The texts that later calls with effects were given: what somebody is told by mail is told as well."""
    found: list[Reply] = []
    for later in known.actions[place + 1 : place + 161]:
        if later.effect is None or later.step is None or action.step is None or later.step.number <= action.step.number:
            continue
        found += [
            Reply(step=later.step, text=text[:6000], rests=False, before=later.before) for _, text in later.leaves if len(text.split()) >= 4
        ]
    return found


def _repeats(reply: Reply, action: Action, failed: Failure) -> bool:
    """Whether an answer says with the result's own word that it was not done; not with one that says what the call is for (``conflicts``)."""
    return bool((not_done(failed.what) - action.stems) & stems(reply.text))


def _within(action: Action, known: Doings) -> Failure | None:
    """The failure of a command or an exchange that an undeclared tool made, and of which it told the output."""
    if action.run.kind != "tool" or action.run.source != "wire" or not action.run.output.there:
        return None
    told = _plain(action.run.output.text())
    inner = [child for child in action.run.children if isinstance(child, Run)]
    for run in (*(other.run for other in known.by_step[action.step.number if action.step is not None else 0]), *inner):
        if run.kind != "tool" and run.bad and not checks(run):
            lines = [line for line in run.output.text().split("\n") if len(line.strip()) > 3 and not line.startswith("[std")]
            if lines and all(_plain(line) in told for line in lines[-2:]):
                return failure(run)
    if action.effect is not None and not is_shell(action.name) and (line := failed_within(action.run.output.text())) is not None:
        return Failure(kind="error", what=one_line(line, 100))
    return None


def _plain(text: str) -> str:
    """A text without blanks, and without what JSON puts before quotes."""
    return "".join(text.replace("\\n", " ").replace("\\", "").split())


def _made_up_for(known: Doings, place: int, action: Action, failed: Failure) -> bool:
    """Whether a later call did the same, or looked for the same, with success."""
    for later in known.actions[place + 1 :]:
        if is_shell(action.name) and _told_by_code(failed):
            akin = bool(_parts(action) & _parts(later)) if is_shell(later.name) else later.edits and bool(action.groups & later.groups)
            if akin and failure(later.run) is None and later.run.outcome == "ok":
                return True
            if later.run.kind == "tool":
                continue
        again = later.run.name == action.run.name or (
            action.groups & later.groups and (action.terms & later.terms or failed.kind == "error")
        )
        shares = bool(action.identifiers & later.identifiers) and failed.kind == "nothing"
        if (again or shares) and failure(later.run) is None and later.run.outcome == "ok":
            return True
        if not action.effect and not later.effect and failure(later.run) is None and later.run.outcome == "ok" and _akin(action, later):
            return True
    return False


def _told_by_code(failed: Failure) -> bool:
    return failed.kind == "error" and re.search(r"exit|code", failed.what) is not None


def _parts(action: Action) -> frozenset[str]:
    """What tells one command from another: scripts, files, names; not the program that runs them, nor options."""
    return frozenset(
        word for _, text in action.leaves for word in re.findall(r"[\w./:@-]{3,}", text.lower()) if not word.startswith("-") and word not in _PROGRAMS
    )  # fmt: skip


def _akin(action: Action, later: Action) -> bool:
    """Whether another way of looking was taken for the same thing."""
    return bool((action.terms & later.terms) - {""}) or bool(stems(action.name) & stems(later.name))


def _claimed(action: Action, later: list[Reply], failed: Failure) -> tuple[str, float, Evidence] | None:
    if failed.kind == "nothing":
        return None
    for reply in later:
        for claim in claims(reply):
            about = claim.groups & action.groups or claim.verb in action.stems
            if about and not claim.tests:
                evidence = reply.cite(f"it claims: {said(claim.sentence)}")
                return f"it claims {said(claim.sentence)}", STRONG + 0.08, evidence
        deeds = {stem(word) for word in words_of(action.name) if does(word)} if action.run.kind == "tool" else set()
        if not reply.rests and deeds & said_done(reply.text):
            return f"it tells somebody {said(reply.text)}", STRONG, reply.cite(f"it tells somebody: {said(reply.text)}")
    if action.effect is not None and later and later[-1].rests:
        named = stems(action.name)
        spoken = stems(later[-1].text)
        if named & spoken and (groups(named & spoken) or any(does(word) and stem(word) in spoken for word in words_of(action.name))):
            return f"it answers {said(later[-1].text)}", STRONG - 0.05, later[-1].cite(f"it answers: {said(later[-1].text)}")
    return None


#: What nobody means by having done something.
_IDLE = frozenset(
    stem(word) for word in ["checked", "looked", "found", "asked", "requested", "tried", "attempted", "reviewed", "noted", "seen", "owed", "needed", "wanted", "mentioned", "listed", "received", "called", "named", "based", "planned", "scheduled"]
)  # fmt: skip


def _claimed_of_it(known: Doings, action: Action, later: list[Reply], failed: Failure) -> tuple[str, float, Evidence] | None:
    """A later answer says in other words that something was done with just what the failed call was given, and nothing else had it."""
    if failed.kind == "nothing" or not (action.effect is not None or acts(action.name)):
        return None
    others = frozenset().union(
        *(one.terms for one in known.actions if one is not action and one.failure is None and (one.effect is not None or acts(one.name)))
    )
    own = {term for _, text in action.leaves if len(text) <= 40 for term in numbers_or_names(text)} - others
    for reply in later:
        if _echoes(reply, failed, action):
            return None
    for reply in later:
        for sentence in sentences(reply.text):
            if not own & set(numbers_or_names(sentence)):
                continue
            done = {verb for verb in said_done(sentence) if verb not in _IDLE} or {
                claim.verb for claim in claims(Reply(step=reply.step, text=sentence, rests=reply.rests, before=reply.before))
            }
            if done:
                return f"it claims {said(sentence)}", STRONG, reply.cite(f"it claims: {said(sentence)}")
    return None


def numbers_or_names(text: str) -> frozenset[str]:
    """The amounts and identifiers of a text; decimals with a comma as with a point."""
    text = re.sub(r"(?<=\d),(?=\d{1,2}(?!\d))", ".", text)
    return frozenset(term for term in terms(text) if names_one(term) or (term.replace(".", "").isdigit() and len(term) >= 2))


def _echoes(reply: Reply, failed: Failure, action: Action) -> bool:
    """Whether an answer tells with the failure's own words what it is about."""
    what = {stem(word) for word in words(failed.what) if len(word) > 3} - action.stems
    return len(what & stems(reply.text)) >= 2


def _depended(known: Doings, place: int, action: Action, failed: Failure, reported: int | None) -> tuple[str, float, Evidence] | None:
    """An act that the instructions allow only behind this one, before anybody was told. ``reported``: the step that told it."""
    if failed.kind == "nothing" or action.step is None:
        return None
    looked = looks(action.name) or action.run.effect == "read"
    if looked and is_absence(failed):
        return None
    for later in known.actions[place + 1 : place + 61]:
        if (
            later.step is None
            or later.step.number <= action.step.number
            or later.effect is None
            or not later.ok
            or later.failure is not None
        ):
            continue
        if later.name == action.name or (reported is not None and later.step.number >= reported) or contains_only(later.effect):
            continue
        if any(passage.kind == "user" for passage in known.passages[action.before : later.before]):
            return None
        if looked and action.terms and not _same_thing(action, later):
            continue
        rule = depends(known, action, later)
        if rule is not None:
            return (
                f"it then made {quoted(later.run.title, 80)}, where it says {said(rule)}",
                STRONG + 0.04,
                later.cite("what was to be done only behind it"),
            )
    return None


def _same_thing(action: Action, later: Action) -> bool:
    """Whether an act is on the thing that was to be looked up: a value of theirs is the same, or a part of the other's."""
    return bool(action.terms & later.terms) or any(
        len(one) > 3 and len(other) > 3 and (one in other or other in one)
        for _, one in ((path, text.strip().lower()) for path, text in action.leaves)
        for _, other in ((path, text.strip().lower()) for path, text in later.leaves)
    )


def _told(known: Doings, action: Action, later: list[Reply], failed: Failure) -> tuple[str, float, Evidence] | None:
    """A later answer, or an effect, tells a fact on what the failed call was to look up, that stands nowhere."""
    if action.effect is not None:
        return None
    assert action.step is not None
    named = stems(action.name) | {stem(word) for word in words(" ".join(text for _, text in action.leaves))}
    for other in known.actions:
        if other.step is not None and other.step.number > action.step.number and other.effect is not None:
            new = sorted(term for term in other.identifiers if known.first(term) is not None and (known.first(term) or 0) >= other.before)
            if new:
                return f"it then made {quoted(other.run.title, 100)}, of which {new[0]} stands nowhere before", STRONG, other.cite("a value that stands nowhere before")  # fmt: skip
    for reply in later:
        made_up = sorted(term for term in identifiers(reply.text) if (known.first(term) or 0) >= reply.before)
        if made_up and reply.rests and (named & stems(reply.text)):
            return (
                f"it answers {said(reply.text)}, of which {made_up[0]} stands nowhere",
                STRONG,
                reply.cite(f"it answers: {said(reply.text)}"),
            )
    if later and later[-1].rests and failed.kind == "error" and not _others_helped(known, action):
        spoken = stems(later[-1].text) & named
        if len(spoken) >= 2 and len(later[-1].text) > 20:
            return f"it answers {said(later[-1].text)}", LIKELY, later[-1].cite(f"it answers: {said(later[-1].text)}")
    return None


def _others_helped(known: Doings, action: Action) -> bool:
    return any(other is not action and failure(other.run) is None and other.run.outcome == "ok" for other in known.actions)


def _went_on(known: Doings, place: int, action: Action, failed: Failure) -> tuple[str, float, Evidence] | None:
    """An effect behind a step that had to succeed first."""
    if failed.kind == "nothing" or not stems(action.name if action.run.kind == "tool" else action.run.title) & _BEFORE:
        return None
    for later in known.actions[place + 1 :]:
        if later.effect is not None and later.step is not None and action.step is not None and later.step.number > action.step.number:
            return f"it then made {quoted(later.run.title, 100)}", STRONG - 0.05, later.cite("what was done behind it")
    return None


ANALYSIS = Analysis(name="misread_error", looks_for="a call that failed and was taken for a success", run=find)
