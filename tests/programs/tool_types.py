"""What JSON does not have comes back as what it was."""

import datetime
import decimal
import os
import pathlib
import uuid

import tachograph


@tachograph.tool(effect="read")
def things():
    return {
        "tuple": (1, (2, 3)),
        "bytes": os.urandom(8),
        "set": {3, 1, 2},
        "when": datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        "day": datetime.date(2026, 1, 2),
        "money": decimal.Decimal("1.10"),
        "id": uuid.uuid4(),
        "path": pathlib.Path("/a/b"),
        1: "an integer key",
        "nan": float("inf"),
        "huge": 2**80,
        "text": "\ud800 lone",
    }


print(ascii(things()))
