"""``tacho pr comment`` against a server that answers as GitHub and GitLab do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forge_server import TOKEN, Forge
from git_helpers import Agent, Repository

from cli_helpers import Tacho
from tachograph.cli import pr
from tachograph.core.errors import StoreError, UsageError
from tachograph.links import pull_page, pulls
from tachograph.links.pulls import MARK, Client, Pull

REF = {"github": "https://github.com/acme/shop/pull/7", "gitlab": "https://gitlab.com/acme/shop/-/merge_requests/7"}
NAMES = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN"}


@pytest.fixture(params=["github", "gitlab"])
def forge(request: pytest.FixtureRequest) -> Iterator[Forge]:
    with Forge(request.param) as found:
        yield found


def client(forge: Forge, token: str = TOKEN, waits: list[float] | None = None) -> Client:
    pull = pulls.pull_of(
        "gitlab.com/acme/shop#7" if forge.platform == "gitlab" else "github.com/acme/shop#7", platform=forge.platform, api=forge.url
    )
    return Client(pull, token, pause=(waits if waits is not None else []).append, now=lambda: 1000.0)


def test_one_comment_is_added_then_updated_then_left_alone(forge: Forge) -> None:
    forge.comments = dict.fromkeys(range(1, 6), "somebody's")
    assert client(forge).put("first").what == "added"
    forge.comments.update({7: "later", 8: "and later"})
    assert client(forge).put("second").what == "updated"
    assert client(forge).put("second").what == "unchanged"
    assert forge.comments[6] == f"{MARK}\nsecond"
    assert sum(MARK in body for body in forge.comments.values()) == 1
    assert [method for method, _ in forge.asked].count("POST") == 1


def test_all_pages_are_looked_at(forge: Forge) -> None:
    forge.comments = {number: f"{MARK}\nold" if number == 9 else "x" for number in range(1, 12)}
    assert client(forge).put("new").what == "updated"
    assert [method for method, _ in forge.asked].count("GET") == 6


def test_a_comment_of_somebody_else_with_our_mark_is_passed_over(forge: Forge) -> None:
    forge.comments, forge.foreign = {1: f"{MARK}\nnot yours"}, {1}
    assert client(forge).put("ours").what == "added"
    assert client(forge).put("ours again").what == "updated"
    assert forge.comments == {1: f"{MARK}\nnot yours", 2: f"{MARK}\nours again"}


@pytest.mark.parametrize(
    ("failure", "waits"),
    [
        ((429, {"Retry-After": "7"}, {"message": "slow down"}), [7.0]),
        ((403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1030"}, {"message": "API rate limit exceeded"}), [30.0]),
        ((403, {}, {"message": "You have exceeded a secondary rate limit"}), [60.0]),
        ((429, {"RateLimit-Reset": "1005", "RateLimit-Remaining": "0"}, None), [5.0]),
        ((502, {}, "<html>"), [2.0]),
        (None, [2.0]),
    ],
)
def test_limits_and_outages_are_waited_for(forge: Forge, failure: Any, waits: list[float]) -> None:
    forge.fails = [failure]
    waited: list[float] = []
    assert client(forge, waits=waited).put("text").what == "added"
    assert waited == waits


@pytest.mark.parametrize(
    ("failures", "says"),
    [
        ([(429, {"Retry-After": "3600"}, {})], "asks to wait for 3600 s"),
        ([(429, {"Retry-After": "1"}, {"message": "no more"})] * 9, "the rate limit of .* is used up"),
        ([(500, {}, {})] * 9, "answers 500 to GET"),
        ([(401, {}, {"message": "Bad credentials"})], "does not take the token"),
        ([(403, {}, {"message": "Resource not accessible"})], "may not comment on acme/shop#7"),
        ([(404, {}, {"message": "Not Found"})], "knows no acme/shop#7"),
        ([(422, {}, {"message": "Validation\nFailed"})], "answers 422 to GET for acme/shop#7: Validation Failed"),
    ],
)  # fmt: skip
def test_what_does_not_go_is_said_in_a_line_without_the_token(forge: Forge, failures: list[Any], says: str) -> None:
    forge.fails = list(failures)
    with pytest.raises(StoreError, match=says) as raised:
        client(forge).put("text")
    assert TOKEN not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_comment_that_may_have_arrived_is_not_sent_twice(forge: Forge) -> None:
    forge.fails = [(200, {}, []), None]
    with pytest.raises(StoreError, match="cannot reach"):
        client(forge).put("text")
    assert [method for method, _ in forge.asked] == ["GET", "POST"]


def test_the_token_goes_to_no_other_place() -> None:
    with Forge("github") as other, Forge("github") as forge:
        forge.comments = dict.fromkeys(range(1, 6), "x")
        forge.next_url = other.url + "/repos/acme/shop/issues/7/comments"
        with pytest.raises(StoreError, match="the token goes nowhere else"):
            client(forge).put("text")
        forge.redirect = other.url
        with pytest.raises(StoreError, match="sends elsewhere"):
            client(forge).put("text")
        assert other.asked == []


@pytest.mark.parametrize(
    ("ref", "platform", "api", "expected"),
    [
        ("github.com/acme/shop#7", None, None, Pull("github", "https://api.github.com", "acme/shop", 7)),
        ("git.example.org/acme/shop#7", None, None, Pull("github", "https://git.example.org/api/v3", "acme/shop", 7)),
        ("gitlab.com/group/sub/shop#7", None, None, Pull("gitlab", "https://gitlab.com/api/v4", "group/sub/shop", 7)),
        ("git.example.org/acme/shop#7", "gitlab", None, Pull("gitlab", "https://git.example.org/api/v4", "acme/shop", 7)),
    ],
)
def test_which_api(ref: str, platform: str | None, api: str | None, expected: Pull) -> None:
    assert pulls.pull_of(ref, platform=platform, api=api) == expected


@pytest.mark.parametrize(
    ("ref", "api"), [("acme/shop#7", None), ("github.com/acme/shop#7", "http://git.example.org"), ("github.com/acme/shop#7", "ftp://x")]
)
def test_no_api(ref: str, api: str | None) -> None:
    with pytest.raises(UsageError):
        pulls.pull_of(ref, platform=None, api=api)


def test_the_pull_request_of_a_job(tmp_path: Path) -> None:
    github = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop"}
    assert pr.asked_by({**github, "GITHUB_REF": "refs/pull/7/merge"}) == "https://github.com/acme/shop/pull/7"
    (tmp_path / "event.json").write_text('{"pull_request":{"number":9}}')
    assert (
        pr.asked_by({**github, "GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")})
        == "https://github.com/acme/shop/pull/9"
    )
    assert pr.asked_by({**github, "GITHUB_REF": "refs/heads/main"}) is None
    gitlab = {"CI_MERGE_REQUEST_IID": "7", "CI_PROJECT_PATH": "group/sub/shop", "CI_SERVER_URL": "https://git.example.org"}
    assert pr.asked_by(gitlab) == "https://git.example.org/group/sub/shop/-/merge_requests/7"
    assert pr.asked_by({}) is None


# -- the whole ----------------------------------------------------------------------------------------------------------------


def test_the_comment_tells_what_the_sessions_did(forge: Forge, tmp_path: Path) -> None:
    tacho, repository = Tacho(tmp_path), Repository(tmp_path / "shop")
    base = repository.commit("first", README_md="A shop.\n")
    assert tacho("install-hooks", cwd=repository.folder).returncode == 0
    with Agent(tacho, repository, tmp_path, "--name", "prices @acme | <b>") as agent:
        agent("write", "prices.py", "def discount_of(total):\n    return total * 0.9\n")
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "prices")
        session_id = agent.session_id
    repository.commit("by hand", README_md="A shop, moved.\n")
    with Agent(tacho, repository, tmp_path) as agent:
        linked = agent.session_id
    assert tacho("link", linked, f"pr={REF[forge.platform]}").returncode == 0
    report = tmp_path / "replay.json"
    report.write_text(json.dumps({"session_id": session_id, "verdict": "diverged", "divergence": {"step": 3}}))

    def comment(*more: str, **env: str) -> Any:
        return tacho(
            "pr", "comment", "--pr", REF[forge.platform], "--api", forge.url, "--base", base, "--replay-report", str(report), *more, cwd=repository.folder,
            env={**os.environ, **env},
        )  # fmt: skip

    printed = comment("--dry-run")
    assert printed.returncode == 0, printed.stderr
    assert forge.asked == []
    done = comment("--json", **{NAMES[forge.platform]: TOKEN})
    assert done.returncode == 0, done.stderr
    assert (done.json()["comment"], done.json()["sessions"]) == ("added", [session_id, linked])
    (body,) = forge.comments.values()
    assert body == f"{MARK}\n{printed.stdout.rstrip(chr(10))}\n"
    assert "2 recorded sessions behind this change" in body
    assert "2 commits, 1 without a recorded session" in body
    assert "`prices @acme ¦ <b>`" in body
    assert "`prices.py`: added, +2 −0" in body
    assert "| diverged at step 3 | verified |" in body
    assert "tools: `write` ×1; commands: `git` ×2" in body
    size = body.split("- seal: `")[1].split("`")[0]
    assert tacho("verify", session_id, "--seal", size).returncode == 0
    assert "0.9" not in body  # no content
    assert comment("--json", **{NAMES[forge.platform]: TOKEN}).json()["comment"] == "unchanged"
    assert {"verb": "pr"} in [line["detail"] for line in tacho("cat", "ledger").lines() if line.get("action") == "read"]
    done = comment(**{name: "" for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN")})
    assert (done.returncode, "no token" in done.stderr) == (2, True)


def test_a_page_of_many_sessions_fits() -> None:
    many = [pull_page.Shown(f"ses_{number:026}", "it was named", None, "verified", "7:" + "0" * 64, None) for number in range(2000)]
    text = pull_page.page(many, (3, 0), pulls.LONGEST["github"])
    assert len(text) <= pulls.LONGEST["github"]
    assert "more are not shown" in text


@pytest.mark.parametrize("text", ["@acme/all", "<img src=x>", "a`b", "a|b", "a\nb", "\x1b[31m", "#7"])
def test_foreign_text_is_no_markup(text: str) -> None:
    shown = pull_page.code(text)
    assert shown.startswith("`")
    assert shown.count("`") == 2
    assert not {"|", "\n", "\x1b"} & set(shown)
