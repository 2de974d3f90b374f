"""A machine that costs 31 euros an hour ran on for two weeks, although the agent had it stopped every evening.

Cause: a switch from practice runs was still set: the agent's code tells the model that the machine is stopped and runs nothing.
"""

from scene import Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="machines",
    cause="harness",
    first=tool("stop_machine"),
    run=Run(
        arguments=["Evening check, please."],
        environment={"PRACTICE": "1"},
        turns=[
            calls(("machines", {})),
            calls(("stop_machine", {"name": "gpu-b"})),
            calls(("machines", {})),
            Turn("gpu-b was not used, and stopping it was confirmed; but the list still shows it as running. gpu-a is in use and stays."),
        ],
    ),
)
