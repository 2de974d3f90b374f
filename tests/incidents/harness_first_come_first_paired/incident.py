"""The shipment went with the dearest carrier.

Cause: the agent's code takes answers as they come in and gives the first to the first question; the carrier that was asked first answers last.
"""

from scene import Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="freight",
    cause="harness",
    # As declared calls end, the quick one comes first: it is the one that was given out as the answer for the other.
    first=tool("price", 1),
    run=Run(
        arguments=["One pallet from Bozen to Kiel. Alpine and Coastline serve both."],
        services={
            "GET /alpine/price": [*[{"calculating": True}] * 6, {"eur": 940}],
            "GET /coastline/price": {"eur": 310},
            "POST /alpine/bookings": {"booking": "AL-5", "eur": 940},
        },
        turns=[
            calls(("price", {"carrier": "alpine"}), ("price", {"carrier": "coastline"})),
            calls(("book", {"carrier": "alpine"}), text="Alpine asks 310, Coastline 940."),
            Turn(
                "The pallet goes with Alpine, booking AL-5. The booking says 940 EUR, not the 310 of the offer; please have a look at that."
            ),
        ],
    ),
)
