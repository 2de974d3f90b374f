"""``tacho why`` over one session of 100,000 events: seconds, of which how many are reading, telling and looking. Prints JSON.

    python bench/why.py [EVENTS]

The whole command first, as it is typed; then the parts, in this process, in seconds of its processor.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import long_session

from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.reader import Recording
from tachograph.postmortem.story import tell
from tachograph.postmortem.why import Tracer


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opened = long_session.make(str(folder / "store"), count)
        (folder / "key.json").write_bytes(keys.dump(opened.key))
        (folder / "key.json").chmod(0o600)
        gc.disable()
        found: dict[str, Any] = {}

        def timed(what: str, did: Any) -> Any:
            began = time.process_time()
            made = did()
            found[what] = round(time.process_time() - began, 2)
            return made

        recording = timed("read_s", lambda: Recording(opening.open_store(opened.store, opened.key), long_session.SESSION))
        story = timed("tell_s", lambda: tell(recording, redactions=False))
        tracer = Tracer(story, recording)
        places = timed("passages_s", lambda: tracer.places)
        middle = next(one.text for one in places if one.kind == "file" and (one.step or 0) > len(story.steps) // 2)
        words = " ".join(middle.split()[5:20])
        timed("first_text_s", lambda: tracer.why(words))
        timed("next_text_s", lambda: tracer.why(words.upper()))
        timed("nowhere_s", lambda: tracer.why("no such words are in the session at all"))
        timed("event_s", lambda: tracer.event(story.steps[-1].event_id))
        environment = {**os.environ, "TACHO_STORE": str(folder / "store"), "TACHO_KEY": str(folder / "key.json")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "tachograph.cli.app", "why", long_session.SESSION, words, "--json"]
        began, used = time.perf_counter(), os.times()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        after = os.times()
        found["command_s"] = round(time.perf_counter() - began, 2)
        found["command_processor_s"] = round(after.children_user + after.children_system - used.children_user - used.children_system, 2)
        found["origin"] = json.loads(done.stdout)["origin"]["kind"] if done.returncode == 0 else done.stderr
        print(json.dumps({"events": len(recording.entries), "model_calls": len(story.steps), "texts": len(places), **found}))


if __name__ == "__main__":
    main()
