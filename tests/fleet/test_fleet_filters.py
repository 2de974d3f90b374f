from __future__ import annotations

from typing import Any

import pytest

from tachograph.core.errors import UsageError
from tachograph.fleet import filters
from tachograph.fleet.filters import Wanted
from tachograph.links.refs import Ref

ROW: dict[str, Any] = {
    "name": "nightly", "agent": "coder.py", "models": {"claude-sonnet-4-20250514": 2}, "prompts": ["arn:p@3", "q"], "actions": {"GUARDRAIL_INTERVENED": 1},
    "tools": {"apply_patch": 4}, "repository": "github.com/acme/shop", "repo_url": "git@github.com:acme/shop.git", "shas": ["abcd" + "0" * 36], "status": "error",
    "started": 1_790_000_000_000,
}  # fmt: skip
LINKS = [Ref("pr", "github.com/acme/shop#7"), Ref("deploy", "prod-3"), Ref("incident", "INC-7"), Ref("ci", "b1"), Ref("commit", "ee" * 20)]


@pytest.mark.parametrize(
    ("asked", "good", "bad"),
    [
        ("name", ["nightly", "night*"], ["night", "weekly"]), ("agent", ["coder.py", "*.py"], ["coder"]),
        ("model", ["claude-sonnet-4-20250514", "claude-*"], ["claude-sonnet-4", "gpt-*"]),
        ("prompt", ["arn:p", "arn:p@3", "arn:*", "q"], ["arn:p@4", "arn", "p@3"]), ("guardrail", ["GUARDRAIL_INTERVENED"], ["NONE"]),
        ("tool", ["apply_patch", "apply*"], ["patch"]),
        ("repo", ["acme/shop", "shop", "github.com/acme/shop", "https://github.com/acme/shop.git", "git@github.com:acme/shop.git", "github.com/acme/*"], ["acme/sho", "hop", "acme"]),
        ("sha", ["abcd", "abcd" + "0" * 36, "eeee"], ["abce", "dddd"]), ("pr", ["#7", "acme/shop#7", "https://github.com/acme/shop/pull/7"], ["#8", "INC-7"]),
        ("deploy", ["prod-3"], ["prod", "b1"]), ("incident", ["INC-7"], ["INC-8", "prod-3"]), ("ci", ["b1"], ["b2"]),
        ("outcome", [("error",), ("ok", "error")], [("ok",)]), ("since", [1_790_000_000_000, 5], [1_790_000_000_001]), ("until", [1_790_000_000_001], [1_790_000_000_000]),
        ("min_cost", [0.0, 1.5], [1.6]), ("max_cost", [1.5, 2.0], [1.4]),
    ],
)  # fmt: skip
def test_each_condition_takes_what_it_says_and_nothing_else(asked: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert Wanted(**{asked: value}).matches(ROW, LINKS, 1.5), value
    for value in bad:
        assert not Wanted(**{asked: value}).matches(ROW, LINKS, 1.5), value
        assert not Wanted(**{"name": "nightly", asked: value}).matches(ROW, LINKS, 1.5)


def test_a_session_that_says_nothing_has_nothing() -> None:
    empty: dict[str, Any] = dict.fromkeys(ROW)
    for asked in ("name", "agent", "model", "prompt", "guardrail", "tool", "repo", "sha", "pr", "deploy", "incident", "ci"):
        assert not Wanted(**{asked: "abcd"}).matches(empty, [], None)
    assert not Wanted(since=1).matches(empty, [], None)
    assert not Wanted(max_cost=9.0).matches(ROW, LINKS, None), "what is unknown is no little"
    assert Wanted().matches(empty, [], None)
    assert not Wanted().any()
    assert Wanted(min_cost=0.0).any()


def test_times() -> None:
    now = 1_790_000_000_000
    assert filters.time_of("2026-09-21", now) == 1_789_948_800_000
    assert filters.time_of("2026-09-21T14:13:20", now) == now
    assert filters.time_of("2026-09-21T16:13:20+02:00", now) == now
    assert filters.time_of("90m", now) == now - 5_400_000
    assert filters.time_of("2w", now) == now - 14 * 86_400_000
    for wrong in ("", "yesterday", "0d", "7 d", "2026-13-01", "-1d"):
        with pytest.raises(UsageError, match="not a time"):
            filters.time_of(wrong, now)


def test_commits() -> None:
    assert filters.commit_of("ABCDEF0") == "abcdef0"
    for wrong in ("abc", "main", "", "g" * 8, "a" * 65):
        with pytest.raises(UsageError, match="not a commit"):
            filters.commit_of(wrong)
