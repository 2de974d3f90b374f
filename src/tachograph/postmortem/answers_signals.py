"""Questions 17 and 18 as far as signals answer them: whether something watched, when it noticed, who took it up, and what ended it.

Times of a monitor and of a recorder come from two clocks. They are compared as they are; an alarm that began before the effect is told as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tachograph.core.signals import Signal, iso

from .case import Saying, counted, listed
from .values import one_line, quoted, visible
from .when import duration, unix_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

_Numbered = tuple[int, Signal]


def watched(saying: Saying) -> None:
    """17. Whether an alarm of the sources that were asked noticed what the session did."""
    signals = saying.case.signals
    if signals is None or not signals.asked:
        saying.lack("Evaluations, review and alerts, which are outside the session; --signals brings alerts in.")
        return
    effect = _effect(saying)
    after = _after(_numbered(saying), effect)
    if after:
        number, one = after[0]
        late = f", {duration(one.at - effect[1])} after the effect" if effect is not None else ""
        saying.say(f"An alarm did notice, but only outside{late}: {_named(one)}{saying.cite_signals(number, 'the first alarm')}.")
    else:
        saying.say(f"No alarm of {_sources(saying)} began after it in the time that was asked for ({_window(saying)}).")
    saying.lack("Evaluations and review, which are outside the session.")


def detected(saying: Saying) -> None:
    """18. The first alarm after the effect, who took it up, and what ended it."""
    case = saying.case
    if case.signals is None or not case.signals.asked:
        saying.lack(
            "When and by whom it was noticed, and what contained it: that happened outside; --signals brings alarms in, "
            "and tacho link SES incident=… names the incident."
        )
        return
    numbered, effect = _numbered(saying), _effect(saying)
    after = _after(numbered, effect)
    _before(saying, numbered, effect)
    if after:
        _first(saying, after[0], effect, numbered)
        _taken(saying, after, numbered)
        _contained(saying, after, numbered)
    else:
        saying.say(f"No alarm of {_sources(saying)} began after the effect in the time that was asked for ({_window(saying)}).")
        saying.lack("When and by whom it was noticed; a longer --window, or another source, may know.")
    for one in case.signals.missing:
        saying.lack(f"Signals of {visible(one.source)}: {visible(one_line(one.why, 300))}.")


def _effect(saying: Saying) -> tuple[int, int, str] | None:
    """The first thing that reached beyond the session: its line, when it was, and what it is called."""
    case = saying.case
    found = [(run.seq, run.title) for _, run in case.effects() if not run.bad]
    found += [(action.seq, action.words) for action in case.git if action.ok and action.verb in ("commit", "push", "merge")]
    found = found or [(change.seq, total.path) for total in case.files for change in total.changes]
    when = {entry.seq: unix_ms(entry.ts) for entry in case.recording.entries}
    for seq, title in sorted(found):
        if (at := when.get(seq)) is not None:
            return seq, at, title
    return None


def _numbered(saying: Saying) -> list[_Numbered]:
    signals = saying.case.signals
    return list(enumerate(signals.found, 1)) if signals is not None else []


def _after(numbered: Sequence[_Numbered], effect: tuple[int, int, str] | None) -> list[_Numbered]:
    """The alarms that began after the effect; all where no effect is known."""
    return [(number, one) for number, one in numbered if one.begins and (effect is None or one.at >= effect[1])]


def _before(saying: Saying, numbered: Sequence[_Numbered], effect: tuple[int, int, str] | None) -> None:
    early = [(number, one) for number, one in numbered if one.begins and effect is not None and one.at < effect[1]]
    if early:
        cited = saying.cite_signals([number for number, _ in early], "an alarm before the effect")
        names = listed(dict.fromkeys(quoted(one.name, 60) for _, one in early), 3)
        saying.say(f"{counted(len(early), 'alarm')} had begun before the first effect and cannot come from it: {names}{cited}.")


def _first(saying: Saying, first: _Numbered, effect: tuple[int, int, str] | None, numbered: Sequence[_Numbered]) -> None:
    number, one = first
    cited = saying.cite_signals(number, "the first alarm")
    saying.say(f"The first alarm was {_named(one)} at {iso(one.at)}{f', by {quoted(one.by, 60)}' if one.by else ''}{cited}.")
    if effect is not None:
        seq, at, title = effect
        saying.say(f"Time to detect: {duration(one.at - at)} after {quoted(title, 80)}{saying.cite(seq, 'the first effect')}.")
    deploys = [(place, each) for place, each in numbered if each.kind == "deploy" and each.at <= one.at]
    if deploys:
        place, deploy = deploys[-1]
        cited = saying.cite_signals(place, "the last deploy before it")
        saying.say(f"The last deploy before it was {quoted(deploy.name, 60)}, {duration(one.at - deploy.at)} earlier{cited}.")


def _taken(saying: Saying, after: Sequence[_Numbered], numbered: Sequence[_Numbered]) -> None:
    first = after[0][1]
    taken = next(((number, one) for number, one in numbered if one.taken and one.at >= first.at), None)
    if taken is not None:
        number, one = taken
        cited = saying.cite_signals(number, "taken up")
        saying.say(f"{quoted(one.by or 'somebody', 60)} took it up {duration(one.at - first.at)} after the first alarm{cited}.")
    elif not any(one.kind == "incident" for _, one in numbered):
        saying.lack("Who took it up; --signals pagerduty: knows, where it is used.")


def _contained(saying: Saying, after: Sequence[_Numbered], numbered: Sequence[_Numbered]) -> None:
    """Which of the alarms ended, and what was done until then."""
    first = after[0][1]
    began = list(dict.fromkeys((one.source, one.name) for _, one in after))
    last: dict[tuple[str, str], _Numbered] = {}
    for number, one in numbered:
        if (one.source, one.name) in began and (one.begins or one.ends):
            last[one.source, one.name] = (number, one)
    ended = [pair for pair in last.values() if pair[1].ends]
    still = [pair for pair in last.values() if not pair[1].ends]
    if ended:
        number, one = max(ended, key=lambda pair: pair[1].at)
        cited = saying.cite_signals([place for place, _ in ended], "an alarm that ended")
        by = f" by {quoted(one.by, 60)}" if one.by else ""
        saying.say(f"{counted(len(ended), 'alarm')} ended, the last{by} {duration(one.at - first.at)} after the first had begun{cited}.")
    if still:
        cited = saying.cite_signals([place for place, _ in still], "an alarm that went on")
        names = listed((quoted(one.name, 60) for _, one in still), 3)
        saying.say(f"{counted(len(still), 'alarm')} had not ended by {iso(_end(saying))}: {names}{cited}.")
    until = max((one.at for _, one in ended), default=_end(saying))
    done = [
        (place, one)
        for place, one in numbered
        if first.at <= one.at <= until and (one.kind == "deploy" or (one.kind != "log" and _note(one)))
    ]
    for place, one in done[:4]:
        what = f"the deploy of {quoted(one.name, 60)}" if one.kind == "deploy" else quoted(one.text, 160)
        by = f" by {quoted(one.by, 60)}" if one.by else ""
        saying.say(f"In between: {what}{by}{saying.cite_signals(place, 'done about it')}.")
    if not done:
        saying.lack("What contained it: no signal says what was done; a note on the incident, or a deploy in the ledger, would.")


def _note(one: Signal) -> bool:
    return bool(one.text) and ((one.kind == "note" and one.state is None) or one.state == "note")


def _end(saying: Saying) -> int:
    signals = saying.case.signals
    return signals.window.end if signals is not None else 0


def _named(one: Signal) -> str:
    return f"{quoted(one.name, 80)} ({visible(one.source)}{f', {visible(one.state)}' if one.state else ''})"


def _sources(saying: Saying) -> str:
    signals = saying.case.signals
    return listed(map(visible, signals.asked)) if signals is not None and signals.asked else "no source"


def _window(saying: Saying) -> str:
    signals = saying.case.signals
    return f"{iso(signals.window.start)} to {iso(signals.window.end)}" if signals is not None else ""
