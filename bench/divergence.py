"""What it costs to find and explain a divergence at the end of a long session, beyond the replay itself. Prints seconds.

    python bench/divergence.py [CALLS [MESSAGES]]

An agent makes CALLS calls (2,000), each with its last MESSAGES messages (200, of 200 characters). Replayed as it was, with another word in the
last call, and with another word and an id that differs from run to run, leniently.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TACHO = [sys.executable, "-m", "tachograph.cli.app"]
AGENT = """
import os, sys
import tachograph

calls, kept = int(sys.argv[1]), int(sys.argv[2])

@tachograph.tool(effect="read")
def ask(history):
    return {"answer": "y" * 200}

run = open("/dev/urandom", "rb").read(16).hex() if "--mint" in sys.argv else "0" * 31 + "a"
history = [f"run {run}"]
for number in range(calls):
    last = number == calls - 1
    history.append(f"message {number} " + ("bold " if last and os.environ.get("TACHO_MODE") == "replay" and "--bold" in sys.argv else "careful ") + "x" * 180)
    ask(history[:1] + history[-kept:])
print("done")
"""


def timed(*command: str, cwd: str, env: dict[str, str]) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return time.perf_counter() - began, done.stdout


def main() -> None:
    calls = sys.argv[1] if len(sys.argv) > 1 else "2000"
    kept = sys.argv[2] if len(sys.argv) > 2 else "200"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "agent.py").write_text(AGENT)
        env = {**os.environ, "TACHO_STORE": folder + "/store", "TACHO_KEY": folder + "/key.json"}
        agent = [sys.executable, "agent.py", calls, kept]
        out: dict[str, Any] = {"calls": int(calls), "messages": int(kept)}
        for mint in ([], ["--mint"]):
            options = ["--lenient"] if mint else []
            out["record"] = round(timed(*TACHO, "record", "--", *agent, *mint, cwd=folder, env=env)[0], 2)
            same, said = timed(*TACHO, "replay", "@last", "--json", *options, cwd=folder, env=env)
            other, told = timed(*TACHO, "replay", "@last", "--json", *options, "--", *agent, *mint, "--bold", cwd=folder, env=env)
            found = json.loads(told)["divergence"]
            name = "lenient" if mint else "strict"
            out[name] = {"replay": round(same, 2), "diverging": round(other, 2), "beyond": round(other - same, 2)}
            out[name] |= {"verdict": json.loads(said)["verdict"], "site": found["site"], "words": found["difference"]}
        print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
