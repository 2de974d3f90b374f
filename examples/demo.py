"""``make demo``: record a real agent making a bad change, replay it with the model server stopped, watch a divergence, write the postmortem.

Everything stays in ``demo-out/`` and on the loopback interface.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tachograph.testing.model_server import ModelServer, Script

HERE = Path(__file__).parent
OUT = Path("demo-out").absolute()
TASK = "Change the log message 'refund ok' in payments/refund.py to 'refund issued'."
TACHO = [sys.executable, "-m", "tachograph.cli.app"]


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def run(*arguments: str, cwd: Path = OUT, expect: int = 0, **environment: str) -> None:
    shown = " ".join(part if " " not in part else repr(part) for part in arguments).replace(sys.executable, "python")
    print(f"$ tacho {shown}", flush=True)
    code = subprocess.run([*TACHO, *arguments], cwd=cwd, env={**os.environ, **environment}, check=False).returncode
    if code != expect:
        sys.exit(f"error: tacho {arguments[0]} ended with {code} where {expect} was expected")


def main() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    os.environ |= {"TACHO_STORE": str(OUT / "store"), "TACHO_KEY": str(OUT / "key.json")}
    repository = OUT / "payments"
    agent = OUT / "agent.py"
    shutil.copy(HERE / "coding_agent" / "agent.py", agent)
    subprocess.run([sys.executable, str(HERE / "coding_agent" / "make_repo.py"), str(repository)], check=True)

    say("1. An agent is asked to change a log message. A file that it reads tells it to do something else.")
    with ModelServer(Script.load(HERE / "coding_agent" / "script.json")) as server:
        run(
            "record", "--name", "refund-log-message", "--", sys.executable, str(agent), TASK,
            cwd=repository, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="sk-" + "ant-demo-0123456789abcdef",
        )  # fmt: skip

    say("2. The model server is stopped. The session runs again from its record: no network, no model, no change to the repository.")
    report = OUT / "replay.json"
    run("replay", "@last", "--report", str(report))

    say("3. One word of the agent's prompt is edited: the replay says where the two part.")
    edited = OUT / "agent_edited.py"
    edited.write_text(agent.read_text().replace("a careful software engineer", "a bold software engineer"))
    run("replay", "@last", "--", sys.executable, str(edited), TASK, expect=1)

    say("4. Is the record whole and unaltered?")
    run("verify", "@last")

    say("5. What happened, with evidence.")
    run("postmortem", "@last", "--replay-report", str(report), "-o", str(OUT / "postmortem.html"))
    run("postmortem", "@last", "--replay-report", str(report), "-o", str(OUT / "postmortem.md"))
    print(
        f"\nread it: {OUT / 'postmortem.html'}\nor:      TACHO_STORE={OUT / 'store'} TACHO_KEY={OUT / 'key.json'} .venv/bin/tacho show @last"
    )


if __name__ == "__main__":
    main()
