"""A dealer was promised sixty heat pumps for Monday; there were four.

Cause: the stock service answered from a cache that was nine days old. The order's own status contradicted it a moment later.
"""

from scene import Incident, Run, Turn, calls, tool

INCIDENT = Incident(
    name="dealer-orders",
    cause="tool",
    first=tool("stock"),
    run=Run(
        arguments=["Dealer Brandt here. I need 60 of WP-9 by Monday, can you do that? If so, I take them. And tell me how it stands then."],
        services={
            "GET /stock/WP-9": {"article": "WP-9", "available": 72, "as_of": "2026-05-11T06:00:00Z", "source": "cache"},
            "POST /orders": {"order": "A-77120", "state": "confirmed", "at": "2026-05-20T09:14:03Z"},
            "GET /orders/A-77120": {
                "order": "A-77120",
                "at": "2026-05-20T09:14:05Z",
                "wanted": 60,
                "available": 4,
                "missing": 56,
                "state": "short",
            },
        },
        turns=[
            calls(("stock", {"article": "WP-9"})),
            calls(("confirm_order", {"dealer": "Brandt", "article": "WP-9", "quantity": 60, "delivery": "Monday"})),
            calls(("order_status", {"order": "A-77120"})),
            Turn("I confirmed your order A-77120 for Monday, but I now see that only 4 of the 60 are there; 56 are missing. I am sorry."),
        ],
    ),
)
