#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulated experiments come out as the files have them that docs/experiments.md is made of.

usage: experiments_deep_test.py ROOT KGATE_LAB
"""
import sys
import unittest
from pathlib import Path

ROOT, LAB = Path(), Path()


class Experiments(unittest.TestCase):
    def compare(self, name, *options):
        import measure
        measure.BUILD = LAB.parent.parent
        self.assertEqual(measure.experiments(*options), measure.tables.kept(name), f"run docs/measured/measure.py {name}")

    def test_the_figures(self):
        self.compare("experiments")

    def test_more_processors(self):
        self.compare("scale", "--scale")


if __name__ == "__main__":
    ROOT, LAB = (Path(word).resolve() for word in sys.argv[1:3])
    sys.path.insert(0, str(ROOT / "docs/measured"))
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
