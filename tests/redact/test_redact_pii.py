"""Personal data: what counts as such, and the many numbers that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import KEY

from tachograph.redact.engine import Redactor
from tachograph.redact.finders import pii
from tachograph.redact.policy import Policy

ALL = Redactor(Policy.of({"pii": list(pii.KINDS)}), key=KEY)

FOUND = {
    "email": ["ann.lee+x@example.com", "jörg@bücher.example", "a_b@mail.example.co.uk", "x@xn--bcher-kva.xn--p1ai"],
    "phone": ["+49 30 1234567", "+14155550132", "(415) 555-0132", "415-555-0132", "1-415-555-0132", "+44 (0)20 7946 0958",
              "01 23 45 67 89", "020 7946 0958", "07700 900123"],
    "card": ["4111 1111 1111 1111", "4111-1111-1111-1111", "5500005555555559", "3782 822463 10005", "6011000990139424",
             "3566002020360505", "30569309025904", "2223003122003222"],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "FR14 2004 1010 0505 0001 3M02 606", "NO9386011117947"],
    "ssn": ["536-22-1234", "001-01-0001"],
}  # fmt: skip

LEFT = [
    "icon@2x.png", "git@github.com:me/it.git", "user@host", "@decorator.name", "pkg@1.2.3", "a..b@example.com",
    "<Buffer 01 02 03 04 05 06 07>", "a0 01 02 03 04 05", "Decimal('+35236450.6')", "1234567890", "2024-01-02 03:04:05", "10.0.0.1", "192.168.100.200", "version v1.415.555.0132", "0x4155550132", "1700000000000",
    "4111 1111 1111 1112", "4111 1111-1111 1111", "41 11 11 11 11 11 11 11", "0000 0000 0000 0000", "1700000000000000", "9111111111111111",
    "DE89 3704 0044 0532 0130 01", "DE89370400440532013000X", "GB29NWBK6016133192681", "XX893704004405320130",
    "000-12-3456", "666-12-3456", "900-12-3456", "536-00-1234", "536-22-0000", "078-05-1120", "536 22 1234", "1536-22-1234", "536-22-12345",
    "550e8400-e29b-41d4-a716-446655440000", "d41d8cd98f00b204e9800998ecf8427e", "3.14159265358979323846",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in FOUND.items() for value in values])
@pytest.mark.parametrize("text", ["{}", "write to {}, please", '{{"note": "{}"}}', "<{}>\n", "a={};"])
def test_found_in_full(kind: str, value: str, text: str) -> None:
    said = text.format(value)
    [span] = ALL.spans(said)
    assert said[span.start : span.end] == value
    assert span.kind == kind
    assert span.rule == f"pii:{kind}"
    assert ALL.text(said).count(f"[REDACTED:{kind}:") == 1


@pytest.mark.parametrize("text", LEFT)
def test_left_alone(text: str) -> None:
    assert ALL.text(f"see {text} there") == f"see {text} there"


def test_a_password_in_an_address_hides_no_host() -> None:
    out = ALL.text("postgres://report:kV7-quiet-Harbour@db.example/report and https://ann@db.example/, mail bob@db.example")
    assert "@db.example/report" in out
    assert "[REDACTED:password:" in out
    assert "kV7" not in out
    assert "bob" not in out


def test_a_number_after_its_name() -> None:
    assert "536 22 1234" not in ALL.text("SSN: 536 22 1234")


def test_off_by_default_and_one_by_one() -> None:
    text = " ; ".join(values[0] for values in FOUND.values())
    assert Redactor(Policy.default(), key=KEY).text(text) == text
    for kind, values in FOUND.items():
        only = Redactor(Policy.of({"pii": [kind]}), key=KEY)
        assert [span.kind for span in only.spans(text)] == [kind]
        assert values[0] not in only.text(text)


@given(st.integers(0, 10**14 - 1))
def test_cards_by_their_check_digit(number: int) -> None:
    head = f"4{number:014d}"
    good = [digit for digit in "0123456789" if pii.luhn(head + digit)]
    assert len(good) == 1
    if len(set(head)) > 3:
        for digit in "0123456789":
            assert bool(pii.find(f"no {head}{digit}.", ["card"])) is (digit in good)


@given(st.integers(0, 10**18 - 1), st.integers(1, 96))
def test_ibans_by_their_check_digits(account: int, off: int) -> None:
    bban = f"{account:018d}"
    check = 98 - int(f"{bban}131400") % 97
    assert pii.find(f"to DE{check:02d}{bban} now", ["iban"])
    wrong = (check - 2 + off) % 97 + 2
    assert not pii.find(f"to DE{wrong:02d}{bban} now", ["iban"]) or wrong == check


@given(st.text(alphabet="0123456789 -.+()@aDE", max_size=200))
def test_any_text(text: str) -> None:
    found = pii.find(text, pii.KINDS)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert ALL.text(ALL.text(text)) == ALL.text(text)


@pytest.mark.parametrize("unit", ["1 ", "12-", "+1 ", "a@", "a.", "A1 ", "(4", "@.", "0 1"])
def test_long_runs_of_almost_something(unit: str) -> None:
    """Would not come to an end if a pattern went back without bounds."""
    pii.find(unit * 100_000, pii.KINDS)
