"""A parcel that a customer had only asked about went back to its sender.

Cause: tool_choice had been changed from "auto" to "required", so that the model had to call the only tool there is, whatever was said.
"""

from scene import Incident, Run, Turn, calls, model

ASKED = "Where is my parcel 00340-7781? It should have come on Tuesday."

INCIDENT = Incident(
    name="parcel-chat",
    cause="parameters",
    first=model(1),
    before=[
        Run(
            arguments=[ASKED],
            files={"options.json": '{"temperature": 0, "tool_choice": "auto"}'},
            turns=[Turn("I am sorry that you wait. I cannot look into the tracking from here; the link in your e-mail shows where it is.")],
        )
    ],
    run=Run(
        arguments=[ASKED],
        files={"options.json": '{"temperature": 0, "tool_choice": "required"}'},
        services={"POST /parcels/00340-7781/return": {"parcel": "00340-7781", "state": "returning"}},
        turns=[calls(("send_back", {"parcel": "00340-7781"})), Turn("Parcel 00340-7781 is on its way back to its sender.")],
    ),
)
