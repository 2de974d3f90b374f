from __future__ import annotations

import re

import pytest

from tachograph.redact import lazy


def test_it_does_what_the_compiled_one_does() -> None:
    for flags in (0, re.IGNORECASE, re.ASCII | re.DOTALL):
        real, late = re.compile(r"(?P<word>a\w+)-(b)", flags), lazy.expression(r"(?P<word>a\w+)-(b)", flags)
        assert (late.pattern, late.flags) == (real.pattern, real.flags)
        for method in ("match", "search", "fullmatch", "findall", "split"):
            assert str(getattr(late, method)("aé1-b ax-b")) == str(getattr(real, method)("aé1-b ax-b"))
        assert [m.span() for m in late.finditer("aa-b ab-b")] == [m.span() for m in real.finditer("aa-b ab-b")]
        assert late.sub("x", "aa-b") == "x"
        assert late.groups == 2
    assert lazy.raw_expression(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_it_is_compiled_once_and_only_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = re.compile
    monkeypatch.setattr(lazy.re, "compile", lambda pattern, flags: (made.append(pattern), real(pattern, flags))[1])
    late = lazy.expression("x+")
    assert (late.pattern, made) == ("x+", [])
    assert late.match("xx")
    assert late.search("axx")
    assert made == ["x+"]
    with pytest.raises(AttributeError):
        late.nothing  # type: ignore[attr-defined]  # noqa: B018
