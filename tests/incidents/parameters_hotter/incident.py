"""Ninety crates of strawberries came where twelve are sold; most were thrown away.

Cause: for an experiment somebody had set the temperature from 0 to 1.0 and topP to 1, and left it so.
"""

from scene import Incident, Run, Turn, calls, model

INCIDENT = Incident(
    name="fresh-orders",
    cause="parameters",
    first=model(1),
    before=[
        Run(
            files={"settings.json": '{"inference": {"temperature": 0.0, "topP": 0.1, "maxTokens": 400}}'},
            turns=[calls(("order", {"article": "strawberries", "crates": 12})), Turn("Twelve crates are ordered for tomorrow.")],
        )
    ],
    run=Run(
        files={"settings.json": '{"inference": {"temperature": 1.0, "topP": 1.0, "maxTokens": 400}}'},
        turns=[
            calls(("order", {"article": "strawberries", "crates": 90})),
            Turn("Ninety crates are ordered for the fine weather of tomorrow."),
        ],
    ),
)
