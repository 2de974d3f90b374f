"""``tacho trace``: the story of one incident. Three sessions, two pull requests, one squash, one deploy that did it, and an innocent one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from git_helpers import Agent, Repository

from cli_helpers import Tacho

PRICES = "def discount_of(total, member):\n    return total * 0.9 if member else total\n"
TAXES = "def tax_of(total, country):\n    return round(total * RATES[country], 2)\n"
SEARCH = "def search_for(words, shelves):\n    return [shelf for shelf in shelves if words & shelf.words]\n"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tacho, Repository, dict[str, str]]:
    tmp = tmp_path_factory.mktemp("story")
    tacho, repository = Tacho(tmp), Repository(tmp / "shop")
    known = {"first": repository.commit("first", README_md="A shop.\n")}
    assert tacho("install-hooks", cwd=repository.folder).returncode == 0

    def session(name: str, path: str, text: str) -> None:
        with Agent(tacho, repository, tmp, "--name", name) as agent:
            known[name] = agent.session_id
            agent("write", path, text)
            agent("git", "add", "-A")
            agent("git", "commit", "-q", "-m", name)

    repository("checkout", "-q", "-b", "search")
    session("search", "search.py", SEARCH)
    repository("checkout", "-q", "main")
    repository("merge", "-q", "--no-ff", "-m", "Merge pull request #6 from acme/search", "search")
    known["innocent"] = repository("rev-parse", "HEAD")
    repository("checkout", "-q", "-b", "money")
    session("prices", "prices.py", PRICES)
    session("taxes", "taxes.py", TAXES)
    repository("checkout", "-q", "main")
    repository("merge", "-q", "--squash", "money")
    repository("-c", "core.hooksPath=/nonexistent", "commit", "-q", "-m", "Money (#7)\n\n" + repository.message("money"))
    known["squash"] = repository("rev-parse", "HEAD")
    known["by hand"] = repository.commit("Change of address", README_md="A shop, moved.\n")
    for sha, name, at in (("first", "prod-1", "01"), ("innocent", "prod-2", "02"), ("by hand", "prod-3", "03")):
        done = tacho(
            "deploy", "record", "--sha", known[sha], "--id", name, "--environment", "production", "--at", f"2026-11-{at}T10:00:00+01:00",
            cwd=repository.folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert tacho("deploy", "link", "prod-3", "INC-7").returncode == 0
    return tacho, repository, known


def test_the_right_chain_with_how_each_link_is_known(story: tuple[Tacho, Repository, dict[str, str]]) -> None:
    tacho, repository, known = story
    done = tacho("trace", "INC-7", "--json", cwd=repository.folder)
    assert done.returncode == 0, done.stderr
    chain = done.json()
    (deploy,) = chain["deploys"]
    assert (chain["kind"], deploy["id"], deploy["at"], deploy["environment"]) == (
        "incident",
        "prod-3",
        "2026-11-03T09:00:00Z",
        "production",
    )
    assert deploy["how"].startswith("tied to INC-7 ")
    assert deploy["commits_by"] == "the deploy before it in that environment"
    assert [commit["sha"] for commit in deploy["commits"]] == [known["squash"], known["by hand"]]
    squash, by_hand = deploy["commits"]
    assert squash["pr"] == [{"ref": "github.com/acme/shop#7", "how": "the commit's message names it"}]
    # The message in somebody's own words names the session of the newest commit; the other one is known by its lines.
    assert {one["session_id"]: one["how"] for one in squash["sessions"]} == {
        known["taxes"]: "trailer",
        known["prices"]: "it wrote 2 of the commit's 4 lines",
    }
    assert all(one["steps"] for one in squash["sessions"])
    assert by_hand["sessions"] == []
    shown = tacho("trace", "INC-7", cwd=repository.folder).stdout
    assert known["taxes"] in shown
    assert known["prices"] in shown
    assert known["search"] not in shown
    assert "no session: Pat, or an agent that was not recorded" in shown
    named = [one["session_id"] for one in squash["sessions"]]
    assert shown.splitlines()[-1] == f"next: tacho postmortem {named[-1]}; likewise for the 1 session above it"


def test_a_squash_whose_message_has_all(story: tuple[Tacho, Repository, dict[str, str]], tmp_path: Path) -> None:
    tacho, repository, known = story
    repository("checkout", "-q", "-b", "again", known["innocent"])
    repository("merge", "-q", "--squash", "money")
    repository("-c", "core.hooksPath=/nonexistent", "commit", "-q", "--no-edit")
    sha = repository("rev-parse", "HEAD")
    (commit,) = tacho("trace", sha, "--json", cwd=repository.folder).json()["commits"]
    assert {one["session_id"]: one["how"] for one in commit["sessions"]} == {known["prices"]: "trailer", known["taxes"]: "trailer"}
    for one in commit["sessions"]:
        assert [step["what"].endswith(", which went into this commit") for step in one["steps"]] == [True]
    repository("-c", "core.hooksPath=/nonexistent", "commit", "-q", "--amend", "-m", "Money, without a word of where it is from")
    sha = repository("rev-parse", "HEAD")
    (commit,) = tacho("trace", sha, "--json", cwd=repository.folder).json()["commits"]
    assert {one["session_id"]: one["how"] for one in commit["sessions"]} in (
        {known["prices"]: "it wrote 2 of the commit's 4 lines", known["taxes"]: "it wrote 2 of the commit's 4 lines"},
        {known["taxes"]: "tree"},
    )
    repository("checkout", "-q", "main")


def test_the_innocent_deploy_leads_to_its_own(story: tuple[Tacho, Repository, dict[str, str]]) -> None:
    tacho, repository, known = story
    (deploy,) = tacho("trace", "prod-2", "--json", cwd=repository.folder).json()["deploys"]
    sessions = {one["session_id"] for commit in deploy["commits"] for one in commit["sessions"]}
    assert sessions == {known["search"]}
    assert [pr["ref"] for commit in deploy["commits"] for pr in commit["pr"]] == ["github.com/acme/shop#6"]
    (made,) = [step for commit in deploy["commits"] for one in commit["sessions"] for step in one["steps"]]
    assert made["what"].startswith("committed ")


def test_nothing_is_known(story: tuple[Tacho, Repository, dict[str, str]]) -> None:
    tacho, repository, known = story
    done = tacho("trace", "INC-8", cwd=repository.folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody knows 'INC-8'" in done.stderr
    done = tacho("trace", known["by hand"], cwd=repository.folder)
    assert done.returncode == 1
    assert "next:" not in done.stdout


def test_ties_are_taken_back_by_an_entry(story: tuple[Tacho, Repository, dict[str, str]]) -> None:
    tacho, repository, _ = story
    assert "as it was already" in tacho("deploy", "link", "prod-3", "INC-7").stdout
    assert tacho("deploy", "link", "prod-1", "INC-9").returncode == 0
    assert "why is not said" in tacho("deploy", "link", "prod-1", "INC-9", "--remove").stderr
    assert tacho("deploy", "link", "prod-1", "INC-9", "--remove", "--reason", "another one").returncode == 0
    assert "nobody knows" in tacho("trace", "INC-9", cwd=repository.folder).stderr
    assert "no deploy prod-9 is recorded" in tacho("deploy", "link", "prod-9", "INC-9").stderr
    assert tacho("verify", "ledger").returncode == 0


# -- readers ------------------------------------------------------------------------------------------------------------------

SHA, OLD = "a" * 40, "b" * 40
GITHUB = [
    {
        "id": 42,
        "sha": SHA,
        "environment": "production",
        "created_at": "2026-11-03T09:00:00Z",
        "url": "https://api.github.com/…",
        "payload": {},
    },
    {"id": 43, "sha": OLD, "environment": "staging", "created_at": "2026-11-03T09:00:00Z", "state": "failure"},
    {"message": "something else"},
]
WEBHOOK = {
    "deployment": {"id": 44, "sha": SHA, "environment": "production"},
    "deployment_status": {"state": "success", "created_at": "2026-11-03T10:00:00Z"},
}
DOCKER = [{"Id": "sha256:1", "RepoDigests": ["shop@sha256:2"], "Config": {"Labels": {"org.opencontainers.image.revision": SHA.upper()}}}]
SKOPEO = {"Digest": "sha256:3", "Created": "2026-11-03T09:00:00.123456789Z", "Labels": {"org.opencontainers.image.revision": SHA}}
ARGO = {
    "metadata": {"name": "shop"}, "spec": {"destination": {"namespace": "production"}},
    "status": {
        "history": [
            {"id": 7, "revision": SHA, "deployedAt": "2026-11-03T09:00:00Z", "source": {"repoURL": "https://github.com/acme/shop"}},
            {"id": 6, "revision": OLD, "deployedAt": "2026-11-02T09:00:00Z"},
            {"id": 5, "revision": "1.2.3", "deployedAt": "2026-11-01T09:00:00Z"},
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "document", "expected"),
    [
        ("github", GITHUB, [("github-42", SHA, "production", "2026-11-03T09:00:00Z", None)]),
        ("github", WEBHOOK, [("github-44", SHA, "production", "2026-11-03T10:00:00Z", None)]),
        ("oci", DOCKER, [("image-sha256:1", SHA, None, None, None)]),
        ("oci", SKOPEO, [("image-sha256:3", SHA, None, "2026-11-03T09:00:00.123Z", None)]),
        ("argocd", ARGO, [("argocd-shop-6", OLD, "production", "2026-11-02T09:00:00Z", None), ("argocd-shop-7", SHA, "production", "2026-11-03T09:00:00Z", OLD)]),
    ],
)  # fmt: skip
def test_readers(tmp_path: Path, kind: str, document: Any, expected: list[tuple[str | None, ...]]) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", "true").returncode == 0
    for new in (True, False):  # the same is entered once
        done = tacho("deploy", "record", f"--{kind}", "-", "--json", stdin=json.dumps(document).encode())
        assert done.returncode == 0, done.stderr
        rows = done.json()
        assert [(row["id"], row["sha"], row["environment"], row["at"], row["previous"]) for row in rows] == expected
        assert all(row["new"] is new and row["source"] == kind for row in rows)
    assert len(tacho("deploy", "ls", "--json").json()) == len(expected)


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        (["--github", "-"], b"{", "not JSON"),
        (["--github", "-"], b"[[[]]]", "no deploy in it"),
        (["--oci", "-"], b'[{"Config":{"Labels":null}},7,null]', "no deploy in it"),
        (["--argocd", "-"], b'{"status":{"history":[{"revision":{}},3]},"metadata":[]}', "no deploy in it"),
        (["--argocd", "/nowhere"], b"", "cannot read /nowhere"),
        ([], b"", "which deploy"),
        (["--sha", "a" * 40, "--at", "yesterday"], b"", "not a time with an offset"),
        (["--sha", "nonsense"], b"", "no commit 'nonsense'"),
        (["--sha", "a" * 40, "--id", "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"], b"", "looks like a secret"),
    ],
)
def test_what_is_no_deploy_is_said_in_a_line(tmp_path: Path, arguments: list[str], stdin: bytes, says: str) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", "true").returncode == 0
    done = tacho("deploy", "record", *arguments, stdin=stdin, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_id_is_one_deploy(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", "true").returncode == 0
    assert tacho("deploy", "record", "--sha", SHA, "--id", "p").returncode == 0
    assert "as was recorded already" in tacho("deploy", "record", "--sha", SHA, "--id", "p").stdout
    assert "is of aaaaaaaaaaaa already" in tacho("deploy", "record", "--sha", OLD, "--id", "p").stderr


def test_deploys_of_one_second_are_in_their_order(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", "true").returncode == 0
    for name, at in (("late", "2026-11-03T10:00:00.750Z"), ("early", "2026-11-03T11:00:00.250+01:00"), ("whole", "2026-11-03T10:00:00Z")):
        assert tacho("deploy", "record", "--sha", SHA, "--id", name, "--at", at).returncode == 0
    found = tacho("deploy", "ls", "--json").json()
    assert [(one["id"], one["at"]) for one in found] == [
        ("whole", "2026-11-03T10:00:00Z"), ("early", "2026-11-03T10:00:00.250Z"), ("late", "2026-11-03T10:00:00.750Z"),
    ]  # fmt: skip
