"""Five plumbers came for one dripping tap, and five bills.

Cause: the ticket system was slow to confirm and answered with 502 although it had taken the ticket; the agent's code sent it again at once, five
times, without the model having asked for it.
"""

from scene import Answer, Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="facility",
    cause="harness",
    first=tool("open_ticket", 1),
    run=Run(
        arguments=["The tap in the kitchen on the third floor drips."],
        services={
            "POST /tickets": [
                *[Answer({"error": "bad gateway"}, status=502)] * 4,
                {"ticket": "F-2005", "earlier_today": ["F-2001", "F-2002", "F-2003", "F-2004"]},
            ]
        },
        turns=[
            calls(("open_ticket", {"place": "kitchen, third floor", "what": "tap drips"})),
            Turn("Somebody comes for the tap: ticket F-2005."),
        ],
    ),
)
