"""The best essay of the course got the worst mark, and marks are final.

Cause: from the second answer on the provider had a small model answer in place of the one that was asked for.
"""

from scene import Incident, Run, Turn, calls, model

LARGE, SMALL = "gpt-grader-xl-2026-02", "gpt-tiny-2024-07"

INCIDENT = Incident(
    name="essays",
    cause="model",
    first=model(2),
    run=Run(
        services={"POST /marks": {"entered": True, "final": True}},
        turns=[
            calls(("read_essay", {"essay": "e-1"}), ("read_essay", {"essay": "e-2"}), ("read_essay", {"essay": "e-3"}), model=LARGE),
            calls(
                ("enter_mark", {"essay": "e-1", "mark": 3}),
                ("enter_mark", {"essay": "e-2", "mark": 5}),
                ("enter_mark", {"essay": "e-3", "mark": 4}),
                model=SMALL,
            ),
            Turn("The marks are entered: e-1 is a 3, e-2 a 5, e-3 a 4.", model=SMALL),
        ],
    ),
)
