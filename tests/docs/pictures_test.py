#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documentation are what the programs show today."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT, PROGRAMS = sys.argv[1:3]
PICTURES = os.path.join(ROOT, "docs/pictures")


def shown(directory, name):
    """The lines of a picture's text, without what differs from run to run."""
    root = xml.etree.ElementTree.parse(os.path.join(directory, name)).getroot()
    rows = {}
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        rows.setdefault(text.get("y"), []).append(text.text)
    lines = ["".join(row) for row in rows.values()]
    return [re.sub(r"\s+", " ", re.sub(r"\d+s\b|\b\d{2,}\b|\d\d:\d\d:\d\d|\broot\b|\b[a-z]+(?= +\d+s)", "*", line)).strip() for line in lines]


@unittest.skipUnless(shutil.which("tmux"), "tmux shows the terminal")
class Pictures(unittest.TestCase):
    def test_they_are_what_the_programs_show(self):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([os.path.join(PICTURES, "make"), made], check=True, env=dict(os.environ, KGATE_BIN=PROGRAMS), timeout=120)
            for name in sorted(os.listdir(made)):
                with self.subTest(name):
                    self.assertEqual(shown(made, name), shown(PICTURES, name), "make them again: docs/pictures/make")
            self.assertEqual(sorted(os.listdir(made)), sorted(f for f in os.listdir(PICTURES) if f.endswith(".svg")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
