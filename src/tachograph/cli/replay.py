"""``tacho replay``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from tachograph.core.errors import StoreError
from tachograph.host import replay, secrets
from tachograph.host.ambient import KINDS
from tachograph.replay.divergence import called

from . import reading, verified
from .app import NO
from .output import files_changed, plural, print_json, print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho replay SES [--lenient] [--live KIND[,KIND]…] [--unverified] [--report F] [--json] [--secret-from F]… [-- CMD…]"
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument(
        "--lenient", action="store_true",
        help="ids, dates, ports and temporary paths may differ if they map one to one; the report names what did",
    )  # fmt: skip
    parser.add_argument("--unverified", action="store_true", help="replay a tape that does not verify; the report says so")
    parser.add_argument(
        "--live", metavar="KIND", type=_kinds, default=(),
        help=f"read these live instead of from the tape: {', '.join(KINDS)}; shows what the agent depends on",
    )  # fmt: skip
    parser.add_argument("--report", metavar="F", help="write the report to this file as JSON")
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--json", action="store_true", help="print the report as JSON; the agent's output goes to standard error")


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(part.strip() for part in text.split(",") if part.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f"{kind!r} is none of {', '.join(KINDS)}")
    return kinds


def run(options: argparse.Namespace) -> int:
    given = secrets.collect(options.secret_from, os.environ)
    print_notes(given.notes)
    chosen, opened, recording, good = verified.recording(options)
    if options.report:
        _write(options.report, "")  # before the work, not after it
    reading.enter(chosen, opened, [recording.session_id], "replay")
    found = replay.replay(
        replay.Plan(
            recording=recording, verified=good, command=options.command,
            quiet=options.json, given=given, lenient=options.lenient, live=options.live,
        )
    )  # fmt: skip
    if options.report:
        _write(options.report, json.dumps(found, indent=1) + "\n")
    if options.json:
        print_json(found)
    else:
        _print(found)
    return 0 if found["verdict"] == "identical" else NO


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StoreError(f"cannot write the report to {path}, {error.strerror}; choose another --report") from None


def _print(found: dict[str, Any]) -> None:
    """The verdict, on standard error: standard output was the agent's."""
    calls = ", ".join(plural(count, f"{kind} call") for kind, count in found["calls"].items() if count) or "no calls"
    mode = " (lenient)" if found["mode"] == "lenient" else ""
    lines = [
        f"tacho: {found['session_id']} replayed: {found['verdict'].upper()}{mode}; {calls} answered from the tape in {found['seconds']:.1f} s"
    ]
    lines += _divergence(found["divergence"]) if found["divergence"] else []
    lines += _unified(found["unified"])
    if found["unused"]:
        lines.append(f"  {plural(len(found['unused']), 'recorded call')} never asked for, the first: {found['unused'][0]['what']} "
                     f"(#{found['unused'][0]['seq']}, lane {found['unused'][0]['lane']})")  # fmt: skip
    for attempt in found["blocked"][:20]:
        lines.append(f"  refused: {attempt.get('what')} {attempt.get('where')} (by {attempt.get('by')})")
    if len(found["blocked"]) > 20:
        lines.append(f"  … and {len(found['blocked']) - 20} more refused; the report names them all (--report F)")
    if found["code_changed"]:
        lines.append(f"  the agent's code is not what was recorded: {', '.join(found['code_changed'][:5])}")
    if found["workspace_missing"]:
        lines.append(f"  not kept in the recording, taken as it is now: {', '.join(found['workspace_missing'][:5])}")
    lines += files_changed(found["files_changed"])
    if found["tools_run"]:
        lines.append(
            f"  ran under the guard instead of being answered (their results are not plain data): {', '.join(sorted(set(found['tools_run'])))}"
        )
    if found["reordered"]:
        lines.append(
            f"  {plural(found['reordered'], 'answer')} given out of the recorded order: the agent waited for them the other way round"
        )
    if found["order"] != "at rest":
        lines.append("  the order of answers was kept by time: this system does not show whether an agent rests")
    if found["early"]:
        lines.append(f"  {plural(found['early'], 'answer')} given while the agent was still at work, since it never rests")
    if found["ended_at_cut"]:
        lines.append("  the recording was cut there, and the replay was identical up to the cut")
    lines += [f"  note: {note}" for note in found["notes"]]
    if found["gap"] and not found["ended_at_cut"]:
        lines.append(f"  the recording has a gap ({found['gap']}): what happened in it is not in this verdict")
    weak = [f"{name}: {why}" for name, why in found["guards"].items() if isinstance(why, str) and name in ("seccomp", "landlock")]
    lines += [f"  a guard that did not hold here: {text}" for text in weak]
    if found["tape"] == "unverified":
        lines.append("  the tape is UNVERIFIED: this verdict proves nothing about what happened")
    print("\n".join(lines), file=sys.stderr)


def _unified(found: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"  unified: {each['kind']} {_one_line(each['recorded'])} is {_one_line(each['live'])} now ({each['where']})" for each in found[:5]
    ]
    return [*lines, f"  … and {len(found) - 5} more unified; the report names them all (--report F)"] if len(found) > 5 else lines


def _divergence(found: dict[str, Any]) -> list[str]:
    where = f"step {found['step']}" if found["step"] else "the end"
    what = f"{found['kind']} {found['operation']}".strip()
    lines = [f"  first difference at {where}: {what} in lane {found['lane']}{called(found['site'])}"]
    near = found["nearest"]
    if near:
        lines.append(f"  nearest recorded: {near['what']} (#{near['seq']}): {near['why']}")
    if found["path"] is not None:
        lines += [f"  in {found['path']}", f"    recorded: {_one_line(found['expected'])}", f"    now:      {_one_line(found['actual'])}"]
        lines += _pointer(found)
    lines.append(f"  likely: {found['hint']}")
    return lines


def _pointer(found: dict[str, Any]) -> list[str]:
    """Marks below the first differing words."""
    there = found.get("difference")
    if not there or not isinstance(found["actual"], str):
        return []
    before = len(_one_line(found["actual"][: there["column"]]))
    return ["              " + " " * before + "^" * max(1, min(len(there["actual"]), 40))] if before < 200 else []


def _one_line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\n", "\\n")
