"""Reads that raise."""

from __future__ import annotations

from typing import Any

import pytest

from tachograph.client import ambient, link


class FakeLink:
    lost = False

    def __init__(self, values: list[Any]) -> None:
        self.reads: list[Any] = []
        self.missing: dict[Any, int] = {}
        self._values = values

    def writing(self) -> bool:
        return False

    def values(self, lane: str) -> list[Any]:
        return self._values


def some(outcomes: list[Any]) -> Any:
    """A read that gives these one after the other; each error is raised."""

    def real() -> Any:
        value = outcomes.pop(0)
        if isinstance(value, Exception):
            raise value
        return value

    return real


def asked(real: Any) -> list[Any]:
    out: list[Any] = []
    for _ in range(4):
        try:
            out.append(ambient.read("identity.getlogin", real, 1))
        except Exception as error:
            out.append((type(error), *(getattr(error, name, None) for name in ("errno", "strerror", "filename"))))
    return out


def test_a_read_that_raised_raises_again_and_what_follows_is_not_shifted(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = FakeLink([])
    monkeypatch.setattr(link, "_link", recording)
    monkeypatch.setattr(ambient, "_recording", True)
    outcomes: list[Any] = ["one", OSError(2, "No such file or directory", "/x"), KeyError("no"), "two"]
    expected = ["one", (FileNotFoundError, 2, "No such file or directory", "/x"), (KeyError, None, None, None), "two"]
    assert asked(some(outcomes)) == expected
    [site] = {site for _, _, site, _ in recording.reads}
    values = [value for *_, value in recording.reads]
    assert [value for value in values if isinstance(value, str)] == ["one", "two"]

    replaying = FakeLink([["identity.getlogin", site, values]])
    monkeypatch.setattr(link, "_link", replaying)
    monkeypatch.setattr(ambient, "_recording", False)
    monkeypatch.setattr(ambient, "_values", {})
    # Only the error that is no error of the system is the live one.
    assert asked(some([KeyError("live")])) == expected
    assert replaying.missing == {}
