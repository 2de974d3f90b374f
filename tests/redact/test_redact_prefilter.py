"""The matchers differ in speed and in nothing else."""

from __future__ import annotations

import json
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import SHAPED, redactor

from tachograph.redact.engine import Redactor, Span
from tachograph.redact.policy import Policy
from tachograph.redact.prefilter.engines import AhoCorasick, Engine, Hyperscan, Plain, _literals, _which, compiled, expression
from tachograph.redact.prefilter.index import Index
from tachograph.redact.prefilter.superset import UnsupportedError, run, superset
from tachograph.redact.prefilter.trigger import ANYWHERE, OUTSIDE, Trigger, places
from tachograph.redact.rules import ALL

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "secrets.jsonl"

INDEX = redactor().index
DATABASE = compiled(INDEX.triggers)
ENGINES = ("Plain", "AhoCorasick", "Hyperscan")


class Everything:
    """Wakes every finder: what would be found without any prefilter."""

    def __init__(self, triggers: tuple[Trigger, ...]) -> None:
        self._plain = Plain(triggers)
        self._all = [(number, ANYWHERE) for number, trigger in enumerate(triggers) if not (trigger.tail and trigger.literals)]

    def scan(self, text: str) -> list[tuple[int, int]]:
        return self._all + [
            (number, at) for number, at in self._plain.scan(text) if INDEX.triggers[number].tail and INDEX.triggers[number].literals
        ]


def engine(name: str) -> Engine:
    if name == "Hyperscan":
        return Hyperscan(INDEX.triggers, DATABASE)
    return {"Plain": Plain, "AhoCorasick": AhoCorasick, "Everything": Everything}[name](INDEX.triggers)


class Fixed(Index):
    """One matcher for good."""

    def __init__(self, one: Engine) -> None:
        super().__init__(INDEX.triggers)
        self._one = one

    def engine(self, before: Engine | None) -> Engine:
        return self._one


def with_engine(one: Engine) -> Redactor:
    red = redactor()
    red._scanner.index = Fixed(one)
    return red


@pytest.fixture(scope="module")
def all_of_them() -> dict[str, Redactor]:
    return {name: with_engine(engine(name)) for name in ("Everything", *ENGINES)}


def texts() -> Iterator[str]:
    """Examples of all rules, secrets in the places where they occur, and ordinary text."""
    for rule in ALL:
        yield from (*rule.positive, *rule.negative)
    for secret in SHAPED:
        yield from (secret, f"naïve K {secret} ünd", json.dumps({"text": f"\n{secret}\n", "PASSWORD": secret}), f"\\n{secret}\\n")
    library = Path(sysconfig.get_paths()["stdlib"])
    for name in ("ftplib.py", "netrc.py", "tokenize.py", "getpass.py", "smtplib.py", "http/cookies.py", "urllib/request.py", "imaplib.py"):
        yield (library / name).read_text("utf-8")
    if CORPUS.is_file():
        for line in CORPUS.read_text("utf-8").splitlines():
            yield json.loads(line)["text"]


def found(red: Redactor, text: str) -> list[Span]:
    red.forget()
    return red.spans(text)


def test_every_matcher_finds_what_is_found_without_one(all_of_them: dict[str, Redactor]) -> None:
    several = 0
    for text in texts():
        expected = found(all_of_them["Everything"], text)
        several += bool(expected)
        for name in ENGINES:
            assert found(all_of_them[name], text) == expected, (name, text[:200])
    assert several > 100


PIECES = (
    "password", "PassWord", "api_key", "TOKEN", "Kelvin K", "to\u212aen", "=", ": ", '"', "'", " ", "\n", "\\n", "://", "@", "?", "&", "sig=",
    "user:", "-----BEGIN ", "PRIVATE KEY-----", "mysql", " -p", "curl -u a:", "Bearer ", "ü", "K", "{", "}", "[", "]", ",", "Cookie: a=", "deepgram", "Deep-gram", "acme SECRET ", "%3D", "%41", "&quot;", "=3D", "YWRtaW46aHVudGVyMmh1bnRlcjI=",
    "hunter2hunter2", "aB3dE6gH9jK2mN5qR8tV1xY4zC7fG0iL2kQ9", "gh" + "p_", "sk-" + "ant-", "ey" + "JhbGciOiJIUzI1NiJ9", ".", "/", "\\u0022",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=24).map("".join))
def test_on_anything(all_of_them: dict[str, Redactor], text: str) -> None:
    expected = found(all_of_them["Everything"], text)
    for name in ENGINES:
        assert found(all_of_them[name], text) == expected, name


def test_a_literal_is_a_place_in_characters() -> None:
    triggers = (places("key"), Trigger(("A", "b?")))
    text = "ä KEY \U0001f511 key \u212aey A"
    for one in (Plain(triggers), AhoCorasick(triggers), Hyperscan(triggers, compiled(triggers))):
        assert sorted(set(one.scan(text))) == [(0, 2), (0, 8), (1, 0)]


def test_patterns_reach_the_matcher() -> None:
    """A rule whose pattern cannot be said is looked for by its keywords alone: right, and slow."""
    by_literals = [trigger.pattern[:60] for trigger in INDEX.triggers if trigger.pattern and expression(trigger) == _literals(trigger)]
    assert by_literals == []


def test_a_pattern_that_is_refused_is_looked_for_by_its_literals() -> None:
    refused = (Trigger(("x",), r"(?:x)?"), Trigger(("abc",), r"abc\d"))
    assert [number for number, _ in Hyperscan(refused, compiled(refused)).scan("abc1")] == [1]
    assert sorted(number for number, _ in Hyperscan(refused, compiled(refused)).scan("abc1x")) == [0, 1]


def test_a_pattern_that_is_refused_and_has_no_literals_is_an_error() -> None:
    """Such a trigger would never fire, and nobody would know."""
    hs = pytest.importorskip("hyperscan")
    with pytest.raises(hs.HyperscanError):
        compiled((Trigger((), r"(?:x)?"), Trigger(("abc",), r"abc\d")))


# -- the patterns --------------------------------------------------------------------------------------------------------------


SAMPLES = (
    "",
    "aA",
    "a1-b2",
    "ß",
    "ſ",
    "ı",
    "\u212a",
    "k" * 30,
    "?",
    "é",
    "\n",
    "\x1c",
    "x.y",
    "12",
    "٣",
    "Σς",
    "\\",
    "-",
    "]",
    "^",
    "A?b",
    "Aab",
    "1",
)


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        (r"\w{3}", 0), (r"\W", 0), (r"\d+", 0), (r"\D", re.ASCII), (r"\s", re.ASCII), (r"[^\s]", re.ASCII), (r"[^\S]", re.ASCII), (r"[\S]", re.ASCII),
        (r"k+", re.IGNORECASE), (r"[^k]", re.IGNORECASE), (r"[i-k]", re.IGNORECASE), (r"s", re.IGNORECASE), (r"ß", re.IGNORECASE),
        (r"(a|b)\d\1?", 0), (r"(?i:a)a", 0), (r"(?<![a-z])a(?=1)", 0), (r"a*?1", 0), (r".", 0), (r".", re.DOTALL), (r"[\]^\\-]", 0),
        (r"é|x\.y", 0), (r"(?<![A-Za-z])1(?![0-9])", 0), (r"(?<![^a])A", re.IGNORECASE), (r"(?:(?<![A-Za-z0-9])|(?<=A\?))b(?!x)", 0),
        (r"(?<!\S)k{25}(?!k{9})", 0), (r"x(?=\.y)", 0), (r"(?<=x\.)y(?![\w?])", 0), (r"(?<![k])k", re.IGNORECASE), (r"k{25}", 0), (r"k{2,3}k{20,40}", 0), (r"(?P<q>a)?(?(q)1|A)", 0), (r"[^\x00-\x7f]", 0), (r"\b12\b", 0), (r"^A\?b$", 0),
    ],
)  # fmt: skip
def test_a_superset_matches_whatever_the_pattern_does(pattern: str, flags: int) -> None:
    ours = re.compile(superset(pattern, flags), re.DOTALL)
    assert any(re.search(pattern, sample, flags) for sample in SAMPLES)
    for sample in (*SAMPLES, "".join(SAMPLES)):
        if re.search(pattern, sample, flags):
            assert ours.search(sample.encode("ascii", "replace").decode()), sample


def test_case_folds_into_ascii_from_three_letters_only() -> None:
    """What the translation knows about characters outside of ASCII that equal a letter when case is ignored."""
    outside = "".join(map(chr, range(128, 0x30000)))
    assert [c for c in map(chr, range(128)) if re.search(re.escape(c), outside, re.IGNORECASE)] == list("IKSiks")


def test_a_superset_is_no_larger_than_it_must_be() -> None:
    ours = re.compile(superset(r"AKIA[A-Z0-9]{16}(?![A-Z])", re.ASCII))
    assert ours.search("AKIA" + "B" * 16)
    assert not ours.search("AKIA" + "B" * 15)
    assert not ours.search("AKIA" + "b" * 16)


def test_what_must_not_stand_beside_a_match_is_matched_with_it() -> None:
    ours = re.compile(superset(r"(?:(?<![A-Za-z0-9])|(?<=\\\\n))gh_[a-z]{4}(?![a-z])"))
    for text in ("gh_abcd", " gh_abcd.", "\\\\ngh_abcd", '"gh_abcd"', "é gh_abcd"):
        assert ours.search(text), text
    for text in ("xgh_abcd", "gh_abcde"):
        assert not ours.search(text), text


def test_what_is_no_pattern() -> None:
    with pytest.raises(UnsupportedError):
        superset("(")


# -- the index -----------------------------------------------------------------------------------------------------------------


def test_a_compiled_index_loads_again() -> None:
    triggers = [Trigger(("abc",), r"abc\d{3}")]
    first, second = Index(triggers), Index(triggers)
    assert not first.ready
    data = first.compile()
    assert first.ready
    assert first.name == second.name != Index([Trigger(("abd",))]).name
    assert second.load(data)
    assert second.ready
    assert second.engine(None).scan("abc123") == [(0, 0)]
    assert second.engine(None).scan("abc12") == []


@pytest.mark.parametrize("data", [b"", b"x" * 100])
def test_what_the_library_refuses_is_not_loaded(data: bytes) -> None:
    index = Index([Trigger(("abc",))])
    assert not index.load(data)
    assert not index.ready
    assert index.engine(None).scan("xabc") == [(0, 0)]


def test_without_any_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("engines", "index"):
        monkeypatch.setattr(f"tachograph.redact.prefilter.{place}.module", lambda name: None)
    index = Index([Trigger(("abc",))])
    assert index.name == ""
    assert index.compile() == b""
    assert not index.load(b"x")
    assert index.engine(None).scan("xabc") == [(0, 0)]


@pytest.mark.parametrize("literals", [(), ("",), ("é",)])
def test_a_trigger_needs_literals(literals: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="ASCII"):
        Trigger(literals)


def test_only_a_single_literal_has_places() -> None:
    with pytest.raises(ValueError, match="one literal"):
        Trigger(("a", "b"), tail=1)


def test_the_default_policy_shares_one_index() -> None:
    assert redactor().index is redactor().index
    own = Redactor(Policy(rules=ALL, secret_names=frozenset({"zugang"})), key=b"k" * 32)
    assert own.index is not redactor().index
    assert own.text("zugang = aB3dE6gH9jK2mN5qR8") != "zugang = aB3dE6gH9jK2mN5qR8"


# -- gates ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "flags", "longest"),
    [
        (r"gh_[A-Za-z0-9]{36}", 0, 39), (r"(?:ab|abcd)_\w{4}", re.ASCII, 7), (r"\w{30}", 0, 0), (r"a{30}", re.IGNORECASE, 30), (r"k{30}", re.IGNORECASE, 0),
        (r"[a-f0-9]{8}\.[a-f0-9]{20}", 0, 20), (r"(?:[a-z]{8}-){3}x", 0, 28), (r"(?:[a-z]{8}/){3}x", 0, 8), (r"a{40}|b/c", 0, 1), (r"(?:a{40})?bc", 0, 2),
        (r"a{5}(?:/x)?b{5}", 0, 5), (r"(?=a{40})b", 0, 1), (r".{40}", 0, 0), (r"(a{9})\1", 0, 9), (r"(", 0, 0), (r"a{3}(?:b{4}|/c)d{5}", 0, 6), (r"x(?:ab/)?y{3}", 0, 3),
    ],
)  # fmt: skip
def test_characters_in_a_row_that_every_match_has(pattern: str, flags: int, longest: int) -> None:
    assert run(pattern, flags) == longest


def test_behind_a_gate_is_looked_where_there_is_a_long_word() -> None:
    triggers = (
        Trigger(("ab_",), r"ab_[a-z0-9]{40}"),
        Trigger((), r"[0-9]{4}z", run=24),
        Trigger((), r"[0-9]{4}y", run=20),
        Trigger(("cd_",), r"cd_[a-z]{25}"),
        Trigger(("ef",)),
        Trigger((), OUTSIDE),
        places("key"),
    )
    one = Hyperscan(triggers, compiled(triggers))

    def seen(text: str) -> set[int]:
        return {number for number, _ in one.scan(text)}

    assert seen("ef 1234z 1234y") == {4}
    assert seen("1234z 1234y +" + "x" * 19) == {2}
    assert seen("1234z 1234y =" + "x" * 23) == {1, 2}
    assert seen("cd_" + "x" * 25) == {3}
    assert seen("ab_" + "x1" * 20 + " ä") == {0, 5}
    assert seen("KEY 1") == {6}
    assert seen("\u212aEY 1 ?") == {5}


def test_every_trigger_without_literals_that_is_in_long_words_says_so() -> None:
    """Such a pattern beside hundreds of others costs as much as all of these."""
    assert [
        trigger.pattern[:60] for trigger in INDEX.triggers if not trigger.literals and trigger.pattern != OUTSIDE and not _which(trigger)
    ] == []


@pytest.mark.parametrize("cut", [1, 7, 8, 100, -1])
def test_half_an_index_is_not_loaded(cut: int) -> None:
    data = Index([Trigger(("abc",), r"abc\d{30}")]).compile()
    assert not Index([Trigger(("abc",), r"abc\d{30}")]).load(data[:cut])
