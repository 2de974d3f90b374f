"""Facts about the surroundings of a session: repository, host, packages; and small helpers for bytes that may be text."""

from __future__ import annotations

import os
import platform
import subprocess
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tachograph.format import canonical
from tachograph.redact import encodings

from . import requests


def git(folder: str, *arguments: str, timeout: float = 20.0) -> str | None:
    """What git says in ``folder``, or None where it fails. Takes no locks and runs no hooks: we only look."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", folder, *arguments],
            capture_output=True, timeout=timeout, check=False, env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None


def repository(folder: str) -> dict[str, Any]:
    """``top``, ``url``, ``sha``, ``branch``, ``dirty`` of the repository around ``folder``; empty where there is none."""
    top = git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return {}
    sha, branch = git(folder, "rev-parse", "HEAD"), git(folder, "symbolic-ref", "--short", "HEAD")
    url, status = git(folder, "remote", "get-url", "origin"), git(folder, "status", "--porcelain")
    return {
        "top": top.strip(),
        "url": without_password(url.strip()) if url else None,
        "sha": sha.strip() if sha else None,
        "branch": branch.strip() if branch else None,
        "dirty": bool(status.strip()) if status is not None else None,
    }


def without_password(url: str) -> str:
    """A remote's URL without what may be a credential."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.scheme and "@" in parts.netloc else url


def host() -> dict[str, Any]:
    """The machine, as far as it can matter to an agent."""
    return {
        "hostname": platform.node(), "system": platform.system(), "release": platform.release(), "machine": platform.machine(),
        "cpus": os.cpu_count(), "user": os.environ.get("USER") or str(os.getuid()), "timezone": os.environ.get("TZ"), "zone": zone(),
        "locale": os.environ.get("LC_ALL") or os.environ.get("LANG"),
    }  # fmt: skip


def zone() -> str | None:
    """The machine's time zone (``Europe/Berlin``), where it is a link into the database of zones."""
    name = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    return name or None


def packages(path: list[str]) -> dict[str, str]:
    """Name → version of what can be imported from ``path``, read off the names of ``*.dist-info`` folders: no import, no start-up
    cost in the agent."""
    found: dict[str, str] = {}
    for folder in reversed(path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(".dist-info"):
                distribution, _, version = name.removesuffix(".dist-info").rpartition("-")
                if distribution:
                    found[distribution.lower().replace("_", "-")] = version
    return dict(sorted(found.items()))


def decoded(headers: list[list[str]], body: bytes) -> bytes:
    """A body without its content encoding, as far as it came. Bytes that do not decode are returned as they are."""
    encoding = requests.header(headers, "content-encoding")
    try:
        return b"".join(encodings.decode([body], encoding))
    except encodings.UndecodableError:
        return body


def text(data: bytes) -> Any:
    """Text where it is UTF-8, else the bytes."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def parsed(data: bytes) -> Any:
    """The JSON value that a client sent, else its text or bytes."""
    try:
        return canonical.loads(data)
    except ValueError:
        return text(data)
