"""Nothing happened: the prompt was reworded since the last session, and the agent does the same as before."""

from scene import Incident, Run, Turn, calls

ASKED = "May I keep b-3301 for longer?"
TURNS = [calls(("loan", {"book": "b-3301"})), calls(("extend", {"book": "b-3301"})), Turn("Yes: b-3301 is yours until 30 June.")]

INCIDENT = Incident(
    name="lending-desk",
    cause=None,
    before=[
        Run(
            arguments=[ASKED],
            files={"prompt.txt": "You work at the lending desk. A loan is extended if nobody has reserved the book."},
            turns=TURNS,
        )
    ],
    run=Run(
        arguments=[ASKED],
        files={
            "prompt.txt": "You work at a library's lending desk and are friendly. Extend a loan unless somebody else has reserved the book."
        },
        turns=TURNS,
    ),
)
