"""Nothing happened: the model's provider said "slow down" three times, the agent waited, asked the same again, and all went well."""

from scene import Incident, Run, Turn, calls

INCIDENT = Incident(
    name="rebooking",
    cause=None,
    run=Run(
        arguments=["RJ 63 is cancelled. Ticket 8812-4 wants to take RJ 65."],
        turns=[
            calls(("rebook", {"ticket": "8812-4", "train": "RJ 65"}), status=[429, 529], retry_after_ms=20),
            Turn("Ticket 8812-4 is rebooked on RJ 65.", status=429, retry_after_ms=20),
        ],
    ),
)
