"""``tacho cost``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tachograph import wiring
from tachograph.log.reader import resolve

from . import asking
from .app import NO
from .output import plural, print_json, print_notes

if TYPE_CHECKING:
    from tachograph.fleet.costs import Cost

_BY = ("session", "model", "prompt", "tool", "repository", "agent", "day")
#: What is printed where nothing else is said.
_TOP = 40


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", nargs="*", help="of these sessions only")
    parser.add_argument("--by", choices=_BY, default="model", help="what to add up by (model)")
    parser.add_argument("--limit", metavar="N", type=int, default=_TOP, help=f"groups at most ({_TOP}; 0: all)")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    asking.prices_argument(parser)
    asking.filter_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from tachograph.fleet import costs, prices, sessions
    from tachograph.fleet.query import asking as query_over

    chosen = wiring.settings(options.store)
    wanted = asking.wanted(options, chosen.clock.unix_ms())
    table = prices.load(asking.prices_path(options))
    opened = wiring.open_for_reading(chosen)
    named = {resolve(opened.store, name) for name in options.session}
    with asking.up_to_date(chosen, opened) as asked:
        meant = None
        if named or wanted.any():
            links = sessions.links_of(sessions.heard_of(asked.catalogue))
            meant = [
                row["session_id"]
                for row in sessions.of_catalogue(asked.catalogue)
                if (not named or row["session_id"] in named) and wanted.matches(row, links.get(row["session_id"], []), None)
            ]
        with query_over(asked.catalogue, asked.copies) as query:
            found = costs.costs(query, options.by, table, meant)
    unknown = sorted({model for cost in found for model in cost.unknown})
    total = sum(cost.money for cost in found)
    shown = found[: options.limit] if options.limit > 0 else found
    if options.json:
        print_json(
            {
                "by": options.by, "groups": [_group(cost) for cost in shown], "total": round(total, 6), "currency": table.currency,
                "unknown": unknown, "prices": {"where": table.where, "date": table.date, "sources": list(table.sources)},
            }
        )  # fmt: skip
        return 0 if found else NO
    if not found:
        print("no model call in these sessions")
        return NO
    _print(shown, options.by, table.currency)
    if len(shown) < len(found):
        print_notes([f"only the first {plural(len(shown), 'group')} of {len(found):,}; --limit 0 prints all"])
    rest = (
        f", besides what {plural(len(unknown), 'model')} cost that it does not know: {', '.join(map(_clean, unknown))}" if unknown else ""
    )
    print(f"{asking.money(total, table.currency)} in all by {table.where} of {table.date}{rest}")
    return 0


def _print(found: list[Cost], by: str, currency: str) -> None:
    head = (by, "calls", "input", "output", "cache read", "cache write", "cost")
    rows = [
        (
            _clean(cost.group or "(none)"), f"{cost.calls:,.0f}", f"{cost.tokens.input:,.0f}", f"{cost.tokens.output:,.0f}", f"{cost.tokens.cache_read:,.0f}",
            f"{cost.tokens.cache_write:,.0f}", _money(cost, currency),
        )
        for cost in found
    ]  # fmt: skip
    widths = [max(len(row[number]) for row in (head, *rows)) for number in range(len(head))]
    for row in (head, *rows):
        first, *others = (
            cell.ljust(width) if not number else cell.rjust(width) for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())


def _money(cost: Cost, currency: str) -> str:
    if cost.unknown and not cost.money:
        return "unknown"
    return asking.money(cost.money, currency) + (" and unknown" if cost.unknown else "")


def _group(cost: Cost) -> dict[str, Any]:
    return {
        "group": cost.group, "calls": round(cost.calls, 3), "input_tokens": round(cost.tokens.input), "output_tokens": round(cost.tokens.output),
        "cache_read_tokens": round(cost.tokens.cache_read), "cache_write_tokens": round(cost.tokens.cache_write),
        "cost": None if cost.unknown and not cost.money else round(cost.money, 6), "unknown": sorted(cost.unknown),
    }  # fmt: skip


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
