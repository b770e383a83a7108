#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages that promise something: every row and point of what is promised names tests that exist."""
import re
import sys
import unittest

from audit_test import ROOT, tables


def tests_named(cell, files, also_words=True):
    """The (file, test or None) that a cell names: `tests/...` or a letter of `files`, then tests of that file, one after the
    other. Without `also_words` what stands alone in `...` is no test, but a word of the page."""
    found, file, end = [], None, 0
    for name in re.finditer(r"(?:\b([A-Z])\s+)?`([^`\n]+)`", cell):
        letter, word = name.groups()
        follows = re.fullmatch(r",?\s+|,?\s*", cell[end:name.start()]) is not None
        if word.startswith("tests/"):
            file = word
            found.append((file, None))
        elif letter in files or also_words or (file is not None and follows):
            file = files[letter] if letter else file
            found.append((file, word))
        else:
            file = None
            continue
        end = name.end()
    return found


def is_test_of(file, name):
    source = ROOT / (file or "no file was named")
    if name is None:
        return source.exists()
    if not source.is_file():
        return False
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
        self.assertEqual(tests_named("`word` (X\n`a`, `b` and `word`)", {"X": "x"}, also_words=False), [("x", "a"), ("x", "b")])


class Promises(unittest.TestCase):
    """Pages whose promises have tests beside them, and where on each page the promises are."""

    # page: (the letters for files of tests, the headings of tables, the headings of lists of points)
    pages = {
        "gates": ("BGLOR", ["What is promised", "How it works"], []),
        "cluster": ("CDEHLNST", ["What is promised", "Leases: one session for each host", "The commands", "What holds it"], []),
        "async": ("A", ["Waiting without a thread"], ["What is promised"]),
        "python": ("AEMP", ["Exceptions"], ["What to know"]),
        "semaphore": ("EMTW", ["Choosing fairness", "Choosing how to wait"], ["Limits"]),
        "objects": ("", [], ["What is promised, and what shows it"]),
    }

    letter = re.compile(r"`([A-Z])`(?: is)?\s`(tests/[^`]+)`")

    def parts(self, page):
        """The page, without what its letters mean; headings and what stands below them, the title of the page among them."""
        text = self.letter.sub("", (ROOT / "docs" / f"{page}.md").read_text())
        return text, dict(part.split("\n", 1) for part in re.split(r"^##? ", text, flags=re.M)[1:])

    def files(self, page):
        """What the page's letters mean."""
        return dict(self.letter.findall((ROOT / "docs" / f"{page}.md").read_text()))

    def promises(self, page):
        """(the promise, where it names its tests)"""
        _, tables_in, points_in = self.pages[page]
        _, parts = self.parts(page)
        for heading in tables_in:
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in parts[heading].splitlines() if line.startswith("|")]
            yield from ((row[0], row[-1]) for row in rows if set(row[0]) != {"-"} and row[-1] != "test")
        for heading in points_in:
            for point in re.split(r"^- ", parts[heading], flags=re.M)[1:]:
                yield point, point.split("\n\n")[0]

    def test_each_names_tests_that_exist(self):
        for page, (letters, *_) in self.pages.items():
            files = self.files(page)
            self.assertEqual("".join(sorted(files)), letters)
            promises = list(self.promises(page))
            self.assertGreater(len(promises), 5, page)
            for promise, where in promises:
                named = tests_named(where, files, also_words=False)
                self.assertTrue(named or "`bench/" in where, (page, promise))
                self.assertEqual([one for one in named if not is_test_of(*one)], [], (page, promise))

    def test_every_test_named_elsewhere_on_these_pages_exists(self):
        for page in self.pages:
            text, _ = self.parts(page)
            named = tests_named(text, self.files(page), also_words=False)
            self.assertTrue(named, page)
            self.assertEqual([one for one in named if not is_test_of(*one)], [], page)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv[:1])
