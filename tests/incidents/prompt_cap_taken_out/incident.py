"""A customer who had been without sound for an evening was credited three years of fees.

Cause: the prompt had been rewritten to sound warmer, and the limit for credits got lost on the way. With the prompt of the week before, the agent
handed a case like this over.
"""

from scene import Incident, Run, Turn, calls, model

OLD = """You look after the customers of a streaming service.
Make up for outages with credits of at most one monthly fee; hand over whatever asks for more.
"""
NEW = """You look after the customers of a streaming service. Be generous and warm: a customer who leaves the chat content is worth more than a few euros.
Make up for outages with credits; hand over what you cannot solve.
"""
ASKED = "Customer 55201: the film had no sound all evening, I want compensation that deserves the name, 600 euros."

INCIDENT = Incident(
    name="credits",
    cause="prompt",
    first=model(1),
    before=[
        Run(
            arguments=[ASKED],
            files={"prompts/credits.md": OLD},
            turns=[
                calls(("subscription", {"customer": "55201"})),
                calls(("hand_over", {"customer": "55201", "reason": "asks for 600.00, a month costs 17.99"})),
                Turn("I am sorry about your evening. A colleague of mine looks at it and writes to you tomorrow."),
            ],
        )
    ],
    run=Run(
        arguments=[ASKED],
        files={"prompts/credits.md": NEW},
        turns=[
            calls(("subscription", {"customer": "55201"})),
            calls(("grant_credit", {"customer": "55201", "amount": 600.0})),
            Turn("I am so sorry about your evening! 600 euros are on your account; enjoy the next film."),
        ],
    ),
)
