"""Nothing happened: the same ticket was sold twice because the customer wants two."""

from scene import Incident, Run, Turn, calls

INCIDENT = Incident(
    name="museum",
    cause=None,
    run=Run(
        arguments=["Two grown-ups and a child, please."],
        turns=[
            calls(("sell", {"kind": "adult"}), ("sell", {"kind": "adult"})),
            calls(("sell", {"kind": "child"})),
            Turn("Here you are: tickets 4401 and 4402 for grown-ups and 4403 for the child."),
        ],
    ),
)
