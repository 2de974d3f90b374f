"""What the tables of the catalogue hold. Pure: no file is read here, and no library of tables is needed.

Each column has a type that Parquet, Arrow and every engine that reads them know:

    text        UTF-8
    whole       64-bit integer
    number      64-bit float
    yes         boolean
    time        milliseconds since 1970 UTC
    texts       list of text
    counts      map of text to 64-bit integer
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Column(NamedTuple):
    """``about``: what it holds, in a sentence of the reference."""

    name: str
    kind: str
    about: str


SESSIONS = (
    Column("session_id", "text", "the session; the table is sorted by it"),
    Column("started", "time", "of its first line"),
    Column("last", "time", "of its last line so far"),
    Column(
        "status",
        "text",
        "`ok`, `error`, `killed`, `lost`, `stopped`, `imported`; `open` where it has no end; `damaged` where it cannot be read on",
    ),
    Column("problem", "text", "why it is `damaged`"),
    Column("name", "text", "as it was recorded"),
    Column("agent", "text", "the program that it runs"),
    Column("source", "text", "`record`, or what it was imported from"),
    Column("repo_url", "text", "the remote of the repository in which it ran"),
    Column("repository", "text", "the same as `host/owner/repo`"),
    Column("repo_sha", "text", "the commit at its start"),
    Column("branch", "text", "the branch at its start"),
    Column("dirty", "yes", "whether files differed from that commit"),
    Column("shas", "texts", "all commits that it names: at its start, and those it saw or made"),
    Column("given_links", "texts", "`KIND=REF`: what it was linked to when it was recorded; what is in force is in `links`"),
    Column("parent_session_id", "text", "the session whose subagent it is"),
    Column("forked_from", "text", "of a what-if copy, as JSON: the session, the step, and what was changed there"),
    Column("recorder", "text", "the version that recorded it"),
    Column("policy", "text", "the fingerprint of the redaction policy"),
    Column("exit_code", "whole", "of the command"),
    Column("duration_ms", "number", "as its end says"),
    Column("calls", "counts", "calls by kind, as its end says"),
    Column("models", "counts", "model calls by model: the one that answered, else the one that was asked for"),
    Column("prompts", "texts", "`id@version` of its prompts"),
    Column("guardrails", "texts", "`id@version` of its guardrails"),
    Column("actions", "counts", "verdicts of guardrails by action"),
    Column("tools", "counts", "tool calls by name"),
    Column("effects", "counts", "tool calls by declared effect"),
    Column("input_tokens", "whole", "sum over its model calls"),
    Column("output_tokens", "whole", "sum over its model calls"),
    Column("cache_read_tokens", "whole", "sum over its model calls"),
    Column("cache_write_tokens", "whole", "sum over its model calls"),
    Column("usage", "text", 'the same by provider and model, as JSON: `[{"provider","model_id","served_model_id","input_tokens",…}…]`'),
    Column("redactions", "whole", "values that were masked"),
    Column("events", "whole", "lines that were read"),
    Column("bytes", "whole", "size of all its files when they were read: what an update compares"),
)

EVENTS = (
    Column("session_id", "text", "the session; the table is sorted by it and `seq`"),
    Column("seq", "whole", "the line's number in the session"),
    Column("ts", "time", "of the line"),
    Column("type", "text", "the event's type, [as in the log](events.md)"),
    Column("id", "text", "the event"),
    Column("parent_id", "text", "the call around it"),
    Column("lane", "text", "thread, task or process"),
    Column("outcome", "text", "how a call ended"),
    Column("duration_ms", "number", "of a call"),
    Column("site", "text", "where in the agent's code a call was made"),
    Column("name", "text", "of a tool, a program, an agent's session"),
    Column("kind", "text", "of a `started` or `ambient`"),
    Column("source", "text", "of a tool call: `declared` or `wire`; of a guardrail's verdict: the operation"),
    Column("effect", "text", "of a tool: `read`, `write` or `external`"),
    Column("call_id", "text", "the call that it belongs to"),
    Column("asked_by", "text", "of a tool call: the model call that asked for it"),
    Column("told_to", "text", "of a tool call: the model call that was given the result"),
    Column("declared_id", "text", "of a tool call seen on the wire: the declared event of the same run"),
    Column("provider", "text", "of a model call"),
    Column("operation", "text", "of a model call"),
    Column("model_id", "text", "the model that was asked for"),
    Column("served_model_id", "text", "the model that answered"),
    Column("params", "text", "sampling parameters, as JSON"),
    Column("prompt_id", "text", "of a managed prompt"),
    Column("prompt_version", "text", "of a managed prompt"),
    Column("guardrail_id", "text", "of a model call or of a verdict"),
    Column("guardrail_version", "text", "of a model call or of a verdict"),
    Column("action", "text", "of a guardrail, of `git`, of a process"),
    Column("finish_reason", "text", "of a model call"),
    Column("status", "text", "of an HTTP exchange, a model call or a session's end"),
    Column("input_tokens", "whole", "as the provider counted them"),
    Column("output_tokens", "whole", "as the provider counted them"),
    Column("cache_read_tokens", "whole", "as the provider counted them"),
    Column("cache_write_tokens", "whole", "as the provider counted them"),
    Column("sha", "text", "the commit of a model call, of `git`, of the start"),
    Column("branch", "text", "of `git`, of the start"),
    Column("method", "text", "of an HTTP exchange"),
    Column("host", "text", "of an HTTP exchange"),
    Column("exit_code", "whole", "of a process, of the session"),
    Column("decision", "text", "of an approval"),
    Column("approver", "text", "of an approval"),
    Column("reason", "text", "of a gap"),
    Column("redactions", "whole", "values that were masked in it"),
)

CONTENTS = (
    Column("id", "text", "the keyed hash that names the content, 64 hexadecimal digits; each file is sorted by it"),
    Column("session_id", "text", "the session"),
    Column("seq", "whole", "the line that refers to it"),
    Column("type", "text", "of that event"),
    Column(
        "field",
        "text",
        "the event's field, without `_uri`: `prompt_redacted`, `output`, `input`, `content`, `request`…; not `wire`, whose times make each its own",
    ),
)

LINKS = (
    Column("session_id", "text", "the session"),
    Column("kind", "text", "`commit`, `pr`, `deploy`, `incident`, `ci`; `hold` and `shredded` besides"),
    Column("ref", "text", "what it is linked to, as the ledger keeps it; the matter of a hold"),
    Column("since", "time", "of the ledger's entry"),
    Column("user", "text", "who entered it"),
    Column("host", "text", "where"),
    Column("line", "whole", "the ledger's line"),
)

TABLES: dict[str, tuple[Column, ...]] = {"sessions": SESSIONS, "events": EVENTS, "contents": CONTENTS, "links": LINKS}

#: Of the tables' columns. A catalogue of others is made anew.
SCHEMA = hashlib.sha256(repr([(name, [column[:2] for column in found]) for name, found in TABLES.items()]).encode()).hexdigest()[:16]
