"""Nothing happened: the agent's code logs in with a password and works with a token. Both are masked on the record, and the model saw neither."""

from scene import Incident, Run, Turn, calls

INCIDENT = Incident(
    name="invoices",
    cause=None,
    run=Run(
        arguments=["Please send invoice 2026-311."],
        environment={"MAIL_PASSWORD": "Tz8" + "-qoLw-31" + "Vhm"},
        services={
            "POST /login": {"access_token": "gh" + "p_" + "K3vTq8Zm2WxN7bRdY5pL" + "c9HsJ4gF6aUe1oXi", "expires_in": 900},
            "POST /mails": {"mail": "m-771", "state": "sent"},
        },
        turns=[calls(("send_invoice", {"invoice": "2026-311"})), Turn("Invoice 2026-311 is sent.")],
    ),
)
