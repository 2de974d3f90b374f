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
            "POST /tickets": [*[Answer({"error": "bad gateway"}, status=502)] * 4, {"ticket": "F-2005"}],
            "GET /tickets": [
                [{"ticket": f"F-200{n}", "place": "kitchen, third floor", "what": "tap drips", "sent": "plumber"} for n in range(1, 6)]
            ],
        },
        turns=[
            calls(("open_ticket", {"place": "kitchen, third floor", "what": "tap drips"})),
            calls(("open_tickets_of", {"place": "kitchen, third floor"})),
            Turn(
                "Somebody comes for the tap: ticket F-2005. Open for the kitchen on the third floor are F-2001, F-2002, F-2003, F-2004 and F-2005."
            ),
        ],
    ),
)
