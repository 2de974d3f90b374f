"""Nobody was called when room 2 thawed; 900 kg of fish were thrown away.

Cause: the setting with the contact was missing at this site, so the system prompt went out with the name of the field in place of a name, and the
agent called that.
"""

from scene import Incident, Run, Turn, calls, model

INCIDENT = Incident(
    name="cold-chain",
    cause="prompt",
    first=model(1),
    run=Run(
        arguments=["Alarm 02:14, door contact of room 2."],
        environment={"SITE": "Bremerhaven quay 3"},
        turns=[
            calls(("temperatures", {})),
            calls(("call_phone", {"whom": "{contact}", "text": "Room 2 in Bremerhaven is at 11.6 degrees and gets warmer."})),
            Turn("Room 2 is at 11.6 degrees. I called, but nobody answered."),
        ],
    ),
)
