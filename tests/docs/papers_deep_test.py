#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages about the papers are what the laboratory says today.

usage: papers_deep_test.py ROOT PROGRAM
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, PROGRAM = Path(), ""


class Papers(unittest.TestCase):
    def test_nothing_has_drifted(self):
        kept = {p.name: p.read_text() for p in (ROOT / "docs/papers").glob("*.md")}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", ROOT / "docs/papers/make_pages.py", PROGRAM, folder], check=True)
            made = {p.name: p.read_text() for p in Path(folder).glob("*.md")}
        self.assertEqual(sorted(made), sorted(kept))
        for name, text in made.items():
            self.assertEqual(text.split("\n"), kept[name].split("\n"), f"docs/papers/{name}: run docs/papers/make_pages.py")


if __name__ == "__main__":
    ROOT, PROGRAM = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], "-v"])
