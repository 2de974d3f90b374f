"""On Monday morning nobody could get into the building.

Cause: the upload of the staff list had failed and left an empty file, which was given to the agent as the list of today.
"""

from scene import Incident, Run, Turn, calls, model

INCIDENT = Incident(
    name="badges",
    cause="input",
    first=model(1),
    run=Run(
        files={"upload/staff.csv": ""},
        turns=[
            calls(("badges", {})),
            calls(*(("revoke", {"person": person}) for person in ("ada", "bela", "carl"))),
            Turn("The door system is in step with the list: ada, bela and carl are not on it and have lost their badges."),
        ],
    ),
)
