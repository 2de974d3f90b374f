"""random: generators that were seeded from the system's chance, the module's own above all.

A generator with a seed of the agent's own needs nothing: it is as deterministic as the agent. One that the system seeded gets another
class, whose draws are counted. Its state is told when it is first drawn from; and where several lanes draw from it, which draws were
whose: *runs*, each from a place in the generator's sequence on, so many draws long. A replay gives each lane a generator of its own
that goes from run to run, so that it does not matter which thread draws first.

Kinds: ``random.base`` (a state, told in the process's own lane by number) and ``random.run`` (of one generator, in the lane that draws):
``[lane, number, place, gauss_next]`` where a run begins, and its number of draws when another lane's begins.
"""

from __future__ import annotations

import binascii
import itertools
import struct
import sys
import threading
from types import ModuleType
from typing import Any, Callable, Deque, Dict, Iterator, Optional, Tuple

from .. import ambient, forking, lanes, link
from .patching import wrap

_WORDS = struct.Struct("<625I")
_ATTRIBUTE = "_tachograph_stream"
#: Lane → the numbers for generators that are made in it.
_names: Dict[str, Iterator[int]] = {}
_bases = itertools.count()
#: How many forks lie between the first process and this one. What a child inherits goes on from there, in lanes of its own.
_forks = 0
_Base = Tuple[str, int]


def install(module: ModuleType) -> None:
    """Count the draws of ``random``'s generators."""
    if not ambient.wants("random"):
        return
    if module.__name__ == "tempfile":
        _one_for_all(module._RandomNameSequence)
        wrap(module, "_get_default_tempdir", _nobodys)
        return
    tapped = _make(module)
    wrap(module.Random, "seed", _seed(module, tapped))
    wrap(module.Random, "setstate", _setstate(module, tapped))
    _tap(module._inst, tapped, "global")
    for method in ("seed", "random", "gauss", "getrandbits", "getstate", "setstate"):
        setattr(module, method, getattr(module._inst, method))  # bound when the module was made

    def again() -> None:
        # Python seeds the module's generator anew in a forked child.
        global _bases, _forks
        _bases = itertools.count()
        _forks += 1
        _names.clear()
        _tap(module._inst, tapped, "global")

    forking.IN_CHILD.append(again)


def _one_for_all(names: Any) -> None:
    """``tempfile`` makes its generator when a thread first asks, and two that ask at once make two; which of them draws from which then depends
    on timing."""
    original, making = names.rng.fget, threading.Lock()

    def rng(self: Any) -> Any:
        with making:
            return original(self)

    names.rng = property(rng)

    def anew() -> None:
        nonlocal making
        making = threading.Lock()

    forking.IN_CHILD.append(anew)


def _nobodys(original: Callable[[], str]) -> Callable[[], str]:
    """Whichever thread first asks for a name has ``tempfile`` look which folder it can write to, with a file whose name it draws. Which thread
    that is depends on timing, so it is none of what the thread itself draws."""

    def _get_default_tempdir() -> str:
        here = lanes.current()
        found: str = lanes.in_lane(lanes.Lane(here.path + "/tempdir", call=here.call, real=True), original)
        return found

    return _get_default_tempdir


def _tap(generator: Any, tapped: Any, name: Optional[str] = None) -> None:
    if name is None:
        here = lanes.current()
        name = "%s#%d" % (here.path, next(_names.setdefault(here.path, itertools.count(1))))
    generator.__class__ = tapped
    setattr(generator, _ATTRIBUTE, _Stream(name))


def _seed(module: Any, tapped: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def make(original: Callable[..., None]) -> Callable[..., None]:
        def seed(self: Any, a: Any = None, version: int = 2) -> None:
            stream = _leave(self, module, tapped)
            original(self, a, version)
            if a is None and type(self) is module.Random and ambient.here():
                _tap(self, tapped, stream.name if stream is not None else _shared(sys._getframe(2)))

        return seed

    return make


def _shared(maker: Any) -> Optional[str]:
    """The name of a generator of which each process has one, made by whichever lane needs it first; None for others."""
    return "tempfile" if maker is not None and maker.f_globals.get("__name__") == "tempfile" else None


def _setstate(module: Any, tapped: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def make(original: Callable[..., None]) -> Callable[..., None]:
        def setstate(self: Any, state: Any) -> None:
            _leave(self, module, tapped)
            original(self, state)

        return setstate

    return make


def _leave(generator: Any, module: Any, tapped: Any) -> Optional["_Stream"]:
    """From now on the generator is what the agent makes of it."""
    stream: Optional[_Stream] = generator.__dict__.pop(_ATTRIBUTE, None)
    if stream is not None:
        stream.end()
    if type(generator) is tapped:
        generator.__class__ = module.Random
    return stream


def _make(module: Any) -> Any:
    plain = module.Random
    draw, bits, gauss, getstate = plain.random, plain.getrandbits, plain.gauss, plain.getstate

    class Random(plain):  # type: ignore[misc,valid-type]
        """``random.Random``, with its draws counted."""

        def random(self) -> float:
            stream = self.__dict__.get(_ATTRIBUTE)
            if stream is None:
                return float(draw(self))
            with stream.lock:
                found: float = draw(stream.turn(self, plain))
                stream.place += 2
                return found

        def getrandbits(self, k: Any, /) -> int:
            stream = self.__dict__.get(_ATTRIBUTE)
            if stream is None:
                return int(bits(self, k))
            with stream.lock:
                found: int = bits(stream.turn(self, plain), k)
                stream.place += (int(k) + 31) // 32
                return found

        def gauss(self, *args: Any, **kwargs: Any) -> float:
            stream = self.__dict__.get(_ATTRIBUTE)
            if stream is None:
                return float(gauss(self, *args, **kwargs))
            with stream.lock:
                generator = stream.turn(self, plain)
                draws = stream.draws
                found: float = gauss(generator, *args, **kwargs)
                stream.draws = draws  # it is one draw, whatever it draws within
                return found

        def getstate(self) -> Any:
            stream = self.__dict__.get(_ATTRIBUTE)
            if stream is None:
                return getstate(self)
            with stream.lock:
                return getstate(stream.turn(self, plain))

        def __reduce__(self) -> Any:
            return plain, (), self.getstate()

    Random.__module__, Random.__qualname__ = plain.__module__, plain.__qualname__
    return Random


class _Private:
    """Replay: one lane's own generator."""

    def __init__(self, generator: Any, runs: Optional[Deque[Any]]) -> None:
        self.generator = generator
        self.runs = runs
        self.left: Optional[int] = None


class _Stream:
    """One generator's sequence, since it was seeded. ``place``: words of it that were drawn. ``draws``: of the present run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.place = 0
        self.draws = 0
        self._base: Optional[_Base] = None
        self._lane: Optional[lanes.Lane] = None
        self._told = False
        self._private: Dict[str, _Private] = {}
        self._forks = _forks

    def turn(self, generator: Any, plain: Any) -> Any:
        """Someone draws: the generator to draw from."""
        lane = lanes.current()
        if not ambient.recording():
            return self._own(lane, generator, plain) if not lane.real else generator
        if lane is not self._lane or self._forks != _forks:
            if self._forks != _forks:
                self._forks, self._lane, self._told = _forks, None, False
            if self._lane is None or lane.path != self._lane.path:
                self._begin(lane, generator)
            self._lane = lane
        self.draws += 1
        return generator

    # -- recording -------------------------------------------------------------------------------------------------------

    def _begin(self, lane: lanes.Lane, generator: Any) -> None:
        self.end()
        at = link._link
        if at is None or lane.real:
            return
        if self._base is None:
            self._base = (lanes.root().path, next(_bases))
            ambient.note(at, self._base[0], "random.base", str(self._base[1]), _packed(generator))
            self.place = 0
        self._told = True
        ambient.note(at, lane.path, "random.run", self.name, [*self._base, self.place, generator.gauss_next])

    def end(self) -> None:
        """The present run is over."""
        at = link._link
        if self._told and self._lane is not None and at is not None:
            ambient.note(at, self._lane.path, "random.run", self.name, self.draws)
        self._told = False
        self._lane = None
        self.draws = 0

    # -- replaying -------------------------------------------------------------------------------------------------------

    def _own(self, lane: lanes.Lane, generator: Any, plain: Any) -> Any:
        at = link._link
        if at is None:
            return generator
        mine = self._private.get(lane.path)
        if mine is None:
            runs = ambient.recorded(at, lane.path, "random.run", self.name)
            mine = self._private[lane.path] = _Private(generator, runs)
            if not self._next(at, mine, plain):
                ambient.unrecorded(at, "random.draw", self.name)
        elif mine.left == 0 and not self._next(at, mine, plain):
            ambient.unrecorded(at, "random.draw", self.name)
            mine.left = None
        if mine.left is not None:
            mine.left -= 1
        return mine.generator

    def _next(self, at: link.Link, mine: _Private, plain: Any) -> bool:
        """Go to the lane's next run."""
        if not mine.runs:
            return False
        lane, number, place, gauss_next = mine.runs.popleft()
        mine.left = mine.runs.popleft() if mine.runs and isinstance(mine.runs[0], int) else None
        bases = ambient.recorded(at, lane, "random.base", str(number))
        if not bases:
            return False
        generator = plain(0)
        _unpack(generator, bases[0])
        while place > 0:
            skipped = min(place, 1 << 20)
            generator.getrandbits(32 * skipped)
            place -= skipped
        generator.gauss_next = gauss_next
        mine.generator = generator
        return True


def _packed(generator: Any) -> str:
    state = super(type(generator), generator).getstate()
    return binascii.b2a_base64(_WORDS.pack(*state[1]), newline=False).decode()


def _unpack(generator: Any, text: str) -> None:
    generator.setstate((3, _WORDS.unpack(binascii.a2b_base64(text)), None))
