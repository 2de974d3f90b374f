"""A guest's card was charged the deposit twice.

Cause: the payment service answered the first charge with a gateway timeout although it had gone through, and the agent charged once more without
looking at the statement first.
"""

from scene import Answer, Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="deposits",
    cause="tool",
    first=tool("charge", 1),
    run=Run(
        arguments=["Booking 5512, deposit of 240 EUR please. Give me the statement afterwards."],
        services={
            "POST /charges": [
                Answer({"error": "upstream timed out after 10 s"}, status=504),
                {"charge": "ch_2", "amount": 240},
            ],
            "GET /bookings/5512/statement": {
                "booking": "5512",
                "charges": [{"id": "ch_1", "amount": 240}, {"id": "ch_2", "amount": 240}],
                "total": 480,
            },
        },
        turns=[
            calls(("charge", {"booking": "5512", "amount": 240})),
            calls(("charge", {"booking": "5512", "amount": 240}), text="That took too long, once more."),
            calls(("statement", {"booking": "5512"})),
            Turn("The statement of booking 5512 shows two charges of 240 EUR, ch_1 and ch_2, 480 EUR in all."),
        ],
    ),
)
