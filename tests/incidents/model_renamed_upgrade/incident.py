"""Two readers complained: their comments on the budget and the junction had been hidden, although they insulted nobody.

Cause: the model in the settings was raised to its next generation over night. On the same comments its predecessor hid nothing.
"""

from scene import Incident, Run, Turn, calls, model

INCIDENT = Incident(
    name="comments",
    cause="model",
    first=model(1),
    before=[Run(files={"settings.json": '{"model": "claude-mod-3"}'}, turns=[Turn("Sharp, but within the rules: nothing to hide.")])],
    run=Run(
        files={"settings.json": '{"model": "claude-mod-4"}'},
        turns=[
            calls(("hide", {"comment": 1, "reason": "demeans the mayor"}), ("hide", {"comment": 3, "reason": "demeans the planners"})),
            Turn("I have hidden comments 1 and 3."),
        ],
    ),
)
