"""Blame after everything that git and people do to commits: the matrix of what must survive.

One repository of 400 lines and more, of three sessions and a person, whose functions share idioms (``for item in items:``, ``return total``). Each case
rewrites a copy of it. Whose a line is follows from the function that it stands in, whose name says it; a person's lines within an agent's
function say so themselves.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from git_helpers import Agent, Repository

from cli_helpers import Tacho
from tachograph import wiring
from tachograph.links.blame import Blame, Row
from tachograph.links.git import Repository as Read
from tachograph.links.sessions import Sessions
from tachograph.log import book as books

WORDS = ("price", "stock", "parcel", "refund", "basket", "voucher", "invoice", "tariff", "courier", "pallet")
_OWNER = re.compile(r"^(?:async )?def (anna|bert|carl|hand)_|^([ABCH])[A-Z]*_[A-Z_]+ = ")
_HAND = "by hand"


def function(owner: str, word: str) -> str:
    return (
        f"def {owner}_{word}_total(items, rate=0.1, *, limit=None):\n"
        f'    """Sum up every {word} that {owner} is asked about."""\n'
        f"    if not items:\n"
        f"        return 0\n"
        f"    total = 0\n"
        f"    for item in items:\n"
        f"        if item['{word}'] is None or item['{word}'] < 0:\n"
        f"            raise ValueError('a {word} that {owner} cannot count', item)\n"
        f"        total += round(item['{word}'] * (1 + rate), 2)\n"
        f"    if limit is not None and total > limit:\n"
        f"        total = limit\n"
        f"    return {{'kind': '{word}', 'owner': '{owner}', 'count': len(items), 'total': total, 'rate': rate, 'limited': limit is not None}}\n"
    )


def functions(owner: str, words: tuple[str, ...]) -> str:
    return "\n\n".join(function(owner, word) for word in words)


@dataclass(frozen=True)
class Shop:
    """The repository before anything was rewritten: ``main`` has the person's first commit, ``work`` the rest on top."""

    repository: Repository
    tacho: Tacho
    sessions: Mapping[str, str]

    def copy(self, folder: Path) -> Repository:
        shutil.copytree(self.repository.folder, folder)
        found = object.__new__(Repository)
        found.folder = folder
        return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    tmp = tmp_path_factory.mktemp("matrix")
    tacho, repository = Tacho(tmp), Repository(tmp / "shop")
    sessions = {}
    repository.write("prices.py", functions("hand", WORDS[:4]))
    repository("add", "-A")
    repository("commit", "-q", "-m", "Prices by hand", GIT_COMMITTER_DATE="2026-01-05T10:00:00Z", GIT_AUTHOR_DATE="2026-01-05T10:00:00Z")
    assert tacho("install-hooks", cwd=repository.folder).returncode == 0
    repository("checkout", "-q", "-b", "work")

    def commit(agent: Agent, message: str) -> None:
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", message)

    with Agent(tacho, repository, tmp) as anna:
        sessions["anna"] = anna.session_id
        anna("write", "stock.py", functions("anna", WORDS[:5]))
        commit(anna, "Stock")
        last = function("hand", WORDS[3])
        anna("edit", "prices.py", last, last + "\n\n" + functions("anna", WORDS[5:8]))
        commit(anna, "More prices")
    text = (repository.folder / "stock.py").read_text()
    mine = functions("hand", WORDS[4:6])
    text = text.replace("    total = 0\n", f"    total = 0  # {_HAND}: starts at nothing, whatever the tariff says\n", 1)
    repository.write("stock.py", text + "\n\n" + mine)
    repository("commit", "-q", "-am", "Stock by hand")
    with Agent(tacho, repository, tmp) as bert, Agent(tacho, repository, tmp) as carl:
        sessions["bert"], sessions["carl"] = bert.session_id, carl.session_id
        bert("write", "returns.py", functions("bert", WORDS[:6]))
        commit(bert, "Returns")
        carl("write", "billing.py", functions("carl", WORDS[2:8]))
        bert("look", "billing.py")
        commit(carl, "Billing")
        last = function("hand", WORDS[5])
        bert("edit", "stock.py", last, last + "\n\n" + functions("bert", WORDS[6:9]))
        commit(bert, "Stock that comes back")
        repository.write("billing.py", (repository.folder / "billing.py").read_text() + "\n\n" + functions("hand", WORDS[8:]))
        repository("commit", "-q", "-am", "Billing by hand")
    return Shop(repository, tacho, sessions)


# -- what is done to it -------------------------------------------------------------------------------------------------------


def amended(repository: Repository) -> None:
    repository("reset", "-q", "--hard", "HEAD^")  # the newest of a session
    repository("commit", "-q", "--amend", "-m", "Said better")


def rebased(repository: Repository) -> None:
    repository("checkout", "-q", "main")
    repository.commit("Meanwhile", readme_md="A shop.\n")
    repository("checkout", "-q", "work")
    repository("rebase", "-q", "main")


def squashed_in_a_rebase(repository: Repository) -> None:
    repository("rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR="sed -i '2s/^pick/squash/;3s/^pick/squash/;5s/^pick/fixup/'")


def reordered(repository: Repository) -> None:
    repository("rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR="sed -i '4{h;d};5{G}'")


def squash_merged(repository: Repository) -> None:
    repository("checkout", "-q", "main")
    repository("merge", "-q", "--squash", "work")
    repository("commit", "-q", "--no-edit")


def squash_merged_in_own_words(repository: Repository) -> None:
    repository("checkout", "-q", "main")
    repository("merge", "-q", "--squash", "work")
    repository("commit", "-q", "-m", "All of it")


def squash_merged_by_a_server(repository: Repository) -> None:
    repository("config", "core.hooksPath", "/nonexistent")
    squash_merged(repository)


def squash_merged_by_a_server_in_own_words(repository: Repository) -> None:
    repository("config", "core.hooksPath", "/nonexistent")
    squash_merged_in_own_words(repository)


def picked(repository: Repository) -> None:
    repository("checkout", "-q", "-b", "other", "main")
    repository("cherry-pick", "main..work")


def picked_without_trailers(repository: Repository) -> None:
    repository("config", "core.hooksPath", "/nonexistent")
    repository("checkout", "-q", "-b", "other", "main")
    for sha in repository("rev-list", "--reverse", "main..work").split():
        repository("cherry-pick", "--no-commit", sha)
        repository("commit", "-q", "-m", "taken over")


def moved(repository: Repository) -> None:
    (repository.folder / "lib").mkdir()
    repository("mv", "stock.py", "lib/depot.py")
    repository("mv", "returns.py", "lib/returns.py")
    repository("commit", "-q", "-m", "Moved")
    billing = (repository.folder / "billing.py").read_text()
    cut = billing.index("def carl_voucher")
    end = billing.index("def hand_courier")
    repository.write("lib/vouchers.py", billing[cut:end].rstrip() + "\n")
    repository.write("billing.py", billing[:cut] + billing[end:])
    repository("add", "-A")
    repository("commit", "-q", "-m", "Vouchers have a file of their own")


def formatted(repository: Repository) -> None:
    files = [str(path) for path in repository.folder.rglob("*.py")]
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--isolated", "--line-length", "72", *files], check=True, timeout=60)
    repository("commit", "-q", "-am", "Formatted")


def squashed_moved_and_formatted(repository: Repository) -> None:
    squash_merged(repository)
    moved(repository)
    formatted(repository)


def untouched(_: Repository) -> None:
    return


NAMED = [
    untouched, amended, rebased, reordered, squashed_in_a_rebase, squash_merged, squash_merged_in_own_words, squash_merged_by_a_server, picked, moved,
]  # fmt: skip
EVERY = [*NAMED, squash_merged_by_a_server_in_own_words, picked_without_trailers, formatted, squashed_moved_and_formatted]


# -- and what blame says ------------------------------------------------------------------------------------------------------


def truth(lines: list[str], sessions: Mapping[str, str]) -> list[str | None]:
    """Whose each line is: a session's id, None for the person's. Blank lines are nobody's (an empty string)."""
    owner = "hand"
    found: list[str | None] = []
    for line in lines:
        match = re.match(r"def (anna|bert|carl|hand)_", line)
        owner = match[1] if match is not None else owner
        found.append("" if not line.strip() else None if _HAND in line else sessions.get(owner))
    return found


@dataclass
class Score:
    agent: int = 0
    right: int = 0
    wrong: int = 0
    sure: int = 0
    human: int = 0
    human_high: int = 0
    human_named: int = 0


def score(repository: Repository, shop: Shop, *, anchors_only: bool, monkeypatch: pytest.MonkeyPatch) -> Score:
    for name, value in shop.tacho.settings.items():
        monkeypatch.setenv(name, value)
    opened = wiring.open_for_reading(wiring.settings())
    sessions = Sessions(opened, books.believed(opened.store, opened.trusted))
    blame = Blame(Read(str(repository.folder)), sessions, anchors_only=anchors_only)
    out = Score()
    for name in repository("ls-files", "*.py").split():
        rows: list[Row] = blame.file(name)
        for row, owner in zip(rows, truth([row.line.text for row in rows], shop.sessions), strict=True):
            if owner == "":
                continue
            if owner is None:
                out.human += 1
                out.human_high += row.who == "session" and row.confidence == "high"
                out.human_named += row.who == "session"
            else:
                out.agent += 1
                out.right += row.session_id == owner
                out.wrong += row.session_id not in (None, owner)
                out.sure += row.session_id == owner and row.confidence == "high"
    return out


def test_the_repository_is_large_enough_and_mixed(shop: Shop) -> None:
    lines = [
        line for name in shop.repository("ls-files", "*.py").split() for line in (shop.repository.folder / name).read_text().split("\n")
    ]
    counts = Counter(owner for owner in truth(lines, shop.sessions) if owner != "")
    assert sum(counts.values()) >= 300
    assert len(counts) == 4
    assert min(counts.values()) >= 70


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case.__name__)
def test_where_trailers_survive(shop: Shop, tmp_path: Path, case: Callable[[Repository], None], monkeypatch: pytest.MonkeyPatch) -> None:
    repository = shop.copy(tmp_path / "copy")
    case(repository)
    found = score(repository, shop, anchors_only=False, monkeypatch=monkeypatch)
    print(case.__name__, found)
    assert found.right >= 0.95 * found.agent, found
    assert found.human_high == 0, found


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.__name__)
def test_from_anchors_alone(shop: Shop, tmp_path: Path, case: Callable[[Repository], None], monkeypatch: pytest.MonkeyPatch) -> None:
    repository = shop.copy(tmp_path / "copy")
    case(repository)
    found = score(repository, shop, anchors_only=True, monkeypatch=monkeypatch)
    print(case.__name__, found)
    assert found.right >= 0.90 * found.agent, found
    assert found.human_high == 0, found
