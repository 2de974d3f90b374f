"""``@tachograph.tool``: declare a function of the agent as a tool.

    @tachograph.tool(effect="external")
    def refund(order: str, cents: int) -> dict: …

Its calls are recorded with input and output; in a replay they are answered from the record and the function does not run, so a refund
is not paid twice. ``effect``: ``read`` (changes nothing), ``write`` (changes the workspace; the default), ``external`` (changes the
world: its intention is on disk before it runs). Functions, coroutines, generators and async generators; without a host, a tool is the
plain function it was.

A tool whose result is of a class that cannot be rebuilt from JSON is not answered but runs (under the guard), and the replay says so.
"""

from __future__ import annotations

import functools
import inspect
import json
from typing import Any, Callable, Dict, Optional, Tuple, TypeVar

from . import effects, link, values
from .taps.raising import find, rebuild

F = TypeVar("F", bound=Callable[..., Any])
EFFECTS = ("read", "write", "external")

_writes: Callable[[], int] = lambda: 0
#: The count when the host last looked.
_seen = 0


def watch_writes(counter: Callable[[], int]) -> None:
    """How many write-intent operations this process has made (``guard.install_watch``): a tool that wrote nothing costs no look at
    the workspace."""
    global _writes
    _writes = counter


def tool(function: Any = None, *, name: Optional[str] = None, effect: str = "write") -> Any:
    """Declare a tool: ``@tool``, ``@tool(effect="read")``, ``@tool(name="apply_patch")``."""
    if effect not in EFFECTS:
        raise ValueError("effect is one of %s, not %r" % (", ".join(EFFECTS), effect))
    if function is None:
        return functools.partial(tool, name=name, effect=effect)
    called = name if name is not None else str(getattr(function, "__name__", "tool"))
    names = _parameters(function)
    if inspect.isasyncgenfunction(function):
        return _async_generator(function, called, effect, names)
    if inspect.isgeneratorfunction(function):
        return _generator(function, called, effect, names)
    if inspect.iscoroutinefunction(function):
        return _coroutine(function, called, effect, names)
    return _function(function, called, effect, names)


def _parameters(function: Any) -> Optional[Tuple[str, ...]]:
    """Positional parameter names, for a readable input; None where a signature is too rich to name them cheaply."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return tuple(p.name for p in found)


def _begin(called: str, effect: str, names: Optional[Tuple[str, ...]], args: Any, kwargs: Any) -> effects.Call:
    if names is not None and len(args) <= len(names):
        given: Dict[str, Any] = dict(zip(names, args))
        given.update(kwargs)
        # A method's own object is where it runs, not what it was given.
        given.pop("self", None)
    else:
        given = {"args": list(args), "kwargs": kwargs}
    global _seen
    count = _writes()
    look, _seen = effect != "read" and count != _seen, count
    encoded = {k: values.encode(v)[0] for k, v in given.items()}
    return effects.begin("tool", called, {"input": encoded}, effect=effect, name=called, look=look)


def _raised(error: BaseException) -> Dict[str, Any]:
    out = effects.describe(error)
    arguments, exact = values.encode(list(error.args))
    if exact:
        out["args"] = arguments
    return out


def _raise(error: Dict[str, Any]) -> None:
    cls = find(error)
    if cls is not None and "args" in error:
        try:
            made = cls(*values.decode(error["args"]))
        except Exception:
            made = None
        if made is not None and str(made) == error.get("message"):
            raise made
    raise rebuild(error, RuntimeError)


def _answered(header: Dict[str, Any]) -> Tuple[bool, Any]:
    """(answered?, value) of a result piece; raises what the tool raised."""
    result = header.get("result") or {}
    if header["m"] == "fail":
        _raise(header["error"])
    if not result.get("exact", True):
        return False, None
    if result.get("error"):
        _raise(result["error"])
    return True, values.decode(result.get("value"))


def _tell(call: effects.Call, value: Any, before: int) -> None:
    wrote = _writes() != before
    if type(value) is str:
        # The commonest result by far: as payload it need not be escaped into the header.
        call.tell_result({"exact": True, "wrote": wrote, "text": True}, value.encode("utf-8", "surrogatepass"))
    else:
        encoded, exact = values.encode(value)
        call.tell_result({"value": encoded, "exact": exact, "wrote": wrote})
    if wrote:
        call.settle()


def _tell_raised(call: effects.Call, error: BaseException, before: int) -> None:
    if isinstance(error, (link.HostLost, link.Diverged)):
        return
    wrote = _writes() != before
    call.tell_result({"error": _raised(error), "exact": True, "wrote": wrote})
    if wrote:
        call.settle()


def _function(function: F, called: str, effect: str, names: Any) -> F:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _begin(called, effect, names, args, kwargs)
        if call.replayed:
            answered, value = _answered(call.head())
            if answered:
                return value
        if call.silent:
            return function(*args, **kwargs)
        before = _writes()
        try:
            with call.body():
                value = function(*args, **kwargs)
        except BaseException as error:
            if not call.replayed:
                _tell_raised(call, error, before)
            raise
        if not call.replayed:
            _tell(call, value, before)
        return value

    return wrapper  # type: ignore[return-value]


def _coroutine(function: F, called: str, effect: str, names: Any) -> F:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _begin(called, effect, names, args, kwargs)
        if call.replayed:
            answered, value = _answered(await call.ahead())
            if answered:
                return value
        if call.silent:
            return await function(*args, **kwargs)
        before = _writes()
        try:
            with call.body():
                value = await function(*args, **kwargs)
        except BaseException as error:
            if not call.replayed:
                if type(error).__name__ == "CancelledError":
                    call.tell_fail(effects.describe(error), effects.CANCELLED)
                else:
                    _tell_raised(call, error, before)
            raise
        if not call.replayed:
            _tell(call, value, before)
        return value

    return wrapper  # type: ignore[return-value]


def _item(call: effects.Call, value: Any) -> bool:
    encoded, exact = values.encode(value)
    call.tell_chunk(json.dumps(encoded, separators=(",", ":")).encode())
    return exact


def _generator(function: F, called: str, effect: str, names: Any) -> F:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _begin(called, effect, names, args, kwargs)
        if call.replayed:
            first, _ = call.piece()
            if first["m"] != "result":
                return (yield from _replay_generator(call, first))
        if call.silent or call.replayed:
            return (yield from function(*args, **kwargs))
        inner, exact, before, sent = function(*args, **kwargs), True, _writes(), None
        call.tell_head({"generator": True})
        try:
            while True:
                with call.body():
                    value = inner.send(sent)
                exact = _item(call, value) and exact
                sent = yield value
        except StopIteration as stop:
            encoded, whole = values.encode(stop.value)
            call.tell_end(effects.EOF, exact=exact and whole, value=encoded, wrote=_writes() != before)
            return stop.value
        except GeneratorExit:
            inner.close()
            call.tell_end(effects.CLOSED, exact=exact)
            raise
        except BaseException as error:
            call.tell_end(effects.BROKEN, _raised(error), exact=exact, wrote=_writes() != before)
            raise

    return wrapper  # type: ignore[return-value]


def _replay_generator(call: effects.Call, first: Dict[str, Any]) -> Any:
    if first["m"] == "fail":
        _raise(first["error"])
    try:
        for chunk in call.chunks():
            yield values.decode(json.loads(chunk))
    except GeneratorExit:
        call.close()
        raise
    end = call.end_piece or {}
    if end.get("error"):
        _raise(end["error"])
    return values.decode(end.get("value"))


def _async_generator(function: F, called: str, effect: str, names: Any) -> F:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _begin(called, effect, names, args, kwargs)
        if call.replayed:
            first = await call.ahead()
            if first["m"] != "result":
                async for chunk in call.achunks():
                    yield values.decode(json.loads(chunk))
                end = call.end_piece or {}
                if end.get("error"):
                    _raise(end["error"])
                return
        inner, exact, before = function(*args, **kwargs), True, _writes()
        if call.silent or call.replayed:
            async for value in inner:
                yield value
            return
        call.tell_head({"generator": True})
        try:
            while True:
                try:
                    with call.body():
                        value = await inner.__anext__()
                except StopAsyncIteration:
                    break
                exact = _item(call, value) and exact
                yield value
        except GeneratorExit:
            call.tell_end(effects.CLOSED, exact=exact)
            await inner.aclose()
            raise
        except BaseException as error:
            call.tell_end(effects.BROKEN, _raised(error), exact=exact, wrote=_writes() != before)
            raise
        call.tell_end(effects.EOF, exact=exact, wrote=_writes() != before)

    return wrapper  # type: ignore[return-value]
