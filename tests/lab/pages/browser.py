# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the WebDriver protocol with nothing but the standard library."""
import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

SECONDS_MAX = 60
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Left": "\ue012", "Right": "\ue014", "Home": "\ue011", "End": "\ue010", "PageUp": "\ue00e", "PageDown": "\ue00f",
        "Tab": "\ue004", "Enter": "\ue007"}
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--force-device-scale-factor=1", "--allow-file-access-from-files", "--window-size=1280,1000"]


def command_line():
    """PROGRAM [--pictures FOLDER] ...: the program, the folder or None, and what is left for unittest."""
    program, *rest = sys.argv[1:]
    pictures = None
    if rest[:1] == ["--pictures"]:
        pictures = Path(rest[1])
        del rest[:2]
    return Path(program).resolve(), pictures, [sys.argv[0], "-v", *rest]


class Browser:
    """One browser with one page; `with` ends both."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="kgate-chromium-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True)
        self.session = None
        try:
            self.base = "http://127.0.0.1:" + self._port()
            options = {"args": [*FLAGS, f"--user-data-dir={self.profile}"],
                       "binary": shutil.which("chromium") or shutil.which("chromium-browser")}
            made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.session = made["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _port(self):
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return found[1]
        raise RuntimeError("chromedriver did not start")

    def _call(self, method, path, body=None):
        prefix = f"/session/{self.session}" if self.session else ""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + prefix + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def close(self):
        if self.session:
            try:
                self._call("DELETE", "")
            except (OSError, RuntimeError):
                pass
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, path):
        self._call("POST", "/url", {"url": Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        """What the JavaScript function body returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def find(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._call("POST", f"/element/{self.find(selector)}/click", {})

    def choose_file(self, selector, path):
        self._call("POST", f"/element/{self.find(selector)}/value", {"text": str(Path(path).resolve())})

    def press(self, *keys):
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def complaints(self):
        """What the page wrote to the console since the last call."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def scheme(self, name):
        """Prefer "light" or "dark"."""
        self._call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": name}]}})

    def width(self, pixels):
        self._call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": pixels, "height": 1000, "deviceScaleFactor": 1, "mobile": False}})

    def picture(self, path, whole=False):
        """A PNG of the window, or of the whole page."""
        shot = self._call("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot",
                                                        "params": {"captureBeyondViewport": whole}})
        Path(path).write_bytes(base64.b64decode(shot["data"]))
