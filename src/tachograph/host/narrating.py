"""A model is asked for a narrative: the one of the session's last step, by the way that this step went, with the user's own credentials.

What it is told is redacted already, since it comes from the record; what it answers is masked before anybody sees it.
"""

from __future__ import annotations

import os
from typing import Any

from tachograph.core.errors import ReplayError, UsageError
from tachograph.format import canonical
from tachograph.log.reader import Recording
from tachograph.redact.engine import Redactor
from tachograph.replay import edits, tape
from tachograph.replay.tape import TapeCall

from . import answering, patterns, replay
from .editing import editable
from .live import Live

#: Tokens of an answer at most.
TOKENS = 2_000


def narrate(recording: Recording, event_id: str, instructions: str, told: str, live: Live) -> tuple[str, str]:
    """(words, model). ``event_id``: of the model call whose endpoint and model are asked. Raises ``UsageError`` and ``ReplayError`` where nobody can be
    asked, or nobody answers."""
    read = tape.load(recording)
    call = next((call for call in read.calls if call.event.id == event_id), None)
    if call is None:
        raise UsageError(f"the call {event_id} was not recorded on the wire, so nobody can be asked the same way; leave --narrative out")
    policy, _ = replay.recorded_policy(read)
    redactor = Redactor(policy, key=recording.opened.fingerprint_key, learns=True)
    patterns.load(redactor.index, patterns.folder(os.environ), recording.opened.fingerprint_key)
    live.teach(redactor)
    request = _request(call, instructions, told)
    sent = answering.question(request, canonical.dumps_ordered(request["body"]))
    endpoint = live.check(sent)
    pieces: list[tuple[dict[str, Any], bytes]] = []
    live.answer(sent, lambda header, data: pieces.append((header, data)))
    head: dict[str, Any] = next((header["head"] for header, _ in pieces if header["m"] == "head"), {})
    error = pieces[-1][0].get("error") if pieces else None
    if error is not None or not head:
        raise ReplayError(f"no narrative, {redactor.text(str((error or {}).get('message') or endpoint))}; leave --narrative out")
    if int(head.get("status") or 0) >= 400:
        raise ReplayError(f"no narrative, {endpoint} answered {head.get('status')}; check the credentials, or leave --narrative out")
    answer, _ = answering.answer_of(request, head, [data for header, data in pieces if header["m"] == "chunk"], whole=True)
    if answer.failed is not None or not answer.text.strip():
        raise ReplayError(f"no narrative, {endpoint} answered without words; leave --narrative out")
    return redactor.text(answer.text), str(edits.model(editable(request)) or "a model without a name")


def _request(call: TapeCall, instructions: str, told: str) -> dict[str, Any]:
    """The recorded request with another question in it: no tools, no history, no stream."""
    seen = editable(call.request)
    model = edits.model(seen)
    path = str(call.request["url"]).partition("?")[0]
    headers = [header for header in call.request.get("headers") or [] if str(header[0]).lower() != "accept"]
    if seen.provider == "anthropic":
        body: dict[str, Any] = {
            "model": model, "max_tokens": TOKENS, "system": instructions, "messages": [{"role": "user", "content": told}],
        }  # fmt: skip
    elif seen.provider == "openai" and path.endswith("/responses"):
        body = {"model": model, "max_output_tokens": TOKENS, "instructions": instructions, "input": told}
    elif seen.provider == "openai":
        body = {
            "model": model, "max_completion_tokens": TOKENS,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": told}],
        }  # fmt: skip
    elif seen.provider == "bedrock" and path.endswith(("/converse", "/converse-stream")):
        body = {
            "system": [{"text": instructions}], "messages": [{"role": "user", "content": [{"text": told}]}],
            "inferenceConfig": {"maxTokens": TOKENS},
        }  # fmt: skip
    else:
        raise UsageError(f"no narrative can be asked for by {seen.provider}'s {seen.operation}; leave --narrative out")
    url = str(call.request["url"]).replace("/converse-stream", "/converse")
    return {**call.request, "url": url, "headers": headers, "body": body}
