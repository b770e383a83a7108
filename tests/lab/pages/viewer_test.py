#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trace viewer in a real browser: it loads without complaint, steps, jumps, refuses what is no trace, and its page does not
grow with the trace.

usage: viewer_test.py PROGRAM [--pictures FOLDER]
"""
import json
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from browser import Browser, command_line

PROGRAM, PICTURES = Path(), None
LONG = 10_000


def lab(folder, *arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode in (1, 3), done.stderr
    return done


class ViewerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="kgate-viewer-"))
        lab(cls.folder, "check", "fa-semaphore", "-N", "2", "-k", "1", "--trace", "starved.json")
        lab(cls.folder, "replay", "starved.json", "--html", "starved.html")
        # Nothing goes wrong in a run of two processes one after the other: the page shows it all the same.
        lab(cls.folder, "replay", "--algorithm", "mcs", "-N", "3", "-k", "1", "--property", "k-exclusion", "--schedule",
            f"0x{LONG // 2},1x{LONG // 2}", "--html", "long.html")
        lab(cls.folder, "replay", "--algorithm", "mcs", "-N", "2", "-k", "1", "--property", "k-exclusion", "--schedule",
            "0x2,1x4", "--html", "queue.html")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def open(self, name):
        self.browser.open(self.folder / name)
        self.assertEqual(self.browser.complaints(), [])

    def at(self):
        return int(self.browser.run("return document.body.dataset.step"))

    def picture(self, name):
        if PICTURES:
            for scheme in ("light", "dark"):
                self.browser.scheme(scheme)
                self.browser.picture(PICTURES / f"{name}-{scheme}.png")

    def test_steps_forward_and_back_by_keys_and_buttons(self):
        b = self.browser
        self.open("starved.html")
        self.assertIn("fa-semaphore", b.text("#title"))
        self.assertEqual(self.at(), 0)
        b.press("Right", "Right", "Right")
        self.assertEqual(self.at(), 3)
        self.assertIn("p1 at 2", b.text("#now"))
        self.assertIn("wrote 0", b.text("#now"))
        self.assertIn("Can step: p0, p1", b.text("#now"))
        self.assertEqual(b.text("#variables tr.changed td"), "0")
        self.assertEqual(b.count("#lanes td.critical.current"), 1)
        b.press("Left")
        self.assertEqual(b.count("#variables tr.changed"), 0)
        b.click("#back")
        b.click("#forward")
        self.assertEqual(self.at(), 2)
        b.press("End")
        self.assertEqual(self.at(), 7)
        self.assertTrue(b.run("return document.getElementById('forward').disabled"))
        b.press("Home", "]")
        self.assertEqual(self.at(), 1)
        b.press("]")
        self.assertEqual(self.at(), 4, "the next step of process 0")
        self.picture("viewer")

    def test_jumps_to_what_repeats_for_ever(self):
        self.open("starved.html")
        self.browser.click("#violation")
        self.assertEqual(self.at(), json.loads((self.folder / "starved.json").read_text())["loop"])
        self.assertIn("repeat for ever", self.browser.text("#now"))

    def test_the_text_shows_where_everybody_stands(self):
        self.open("queue.html")
        here = """return [...document.querySelectorAll("#text tr.here")].map(r => r.cells[0].textContent + r.cells[2].textContent)"""
        (both,) = self.browser.run(here)
        self.assertTrue(both.startswith("p0 p1 ") and 'p["1"]' in both, both)
        self.browser.press("Right", "Right", "Right")
        marked = self.browser.run(here)
        self.assertEqual([line.split()[0] for line in marked], ["p1", "p0"])
        self.assertIn('p["6"]', marked[1])
        self.picture("viewer-text")

    def test_tells_screen_readers(self):
        self.open("starved.html")
        b = self.browser
        self.assertEqual(b.run("return document.getElementById('now').getAttribute('aria-live')"), "polite")
        self.assertEqual(b.run("return document.getElementById('problem').getAttribute('role')"), "alert")
        nameless = b.run("""return [...document.querySelectorAll("button, input")].filter(
            e => !e.textContent && !e.labels?.length && !e.getAttribute("aria-label")).length""")
        self.assertEqual(nameless, 0)

    def test_shows_the_doorway_apart(self):
        self.open("queue.html")
        lane = "#lanes tbody tr:last-child th .tag"
        self.browser.press("Right", "Right", "Right")
        self.assertEqual(self.browser.text(lane), "doorway")
        self.browser.press("Right")
        self.assertEqual(self.browser.text(lane), "entry")

    def test_a_long_trace_costs_no_more_page_than_a_short_one(self):
        self.open("long.html")
        b = self.browser
        self.assertEqual(b.text("#count"), str(LONG))
        b.press("Right")
        start = b.count("*")
        self.assertLess(start, 1000)
        b.run("const n = document.getElementById('number'); n.value = 5000; n.onchange({target: n})")
        self.assertEqual(self.at(), 5000)
        self.assertLess(abs(b.count("*") - start), 100)
        took = b.run("""const before = performance.now();
            for (let i = 0; i < 200; ++i) {
              document.getElementById('forward').click();
              document.body.offsetHeight;
            }
            return (performance.now() - before) / 200""")
        self.assertEqual(self.at(), 5200)
        self.assertLess(took, 50, "milliseconds a step: too slow to follow")
        print(f"a step of a trace of {LONG} steps: {took:.2f} ms with layout, {b.count('*')} elements", file=sys.stderr)
        self.picture("viewer-long")

    def test_refuses_what_is_no_trace_and_keeps_what_it_shows(self):
        self.open("starved.html")
        good = json.loads((self.folder / "starved.json").read_text())
        bad = {
            "cut.json": (json.dumps(good)[:-20], "not a trace"),
            "list.json": ("[]", "JSON object"),
            "other.json": ('{"format": "else"}', "kgate-trace"),
            "version.json": (json.dumps({**good, "version": 9}), "version 1"),
            "bare.json": (json.dumps({k: v for k, v in good.items() if k != "steps"}), "no steps"),
            "process.json": (json.dumps({**good, "steps": [{**good["steps"][0], "process": 77}]}), "step 1"),
            "region.json": (json.dumps({**good, "loop": -1, "steps": [{**good["steps"][0], "after": "limbo"}]}), "limbo"),
            "loop.json": (json.dumps({**good, "loop": 1000}), "loop"),
            "crowd.json": (json.dumps({**good, "N": 65535}), "at most 256"),
            "huge.json": (json.dumps({**good, "N": 10 ** 30}), "whole numbers"),
            "deep.json": ("[" * 100_000 + "]" * 100_000, "JSON object"),
            "mutations.json": (json.dumps({**good, "mutations": "all"}), "mutations"),
            "missing.json": (json.dumps({**good, "steps": [{}]}), "step 1"),
            "null.json": (json.dumps({**good, "variables": [None]}), "variable"),
        }
        for name, (text, says) in bad.items():
            (self.folder / name).write_text(text)
            self.browser.choose_file("#file", self.folder / name)
            self.wait(lambda: name in self.browser.text("#problem"))
            self.assertIn(says, self.browser.text("#problem"))
        self.assertEqual(self.browser.text("#count"), "7")
        self.browser.choose_file("#file", self.folder / "starved.json")
        self.wait(lambda: self.browser.text("#problem") == "")
        self.assertEqual(self.browser.complaints(), [])

    def test_shows_what_a_trace_says_as_text_only(self):
        self.open("starved.html")
        trap = "<img src=x onerror='document.title=1'><script>document.title=1</script>"
        hostile = json.loads((self.folder / "starved.json").read_text())
        hostile.update(algorithm=trap, property=trap, what=trap, replay=trap, mutations=[trap])
        hostile["steps"][0].update(label=trap, observed=trap, operation=trap)
        hostile["variables"].append({"name": trap, "initial": trap})
        (self.folder / "hostile.json").write_text(json.dumps(hostile))
        title = self.browser.run("return document.title")
        self.browser.choose_file("#file", self.folder / "hostile.json")
        self.wait(lambda: trap in self.browser.text("#title"))
        self.browser.press("Right")
        self.assertIn(trap, self.browser.text("#now"))
        self.assertEqual(self.browser.count("img"), 0)
        self.assertEqual(self.browser.run("return document.title"), title)
        self.assertEqual(self.browser.complaints(), [])

    def test_fits_a_narrow_window(self):
        self.browser.width(400)
        self.addCleanup(self.browser.width, 1280)
        self.open("starved.html")
        wide = self.browser.run("return document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(wide, 0)
        self.picture("viewer-narrow")

    def wait(self, until):
        end = time.monotonic() + 20
        while not until():
            self.assertLess(time.monotonic(), end, "the page did not react")
            time.sleep(0.02)


def main():
    global PROGRAM, PICTURES
    PROGRAM, PICTURES, rest = command_line()
    unittest.main(argv=rest)


if __name__ == "__main__":
    main()
