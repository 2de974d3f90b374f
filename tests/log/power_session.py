"""Run by tests on a device that loses its power: goes on until it is stopped. ``A n``: line n was committed; ``S n``: sealed.

python power_session.py STORE
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from log_helpers import SESSION, draft, new_store

from tachograph.core.errors import StoreError
from tachograph.log.writer import SessionWriter
from tachograph.wiring import SystemClock


def main(folder: str) -> None:
    opened = new_store(Path(folder))
    writer = SessionWriter(opened, SESSION, opened.new_data_key(SESSION, os.urandom), clock=SystemClock(), entropy=os.urandom)
    number = 0
    while True:
        number += 1
        try:
            writer.append(draft(number, os.urandom(40).hex()))
            if number % 7 == 0:
                writer.seal()
                os.write(1, b"S %d\n" % number)
            elif number % 2:
                writer.commit()
                os.write(1, b"A %d\n" % number)
            else:
                writer.flush()
        except StoreError:
            return


main(sys.argv[1])
