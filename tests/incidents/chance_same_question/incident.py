"""A midwife's fine was upheld, the local paper wrote about it.

Cause: chance. The session of a quarter of an hour before got the same text, with the same prompt, model and parameters, and dropped the fine.
"""

from scene import Incident, Run, Turn, calls, model

ASKED = "Case P-6120: I am a midwife and stood in the loading zone for forty minutes because a child came faster than planned. Sign of the practice was in the window."

INCIDENT = Incident(
    name="parking-fines",
    cause="nondeterminism",
    first=model(1),
    before=[Run(arguments=[ASKED], turns=[calls(("drop_fine", {"case": "P-6120"})), Turn("The fine is dropped.")])],
    run=Run(arguments=[ASKED], turns=[calls(("uphold_fine", {"case": "P-6120"})), Turn("The fine is upheld.")]),
)
