"""What hostile and unlucky texts cost: in proportion to their size, whatever they are made of."""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any

import pytest
from redact_samples import redactor

UNITS = (
    "key token pass ", "key=", "key= ", "a=", "-----BEGIN ", "-----BEGIN " + "PRIVATE KEY-----\n", "-----END " + "PRIVATE KEY-----\n", "://", "://a:b@",
    "[", '{"a":', 'key="', "\\", 'key=\\"', "gh" + "p_", "-ey" + "J", "ey" + "Jabcdefghijkl.", "%41", "QUJD", "&quot;", "\\u0041", "Cookie: a=", "mysql -p ",
    "curl -u a:b ", "password = '", "?token=abcd", "kind: Secret\ndata:\n", "machine a login b ", "Authorization: X ", "1", "41", "deepgram 1a", "sk-",
    "password=hunter2hunter3\n", "password,token\n", "| password |\n|---|\n", "<th>password</th><td>hunter2hunter3</td>", "password  token\n--------  ----\n", "password:\n  ", "passwords: [", "password: |\n ", "password is ", "log in with a / ", "<name>password</name>", '"value": "abcd", ', '~ password = "a" -> ',
    "[REDACTED:00000000]", "\n", "<password>", "ü", "key\u212a ",
)  # fmt: skip


def text(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def calls(red: Any, value: str) -> int:
    """How many functions a scan calls: the same on every machine."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    red.forget()
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        red.spans(value)
    finally:
        sys.setprofile(before)
    return count


@pytest.fixture(scope="module")
def red() -> Any:
    made = redactor()
    made.index.compile()
    made.text("everything that is made when it is first needed: key=1 ghp_ %41")
    return made


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_is_twice_the_calls(red: Any, unit: str) -> None:
    calls(red, text(unit, 12_000))  # patterns are compiled when they are first tried
    once, twice = calls(red, text(unit, 12_000)), calls(red, text(unit, 24_000))
    assert twice <= 2.5 * once + 200


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_is_twice_the_time(red: Any, unit: str) -> None:
    """What the library's C code does is not seen in calls. A square would be a ratio of four; the best of several rounds is compared."""

    def took(size: int) -> float:
        best = float("inf")
        for _ in range(4):
            red.forget()
            began = time.process_time()
            red.spans(text(unit, size))
            best = min(best, time.process_time() - began)
        return best

    assert took(60_000) <= 3.2 * took(30_000) + 0.02
