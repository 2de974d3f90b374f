"""A session that resends its history takes linear space (the time to rebuild it is measured in ``bench/``, not here)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent.parent.parent / "bench" / "resent_history.py"


def test_200_turns_take_at_most_one_hundredth_of_the_naive_log(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(BENCH), str(tmp_path)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["stored"] <= found["naive"] / 100
