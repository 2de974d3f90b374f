"""A winner of 1,250 euros was paid 1.25.

Cause: a commit of the afternoon had "simplified" how the agent's code reads amounts. The model asked for the same as in the session before.
"""

from scene import Incident, Run, Turn, calls, tool

ASKED = "Ticket 7-110-552 has won 1.250,00 EUR."
TURNS = [calls(("pay_win", {"ticket": "7-110-552", "amount": "1.250,00"})), Turn("The win of ticket 7-110-552 is paid.")]

INCIDENT = Incident(
    name="lottery",
    cause="harness",
    first=tool("pay_win"),
    repository=True,
    before=[Run(agent="agent_before.py", arguments=[ASKED], turns=TURNS)],
    run=Run(arguments=[ASKED], turns=TURNS),
)
