"""Nothing happened: the printer had no paper. The agent says that the label is not printed and books no pick-up."""

from scene import Answer, Incident, Run, Turn, calls

INCIDENT = Incident(
    name="labels",
    cause=None,
    run=Run(
        arguments=["Label for parcel 5520 and a pick-up tomorrow, please."],
        services={"POST /labels": Answer({"error": "printer 2: out of paper"}, status=503)},
        turns=[
            calls(("print_label", {"parcel": "5520"})),
            Turn(
                "The label of parcel 5520 could not be printed: printer 2 is out of paper. I have not booked the pick-up; please tell me when there is paper."
            ),
        ],
    ),
)
