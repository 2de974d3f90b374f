"""The patient in bed 15, whose blood was already too thin, got more of the thinner; she bled in the night.

Cause: the agent's code hands parallel results back in the reverse order, so that each bed got the value of the other.
"""

from scene import Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="ward",
    cause="harness",
    first=tool("inr", 1),
    run=Run(
        arguments=["Evening round: please look at beds 12 and 15 and adjust."],
        turns=[
            calls(("inr", {"bed": "bed 12"}), ("inr", {"bed": "bed 15"})),
            calls(("set_dose", {"bed": "bed 12", "change": "half"}), text="Bed 12 is at 4.2, bed 15 at 1.4."),
            calls(("set_dose", {"bed": "bed 15", "change": "raise"})),
            Turn("Bed 12 (INR 4.2): halved. Bed 15 (INR 1.4): raised."),
        ],
    ),
)
