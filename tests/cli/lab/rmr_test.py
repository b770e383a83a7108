#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab rmr: the fields of its JSON, and figures that the papers and the checker agree on."""
import lab
from lab import HOLDS, LabTest


class Rmr(LabTest):
    def worst(self, algorithm, N, k, model, *more):
        result = self.lab_json(HOLDS, "rmr", algorithm, "-N", N, "-k", k, "--model", model, *more)
        self.assertEqual((result["algorithm"], result["N"], result["k"], result["model"]), (algorithm, N, k, model))
        self.assertIs(result["exhaustive"], True)
        return result["worst"], result["bound"], result["formula"]

    def test_chains(self):
        self.assertEqual(self.worst("am97-chain-cc", 2, 1, "cc"), (7, 7, "7(N-k)"))
        self.assertEqual(self.worst("am97-chain-cc", 3, 1, "cc"), (14, 14, "7(N-k)"))
        self.assertEqual(self.worst("am97-chain-dsm", 2, 1, "dsm"), (9, 9, "9(N-k)"))
        self.assertEqual(self.worst("am97-chain-dsm-small", 2, 1, "dsm"), (10, 10, "10(N-k)"))

    def test_unbounded(self):
        self.assertEqual(self.worst("am97-chain-cc", 2, 1, "dsm")[0], "unbounded")

    def test_contention(self):
        worst, bound, formula = self.worst("am97-fastpath-nested-cc", 2, 1, "cc", "--contention", 1)
        self.assertEqual((bound, formula), (9, "8c+1"))
        self.assertLessEqual(worst, bound)

    def test_what_was_reached(self):
        """A worst case says nothing of statements that no run came to."""
        alone = ("rmr", "am97-chain-cc", "-N", 1, "-k", 1)
        result = self.lab_json(HOLDS, "rmr", "mcs", "-N", 1, "-k", 1)
        self.assertEqual(result["coverage"]["labels_not_reached"], ["3", "4", "5", "8", "9"])
        shown = self.lab(HOLDS, "rmr", "mcs", "-N", 1, "-k", 1)
        self.assertIn("coverage: 4 labels reached, not reached: 3, 4, 5, 8, 9", shown)
        self.assertIn("coverage:", self.lab(HOLDS, *alone))
        self.assertEqual(self.lab_json(HOLDS, "rmr", "mcs", "-N", 2, "-k", 1)["coverage"]["labels_not_reached"], [])
        self.assertNotIn("coverage", self.lab(HOLDS, "rmr", "mcs", "-N", 2, "-k", 1, "--sample", "--steps", 1000))

    def test_for_people(self):
        text = self.lab(HOLDS, "rmr", "am97-chain-cc", "-N", 2, "-k", 1)
        for part in ("am97-chain-cc  N=2 k=1, cc", "worst  7", "bound  7  7(N-k)"):
            self.assertIn(part, text)


if __name__ == "__main__":
    lab.main()
