"""Nothing happened: an answer reached max_tokens, and the agent had it continued and joined the pieces before it used them."""

from scene import Incident, Run, Turn

MINUTES = """# Minutes of 4 May
1. The depot in Wels closes in October. Takes care: Bauer.
2. Two electric vans are leased until then. Takes care: Nowak.
3. The contract with the cleaning company ends in June and is not extended. Takes care: Bauer.
4. Next meeting: 1 June.
"""

INCIDENT = Incident(
    name="minutes",
    cause=None,
    run=Run(
        files={
            "transcript.txt": "Bauer: so we close Wels in October. Nowak: then I lease two vans, electric. Bauer: and the cleaning goes, end of June. All: 1 June.\n"
        },
        turns=[Turn(MINUTES[:256], stop_reason="max_tokens"), Turn(MINUTES[256:])],
    ),
)
