"""Records one command after the other, each in a process forked from this one: imports, most of a short recording, are paid for once.

Standard input: ``{"arguments", "cwd", "env", "stdout", "stderr"}`` a line. Standard output: the launcher's process id when it runs, and
its status when it has ended.
"""

from __future__ import annotations

import json
import os
import sys

from tachograph.cli import app, record  # noqa: F401 - what the forked process needs is here already
from tachograph.redact.engine import Redactor  # noqa: F401


def launched(job: dict[str, object]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.environ.update(job["env"])  # type: ignore[arg-type]
        os.chdir(str(job["cwd"]))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(str(job[name]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        sys.argv = ["tacho", *job["arguments"]]  # type: ignore[misc]
        code = app.main(sys.argv[1:]) or 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stderr.flush()
        os._exit(code)


while text := sys.stdin.readline():
    child = launched(json.loads(text))
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
