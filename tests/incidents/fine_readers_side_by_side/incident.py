"""Nothing happened: two readers in threads of their own found different things in different files, and the report holds both."""

import json

from scene import Incident, Run, Turn, calls

INCIDENT = Incident(
    name="shift-plan",
    cause=None,
    run=Run(
        files={"plan-first.json": json.dumps({"Aydin": 5, "Berger": 6}), "plan-second.json": json.dumps({"Cerny": 4, "Dvorak": 5})},
        turns=[
            calls(("read_plan", {"half": "first"}), when="Check the first half"),
            calls(("read_plan", {"half": "second"}), when="Check the second half"),
            Turn("Berger works six days.", when='"Berger": 6'),
            Turn("All is well.", when='"Cerny": 4'),
            calls(
                ("write_report", {"text": "First half: Berger works six days, one too many. Second half: all is well."}),
                when="Write a report",
            ),
            Turn("The report is written: Berger has a day too many, everything else is well.", when="written"),
        ],
    ),
)
