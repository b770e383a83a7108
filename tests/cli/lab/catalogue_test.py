#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab list and explain: the catalogue, whole and readable."""
import re

import lab
from lab import HOLDS, LabTest

FIELDS = {"id", "title", "paper", "figure", "theorem", "primitives", "limits", "promises", "symmetric", "bounded_variables",
          "native", "registers", "note", "headers", "rmr"}
PROMISES = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "distinct-names", "k-fcfs", "fife",
            "l-queuelike", "bounded-waiting", "overtakings_max", "crashes"}


class List(LabTest):
    def test_json_has_every_row_and_field(self):
        rows = self.lab_json(HOLDS, "list")
        table = (lab.SOURCE / "src/catalog/catalog.hpp").read_text()
        papers = re.findall(r"(\w+)_rows", re.search(r"table = std::tuple_cat\(([^)]*)\)", table)[1])
        catalogue = "".join((lab.SOURCE / f"src/catalog/{paper}.hpp").read_text() for paper in papers)
        self.assertEqual([row["id"] for row in rows], re.findall(r'\.id = "([^"]+)"', catalogue))
        for row in rows:
            self.assertEqual(set(row), FIELDS, row["id"])
            self.assertEqual(set(row["promises"]), PROMISES, row["id"])
        by_id = {row["id"]: row for row in rows}
        chain = by_id["am97-chain-cc"]
        self.assertEqual(chain["rmr"], [{"model": "cc", "when": "always", "formula": "7(N-k)", "exact": True},
                                        {"model": "dsm", "when": "always", "formula": "unbounded", "exact": True}])
        self.assertEqual(chain["primitives"], ["fetch-and-add"])
        self.assertEqual(by_id["peterson-k"]["promises"]["crashes"], "0")
        self.assertFalse(by_id["fa-semaphore"]["promises"]["starvation-free"])
        self.assertEqual(by_id["mcs"]["limits"], {"N_max": 65535, "k_max": 1})

    def test_table_has_every_row_aligned(self):
        text = self.lab(HOLDS, "list")
        lines = text.splitlines()
        columns = [lines[0].index(word) for word in ("ID", "PROMISES", "USES", "N<=", "RMR", "WHAT")]
        for row in self.lab_json(HOLDS, "list"):
            (line,) = [one for one in lines if one.split()[:1] == [row["id"]]]
            self.assertTrue(all(line[at - 1] == " " and (line[at] != " " or at == columns[3] or at == columns[4])
                                for at in columns[1:]), line)
            self.assertIn(row["title"], line)
            for bound in row["rmr"]:
                self.assertIn(bound["formula"], text)
        self.assertFalse(any(line != line.rstrip() for line in lines))


class Explain(LabTest):
    def test_pseudo_shows_the_labelled_statements_only(self):
        """Without what only the machine needs: labels in brackets, frames, live, includes."""
        self.assertEqual(self.lab(HOLDS, "explain", "am97-chain-cc", "--pseudo"), """kgate/algorithms/am97_figure3.hpp
acquire
  2: if (X.fetch_add(-1) == 0)
  3:   Q.write(p.id())
  4:   if (X.read() < 0)
  5:     Q.await([&](process_id q) { return q != p.id(); })
release
  7: X.fetch_add(1)
  8: Q.write(p.id())
""")
        self.assertEqual(self.lab(HOLDS, "explain", "mcs", "--pseudo"), """kgate/algorithms/mcs_lock.hpp
acquire
  1: next[p.id()].write(nobody)
  2: const process_id predecessor = tail.exchange(p.id())
  3:   locked[p.id()].write(true)
  4:   next[predecessor].write(p.id())
  5:   locked[p.id()].await([](bool waits) { return !waits; })
release
  6: process_id successor = next[p.id()].read()
  7:   if (tail.compare_and_swap(p.id(), nobody)) return
  8:   successor = next[p.id()].await_value([](process_id q) { return q != nobody; })
  9: locked[successor].write(false)
""")
        statements = self.lab_json(HOLDS, "explain", "mcs", "--pseudo")["statements"]
        self.assertEqual([one["label"] for one in statements], list("123456789"))
        self.assertEqual(set(statements[0]), {"file", "function", "label", "line", "text"})

    def test_every_algorithm(self):
        for row in self.lab_json(HOLDS, "list"):
            for algorithm in (row["id"], row["id"] + "+names"):
                found = self.lab_json(HOLDS, "explain", algorithm)
                self.assertEqual(found["id"], algorithm)
                self.assertTrue(found["variables"]["list"], algorithm)
                self.assertTrue(found["references"], f"{algorithm}: no citation for {row['paper']}")
                self.assertEqual(found["promises"]["distinct-names"], algorithm.endswith("+names"))
                self.assertTrue(any(source["labels"] for source in found["sources"]), algorithm)
                for source in found["sources"]:
                    self.assertEqual(source["text"], (lab.SOURCE / "include" / source["file"]).read_text())
                    lines = source["text"].splitlines()
                    for label in source["labels"]:
                        self.assertIn(f'["{label["label"]}"]', lines[label["line"] - 1])
            self.assertEqual(["kgate/algorithms/" + name for name in row["headers"]],
                             [source["file"] for source in self.lab_json(HOLDS, "explain", row["id"])["sources"]])

    def test_for_people(self):
        text = self.lab(HOLDS, "explain", "am97-chain-cc+names")
        for part in ("am97-chain-cc+names", "figure 3", "theorem 1", "distinct-names", "at most k-1 crashes", "fetch-and-add",
                     "test-and-set", "7(N-k) + k+1 on CC", "X.", "Q.", 'X.fetch_add(p["2"], -1)', "kgate/algorithms/am97_names.hpp",
                     "kgate/algorithms/am97_chain.hpp", "kgate/algorithms/am97_figure3.hpp", "James H. Anderson"):
            self.assertIn(part, text)

    def test_variables(self):
        found = self.lab_json(HOLDS, "explain", "am97-chain-dsm")["variables"]
        homes = {v["home"] for v in found["list"]}
        self.assertIn("p0", homes)
        self.assertIn(None, homes)
        chain = self.lab_json(HOLDS, "explain", "am97-chain-cc")["variables"]
        self.assertEqual((chain["N"], chain["k"]), (3, 2))
        self.assertEqual([v["initial"] for v in chain["list"]], ["2", "p0"])


if __name__ == "__main__":
    lab.main()
