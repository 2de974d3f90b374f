"""A lease ran on for another five years since its last day for notice was filed a year late.

Cause: the gateway was short of capacity and had the answer served by a smaller model than the one asked for. The last good session, on the same
contract, got what it asked for.
"""

from scene import Incident, Run, Turn, calls, model

CONTRACT = "Lease of business premises. Begins 1 October 2021, runs five years, and goes on for five more unless notice is given twelve months before its end.\n"

INCIDENT = Incident(
    name="contract-register",
    cause="model",
    first=model(1),
    before=[
        Run(
            files={"contract.txt": CONTRACT},
            turns=[
                calls(("file_contract", {"kind": "lease", "terminate_by": "2025-09-30"}), model="gpt-legal-large-2026-03-01"),
                Turn("A lease, to be terminated by 30 September 2025. It is filed.", model="gpt-legal-large-2026-03-01"),
            ],
        )
    ],
    run=Run(
        files={"contract.txt": CONTRACT},
        turns=[
            calls(("file_contract", {"kind": "lease", "terminate_by": "2026-09-30"}), model="gpt-mini-2025-11-12"),
            Turn("A lease, to be terminated by 30 September 2026. It is filed.", model="gpt-mini-2025-11-12"),
        ],
    ),
)
