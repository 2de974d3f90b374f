"""Who is believed because of whom, when signing keys follow one another."""

from __future__ import annotations

import base64
import dataclasses
import json

import pytest

from tachograph.core.errors import FormatError
from tachograph.crypto import keys, succession
from tachograph.crypto.succession import Statement, statement

STORE = "sto_1"
A, B, C, THIEF = (keys.KeyFile(bytes([n]) * 32, bytes([n + 100]) * 32) for n in range(4))
HISTORY = [statement(A, B, STORE), statement(B, C, STORE)]


def trusts(root: keys.KeyFile, said: list[Statement], store: str = STORE) -> set[bytes]:
    return set(succession.trusted(root.public(), said, store))


def publics(*found: keys.KeyFile) -> set[bytes]:
    return {one.public() for one in found}


@pytest.mark.parametrize("root", [A, B, C])
@pytest.mark.parametrize("said", [HISTORY, HISTORY[::-1]])
def test_from_each_key_all_are_reached(root: keys.KeyFile, said: list[Statement]) -> None:
    assert trusts(root, said) == publics(A, B, C)
    assert trusts(THIEF, said) == publics(THIEF)


def test_order_is_nearest_first() -> None:
    assert succession.forward(A.public(), HISTORY, STORE) == [B.public(), C.public()]
    assert succession.back(C.public(), HISTORY, STORE) == [B.public(), A.public()]


def test_a_stolen_old_key_names_no_successor_for_who_holds_a_newer_one() -> None:
    """Never back and then forward."""
    forged = statement(A, THIEF, STORE)
    for said in ([*HISTORY, forged], [forged, *HISTORY]):
        assert trusts(C, said) == publics(A, B, C)
        assert trusts(B, said) == publics(A, B, C)


def test_of_two_successors_neither_is_followed() -> None:
    assert trusts(A, [*HISTORY, statement(A, THIEF, STORE)]) == publics(A)


def test_a_thief_without_the_old_key_is_no_fork_and_no_successor() -> None:
    real = statement(A, THIEF, STORE)
    forged = dataclasses.replace(real, by_old=real.by_new)
    assert trusts(A, [*HISTORY, forged]) == publics(A, B, C)
    assert trusts(THIEF, [forged]) == publics(THIEF, A)  # only who believes the thief already goes back from him


def test_a_thief_does_not_become_the_past_of_a_key() -> None:
    real = statement(THIEF, C, STORE)
    forged = dataclasses.replace(real, by_new=real.by_old)
    assert trusts(C, [*HISTORY, forged]) == publics(A, B, C)


def test_a_statement_is_of_one_store() -> None:
    assert trusts(A, HISTORY, "sto_2") == publics(A)


@pytest.mark.parametrize("turn", [0, 1])
def test_a_circle_ends(turn: int) -> None:
    said = [statement(A, B, STORE), statement(B, A, STORE)]
    assert trusts((A, B)[turn], said) == publics(A, B)


def test_round_trip() -> None:
    assert succession.load(succession.dump(HISTORY), "here") == HISTORY
    assert succession.load(succession.dump([]), "here") == []


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("old"), lambda one: one.update(new="x"), lambda one: one.update(new=5), lambda one: one.update(by_old="!"),
        lambda one: one.update(old=one["old"].replace("tachograph/", "a follows b/")), lambda one: one.update(by_new=None),
        lambda one: one.update(old=one["old"] + "\n"), lambda one: one.update(old=one["old"].replace("=", "", 1)),
    ],
)  # fmt: skip
def test_what_is_no_statement_is_refused(change: object) -> None:
    assert callable(change)
    fields = json.loads(succession.dump([dataclasses.replace(HISTORY[0], by_old=base64.b64decode(b"AAAA"))]))
    succession.load(json.dumps(fields).encode(), "here")
    before = json.dumps(fields)
    change(fields["verifiers"][0])
    if json.dumps(fields) == before:
        pytest.skip("no padding in this key")
    with pytest.raises(FormatError, match="here; restore"):
        succession.load(json.dumps(fields).encode(), "here")


@pytest.mark.parametrize("data", [b"", b"[]", b"5", b'{"v":1}', b'{"v":2,"type":"tachograph-verifiers","verifiers":[]}', b"[" * 50_000])
def test_what_is_no_list_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="here; restore"):
        succession.load(data, "here")
