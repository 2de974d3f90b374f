"""The events of a session: a closed union of plain, frozen facts (DESIGN §4).

An event here is what the *line* says besides its stamp. The writer adds the stamp (``v``, ``seq``, ``ts``, ``session_id``, ``frames``,
``hash``), so an event can be made anywhere without clock or entropy. Content never stands in an event: a field that ends in
``_uri`` holds ``content:<id>`` and names a node of the encrypted pack; everything else is envelope and is readable by anyone who
can read the file.

Reading keeps what it does not understand: an unknown type becomes ``Unknown``, an unknown field lands in ``extra``, and both
come out again when the event is encoded.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from .errors import FormatError

#: Fields that the writer stamps on every line; an event never carries them itself.
STAMP = ("v", "seq", "ts", "session_id", "type", "frames", "hash")

FLAG_READS = 1
"""In ``SessionStart.flags``: what the agent read of its surroundings is recorded (``Ambient`` of kind ``reads``)."""

FLAG_TURNS = 2
"""When sleeps were over, timers fired and work was done is recorded, in their order (``Ambient`` of kind ``reads``, its ``marks``)."""

FLAG_ROUNDS = 3
"""Order numbers have eight bits for the rounds of an event loop, and count what threads do in between for nothing. Without it: four bits."""

OUTCOMES = ("ok", "error", "failed", "broken", "closed", "cancelled", "cut")
"""How a call ended: ``ok``; ``error``: an answer that says no (HTTP 4xx/5xx, a tool's error result); ``failed``: no answer (refused,
timed out, raised); ``broken``: the answer stopped half-way; ``closed``: the agent stopped reading; ``cancelled``: the agent gave up
waiting; ``cut``: the recording ended while the call was under way."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What all events share. ``lane`` is the path of the thread, task or process; ``parent_id`` the enclosing call. ``redactions``: how
    many values were masked while it was recorded; ``redacted_kinds``: how many of which kind."""

    TYPE: ClassVar[str] = ""

    id: str = ""
    parent_id: str | None = None
    lane: str | None = None
    redactions: int = 0
    redacted_kinds: dict[str, int] = msgspec.field(default_factory=dict)
    extra: dict[str, Any] = msgspec.field(default_factory=dict)


class SessionStart(Event, frozen=True, kw_only=True):
    """The first event. ``facts_uri``: argv, environment, cwd, host, packages (all redacted). ``policy``: the redaction policy's
    fingerprint. ``flags``: numbered behaviours that a replay of this recording must keep. ``vault``: the id of the key that the
    originals of what was masked are sealed for, where they are kept. ``ledger``: ``size`` and ``root`` (hex) of the store's ledger behind
    its entry that this session was opened; or, where it could not be entered, ``missing``: why, in a word. ``forked_from``: of a what-if copy,
    ``session_id``, ``step``, ``event_id`` and ``seq`` of the model call from which on it is no copy, ``changed`` (the names of what was changed
    there), ``by`` (``fork``, ``vary`` or ``reask``) and, of forks that were run as a set, ``set``. ``edits_uri``: what it was changed to."""

    TYPE: ClassVar[str] = "session_start"

    recorder: str = ""
    name: str | None = None
    agent: str | None = None
    source: str = "record"
    imported_from: str | None = None
    facts_uri: str | None = None
    workspace_uri: str | None = None
    repo_url: str | None = None
    repo_sha: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    policy: str | None = None
    vault: str | None = None
    ledger: dict[str, Any] = msgspec.field(default_factory=dict)
    parent_session_id: str | None = None
    forked_from: dict[str, Any] = msgspec.field(default_factory=dict)
    edits_uri: str | None = None
    links: list[str] = msgspec.field(default_factory=list)
    flags: list[int] = msgspec.field(default_factory=list)


class Started(Event, frozen=True, kw_only=True):
    """Written before a call runs. ``call_id`` is the id that the call's own event will have when it ends."""

    TYPE: ClassVar[str] = "started"

    call_id: str = ""
    kind: str = ""
    operation: str = ""
    name: str | None = None
    effect: str | None = None
    request_uri: str | None = None
    site: str | None = None


class Call(Event, frozen=True, kw_only=True):
    """What model calls, other HTTP calls, tool calls and commands share. ``request_uri`` is what replay matches on, ``wire_uri``
    what it answers with; ``order`` the number of the last piece in the session-wide order of completions."""

    started_id: str | None = None
    request_uri: str | None = None
    wire_uri: str | None = None
    error_uri: str | None = None
    workspace_uri: str | None = None
    outcome: str = "ok"
    duration_ms: float | None = None
    site: str | None = None


class ModelCall(Call, frozen=True, kw_only=True):
    """One attempt at a model: requested and served model, every sampling parameter, prompt and guardrail versions, usage."""

    TYPE: ClassVar[str] = "model_call"

    provider: str = ""
    operation: str = ""
    model_id: str | None = None
    served_model_id: str | None = None
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    repo_sha: str | None = None
    prompt: dict[str, Any] | None = None
    guardrail: dict[str, Any] | None = None
    prompt_hash: str | None = None
    prompt_redacted_uri: str | None = None
    output_hash: str | None = None
    output_uri: str | None = None
    tool_calls: list[dict[str, Any]] = msgspec.field(default_factory=list)
    usage: dict[str, int] = msgspec.field(default_factory=dict)
    finish_reason: str | None = None
    request_id: str | None = None
    response_id: str | None = None
    status: int | None = None
    stream: bool = False
    first_token_ms: float | None = None


class ToolCall(Call, frozen=True, kw_only=True):
    """A tool's run. ``source``: ``declared`` (seen at ``@tool``) or ``wire`` (seen in the model's request for it and the result sent
    back). ``asked_by``: the model call that asked; ``told_to``: the one that was given the result; ``declared_id``: on a wire tool
    call, the declared event of the same run."""

    TYPE: ClassVar[str] = "tool_call"

    name: str = ""
    call_id: str | None = None
    source: str = "declared"
    effect: str | None = None
    input_uri: str | None = None
    output_uri: str | None = None
    output_hash: str | None = None
    exact: bool = True
    asked_by: str | None = None
    told_to: str | None = None
    declared_id: str | None = None


class Http(Call, frozen=True, kw_only=True):
    """An HTTP exchange that is no model call."""

    TYPE: ClassVar[str] = "http"

    method: str = ""
    host: str | None = None
    status: int | None = None


class Process(Call, frozen=True, kw_only=True):
    """``action`` is ``ran``: a command of the agent; ``joined`` and ``left``: a process of the agent itself came or went."""

    TYPE: ClassVar[str] = "process"

    action: str = "ran"
    program: str | None = None
    exit_code: int | None = None
    pid: int | None = None
    python: str | None = None
    facts_uri: str | None = None
    output_uri: str | None = None


class Guardrail(Event, frozen=True, kw_only=True):
    """A guardrail's verdict, by itself or within the model call named in ``call_id``."""

    TYPE: ClassVar[str] = "guardrail"

    guardrail_id: str | None = None
    version: str | None = None
    action: str | None = None
    source: str | None = None
    call_id: str | None = None
    detail_uri: str | None = None


class Message(Event, frozen=True, kw_only=True):
    """Something said that no model call carries: a user's input, a system notice, a compaction summary."""

    TYPE: ClassVar[str] = "message"

    role: str = "user"
    subtype: str | None = None
    content_uri: str | None = None


class Approval(Event, frozen=True, kw_only=True):
    """Someone allowed or refused something, having been shown ``shown_uri``."""

    TYPE: ClassVar[str] = "approval"

    decision: str = ""
    approver: str | None = None
    scope: str | None = None
    shown_uri: str | None = None
    call_id: str | None = None


class Git(Event, frozen=True, kw_only=True):
    """The repository as seen at that moment, or a head of it that moved: ``action`` is git's word for it (``commit``, ``checkout``, ``rebase``…),
    ``previous`` where it was before. ``cause``: ``made`` (the commit hook has seen that this session made it), ``call`` (it happened during
    the call that is its parent), ``seen`` (while this session was recorded, by whom is not known). ``detail_uri``, of a commit:
    ``tree``, ``parents``, ``patch_id``, ``paths``."""

    TYPE: ClassVar[str] = "git"

    sha: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    action: str | None = None
    previous: str | None = None
    cause: str | None = None
    detail_uri: str | None = None


class Workspace(Event, frozen=True, kw_only=True):
    """Files that changed outside any call that says so itself."""

    TYPE: ClassVar[str] = "workspace"

    changes_uri: str | None = None
    changed: int = 0


class Ambient(Event, frozen=True, kw_only=True):
    """What the agent read of its surroundings. ``kind`` is ``reads`` for that: ``size`` values, of clocks, entropy, names; ``files`` for
    ``size`` files outside of its workspace that it opened for reading; ``stdout`` or ``stderr`` for what it printed itself."""

    TYPE: ClassVar[str] = "ambient"

    kind: str = ""
    content_uri: str | None = None
    size: int = 0


class Note(Event, frozen=True, kw_only=True):
    """A remark of the agent's code, or of an importer about what it kept but did not understand."""

    TYPE: ClassVar[str] = "note"

    subtype: str | None = None
    text_uri: str | None = None


class Gap(Event, frozen=True, kw_only=True):
    """Something is missing here, and the log says so. ``reason``: ``torn_tail``, ``host_lost``, ``host_stopped``, ``not_captured``
    (``what``: ``workspace``; all where there is none), ``dropped``…;
    ``next_writer`` (in the ledger): nothing is missing, another writer goes on; ``frontier``: the peaks of the Merkle tree over all lines
    before this one, in hex, so that its writer and the next need not read them."""

    TYPE: ClassVar[str] = "gap"

    reason: str = ""
    file: str | None = None
    offset: int | None = None
    length: int | None = None
    sha256: str | None = None
    count: int | None = None
    what: str | None = None
    frontier: list[str] = msgspec.field(default_factory=list)


class Segment(Event, frozen=True, kw_only=True):
    """The first line of a segment that the writer of the one before began by choice (``number``: of the new one). ``files``: what the
    segment before holds, whole: by file name, ``size`` in bytes and ``sha256`` in hex."""

    TYPE: ClassVar[str] = "segment"

    number: int = 0
    files: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


class SessionEnd(Event, frozen=True, kw_only=True):
    """The last event. ``status``: ``ok``, ``error`` (exit code other than 0), ``killed`` (by ``signal``), ``lost`` (nobody saw the
    end), ``imported``, ``stopped`` (a fork that its host ended: it could not go on). ``stdout_hash``: of what the main process printed, redacted."""

    TYPE: ClassVar[str] = "session_end"

    status: str = "ok"
    exit_code: int | None = None
    signal: int | None = None
    duration_ms: float | None = None
    stdout_hash: str | None = None
    calls: dict[str, int] = msgspec.field(default_factory=dict)


class LedgerEntry(Event, frozen=True, kw_only=True):
    """In the store's ledger only: somebody did something to the store. ``action``: ``opened``, ``sealed``, ``read``, ``held``,
    ``released``, ``retention``, ``linked``, ``unlinked``, ``deleted``, ``shredded``, ``unmasked``, ``vault_made``, ``vault_dropped``,
    ``key_added``, ``key_removed``, ``key_rotated`` (docs/format/v1.md, section 10). ``user`` and ``host``: the account of the operating system that did
    it, and where. ``subject``: the session that it was done to. ``fingerprints``: of the placeholders concerned, where not all.
    ``detail``: further facts that are no content."""

    TYPE: ClassVar[str] = "ledger_entry"

    action: str = ""
    subject: str | None = None
    user: str | None = None
    host: str | None = None
    fingerprints: list[str] = msgspec.field(default_factory=list)
    detail: dict[str, Any] = msgspec.field(default_factory=dict)
    reason_uri: str | None = None


class Unknown(Event, frozen=True, kw_only=True):
    """A type this version does not know. Its fields are all in ``extra``; ``type_name`` is what the line said."""

    TYPE: ClassVar[str] = "unknown"

    type_name: str = ""


TYPES: dict[str, type[Event]] = {
    cls.TYPE: cls
    for cls in (
        SessionStart, Started, ModelCall, ToolCall, Guardrail, Message, Approval, Git, Workspace, Process, Http, Ambient, Note, Gap,
        Segment, SessionEnd, LedgerEntry,
    )
}  # fmt: skip

_ALL: list[type[Event]] = [*TYPES.values(), Unknown]
_FIELDS = {cls: frozenset(cls.__struct_fields__) - {"extra", "type_name"} for cls in _ALL}
_USUAL = {cls: fields.union(STAMP) for cls, fields in _FIELDS.items()}


_NOTHING: tuple[Any, ...] = (None, "", [], {})
#: What an event holds where nothing is known. By field: an empty string is something where nothing would be None.
_UNKNOWN = {cls: {name: value for name in _FIELDS[cls] if (value := getattr(cls(), name)) in _NOTHING} for cls in _ALL}
#: Said even when empty: "no parameter was sent" and "no tool was asked for" are facts that a postmortem needs.
_ALWAYS: dict[type[Event], tuple[str, ...]] = {ModelCall: ("params", "tool_calls", "usage")}


def encode(event: Event) -> dict[str, Any]:
    """The line's fields besides the stamp, ``type`` first, ``extra`` spread at the end. What is not known (None, or empty where that
    is the default) is left out; what is known is said even where it is the default, since a reader of the line does not know our
    defaults. Raises ``FormatError`` when ``extra`` holds a field of the stamp: a producer must not be able to say what the writer
    says."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    extra = built.pop("extra", {})
    always, unknown = _ALWAYS.get(type(event), ()), _UNKNOWN[type(event)]
    fields = {key: value for key, value in built.items() if key not in unknown or value != unknown[key] or key in always}
    if taken := [name for name in STAMP if name in extra]:
        raise FormatError(f"the extra fields of a {event.TYPE} hold {', '.join(taken)}, which the log writes itself; name them otherwise")
    if isinstance(event, Unknown):
        fields.pop("type_name", None)
        return {"type": event.type_name, **fields, **extra}
    return {"type": event.TYPE, **fields, **extra}


def decode(line: dict[str, Any]) -> Event:
    """The event of a parsed line. Never fails on an unknown type or field, nor on a known field of an unexpected type: what does
    not fit is kept in ``extra`` under its own name."""
    name = str(line.get("type", ""))
    cls = TYPES.get(name, Unknown)
    if cls is not Unknown and line.keys() <= _USUAL[cls]:
        # Nearly all lines: all of it is known, and what the stamp says is none of the event's.
        try:
            return msgspec.convert(line, cls)
        except msgspec.ValidationError:
            pass  # what does not fit is sorted out below
    known = _FIELDS[cls]
    fields = {key: value for key, value in line.items() if key in known}
    extra = {key: value for key, value in line.items() if key not in known and key not in STAMP}
    if cls is Unknown:
        fields["type_name"] = name
    try:
        return msgspec.convert({**fields, "extra": extra}, cls)
    except msgspec.ValidationError:
        return _convert_one_by_one(cls, fields, extra)


def _convert_one_by_one(cls: type[Event], fields: dict[str, Any], extra: dict[str, Any]) -> Event:
    good: dict[str, Any] = {}
    for key, value in fields.items():
        try:
            msgspec.convert({key: value}, cls)
            good[key] = value
        except msgspec.ValidationError:
            extra[key] = value
    return msgspec.convert({**good, "extra": extra}, cls)
