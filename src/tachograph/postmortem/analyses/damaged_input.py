"""What a person or a trigger gave was damaged, or wrong, and the agent acted on it.

*Damaged*. *Cause*: an input that is empty, cut off, less than it says (``shortfall.py``), or has replacement characters or text in the wrong encoding, or a list that stops within a name
(``cut_list.py``; pieces that nobody filled in: see ``placeholders``); a file or a batch that the input names counts as given. *Consequence*: the damage stands in the
arguments of an effect or in an answer; or, of an empty or cut one, an effect is made all the same.

*Wrong*. *Cause*: a value that the person gave is contradicted by a record that the agent saw. *Consequence*: an effect uses the
person's value, and nobody was told of the difference. Changes are what people ask for, so effects that set or change that value are left out. Or the value
turned out wrong behind the effect (``turned_out.py``), or the input's own figures contradict it (``own_figures.py``).

First event: the message, else the first model call with it; of a file, the call that read it.

*Cannot see*: an input that is wrong and that nothing in the record contradicts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import bare, is_number
from tachograph.postmortem.language.terms import identifiers, names_one, terms, words_of
from tachograph.postmortem.language.verbs import stem, stems
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import reports_trouble
from tachograph.postmortem.meaning.records import records
from tachograph.postmortem.values import quoted

from .contract import LIKELY, STRONG, Analysis, Finding
from .cut_list import CutList, cut_list
from .own_figures import of_this, slips
from .shortfall import shortfall
from .turned_out import contradicted, taken_back, told_wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

#: UTF-8 that was read as Latin-1 or Windows-1252, and what stands where a character could not be read.
_GARBLED = re.compile("\ufffd+|(?:Ã[\u0080-\u00bf©¤¶¼Ÿ„–œ¨ª«®´º±²³¡]|â€[™œ“”¦\u009d\u0099]|Â[ °§£€]){1,}")
_CUT = re.compile(
    r"(?:…|\.\.\.|\[?(?:truncated|cut off|message clipped|continued)[\].]?)\s*\Z|[,(\[{\"“]\s*\Z|\b(?:and|or|the|to|of|for|with|from|at|a|an|on|in|but|is|are|amount|by)\s*\Z",
    re.IGNORECASE,
)
#: The agent saw that something is not as it should be.
_SEEN = re.compile(
    r"\?|\b(?:cut off|cut short|incomplete|truncated|missing|empty|breaks off|ends? (?:abruptly|in the middle)|only \d+|instead of|not all|no data|nothing in)\b",
    re.IGNORECASE,
)
_GIVEN = ("user", "file", "document", "tool_result")
_NAMES = frozenset(
    [
        "id",
        "account",
        "phone",
        "tel",
        "number",
        "no",
        "nr",
        "order",
        "customer",
        "invoice",
        "iban",
        "card",
        "code",
        "zip",
        "room",
        "seat",
        "flight",
    ]
)
_SETS = frozenset(
    stem(word)
    for word in [
        "update",
        "change",
        "set",
        "edit",
        "correct",
        "rename",
        "move",
        "modify",
        "adjust",
        "fix",
        "replace",
        "register",
        "create",
        "add",
        "save",
        "patch",
        "enroll",
    ]
)


def find(case: Case) -> Iterator[Finding]:
    """Damaged inputs, then wrong values."""
    known = doings(case)
    yield from _damaged(known)
    yield from _wrong(known)
    yield from _of_its_figures(known)
    yield from _turned_out(known)


# -- damaged ---------------------------------------------------------------------------------------------------------------------


def _damaged(known: Doings) -> Iterator[Finding]:
    for place, passage in enumerate(known.passages):
        if passage.kind not in _GIVEN or (
            passage.kind != "user" and (passage.text.isascii() or not _GARBLED.search(passage.text[:100_000]))
        ):
            continue
        if passage.kind == "user" and _retold(place, passage, known):
            continue
        if passage.kind != "user" and not _is_given(passage, "\n".join(one.text for one in known.users(place)), known):
            continue
        text = known.own_words(passage) if passage.kind == "user" else passage.text
        marks = {match.group().strip() for match in _GARBLED.finditer(text[:100_000])}
        found = _carried(place, marks, known) if marks else None
        lacks: tuple[str, str] | None = None
        stump = _cut_name(place, text, known) if found is None and passage.kind == "user" else None
        if stump is not None:
            found, lacks = (stump[0], stump[1][1]), stump[1]
        elif found is None and _is_cut(passage, text):
            found = _went_on(place, known)
            marks = {text.strip()[-20:]}
        elif found is None and passage.kind == "user" and (lacks := shortfall(text)) is not None:
            found = _went_on(place, known)
            marks = {lacks[1]}
        if found is None:
            continue
        what, where = found
        mark = where or (min(marks) if marks else "")
        done = quoted(what.run.title, 100) if isinstance(what, Action) else f"the answer {said(what.text)}"
        how = lacks[0] if lacks is not None else "has characters that could not be read" if _GARBLED.search(mark) else "ends in the middle"
        who = "What the person gave" if passage.kind == "user" else f"What was given to work on ({passage.name or passage.kind})"
        yield Finding(
            cause="input", analysis="damaged_input", confidence=STRONG if where else LIKELY, first_event=passage.event_id, first_seq=passage.seq,
            evidence=(Evidence(event_id=passage.event_id, seq=passage.seq, what=f"the input {how}: {said(mark)}"), what.cite("the agent went on with it")),
            statement=f"{who} {how} ({said(mark)}), and the agent went on with it: {done}.",
        )  # fmt: skip
        return
    yield from _nothing(known)


def _retold(place: int, passage: Passage, known: Doings) -> bool:
    """Whether the agent's code made a text of what was said before: a history in JSON that is to be condensed."""
    text = passage.text.replace("\\n", "\n").replace('\\"', '"')
    return any(
        len(earlier.text) >= 24 and earlier.text.strip()[:400] in text
        for earlier in known.recent(place, 400)
        if earlier.kind in ("user", "model") and earlier is not passage
    )


def _is_given(passage: Passage, named: str, known: Doings) -> bool:
    """Whether a file or a document is what a person gave to work on: they named it."""
    name = (passage.name or "").rsplit("/", 1)[-1]
    if len(name) > 3 and name in named:
        return True
    call = known.by_event.get(passage.event_id)
    return (
        call is not None
        and call.effect is None
        and any(len(text) > 4 and ("." in text or "/" in text) and text in named for _, text in call.leaves)
    )


def _carried(place: int, marks: set[str], known: Doings) -> tuple[Action | Reply, str] | None:
    """An effect, else an answer, in which the damage stands."""
    for action in known.actions_behind(place):
        if action.before > place and action.effect is not None:
            given = "\n".join(text for _, text in action.leaves)
            found = next((mark for mark in sorted(marks) if mark in given), None)
            if found is not None:
                return action, found
    for reply in known.replies_behind(place):
        found = next((mark for mark in sorted(marks) if mark in reply.text), None) if reply.before > place and reply.rests else None
        if found is not None and not reports_trouble(reply.text):
            return reply, found
    return None


def _is_cut(passage: Passage, text: str) -> bool:
    bare_text = text.strip()
    if passage.kind == "user" and _unclosed(bare_text):
        return True
    return passage.kind == "user" and len(bare_text) > 30 and "?" not in bare_text[-3:] and _CUT.search(bare_text[-60:]) is not None


def _cut_name(place: int, text: str, known: Doings) -> tuple[Action, tuple[str, str]] | None:
    """An effect on the last name of a list, of which the list's form and something else say that it is none: (the effect, (what it lacks, the name))."""
    several = cut_list(text)
    if several is None or any(_SEEN.search(reply.text) for reply in known.replies_behind(place)):
        return None
    for action in known.actions_behind(place):
        if (
            action.before <= place
            or action.effect is None
            or not action.ok
            or several.last not in (leaf.strip() for _, leaf in action.leaves)
        ):
            continue
        if several.announced is not None:
            count, noun = several.announced
            return action, (f"is said to hold {count} {noun}, and stops within number {len(several.whole) + 1}", several.last)
        odd = _odd_one(place, several, action, known) if several.short > 1 else None
        if odd is not None:
            return action, (f"stops within its last name, of which the result alone says {said(odd)}", several.last)
    return None


def _odd_one(place: int, several: CutList, action: Action, known: Doings) -> str | None:
    """What the result on the last name has, where those on all the others have one and the same other."""
    found: dict[str, list[str]] = {}
    for other in known.actions_behind(place):
        if other.run.name == action.run.name and other.ok and any(leaf.strip() in several.whole for _, leaf in other.leaves):
            for name, text in next((record.fields for record in records(other.run.output.text()[:20_000])), ()):
                found.setdefault(name, []).append(text)
    for name, text in next((record.fields for record in records(action.run.output.text()[:20_000])), ()):
        others = found.get(name, [])
        if len(others) >= 3 and len(set(others)) == 1 and others[0] != text and not is_number(text) and several.last not in text:
            return text
    return None


def _unclosed(text: str) -> bool:
    """Whether a JSON document in a text is not closed at its end."""
    begin = re.search(r"[\[{]\s*[\"{\[]", text)
    if begin is None or "```" in text or len(text) > 200_000:
        return False
    rest = re.sub(r'"(?:[^"\\\\]|\\\\.)*"', '""', text[begin.start() :])
    return rest.count("{") + rest.count("[") > rest.count("}") + rest.count("]") and text[-1] not in ".!?"


def _went_on(place: int, known: Doings) -> tuple[Action | Reply, str] | None:
    """An effect behind it, of which nobody was asked first."""
    for action in known.actions:
        if action.before <= place or action.effect is None or action.effect.reach != "outside":
            continue
        if any(passage.kind == "user" for passage in known.passages[place + 1 : min(action.before, place + 400)]):
            return None
        later = known.replies_behind(place)
        return None if any(_SEEN.search(reply.text) for reply in later) else (action, "")
    return None


def _nothing(known: Doings) -> Iterator[Finding]:
    """A file or batch that was given is empty, and an effect was made of it."""
    for action in known.actions:
        run = action.run
        if action.effect is not None or not run.output.there or run.outcome != "ok" or action.step is None:
            continue
        if run.output.text().strip() not in ("", "[]", "{}", "null", '""'):
            continue
        named = "\n".join(one.text for one in known.users(action.before))
        given = [text for _, text in action.leaves if len(text) > 4 and ("." in text or "/" in text) and text in named]
        if not given:
            continue
        later = [
            other
            for other in known.actions_behind(action.before)
            if other.effect is not None and other.step is not None and other.step.number > action.step.number
        ]
        replies = [reply for reply in known.replies_behind(action.before) if reply.step.number > action.step.number]
        if later and not any(reports_trouble(reply.text) for reply in replies):
            yield Finding(
                cause="input", analysis="damaged_input", confidence=LIKELY, first_event=run.event_id, first_seq=run.seq,
                evidence=(action.cite(f"{given[0]} is empty"), later[0].cite("the agent went on")),
                statement=f"What was given to work on ({given[0]}) is empty, and the agent went on: {quoted(later[0].run.title, 100)}.",
            )  # fmt: skip
            return


# -- wrong -----------------------------------------------------------------------------------------------------------------------


def _wrong(known: Doings) -> Iterator[Finding]:
    for action in known.actions:
        if action.effect is None or action.step is None or stems(action.name) & _SETS:
            continue
        if any(
            reports_trouble(reply.text) or "?" in reply.text
            for reply in known.replies_behind(action.before - 1, 12)
            if reply.step.number >= action.step.number
        ):
            continue
        found = _contradicted(action, known)
        if found is None:
            continue
        path, text, passage, source, other = found
        yield Finding(
            cause="input", analysis="damaged_input", confidence=LIKELY + 0.08, first_event=passage.event_id, first_seq=passage.seq,
            evidence=(
                Evidence(event_id=passage.event_id, seq=passage.seq, what=f"the person gave {said(text)}"),
                Evidence(event_id=source.event_id, seq=source.seq, what=f"the record says {said(other)}"), action.cite("the person's value was used"),
            ),
            statement=f"The person gave {said(text)} for {path}, the record says {said(other)}, and {quoted(action.run.title, 100)} used what the person gave.",
        )  # fmt: skip
        return


def _of_its_figures(known: Doings) -> Iterator[Finding]:
    """A number that the input's own price and total contradict, and that an effect used before anybody was asked."""
    for place, passage in enumerate(known.passages):
        if passage.kind not in _GIVEN:
            continue
        found = slips(passage.text)
        if not found or (passage.kind != "user" and not _is_given(passage, "\n".join(one.text for one in known.users(place)), known)):
            continue
        for action in known.actions_behind(place, 40):
            if action.effect is None or not action.ok or action.failure is not None:
                continue
            used = next(((slip, path) for slip in found for path, text in action.leaves if of_this(slip, path, text)), None)
            asked = any(one.kind == "user" for one in known.passages[place + 1 : action.before] if passage.text.strip() not in one.text)
            if (
                used is None
                or asked
                or any(_SEEN.search(reply.text) for reply in known.replies_behind(place) if reply.before <= action.before)
            ):
                continue
            slip, path = used
            yield Finding(
                cause="input", analysis="damaged_input", confidence=STRONG - 0.05, first_event=passage.event_id, first_seq=passage.seq,
                evidence=(
                    Evidence(event_id=passage.event_id, seq=passage.seq, what=f"{slip.label}: {slip.count}, and a total of {slip.total:,.2f} at {slip.price:,.2f}"),
                    action.cite(f"{path} = {slip.count}"),
                ),
                statement=f"The input contradicts itself: it has {slip.count} ({said(slip.label)}), and its total of {slip.total:,.2f} at {slip.price:,.2f} is for {slip.meant}; {quoted(action.run.title, 100)} used {slip.count}.",
            )  # fmt: skip
            return


def _turned_out(known: Doings) -> Iterator[Finding]:
    """What a person took back behind an effect; else what a later result contradicts."""
    found = taken_back(known) or told_wrong(known) or contradicted(known)
    if found is None:
        return
    if found.by_person:
        told, how = f"the person says that it was wrong: {said(found.shown.text)}", f"as they said later ({said(found.shown.text)})"
    else:
        source = "its answer" if found.shown.event_id == found.action.run.event_id else "a later result"
        told = how = f"{source} has {said(found.right or '')}"
    yield Finding(
        cause="input", analysis="damaged_input", confidence=STRONG + 0.05 if found.by_person else LIKELY + 0.1, first_event=found.given.event_id,
        first_seq=found.given.seq,
        evidence=(
            Evidence(event_id=found.given.event_id, seq=found.given.seq, what=f"the person gave {found.value}"), found.action.cite("it was used"),
            Evidence(event_id=found.shown.event_id, seq=found.shown.seq, what=told),
        ),
        statement=f"The person gave a wrong value ({found.value}) and {quoted(found.action.run.title, 100)} used it; {how}."
        if not found.by_person
        else f"The person gave a wrong value ({found.value}), {how}, and it was used: {quoted(found.action.run.title, 100)}.",
    )  # fmt: skip


def _contradicted(action: Action, known: Doings) -> tuple[str, str, Passage, Passage, str] | None:
    for path, text in action.leaves:
        value = terms(text.strip())
        if len(text) > 80 or len(value) != 1 or not names_one(value[0]) or (is_number(text) and len(bare(text)) < 5):
            continue  # an amount may well be another one than in the record
        said_by = next((passage for passage in reversed(known.users(action.before)) if value[0] in terms(known.own_words(passage))), None)
        if said_by is None:
            continue
        if is_number(text) and not set(words_of(path)) & _NAMES:
            continue  # an amount may well be another one than in the record
        key = {stem(word) for word in words_of(path.rpartition(".")[2])} - {"id", "new"}
        about = (identifiers(known.own_words(said_by)) | action.identifiers) - {value[0]}
        rival: tuple[Passage, str] | None = None
        for passage in known.recent(action.before):
            if passage.kind not in ("tool_result", "document"):
                continue
            if value[0] in terms(passage.text[:50_000]):
                rival = None
                break  # the record knows it, too
            for record in records(passage.text):
                if not record.terms & about:
                    continue
                for name, item in record.fields:
                    if {stem(word) for word in words_of(name)} & key and _akin(text, item) and not _of_its_own(item, action, known):
                        rival = rival or (passage, item)
        if rival is not None:
            return path, text, said_by, rival[0], rival[1]
    return None


def _of_its_own(item: str, action: Action, known: Doings) -> bool:
    """Whether a value is another thing that was to be handled: one that a person gave as well, or that a call before was given."""
    named = terms(item.strip())
    if len(named) != 1:
        return False
    users = known.users(action.before)
    return any(named[0] in terms(known.own_words(passage)) for passage in users) or any(
        other.run.name == action.run.name and named[0] in other.terms
        for other in known.actions_before(action.before)
        if other is not action
    )


def _akin(one: str, other: str) -> bool:
    """Whether two values are of one kind, and differ."""
    if is_number(one) != is_number(other) or ("@" in one and "@" not in other):
        return False
    return bare(one) != bare(other) and len(other) <= 80


ANALYSIS = Analysis(name="damaged_input", looks_for="an input that was damaged or wrong, and that the agent acted on", run=find)
