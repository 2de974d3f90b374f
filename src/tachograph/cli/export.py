"""``tacho export``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tachograph import wiring
from tachograph.core.errors import NotFoundError, StoreError, TachographError
from tachograph.log import opening, proof
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve
from tachograph.log.verdict import verdict
from tachograph.postmortem import html_share, share
from tachograph.postmortem.story import tell

from . import reading
from .output import json_line, plural, policy_argument, print_notes
from .redacting import redactor

_MASKED = "held a secret that the rules of their day did not know, and that is masked in this file; tacho audit-secrets finds such"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument(
        "--to", metavar="FORM", choices=("html", "jsonl"), required=True, help="html: one page that needs nothing else; jsonl: as tacho cat"
    )
    parser.add_argument("--steps", metavar="N-N,N", help="only these steps, html with a proof for each line shown")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to FILE instead of printing")
    policy_argument(parser)


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    recording = Recording(opened, session_id)
    by = redactor(opened, options.policy)
    masked = share.Masked(recording, lambda value: by.text(value) if isinstance(value, str) else by.document(value))
    story = tell(masked)
    steps = share.steps_of(options.steps, story) if options.steps is not None else None
    reading.enter(chosen, opened, [session_id], "export")
    if options.to == "jsonl":
        _write(options, _lines(recording, masked, set(share.seqs(share.only(story, steps))) if steps is not None else None))
    else:
        shown = share.only(story, steps) if steps is not None else story
        proofs, seal, left_out = _proofs(opened, session_id, share.seqs(shown) if steps is not None else None, by.text)
        page = html_share.render(
            html_share.Shared(
                story=shown, all_steps=len(story.steps), steps=tuple(steps) if steps is not None else None,
                verdict=verdict(opened.store, session_id, public=opened.trusted, opened=opened).to_json(), proofs=proofs, seal=seal, left_out=left_out,
                verifier=str(opening.describe(opened.store).get("verifier", "")),
            )
        )  # fmt: skip
        _write(options, iter([page]))
    if masked.changed:
        print_notes([f"{plural(masked.changed, 'content')} {_MASKED}"])
    if options.output is not None:
        print(f"tacho: {options.output} written", file=sys.stderr)
    return 0


def _lines(recording: Recording, masked: share.Masked, wanted: set[int] | None) -> Iterator[str]:
    """The lines as ``tacho cat`` prints them, with their contents masked once more."""
    for event in recording.expanded(masked.content):
        if wanted is None or event["seq"] in wanted:
            yield json_line(event) + "\n"


def _proofs(
    opened: OpenStore, session_id: str, lines: list[int] | None, mask: Any
) -> tuple[Mapping[int, str], str | None, Mapping[int, str]]:
    """(the proofs of these lines, or the newest seal where no lines are named, why some have none). A line is proved as it is stored, byte by
    byte; one that today's rules would mask stays out."""
    try:
        if lines is None:
            return {}, proof.newest_seal(opened.store, session_id, opened.trusted), {}
        found = proof.prove_lines(opened.store, session_id, lines, opened.trusted)
    except NotFoundError:  # no seal yet
        return {}, None, {}
    proofs: dict[int, str] = {}
    left_out = {number: "not sealed yet, so it has no proof" for number in lines if number not in found}
    for number, (raw, text) in found.items():
        stored = raw.decode("utf-8", "surrogateescape")
        if mask(stored) == stored:
            proofs[number] = text
        else:
            left_out[number] = "its line holds what today's rules mask, so its proof would show that"
    return proofs, None, left_out


def _write(options: argparse.Namespace, pieces: Iterator[str]) -> None:
    if options.output is None:
        for piece in pieces:
            sys.stdout.write(piece)
        return
    try:
        with open(options.output, "w", encoding="utf-8", errors="backslashreplace") as file:
            try:
                file.writelines(pieces)
            except TachographError:
                os.unlink(options.output)  # half of a session must not pass for the whole
                raise
    except OSError as error:
        raise StoreError(f"cannot write {options.output}, {error.strerror}; choose another place with -o") from None
