"""Nothing happened: model and temperature are others than in the last session, and the mail went into the same folder, as it should."""

from scene import Incident, Run, Turn, calls

ASKED = "Dear school, Emil has a cold and stays at home today and tomorrow. Kind regards, Eva Brandl"
MOVE = calls(("move", {"folder": "sick notes"}))

INCIDENT = Incident(
    name="school-mail",
    cause=None,
    before=[
        Run(
            arguments=[ASKED],
            files={"settings.json": '{"model": "gpt-sort-1", "temperature": 0.7}'},
            turns=[MOVE, Turn("It is a sick note.")],
        )
    ],
    run=Run(
        arguments=[ASKED],
        files={"settings.json": '{"model": "gpt-sort-2", "temperature": 0}'},
        turns=[MOVE, Turn("Moved to the sick notes.")],
    ),
)
