"""All readers of signals by the word before the colon, and asking them. Others are found as entry points of the group ``tachograph.signals``: a
callable that takes what stands behind the colon and the environment, and gives a ``SignalSource``."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence

from tachograph.core.errors import SignalError, TachographError, UsageError
from tachograph.core.ports import Clock
from tachograph.core.signals import Budget, Missing, Signal, Signals, SignalSource, Window

GROUP = "tachograph.signals"
#: Seconds that one source may take.
PATIENCE = 60.0
#: Signals of a report, all sources together.
MOST = 20_000

Opener = Callable[[str, Mapping[str, str]], SignalSource]


def _file(spec: str, _: Mapping[str, str]) -> SignalSource:
    from .file import FileSource

    return FileSource(spec)


def _cloudwatch(spec: str, _: Mapping[str, str]) -> SignalSource:
    from .cloudwatch import CloudWatch

    return CloudWatch(spec)


def _prometheus(spec: str, environment: Mapping[str, str]) -> SignalSource:
    from .prometheus import Prometheus

    return Prometheus(spec, environment)


def _pagerduty(spec: str, environment: Mapping[str, str]) -> SignalSource:
    from .pagerduty import PagerDuty

    return PagerDuty(spec, environment)


READERS: dict[str, Opener] = {"cloudwatch": _cloudwatch, "file": _file, "pagerduty": _pagerduty, "prometheus": _prometheus}


def open_source(named: str, environment: Mapping[str, str]) -> SignalSource:
    """The source of ``KIND:…``. Raises ``UsageError`` for what cannot be asked as it was named."""
    kind, mark, spec = named.partition(":")
    opener = READERS.get(kind) or _installed().get(kind)
    if not mark or opener is None:
        kinds = ", ".join(f"{name}:" for name in sorted({*READERS, *_installed()}))
        raise UsageError(f"no source of signals, --signals {named[:60]!r}; it begins with one of {kinds}")
    try:
        return opener(spec, environment)
    except TachographError:
        raise
    except Exception as error:  # noqa: BLE001 -- another's code
        raise UsageError(f"the reader of --signals {kind}: does not start ({type(error).__name__}); is it of this version?") from None


def gather(
    named: Sequence[str], window: Window, *, environment: Mapping[str, str], clock: Clock, pause: Callable[[float], None]
) -> Signals:
    """The signals of all sources. What cannot be had is in ``missing``, and stops nothing."""
    sources = [(one.partition(":")[0], open_source(one, environment)) for one in named]
    found: list[Signal] = []
    missing: list[Missing] = []
    for kind, source in sources:
        try:
            signals, lacking = source.read(window, Budget(clock, PATIENCE, pause))
        except SignalError as error:
            missing.append(Missing(kind, str(error)))
        except Exception as error:  # noqa: BLE001 -- another's code, and another's answer: the report is written all the same
            missing.append(Missing(kind, f"its reader failed ({type(error).__name__}); please report it with what you asked for"))
        else:
            found += [one for one in signals if window.holds(one.at)]
            missing += lacking
    if len(found) > MOST:
        missing.append(Missing("all sources", f"{len(found):,} signals, of which a report takes the first {MOST:,}; shorten --window"))
    kept = sorted(found, key=lambda one: (one.at, one.source, one.name))[:MOST]
    return Signals(window=window, asked=tuple(dict.fromkeys(kind for kind, _ in sources)), found=tuple(kept), missing=tuple(missing))


def _installed() -> dict[str, Opener]:
    found: dict[str, Opener] = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name in READERS or point.name in found:
            continue

        def opener(spec: str, environment: Mapping[str, str], point: importlib.metadata.EntryPoint = point) -> SignalSource:
            made: SignalSource = point.load()(spec, environment)
            return made

        found[point.name] = opener
    return found
