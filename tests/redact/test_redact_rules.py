from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from tachograph.redact.finders.vendors import DEFAULT, Vendors, stand_in
from tachograph.redact.policy import Policy
from tachograph.redact.rules import ALL, Rule
from tachograph.redact.rules.rule import Expression

IDS = [rule.id for rule in ALL]


def found(vendors: Vendors, text: str) -> list[str]:
    return [text[start:end] for start, end, *_ in vendors.find(text)]


@pytest.mark.parametrize("rule", ALL, ids=IDS)
def test_a_rule_does_what_its_examples_say(rule: Rule) -> None:
    vendors = Vendors([rule])
    assert rule.positive
    assert rule.negative
    for text in rule.positive:
        assert found(vendors, text), text
        assert found(vendors, f"before\n{text}\nafter"), text
    for text in rule.negative:
        assert found(vendors, text) == []


@pytest.mark.parametrize("colour", ["\x1b[94m", "\x1b[m", "\x1b[1;94m", "\x1b[38;5;196m", "\\u001b[1m"])
@pytest.mark.parametrize("rule", ALL, ids=IDS)
def test_a_colour_of_the_terminal_hides_nothing(rule: Rule, colour: str) -> None:
    for text in rule.positive:
        coloured = found(DEFAULT, f"{colour}{text}\x1b[0m")
        assert all(any(secret in masked for masked in coloured) for secret in found(Vendors([rule]), text)), text


@pytest.mark.parametrize("rule", ALL, ids=IDS)
def test_all_rules_together_find_what_each_does(rule: Rule) -> None:
    """No rule stands in the way of another."""
    for text in rule.positive:
        alone = found(Vendors([rule]), text)
        assert set(alone) <= set(found(DEFAULT, text))


@pytest.mark.parametrize("rule", ALL, ids=IDS)
def test_a_rule_is_well_formed(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", rule.kind)
    assert rule.keywords or rule.id == "layout"
    assert all(rule.gate in keyword for keyword in rule.keywords)
    assert rule.pattern.groups >= rule.group
    assert not re.search(r"[+*}]\)[+*]", rule.pattern.pattern.replace("\\", "")), "a repetition of a repetition"
    if rule.inside:
        assert all(re.fullmatch(r"[A-Za-z0-9_.~-]+", keyword) for keyword in rule.keywords)


def test_ids_are_unique() -> None:
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("word", ["EXAMPLE", "your-key", "REPLACE_ME", "xxxxxxxx"])
def test_a_token_with_a_word_of_documentation_is_none(word: str) -> None:
    token = "gh" + "p_" + "aB3dE6gH9jK2mN5qR8tV1xY4zC7fG0iL2kQ9"
    assert found(DEFAULT, token) == [token]
    assert found(DEFAULT, token[:20].replace("_", "_", 1) + word + token[20:]) == []


def test_stand_ins() -> None:
    assert stand_in("ghp_" + "x" * 36)
    assert not stand_in("gh" + "p_" + "aB3" * 12)


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    program = "from tachograph.redact.policy import Policy; print(Policy.default().fingerprint)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    assert done.stdout.strip() == Policy.default().fingerprint
    assert re.fullmatch(r"[0-9a-f]{16}", Policy.default().fingerprint)


def test_the_fingerprint_tells_policies_apart() -> None:
    policy = Policy.default()
    first = policy.rules[0]
    others = [
        replace(policy, rules=policy.rules[1:]),
        replace(policy, rules=(replace(first, pattern=re.compile("x")), *policy.rules[1:])),
        replace(policy, rules=(replace(first, entropy=first.entropy + 1), *policy.rules[1:])),
        replace(policy, secret_names=frozenset(("nonce",))),
        replace(policy, plain_names=frozenset(("token",))),
        replace(policy, headers=policy.headers | {"x-mine"}),
    ]
    assert len({policy.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1
    assert Policy.default().fingerprint == policy.fingerprint


def test_a_run_that_varies_too_little_is_read_once() -> None:
    # Many keywords in one run of token characters: tried at each, a text of n characters would cost n times the longest token.
    class Counting(Expression):
        tries = 0

        def match(self, text: str, at: int) -> re.Match[str] | None:
            Counting.tries += 1
            return super().match(text, at)

    rule = Rule(id="x", kind="x", keywords=("aab-",), pattern=Counting(r"aab-[a-z-]{10,4000}"), entropy=3.5)
    assert found(Vendors((rule,)), "aab-" * 10_000) == []
    assert Counting.tries < 30


def test_a_sign_is_in_every_text_in_which_the_rule_is() -> None:
    signed = [rule for rule in ALL if rule.sign]
    assert signed
    for rule in signed:
        for text in rule.positive:
            assert re.search(rule.sign, text, rule.pattern.flags), (rule.id, text)
