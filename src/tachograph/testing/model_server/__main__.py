"""``python -m tachograph.testing.model_server SCRIPT.json [--port N] [--url-file FILE] [--gzip]``: serve until SIGTERM."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from tachograph.core.errors import TachographError
from tachograph.testing.model_server import ModelServer, Script


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tachograph.testing.model_server",
        description="A scripted model server on 127.0.0.1 that speaks the wire formats of Anthropic, OpenAI and AWS Bedrock.",
    )
    parser.add_argument("script", type=Path, help="a JSON file: {turns, metrics, alarms}")
    parser.add_argument("--port", type=int, default=0, help="by default the system picks a free one")
    parser.add_argument("--url-file", type=Path, help="also write the URL to this file, once the server accepts connections")
    parser.add_argument("--gzip", action="store_true", help="compress for clients that accept it")
    options = parser.parse_args(argv)
    # Blocked before the first thread starts, so that none of them takes the signal and sigwait gets it.
    stops = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        script = Script.load(options.script)
        server = ModelServer(script, port=options.port, compress=options.gzip)
    except (TachographError, OSError) as error:
        sys.stderr.write(f"model server: {error}\n")
        return 2
    with server:
        if options.url_file is not None:
            _write_whole(options.url_file, server.url + "\n")
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        signal.sigwait(stops)
    return 0


def _write_whole(path: Path, text: str) -> None:
    # A reader that waits for the file to appear must not find half a URL in it.
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    os.replace(partial, path)


if __name__ == "__main__":
    sys.exit(main())
