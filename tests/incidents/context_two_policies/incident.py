"""Fourteen days of leave were carried over that had been forfeited; payroll had to take them back.

Cause: the handbook's search gave two passages that contradict each other, the old rule and the one that replaced it, and the agent took the old one.
"""

from scene import Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="leave-desk",
    cause="context",
    first=tool("search_handbook"),
    run=Run(
        arguments=["I am Tomasz Wilk and have 14 days left from 2025. May I take them all in spring? If so, book them."],
        turns=[
            calls(("search_handbook", {"query": "leave carried over into the next year"})),
            calls(("book_leave", {"person": "Tomasz Wilk", "days": 14, "from_year": 2025})),
            Turn("Yes: leave of last year may be taken until 30 June, all of it. I have booked your 14 days."),
        ],
    ),
)
