"""What a policy adds, takes away and allows; what is refused; that a record's copy of it is the same policy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from redact_samples import AWS, GITHUB, KEY, PASSWORD, SHAPED, trace

from tachograph.core.errors import UsageError
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy, digest
from tachograph.redact.rules import ALL
from tachograph.redact.rules.examples import lower, mixed

ACME = "acme" + "_" + lower(24)
RULE: dict[str, Any] = {"id": "acme-key", "pattern": r"acme_[a-z0-9]{24}", "positive": [ACME], "negative": ["acme_short"]}
FULL: dict[str, Any] = {
    "rules": {"add": [RULE], "remove": ["jwt"]}, "secret_names": ["Nonce"], "plain_names": ["shared_secret", "X-Api-Key"],
    "headers": ["X-Acme"], "allow": [digest(AWS), "test_[a-z]{4,20}"], "pii": ["email"],
}  # fmt: skip


def redactor(document: dict[str, Any], **known: str) -> Redactor:
    return Redactor(Policy.of(document), key=KEY, known={value: kind for kind, value in known.items()})


def test_nothing_given_is_the_default() -> None:
    assert Policy.of({}) == Policy.default()
    assert Policy.of({}).rules is ALL
    assert Policy.of({}).fingerprint == Policy.default().fingerprint


def test_a_rule_of_ones_own() -> None:
    ours = redactor({"rules": {"add": [RULE]}})
    assert ours.text(f"use {ACME} now").startswith("use [REDACTED:acme-key:")
    assert [span.rule for span in ours.spans(f"use {ACME} now")] == ["acme-key"]
    assert Redactor(Policy.default(), key=KEY).text(f"use {ACME} now") == f"use {ACME} now"
    for secret in SHAPED:
        assert trace(secret, ours.text(f"x {secret} y"), 12) is None


def test_a_group_is_what_is_masked() -> None:
    rule = {"id": "seal", "pattern": r"seal no\. (?P<secret>\d{8})", "positive": ["seal no. 12345678"]}
    assert redactor({"rules": {"add": [rule]}}).text("the seal no. 87654321 is").startswith("the seal no. [REDACTED:seal:")


def test_keywords_in_the_middle() -> None:
    rule = {
        "id": "mid",
        "pattern": r"[a-z]{8}\.(?:prod|test)\.[a-z0-9]{12}",
        "keywords": [".prod.", ".test."],
        "positive": ["abcdefgh.prod.a1b2c3d4e5f6"],
    }
    assert redactor({"rules": {"add": [rule]}}).text("x zyxwvuts.test.a1b2c3d4e5f6 y").startswith("x [REDACTED:mid:")


def test_a_rule_taken_away() -> None:
    assert Policy.of(FULL).rules != ALL
    assert "jwt" not in {rule.id for rule in Policy.of(FULL).rules}
    removed = Policy.of({"rules": {"remove": ["jwt"], "add": [{**RULE, "id": "jwt"}]}})
    assert sum(rule.id == "jwt" for rule in removed.rules) == 1


def test_names() -> None:
    ours = redactor(FULL)
    assert trace(PASSWORD, ours.text(f"nonce: {PASSWORD}")) is None
    assert trace(PASSWORD, json.dumps(ours.document({"nonce": PASSWORD}))) is None
    assert ours.document({"shared_secret": PASSWORD}) == {"shared_secret": PASSWORD}
    assert ours.environment({"SHARED_SECRET": PASSWORD}) == {"SHARED_SECRET": PASSWORD}
    assert ours.headers([["X-Acme", "abc"], ["X-Api-Key", "plain-one"]])[0][1] != "abc"
    assert ours.headers([["X-Api-Key", "plain-one"]]) == [["X-Api-Key", "plain-one"]]


@pytest.mark.parametrize(
    "text", ["{}", "key {} here", "password={}", "Authorization: Bearer {}", '{{"api_key": "{}"}}', "https://u:{}@h.example/"]
)
@pytest.mark.parametrize("allowed", [AWS, GITHUB, PASSWORD])
def test_what_is_allowed_is_masked_nowhere(text: str, allowed: str) -> None:
    ours = redactor({"allow": [digest(allowed)]}, env=allowed)
    assert ours.text(text.format(allowed)) == text.format(allowed)
    other = "gh" + "p_" + mixed(60)[24:]
    assert trace(other, ours.text(text.format(other))) is None
    assert ours.headers([["X-Api-Key", allowed]]) == [["X-Api-Key", allowed]]
    assert ours.environment({"DB_PASSWORD": allowed}) == {"DB_PASSWORD": allowed}
    assert ours.document({"password": allowed}) == {"password": allowed}


def test_a_pattern_allows_the_whole_value_only() -> None:
    ours = redactor({"allow": [r"test_\w{4,40}"]})
    assert ours.document({"password": "test_Abc123xyz"}) == {"password": "test_Abc123xyz"}
    assert ours.document({"password": "my test_Abc123xyz"}) != {"password": "my test_Abc123xyz"}


def test_a_record_holds_the_policy() -> None:
    policy = Policy.of(FULL)
    again = Policy.of(json.loads(json.dumps(policy.document())), proven=True)
    assert again.fingerprint == policy.fingerprint
    assert again.allow == policy.allow
    for text in (f"{ACME} {AWS} {GITHUB}", f"nonce={PASSWORD} mail to ann@example.com"):
        assert Redactor(again, key=KEY).text(text) == Redactor(policy, key=KEY).text(text)
    assert AWS not in json.dumps(policy.document())


def test_a_record_of_a_version_with_other_rules() -> None:
    document = {**Policy.of(FULL).document()}
    document["rules"] = {**document["rules"], "remove": ["a-rule-of-long-ago"]}
    assert Policy.of(document, proven=True).rules[: len(ALL)] == ALL
    with pytest.raises(UsageError, match="a-rule-of-long-ago"):
        Policy.of(document)


def test_every_part_changes_the_fingerprint() -> None:
    parts: list[dict[str, Any]] = [{}, {"rules": {"add": [RULE]}}, *({key: FULL[key]} for key in FULL)]
    assert len({Policy.of(part).fingerprint for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"rule": {}}, "no key 'rule'; did you mean 'rules'?"),
        ({"rules": []}, "rules is a table"),
        ({"rules": {"ad": []}}, "did you mean 'add'?"),
        ({"rules": {"remove": ["github-tokn"]}}, "there is no rule 'github-tokn'; did you mean 'github"),
        ({"rules": {"remove": "jwt"}}, "rules.remove is a list of texts"),
        ({"rules": {"add": [{**RULE, "id": "Acme Key"}]}}, "lower-case letters"),
        ({"rules": {"add": [{**RULE, "patern": "x"}]}}, "did you mean 'pattern'?"),
        ({"rules": {"add": [{"id": "acme"}]}}, "there is no pattern"),
        ({"rules": {"add": [{**RULE, "pattern": "acme_("}]}}, "does not compile"),
        ({"rules": {"add": [{**RULE, "pattern": "acme_(a+)+"}]}}, "without an end"),
        ({"rules": {"add": [{**RULE, "pattern": "[a-z]{24}"}]}}, "no literal text"),
        ({"rules": {"add": [{**RULE, "keywords": ["a"]}]}}, "at least 3 characters"),
        ({"rules": {"add": [{**RULE, "keywords": ["other"]}]}}, "positive example 1 holds none of the keywords"),
        ({"rules": {"add": [{**RULE, "positive": []}]}}, "there is no example"),
        ({"rules": {"add": [{**RULE, "positive": ["acme_short"]}]}}, "positive example 1 is not found"),
        ({"rules": {"add": [{**RULE, "negative": [ACME]}]}}, "negative example 1 is found"),
        ({"rules": {"add": [{**RULE, "group": 1}]}}, "no group 1"),
        ({"rules": {"add": [{**RULE, "group": True}]}}, "group is a whole number"),
        ({"rules": {"add": [{**RULE, "id": "jwt"}]}}, "there is a rule 'jwt' already"),
        ({"rules": {"add": [RULE, RULE]}}, "there is a rule 'acme-key' already"),
        ({"pii": ["mail"]}, "there is no kind 'mail'; did you mean 'email'?"),
        ({"secret_names": ["a"], "plain_names": ["A"]}, "in secret_names and in plain_names"),
        ({"secret_names": [""]}, "secret_names is a list of texts"),
        ({"allow": ["sha256:12"]}, "64 hex digits"),
        ({"allow": [".{1,100}"]}, "any value at all"),
        ({"allow": ["(a+)+"]}, "without an end"),
    ],
)
def test_what_is_refused_is_named(document: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        Policy.of(document, "tachograph.toml")
    message = str(caught.value)
    assert says in message
    assert message.startswith("tachograph.toml")
    assert "\n" not in message
    assert trace(ACME, message) is None
