"""A session that is about to be run again or asked again: found, verified, and entered in the ledger as read."""

from __future__ import annotations

from tachograph import wiring
from tachograph.core.errors import NotFoundError, TamperedError, UsageError
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve
from tachograph.log.verdict import verdict
from tachograph.postmortem.shapes import Step
from tachograph.postmortem.story import tell

from . import reading


def load(chosen: wiring.Settings, opened: OpenStore, name: str, *, unverified: bool, verb: str) -> tuple[Recording, bool]:
    """The recording, and whether it verifies. Raises ``TamperedError`` where it does not and nobody said ``--unverified``."""
    session_id = resolve(opened.store, name)
    opened.data_key(session_id)  # raises where there is nothing to replay any more
    checked = verdict(opened.store, session_id, public=opened.trusted, opened=opened)
    if not checked.good and not unverified:
        first = checked.problems[0] if checked.problems else {"what": checked.verdict, "file": session_id, "offset": 0}
        raise TamperedError(
            f"the record of {session_id} is {checked.verdict}: {first['what']}, {first['file']} offset {first['offset']}; "
            "tacho verify tells all, --unverified replays it all the same"
        )
    reading.enter(chosen, opened, [session_id], verb)
    return Recording(opened, session_id, strict=checked.good), checked.good


def step(recording: Recording, number: int) -> Step:
    """The step with this number. Raises ``UsageError`` and ``NotFoundError``."""
    if number < 1:
        raise UsageError(f"steps count from 1, not from {number}; tacho show {recording.session_id} lists them")
    steps = tell(recording).steps
    found = next((one for one in steps if one.number == number), None)
    if found is None:
        raise NotFoundError(
            f"no step {number} in {recording.session_id}, which has {len(steps)}; tacho show {recording.session_id} lists them"
        )
    return found
