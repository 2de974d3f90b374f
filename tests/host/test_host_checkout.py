"""What a recording says about files is not believed blindly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tachograph.core.errors import ReplayError
from tachograph.host import checkout


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a//b", "./x", "", "link/x", "link/../x"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    inside, outside = tmp_path / "in", tmp_path / "inside-not"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    with pytest.raises(ReplayError, match="outside of its workspace"):
        checkout.write(str(inside), name, {"data": "x"})
    assert list(outside.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"in", "inside-not"}


def test_a_link_in_the_way_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a").symlink_to(target)
    checkout.write(str(folder), "a", {"data": "new"})
    assert target.read_text() == "mine"
    assert (folder / "a").read_text() == "new"
