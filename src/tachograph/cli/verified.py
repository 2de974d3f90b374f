"""The session that a verb runs again: read through the verifier, or refused."""

from __future__ import annotations

import argparse

from tachograph import wiring
from tachograph.core.errors import TamperedError
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve
from tachograph.log.verdict import verdict


def recording(options: argparse.Namespace) -> tuple[wiring.Settings, OpenStore, Recording, bool]:
    """What ``options.session`` names, and whether its record verifies. Raises ``TamperedError`` for one that does not, but with
    ``--unverified``; ``KeyUnavailableError`` and the like where there is nothing to replay any more."""
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    opened.data_key(session_id)
    checked = verdict(opened.store, session_id, public=opened.trusted, opened=opened)
    if not checked.good and not options.unverified:
        first = checked.problems[0] if checked.problems else {"what": checked.verdict, "file": session_id, "offset": 0}
        raise TamperedError(
            f"the record of {session_id} is {checked.verdict}: {first['what']}, {first['file']} offset {first['offset']}; "
            "tacho verify tells all, --unverified replays it all the same"
        )
    return chosen, opened, Recording(opened, session_id, strict=checked.good), checked.good
