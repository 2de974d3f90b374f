"""``tacho reask``."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import forking, secrets
from tachograph.replay import edits

from . import tapes
from .app import NO
from .fork import live_arguments, parse_budget, read_file, way
from .output import plural, print_json, print_notes

#: Questions of one run, at most.
MOST = 1000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "tacho reask SES --step N [-n K] --live-model [--set WHAT=VALUE]… [--budget N[tokens]]… [--unverified] [--json] [--secret-from F]…"
    )
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("--step", type=int, required=True, metavar="N", help="the step (tacho show lists them) whose question is put again")
    parser.add_argument("-n", type=int, default=10, metavar="K", dest="count", help="how often (10)")
    parser.add_argument("--set", action="append", default=[], metavar="WHAT=VALUE", dest="sets", help="with this changed, as in tacho fork")
    live_arguments(parser)
    parser.add_argument("--unverified", action="store_true", help="ask from a tape that does not verify")
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    if not 1 <= options.count <= MOST:
        raise UsageError(f"it is asked between 1 and {MOST} times, not {options.count}; correct -n")
    if not options.live_model:
        raise UsageError("asking a model again needs a live model; --live-model allows that, with your own credentials")
    given = secrets.collect(options.secret_from, os.environ)
    print_notes(given.notes)
    changes = [edits.parse(text, read_file) for text in options.sets]
    budget = parse_budget(options.budget, MOST)
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_writing(chosen)
    recording, verified = tapes.load(chosen, opened, options.session, unverified=options.unverified, verb="reask")
    step = tapes.step(recording, options.step)
    from tachograph.host import reask

    from .progress import bar

    plan = forking.Plan(
        opened=opened, recording=recording, verified=verified, event_id=step.first_event_id, step=step.number, clock=chosen.clock,
        entropy=chosen.entropy, edits=changes, live=way(options.live_model), budget=budget, given=given, by="reask",
    )  # fmt: skip
    with bar("answers") as progress:
        found = reask.reask(plan, options.count, progress)
    if options.json:
        print_json(found)
    else:
        _print(found)
    return 0 if found["answered"] else NO


def _print(found: dict[str, Any]) -> None:
    step = found["step"]
    print(f"{found['session_id']}, step {step}: asked {found['endpoint']} {plural(found['asked'], 'time')}, "
          f"{found['model_id'] or 'the same model'}; {plural(found['tokens'], 'token')}")  # fmt: skip
    actions, text = found["actions"], found["text"]
    if not found["answered"]:
        print(f"  no answer at all: {found['failed'][0]}")
        return
    print(f"  actions as recorded  {_share(actions, found['answered'])}")
    print(f"  text as recorded     {_share(text, found['answered'])}; median likeness {text['alike']:.0%}")
    print("  decisions:")
    for one in found["decisions"]:
        print(f"    {one['count']:>4} × {one['told']}" + ("   <- recorded" if one["recorded"] else ""))
    if not any(one["recorded"] for one in found["decisions"]):
        recorded = found["recorded"]["actions"]
        print("       0 × " + ("; ".join(one["name"] + "(…)" for one in recorded) or "no tool call") + "   <- recorded")
    for why in dict.fromkeys(found["failed"]):
        print(f"  {found['failed'].count(why)} gave no answer: {why}")
    verdicts = _CHANGED if found["changed"] else _VERDICTS
    print("  " + verdicts[found["verdict"]].format(low=actions["low"], high=actions["high"]))
    print_notes(found["notes"])
    print(
        f"  kept: {', '.join(found['sessions'][:3])}"
        + (f" and {len(found['sessions']) - 3} more (tacho ls)" if len(found["sessions"]) > 3 else "")
    )


_VERDICTS = {
    "cause": "CAUSE: from this input the model usually decides so (more than half of the time, 95% sure); change the input, not the luck",
    "chance": "CHANCE: from this input the model usually decides otherwise (95% sure); the recorded decision was an unlikely draw",
    "open": "OPEN: between {low:.0%} and {high:.0%} of draws decide so, which may be more or less than half; ask more often (-n)",
}

#: Of another question than the recorded one.
_CHANGED = {
    "cause": "STILL: with the change the model usually decides as recorded (more than half of the time, 95% sure)",
    "chance": "OTHERWISE: with the change the model usually decides otherwise (95% sure)",
    "open": "OPEN: with the change between {low:.0%} and {high:.0%} of draws decide as recorded; ask more often (-n)",
}


def _share(found: dict[str, Any], of: int) -> str:
    return f"{found['same']} of {of} ({found['share']:.0%}; 95% interval {found['low']:.0%} to {found['high']:.0%})"
