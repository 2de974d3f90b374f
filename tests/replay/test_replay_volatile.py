"""What may be another value in another run, and what never."""

from __future__ import annotations

import datetime
import random
import secrets
import string
import tempfile
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.replay import volatile

SAME_KIND = {
    "uuid": ("order 550e8400-e29b-41d4-a716-446655440000.", "order 7c9e6679-7425-40de-944b-e07fc1f90ae7."),
    "hex": ("run 3f2a9c1b, done", "run 77aa01cc, done"),
    "hex of digits only": ("job-12345678", "job-1a2b3c4d"),
    "hex, long": ("sha " + "0a" * 16, "sha " + "1b" * 16),
    "call id": ("call_Ab3dE5gH7jK9mN1pQ3rS5tU7", "call_Zy9xW7vU5tS3rQ1pN9mK7jH5"),
    "urlsafe": ("key=Xq-3_aB9cD4-eF5gH6iJ7k", "key=aZ_9-bY8cX7dW6-eV5fU4g"),
    "ulid": ("ses_01M8M1VV1JP0TESSWVCJAY3Q85", "ses_01M8M143M77J7PA2DD1K6SKK9F"),
    "iso": ("at 2026-11-30T10:00:05.123456+00:00", "at 2026-12-01T23:59:59+00:00"),
    "date": ("today is 2026-11-30.", "today is 2026-12-01."),
    "rfc": ("Mon, 30 Nov 2026 10:00:05 GMT", "Tue, 01 Dec 2026 10:00:07 GMT"),
    "ctime": ("Mon Nov 30 00:20:58 2026", "Tue Dec  1 03:20:58 2026"),
    "clock": ("[10:00:05] starting", "[10:00:07] starting"),
    "epoch": ("t=1764460800", "t=1764460999"),
    "epoch, fraction": ("t=1764460800.123", "t=1764460999.4"),
    "port": ("http://127.0.0.1:34567/x", "http://127.0.0.1:45678/x"),
    "port of localhost": ("localhost:34567", "localhost:45678"),
    "pid": ("worker pid 4711 began", "worker pid 83 began"),
    "tempfile": ("/tmp/tmpab12cd34/out.txt", "/tmp/tmpzz99_x0y/out.txt"),
    "tempfile with a prefix": ("/tmp/agent-k3j2h1g0.json", "/tmp/agent-a9_8c7d6.json"),
    "below the replay's folder": ("/tmp/tmpab12cd34", "/tmp/tacho-replay-x1y2z3a4/tmp/tmpzz99_x0y"),
    "bare name": ("see tmpab12cd34", "see tmpzz99_x0y"),
}

DIFFERENT = {
    "amounts": ("refund 10000000 cents", "refund 20000000 cents"),
    "models": ("claude-sonnet-4-20250514", "claude-sonnet-4-20250219"),
    "larger models": ("meta.Llama-3-70B-Instruct-v1", "meta.Llama-4-17B-Instruct-v1"),
    "words": ("the integration passed", "the integration failed"),
    "names with digits": ("report_2024a final", "report_2025b final"),
    "functions": ("getUserById", "getTeamById"),
    "versions": ("v1beta2", "v1alpha1"),
    "kinds": ("id 550e8400-e29b-41d4-a716-446655440000", "id 2026-11-30"),
    "lengths of hex": ("run 3f2a9c1b", "run 3f2a9c1b77"),
    "literal parts": ("order 3f2a9c1b is paid", "order 77aa01cc is open"),
    "prefixes": ("call_Ab3dE5gH7jK9mN1pQ3rS5tU7", "toolu_Zy9xW7vU5tS3rQ1pN9mK7jH"),
    "temporary files of one's own": ("/tmp/report1.txt", "/tmp/report2.txt"),
    "other folders": ("/srv/data1/x.txt", "/srv/data2/x.txt"),
    "suffixes": ("/tmp/tmpab12cd34.json", "/tmp/tmpzz99_x0y.yaml"),
    "forms of dates": ("2026-11-30", "2026-11-30T10:00:05"),
    "a secret and a value": ("key [REDACTED:token:01234567]", "key 0123456789abcdef"),
    "two secrets": ("key [REDACTED:token:01234567]", "key [REDACTED:token:89abcdef]"),
    "ports that are a service's": ("127.0.0.1:443", "127.0.0.1:80"),
    "lines of code": ("agent.py:1234", "agent.py:1299"),
    "one more value": ("runs 3f2a9c1b", "runs 3f2a9c1b 77aa01cc"),
}


@pytest.mark.parametrize("name", SAME_KIND)
def test_values_of_one_kind_are_paired(name: str) -> None:
    recorded, live = SAME_KIND[name]
    found = volatile.pairs(recorded, live)
    assert found
    assert any(each.recorded != each.live for each in found)
    back = volatile.pairs(live, recorded)
    assert back is not None
    assert [(each.live, each.recorded) for each in back] == [(each.recorded, each.live) for each in found]


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_no_value_of_one_kind_is_not(name: str) -> None:
    recorded, live = DIFFERENT[name]
    assert volatile.pairs(recorded, live) is None
    assert volatile.pairs(live, recorded) is None


@given(st.text())
def test_a_text_is_paired_with_itself(text: str) -> None:
    found = volatile.pairs(text, text)
    assert found is not None
    assert all(each.recorded == each.live and each.recorded in text for each in found)


@given(st.text(alphabet="ab0-_: /.\0T5"), st.text(alphabet="ab0-_: /.\0T5"))
def test_pairs_are_all_of_the_difference(one: str, other: str) -> None:
    found = volatile.pairs(one, other)
    if found is not None and one != other:
        for each in sorted(found, key=lambda each: -len(each.recorded)):
            one = one.replace(each.recorded, "\1")
            other = other.replace(each.live, "\1")
        assert one == other


MINTED = {
    "uuid": lambda: str(uuid.uuid4()),
    "short hex": lambda: "job_" + uuid.uuid4().hex[:8],
    "token_hex": lambda: secrets.token_hex(16),
    "urlsafe": lambda: "k-" + secrets.token_urlsafe(32),
    "base62": lambda: "call_" + "".join(random.choices(string.ascii_letters + string.digits, k=24)),
    "tempfile": lambda: tempfile.gettempprefix() + next(tempfile._get_candidate_names()),
    "moment": lambda: datetime.datetime.fromtimestamp(random.uniform(1.6e9, 1.9e9)).isoformat(),
    "ctime": lambda: datetime.datetime.fromtimestamp(random.uniform(1.6e9, 1.9e9)).ctime(),
}


@pytest.mark.parametrize("name", MINTED)
def test_what_programs_mint_is_recognised(name: str) -> None:
    # Random texts may look like words or numbers by chance; the whole of a thousand is all that is asked for.
    mint = MINTED[name]
    missed = [pair for pair in ((mint(), mint()) for _ in range(1000)) if volatile.pairs(f"a {pair[0]} b", f"a {pair[1]} b") is None]
    assert len(missed) <= 25, missed[:5]


def test_numbers() -> None:
    assert volatile.number("created", 1764460800, 1764460999) == ("epoch", "1764460800", "1764460999")
    assert volatile.number("t", 1764460800.5, 1764460999.25) is not None
    assert volatile.number("t", 1764460800123, 1764460999456) is not None
    assert volatile.number("t", 1764460800, 1764460999456) is None
    assert volatile.number("pid", 17, 4711) == ("pid", "17", "4711")
    assert volatile.number("port", 34567, 45678) == ("port", "34567", "45678")
    assert volatile.number("cents", 34567, 45678) is None
    assert volatile.number("port", 80, 443) is None
