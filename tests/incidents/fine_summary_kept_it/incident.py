"""Nothing happened: the conversation was summed up, the chat about the weather fell out, and what matters (ground floor, 120 EUR) was kept and obeyed."""

from scene import Incident, Run, Turn, calls

INCIDENT = Incident(
    name="journeys",
    cause=None,
    run=Run(
        arguments=[
            "I would like to go to Trieste in May, three nights. I cannot climb stairs, so the room has to be on the ground floor, 120 EUR a night at most.",
            "Is the weather nice there in May?",
            "And can one already swim?",
            "Fine. Then take the better one of the hotels that fit.",
        ],
        turns=[
            Turn("Trieste in May for three nights, ground floor, up to 120 EUR. I look for hotels.", when="go to Trieste"),
            Turn("Yes, 21 degrees on most days, with some wind.", when="weather nice"),
            Turn("The brave do; the sea has 18 degrees.", when="already swim"),
            Turn(
                "Trieste, May, three nights. No stairs: the room has to be on the ground floor. At most 120 EUR a night. Hotels are being looked for.",
                when="Sum up, keep",
            ),
            calls(("book", {"hotel": "Alle Rive", "nights": 3, "room": "ground floor, 112 EUR"}), when="Then take the better one"),
            Turn("I have booked the Alle Rive for three nights: ground floor, 112 EUR a night, number 51-77.", when="confirmed, number"),
        ],
    ),
)
