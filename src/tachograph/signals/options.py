"""What stands behind ``KIND:`` of ``--signals``, as the query of an address: ``name=value&name=value``."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from tachograph.core.errors import UsageError

#: Values of one source, whatever their names.
_MOST = 40


def options(kind: str, query: str, known: Mapping[str, str]) -> dict[str, list[str]]:
    """The values by name. ``known``: the names that there are, each with what it is. Raises ``UsageError``."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=_MOST)
    except ValueError:
        raise UsageError(f"not name=value, --signals {kind}:…?{query[:60]}; {kind} takes {_names(known)}") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in known or not value.strip():
            what = f"no value for {name}" if name in known else f"{kind} knows no {name[:40]!r}"
            raise UsageError(f"{what}, --signals {kind}:…; it takes {_names(known)}")
        found.setdefault(name, []).append(value)
    return found


def single(found: Mapping[str, list[str]], name: str) -> str | None:
    """The value of what can be said once. Raises ``UsageError`` where it is said twice."""
    values = found.get(name, [])
    if len(values) > 1:
        raise UsageError(f"{name} is said {len(values)} times in --signals; say it once")
    return values[0] if values else None


def _names(known: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={what}" for name, what in known.items())
