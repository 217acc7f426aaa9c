"""A headless Chromium that tests control by its debugging protocol, without other packages."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import threading
import time
from typing import Any


#: Programs that are looked for in PATH; the second is Debian's package of this name, without windows.
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Server:
    """A static file server for a folder, on a free port of this host."""

    def __init__(self, folder: pathlib.Path) -> None:
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

        serve = functools.partial(Handler, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"


class Browser:
    """One page of a browser. `console`: errors and warnings of the page so far."""

    def __init__(self, width: int = 1400, height: int = 1000) -> None:
        browser = find_browser()
        assert browser is not None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # it ends late
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def connect() -> None:  # the protocol is on descriptors 3 and 4
            for kept, place in ((to_browser, 13), (from_browser, 14)):
                os.dup2(kept, place)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self._process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}",
             "--no-first-run", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.console: list[str] = []
        targets = self.command("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.command("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        values = message.get("params", {})
        method, bad = message.get("method"), ("error", "warning")
        if method == "Runtime.exceptionThrown":
            detail = values["exceptionDetails"]
            self.console.append(detail.get("exception", {}).get("description", detail["text"]))
        if method == "Runtime.consoleAPICalled" and values["type"] in bad:
            self.console.append(" ".join(str(a.get("value", a)) for a in values["args"]))
        if method == "Log.entryAdded" and values["entry"]["level"] in bad:
            self.console.append(f"{values['entry']['text']} {values['entry'].get('url', '')}")

    def command(self, method: str, timeout: float = 120, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        call: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            call["sessionId"] = self._session
        os.write(self._out, json.dumps(call).encode() + b"\0")
        until = time.monotonic() + timeout
        while True:
            message = self._message(until)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result

    def open(self, address: str) -> None:
        self.command("Page.navigate", url=address)

    def evaluate(self, expression: str, timeout: float = 120) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        how = {"awaitPromise": True, "returnByValue": True}
        result = self.command("Runtime.evaluate", timeout, expression=expression, **how)
        if "exceptionDetails" in result:
            detail = result["exceptionDetails"]
            raise RuntimeError(detail.get("exception", {}).get("description", detail["text"]))
        return result["result"].get("value")

    def wait_for(self, expression: str, timeout: float = 60) -> Any:
        """Waits until an expression is true, and returns its value."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"never true: {expression}")

    def key(self, key: str) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def screenshot(self, path: pathlib.Path) -> None:
        data = self.command("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
