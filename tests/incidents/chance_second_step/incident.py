"""A hole through which customers' files could be read was closed as harmless; a stranger found it in June.

Cause: chance. The same finding, read in the same way by the same agent, had been raised in a session before; only the model's second answer differs.
"""

from scene import Incident, Run, Turn, calls, model

READ = calls(("read_finding", {"finding": "V-310"}))

INCIDENT = Incident(
    name="triage",
    cause="nondeterminism",
    first=model(2),
    before=[
        Run(
            arguments=["V-310 is new."],
            turns=[READ, calls(("raise_finding", {"finding": "V-310"})), Turn("V-310 is raised: the path comes from the user.")],
        )
    ],
    run=Run(
        arguments=["V-310 is new."],
        turns=[READ, calls(("close_finding", {"finding": "V-310"})), Turn("V-310 is closed: it is behind the login.")],
    ),
)
