#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/audit.md: no item of the papers is missing, every test named exists, every algorithm of the papers is named."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def numbered(word, *numbers):
    return [f"{word} {n}" for n in numbers]


# What the papers number, read off them.
ITEMS = {
    "Fischer, Lynch, Burns & Borodin 1979":
        numbered("condition", "C1", "C2", "C3", "C3'", "C4", "C4'", "C5", "C5'", "C6") +
        ["section 4, conditions R1-R8", "section 4, conditions S1-S4"] +
        numbered("lemma", 4.1, 4.2, 4.3, 4.4, 4.5, 5.1, 5.2) + numbered("theorem", 4.1, 4.2, 4.3, 4.4, 5.1, 5.2, 5.3),
    "Afek, Dolev, Gafni, Merritt & Shavit 1994":
        numbered("definition", 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 3.1, 5.1) + ["proposition 3.1"] +
        numbered("figure", *range(1, 6)) + numbered("lemma", 4.1, 4.2, 4.3, 4.4),
    "Anderson & Moir 1997":
        ["table 1"] + numbered("figure", *range(1, 12)) + numbered("theorem", *range(1, 13)) + numbered("lemma", 1, 2) +
        numbered("corollary", *range(1, 7)) + numbered("invariants", "I1-I4", "I5-I11", "I12-I23") + ["properties L1-L6, U1-U3"] +
        [f"table 1, {row}" for row in ("Fischer et al. [14]", "Fischer et al. [15]", "Dolev et al. [13]", "Afek et al. [1]",
                                       "Peterson [23]", "Burns & Peterson [9]", "Gottlieb et al. [16]")],
    "Danek 2010":
        ["table 1"] + numbered("figure", 1, 2, 3) + numbered("lemma", 1, 3, 4, 5, 6, 7) + ["corollary 2"] +
        numbered("theorem", 8, 9, 10) + numbered("definition", "FCFS", "k-FCFS", "FIFE", "bounded exit") +
        ["claims 3.1 and 3.2"],
    "Choi 2011":
        numbered("figure", 1, 2, 3) + numbered("lemma", 1, 2, 3, 4) + ["properties P1-P3"] +
        numbered("property", "P4", "P5", "P6") + ["observations O1-O7", "invariants I1-I11"],
}


def tables(page):
    """The rows of the table below each heading, as lists of cells."""
    found = {}
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        heading, text = part.split("\n", 1)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
        found[heading] = rows[2:]
    return found


def test_exists(evidence):
    """`algorithms/danek10/model_test:danek10.name` is a TEST of tests/algorithms/danek10/model_test.cpp."""
    where, _, name = evidence.partition(":")
    if "." in name:
        suite, test = name.split(".")
        source = ROOT / "tests" / (where + ".cpp")
        return source.is_file() and re.search(rf"\bTEST(_P|_F)?\(\s*{suite},\s*{test}\b", source.read_text()) is not None
    source = ROOT / "tests" / (where + ".py")
    return source.is_file() and f"def {name}(" in source.read_text()


class Audit(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "audit.md").read_text()
        self.tables = tables(self.page)

    def test_no_item_is_missing_or_twice(self):
        self.assertEqual(list(self.tables), list(ITEMS))
        for paper, items in ITEMS.items():
            listed = [row[0] for row in self.tables[paper]]
            self.assertEqual([item for item in items if listed.count(item) != 1], [], paper)

    def test_every_row_is_whole(self):
        for paper, rows in self.tables.items():
            for row in rows:
                self.assertEqual(len(row), 4, f"{paper}: {row}")
                self.assertTrue(row[1] and (row[2] or row[1].startswith("not built")), f"{paper}: {row}")

    def test_what_no_test_would_notice_is_called_indirect(self):
        """What is not code or not built has no test of its own, unless the row says what refutes it."""
        for paper, rows in self.tables.items():
            for row in rows:
                if re.match(r"not |a sequence |steps |cited ", row[1]):
                    self.assertRegex(row[2], r"\bindirect\b|\bfalse\b|\brefuted\b", f"{paper}: {row[0]}")

    def test_every_piece_of_evidence_is_a_test(self):
        for paper, rows in self.tables.items():
            for row in rows:
                named = re.findall(r"`([^`]+)`", row[3])
                self.assertTrue(named, f"{paper}, {row[0]}: no evidence")
                self.assertEqual([one for one in named if not test_exists(one)], [], f"{paper}, {row[0]}")

    def test_headers_exist(self):
        headers = set(re.findall(r"\b[a-z0-9_]+\.hpp\b", self.page))
        known = {path.name for folder in ("include", "src", "tests") for path in (ROOT / folder).rglob("*.hpp")}
        self.assertEqual(sorted(headers - known), [])

    def test_every_algorithm_of_the_papers_is_named_and_no_other(self):
        texts = [(ROOT / "src" / "catalog" / f"{name}.hpp").read_text()
                 for name in ("flbb79", "afek94", "am97", "danek10", "choi11", "errata")]
        ids = set(re.findall(r'\.id = "([^"]+)"', "".join(texts)))
        named = {one.removesuffix("+names")
                 for one in re.findall(r"`((?:flbb79|afek94|am97|danek10|choi11)-?[a-z0-9+-]*)`", self.page)}
        self.assertEqual(sorted(ids - named), [])
        self.assertEqual(sorted(named - ids), [])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv[:1])
