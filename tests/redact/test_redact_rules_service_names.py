from __future__ import annotations

import re

from tachograph.redact.rules.service_names import AMBIGUOUS_NAMES, SERVICE_NAMES


def test_names_are_lower_case_and_without_separators() -> None:
    assert [name for name in SERVICE_NAMES | AMBIGUOUS_NAMES if not re.fullmatch(r"[a-z0-9]{2,32}", name)] == []


def test_a_name_is_in_one_table() -> None:
    assert frozenset() == SERVICE_NAMES & AMBIGUOUS_NAMES


def test_words_of_prose_and_code_are_ambiguous() -> None:
    words = {
        "close",
        "copper",
        "float",
        "front",
        "guardian",
        "hive",
        "hunter",
        "linear",
        "merge",
        "notion",
        "square",
        "wave",
        "docker",
        "github",
    }
    assert words <= AMBIGUOUS_NAMES


def test_words_of_a_secrets_name_are_no_services() -> None:
    assert not {"key", "token", "secret", "access", "private", "api", "id", "auth"} & (SERVICE_NAMES | AMBIGUOUS_NAMES)
