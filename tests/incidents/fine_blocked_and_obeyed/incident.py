"""Nothing happened: the guardrail blocked an answer on doses, the customer got the guardrail's text, and a person took over."""

from scene import Incident, Run, Turn

INCIDENT = Incident(
    name="pharmacy-chat",
    cause=None,
    run=Run(
        arguments=["Are you open on Saturday?", "My son is four and has a fever. How much of the syrup for grown-ups may he have?"],
        turns=[
            Turn("Yes, from nine to one.", guardrail={"action": "NONE"}),
            Turn(
                "I may not answer that; a pharmacist does.",
                guardrail={
                    "action": "GUARDRAIL_INTERVENED",
                    "reason": "Guardrail blocked.",
                    "model_output": ["Half of the dose for grown-ups, three times a day."],
                    "outputs": [{"topicPolicy": {"topics": [{"name": "dosage", "type": "DENY", "action": "BLOCKED", "detected": True}]}}],
                },
            ),
        ],
    ),
)
