"""Tokens and money of many sessions, grouped."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from .prices import KINDS, Prices, Tokens
from .query import Query

#: What costs can be grouped by.
BY = ("session", "model", "prompt", "tool", "repository", "agent", "day")
#: A model call asks for tools: what it cost is shared by them, by the number of calls.
_SELECT = {
    "session": "e.session_id", "model": "coalesce(nullif(e.served_model_id, ''), e.model_id, '?')",
    "prompt": "e.prompt_id || coalesce('@' || e.prompt_version, '')", "repository": "coalesce(s.repository, s.repo_url)",
    "agent": "s.agent", "day": "strftime(e.ts, '%Y-%m-%d')",
}  # fmt: skip
_SUMS = ", ".join(f"sum(coalesce(e.{kind}_tokens, 0) {{share}})::DOUBLE" for kind in KINDS)


@dataclass
class Cost:
    """Of one group (None: what belongs to none). ``money``: of the models whose price is known; ``unknown``: the others."""

    group: str | None
    calls: float = 0
    tokens: Tokens = field(default_factory=Tokens)
    money: float = 0.0
    unknown: set[str] = field(default_factory=set)


def costs(query: Query, by: str, prices: Prices, sessions: Collection[str] | None = None) -> list[Cost]:
    """The groups, the dearest first. ``sessions``: of these only."""
    sql, parameters = _question(by, sessions)
    found: dict[str | None, Cost] = {}
    for group, provider, asked, served, day, calls, *counts in query.ask(sql, parameters).rows:
        cost = found.setdefault(group, Cost(group))
        tokens = Tokens(*counts)
        cost.calls += calls
        cost.tokens.add(tokens)
        money = prices.cost(provider, (served, asked), _day(day), tokens)
        if money is None:
            cost.unknown.add(served or asked or "?")
        else:
            cost.money += money
    order: Callable[[Cost], Any] = lambda cost: (-cost.money, -cost.tokens.input - cost.tokens.output, cost.group or "")  # noqa: E731
    return sorted(found.values(), key=order)


def _question(by: str, sessions: Collection[str] | None) -> tuple[str, list[Any]]:
    where, parameters = "e.type = 'model_call'", []
    if sessions is not None:
        where += " AND e.session_id IN (SELECT unnest(?))"
        parameters = [list(sessions)]
    key = "coalesce(nullif(e.provider, ''), ''), e.model_id, e.served_model_id, strftime(e.ts, '%Y-%m-%d')"
    if by == "tool":
        # Seen on the wire: those say which model call asked for them.
        asked = (
            "asked AS (SELECT session_id, asked_by AS id, name, count(*) AS n FROM events "
            "WHERE type = 'tool_call' AND asked_by IS NOT NULL GROUP BY ALL)"
        )
        whole = "whole AS (SELECT session_id, id, sum(n) AS n FROM asked GROUP BY ALL)"
        share = "coalesce(a.n / w.n, 1)"
        what = f"a.name, {key}, sum({share})::DOUBLE, {_SUMS.format(share=f'* {share}')}"
        joined = "LEFT JOIN asked a ON a.session_id = e.session_id AND a.id = e.id LEFT JOIN whole w ON w.session_id = e.session_id AND w.id = e.id"
        sql = f"WITH {asked}, {whole} SELECT {what} FROM events e {joined} WHERE {where} GROUP BY ALL"  # noqa: S608 - words of this file
        return sql, parameters
    what = f"{_SELECT[by]}, {key}, count(*)::DOUBLE, {_SUMS.format(share='')}"
    joined = "JOIN sessions s ON s.session_id = e.session_id AND s.day = e.day"
    sql = f"SELECT {what} FROM events e {joined} WHERE {where} GROUP BY ALL"  # noqa: S608 - words of this file
    return sql, parameters


def _day(text: str | None) -> datetime.date | None:
    return None if text is None else datetime.date.fromisoformat(text)
