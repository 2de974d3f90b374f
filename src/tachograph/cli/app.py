"""``tacho``: parse, call, show.

Exit codes: 0 yes, 1 the answer is no (diverged, tampered, nothing found), 2 usage or failure. ``record`` ends as its command does.
An error is one line on stderr: ``error: what, where; what to do next``. A verb's module is imported when the verb runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

#: Verb → what its line in the help says. The module is ``cli/<verb>.py``, a hyphen in it an underscore (``import`` is a word of Python's:
#: ``import_.py``).
VERBS = {
    "record": "run a command and write down what its agent sees and does",
    "replay": "run a session again, offline, from its record",
    "fork": "run a session again up to one step, and on from there with one thing changed",
    "reask": "put one step's question to the model again, several times: chance or cause?",
    "why": "where a text first entered a session, and how it was carried from there",
    "diff": "where two sessions depart, and what was in force there",
    "ls": "list the sessions of the store",
    "search": "find a text in the contents of all sessions",
    "sql": "ask the catalogue of all sessions in SQL",
    "radius": "which sessions saw the same: a prompt, a tool's output, a document, a model",
    "cost": "tokens and money, by session, model, prompt, tool or repository",
    "catalogue": "bring the catalogue of all sessions up to date, or make it anew",
    "show": "read a session like a story",
    "cat": "print a session as self-contained JSON lines",
    "checkout": "write the recorded workspace as it was at a step into a folder",
    "doctor": "run an agent twice from its record, and name what makes it differ from run to run",
    "fixture": "write a self-contained recording into a repository, and a test that replays it",
    "bisect": "find the commit of the agent's code at which a session stops replaying, or starts",
    "verify": "check that a record is whole and unaltered",
    "prove": "write a seal or a proof that can be checked without the store",
    "postmortem": "write the report: what happened, with evidence",
    "export": "write a session, or some of its steps, as one file for somebody else",
    "audit-secrets": "look in everything that is kept for what older rules missed",
    "link": "tie a session to a commit, a pull request, a deploy, an incident or a build",
    "links": "from a commit, pull request, deploy, incident or build to its sessions, and back",
    "blame": "say which session, step and tool call wrote a line",
    "trace": "from an incident, deploy, pull request or commit to the sessions and steps behind it",
    "deploy": "enter in the ledger which commit went where, and which incident came with it",
    "pr": "put what the sessions of a pull request did on it, in one comment",
    "install-hooks": "have git name the recorded sessions in the commits that they make",
    "hold": "keep everything of a session as it is, for a matter",
    "retain": "choose how long sessions are kept, and delete those whose time is over",
    "shred": "destroy the key of a session's content, for good",
    "vault": "keep the originals of what is masked, sealed for those who may unmask",
    "keys": "who can read the store: recipients of its keys, rotation, verifier keys",
    "import": "take in sessions that other tools have recorded",
    "redact": "mask the secrets of a text, as they are masked in a record",
    "host": "be the recorder for other users' tacho record",
}

#: Verbs to which a store is something else than to the others: their module says what.
_OWN_STORE = ("redact",)

NO, FAILURE = 1, 2


class _Parser(argparse.ArgumentParser):
    """argparse, with errors in one line. ``intermixed``: set by a verb whose last word may be left out: options may stand before it all the same."""

    intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does; before Python 3.12 it takes a word that may be left out for left out at the first option."""
        if self.intermixed:
            self.intermixed = False
            return self.parse_known_intermixed_args(args, namespace)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise _BadUsageError(f"{message}; {self.prog} --help shows what it takes")


class _BadUsageError(Exception):
    pass


def _version() -> str:
    import tachograph

    return f"tacho {tachograph.__version__}"


def _parser(verb: str | None) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tacho", description="A flight recorder, an offline replayer and a postmortem debugger for AI agents.",
        epilog="First steps: tacho record -- python agent.py; tacho show @last; tacho replay @last; tacho postmortem @last -o report.html",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=_version())
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    for name, text in VERBS.items():
        sub = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name not in _OWN_STORE:
            sub.add_argument("--store", metavar="DIR", help="the store's folder (else TACHO_STORE, else the XDG data folder)")
        if name == verb:
            module = importlib.import_module("." + (name.replace("-", "_") if name != "import" else "import_"), __package__)
            module.arguments(sub)
            sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point. Returns the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if sys.stderr is None:
        # print(file=None) writes to standard output: messages would get among the data.
        sys.stderr = open(os.devnull, "w", errors="backslashreplace")  # noqa: SIM115  for the rest of the process
    verb = next((word for word in given if not word.startswith("-")), None)
    try:
        code = _run(given, verb)
        return code if argv is not None else _leave(code)
    except BrokenPipeError:
        # The reader (head, less) has had enough; Python would complain once more while flushing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _leave(code: int) -> int:
    """The exit code; but a process with DuckDB or Arrow in it is ended here. As Python goes, their threads may still be there, and then now and
    then the C++ runtime ends it by SIGABRT, with its work done and the wrong exit code."""
    if not {"duckdb", "pyarrow"} & sys.modules.keys():
        return code
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def _run(given: list[str], verb: str | None) -> int:
    from tachograph.core.errors import TachographError

    try:
        parser = _parser(verb)
        # What follows -- is the user's command and none of our business.
        cut = given.index("--") if "--" in given else len(given)
        options = parser.parse_args(given[:cut])
        if options.verb is None:
            parser.print_help()
            return FAILURE
        options.command = given[cut + 1 :]
        if options.command and verb not in ("record", "replay", "bisect", "doctor", "fork"):
            raise _BadUsageError(f"{verb} takes no command after --; tacho {verb} --help shows what it takes")
        code: int = options.run(options)
        if sys.stdout is not None:  # None: it was closed before we began
            sys.stdout.flush()
        return code
    except (TachographError, _BadUsageError) as error:
        return _fail(str(error))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        return _fail(f"{error.strerror or error}, {error.filename or 'input or output'}; check the path, its mode and free space")


def _fail(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return FAILURE


if __name__ == "__main__":
    sys.exit(main())
