"""What an agent's code may tell the recorder by itself. Each is nothing at all where nothing records."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import lanes, link, values
from .frames import pack
from .real import monotonic_ns


def note(text: str, **data: Any) -> None:
    """A remark at this point of the session."""
    _tell("note", {"subtype": "note"}, {"text_uri": {"text": text, "data": data} if data else text})


def approval(decision: str, *, approver: Optional[str] = None, scope: Optional[str] = None, shown: Any = None) -> None:
    """Someone decided (``approved``, ``refused``), having been shown ``shown``."""
    _tell("approval", {"decision": decision, "approver": approver, "scope": scope}, {"shown_uri": shown})


def guardrail(guardrail_id: str, *, version: Optional[str] = None, action: str = "NONE", detail: Any = None) -> None:
    """A guardrail of the agent's own gave its verdict."""
    _tell("guardrail", {"guardrail_id": guardrail_id, "version": version, "action": action, "source": "declared"}, {"detail_uri": detail})


def message(text: str, *, role: str = "user") -> None:
    """Something was said to the agent that no model call carries as such."""
    _tell("message", {"role": role}, {"content_uri": text})


def _tell(kind: str, fields: Dict[str, Any], contents: Dict[str, Any]) -> None:
    at = link.get()
    lane = lanes.current()
    if at is None or at.lost or lane.real:
        return
    header: Dict[str, Any] = {
        "m": "event",
        "c": 0,
        "type": kind,
        "lane": lane.path,
        "fields": fields,
        "t": monotonic_ns(),
        "contents": {k: values.encode(v)[0] for k, v in contents.items() if v is not None},
    }
    if lane.call is not None:
        header["parent"] = lane.call
    at.send(pack(header))
