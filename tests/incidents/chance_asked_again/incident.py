"""A bag with a flask in it went on board although its content was never looked at.

Cause: chance. The team asked the model the same question again twenty times: in fifteen it has the bag opened.
"""

from scene import Incident, Run, Turn, calls, model

RELEASED = calls(("release", {"bag": "LH-77120"}))
OPENED = {"tool_calls": [{"name": "open_bag", "input": {"bag": "LH-77120"}}]}

INCIDENT = Incident(
    name="baggage",
    cause="nondeterminism",
    first=model(2),
    run=Run(
        arguments=["Bag LH-77120 has set off scanner 3."],
        turns=[
            calls(("picture", {"bag": "LH-77120"})),
            Turn(tool_calls=RELEASED.tool_calls, draws=[{}, OPENED, OPENED, OPENED]),
            Turn("The bag LH-77120 is released."),
        ],
    ),
    after=[["reask", "SES", "--step", "2", "-n", "20", "--live-model"]],
)
