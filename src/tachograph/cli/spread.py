"""For a postmortem: which other sessions of the store saw what an event shows. Only where the store has a catalogue, which makes that quick."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tachograph import wiring
from tachograph.core.errors import NotFoundError, UsageError
from tachograph.log.opening import OpenStore
from tachograph.postmortem.case import Elsewhere, Spread

from . import asking
from .ls import has_library
from .radius import done


@contextlib.contextmanager
def spread(chosen: wiring.Settings, opened: OpenStore, session_id: str) -> Iterator[Spread | None]:
    """Ask it while the catalogue is held; None where there is no catalogue."""
    from tachograph.fleet import sessions

    if not sessions.is_there(opened.store) or not has_library():
        yield None
        return
    from tachograph.fleet import radius
    from tachograph.fleet.query import asking as query_over

    with asking.up_to_date(chosen, opened) as asked, query_over(asked.catalogue, asked.copies) as query:

        def others(event_id: str) -> list[Elsewhere]:
            try:
                keys = radius.keys_of_event(query, session_id, event_id)
            except (NotFoundError, UsageError):  # it shows nothing that another session could have seen
                return []
            return [
                Elsewhere(session_id=one.session_id, name=one.name, status=one.status, did="; ".join(done(one.after)))
                for one in radius.exposed(query, keys)
                if one.session_id != session_id
            ]

        yield others
