#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in which one chooses who steps, in a real browser: it steps, takes back, crashes, and says what the terminal says.

usage: stepper_test.py PROGRAM [--pictures FOLDER]
"""
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import Browser, command_line

PROGRAM, PICTURES = Path(), None
WRONG = ("am97-chain-cc", "-N", "3", "-k", "2", "--mutate", "drop:5")


class StepperTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="kgate-stepper-"))
        for name, size in (("wrong.html", WRONG), ("chain.html", WRONG[:5]), ("queue.html", ("mcs", "-N", "2", "-k", "1"))):
            subprocess.run([PROGRAM, "step", *size, "--html", name], cwd=cls.folder, check=True, timeout=120)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def open(self, name):
        self.browser.open(self.folder / name)
        self.assertEqual(self.browser.complaints(), [])

    def outlook(self):
        return self.browser.run("""return Object.fromEntries([...document.querySelectorAll("#properties tr")].map(
            r => [r.cells[0].textContent, r.cells[1].textContent]))""")

    def variables(self):
        return self.browser.run("""return Object.fromEntries([...document.querySelectorAll("#variables tr")].map(
            r => [r.cells[0].textContent, r.cells[1].textContent]))""")

    def picture(self, name):
        if PICTURES:
            for scheme in ("light", "dark"):
                self.browser.scheme(scheme)
                self.browser.picture(PICTURES / f"{name}-{scheme}.png")

    def test_one_chooses_by_buttons_and_keys(self):
        b = self.browser
        self.open("chain.html")
        self.assertIn("am97-chain-cc, N = 3, k = 2", b.text("#title"))
        b.click("#step-0")
        self.assertEqual(self.variables(), {"X.0": "1", "Q.0": "p0"})
        self.assertEqual(b.text("#variables tr.changed th"), "X.0")
        b.press("1", "2", "2", "2")
        self.assertEqual(b.text("#count"), "5 steps")
        self.assertTrue(b.run("return document.getElementById('step-2').disabled"))
        self.assertIn("(waits)", b.text("#processes tbody tr:last-child"))
        self.assertEqual(set(self.outlook().values()), {"cannot break"})
        b.press("u")
        self.assertEqual(b.text("#count"), "4 steps")
        b.press("r")
        self.assertEqual((b.text("#count"), b.count("#run li")), ("0 steps", 0))
        self.assertEqual(b.complaints(), [])

    def test_the_text_shows_where_everybody_stands(self):
        b = self.browser
        self.open("chain.html")
        b.press("0")
        marked = b.run("""return [...document.querySelectorAll("#text tr.here")].map(r => r.cells[0].textContent + r.cells[2].textContent)""")
        self.assertTrue(any(line.startswith("p0 ") and 'p["7"]' in line for line in marked), marked)
        self.assertTrue(any(line.startswith("p1 p2 ") and 'p["2"]' in line for line in marked), marked)
        self.picture("stepper")

    def test_a_broken_property_and_its_trace(self):
        b = self.browser
        self.open("wrong.html")
        self.assertEqual(self.outlook()["k-exclusion"], "can break")
        b.press("0", "1", "2", "2", "2")
        self.assertEqual(self.outlook()["k-exclusion"], "broken")
        self.assertIn("k-exclusion is broken", b.text("#now"))
        self.picture("stepper-broken")
        command = b.text("#replay").split()
        self.assertEqual(command[:2], ["kgate-lab", "replay"])
        done = subprocess.run([PROGRAM, *command[1:]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.saved("run.json", 1)

    def saved(self, name, code):
        """What the page saves replays with this exit code."""
        self.browser.run("""window.saved = null; const create = URL.createObjectURL;
            URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text; }); return create(blob); };
            document.getElementById('save').click();""")
        text = self.browser.driver.execute_async_script("""const done = arguments[0];
            (function look() { window.saved ? done(window.saved) : setTimeout(look, 20); })();""")
        (self.folder / name).write_text(text)
        done = subprocess.run([PROGRAM, "replay", name], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(self.browser.complaints(), [])

    def test_crashes(self):
        b = self.browser
        self.open("chain.html")
        b.press("0", "1")
        b.click("#crash-0")
        self.assertEqual(self.outlook()["deadlock-free"], "cannot break")
        b.click("#crash-1")
        self.assertEqual(self.outlook()["deadlock-free"], "can break")
        b.press("2", "2", "2")
        self.assertEqual(self.outlook()["starvation-free"], "broken")
        self.saved("stuck.json", 1)
        b.press("u", "u", "u")  # back in its remainder it need not wait for ever
        self.assertEqual(self.outlook()["starvation-free"], "can break")

    def test_it_says_what_the_terminal_says(self):
        """A walk through the states of the page, with a crash, beside the same in the terminal."""
        b = self.browser
        self.open("queue.html")
        steps = "0 1 1 0 0 0 1".split()
        shown = []
        for p in steps:
            b.press(p)
            shown.append((self.variables(), self.outlook()))
        b.click("#crash-1")
        shown.append((self.variables(), self.outlook()))
        text = subprocess.run([PROGRAM, "step", "mcs", "-N", "2", "-k", "1"], input="\n".join([*steps, "crash 1", ""]), capture_output=True,
                              text=True, timeout=60).stdout
        states = text.split("after ")[2:]
        self.assertEqual(len(shown), len(states), text)
        for (variables, outlook), state in zip(shown, states):
            for name, value in variables.items():
                self.assertIn(f"{name}={value}", state)
            for name, fate in outlook.items():
                self.assertRegex(state, rf"{name} +{fate}")

    def test_narrow_and_for_screen_readers(self):
        b = self.browser
        b.width(400)
        self.addCleanup(b.width, 1280)
        self.open("chain.html")
        self.assertLessEqual(b.run("return document.documentElement.scrollWidth - innerWidth"), 0)
        self.assertEqual(b.run("return document.getElementById('now').getAttribute('aria-live')"), "polite")
        self.picture("stepper-narrow")


def main():
    global PROGRAM, PICTURES
    PROGRAM, PICTURES, rest = command_line()
    unittest.main(argv=rest)


if __name__ == "__main__":
    main()
