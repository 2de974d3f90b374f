"""``tacho redact``: the redaction by itself, in a pipe, over files, as JSON lines."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from tachograph.core.errors import UsageError
from tachograph.host import secrets

from .app import NO
from .output import json_line, policy_argument, print_json, print_notes

if TYPE_CHECKING:
    from tachograph.redact.engine import Redactor

#: Bytes that are read at once.
_PIECE = 1 << 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="*", metavar="FILE", help="files to read, one after the other (else standard input; - is that, too)")
    parser.add_argument("--store", metavar="DIR", help="make the placeholders of this store's records (else: of a key drawn for this run)")
    policy_argument(parser)
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--live", action="store_true", help="hand out every line as it comes, for a pipe that never ends")
    parser.add_argument("--jsonl", action="store_true", help='read lines {"id", "text"}, write the same with the texts redacted')
    parser.add_argument(
        "--spans", action="store_true", help='with --jsonl: write {"id", "spans": [[start, end, kind, rule], …]}, in characters'
    )
    parser.add_argument("--check", action="store_true", help="write what would be masked and where, and exit 1 when there is anything")
    parser.add_argument("--explain", metavar="TEXT", help="say what would be masked in TEXT and why, never the value (-: standard input)")
    parser.add_argument("--json", action="store_true", help="with --explain: one JSON document")


def run(options: argparse.Namespace) -> int:
    if sys.stdout is None:
        raise UsageError("standard output is closed; send it to /dev/null where only the exit code is wanted")
    if options.spans and not options.jsonl:
        raise UsageError("--spans goes with --jsonl; tacho redact --jsonl --spans reads lines of JSON")
    if options.live and options.jsonl:
        raise UsageError("--live is for texts, --jsonl hands out each line at once by itself; leave out one of them")
    if options.explain is not None:
        if options.jsonl or options.live or options.file:
            raise UsageError("--explain takes the text itself, or - for standard input; give no FILE, --jsonl or --live with it")
        return _explain(options, _redactor(options))
    if options.json:
        raise UsageError("--json goes with --explain; --jsonl reads and writes lines of JSON")
    redactor = _redactor(options)
    one = _lines if options.jsonl else _checked if options.check else _text
    found = sum(one(options, redactor, name, file) for name, file in _inputs(options.file))
    return NO if options.check and found else 0


def _explain(options: argparse.Namespace, redactor: Redactor) -> int:
    from tachograph.redact import explain

    text = _decoded(_standard_input().read()) if options.explain == "-" else options.explain
    found, others = explain.explain(redactor, text), explain.near(redactor, text)
    if options.json:
        print_json({
            "findings": [{**dataclasses.asdict(each), "length": each.length} for each in found],
            "left_alone": [dataclasses.asdict(each) for each in others],
            "policy": redactor.policy.fingerprint,
        })  # fmt: skip
    else:
        for line in explain.lines(found, others):
            print(line)
    return NO if options.check and found else 0


def _checked(_: argparse.Namespace, redactor: Redactor, name: str, file: BinaryIO) -> int:
    """What would be masked, in lines that editors and hooks understand. Reads the whole."""
    from tachograph.redact import explain

    found = explain.explain(redactor, _decoded(file.read()))
    for each in found:
        print(f"{name}:{each.line}:{each.column}: {each.kind}, {each.length} characters ({each.rule})")
    return len(found)


def _decoded(data: bytes) -> str:
    from tachograph.redact import encodings

    codec = encodings.wide(data)
    return data[: len(data) // 2 * 2].decode(codec, "surrogatepass") if codec else data.decode("utf-8", "surrogateescape")


def _redactor(options: argparse.Namespace) -> Redactor:
    from tachograph import wiring
    from tachograph.redact.engine import Redactor

    chosen = wiring.policy(options.policy)
    key = os.urandom(32) if options.store is None else wiring.open_for_reading(wiring.settings(options.store)).fingerprint_key
    given = secrets.collect([*chosen.secret_from, *options.secret_from], os.environ)
    print_notes(given.notes)
    made = Redactor(chosen.policy, key=key, known=chosen.known(os.environ))
    given.teach(made)
    return made


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise UsageError("standard input is closed; name a FILE, or give it one with < FILE")
    return sys.stdin.buffer


def _inputs(names: list[str]) -> Iterator[tuple[str, BinaryIO]]:
    for name in names or ["-"]:
        if name == "-":
            yield "standard input", _standard_input()
        else:
            with contextlib.closing(open(name, "rb")) as file:
                yield name, file


def _text(options: argparse.Namespace, redactor: Redactor, _: str, file: BinaryIO) -> int:
    """One text, whatever its bytes: what is neither UTF-8 nor UTF-16 passes through."""
    from collections import Counter

    from tachograph.redact import encodings
    from tachograph.redact.pipe import Pipe

    pipe = Pipe(redactor, live=options.live)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    out = sys.stdout.buffer
    first = True
    while True:
        # read1 returns what is there; read would wait for a full piece.
        data = file.read1(_PIECE)  # type: ignore[attr-defined]
        if first and encodings.wide(data):
            tally: Counter[str] = Counter()
            out.write(redactor.raw(data + file.read(), tally))
            return tally.total()
        first = False
        text = decoder.decode(data, final=not data)
        done = pipe.feed(text) + ("" if data else pipe.finish())
        if done:
            out.write(done.encode("utf-8", "surrogateescape"))
            out.flush()
        if not data:
            return pipe.tally.total()


def _lines(options: argparse.Namespace, redactor: Redactor, name: str, file: BinaryIO) -> int:
    """Lines of JSON."""
    import collections

    tally: collections.Counter[str] = collections.Counter()
    write = sys.stdout.write
    found = 0
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        case = _case(line, f"{name}:{number}")
        if options.check:
            spans = redactor.spans(case["text"])
            found += len(spans)
            for span in spans:
                print(f"{name}:{number}: {span.kind}, {span.end - span.start} characters")
        elif options.spans:
            spans = redactor.spans(case["text"])
            found += len(spans)
            write(json_line({"id": case["id"], "spans": [[s.start, s.end, s.kind, s.rule] for s in spans]}) + "\n")
        else:
            write(json_line({"id": case["id"], "text": redactor.text(case["text"], tally)}) + "\n")
    return found + tally.total()


def _case(line: bytes, where: str) -> dict[str, Any]:
    """Of a bad line nothing is quoted: nobody knows what is in it."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f'no JSON, {where}; --jsonl reads one {{"id": …, "text": "…"}} a line') from None
    if not isinstance(case, dict) or "id" not in case or not isinstance(case.get("text"), str):
        raise UsageError(f'no object with an id and a text, {where}; --jsonl reads one {{"id": …, "text": "…"}} a line')
    return case
