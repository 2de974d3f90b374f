"""A man of 75 who waited for a cardiac catheter was called in for the MRI of somebody's knee, and the woman with the knee was not.

Cause: the booking was made with the record's number of another person, copied from the waiting list instead of from the record that was looked up.
"""

from scene import Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="clinic-appointments",
    cause="tool",
    first=tool("book"),
    run=Run(
        arguments=["Lena Voss, born 12 March 1988, needs her knee in the MRI. Is Thursday at ten still free? Then please book it for her."],
        turns=[
            calls(("look_up", {"name": "Lena Voss"}), ("waiting_list", {"department": "radiology"})),
            calls(("book", {"record": "PX-40172", "slot": "Thursday 10:00"})),
            Turn("Lena Voss has her appointment for the MRI on Thursday at ten."),
        ],
    ),
)
