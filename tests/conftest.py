"""Shared by all tests. Where a new test goes: tests/README.md."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# The same examples each time, so that a change is judged by itself; `make test-full` looks for new ones, and more of them.
settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.register_profile("full", parent=settings.get_profile("default"), derandomize=False, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def _no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the developer's own store or key."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    # What the tests run prints in the order in which it says it.
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    for name in ("TACHO_STORE", "TACHO_KEY", "TACHO_SOCKET", "TACHO_LANE", "TACHO_TOKEN", "TACHO_MODE", "TACHO_HOST"):
        monkeypatch.delenv(name, raising=False)
