"""``tacho fork``."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from typing import Any

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import forking, secrets
from tachograph.log.reader import Recording
from tachograph.postmortem.shapes import Step
from tachograph.postmortem.values import read
from tachograph.replay import edits
from tachograph.replay.edits import Edit

from . import tapes
from .app import NO
from .output import files_changed, plural, print_json, print_notes

_BUDGET = re.compile(r"(\d{1,12})\s{0,3}(calls?|tokens?|)")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "tacho fork SES --at N [--set WHAT=VALUE]… [--edit] [--vary WHAT=VALUE,VALUE]… [--live-model] [--budget N[tokens]]… "
        "[--allow-tool NAME]… [--unverified] [--json] [--secret-from F]… [-- CMD…]"
    )
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("--at", type=int, required=True, metavar="N", help="the step (tacho show lists them) from which on it is no copy")
    parser.add_argument(
        "--set", action="append", default=[], metavar="WHAT=VALUE", dest="sets",
        help="change model, prompt.system, params.NAME or body.PATH from there on; @FILE as the value is that file's text, null takes a parameter away",
    )  # fmt: skip
    parser.add_argument("--edit", action="store_true", help="change messages and tool results of that step in $VISUAL or $EDITOR")
    parser.add_argument(
        "--vary", action="append", default=[], metavar="WHAT=VALUE,VALUE",
        help="one fork a value, each with that one change, and one with none; prints which of them decides otherwise",
    )  # fmt: skip
    live_arguments(parser)
    parser.add_argument(
        "--allow-tool", action="append", default=[], metavar="NAME",
        help='where the recording has no answer for it, run this tool under the guard; only tools declared with effect="read"',
    )  # fmt: skip
    parser.add_argument("--unverified", action="store_true", help="fork a tape that does not verify; the report says so")
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--json", action="store_true", help="print the report as JSON; the agent's output goes to standard error")


def live_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``fork`` and ``reask`` share."""
    parser.add_argument(
        "--live-model",
        action="store_true",
        help="ask the recorded endpoint, or the base URL in your environment, with your own credentials",
    )
    parser.add_argument(
        "--budget", action="append", default=[], metavar="N[tokens]",
        help=f"stop after N live calls (else {forking.CALLS}), or after N tokens, as the answers count them; may be given once each",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    if options.vary and (options.sets or options.edit):
        raise UsageError("--vary changes exactly one thing at a time; leave out --set and --edit, or fork with them alone")
    given = secrets.collect(options.secret_from, os.environ)
    print_notes(given.notes)
    changes = [edits.parse(text, read_file) for text in options.sets]
    varied = [edit for text in options.vary for edit in edits.parse_values(text, read_file)]
    budget = parse_budget(options.budget, forking.CALLS)
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_writing(chosen)
    recording, verified = tapes.load(chosen, opened, options.session, unverified=options.unverified, verb="fork")
    step = tapes.step(recording, options.at)
    if options.edit:
        changes += _edited(recording, step)
    plan = forking.Plan(
        opened=opened, recording=recording, verified=verified, event_id=step.first_event_id, step=step.number, clock=chosen.clock,
        entropy=chosen.entropy, edits=changes, live=way(options.live_model), allowed=frozenset(options.allow_tool), budget=budget,
        command=options.command, quiet=options.json, given=given,
    )  # fmt: skip
    if varied:
        return _vary(plan, varied, as_json=options.json)
    found = forking.fork(plan)
    if options.json:
        print_json(found)
    else:
        _print(found)
    return 0 if found["ended"] == "by_itself" and found["reached"] else NO


def way(live: bool) -> Any:
    """The way to live models, where it was asked for. Nothing else imports it."""
    if not live:
        return None
    from tachograph.host.live import Live

    return Live(environment=os.environ)


def parse_budget(given: list[str], calls: int) -> forking.Budget:
    """``--budget 20``, ``--budget 50000tokens``. Raises ``UsageError``."""
    tokens = None
    for text in given:
        found = _BUDGET.fullmatch(text.strip().lower())
        if found is None:
            raise UsageError(f"no budget, {text!r}; give calls, as in --budget 20, or tokens, as in --budget 50000tokens")
        if found[2].startswith("token"):
            tokens = int(found[1])
        else:
            calls = int(found[1])
    return forking.Budget(calls=calls, tokens=tokens)


def read_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(16 << 20)
    except UnicodeDecodeError:
        raise UsageError(f"{path}: no UTF-8; save it as that") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}, {error.strerror}; correct its name or its mode") from None


def _edited(recording: Recording, step: Step) -> list[Edit]:
    """What the person changed in an editor. The page holds redacted content, as the record does."""
    request = read(recording, step.call.prompt_redacted_uri)
    if not request.there or not isinstance(request.value, dict):
        raise UsageError(f"the request of step {step.number} is no JSON that could be edited; change it with --set body.PATH=…")
    body = request.value
    page = edits.sheet(body, f"{recording.session_id}, step {step.number}: what the model was told")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("no editor, EDITOR is not set; set it, or change a place with --set body.PATH=@FILE")
    with tempfile.TemporaryDirectory(prefix="tacho-edit-") as folder:
        path = os.path.join(folder, "request.txt")
        with open(path, "x", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            file.write(page)
        try:
            code = subprocess.run([*shlex.split(editor), path], check=False).returncode
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot run the editor {editor}, {getattr(error, 'strerror', None) or error}; correct EDITOR") from None
        if code != 0:
            raise UsageError(f"the editor ended with {code}, so nothing was forked; save and leave it, or set EDITOR")
        with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            found = edits.changed_in(body, file.read())
    if not found:
        raise UsageError("nothing was changed in the editor, so nothing was forked")
    return found


def _print(found: dict[str, Any]) -> None:
    """On standard error: standard output was the agent's."""
    print("\n".join(told(found)), file=sys.stderr)


def told(found: dict[str, Any]) -> list[str]:
    """The report of one fork, as lines."""
    origin, calls = found["forked_from"], found["calls"]
    changed = ", ".join(origin["changed"]) or "nothing changed"
    taped = sum(calls["tape"].values())
    lines = [
        f"tacho: {found['session_id']} forked from {origin['session_id']} at step {origin['step']} ({changed}): "
        f"{plural(taped, 'call')} from the tape, {plural(calls['live'], 'live call')}"
        + (f" to {calls['endpoint']}" if calls["live"] else "")
        + (f", {plural(calls['tokens'], 'token')}" if calls["tokens"] else "") + f", {found['seconds']:.1f} s"
    ]  # fmt: skip
    decision = found["decision"]
    if decision is not None:
        then, now = decision["told"]
        lines.append(f"  the decision at step {origin['step']}: " + ("flipped" if decision["flipped"] else "the same"))
        lines += [f"    recorded: {then}", f"    now:      {now}"] if decision["flipped"] else [f"    {now}"]
    if found["divergence"]:
        where = found["divergence"]
        lines.append(f"  it went its own way before step {origin['step']}: {where['kind']} {where['operation']}, {where['path'] or where['hint']}; "
                     f"tacho replay {origin['session_id']} tells more")  # fmt: skip
    for attempt in found["blocked"][:20]:
        lines.append(f"  refused: {attempt.get('what')} {attempt.get('where')} (by {attempt.get('by')})")
    if found["code_changed"]:
        lines.append(f"  the agent's code is not what was recorded: {', '.join(found['code_changed'][:5])}")
    if found["workspace_missing"]:
        lines.append(f"  not kept in the recording, taken as it is now: {', '.join(found['workspace_missing'][:5])}")
    lines += files_changed(found["files_changed"])
    lines += [f"  {note}" if note.startswith("stopped: ") else f"  note: {note}" for note in found["notes"]]
    weak = [f"{name}: {why}" for name, why in found["guards"].items() if isinstance(why, str) and name in ("seccomp", "landlock")]
    lines += [f"  a guard that did not hold here: {text}" for text in weak]
    lines.append(f"  next: tacho diff {found['session_id']}")
    return lines


def _vary(plan: forking.Plan, varied: list[Edit], *, as_json: bool) -> int:
    from tachograph.host import varying

    from .progress import bar

    with bar("forks") as progress:
        table = varying.vary(plan, varied, progress)
    if as_json:
        print_json(table)
    else:
        _print_table(table, varying.told)
    return 0 if all(row["decision"] is not None for row in table["rows"]) else NO


def _print_table(table: dict[str, Any], name: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    step, origin = table["forked_from"]["step"], table["forked_from"]["session_id"]
    grid = Table(title=f"{origin}, step {step}: which change flips the decision", title_justify="left")
    for heading in ("changed", "decision", "flipped", "afterwards", "fork"):
        grid.add_column(heading, overflow="fold")
    for row in table["rows"]:
        decision = row["decision"]
        after = "ran to its end" if row["ended"] == "by_itself" else f"stopped: {row['stopped'] or 'see tacho show'}"
        grid.add_row(
            name(row), decision["told"][1] if decision else "-", ("YES" if decision["flipped"] else "no") if decision else "?", after,
            row["session_id"],
        )  # fmt: skip
    recorded = next((row["decision"]["told"][0] for row in table["rows"] if row["decision"]), None)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 200
    console.print(grid)
    if recorded is not None:
        console.print(f"recorded: {recorded}")
    if table["control_flips"]:
        console.print(
            "With nothing changed the model decided otherwise, too: single forks prove little here. "
            f"tacho reask {origin} --step {step} -n 20 --live-model tells how often."
        )
    elif table["flips"]:
        console.print(
            "flipped by: " + "; ".join(table["flips"]) + f". One draw each: tacho reask {origin} --step {step} tells chance from cause."
        )
    else:
        console.print("no change flips it.")
