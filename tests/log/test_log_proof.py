"""Proofs of one line and seals alone: checked with the public key, and by a parser that is not ours."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, check, draft, new_store, new_writer, write_session

from tachograph.core.errors import FormatError, NotFoundError, TamperedError, UsageError
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import proof, recover
from tachograph.log.opening import OpenStore


@pytest.fixture
def opened(tmp_path: Path) -> OpenStore:
    made = new_store(tmp_path / "store")
    write_session(made, 11)
    return made


def public(opened: OpenStore) -> bytes:
    return opened.key.public()


def by_the_specifications(text: str) -> tuple[bytes, str, int]:
    """(leaf, origin, size) of a C2SP tlog-proof, read by its page and RFC 9162, section 2.1.3.2, from nothing of ours."""
    head, note = text.split("\n\n", 1)
    lines = head.split("\n")
    assert lines[0] == "c2sp.org/tlog-proof@v1"
    assert lines[1].startswith("extra ")
    leaf = base64.b64decode(lines[1][6:], validate=True)
    match = re.fullmatch(r"index (0|[1-9]\d*)", lines[2])
    assert match is not None
    path = [base64.b64decode(one, validate=True) for one in lines[3:]]
    body = note.split("\n\n")[0].split("\n")
    origin, size, root = body[0], int(body[1]), base64.b64decode(body[2])
    fn, sn, r = int(match[1]), size - 1, hashlib.sha256(b"\0" + leaf).digest()
    for p in path:
        assert sn > 0
        if fn % 2 == 1 or fn == sn:
            r = hashlib.sha256(b"\1" + p + r).digest()
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = hashlib.sha256(b"\1" + r + p).digest()
        fn, sn = fn >> 1, sn >> 1
    assert (sn, r) == (0, root)
    return leaf, origin, size


def test_each_line_is_proved(opened: OpenStore) -> None:
    size = check(opened).events
    for number in range(1, size + 1):
        text = proof.prove(opened.store, SESSION, str(number), public(opened))
        found = proof.check(text, public(opened))
        assert (found.session_id, found.seq, found.size, found.fields["seq"]) == (SESSION, number, size, number)
        assert by_the_specifications(text) == (found.line, f"tachograph/v1/{SESSION}", size)
        assert found.root == check(opened).root


def test_an_event_is_named_by_its_id_or_its_beginning(opened: OpenStore) -> None:
    third = proof.check(proof.prove(opened.store, SESSION, "3", public(opened)), public(opened)).fields["id"]
    assert proof.check(proof.prove(opened.store, SESSION, third, public(opened)), public(opened)).seq == 3
    with pytest.raises(UsageError, match="begin with evt_"):
        proof.prove(opened.store, SESSION, "evt_", public(opened))
    for name in ("evt_X", "0", "999", ""):
        with pytest.raises(UsageError, match="tacho cat"):
            proof.prove(opened.store, SESSION, name, public(opened))


def test_a_seal_alone_is_checked(opened: OpenStore) -> None:
    found = proof.check(proof.newest_seal(opened.store, SESSION, public(opened)), public(opened))
    assert (found.session_id, found.size, found.root, found.line, found.fields) == (SESSION, 13, check(opened).root, None, {})


def test_no_changed_character_of_a_proof_passes(opened: OpenStore) -> None:
    text = proof.prove(opened.store, SESSION, "4", public(opened))
    for at in range(0, len(text), 7):
        changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
        with pytest.raises(ValueError):
            proof.check(changed, public(opened))


def test_a_proof_by_another_key_proves_nothing(opened: OpenStore) -> None:
    stranger = keys.KeyFile(b"k" * 32, b"s" * 32).public()
    for text in (proof.prove(opened.store, SESSION, "4", public(opened)), proof.newest_seal(opened.store, SESSION, public(opened))):
        with pytest.raises(ValueError, match="no signature by the expected key"):
            proof.check(text, stranger)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (r"\nextra [^\n]*", "", "without the line"),
        (r"\nindex 3", r"\nindex 03", "without an index"),
        (r"\nindex 3", r"\nindex 2", "not in the log"),
        (r"\nindex 3", r"\nindex 99", "leaf 99 of a tree of 13"),
        (r"\nindex 3\n[^\n]*", r"\nindex 3", "too short|not in the log"),
        (r"\nindex 3\n", r"\nindex 3\nAAAA\n", "a hash of the path"),
        (r"\n\n(?s:.*)", "\n", "without a seal"),
    ],
)
def test_a_proof_that_was_changed_says_what_is_wrong(opened: OpenStore, old: str, new: str, what: str) -> None:
    text = proof.prove(opened.store, SESSION, "4", public(opened))
    with pytest.raises(ValueError, match=what):
        proof.check(re.sub(old, new, text, count=1), public(opened))


def test_a_line_of_another_session_is_not_proved_by_the_seal_of_this_one(opened: OpenStore) -> None:
    other = "ses_01K0000000000000000000000B"
    write_session(opened, 11, session_id=other)
    theirs = proof.newest_seal(opened.store, other, public(opened))
    mine = proof.prove(opened.store, SESSION, "4", public(opened)).partition("\n\n")[0]
    with pytest.raises(ValueError, match="not in the log"):
        proof.check(mine + "\n\n" + theirs, public(opened))


def test_what_is_not_sealed_or_not_as_sealed_is_not_proved(opened: OpenStore, tmp_path: Path) -> None:
    name = "ses_01K0000000000000000000000C"
    write_session(opened, end=False, session_id=name)
    with pytest.raises(UsageError, match=r"line 7 of .* is not sealed yet, 5 are"):
        proof.prove(opened.store, name, "7", public(opened))
    path = tmp_path / "store" / layout.events(SESSION, 1)
    path.write_bytes(path.read_bytes().replace(b'"note"', b'"nOte"', 1))
    with pytest.raises(TamperedError, match="not over the lines that are there"):
        proof.newest_seal(opened.store, SESSION, public(opened))
    (tmp_path / "store" / layout.seals(name, 1)).write_bytes(b"")
    with pytest.raises(NotFoundError, match="no seal yet"):
        proof.newest_seal(opened.store, name, public(opened))


def test_a_verifier_key_is_found_in_a_file(opened: OpenStore) -> None:
    described = opened.store.read(layout.STORE).decode()
    vkey = proof.verifier(described)
    assert proof.verifier(f"\n{vkey}\n") == vkey
    for text in ("", "[]", "{}"):
        with pytest.raises(FormatError, match="no verifier key"):
            proof.verifier(text)


def test_a_log_that_went_on_after_a_failed_write_is_proved(opened: OpenStore) -> None:
    """What the failed write left is void, and no line of the log."""
    name = "ses_01K0000000000000000000000D"
    writer = new_writer(opened, name)
    writer.append(draft(1))
    writer.commit()
    mark = writer.mark
    writer.append(draft(2))
    writer.commit()  # as if the device had not got this
    writer.close()
    again = recover.restart(
        opened, name, opened.data_key(name), mark, clock=Clock(), entropy=Entropy(), reason="write_failed",
        lock=opened.store.lock(layout.lock(name)),
    )  # fmt: skip
    again.append(draft(3))
    again.seal()
    again.close()
    assert check(opened, name).good
    found = proof.check(proof.prove(opened.store, name, "3", public(opened)), public(opened))
    assert (found.size, found.root) == (3, check(opened, name).root)
