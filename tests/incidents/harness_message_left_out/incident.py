"""A guest with an allergy was served the menu with satay sauce.

Cause: the customer's second message, with the allergy, never reached the model: the agent's code took it for a repetition of the first since it
begins with the same words.
"""

from scene import Incident, Run, Turn, calls, model

INCIDENT = Incident(
    name="catering-chat",
    cause="harness",
    # The first message is answered by the first call. What was said second is missing from the second call on.
    first=model(2),
    run=Run(
        arguments=[
            "For the party on Friday we would like the Asian menu, twelve times.",
            "For the party on Friday, one more thing: Mr Adler must not get peanuts, he has an allergy. Give him the menu without.",
            "That is all, please order.",
        ],
        turns=[
            Turn("The Asian menu, twelve times, for Friday. Is there anything else?"),
            calls(("place_order", {"menus": 12, "menu": "Asian", "remarks": ""})),
            Turn("It is ordered: twelve Asian menus for Friday, order 918."),
        ],
    ),
)
