#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report: written whole or not at all, and in a real browser without complaint, with its plots, its data and its answers.

usage: report_test.py PROGRAM [--pictures FOLDER]
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
from pathlib import Path

from browser import Browser, command_line

PROGRAM, PICTURES = Path(), None
BYTES_MAX = 5_000_000
OBSERVATIONS = 7
RUNS = ("fig10-native", "fig10-simulated", "fig11-native", "fig11-simulated")
# What a file for --bench might say to become markup or a script of the page.
TRAP = "~</template></script><img src=x onerror=\"document.title='1'\"><script>document.title='1'</script><!--<script>"


def lab(folder, *arguments, **more):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=250,
                          stdin=subprocess.DEVNULL, **more)


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="kgate-report-"))
        cls.bench = cls.folder / "bench.json"
        cls.bench.write_text(json.dumps({"results": [{"cell": "2 threads, k = 1", "peers": [
            {"peer": "std::counting_semaphore", "median_ops_per_s": 1e6}, {"peer": "kgate::semaphore", "median_ops_per_s": 2.5e6}]},
            {"cell": TRAP, "peers": [{"peer": TRAP, "median_ops_per_s": TRAP}, {"peer": "toString", "median_ops_per_s": 1}]}]}))
        cls.done = lab(cls.folder, "report", "--quick", "-o", "out", "--bench", cls.bench, "--json")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))
        self.browser.open(self.folder / "out" / "report.html")
        self.assertEqual(self.browser.complaints(), [])

    def data(self):
        link = self.browser.run("return document.querySelector('a[download=\"kgate-report.json\"]').href")
        return json.loads(urllib.parse.unquote(link.split(",", 1)[1]))

    def test_two_pages_and_nothing_else(self):
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["report.html", "viewer.html"])
        said = json.loads(self.done.stdout)
        page = self.folder / "out" / "report.html"
        self.assertEqual(said["bytes"], page.stat().st_size)
        self.assertLess(page.stat().st_size, BYTES_MAX)
        # It opens without a network: whatever it names is inside it or beside it.
        names = self.browser.run("""return [...document.querySelectorAll("[src], link, a[href]")].map(
            e => e.getAttribute("src") ?? e.getAttribute("href")).filter(n => !n.startsWith("#") && !n.startsWith("data:"))""")
        self.assertEqual(set(names), {"viewer.html"})

    def test_nothing_within_passages_is_said_to_hold(self):
        verdicts = {v["verdict"] for a in self.data()["catalogue"] if a["passages"] > 0 for v in a["verdicts"]}
        self.assertIn("holds-within-passages", verdicts)
        self.assertNotIn("holds", verdicts)
        shown = self.browser.run("""return [...document.querySelectorAll("#verdicts span")].map(
            span => [span.textContent, span.className])""")
        self.assertIn(["holds within 1 passage", "undecided"], shown)

    def test_every_plot_is_drawn_and_named(self):
        plots = self.browser.run("""return [...document.querySelectorAll("svg.plot")].map(svg => ({
            id: svg.id, title: svg.querySelector("title").textContent, says: svg.querySelector("desc").textContent,
            paths: svg.querySelectorAll("path[stroke^='var(--series']").length, width: svg.getBoundingClientRect().width,
            marks: svg.querySelectorAll("use").length, key: svg.querySelectorAll("text").length}))""")
        ids = [p["id"] for p in plots]
        for run in RUNS:
            self.assertIn(run, ids)
        self.assertEqual(sum(i.startswith("rmr-") for i in ids), 6)
        self.assertEqual(sum(i.startswith("scale-") for i in ids), 4)
        for p in plots:
            self.assertGreater(p["paths"], 3, p)
            self.assertGreater(p["marks"], 10, p)
            self.assertGreater(p["key"], 10, p)
            self.assertGreater(p["width"], 300, p)
            self.assertTrue(p["title"] and p["says"], p)
        twice = self.browser.run("""const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
            return ids.filter((id, i) => ids.indexOf(id) !== i)""")
        self.assertEqual(twice, [])

    def test_plots_follow_the_colour_scheme(self):
        colours = {}
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            colours[scheme] = self.browser.run("""return [
                getComputedStyle(document.body).backgroundColor,
                getComputedStyle(document.querySelector("svg.plot text").parentElement).fill,
                getComputedStyle(document.querySelector("svg.plot path[stroke^='var(--series']")).stroke]""")
            if PICTURES:
                for i, target in enumerate(("observations", "figures", "catalogue", "rmr", "space")):
                    self.browser.run("document.getElementById(arguments[0]).scrollIntoView()", target)
                    self.browser.picture(PICTURES / f"report-{scheme}-{i}.png")
        for light, dark in zip(colours["light"], colours["dark"]):
            self.assertNotEqual(light, dark)

    def test_fits_a_narrow_window(self):
        self.browser.width(400)
        self.addCleanup(self.browser.width, 1280)
        wide, text = self.browser.run("""return [document.documentElement.scrollWidth - innerWidth,
            Math.min(...[...document.querySelectorAll("svg.plot text")].map(t => t.getBoundingClientRect().height))]""")
        self.assertLessEqual(wide, 0)
        self.assertGreater(text, 9, "pixels: too small to read")
        if PICTURES:
            for i, target in enumerate(("observations", "figures", "catalogue")):
                self.browser.run("document.getElementById(arguments[0]).scrollIntoView()", target)
                self.browser.picture(PICTURES / f"report-narrow-{i}.png")

    def test_says_of_every_observation_whether_it_holds(self):
        self.assertEqual(self.browser.count(".observations tbody tr"), OBSERVATIONS)
        answers = self.browser.run("return [...document.querySelectorAll('.observations td strong')].map(e => e.textContent)")
        self.assertEqual(len(answers), OBSERVATIONS * len(RUNS))
        self.assertLessEqual(set(answers), {"yes", "no"})
        data = self.data()
        for i, run in enumerate(RUNS):
            figure, kind = run.split("-")
            stated = [o["holds"] for o in data["figures"][figure][kind]["observations"]]
            self.assertEqual(answers[i::len(RUNS)], stated, run)

    def test_raw_points_can_be_saved(self):
        data = self.data()
        for run in RUNS:
            link = self.browser.run("return document.querySelector(arguments[0]).href", f'a[download="{run}.csv"]')
            lines = urllib.parse.unquote(link.split(",", 1)[1]).splitlines()
            figure, kind = run.split("-")
            points = sum(len(c["points"]) for c in data["figures"][figure][kind]["curves"])
            large = sum(len(c["points"]) for c in data["figures"][figure][kind]["large_queue"]["curves"])
            self.assertEqual(large, 5 * 3)
            self.assertEqual(len(lines), points + large + 1)
            self.assertGreaterEqual(points, 8 * 6 - 4)  # Herlihy's object has no room for more processes than it was made for

    def test_has_every_algorithm_and_claim(self):
        listed = json.loads(lab(self.folder, "list", "--json").stdout)
        self.assertEqual(self.browser.count("section[aria-labelledby=catalogue] tbody tr"), len(listed))
        self.assertGreaterEqual(self.browser.count("section[aria-labelledby=rmr] tbody tr"), 18)
        for entry in self.data()["catalogue"]:
            for verdict in entry["verdicts"]:
                surprise = verdict["promised"] and verdict["verdict"] == "violated" and not verdict["kept_for_errors"]
                self.assertFalse(surprise, entry["id"])
        surprises = self.browser.count("section[aria-labelledby=catalogue] .violated")
        self.assertEqual(surprises, 0)
        errors = self.browser.run("""return [...document.querySelectorAll("section[aria-labelledby=catalogue] tbody tr")].filter(
            r => r.textContent.includes("the error it is kept for")).map(r => r.querySelector("code").textContent)""")
        self.assertIn("afek94-as-printed", errors)
        self.assertEqual(self.browser.text("section[aria-labelledby=bench] tbody tr td"), "2.5")

    def test_shows_what_the_data_says_as_text_only(self):
        self.assertEqual(self.browser.text("section[aria-labelledby=bench] thead th:last-child"), TRAP)
        names = self.browser.run("""return [...document.querySelectorAll("section[aria-labelledby=bench] tbody th")].map(
            e => e.textContent)""")
        self.assertEqual(names, ["kgate::semaphore", "std::counting_semaphore", "toString", TRAP])
        self.assertEqual(self.browser.run("return document.title"), "kgate-lab: the papers, measured")
        self.assertEqual(self.browser.count("img, iframe, object, embed, link, base, form"), 0)
        self.assertEqual(self.browser.count("script"), 2)  # the data, and what shows it
        self.assertEqual(self.data()["bench"]["results"][1]["cell"], TRAP)

    def test_runs_no_script_but_its_own(self):
        for page in ("report.html", "viewer.html"):
            self.browser.open(self.folder / "out" / page)
            title = self.browser.run("return document.title")
            self.assertEqual(self.browser.complaints(), [])
            # What would run in a page that trusts its own markup.
            self.browser.run("""const script = document.createElement("script");
                script.textContent = "document.title = 'run'";
                document.body.append(script);
                const button = document.createElement("button");
                button.setAttribute("onclick", "document.title = 'run'");
                document.body.append(button);
                button.click();
                const image = document.createElement("img");
                image.src = "https://localhost/pixel";
                document.body.append(image);""")
            self.assertEqual(self.browser.run("return document.title"), title)
            refused = []
            end = time.monotonic() + 20
            while len(refused) < 3 and time.monotonic() < end:
                refused += self.browser.complaints()
            self.assertEqual(len(refused), 3, refused)
            self.assertTrue(all("Content Security Policy" in line for line in refused), refused)

    def test_nothing_is_left_to_fill(self):
        empty = self.browser.run("""return [...document.querySelectorAll(
            "main tbody, main thead th, main h2, main h3, main p, main figcaption, main summary, main caption, [data-value]")].filter(
            e => !e.textContent.trim()).map(e => e.outerHTML)""")
        self.assertEqual(empty, [])
        self.assertEqual(self.browser.count("a[download]"), self.browser.count("a[download][href^='data:']"))
        self.assertEqual(self.browser.count("a[download]"), len(RUNS) + 3)
        self.assertEqual(self.browser.run("return document.getElementById('plots').content.childElementCount"), 0)
        wrong = self.browser.run("""return [...document.body.innerText.matchAll(/.*\\b(?:undefined|NaN|null)\\b.*/g)].map(m => m[0])""")
        self.assertEqual(wrong, [])

    def test_the_viewer_beside_it_has_a_trace(self):
        self.browser.open(self.folder / "out" / "viewer.html")
        self.assertEqual(self.browser.complaints(), [])
        self.browser.press("Right")
        self.assertIn("Step 1 of", self.browser.text("#now"))


class RefusedTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kgate-report-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def refused(self, *arguments, says, **more):
        before = sorted(self.folder.rglob("*"))
        done = lab(self.folder, "report", "--quick", *arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Akgate-lab: [^\n]+\n\Z")
        for word in says:
            self.assertIn(word, done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before, "something was left behind")

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        self.refused("-o", "file", says=("-o", "'file'"))
        self.refused("-o", "missing/deep", says=("-o", "missing/deep"))
        self.refused("-o", "/proc", says=("-o", "/proc"))
        (self.folder / "out" / "report.html").mkdir(parents=True)
        self.refused("-o", "out", says=("report.html",))

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_full_disk_keeps_what_was_there(self):
        small = self.folder / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode != 0:
            self.skipTest("mounting a small disk is not allowed here")
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        (small / "report.html").write_text("of yesterday")
        done = lab(self.folder, "report", "--quick", "-o", "small")
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Akgate-lab: cannot write [^\n]+\n\Z")
        self.assertEqual([p.name for p in small.iterdir()], ["report.html"])
        self.assertEqual((small / "report.html").read_text(), "of yesterday")

    def test_an_interrupt_leaves_nothing(self):
        for after in (0.2, 1.5):
            process = subprocess.Popen([PROGRAM, "report", "-o", "out"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            stdout, _ = process.communicate(timeout=60)
            self.assertEqual((process.returncode, stdout), (3, b""))
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_benchmarks_that_are_none(self):
        self.refused("--bench", "missing.json", "-o", "out", says=("--bench", "missing.json"))
        deep = "[" * 100_000 + "]" * 100_000
        for text in ("{", "[]", '{"results": [{}]}', '{"results": 7}', '{"results": null}', '{"results": {}}',
                     '{"results": [{"cell": "c", "peers": null}]}', '{"results": [{"cell": "c", "peers": {}}]}',
                     '{"results": [{"cell": "c", "peers": [{"peer": 1, "median_ops_per_s": 1}]}]}',
                     '{"results": [{"cell": "c", "peers": [], "samples": %s}]}' % deep):
            (self.folder / "bench.json").write_text(text)
            self.refused("--bench", "bench.json", "-o", "out", says=("--bench", "bench.json"))

    def test_without_gnuplot_it_names_the_package(self):
        self.refused("-o", "out", says=("gnuplot-nox",), env={**os.environ, "PATH": "/nonexistent"})


def main():
    global PROGRAM, PICTURES
    PROGRAM, PICTURES, rest = command_line()
    unittest.main(argv=rest)


if __name__ == "__main__":
    main()
