from __future__ import annotations

import gzip
import importlib
import zlib
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import GITHUB, PASSWORD, redactor, trace

from tachograph.redact import encodings
from tachograph.redact.placeholder import PLACEHOLDER

DATA = b"the quick brown fox " * 50


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd)])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_members_follow_each_other(name: str, pack: Any, size: int) -> None:
    packed = pack(DATA) + pack(b"and more") + pack(b"")
    chunks = [packed[i : i + size] for i in range(0, len(packed), size)]
    out = encodings.decode(chunks, name)
    assert len(out) == len(chunks)
    assert b"".join(out) == DATA + b"and more"


def test_padding_behind_a_member() -> None:
    assert encodings.decode([gzip.compress(DATA) + b"\0" * 100], "gzip") == [DATA]
    assert encodings.decode([gzip.compress(DATA), b"\0" * 100], "gzip") == [DATA, b""]
    with pytest.raises(encodings.UndecodableError):
        encodings.decode([gzip.compress(DATA) + b"something else"], "gzip")


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd)])
def test_cut_short(name: str, pack: Any) -> None:
    packed = pack(bytes(range(256)) * 200)
    for end in range(0, len(packed), 7):
        assert (bytes(range(256)) * 200).startswith(b"".join(encodings.decode([packed[:end]], name)))


def test_several_encodings() -> None:
    assert encodings.decode([gzip.compress(zstd(DATA))], "zstd, gzip") == [DATA]
    assert encodings.decode([DATA], "identity") == [DATA]
    assert encodings.decode([], "gzip") == []


class _Rot:
    """Stands for brotli's decoder."""

    def process(self, data: bytes) -> bytes:
        if b"bad" in data:
            raise RuntimeError("damaged")
        return bytes(b ^ 1 for b in data)


def test_br_with_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(Decompressor=_Rot) if name == "brotli" else real(name))
    packed = bytes(b ^ 1 for b in b'{"a":"' + GITHUB.encode() + b'"}')
    headers, out = redactor().answer([["content-type", "application/json"], ["content-encoding", "br"]], [packed[:9], packed[9:]])
    assert headers == [["content-type", "application/json"]]
    assert len(out) == 2
    assert b"".join(out).decode() == redactor().text('{"a":"' + GITHUB + '"}')
    fine = [bytes(b ^ 1 for b in b'{"a":1}')]
    assert redactor().answer([["content-encoding", "br"]], fine) == ([["content-encoding", "br"]], fine)
    with pytest.raises(encodings.UndecodableError):
        encodings.decode([b"bad"], "br")


def test_br_without_a_module_hides_everything_and_can_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def missing(name: str) -> Any:
        if name.startswith("brotli"):
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    packed = b"\x8b\x03" + GITHUB.encode() + b"\x03"
    headers, out = redactor().answer([["content-type", "text/plain"], ["Content-Encoding", "br"], ["Content-Length", "99"]], [packed, b"x"])
    body = b"".join(out)
    assert PLACEHOLDER.fullmatch(body.decode())
    assert trace(GITHUB, body.decode()) is None
    assert headers == [["content-type", "text/plain"], ["Content-Length", str(len(body))]]
    assert PLACEHOLDER.fullmatch(redactor().body(packed, content_type="text/plain", content_encoding="br"))


def test_br_for_real() -> None:
    brotli = pytest.importorskip("brotli")
    packed = brotli.compress(b'{"a":"' + GITHUB.encode() + b'"}')
    out = redactor().body(packed, content_type="application/json", content_encoding="br")
    assert list(out) == ["a"]
    assert PLACEHOLDER.fullmatch(out["a"])
    with pytest.raises(encodings.UndecodableError):
        encodings.decode([brotli.compress(b"\0" * (encodings.LIMIT + 1))], "br")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_text_of_two_bytes_a_character_is_a_text(codec: str) -> None:
    text = f"name: ä\r\nDB_PASSWORD={PASSWORD}\r\nusing {GITHUB} now\r\n"
    data = text.encode(codec)
    out = redactor().raw(data)
    shown = out.decode(codec)
    assert trace(GITHUB, shown) is None
    assert PASSWORD not in shown
    assert shown.startswith("name: ä\r\nDB_PASSWORD=[REDACTED:")
    assert redactor().raw(out) == out
    _, chunks = redactor().answer([], [data[:31], data[31:]])
    assert b"".join(chunks).decode(codec) == shown
    clean = "nothing to hide here\n".encode(codec)
    assert redactor().raw(clean) is clean
    assert redactor().answer([], [clean])[1] == [clean]


@given(st.binary(max_size=200))
def test_other_bytes_are_not_taken_for_such_a_text(data: bytes) -> None:
    redactor().raw(data)
    redactor().raw(b"\xff\xfe" + data)
    assert not encodings.wide(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + data)
