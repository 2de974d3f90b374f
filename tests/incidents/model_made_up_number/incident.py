"""Customs held a container for nine days: it had been declared under a tariff number of cut flowers.

Cause: the number is nowhere in what the agent was given; the papers of the shipment name another one. The model made it up.
"""

from scene import Incident, Run, Turn, calls, model

INCIDENT = Incident(
    name="customs-desk",
    cause="model",
    first=model(2),
    run=Run(
        arguments=["Please declare shipment HH-2207."],
        services={
            "GET /shipments/HH-2207": {
                "shipment": "HH-2207",
                "goods": "hydraulic pumps, 40 pieces",
                "papers": {"invoice": 61250.0, "currency": "EUR", "origin": "KR", "tariff": "84136031"},
            },
            "POST /declarations": {"mrn": "26DE8851", "state": "accepted for examination"},
        },
        turns=[
            calls(("shipment", {"number": "HH-2207"})),
            calls(("declare", {"shipment": "HH-2207", "tariff": "06031970", "value": 61250.0, "origin": "KR"})),
            Turn("HH-2207 is declared, 61,250 EUR, origin Korea; customs has accepted it for examination."),
        ],
    ),
)
