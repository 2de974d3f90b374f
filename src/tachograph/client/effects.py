"""Effects: the one door through which a tap does anything. One tap, three modes.

A tap describes what the agent is about to do and asks ``begin`` (or ``perform``, its short form). While recording, the call runs for
real and its pieces are told to the host; in a replay the same tap takes the pieces from the host instead. Which of the two, only
the host knows. So capture and replay cannot drift apart: they are one code path.

A call yields *pieces*, in order: one ``head`` (or one ``fail``), any number of ``chunk``s, one ``end``; or, for a call that answers
at once, a single ``result``. Every tap is written like this::

    call = effects.begin("http", "POST", request, body)
    if call.replayed:
        head = call.head()                  # or raises what the recording raised: call.head() gives {"error": …} pieces
        for chunk in call.chunks(): …
    else:
        with call.real():                   # inner taps are silent in here
            answer = really_send(request)
        call.tell_head({...}); call.tell_chunk(b"…"); call.tell_end("eof")

``begin`` returns before the real thing runs but after the host's socket has the request, so a crash inside shows as ``started``.
"""

from __future__ import annotations

import collections
import functools
import threading
from typing import Any, AsyncIterator, Callable, Deque, Dict, Iterator, Optional, Tuple

from . import holding, lanes, link, sites, stdio, workspace
from .frames import pack
from .real import monotonic_ns

#: End states of a stream, as recorded.
EOF, CLOSED, BROKEN, CANCELLED = "eof", "closed", "broken", "cancelled"

Piece = Tuple[Dict[str, Any], bytes]


class _Inside:
    """A scope of lanes (a class: ``contextlib`` would cost as much as the rest of a recorded call)."""

    __slots__ = ("_lane", "_token")

    def __init__(self, lane: lanes.Lane) -> None:
        self._lane = lane

    def __enter__(self) -> None:
        self._token = lanes.enter(self._lane)

    def __exit__(self, *_: object) -> None:
        lanes.leave(self._token)


class Call:
    """One call in flight. ``replayed``: take the answer from here, run nothing. ``silent``: this call is inside another one that is
    recorded already (or nothing records at all): run it, tell nobody."""

    def __init__(self, at: Optional[link.Link], number: int, lane: lanes.Lane, *, kind: str) -> None:
        self._link = at
        self._number = number
        self._lane = lane
        self.kind = kind
        #: What the inside of a tool names its children after.
        self._base = lane.tool() if kind == "tool" and at is not None else None
        self._body: Optional[lanes.Lane] = None
        self.silent = at is None
        self.replayed = at is not None and at.mode == "replay"
        self._over = self.silent
        self.end_piece: Optional[Dict[str, Any]] = None
        if self.replayed:
            self._pieces: Deque[Piece] = collections.deque()
            self._ready = threading.Lock()
            self._ready.acquire()
            self._waker: Optional[Callable[[], None]] = None
            self._guard = threading.Lock()

    # -- recording -------------------------------------------------------------------------------------------------------

    def real(self) -> "_Inside":
        """``with call.real():`` around the real thing: what happens inside is part of this call."""
        return _Inside(self._lane.inside(self._number, real=True))

    def body(self) -> "_Inside":
        """``with call.body():`` around code of the agent's own that this call stands for (a declared tool): inner calls are recorded,
        under this one."""
        if self._body is None:
            self._body = self._lane.inside(self._number, real=False, base=self._base)
        return _Inside(self._body)

    def tell_head(self, head: Dict[str, Any]) -> None:
        """The answer began."""
        self._tell({"m": "head", "head": head})

    def tell_chunk(self, data: bytes, **more: Any) -> None:
        """A part of the answer is about to reach the agent."""
        self._tell({"m": "chunk", **more}, data)

    def tell_end(self, state: str, error: Optional[Dict[str, Any]] = None, **more: Any) -> None:
        """The answer is over: ``eof``, ``closed`` (the agent stopped reading), ``broken`` (with the error), ``cancelled``. Only the
        first end of a call counts, so a tap may call this from every place where a stream can end. ``more`` comes back in
        ``end_piece`` (a command's exit code)."""
        if self._over:
            return
        self._over = True
        self._tell({"m": "end", "state": state, "error": error, **more}, over=True)

    def tell_fail(self, error: Dict[str, Any], state: str = "failed") -> None:
        """No answer came: refused, timed out, cancelled."""
        if self._over:
            return
        self._over = True
        self._tell({"m": "fail", "state": state, "error": error}, over=True)

    def tell_result(self, result: Dict[str, Any], data: bytes = b"") -> None:
        """The whole answer of a call that answers at once."""
        if self._over:
            return
        self._over = True
        self._tell({"m": "result", "result": result}, data, over=True)

    def settle(self) -> None:
        """Wait until the host has looked at what this call changed in the workspace, before the agent changes it further."""
        if self._link is not None and not self.replayed:
            self._link.sync(durable=False)

    def _tell(self, header: Dict[str, Any], data: bytes = b"", *, over: bool = False) -> None:
        if self._link is None or (self._over and not over):
            return
        header["c"] = self._number
        header["t"] = monotonic_ns()
        rounds = lanes.rounds()
        if rounds is not None:
            header["i"] = rounds
        self._link.send(pack(header, data))

    # -- replaying -------------------------------------------------------------------------------------------------------

    def deliver(self, header: Dict[str, Any], payload: bytes) -> None:
        """On the reader thread: a piece came."""
        with self._guard:
            self._pieces.append((header, payload))
            waker, self._waker = self._waker, None
        if waker is not None:
            waker()

    def piece(self) -> Piece:
        """The next piece; blocks this thread until the host releases it."""
        while True:
            with self._guard:
                if self._pieces:
                    break
                self._waker = self._ready.release
            self._ready.acquire()
        header, payload = self._take()
        if "hold" in header:
            holding.hold_here(header["hold"])
        return header, payload

    async def apiece(self) -> Piece:
        """The next piece; suspends this task only."""
        import asyncio

        loop = asyncio.get_running_loop()
        waiting = None
        with self._guard:
            if not self._pieces:
                waiting = loop.create_future()
                self._waker = functools.partial(holding.soon, loop, _wake, waiting)
        if waiting is not None:
            try:
                await waiting
            except asyncio.CancelledError:
                self._over = True
                self._say_closed(CANCELLED)
                raise
        return self._take()

    def _take(self) -> Piece:
        header, payload = self._pieces.popleft()
        kind = header["m"]
        if kind == "lost":
            raise link.HostLost("the tachograph host is gone; a replay cannot go on without it")
        if kind == "stop":
            raise link.Diverged(header.get("why", "the recording does not hold this call"))
        if self._link is not None and ("skip" in header or "void" in header):
            self._link.ahead.answered(header)
        if kind in ("end", "fail", "result"):
            if header.get("workspace"):
                workspace.apply(payload)
                payload = b""
            if header.get("printed"):
                stdio.say(header["printed"])
            self._over = True
            self.end_piece = header
            if self._link is not None:
                self._link.forget(self._number)
        return header, payload

    def head(self) -> Dict[str, Any]:
        """``{"head": …}``, ``{"error": …}`` (raise it) or ``{"result": …}``."""
        return self.piece()[0]

    async def ahead(self) -> Dict[str, Any]:
        """As ``head``, in a task."""
        return (await self.apiece())[0]

    def chunks(self) -> Iterator[bytes]:
        """The recorded chunks. Afterwards ``end_piece`` says how the stream ended."""
        while not self._over:
            header, payload = self.piece()
            if header["m"] == "chunk":
                yield payload

    async def achunks(self) -> AsyncIterator[bytes]:
        """As ``chunks``, in a task."""
        while not self._over:
            header, payload = await self.apiece()
            if header["m"] == "chunk":
                yield payload

    def close(self) -> None:
        """The agent stopped reading (either mode). Harmless after the end."""
        if self._over:
            return
        if self.replayed:
            self._over = True
            self._say_closed(CLOSED)
        else:
            self.tell_end(CLOSED)

    def _say_closed(self, state: str) -> None:
        if self._link is not None:
            self._link.forget(self._number)
            self._link.send(pack({"m": "end", "c": self._number, "state": state, "t": monotonic_ns()}))


def _wake(waiting: Any) -> None:
    if not waiting.done():
        waiting.set_result(None)


def begin(
    kind: str,
    operation: str,
    request: Dict[str, Any],
    body: bytes = b"",
    *,
    effect: Optional[str] = None,
    name: Optional[str] = None,
    look: bool = False,
) -> Call:
    """Announce a call. ``request`` is JSON-able and complete: what replay matches on. ``look``: the agent may have changed files since
    the host last looked, and what this call changes must be told apart from that (always so for a command)."""
    at = link.get()
    lane = lanes.current()
    if at is None or lane.real or (at.lost and at.on_loss != "stop"):
        return Call(None, 0, lane, kind=kind)
    number = at.next_call()
    call = Call(at, number, lane, kind=kind)
    alone = call.replayed and lanes.alone()
    answer = at.ahead.take(lane.path, name, request) if alone and kind == "tool" and not body else None
    spent = alone and kind == "tool" and not body and answer is None and at.ahead.spent(lane.path)
    if answer is not None:
        call.deliver(*answer)
    elif call.replayed:
        if not spent:
            at.ahead.waits()
        at.expect(number, call.deliver)
    header = {"m": "begin", "c": number, "lane": lane.path, "k": kind, "op": operation, "req": request, "t": monotonic_ns()}
    if lane.call is not None:
        header["parent"] = lane.call
    if effect is not None:
        header["effect"] = effect
    if name is not None:
        header["name"] = name
    site = sites.of_call(lane.origin)
    if site is not None:
        header["site"] = site
    if alone:
        header["alone"] = 1
        if answer is not None:
            header["ahead"] = "taken"
        elif spent:
            header["ahead"] = "spent"
    if call.replayed and call._base is not None:
        header["inside"] = call._base
    look = (look or kind == "process") and at.mode == "record"
    if look:
        header["look"] = 1
    at.send(pack(header, body))
    if effect == "external" and at.mode == "record":
        at.sync()  # the intention is on disk before the outside world changes
    elif look:
        at.sync(durable=False)
    return call


def perform(
    kind: str,
    operation: str,
    request: Dict[str, Any],
    real: Callable[[], Tuple[Dict[str, Any], bytes]],
    *,
    body: bytes = b"",
    effect: Optional[str] = None,
) -> Tuple[Dict[str, Any], bytes]:
    """A call that answers at once: ``real`` returns (result, bytes) and raises nothing it wants recorded."""
    call = begin(kind, operation, request, body, effect=effect)
    if call.replayed:
        header, data = call.piece()
        return header["result"], data
    with call.real():
        result, data = real()
    call.tell_result(result, data)
    return result, data


def describe(error: BaseException, depth: int = 0) -> Dict[str, Any]:
    """An exception as data: enough to raise the like again (``taps/raising.py``)."""
    out: Dict[str, Any] = {"type": type(error).__name__, "module": type(error).__module__, "message": str(error)[:65536]}
    if isinstance(error, OSError) and error.errno is not None:
        out["errno"] = error.errno
        out["strerror"] = error.strerror
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and depth < 4:
        out["cause"] = describe(cause, depth + 1)
    return out
