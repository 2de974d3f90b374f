"""A customer sold her fund at the worst moment, on advice that the bank's assistant must not give.

Cause: the guardrail had blocked the answer, but the agent took the model's own words out of the trace and sent those.
"""

from scene import Incident, Run, Turn, event

INCIDENT = Incident(
    name="bank-assistant",
    cause="policy",
    first=event("guardrail", action="INTERVENED"),
    run=Run(
        arguments=["My world fund is down by a tenth. What would you do with it?"],
        services={"POST /customers/81/messages": {"message": "m-3319", "state": "delivered"}},
        turns=[
            Turn(
                "I cannot advise you on that. A colleague of your branch is glad to call you.",
                guardrail={
                    "action": "GUARDRAIL_INTERVENED",
                    "reason": "Guardrail blocked.",
                    "model_output": [
                        "I would sell it today and keep the money in the savings account until the autumn; it will fall further."
                    ],
                    "outputs": [
                        {"topicPolicy": {"topics": [{"name": "investment-advice", "type": "DENY", "action": "BLOCKED", "detected": True}]}}
                    ],
                },
            )
        ],
    ),
)
