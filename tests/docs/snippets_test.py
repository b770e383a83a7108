#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of snippets.py: documents that keep their word, and documents that do not."""
import tempfile
import unittest
from pathlib import Path

import snippets

# Stands in for the programs: `exit N` exits with N.
LAB = '#!/bin/sh\n[ "$1" = exit ] && exit "$2"\n[ "$1 $2" = "two words" ]\n'


class Snippets(unittest.TestCase):
    def check(self, readme, page=""):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            (root / "README.md").write_text(readme)
            (root / "docs" / "page.md").write_text(page)
            for name in ("kgate", "kgate-lab"):
                program = root / name
                program.write_text(LAB)
                program.chmod(0o755)
            return snippets.check(root, "c++", root)

    def cpp(self, text):
        return f"# x\n\n```cpp\n{text}\n```\n"

    def sh(self, text):
        return f"# x\n\n```sh\n{text}\n```\n"

    def test_what_holds(self):
        for text in (self.cpp("int main() { return 0; }"), self.cpp("int f();"), self.sh("./kgate-lab exit 0"),
                     self.sh("./kgate-lab exit 3  # exit 3"), self.sh("./kgate-lab two \\\n  words   # why"),
                     self.sh("./kgate exit $((1 + 1))  # exit 2"), self.sh('./kgate two "words"'), self.sh("kgate two words"), self.sh("kgate-lab exit 1 # exit 1"), self.sh("./test"),
                     self.sh("# false")):
            with self.subTest(text):
                self.assertEqual(self.check(text)[0], [])

    def test_what_does_not(self):
        for text, message in ((self.cpp("int main() { return 1; }"), "README.md:4: fails: exit code 1"),
                              (self.cpp("int main() { return x; }"), "README.md:4: does not compile"),
                              (self.cpp("int f( { }"), "README.md:4: does not compile"),
                              (self.cpp("int main(int c, char**) { return 0; }"), "does not compile"),
                              (self.sh("./kgate-lab exit 1"), "README.md:4: ./kgate-lab exit 1 (wanted 0): exit code 1"),
                              (self.sh("./kgate exit 1"), "README.md:4: ./kgate exit 1 (wanted 0): exit code 1"),
                              (self.sh("cc x\n\n./kgate-lab exit 0  # exit 3"), "README.md:6: ./kgate-lab exit 0 (wanted 3)"),
                              (self.sh("cc \\\n b\n./kgate-lab exit 1"), "README.md:6: "), (self.sh("kgate exit 4"), "README.md:4: kgate exit 4 (wanted 0)"),
                              (self.sh("false"), "README.md:4: false: neither run here, nor in ELSEWHERE")):
            with self.subTest(text):
                found = self.check(text)[0]
                self.assertEqual(len(found), 1)
                self.assertIn(message, found[0])

    def test_pages_below_docs_count(self):
        found, programs, commands = self.check(self.cpp("int f();"), self.cpp("int g(") + self.sh("./kgate-lab exit 0"))
        self.assertEqual((len(found), programs, commands), (1, 2, 1))
        self.assertTrue(found[0].startswith("docs/page.md:4"))


if __name__ == "__main__":
    unittest.main()
