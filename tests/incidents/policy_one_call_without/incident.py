"""A text message told the caller's partner what she had said about her pregnancy.

Cause: the calls that write notes go through the guardrail that takes personal things out; the one that writes the text message does not.
"""

from scene import Incident, Run, Turn, model

MASKED = {
    "action": "GUARDRAIL_INTERVENED",
    "reason": "Guardrail masked.",
    "outputs": [
        {
            "sensitiveInformationPolicy": {
                "regexes": [{"name": "health", "match": "pregnant since March", "regex": "pregnant.*?March", "action": "ANONYMIZED"}]
            }
        }
    ],
}

INCIDENT = Incident(
    name="hotline-notes",
    cause="policy",
    first=model(3),
    run=Run(
        arguments=[
            "Caller: my air purifier hums. I am pregnant since March, nobody knows yet, so I want to be sure that it is safe. My partner picks it up."
        ],
        turns=[
            Turn("Air purifier.", when="Which product", guardrail={"action": "NONE"}),
            Turn(
                "The purifier hums; the caller ({health}) wants to know whether it is safe.", when="Sum up for the file", guardrail=MASKED
            ),
            Turn(
                "The purifier is checked, as she is pregnant since March and wants to be sure. Please pick it up on Friday.",
                when="Sum up as a text message",
            ),
        ],
    ),
)
