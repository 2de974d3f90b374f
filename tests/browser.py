"""A headless Chromium, driven over its debugging pipe with the standard library: sizes, colour schemes, paper, axe, and what it asked for.

``chromium`` says why there is none; a test that needs it skips with that reason.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

#: Seconds for an answer. A browser that starts on a busy machine takes a while.
_PATIENCE = 90


def missing() -> str | None:
    """Why there is no browser here."""
    return None if shutil.which("chromium") else "no chromium here (Debian's package chromium)"


def axe_source() -> str | None:
    """axe-core as the dev group brings it."""
    found = importlib.util.find_spec("axe_core_python")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    paths = [Path(folder) / "axe.min.js" for folder in folders]
    return next((path.read_text(encoding="utf-8") for path in paths if path.is_file()), None)


class Browser:
    """``with Browser() as browser: browser.show(page, width=390)``."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        told, self._write = os.pipe()
        self._read, answered = os.pipe()

        def connect() -> None:
            # The browser reads commands on 3 and answers on 4. Moved up first: one of them may be 3 or 4 already.
            high = (os.dup2(told, 201), os.dup2(answered, 202))
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self._folder}",
                   "--remote-debugging-pipe", "about:blank"]  # fmt: skip
        self._process = subprocess.Popen(
            command, preexec_fn=connect, pass_fds=(3, 4),  # noqa: PLW1509 -- it only moves descriptors
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(told)
        os.close(answered)
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.requests: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.ask(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._folder, ignore_errors=True)

    def ask(self, method: str, **params: Any) -> Any:
        """One command, and its answer. What happens meanwhile is looked through for requests."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **({"sessionId": self._session} if self._session else {})}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._until(lambda one: one.get("id") == self._number, method)

    def _until(self, wanted: Any, what: str) -> Any:
        end = time.monotonic() + _PATIENCE
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._read], [], [], max(end - time.monotonic(), 0))
                data = os.read(self._read, 1 << 20) if ready else b""
                if not data:
                    raise RuntimeError(f"chromium did not answer {what}")
                self._rest += data
            raw, _, self._rest = self._rest.partition(b"\0")
            one = json.loads(raw)
            if one.get("method") == "Network.requestWillBeSent":
                self.requests.append(one["params"]["request"]["url"])
            if wanted(one):
                if "error" in one:
                    raise RuntimeError(f"{what}: {one['error']}")
                return one.get("result", one.get("params"))

    def show(self, page: Path, *, width: int, height: int = 900, dark: bool = False, mobile: bool = False) -> None:
        """Load a page at a size and in a colour scheme."""
        self.requests.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Page.navigate", url=page.as_uri())
        self._until(lambda one: one.get("method") == "Page.loadEventFired", "loading")

    def run(self, code: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        found = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def picture(self, *, whole: bool = False) -> bytes:
        """A PNG of what is seen, or of the whole page."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def pdf(self) -> bytes:
        """The page on paper (A4)."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"])

    def axe(self, source: str) -> list[dict[str, Any]]:
        """What axe finds wrong, WCAG 2.2 A and AA and its best practices: rule, help, and the places."""
        self.run(source + "; 1")
        found = self.run("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
        return [
            {"rule": one["id"], "impact": one["impact"], "help": one["help"], "where": [node["html"][:160] for node in one["nodes"][:4]]}
            for one in found
        ]
