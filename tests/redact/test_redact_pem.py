from __future__ import annotations

import json

import pytest
from redact_samples import PEM, redactor, trace

from tachograph.redact.finders import pem
from tachograph.redact.rules.examples import mixed

BEGIN, END = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
LINES = [mixed(200)[i : i + 64] for i in range(0, 200, 64)]


def masked(text: str) -> list[str]:
    return [text[start:end] for start, end in pem.find(text)]


@pytest.mark.parametrize(
    "text",
    [
        PEM,
        PEM.replace("\n", "\r\n"),
        json.dumps(PEM)[1:-1],
        json.dumps(json.dumps(PEM))[3:-3],
        PEM.replace("\n", "\n  "),
        PEM.replace("\n", "\n#6 0.245 "),
        PEM.replace("\n", "\n2026-01-02 03:04:05 "),
        PEM.replace("\n", "\n * "),
        PEM.replace("\n", '\\n" +\n  "'),
        PEM.replace("RSA ", "OPENSSH "),
        PEM.replace("RSA ", ""),
        PEM.replace("RSA PRIVATE KEY", "PGP " + "PRIVATE KEY BLOCK").replace("BLOCK-----\n", "BLOCK-----\nVersion: x\n\n", 1),
        PEM.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n", 1),
    ],
)
def test_a_whole_block_is_masked_whole(text: str) -> None:
    assert masked(f"before\n{text}\nafter") == [text]


@pytest.mark.parametrize("join", ["\n", "\n#6 0.245 ", "\\n", '\\n" +\n  "'])
@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_block_that_lost_its_beginning(join: str, lost: int) -> None:
    text = join.join([*LINES[lost:], END])
    out = redactor().text(f"some output{join}{text}{join}and more")
    assert trace("".join(LINES[lost:]), out) is None
    assert "some output" in out
    assert "and more" in out


@pytest.mark.parametrize("length", [16, 40, 100])
def test_a_block_that_lost_its_end(length: int) -> None:
    text = f"$ cat k\n{BEGIN}\n{PEM[len(BEGIN) + 1 :][:length]}"
    assert masked(text) == [text[8:]]


@pytest.mark.parametrize("before", ["", "x = `", 'KEY = """', "#6 0.245 ", "2026-01-02 03:04:05 ", "  * "])
@pytest.mark.parametrize("after", ["", "\n", "\\n", '\\n"', '\\n" +', "\r\n"])
def test_a_text_that_breaks_off_behind_the_opener(before: str, after: str) -> None:
    assert masked(f"{before}{BEGIN}{after}") == [BEGIN]


@pytest.mark.parametrize(
    "text",
    [
        f'if "{BEGIN}" in text: raise',
        f'grep -r -- "{BEGIN}"',
        f"grep -r -- '{BEGIN}'",
        f"A key begins with `{BEGIN}`",
        f"{BEGIN} is the first line of a file.",
        f"{BEGIN}\n...\n{END}",
        f"{BEGIN}\nanything\n{END}",
        f"{BEGIN}\nxxx\n{END}",
        f"{BEGIN}{END}",
        f"it ends with {END}",
        f"one\ntwo words\n{END}\n",
        "-----BEGIN CERTIFICATE-----\n" + "\n".join(LINES) + "\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\n" + "\n".join(LINES) + "\n-----END PUBLIC KEY-----",
    ],
)
def test_mentions_stay(text: str) -> None:
    assert masked(text) == []


def test_two_blocks_one_of_them_broken() -> None:
    first = f"{BEGIN}\n{LINES[0]}\n"
    assert masked(first + PEM) == [first, PEM]
    assert masked(f"{PEM}\nx\n{LINES[0]}\n{END}") == [PEM, f"{LINES[0]}\n{END}"]


def test_many_openers_and_ends_are_read_once() -> None:
    """Looking for the END of each opener anew would take minutes here."""
    assert masked(f"{BEGIN}\n" * 20_000) == [BEGIN]
    assert masked(f"{END}\n" * 20_000) == []
    assert len(masked(f"{PEM}\n" * 2_000)) == 2_000
