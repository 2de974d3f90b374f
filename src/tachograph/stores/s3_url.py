"""``s3://bucket/prefix?endpoint=…&region=…&retention=183d&mode=compliance&roll=60s``: what a store's name says about a bucket.

Credentials are never part of it: boto3 finds them where AWS's own tools do.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tachograph.core.errors import UsageError
from tachograph.core.ports import Clock, SegmentLimit
from tachograph.stores.s3 import LIMIT, Retention, S3Store

_PARAMETERS = ("endpoint", "region", "retention", "mode", "roll")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z")
_MODES = ("compliance", "governance")
#: Seconds. An answer that takes longer counts as none: what waits is safe in the spool.
_TIMEOUT = 10
#: Kept open: as many as there are threads that read ahead (``log/ahead.py``), and the uploader's.
_CONNECTIONS = 20


def open_url(url: str, *, spools: str, clock: Clock) -> S3Store:
    """The store that a URL names. ``spools``: the folder in which stores have their spools. Raises ``UsageError``."""
    parts = urlsplit(url)
    said = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(said) - set(_PARAMETERS))
    if parts.scheme != "s3" or unknown:
        what = f"unknown parameter {unknown[0]!r}" if unknown else f"scheme {parts.scheme!r}"
        raise UsageError(f"{what} in the store's URL {_plain(url)}; s3://BUCKET/PREFIX takes {', '.join(_PARAMETERS)}")
    if "@" in parts.netloc:
        raise UsageError("credentials in the store's URL, where everybody sees them; set AWS_PROFILE or AWS_ACCESS_KEY_ID instead")
    if not _BUCKET.match(parts.netloc):
        raise UsageError(f"no bucket in the store's URL {_plain(url)}; write s3://BUCKET/PREFIX")
    if importlib.util.find_spec("boto3") is None:
        raise UsageError(f"boto3 is not installed, which a store at {_plain(url)} needs; pip install 'tachograph[s3]'")
    prefix = parts.path.strip("/")
    name = f"{said.get('endpoint', '')} {parts.netloc}/{prefix}"
    return S3Store(
        _plain(url),
        parts.netloc,
        prefix + "/" if prefix else "",
        connect=lambda: _connect(said.get("endpoint"), said.get("region")),
        spool=os.path.join(spools, hashlib.sha256(name.encode()).hexdigest()[:16]),
        clock=clock,
        retention=_retention(url, said),
        segments=_segments(url, said),
    )


def _retention(url: str, said: dict[str, str]) -> Retention | None:
    mode = said.get("mode", "governance" if "retention" in said else "").lower()
    if not mode:
        return None
    match = re.fullmatch(r"([1-9]\d{0,4})d", said.get("retention", ""))
    if mode not in _MODES or match is None:
        raise UsageError(f"retention in the store's URL {_plain(url)}; write retention=183d and mode=compliance or mode=governance")
    return Retention(mode.upper(), int(match[1]))


def _segments(url: str, said: dict[str, str]) -> SegmentLimit:
    match = re.fullmatch(r"(\d{1,4}(?:\.\d)?)s", said.get("roll", f"{LIMIT.seconds:.0f}s"))
    if match is None:
        raise UsageError(f"roll in the store's URL {_plain(url)}; write roll=60s, the longest that a line is kept on this machine")
    return SegmentLimit(size=LIMIT.size, seconds=float(match[1]))


def _connect(endpoint: str | None, region: str | None) -> Any:
    import boto3
    from botocore.config import Config

    config = Config(
        max_pool_connections=_CONNECTIONS, connect_timeout=_TIMEOUT, read_timeout=_TIMEOUT, retries={"mode": "standard", "max_attempts": 2},
        s3={"addressing_style": "path" if endpoint else "auto"}, user_agent_extra="tachograph",
    )  # fmt: skip
    return boto3.session.Session().client("s3", endpoint_url=endpoint, region_name=region, config=config)


def _plain(url: str) -> str:
    """Without parameters: short enough for a message, and the same for all who name this place."""
    return url.partition("?")[0]
