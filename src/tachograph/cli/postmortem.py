"""``tacho postmortem``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any

from tachograph import wiring
from tachograph.core.errors import StoreError, UsageError
from tachograph.core.events import SessionStart
from tachograph.fleet.forks import forks_of
from tachograph.host import policy
from tachograph.links import linking
from tachograph.log import book as books
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve
from tachograph.log.verdict import verdict
from tachograph.postmortem import html, markdown, narrative, runbooks
from tachograph.postmortem.report import Report, assemble

from . import findings, last_good, reading, signalling
from .output import document, plural, print_json, print_notes
from .spread import spread

_KINDS = (".md", ".html", ".json")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to FILE.md, FILE.html or FILE.json instead of printing Markdown")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--baseline",
        metavar="SES",
        help="the last good session, with which this one is compared (else it is found: the newest of its kind)",
    )
    which.add_argument("--no-baseline", action="store_true", help="compare with no other session")
    parser.add_argument("--replay", action="store_true", help="replay the session now, and say whether it reproduces")
    parser.add_argument("--replay-report", metavar="F", help="the report that tacho replay --report has written")
    parser.add_argument(
        "--narrative", action="store_true",
        help="have the session's own model write a narrative, whose citations are checked; with --live-model only, with your own credentials",
    )  # fmt: skip
    parser.add_argument("--live-model", action="store_true", help="allow --narrative to ask a model")
    signalling.arguments(parser)
    parser.add_argument("--runbooks", metavar="F", help=f"the team's runbooks by class of finding (else the nearest {runbooks.NAME})")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if options.output is not None and not options.output.endswith(_KINDS):
        raise UsageError(f"the name says what is written, {options.output}; end it in {', '.join(_KINDS)}")
    if options.narrative and not options.live_model:
        raise UsageError("a narrative needs a live model; --live-model allows that, with your own credentials")
    team = _runbooks(options.runbooks)
    reading.quickly()
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    recording = Recording(opened, session_id)
    good = _good(options, opened, recording)
    reading.enter(chosen, opened, [session_id, *([good.recording.session_id] if good.recording is not None else [])], "postmortem")
    verification = _verified(opened, session_id)
    book = books.believed(opened.store, opened.trusted)
    links = [str(each.ref) for each in linking.links(book, session_id)]  # what the team has attached to it since it was recorded
    start = recording.entries[0].event if recording.entries else None
    refs = [*(start.links if isinstance(start, SessionStart) else ()), *links]
    signals = signalling.gathered(options, chosen, opened, recording, book=book, refs=refs)
    tried, unseen = forks_of(opened, session_id)
    notes = [f"{plural(unseen, 'session')} of the store were not looked at for forks of this one"] if unseen else []
    replayed = _replay(options, recording, good=bool(verification["good"]))
    with spread(chosen, opened, session_id) as others:
        report = assemble(
            recording, verification=verification, replay=replayed, good=good.recording, links=links, forks=tried, spread=others, signals=signals, books=team,
            compared=good.lines,
        )  # fmt: skip
    if options.narrative:
        report = dataclasses.replace(report, narrative=_narrative(report, recording))
    _put(options, report, good)
    chosen_by_hand = options.no_baseline or options.baseline is not None  # and so nothing that the reader does not know
    print_notes([*(() if chosen_by_hand or good.alone else good.lines), *notes])
    if not options.json:
        print(f"tacho: next: {findings.onward(report, recording)}", file=sys.stderr)
    return 0


def _put(options: argparse.Namespace, report: Report, good: last_good.Found) -> None:
    if options.output is None:
        if options.json:
            print_json(_document(report, good))
        else:
            sys.stdout.write(markdown.render(report))
        return
    if options.output.endswith(".json") or options.json:
        text = document(_document(report, good)) + "\n"
    else:
        text = html.render(report) if options.output.endswith(".html") else markdown.render(report)
    _write(options.output, text)
    print("\n".join([f"tacho: {options.output} written", *findings.summary(report)]), file=sys.stderr)


def _document(report: Report, good: last_good.Found) -> dict[str, Any]:
    found = report.to_json()
    if good.told is not None:
        found["baseline"] |= {"found": good.told}
    return found


def _narrative(report: Report, recording: Recording) -> narrative.Narrative:
    from tachograph.host.live import Live
    from tachograph.host.narrating import narrate

    last = next(reversed(report.case.story.steps), None)
    if last is None:
        raise UsageError(f"{recording.session_id} has no call to a model, so there is nobody to ask; leave --narrative out")
    words, model = narrate(recording, last.event_id, narrative.INSTRUCTIONS, narrative.given(report), Live(environment=os.environ))
    return narrative.checked(words, model, report, recording)


def _runbooks(named: str | None) -> tuple[runbooks.Runbook, ...]:
    """The team's runbooks, of the file that is named, else of the nearest one. Raises ``UsageError``."""
    path = named or policy.find(os.getcwd(), runbooks.NAME)
    if path is None:
        return ()
    try:
        with open(path, "rb") as file:
            data = file.read(runbooks.LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot read the runbooks in {path}, {error.strerror}; name another file with --runbooks") from None
    if len(data) > runbooks.LARGEST:
        raise UsageError(
            f"{path} is larger than {runbooks.LARGEST >> 20} MiB; runbooks are links and first steps, the rest is behind the link"
        )
    try:
        return runbooks.parse(data.decode("utf-8"), path)
    except UnicodeDecodeError:
        raise UsageError(f"not UTF-8, {path}; TOML is") from None


def _verified(opened: OpenStore, session_id: str) -> dict[str, Any]:
    found = verdict(opened.store, session_id, public=opened.trusted, opened=opened)
    return {**found.to_json(), "good": found.good}


def _good(options: argparse.Namespace, opened: OpenStore, recording: Recording) -> last_good.Found:
    if options.baseline is not None:
        named = resolve(opened.store, options.baseline)
        return last_good.Found(Recording(opened, named), (f"compared with {named}, which --baseline names",))
    return (
        last_good.Found(None, ("compared with no other session, as --no-baseline asks",))
        if options.no_baseline
        else last_good.find(opened, recording)
    )


def _replay(options: argparse.Namespace, recording: Recording, *, good: bool) -> dict[str, Any] | None:
    if options.replay:
        from tachograph.host import replay

        return replay.replay(replay.Plan(recording=recording, verified=good, quiet=True))
    if options.replay_report is None:
        return None
    try:
        with open(options.replay_report, encoding="utf-8") as file:
            found = json.load(file)
        if not isinstance(found, dict) or "verdict" not in found:
            raise ValueError
    except OSError as error:
        raise UsageError(f"cannot read {options.replay_report}, {error.strerror}; tacho replay SES --report F writes one") from None
    except ValueError:
        raise UsageError(f"not a replay report, {options.replay_report}; tacho replay SES --report F writes one") from None
    if found.get("session_id") != recording.session_id:
        raise UsageError(
            f"the report in {options.replay_report} is of {found.get('session_id')}, not of {recording.session_id}; name its own"
        )
    return found


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise StoreError(f"cannot write {path}, {error.strerror}; choose another place with -o") from None
