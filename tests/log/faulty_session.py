"""Run by tests under strace: a session on a device that fails. Says which lines were acknowledged.

python faulty_session.py STORE COUNT
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from log_helpers import SESSION, draft, new_store

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import StoreError
from tachograph.log.lasting import LastingWriter
from tachograph.log.writer import SessionWriter
from tachograph.wiring import SystemClock


def main(folder: str, count: int) -> None:
    opened = new_store(Path(folder))
    data_key = opened.new_data_key(SESSION, os.urandom)
    first = SessionWriter(opened, SESSION, data_key, clock=SystemClock(), entropy=os.urandom)
    writer = LastingWriter(first, opened, data_key, clock=SystemClock(), entropy=os.urandom)
    given, acknowledged, failures = [], 0, []
    for number in range(count):
        given.append(writer.append(draft(number)).id)
        try:
            writer.seal() if number % 4 == 3 else writer.commit()
            acknowledged = len(given)
        except StoreError as error:
            failures.append(str(error))
            time.sleep(0.02)
    given.append(writer.append(Draft(event=events.SessionEnd())).id)
    for _ in range(100):
        try:
            writer.again()
            writer.seal()
            break
        except StoreError as error:
            failures.append(str(error))
            time.sleep(0.02)
    closing = None
    try:
        writer.close()
    except StoreError as error:
        closing = str(error)
    print(json.dumps({"given": given, "acknowledged": acknowledged, "failures": failures, "failed": writer.failure, "closing": closing}))


main(sys.argv[1], int(sys.argv[2]))
