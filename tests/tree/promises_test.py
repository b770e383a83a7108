#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/security.md, docs/gates.md: every row of what is promised and of what went wrong names tests that exist."""
import re
import sys
import unittest

from audit_test import ROOT, tables


def tests_named(cell, files):
    """The (file, test or None) that a cell names: `tests/...` or a letter of `files`, then tests of that file."""
    found, file = [], None
    for letter, word in re.findall(r"(?:\b([A-Z]) )?`([^`]+)`", cell):
        if word.startswith("tests/"):
            file = word
            found.append((file, None))
            continue
        file = files[letter] if letter else file
        found.append((file, word))
    return found


def is_test_of(file, name):
    source = ROOT / (file or "")
    if not source.is_file():
        return False
    if name is None:
        return True
    text = source.read_text()
    if name.endswith(".*"):
        return re.search(rf"\bTEST(_P|_F)?\(\s*{re.escape(name[:-2])},", text) is not None
    return f"def {name}(" in text or re.search(rf"\bT(YPED_T)?EST(_P|_F)?\(\s*\w+,\s*{re.escape(name)}\b", text) is not None


class Security(unittest.TestCase):
    page = (ROOT / "docs" / "security.md").read_text()

    def test_every_line_names_tests_that_exist(self):
        files = dict(re.findall(r"`([A-Z])`(?: is)?\s`(tests/[^`]+)`", self.page))
        self.assertEqual(sorted(files), ["B", "F", "G", "H", "M", "S"])
        rows = sum(tables(self.page).values(), [])
        self.assertGreater(len(rows), 40)
        for row in rows:
            named = tests_named(row[-1], files)
            self.assertTrue(named or row[:2] == ["", ""], row)
            self.assertEqual([one for one in named if not is_test_of(*one)], [], row)

    def test_a_name_that_is_no_test_would_be_noticed(self):
        self.assertFalse(is_test_of("tests/gate/gate_test.cpp", "no_such_test"))
        self.assertFalse(is_test_of("tests/gate/no_such_file.cpp", None))
        self.assertEqual(tests_named("X `a`, `b`; `tests/c.py` `d`", {"X": "x"}), [("x", "a"), ("x", "b"), ("tests/c.py", None), ("tests/c.py", "d")])


class Gates(unittest.TestCase):
    def test_every_file_of_tests_exists(self):
        page = (ROOT / "docs" / "gates.md").read_text()
        named = re.findall(r"`(tests/[^`]+)`", page)
        self.assertGreater(len(named), 15)
        self.assertEqual([one for one in named if not (ROOT / one).exists()], [])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv[:1])
