#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exercises: each file breaks what docs/exercises.md says, and with its solution all that it promises holds.

usage: exercises_test.py PROGRAM SOURCE
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PAGE = (SOURCE / "docs/exercises.md").read_text()
ROW = re.compile(r"^\| `(\w+\.hpp)` \| N = (\d), k = (\d)(?:, `--passages (\d)`)? \| (?:`([\w-]+)`|nothing is decided) \|$", re.M)
SOLUTION = re.compile(r"^```diff (\w+\.hpp)\n(.*?)^```", re.M | re.S)
NOTHING_WRONG, VIOLATED, UNDECIDED = 0, 1, 3


def check(path, N, k, passages):
    limit = ["--passages", passages] if passages else []
    done = subprocess.run([PROGRAM, "check", path, "-N", N, "-k", k, *limit, "--promised", "--json"], capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout)["properties"], done.stderr


def repaired(text, change):
    """The text with the lines that begin with - replaced by those that begin with +."""
    gone = "".join(line[1:] + "\n" for line in change.splitlines() if line.startswith("-"))
    new = "".join(line[1:] + "\n" for line in change.splitlines() if line.startswith("+"))
    assert text.count(gone) == 1, gone
    return text.replace(gone, new)


class Exercises(unittest.TestCase):
    def test_every_file_has_a_row_and_a_solution(self):
        files = sorted(p.name for p in (SOURCE / "examples/exercises").glob("*.hpp"))
        self.assertEqual(sorted(row[0] for row in ROW.findall(PAGE)), files)
        self.assertEqual(sorted(name for name, _ in SOLUTION.findall(PAGE)), files)

    def test_each_breaks_what_the_page_says_and_is_repaired_by_its_solution(self):
        changes = dict(SOLUTION.findall(PAGE))
        for name, N, k, passages, broken in ROW.findall(PAGE):
            with self.subTest(name):
                path = SOURCE / "examples/exercises" / name
                code, properties, errors = check(path, N, k, passages)
                if broken:
                    self.assertEqual(code, VIOLATED, errors)
                    self.assertIn(broken, [p["name"] for p in properties if p["verdict"] == "violated"])
                else:
                    self.assertEqual(code, UNDECIDED, errors)
                    self.assertIn("the text forgets what it uses", str(properties))
                with tempfile.TemporaryDirectory(prefix="kgate-exercise-") as folder:
                    right = Path(folder, name)
                    right.write_text(repaired(path.read_text(), changes[name]))
                    code, properties, errors = check(right, N, k, passages)
                    wrong = [p for p in properties if p["verdict"] not in ("holds", "holds-within-passages")]
                    self.assertEqual(wrong, [], errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
