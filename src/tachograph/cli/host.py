"""``tacho host``."""

from __future__ import annotations

import argparse
import contextlib
import grp
import os
import pwd
import stat
import sys
from collections.abc import Callable

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import sidecar
from tachograph.host.hosted import Hosting
from tachograph.host.policy import Chosen
from tachograph.links import refs


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho host --listen SOCKET [--allow USER]… [--group G]… [--policy [NAME=]FILE]… [--store DIR]"
    parser.add_argument("--listen", metavar="SOCKET", required=True, help="the unix socket on which tacho record --host finds it")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="USER", help="a user, by name or number, who may record here, besides this one"
    )
    parser.add_argument(
        "--group", action="append", default=[], metavar="G", help="a group, by name or number, whose members may record here"
    )
    parser.add_argument(
        "--policy", action="append", default=[], metavar="[NAME=]FILE",
        help="what to mask; with a name, one that tacho record --policy NAME may ask for (else TACHO_POLICY, else the built-in policy)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    allowed = sidecar.Allowed(
        users=frozenset(_number(name, lambda found: pwd.getpwnam(found).pw_uid, "user", "--allow") for name in options.allow),
        groups=frozenset(_number(name, lambda found: grp.getgrnam(found).gr_gid, "group", "--group") for name in options.group),
    )
    chosen = wiring.settings(options.store)
    path = os.path.abspath(options.listen)
    hosting = Hosting(
        open_store=lambda: wiring.open_for_writing(chosen), policies=_policies(options.policy), clock=chosen.clock, entropy=chosen.entropy,
        folder=os.path.dirname(path), link=lambda text: str(refs.parse(text)),
    )  # fmt: skip
    sidecar.check(hosting)
    _warn(chosen)
    sidecar.Sidecar(path, hosting, allowed, say=_say).run()
    return 0


def _say(line: str) -> None:
    print(f"tacho: {line}", file=sys.stderr, flush=True)


def _number(name: str, look: Callable[[str], int], what: str, option: str) -> int:
    if name.isdecimal():
        return int(name)
    try:
        return look(name)
    except KeyError:
        raise UsageError(f"no {what} {name} on this machine; correct {option}") from None


def _policies(named: list[str]) -> dict[str | None, Chosen]:
    """The host's own under None. Nothing is found by looking around: where a service was started must not decide what it masks."""
    found: dict[str | None, Chosen] = {}
    for text in named:
        name, equals, path = text.rpartition("=")
        key = name if equals else None
        if key in found:
            raise UsageError(f"two policies {'named ' + name if name else 'without a name'}; give each --policy another name, as NAME=FILE")
        found[key] = wiring.policy(path)
    if None not in found:
        found[None] = wiring.policy(os.environ["TACHO_POLICY"]) if os.environ.get("TACHO_POLICY") else Chosen()
    return found


def _warn(chosen: wiring.Settings) -> None:
    """Say it when what this user is here to keep from others is open to them."""
    for path in (chosen.store, str(chosen.key_file)):
        with contextlib.suppress(OSError):
            if os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                _say(f"note: others can get at {path}; take their rights away with chmod go= {path}")
