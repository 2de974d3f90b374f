from __future__ import annotations

import re

from tachograph.redact.rules.service_names import AMBIGUOUS_NAMES, SERVICE_NAMES


def test_names_are_lower_case_and_without_separators() -> None:
    assert [name for name in SERVICE_NAMES | AMBIGUOUS_NAMES if not re.fullmatch(r"[a-z0-9]{2,32}", name)] == []


def test_a_name_is_in_one_table() -> None:
    assert frozenset() == SERVICE_NAMES & AMBIGUOUS_NAMES


def test_words_that_stand_beside_public_ids_and_hashes_are_ambiguous() -> None:
    words = {"close", "checkout", "docker", "float", "github", "layer", "linear", "merge", "notion", "ollama", "openai", "sentry"}
    assert words <= AMBIGUOUS_NAMES


def test_words_of_a_secrets_name_are_no_services() -> None:
    assert not {"key", "token", "secret", "access", "private", "api", "id", "auth"} & (SERVICE_NAMES | AMBIGUOUS_NAMES)
