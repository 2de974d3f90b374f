"""Who wants to know of every masked value is told once, with the fingerprint that the placeholder has."""

from __future__ import annotations

import json

from redact_samples import AWS, GITHUB, KEY

from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy


def _told() -> tuple[Redactor, list[tuple[str, str, str]]]:
    told: list[tuple[str, str, str]] = []
    return Redactor(Policy.default(), key=KEY, sink=lambda *found: told.append(found)), told


def test_the_sink_is_told_of_each_value_once_with_the_fingerprint_of_its_placeholder() -> None:
    redactor, told = _told()
    first = redactor.text(f"token {GITHUB}")
    again = redactor.document({"x": f"again {GITHUB}", "y": AWS})
    assert [value for _, _, value in told] == [GITHUB, AWS]
    for (fingerprint, kind, _), text in zip(told, (first, again["y"]), strict=True):
        assert f"[REDACTED:{kind}:{fingerprint}]" in text


def test_the_sink_gets_the_secret_and_not_its_escaped_form() -> None:
    redactor, told = _told()
    secret = 'pass"wo\\rd-9-xK'
    redactor.text(json.dumps({"password": secret}))
    assert [value for _, _, value in told] == [secret]


def test_a_text_without_a_secret_tells_nothing() -> None:
    redactor, told = _told()
    redactor.text("nothing to see here, [REDACTED:github-token:01234567]")
    assert told == []
