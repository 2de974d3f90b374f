"""What the agent's code says by itself."""

import tachograph

tachograph.note("about to decide", choice=["a", "b"])
tachograph.approval("approved", approver="on-call", scope="refund", shown={"amount": 5})
tachograph.guardrail("pii", version="2", action="BLOCKED", detail={"matched": "phone"})
tachograph.message("please refund order 7")
print("said")
