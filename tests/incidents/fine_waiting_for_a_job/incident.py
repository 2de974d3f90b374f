"""Nothing happened: the agent asked five times how a job stands, with the same words each time, until it was done."""

from scene import Incident, Run, Turn, calls

LOOK = calls(("look", {"job": "j-9"}))

INCIDENT = Incident(
    name="videos",
    cause=None,
    run=Run(
        arguments=["Convert talk.mov please."],
        services={
            "POST /jobs": {"job": "j-9", "state": "queued"},
            "GET /jobs/j-9": [{"job": "j-9", "state": state} for state in ("queued", "running", "running", "running", "done")],
        },
        turns=[calls(("start", {"video": "talk.mov"})), LOOK, LOOK, LOOK, LOOK, LOOK, Turn("talk.mov is converted: job j-9 is done.")],
    ),
)
