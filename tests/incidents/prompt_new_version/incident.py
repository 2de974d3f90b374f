"""A claim of 8,350 EUR was paid without anybody having looked at it.

Cause: since the morning version 5 of the managed prompt was in force instead of version 4. Its text is not on the record, its version is, and so is
that the same claim went to a person before.
"""

from scene import Incident, Run, Turn, model

INCIDENT = Incident(
    name="claim-sorter",
    cause="prompt",
    first=model(1),
    before=[Run(arguments=["4"], turns=[Turn("Person")])],
    run=Run(arguments=["5"], turns=[Turn("Pay")]),
)
