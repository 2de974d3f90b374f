"""A scratched bumper was paid with 18,500 euros instead of 185.

Cause: a new release of the tools' package describes the amount as one in cents, while the tool still pays euros. In the session before, the same
damage was settled under the old description.
"""

import json

from scene import Incident, Run, Turn, calls, model

ASKED = "Damage D-3304, scratched bumper, our workshop says 185 EUR, customer 7102. Please pay it."


def described(amount: str) -> str:
    properties = {"customer": {"type": "string"}, "amount": {"type": "number", "description": amount}}
    return json.dumps([{"name": "pay_out", "description": "Pay a customer.", "input_schema": {"type": "object", "properties": properties}}])


INCIDENT = Incident(
    name="damage-desk",
    cause="tool",
    first=model(1),
    before=[
        Run(
            arguments=[ASKED],
            files={"tools.json": described("Amount in EUR.")},
            turns=[calls(("pay_out", {"customer": "7102", "amount": 185})), Turn("185 EUR are on their way to customer 7102.")],
        )
    ],
    run=Run(
        arguments=[ASKED],
        files={"tools.json": described("Amount in minor units.")},
        turns=[calls(("pay_out", {"customer": "7102", "amount": 18500})), Turn("18500.00 EUR were paid to customer 7102.")],
    ),
)
