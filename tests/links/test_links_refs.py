"""References in their one form: what git, GitHub, GitLab and people write, and what must be refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core.errors import UsageError
from tachograph.links.refs import KINDS, LONGEST, NOWHERE, Place, Ref, keep, matches, parse, repository

SHA = "0123456789abcdef0123456789abcdef01234567"
HERE = Place({"HEAD": SHA, SHA[:7]: SHA}.get, "git@github.com:acme/shop.git")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("pr=https://github.com/acme/shop/pull/7", "github.com/acme/shop#7"),
        ("pr=https://github.com/acme/shop/pull/7/files?w=1#diff", "github.com/acme/shop#7"),
        ("pr=https://GitLab.example.org/group/sub/shop/-/merge_requests/12", "gitlab.example.org/group/sub/shop#12"),
        ("pr=https://bitbucket.org/acme/shop/pull-requests/3", "bitbucket.org/acme/shop#3"),
        ("pr=other/repo#9", "github.com/other/repo#9"),
        ("pr=#7", "github.com/acme/shop#7"),
        ("pr=7", "github.com/acme/shop#7"),
        ("pr=!7", "github.com/acme/shop#7"),
        ("commit=HEAD", SHA),
        (f"commit={SHA[:7]}", SHA),
        (f"commit={SHA.upper()}", SHA),
        ("deploy=prod@2026-11-29.3", "prod@2026-11-29.3"),
        ("incident=INC-7", "INC-7"),
        ("ci=https://ci.example.org/run/5?x=y=z", "https://ci.example.org/run/5?x=y=z"),
    ],
)
def test_the_one_form(text: str, kept: str) -> None:
    found = parse(text, HERE)
    assert (found.kind, found.ref) == (text.partition("=")[0], kept)
    assert parse(str(found), NOWHERE) == found, "what was kept is kept again as it is, anywhere"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pr", "not a link"), ("=7", "not a link"), ("ticket=7", "not a link"), ("pr=", "cannot be the pr"), ("commit=abc", "no commit"),
        ("commit=" + "g" * 40, "no commit"), ("pr=seven", "not a pull request"), ("pr=#0", "not a pull request"),
        ("pr=https://github.com/acme/shop/issues/7", "not a pull request"), ("pr=https:///acme/shop/pull/7", "not a pull request"),
        ("incident=a\nb", "cannot be the incident"), ("incident=\x1b[31m", "cannot be the incident"), ("ci=" + "x" * (LONGEST + 1), "cannot be the ci"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(text, HERE)


def test_a_number_needs_a_repository() -> None:
    with pytest.raises(UsageError, match="not a pull request"):
        parse("pr=7", NOWHERE)
    with pytest.raises(UsageError, match="no commit"):
        parse("commit=HEAD", NOWHERE)
    assert keep("pr", "acme/shop#7", NOWHERE) == "acme/shop#7"


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("git@github.com:acme/shop.git", "github.com/acme/shop"), ("https://user@GitHub.com/acme/shop", "github.com/acme/shop"),
        ("ssh://git@host.example:2222/a/b/c.git", "host.example/a/b/c"), ("/srv/git/shop.git", None), ("../shop", None), ("", None),
        (None, None), ("file:///srv/git/shop.git", None),
    ],
)  # fmt: skip
def test_the_name_of_a_remote(remote: str | None, name: str | None) -> None:
    assert repository(remote) == name


@pytest.mark.parametrize(
    ("ref", "asked", "yes"),
    [
        (Ref("commit", SHA), SHA[:7], True), (Ref("commit", SHA), SHA[:6], False), (Ref("commit", SHA), SHA[1:9], False),
        (Ref("commit", SHA), "commit=" + SHA[:12], True), (Ref("commit", SHA), "pr=" + SHA, False),
        (Ref("pr", "github.com/acme/shop#7"), "https://github.com/acme/shop/pull/7", True),
        (Ref("pr", "github.com/acme/shop#7"), "acme/shop#7", True), (Ref("pr", "github.com/acme/shop#7"), "#7", True),
        (Ref("pr", "github.com/acme/shop#17"), "#7", False), (Ref("pr", "github.com/acme/shop#7"), "op#7", False),
        (Ref("pr", "github.com/acme/shop#7"), "shop#7", True), (Ref("incident", "INC-7"), "INC-7", True), (Ref("incident", "INC-77"), "INC-7", False),
        (Ref("incident", "INC-7"), "incident=INC-7", True), (Ref("deploy", "INC-7"), "incident=INC-7", False),
    ],
)  # fmt: skip
def test_who_is_meant(ref: Ref, asked: str, yes: bool) -> None:
    assert matches(ref, asked) is yes


@given(st.sampled_from(KINDS), st.text(max_size=40))
def test_any_text_is_kept_or_refused(kind: str, text: str) -> None:
    try:
        kept = keep(kind, text, HERE)
    except UsageError:
        return
    assert keep(kind, kept, HERE) == kept
    assert matches(Ref(kind, kept), f"{kind}={kept}")
