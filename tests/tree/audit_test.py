#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/audit.md is made from the catalogue and the tests; no item of the papers is missing, every algorithm of them is named."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "papers"))
import make_audit  # noqa: E402


def numbered(word, *numbers):
    return [f"{word} {n}" for n in numbers]


def parts(section, *names):
    return [f"section {section}, {name}" for name in names]


# What the papers number or define, read off them.
ITEMS = {
    "Fischer, Lynch, Burns & Borodin 1979":
        numbered("condition", "C1", "C2", "C3", "C3'", "C4", "C4'", "C5", "C5'", "C6") +
        parts(1, "COUNT", "bank teller") + parts(2, "processes, systems, schedules", "able and enabled", "halts, sleeps, fails, k-admissible") +
        parts(3, "group-enabled, allocation", "cycling, making progress, b-waiting", "l-full", "C6 implies the others") +
        parts(4, "LOCK and UNLOCK", "order preserving", "systems with a supervisor", "conditions R1-R8", "conditions S1-S4") + parts(5, "looks like") +
        numbered("lemma", 4.1, 4.2, 4.3, 4.4, 4.5, 5.1, 5.2) + numbered("theorem", 4.1, 4.2, 4.3, 4.4, 5.1, 5.2, 5.3),
    "Afek, Dolev, Gafni, Merritt & Shavit 1994":
        numbered("definition", 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 3.1, 5.1) + ["proposition 3.1", "bounded timestamps"] +
        parts(2, "sections and faults", "doorway and waiting room", "bounded first-in, first-enabled", "k-overtaking") +
        numbered("figure", *range(1, 6)) + numbered("lemma", 4.1, 4.2, 4.3, 4.4),
    "Anderson & Moir 1997":
        ["table 1"] + numbered("figure", *range(1, 12)) + numbered("theorem", *range(1, 13)) + numbered("lemma", 1, 2) +
        numbered("corollary", *range(1, 7)) + numbered("invariants", "I1-I4", "I5-I11", "I12-I23") + ["properties L1-L6, U1-U3"] +
        parts(2, "programs, histories, faults", "invariant, unless, leads-to", "k-exclusion", "starvation-freedom", "k-assignment",
              "remote references, time complexity", "contention", "primitives") +
        parts(3, "long-lived renaming") + parts(5, "t-resilient, wait-free") + ["sections 5 and 6, objects"] +
        [f"table 1, {row}" for row in ("Fischer et al. [14]", "Fischer et al. [15]", "Dolev et al. [13]", "Afek et al. [1]",
                                       "Peterson [23]", "Burns & Peterson [9]", "Gottlieb et al. [16]")],
    "Danek 2010":
        ["table 1"] + numbered("figure", 1, 2, 3) + numbered("lemma", 1, 3, 4, 5, 6, 7) + ["corollary 2"] +
        numbered("theorem", 8, 9, 10) +
        numbered("definition", "FCFS", "k-FCFS", "FIFE", "bounded exit", "crash, faulty", "atomic and non-atomic registers", "k-exclusion",
                 "starvation freedom", "doorway, waiting room", "RMR, passage, local-spin", "point contention", "has priority over") +
        parts(1, "FIFE implies k-FCFS") + parts(4.1, "notation") + parts(7, "reset of tickets", "bounded tickets") + ["claims 3.1 and 3.2"],
    "Choi 2011":
        numbered("figure", 1, 2, 3) + numbered("lemma", 1, 2, 3, 4) + ["properties P1-P3"] +
        numbered("property", "P4", "P5", "P6") + ["observations O1-O7", "invariants I1-I11"] +
        parts(1.1, "configurations, enabled, crashed", "memory models and smart cache", "objects") + parts("1.2.2", "desired properties") +
        parts(2, "routine") + parts(2.1, "Decker & Jayanti's O(k)") + parts(2.4, "sets") + parts(3.3, "En and Update-Set") +
        parts("3.7.1", "k-exclusion") + parts("3.7.2", "bounded exit") + parts("3.7.3", "FIFE") + parts("3.7.4", "starvation freedom") +
        parts("3.7.5", "smart cache", "ordinary caches") + parts("3.7.6", "space") + parts(3.8, "model checking") + parts(4, "bounded variables"),
}


def tables(page):
    """The rows of the table below each heading, as lists of cells."""
    found = {}
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        heading, text = part.split("\n", 1)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
        found[heading] = rows[2:]
    return found


class Audit(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "audit.md").read_text()
        self.tables = tables(self.page)
        self.algorithms = self.tables.popitem()[1]

    def test_is_what_is_made(self):
        self.assertEqual(self.page.split("\n"), make_audit.page().split("\n"), "run docs/papers/make_audit.py")

    def test_no_item_is_missing_or_twice(self):
        self.assertEqual(list(self.tables), list(ITEMS))
        for paper, items in ITEMS.items():
            self.assertEqual(sorted(row[0] for row in self.tables[paper]), sorted(items), paper)

    def test_wrong_evidence_is_noticed(self):
        good = "algorithms/flbb79/theorem41_test:Theorem41.TheBankOverNumbersIsFifo"
        self.assertTrue(make_audit.test_is_built(good))
        for bad in (good + "s", good.replace("theorem41", "theorem42"), good.replace("Theorem41.", "Theorem42.")):
            self.assertFalse(make_audit.test_is_built(bad), bad)

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

    def test_headers_exist(self):
        headers = set(re.findall(r"\b[a-z0-9_]+\.hpp\b", self.page))
        known = {path.name for folder in ("include", "src", "tests") for path in (ROOT / folder).rglob("*.hpp")}
        self.assertEqual(sorted(headers - known), [])

    def test_every_algorithm_of_the_papers_is_named_and_no_other(self):
        """In the tables of items too, unless it is there for study only."""
        rows = list(make_audit.catalogue())
        named = {one.removesuffix("+names")
                 for one in re.findall(r"`((?:flbb79|afek94|am97|danek10|choi11)-?[a-z0-9+-]*)`", self.page.split("\n## The algorithms")[0])}
        self.assertEqual(sorted({row.id for row in rows if not row.study} - named), [])
        self.assertEqual(sorted(named - {row.id for row in rows}), [])
        self.assertEqual(sorted(row[0] for row in self.algorithms), sorted(f"`{row.id}`" for row in rows))

    def test_every_text_says_what_it_deviates_in(self):
        silent = {"flbb79_fifo_values.hpp", "danek10_registers.hpp"}  # parts of a text
        headers = {header for row in make_audit.catalogue() for header in row.headers}
        self.assertEqual({header for header in headers if not make_audit.deviations(header)}, silent)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv[:1])
