"""A postmortem as one HTML page that needs nothing else: no network, no script, no font, no picture from elsewhere."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import html_findings, html_signals, html_steps, signalled, timeline_svg
from .bundle import Bundle, Fact, relevant
from .case import counted, listed, sentence
from .changes import diff_lines
from .html_page import page, section
from .markup import Markup, el, join
from .report import chips
from .story import headline
from .values import arguments, one_line, textual
from .when import duration, offset
from .wording import change_lines, change_name, change_words, model_words

if TYPE_CHECKING:
    from .narrative import Narrative
    from .report import Moment, Report

_CITATION = re.compile(r"\[#(s?\d+)\]")
_LEADS_TO, _PLACE = re.compile(r'href="#e(\d+)"'), re.compile(r'id="e(\d+)"')
#: Bytes that the steps may take, and lines that the timeline in words may have: a page of ten megabytes opens nowhere at once.
MOST_OF_STEPS, MOST_MOMENTS = 4_000_000, 2000
#: Moments at the beginning and at the end of a longer timeline that are told in any case.
_EDGE = 200
#: Steps that the contents beside the page list.
MOST_LISTED = 200


def render(report: Report) -> str:
    """The page."""
    story = report.case.story
    start = story.start
    name = (start.name or start.agent if start is not None else None) or story.session_id
    cited = frozenset(_cited(report))
    steps = html_steps.steps(story, room=MOST_OF_STEPS, cited=cited)
    sections: list[tuple[str, str, Sequence[Markup]]] = [
        ("summary", "Summary", [_summary(report)]),
        ("findings", "Findings", list(html_findings.findings(report))),
        ("timeline", "Timeline", list(_timeline(report, cited, steps))),
        ("steps", "What it saw and did", [steps]),
        ("changes", "What changed", list(_changes(report))),
        ("in-force", "What was in force", list(_in_force(report))),
        ("questions", "Twenty-one questions", list(_questions(report))),
        ("evidence", "Evidence", list(_evidence(report))),
        ("actions", "Action items", [el("ul", (el("li", one) for one in report.actions), class_="todo")]),
    ]
    if report.case.signals is not None:
        sections.insert(3, ("signals", "Signals", list(html_signals.signals(report.case))))
    if report.narrative is not None:
        sections.insert(2, ("narrative", "Narrative", list(_narrative(report.narrative))))
    wide = {"summary", "findings", "narrative", "timeline", "signals"}
    sections = [(name, title, [*parts, *_elsewhere(report, sections)] if name == "evidence" else parts) for name, title, parts in sections]
    narrow = [one for one in sections if one[0] not in wide]
    return page(
        title=f"Postmortem: {one_line(name, 80)}",
        skip="summary",
        header=_header(report, name),
        main=[
            *(section(*one) for one in sections if one[0] in wide),
            el("div", _outline(report, narrow), el("div", [section(*one) for one in narrow]), class_="columns"),
        ],
        footer=f"Made by tachograph from {story.session_id}. A claim is followed by the line of the log that shows it.",
    )


def _header(report: Report, name: str) -> Markup:
    story, bundle = report.case.story, report.bundle
    when = el("span", story.started_at or "at an unknown time", class_="whole")
    lines = [el("p", el("span", story.session_id, class_="mono"), " · ", when, f", {duration(story.duration_ms)}", class_="id")]
    if bundle.argv:
        lines.append(el("p", el("code", one_line(bundle.argv, 200)), class_="id"))
    return el(
        "header",
        el("p", "Postmortem of an agent session", class_="kind"),
        el("h1", one_line(name, 120)),
        lines,
        el("ul", [el("li", words, class_=look) for words, look in chips(report)], class_="chips"),
    )


def _outline(report: Report, sections: Sequence[tuple[str, str, Sequence[Markup]]]) -> Markup:
    entries = []
    for name, title, _ in sections:
        inner = None
        if name == "steps":
            more = len(report.case.story.steps) - MOST_LISTED
            inner = el(
                "ol",
                (
                    el(
                        "li",
                        el("span", str(step.number), class_="n", aria_hidden="true"),
                        el("a", headline(step, 70), href=f"#step-{step.number}", class_="bad" if step.bad else None),
                    )
                    for step in report.case.story.steps[:MOST_LISTED]
                ),
                el("li", "", el("span", f"… {more:,} more", class_="soft")) if more > 0 else None,
            )
        entries.append(el("li", el("a", title, href=f"#{name}"), inner))
    return el("nav", el("ul", entries), class_="outline", aria_label="Contents")


def _summary(report: Report) -> Markup:
    summary = report.summary
    asked = el("p", el("span", "Asked: ", class_="soft"), one_line(summary.asked, 600), class_="lead") if summary.asked else None
    answered = None
    if summary.answered:
        answered = el("p", el("span", "Its last words: ", class_="soft"), one_line(summary.answered, 600), class_="prose")
    return join([asked, el("ul", (el("li", one) for one in (*summary.did, summary.ended)), class_="facts"), answered])


def _cited(report: Report) -> Iterator[int]:
    """The lines of the log that findings and answers rest on."""
    for finding in report.findings:
        yield finding.first_seq
        yield from (one.seq for one in finding.evidence)
    for answer in report.answers:
        yield from (one.seq for one in answer.evidence)


def _timeline(report: Report, cited: frozenset[int], steps: Markup) -> Iterator[Markup]:
    story = report.case.story
    signals, metrics = signalled.moments(report.case), signalled.metrics(report.case)
    picture = timeline_svg.Picture(story=story, signals=signals, metrics=metrics, start=signalled.zero(report.case) or 0)
    look = "picture wide" if picture.wide else "picture"
    yield el("div", picture.draw(), class_=look, tabindex=0, role="group", aria_label="Timeline, scrolls sideways")
    yield picture.legend()
    if picture.gathered:
        yield el("p", "What lies on the same few pixels is drawn as one; its tooltip counts it, and it leads to the first.", class_="soft")
    told = _told(report.timeline, cited)
    shown = {int(seq) for seq in _PLACE.findall(steps)} if len(told) < len(report.timeline) else None
    rows: list[Markup] = []
    at = 0
    for index in told:
        if index > at:
            rows.append(_left_out(report.timeline[at:index]))
        at = index + 1
        one = report.timeline[index]
        rows.append(
            el(
                "tr",
                el("td", offset(one.at_ms), class_="n"),
                el("td", one.kind, class_="whole"),
                el("td", one_line(one.what, 200), class_="bad" if one.bad else None),
                el("td", duration(one.duration_ms) if one.duration_ms is not None else "", class_="n"),
                el("td", _moment_link(one) if shown is None or one.seq is None or one.seq in shown else f"#{one.seq}", class_="n"),
            )
        )
    if at < len(report.timeline):
        rows.append(_left_out(report.timeline[at:]))
    head = el(
        "tr", el("th", "when", class_="n"), el("th", "what"), el("th", ""), el("th", "took", class_="n"), el("th", "line", class_="n")
    )
    table = el("div", el("table", el("thead", head), el("tbody", rows), class_="stack"), class_="scroll")
    some = None
    if len(told) < len(report.timeline):
        words = (
            f"{len(report.timeline) - len(told):,} of {len(report.timeline):,} lines are counted only, so that this page opens; all are in "
        )
        some = el("p", words, el("code", f"tacho postmortem {shlex.quote(story.session_id)} --json"), " under timeline.", class_="soft")
    words = el("summary", f"The same in words, {counted(len(told), 'line')}")
    yield el("details", words, some, table, class_="off-paper" if some is not None else None)


def _told(moments: Sequence[Moment], cited: frozenset[int]) -> Sequence[int]:
    """Which moments the table tells: all, else what is cited, how it began and ended, what went wrong and what came in, then the rest in order."""
    if len(moments) <= MOST_MOMENTS:
        return range(len(moments))

    def weight(index: int) -> int:
        one = moments[index]
        if one.seq in cited or one.kind == "signal":
            return 0
        if index < _EDGE or index >= len(moments) - _EDGE:
            return 1
        return 2 if one.bad or one.kind == "input" else 3

    return sorted(sorted(range(len(moments)), key=weight)[:MOST_MOMENTS])


def _left_out(moments: Sequence[Moment]) -> Markup:
    """A row in the place of some that are counted only."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in Counter(one.kind for one in moments).most_common())
    return el(
        "tr", el("td", offset(moments[0].at_ms), class_="n"), el("td", "…"), el("td", kinds, class_="soft"), el("td", ""), el("td", "")
    )


def _moment_link(one: Moment) -> Markup:
    return html_findings.link(one.seq) if one.seq is not None else el("a", f"s{one.signal}", href=f"#es{one.signal}", class_="ref")


def _changes(report: Report) -> Iterator[Markup]:
    for action in report.case.git:
        yield el("p", action.words, " ", el("a", f"#{action.seq}", href=f"#e{action.seq}"))
    if not report.files:
        answer = next(one for one in report.answers if one.number == 8)
        yield _answer_text(answer.answer or "", "soft") if answer.answer else el("p", answer.not_recorded, class_="soft prose")
        return
    for total in report.files:
        seqs = dict.fromkeys(change.seq for change in total.changes)
        refs = join(piece for seq in seqs for piece in (" ", el("a", f"#{seq}", href=f"#e{seq}")))
        size = "binary" if total.binary else f"+{total.added} −{total.removed}"
        yield el("p", el("code", total.path), el("span", f" {total.action}, {size}", class_="soft"), refs, class_="file")
        yield from html_steps.diff(diff_lines(total.before, total.after), lines=60)


def _in_force(report: Report) -> Iterator[Markup]:
    rows = [el("tr", el("th", name, scope="row"), el("td", value)) for name, value in _bundle_rows(report.bundle)]
    if report.bundle.start_seq is not None:
        yield el("p", "As recorded at the start ", html_steps.anchor(report.bundle.start_seq), " and in each call.", class_="soft")
    yield el("table", el("tbody", rows), class_="stack")
    if report.bundle.packages:
        others = ", ".join(f"{name} {version}" for name, version in report.bundle.packages.items())
        yield el("details", el("summary", f"All {counted(len(report.bundle.packages), 'package')}"), el("p", others, class_="prose soft"))
    if report.case.baseline is not None:
        yield el("h3", f"What changed since {report.case.baseline.session_id}", class_="turn")
    elif report.compared:
        yield el("h3", "What changed since the last good session", class_="turn")
    yield from (el("p", f"{sentence(line)}.", class_="soft prose") for line in report.compared)
    if report.case.baseline is not None and not report.changes:
        yield el("p", "Nothing that was in force differs.")
    for one in report.changes:
        name = change_name(one)
        yield el("p", el("b", name), change_words(one).removeprefix(name), class_="prose")
        yield from html_steps.diff(change_lines(one), lines=60)


def _bundle_rows(bundle: Bundle) -> Iterator[tuple[str, Markup]]:
    def facts(found: Sequence[Fact], words: Any) -> Markup:
        return join(el("div", words(fact), [piece for seq in fact.seqs[:3] for piece in (" ", _line(seq))]) for fact in found)

    none = el("span", "not in the record", class_="soft")
    yield "Agent", _words(bundle.agent, none)
    yield "Command", el("code", bundle.argv) if bundle.argv else none
    repository = bundle.repository
    dirty = {True: "uncommitted changes", False: "clean"}.get(repository["dirty"]) if "dirty" in repository else None
    words = [repository.get("url"), repository.get("sha"), repository.get("branch") and f"on {repository['branch']}", dirty]
    yield "Code", el("span", " · ".join(str(word) for word in words if word)) if any(words) else none
    yield "Prompts", facts(bundle.prompts, lambda fact: f"{fact.key}: {_plain(fact.value)}") or none
    yield "Models", facts(bundle.models, lambda fact: model_words(fact.value)) or none
    yield "Parameters", facts(bundle.parameters, _parameters) or none
    yield "Guardrails", facts(bundle.guardrails, lambda fact: f"{fact.key}: {_plain(fact.value)}") or none
    yield "Tools", el("span", listed((f"{fact.key} ({fact.value['hash'][7:15]})" for fact in bundle.tools), 40)) if bundle.tools else none
    main = [f"{name} {version}" for name, version in bundle.packages.items() if relevant(name)]
    yield "Python", el("span", " · ".join(filter(None, (bundle.python, listed(main, 12))))) if bundle.python or main else none
    yield "System", _words(bundle.system, none)
    yield "Redaction policy", _words(bundle.policy, none)
    yield "Recorder", _words(bundle.recorder, none)


def _words(value: str | None, none: Markup) -> Markup:
    return el("span", value) if value else none


def _line(seq: int) -> Markup:
    return el("a", f"#{seq}", href=f"#e{seq}", class_="ref")


def _parameters(fact: Fact) -> str:
    rest = f"; left to defaults: {', '.join(fact.value['defaults'])}" if fact.value["defaults"] else ""
    return f"{fact.key}: {arguments(fact.value['set'], 400) or 'none'}{rest}"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items() if item is not None)
    return one_line(textual(value), 200)


def _questions(report: Report) -> Iterator[Markup]:
    for answer in report.answers:
        parts = [el("h3", answer.question)]
        if answer.answer is not None:
            parts.append(_answer_text(answer.answer, None))
        if answer.not_recorded is not None:
            parts.append(_answer_text(answer.not_recorded, "lack"))
        yield el("div", el("span", str(answer.number), class_="number"), el("div", parts), class_="question", id=f"q{answer.number}")


def _answer_text(words: str, look: str | None) -> Markup:
    """An answer with its citations as links."""
    pieces: list[Markup | str] = []
    at = 0
    for match in _CITATION.finditer(words):
        pieces += [words[at : match.start()], el("a", f"#{match.group(1)}", href=f"#e{match.group(1)}")]
        at = match.end()
    return el("p", [*pieces, words[at:]], class_=look)


def _evidence(report: Report) -> Iterator[Markup]:
    story = report.case.story
    rows: list[tuple[str, Markup | str]] = []
    verification = report.case.verification
    if verification is None:
        rows.append(("Verification", "not done for this report; tacho verify gives the verdict"))
    else:
        words = f"{verification.get('verdict')}, {verification.get('sealed', '?')} of {verification.get('events', '?')} events sealed"
        problems = [one for one in verification.get("problems") or () if isinstance(one, Mapping)]
        listing = el(
            "ul", (el("li", f"{one.get('check')}: {one.get('what')} ({one.get('file')}, offset {one.get('offset')})") for one in problems)
        )
        rows.append(("Verification", join([words, listing if problems else None])))
    replay = report.case.replay
    rows.append(("Replay", _replay_words(replay) if replay is not None else "not done for this report; tacho replay gives the verdict"))
    kinds = ", ".join(f"{kind} ×{count}" for kind, count in report.redactions.items())
    found = f"; different secrets by kind: {kinds}" if kinds else ""
    rows.append(("Redactions", f"{story.redactions:,}{found}"))
    for one in story.redacted.kinds:
        where = join([f"{one.count:,} masked in {counted(len(one.events), 'event')}, first ", _line(one.first)])
        rows.append((f"Redacted {one.kind}", where))
    if story.redacted.kinds:
        rows.append(("Who saw the originals", story.redacted.who_saw))
    gaps = [mark for _, mark in story.marks("gap")]
    rows.append(("Gaps", join(el("div", mark.title, " ", _line(mark.seq)) for mark in gaps) if gaps else "none declared"))
    end = html_steps.anchor(story.end_seq) if story.end_seq is not None else None
    rows.append(("End", join([report.summary.ended + " ", end])))
    for why in dict.fromkeys(why for _, _, why in story.unreadable):
        rows.append(("Unreadable", f"{counted(sum(one == why for _, _, one in story.unreadable), 'content')}: {why}"))
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in story.kinds.items())
    rows.append(("Events", f"{story.events:,}: {kinds}" if kinds else "none"))
    yield el("table", el("tbody", (el("tr", el("th", name, scope="row"), el("td", value)) for name, value in rows)), class_="stack")


def _elsewhere(report: Report, sections: Sequence[tuple[str, str, Sequence[Markup]]]) -> Iterator[Markup]:
    """The lines that something on the page cites and that no part of it shows (a reading of the clock, a process that joined): what each is."""
    text = "".join(part for _, _, parts in sections for part in parts)
    missing = {int(seq) for seq in _LEADS_TO.findall(text)} - {int(seq) for seq in _PLACE.findall(text)}
    rows = [
        el("tr", el("td", f"#{entry.seq}", id=f"e{entry.seq}"), el("td", entry.event.TYPE), el("td", entry.ts))
        for entry in report.case.recording.entries
        if entry.seq in missing
    ]
    if rows:
        yield el("h3", "Other lines that are cited", class_="factors")
        head = el("tr", el("th", "line"), el("th", "type"), el("th", "time"))
        yield el("table", el("thead", head), el("tbody", rows), class_="stack")


def _replay_words(replay: Mapping[str, Any]) -> str:
    words = [str(replay.get("verdict")), f"tape {replay.get('tape', 'unknown')}"]
    for name in ("matched", "exit_code", "recorded_exit_code", "output_identical", "seconds"):
        if replay.get(name) is not None:
            words.append(f"{name.replace('_', ' ')} {replay[name]}")
    return ", ".join(words)


def _narrative(narrative: Narrative) -> Iterator[Markup]:
    yield el(
        "p",
        f"Written by {narrative.model}, not by the analyses. Each sentence was held against the lines that it cites; struck out is what they do not "
        "bear out.",
        class_="soft",
    )
    for one in narrative.sentences:
        if one.why is not None:
            yield el("p", el("s", one.text), el("span", f" ({one.why})", class_="soft"))
        else:
            yield el("p", one.text, join(piece for seq in one.cites for piece in (" ", el("a", f"#{seq}", href=f"#e{seq}"))))
