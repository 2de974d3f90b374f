from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from tachograph.format import line


def test_the_hash_is_over_the_hash_before_and_the_bytes_up_to_the_comma() -> None:
    previous = line.genesis("ses_X")
    data, digest = line.make(previous, {"v": 1, "seq": 1})
    assert data == b'{"v":1,"seq":1,"hash":"' + digest.encode() + b'"}\n'
    assert digest == hashlib.sha256(previous.encode() + b'{"v":1,"seq":1').hexdigest()


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_flipped_byte_is_noticed(place: int, flip: int) -> None:
    previous = line.genesis("ses_X")
    data, _ = line.make(previous, {"v": 1, "seq": 1, "text": "a" * 40})
    at = place % len(data)
    changed = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    assert line.check(previous, data) is not None
    assert line.check(previous, changed) is None


def test_a_line_continues_only_its_own_predecessor() -> None:
    data, _ = line.make(line.genesis("ses_X"), {"v": 1})
    assert line.check(line.genesis("ses_Y"), data) is None
