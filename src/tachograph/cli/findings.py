"""What a postmortem found, in a few lines for the terminal: a report in a file would hide it, and a long one on the screen has scrolled by."""

from __future__ import annotations

from collections.abc import Iterator

from tachograph.core.events import ModelCall, ToolCall
from tachograph.log.reader import Recording
from tachograph.postmortem.report import Report
from tachograph.postmortem.values import one_line, visible
from tachograph.postmortem.wording import confidence_words

from .output import plural

#: Findings that are told. The first is the likeliest, and the report has them all.
MOST = 3


def summary(report: Report) -> Iterator[str]:
    """The findings, most likely first."""
    for one in report.findings[:MOST]:
        cited = " ".join(f"#{seq}" for seq in dict.fromkeys([one.first_seq, *(each.seq for each in one.evidence if each.signal is None)]))
        yield f"  {one.cause} ({confidence_words(one.confidence)}, {one.confidence:.2f}): {visible(one_line(one.statement, 600))} {cited}"
    if len(report.findings) > MOST:
        yield f"  and {plural(len(report.findings) - MOST, 'finding')} more in the report"
    if not report.findings:
        yield "  no analysis found a cause that this record shows"


def onward(report: Report, recording: Recording) -> str:
    """The command that leads on: from what was done, where a finding cites it, back to where its words came from."""
    session_id = recording.session_id
    cited = [each.event_id for each in report.findings[0].evidence if each.signal is None] if report.findings else []
    for event_id in reversed(cited):
        entry = recording.by_id(event_id)
        if entry is not None and isinstance(entry.event, (ModelCall, ToolCall)):
            return f"tacho why {session_id} --event {entry.seq}"
    return f"tacho show {session_id}"
