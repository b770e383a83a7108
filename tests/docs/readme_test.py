#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first screen of README.md says what kgate is and why: three lines to try, a picture of a real run, a table against others with
measured cells, a counterexample, links. And what a visitor looks for beside it is there.

usage: readme_test.py ROOT
"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path()
LINES_MAX = 45  # of text and two pictures, before the first chapter


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.screen = (ROOT / "README.md").read_text().partition("\n## ")[0]

    def test_the_first_screen(self):
        parts = [r"# kgate\n", r"\*\*At most k at a time\*\*", r"```sh\n(?:\./\S.*\n){3}```", r"!\[[^]]+\]\(docs/pictures/top\.svg\)", r"\| \| kgate \|",
                 r"!\[[^]]+\]\(docs/pictures/counterexample\.svg\)", r"\[Start in five minutes\]\(docs/index\.md\)"]
        found = [re.search(part, self.screen) for part in parts]
        self.assertNotIn(None, found)
        self.assertEqual([f.start() for f in found], sorted(f.start() for f in found))
        self.assertLessEqual(len(self.screen.split("\n")), LINES_MAX)

    def test_the_table_is_against_others_and_measured(self):
        head = next(line for line in self.screen.split("\n") if line.startswith("| | kgate |"))
        for other in ("`flock`", "`sem_t`", "`std::counting_semaphore`", "GNU `sem`", "Slurm"):
            self.assertIn(other, head)
        self.assertGreaterEqual(len(re.findall(r"\| [\d.]+ <!-- (?:python|commands): ", self.screen)), 4)

    def test_pictures_are_of_both_schemes_and_of_a_size(self):
        for name in re.findall(r"\((docs/pictures/\S+\.svg)\)", self.screen):
            text = (ROOT / name).read_text()
            self.assertIn("prefers-color-scheme: dark", text)
            self.assertLessEqual(int(re.search(r'width="(\d+)"', text)[1]), 900)

    def test_the_start_page_builds_as_it_does(self):
        """Whose commands package.readme runs."""
        def words(name):
            return [re.sub(r"\s*(\\\n|&&|\n)\s*", " ", block).split() for block in
                    re.findall(r"^```sh\n((?:cmake|/usr/bin/python3) .*?)```", (ROOT / name).read_text(), re.M | re.S)]

        start, readme = words("docs/index.md"), words("README.md")
        self.assertEqual(len(start), 2)
        self.assertEqual(sorted(block[:-2] if block[-1] == "main.py" else block for block in start), sorted(readme))

    def test_what_stands_beside_it(self):
        for name in ("SECURITY.md", "CITATION.cff", "LICENSE", ".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/defect.md"):
            self.assertTrue((ROOT / name).read_text().strip(), name)
        changes, version = (ROOT / "CHANGELOG.md").read_text(), (ROOT / "include/kgate/version.hpp").read_text()
        number = ".".join(re.search(rf"KGATE_VERSION_{part} (\d+)", version)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertRegex(changes, rf"## {re.escape(number)} - \d{{4}}-\d\d-\d\d")
        self.assertIn("these are stable", changes)
        self.assertIn(f"version: {number}", (ROOT / "CITATION.cff").read_text())
        steps = re.findall(r"^ +- (?:run|uses): (.*)$", (ROOT / ".github/workflows/test.yml").read_text(), re.M)
        self.assertEqual(steps[1:], ["./test"])  # after the checkout


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main(argv=[sys.argv[0], "-v"])
