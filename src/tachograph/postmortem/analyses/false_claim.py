"""An answer claims that something was done which the record's effects contradict or lack.

*Cause and consequence* are one: a claim of an act (``claims.py``: sent, paid, deployed, cancelled, tests passed) in an answer. It is held
against everything that ran before it, by the kind of doing and by the words: nothing of the kind ran; it ran and failed, or was refused; the last
tests failed, or none ran; or what ran had other amounts or addresses than those claimed.

A claim that all of so many were done (also in what a tool is given: a report, a statement) is held against the counts in results (``counts.py``):
“all 5” where the latest result says “3 of 5”.

A claim that people were told is held against all by which anybody could have heard of it (``told_people.py``); one that a source was consulted against
what results say of how to get at it (``unreached_source.py``); one that all is within its limits against
the figures beside those limits (``beyond_limit.py``).

Where another analysis explains the claim (a failure that was misread), that one stands first (``ranking.py``).

Claims are told in English, German, Spanish, French, Italian, Portuguese and Dutch; in the last six only what nothing of the kind was done for, or what
failed, and it is surer where a tool for it was offered and was not called.

*Cannot see*: a claim about something that tools were not asked for and that leaves no effect; claims in other languages. In a transcript
of another tool, where calls may be missing, only contradictions are named.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.counts import Partial, numbers_said, of_all, of_everything, partials
from tachograph.postmortem.language.reports_abroad import TROUBLE, kinds_in
from tachograph.postmortem.language.terms import identifiers, terms
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import Claim, claims, reports_trouble, sentences
from tachograph.postmortem.meaning.effects import is_shell, looks
from tachograph.postmortem.meaning.records import records
from tachograph.postmortem.meaning.results import check_failed, checks, not_done
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import quoted

from .beyond_limit import beyond
from .checking import (
    Ran,
    changes_code,
    failed_since,
    is_plain_check,
    lines_of,
    numbers_in,
    passed_in,
    ran,
    said_of,
    told,
    told_to_pass,
    tries,
)
from .contract import LIKELY, STRONG, Analysis, Finding
from .told_people import unheard
from .unreached_source import unreached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

_MONEY = re.compile(r"(?:[$€£]|\b(?:EUR|USD|GBP|CHF)\s?)\s?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?)\s?(?:[€$£]|(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds)\b)")  # fmt: skip
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def find(case: Case) -> Iterator[Finding]:
    """The first claim of each answer that does not hold."""
    known = doings(case)
    yield from _of_counts(known)
    for reply in known.replies:
        done = [
            action
            for action in known.actions_before(reply.before, 400 if reply is known.replies[-1] else 40)
            if action.step is None or action.step.number < reply.step.number
        ]
        for claim in claims(reply):
            against = _of_tests(claim, done, known, case) if claim.tests else _of_acts(claim, done, known, case)
            if against is None:
                continue
            yield _finding(reply, claim.sentence, *against)
            break
        else:
            shown = unheard(reply, known, case) or unreached(reply, known, case) or beyond(reply, known)
            if shown is not None:
                yield _finding(reply, *shown)


def _finding(reply: Reply, sentence: str, why: str, confidence: float, evidence: tuple[Evidence, ...]) -> Finding:
    return Finding(
        cause="claim", analysis="false_claim", confidence=confidence, first_event=reply.step.event_id, first_seq=reply.step.seq,
        evidence=(*evidence, reply.cite(f"it claims: {said(sentence)}")), statement=f"The answer claims {said(sentence)}, but {why}.",
    )  # fmt: skip


def _of_counts(known: Doings) -> Iterator[Finding]:
    """“All 5”, in an answer or in what a tool is given, where the latest result on it says “3 of 5”."""
    open_: list[tuple[Passage, Partial]] = []
    for place, passage in enumerate(known.passages):
        if passage.kind in ("tool_result", "subagent"):
            text = passage.text[:20_000]
            found = partials(text)
            spoken = stems(text) if open_ else frozenset()
            open_ = [
                (one, partial)
                for one, partial in open_
                if not spoken & (partial.nouns | partial.deeds) or (found and not _full(text, partial))
            ]
            open_ = [*open_, *((passage, partial) for partial in found)][-40:]
        elif passage.kind == "model" and open_ and len(passage.text) > 12 and not reports_trouble(passage.text):
            for sentence in sentences(passage.text[:8000]):
                shown = next(((one, partial) for one, partial in reversed(open_) if of_all(sentence, partial)), None)
                if shown is None or _told_later(known, place, shown[1]):
                    continue
                one, partial = shown
                yield Finding(
                    cause="claim", analysis="false_claim", confidence=STRONG + 0.04, first_event=passage.event_id, first_seq=passage.seq,
                    evidence=(
                        Evidence(event_id=one.event_id, seq=one.seq, what=f"the result says {said(partial.text)}"),
                        Evidence(event_id=passage.event_id, seq=passage.seq, what=f"it claims: {said(sentence)}"),
                    ),
                    statement=f"It claims {said(sentence)}, but the result that it rests on says {said(partial.text)}.",
                )  # fmt: skip
                return


def _full(text: str, partial: Partial) -> bool:
    """Whether a result says that now all were done."""
    return re.search(rf"(?<!\d){partial.whole}\s?(?:of|/|out of)\s?{partial.whole}(?!\d)", text) is not None


def _told_later(known: Doings, place: int, partial: Partial) -> bool:
    """Whether a later answer says how many it really were."""
    number = re.compile(rf"(?<![\w.,]){partial.done}(?![\w]|[.,]\d)")
    return any(
        later.kind == "model" and number.search(later.text) and partial.nouns & stems(later.text)
        for later in known.passages[place : place + 240]
    )


_Shown = tuple[str, float, tuple[Evidence, ...]]


def _of_tests(claim: Claim, done: list[Action], known: Doings, case: Case) -> _Shown | None:
    old = [action for action in done if checks(action.run) or any(checks(run) for run in _inside(action))]
    made = [one for action in done for one in ran(action)]
    if not old and not made:
        named = any("test" in action.stems for action in done if not is_shell(action.name))
        silent = case.imported or named or not _could_test(done) or _told_elsewhere(claim, done, known)
        silent = silent or (not said_of(claim.sentence).kinds and any(tries(line) for action in done for line in lines_of(action)))
        return None if silent else ("no test was run", STRONG - 0.05, ())
    latest = old[-1] if old else made[-1].action
    if latest.run.outcome == "asked":
        return ("the tests were asked for and never ran", STRONG, (latest.cite("they never ran"),)) if not case.imported else None
    if old:
        same = [action for action in old if action.run.title == latest.run.title]
        if check_failed(same[-1].run) or any(check_failed(run) for run in _inside(latest) if checks(run)):
            return f"the last check failed ({quoted(latest.run.title, 80)})", STRONG + 0.08, (latest.cite("the last check failed"),)
    if not old and (failed := _last_failed(claim, made)) is not None:
        return f"the last check failed ({quoted(failed.line, 80)})", STRONG + 0.05, (failed.action.cite("the last check failed"),)
    if case.imported or not made or _told_elsewhere(claim, done, known):
        return None
    return _beyond(claim, done, made)


def _last_failed(claim: Claim, made: list[Ran]) -> Ran | None:
    """The last check that ran, where it failed: none by the name of a tool for tests. Nothing is said where the answer tells of a failure besides, or claims
    no more than the number that passed."""
    last = made[-1]
    processes = [run for run in (last.action.run, *_inside(last.action)) if run.kind in ("tool", "process")]
    if not any(check_failed(run) for run in processes) or last.action.run.outcome == "asked" or not is_plain_check(last):
        return None
    others = claim.reply.text.replace(claim.sentence, " ")
    if _FAILS.search(others) or TROUBLE.search(others):
        return None
    if numbers_said(claim.sentence) & passed_in(last) and not of_everything(claim.sentence):
        return None
    return last


_FAILS = re.compile(r"\b(?:fail(?:s|ed|ing|ure|ures)?|broken|red|not pass(?:ed|ing)?|n['’]t pass)\b", re.IGNORECASE)


def _beyond(claim: Claim, done: list[Action], made: list[Ran]) -> _Shown | None:
    """It claims more than the checks that ran can say: another kind of check, all of the tests, another number of them, or the state after an edit."""
    says = said_of(claim.sentence)
    latest = made[-1]
    kinds = frozenset().union(*(one.kinds for one in made))
    printed = "\n".join(told(one.action) for one in made).lower()
    why: list[tuple[str, float]] = []
    lacks = sorted(says.kinds - kinds) if "any" not in kinds else []
    lines = "\n".join(one.line for one in made).lower()
    for kind in lacks:
        name = next((name for name in sorted(says.names) if name in _NAMES_OF[kind]), None)
        if not _SAYS_OF[kind].search(printed):
            why.append((f"{name or _CALLED[kind]} was never run", STRONG))
    tests = [one for one in made if one.kinds & {"test", "any"}]
    if says.full and tests and all(one.some for one in tests):
        why.append((f"only {quoted(tests[-1].line, 80)} was run of the tests", STRONG - 0.05))
    failed = failed_since(tests, all_of_it=says.full) if says.full or of_everything(claim.sentence) else None
    if failed is not None:
        why.append(
            (
                f"the last run of all of them failed ({quoted(failed[0].line, 60)}), and only {quoted(failed[1].line, 60)} was run since",
                STRONG + 0.03,
            )
        )
    counted = numbers_in(tests)
    if (
        says.count is not None
        and counted
        and says.count not in counted
        and not _adds_up(says.count, counted)
        and str(says.count) not in lines
    ):
        why.append((f"no result says {says.count}", STRONG - 0.05))
    place = max(done.index(one.action) for one in made)
    edits = [action for action in done[place + 1 :] if changes_code(action)]
    if edits:
        why.append((f"the last check ran before the last change ({quoted(edits[-1].run.title, 60)})", LIKELY + 0.05))
    if not why:
        return None
    shown = [
        *([failed[0].action.cite("the last run of all failed")] if failed is not None else []),
        latest.action.cite("the last check that ran"),
        *(action.cite("a change behind it") for action in edits[-1:]),
    ]
    return "; ".join(text for text, _ in why), max(sure for _, sure in why), tuple(shown)


_SAYS_OF = {
    "types": re.compile(r"\bmypy\b|pyright|\btsc\b|type|success: no issues"),
    "lint": re.compile(r"lint|ruff|flake8|clippy|rubocop|shellcheck|all checks passed"),
    "test": re.compile(r"\btests?\b|\bpass(?:ed|ing)\b|\bspecs?\b|\bunit\b"),
}
_NAMES_OF = {
    "types": ("mypy", "pyright", "tsc"),
    "lint": ("ruff", "eslint", "flake8", "pylint", "clippy", "golangci-lint", "rubocop", "shellcheck"),
    "test": ("pytest", "jest", "vitest", "rspec", "phpunit"),
}
_CALLED = {"types": "a type check", "lint": "a linter", "test": "a test"}


def _adds_up(count: int, numbers: frozenset[int]) -> bool:
    """Whether a number is the sum, or the difference, of others: 36 passed and 2 skipped are 38 tests."""
    some = sorted(numbers)[:40]
    return sum(some) == count or any(one + other == count or one - other == count for one in some for other in some)


def _told_elsewhere(claim: Claim, done: list[Action], known: Doings) -> bool:
    """Whether something that looked, a person or a pipeline, said that checks passed."""
    own = {one.action.run.event_id for action in done for one in ran(action)}
    return any(
        passage.kind in ("tool_result", "user", "document", "subagent")
        and passage.event_id not in own
        and told_to_pass(passage.text if passage.kind != "user" else _WANTED.sub(" ", passage.text[-20_000:]))
        for passage in known.recent(claim.reply.before)
    )


#: What somebody wants to be so: “make the tests pass” says of none that it does.
_WANTED = re.compile(
    r"\b(?:make|get|until|so that|ensure|sure|fix|have|see|check|if|whether|should|must|want|need)\b[^.;\n]{0,200}", re.IGNORECASE
)


def _could_test(done: list[Action]) -> bool:
    """Whether the session worked on files or code at all, so that “tested” means a run."""
    return any(
        action.run.changes
        or action.run.kind == "process"
        or is_shell(action.name)
        or action.edits
        or action.groups & {"change", "run", "commit"}
        for action in done
    )


def _inside(action: Action) -> Iterator[Run]:
    for child in action.run.children:
        if isinstance(child, Run):
            yield child


def _of_acts(claim: Claim, done: list[Action], known: Doings, case: Case) -> _Shown | None:
    alike = [action for action in done if _does(action, claim)]
    good = [action for action in alike if action.run.outcome == "ok" and action.failure is None]
    if not alike:
        earlier = known.actions_before(claim.reply.before, 4000)
        if any(_does(action, claim) for action in earlier):
            return None
        return _lacking_abroad(claim, done, known, case) if claim.abroad else _lacking(claim, done, known, case)
    if not good:
        latest = alike[-1]
        if latest.run.outcome in ("asked", "cut"):
            # Of a tool that is recorded where it runs, it is known that it did not.
            known_to = any(action.run.name == latest.run.name and action.run.source in ("both", "declared") for action in done)
            return (
                None
                if case.imported or not known_to
                else (f"{quoted(latest.run.title, 80)} never ran", STRONG, (latest.cite("it never ran"),))
            )
        told = latest.failure
        if (not claim.first and _told_so(claim, latest, known)) or _tells_the_failure(claim, latest):
            return None
        return f"{quoted(latest.run.title, 80)} failed" + (f" ({said(told.what)})" if told is not None else ""), STRONG, (latest.cite("it failed"),)  # fmt: skip
    if claim.abroad:
        return None
    return _fewer(claim, good, done) or _otherwise(claim, good)


def _tells_the_failure(claim: Claim, failed: Action) -> bool:
    """Whether a sentence names what the failure says of itself (“started and aborted”), or what is done to one that is held back (“the filter blocked it”)."""
    what = failed.failure.what if failed.failure is not None else ""
    return (
        bool(claim.about & not_done(what))
        or bool(stems(claim.sentence) & not_done(what))
        or (claim.verb in _HELD_BACK and claim.verb not in stems(failed.name))
    )


_HELD_BACK = frozenset(stem(word) for word in ["blocked", "stopped", "rejected", "refused", "declined", "denied", "aborted", "intercepted", "quarantined", "filtered", "bounced", "returned", "withheld"])  # fmt: skip


def _told_so(claim: Claim, failed: Action, known: Doings) -> bool:
    """Whether a result behind a failure says what is claimed: then it is passed on, not claimed."""
    return any(
        claim.verb in stems(passage.text[:20_000])
        for passage in known.recent(claim.reply.before)
        if passage.kind in ("tool_result", "subagent", "document") and passage.seq > failed.run.seq
    )


def _does(action: Action, claim: Claim) -> bool:
    """Whether an action may be what a claim speaks of."""
    if claim.verb in action.stems or claim.groups & action.groups:
        return True
    if action.run.kind != "tool" or action.groups & {"run"} or not action.groups:
        return bool(claim.groups & groups(action.stems)) or bool(action.effect and claim.about & action.stems)
    return any(claim.groups & groups(stems(child.title)) for child in action.run.children if hasattr(child, "title"))


def _lacking(claim: Claim, done: list[Action], known: Doings, case: Case) -> _Shown | None:
    if case.imported or claim.reply.step.seen.state != "there":
        return None
    if any(action.ok and ((action.effect is not None and not _named(action)) or _same_values(action, claim)) for action in done):
        return None  # a tool whose name says nothing, or which was given just what is claimed, may have done it
    if _states(claim, known) or (claim.verb in _HELD_BACK and _stopped_by_a_guardrail(case)):
        return None
    if not claim.first:
        spoken = {stem for passage in known.recent(claim.reply.before) if passage.kind != "model" for stem in stems(passage.text[:20_000])}
        if claim.verb in spoken or any(action.effect is not None and action.ok and claim.about & action.stems for action in done):
            return None
    elif any(action.effect is not None and action.ok and len(claim.about & action.stems) >= 2 for action in done):
        return None
    if not claim.first and not done:
        return None
    return "nothing of the kind was done", STRONG if claim.first else LIKELY, ()


def _states(claim: Claim, known: Doings) -> bool:
    """Whether a sentence without a speaker tells what a result has under that word: “Booked to 0.96” of ``{"booked": 0.96}`` is a state and no deed."""
    if _SPEAKER.search(claim.sentence):
        return False
    there = set(terms(claim.sentence))
    return any(
        claim.verb in stems(name) and (text.lower() == "true" or (bool(own := set(terms(text))) and own <= there))
        for passage in known.recent(claim.reply.before, 40)
        if passage.kind in ("tool_result", "subagent", "document")
        for record in records(passage.text)[:60]
        for name, text in record.fields
    )


_SPEAKER = re.compile(r"\b(?:I|we)\b")


def _stopped_by_a_guardrail(case: Case) -> bool:
    return any(mark.bad for _, mark in case.story.marks("guardrail"))


def _named(action: Action) -> frozenset[str]:
    """The kinds of doing that a tool's name tells; of what is no tool, all that it tells."""
    return groups(stems(action.name)) if action.run.kind == "tool" and not is_shell(action.name) else action.groups


def _same_values(action: Action, claim: Claim) -> bool:
    """Whether a call was given an amount that is claimed: “moved 792,000” is what a ``sweep`` of 792,000 did."""
    return any(
        len(re.sub(r"\D", "", term)) >= 2 for term in action.terms & set(terms(claim.sentence)) if re.fullmatch(r"\d+(?:\.\d+)?", term)
    )


def _lacking_abroad(claim: Claim, done: list[Action], known: Doings, case: Case) -> _Shown | None:
    """As ``_lacking``, where the names of tools may say nothing in English."""
    if case.imported or claim.reply.step.seen.state != "there":
        return None
    offered = [name for name in claim.reply.step.seen.tools if claim.groups & groups(stems(name))]
    for action in done:
        silent = not action.groups and not looks(action.name)
        if (
            silent
            and action.ok
            and (action.effect is not None or (not action.run.children and action.run.effect != "read" and not offered))
        ):
            return None  # a tool whose name says nothing may have done it
    if not claim.first:
        told = (p for p in known.recent(claim.reply.before) if p.kind not in ("model", "system"))
        if not offered or any(claim.groups & kinds_in(passage.text[:20_000]) for passage in told):
            return None
    why = f"nothing of the kind was done; {offered[0]} was not called" if offered else "nothing of the kind was done"
    return why, STRONG if offered else LIKELY + 0.05, ()


_COUNT = re.compile(
    r"\b(?:all (?:of )?(?:the )?|both |each of the )?(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|\d{1,3})\b(?! (?:%|percent|days?|hours?|minutes?|times?|eur|usd|am|pm|of \d)\b)(?= [a-z])",
    re.IGNORECASE,
)
_WORDS = {
    word: count
    for count, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2)
} | {"both": 2}
_SEVERAL = re.compile(r"\b(?:[2-9]|[1-9]\d{1,4}) ([^\W\d_]{3,30})")
_LIST = re.compile(r"\s*(?:,|;|\band\b|&|\bas well as\b)\s*(?:and\s+)?")


def _fewer(claim: Claim, good: list[Action], done: list[Action]) -> _Shown | None:
    """It was done to fewer than claimed: of those that are listed by name, or by number."""
    if ":" not in claim.sentence and not _COUNT.search(claim.sentence):
        return None
    ran = "\n".join(f"{action.text}\n{action.run.output.text()[:20_000]}" for action in done).lower()
    items = [
        item.strip(" .!:*`\"'“”").lower()
        for item in _LIST.split(claim.sentence.rpartition(":")[2] if ":" in claim.sentence else claim.sentence)
    ]
    items = [item for item in items if 2 < len(item) <= 40 and len(item.split()) <= 3]
    there = [item for item in items if item in ran]
    absent = [item for item in items if item not in ran and not stems(item) & stems(ran[:50_000])]
    latest = good[-1]
    if ":" in claim.sentence and len(items) >= 3 and len(there) >= 1 and absent and len(there) + len(absent) == len(items):
        return f"nothing was done to {', '.join(absent[:3])}", STRONG + 0.04, (latest.cite("the last one that was done"),)
    if any(isinstance(value, list) for action in good for value in (action.given.values() if isinstance(action.given, dict) else ())):
        return None
    match = _COUNT.search(claim.sentence)
    if match is None or len({action.run.name for action in good}) != 1:
        return None
    count = _WORDS.get(match.group(1).lower()) or int(match.group(1)) if match.group(1).isdigit() or match.group(1).lower() in _WORDS else 0
    if any(stem(noun) in claim.about for action in good for noun in _SEVERAL.findall(action.run.output.text()[:20_000])):
        return None  # one call of several does it to many
    each = {frozenset(action.terms) for action in good}
    if 2 <= len(each) < count <= 50 and match.group().lower().startswith(("all", "both", "each")):
        return f"it was done {len(each)} times, not {count}", LIKELY + 0.05, (latest.cite("the last one that was done"),)
    return None


def _otherwise(claim: Claim, good: list[Action]) -> _Shown | None:
    """What ran had other amounts or addresses."""
    amounts = {term for match in _MONEY.finditer(claim.sentence) for term in terms(match.group(1) or match.group(2))}
    latest = good[-1]
    seen = frozenset().union(*(action.terms | frozenset(terms(action.run.output.text()[:20_000])) for action in good))
    numbers = {term for action in good for term in action.terms if re.fullmatch(r"\d+(?:\.\d+)?", term)}
    if amounts and numbers and not amounts & seen and not _in_cents(amounts, numbers):
        return f"what ran has other amounts ({quoted(latest.run.title, 100)})", STRONG, (latest.cite("with other amounts"),)
    mails = {found.lower().rstrip(".") for found in _MAIL.findall(claim.sentence)}
    given = {found.lower() for action in good for _, text in action.leaves for found in _MAIL.findall(text)}
    if mails and given and not mails & given and not mails & seen:
        return f"it went elsewhere ({quoted(latest.run.title, 100)})", STRONG, (latest.cite("with another address"),)
    named = identifiers(claim.sentence)
    shapes = {_shape(one): one for action in good for one in action.identifiers}
    other = [one for one in named if one not in seen and _shape(one) in shapes and any(character.isalpha() for character in one)]
    if other and not named & seen:
        return f"it was done to {shapes[_shape(other[0])]}, not to {other[0]} ({quoted(latest.run.title, 100)})", LIKELY, (latest.cite("with another identifier"),)  # fmt: skip
    return None


def _in_cents(amounts: set[str], numbers: set[str]) -> bool:
    return any(float(one) * 100 == float(other) or float(other) * 100 == float(one) for one in amounts for other in numbers)


def _shape(term: str) -> str:
    return re.sub(r"\d+", "9", term)


ANALYSIS = Analysis(name="false_claim", looks_for="an answer that claims what the record's effects contradict or lack", run=find)
