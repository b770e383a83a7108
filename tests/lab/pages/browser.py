# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium with one page, driven by Selenium; and the command line of the tests that use it."""
import base64
import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SECONDS_MAX = 60
KEYS = {"Left": Keys.ARROW_LEFT, "Right": Keys.ARROW_RIGHT, "Home": Keys.HOME, "End": Keys.END, "PageUp": Keys.PAGE_UP,
        "PageDown": Keys.PAGE_DOWN, "Tab": Keys.TAB, "Enter": Keys.ENTER}
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--force-device-scale-factor=1", "--window-size=1280,1000"]


def command_line():
    """PROGRAM [--pictures FOLDER] ...: the program, the folder or None, and what is left for unittest."""
    program, *rest = sys.argv[1:]
    pictures = None
    if rest[:1] == ["--pictures"]:
        pictures = Path(rest[1])
        del rest[:2]
    return Path(program).resolve(), pictures, [sys.argv[0], "-v", *rest]


class Browser:
    """What the tests ask of a page, over selenium.webdriver.Chrome."""

    def __init__(self, reads_files=True):
        """A page may read files, or none, as is usual."""
        self.profile = tempfile.mkdtemp(prefix="kgate-chromium-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in (*FLAGS, f"--user-data-dir={self.profile}", *(["--allow-file-access-from-files"] if reads_files else [])):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_page_load_timeout(SECONDS_MAX)
        self.driver.set_script_timeout(SECONDS_MAX)

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, path):
        self.driver.get(Path(path).resolve().as_uri())

    def run(self, script, *arguments):
        """What the JavaScript function body returns."""
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        """All text of the element, also what is not displayed."""
        return self.find(selector).get_property("textContent")

    def count(self, selector):
        return len(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector):
        self.find(selector).click()

    def choose_file(self, selector, path):
        self.find(selector).send_keys(str(Path(path).resolve()))

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*(KEYS.get(key, key) for key in keys)).perform()

    def complaints(self):
        """What the page wrote to the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def scheme(self, name):
        """Prefer "light" or "dark"."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def width(self, pixels):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": pixels, "height": 1000, "deviceScaleFactor": 1, "mobile": False})

    def picture(self, path, whole=False):
        """A PNG of the window, or of the whole page."""
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
        Path(path).write_bytes(base64.b64decode(shot["data"]))
