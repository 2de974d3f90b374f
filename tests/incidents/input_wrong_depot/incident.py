"""A trailer of vaccines stood for two hours at a depot without cooling.

Cause: the dispatcher named the wrong depot in her first message, and said so herself in the second, when the trailer was under way.
"""

from scene import Incident, Run, Turn, calls, event

INCIDENT = Incident(
    name="dispatch-chat",
    cause="input",
    first=event("message", 1),
    run=Run(
        arguments=[
            "Please send trailer KR-118 to depot D17 instead of Linz, it has to be there before nine.",
            "Oh no. I gave you the wrong one, it should have been D71, D17 has no cold store. Can you turn it around?",
        ],
        services={"POST /trailers/KR-118/route": [{"trailer": "KR-118", "eta": "08:40"}, {"trailer": "KR-118", "eta": "11:05"}]},
        turns=[
            calls(("reroute", {"trailer": "KR-118", "depot": "D17"})),
            Turn("KR-118 is on its way to D17 and will be there at 08:40."),
            calls(("reroute", {"trailer": "KR-118", "depot": "D71"})),
            Turn("KR-118 now goes to D71; with the detour it will be there at 11:05."),
        ],
    ),
)
