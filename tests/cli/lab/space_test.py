#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab space: the fields of its JSON, counts that can be known, and what it refuses."""
import lab
from lab import HOLDS, LabTest


class Space(LabTest):
    def cell(self, algorithm, N, k):
        result = self.lab_json(HOLDS, "space", algorithm, "-N", N, "-k", k)
        self.assertEqual((result["algorithm"], result["N"], result["k"]), (algorithm, N, k))
        self.assertIs(result["exhaustive"], True)
        return result

    def test_the_counter_takes_all_its_values(self):
        for k in (1, 2, 3):
            cell = self.cell("flbb79-count", 4, k)
            self.assertEqual((cell["values"], cell["upper"]["value"]), (k + 1, k + 1))
            self.assertNotIn("lower", cell)

    def test_tickets_are_between_their_bounds(self):
        cell = self.cell("flbb79-tickets", 3, 2)
        self.assertEqual(cell["values"], 93)
        self.assertEqual(cell["upper"], {"formula": "C(2k-1,k) (k+1)^2 N^2", "value": 243})
        cell = self.cell("flbb79-tickets", 6, 2)
        self.assertEqual(cell["lower"], {"formula": "k C(N-k-1,2)", "value": 6})
        self.assertLess(6, cell["values"])
        self.assertLess(cell["values"], cell["upper"]["value"])

    def test_many_processes(self):
        """N = 8 is beyond what trying all renamings can do."""
        self.assertEqual(self.cell("flbb79-tickets", 8, 2)["values"], 648)
        self.assertEqual(self.cell("flbb79-count", 32, 2)["values"], 3)

    def test_all(self):
        cells = self.lab_json(HOLDS, "space", "--all", "--time-max", "20ms")
        systems = ["flbb79-count", "flbb79-bank", "flbb79-bank-buffer", "flbb79-bank-numbers", "flbb79-tickets",
                   "flbb79-bounded", "flbb79-fifo"]
        sizes = [(N, k) for k in (1, 2) for N in range(k + 1, 9)]
        self.assertEqual([(c["algorithm"], c["N"], c["k"]) for c in cells], [(s, N, k) for s in systems for N, k in sizes])
        for cell in cells:
            self.assertGreater(cell["values"], 0)
            if cell["algorithm"] == "flbb79-count":
                self.assertIs(cell["exhaustive"], True)
            if "upper" in cell:
                self.assertLessEqual(cell["values"], cell["upper"]["value"])

    def test_the_bank_multiplies_its_lock(self):
        cell = self.cell("flbb79-bank", 3, 2)
        self.assertLessEqual(cell["values"], cell["upper"]["value"])

    def test_the_banks_of_theorem_4_1(self):
        """Over a lock of one variable the counts are those of the theorem: (a) to N = 12, (b), and (c) to N = 3."""
        for N, k in ((3, 1), (3, 2), (5, 2)):
            buffer, numbers = self.cell("flbb79-bank-buffer", N, k), self.cell("flbb79-bank-numbers", N, k)
            self.assertEqual(buffer["upper"], {"formula": "(k+1)(N+3)", "value": (k + 1) * (N + 3)})
            self.assertLessEqual(buffer["values"], (k + 1) * (N + 3))
            self.assertLessEqual(buffer["values"], (k + 1) * (N // 2 + 9))
            self.assertEqual(numbers["values"], (k + 1) * N * N)
            self.assertEqual(numbers["values"] <= (k + 1) * (N + 7), N <= 3)

    def test_of_other_algorithms_there_are_no_bounds(self):
        cell = self.cell("fa-semaphore", 3, 2)
        self.assertEqual((cell["values"], "upper" in cell, "lower" in cell), (4, False, False))  # from k down to k-N

    def test_for_people(self):
        text = self.lab(HOLDS, "space", "flbb79-tickets", "-N", 3, "-k", 2)
        for part in ("flbb79-tickets", "93", "243", "LOWER BOUND", "UPPER BOUND"):
            self.assertIn(part, text)

    def test_bad_input(self):
        for arguments, says in (((), "--all"), (("flbb79-tickets",), "-N"), (("danek10-fife", "-N", 2, "-k", 1), "unbounded: there is nothing to count"),
                                (("flbb79-tickets", "--all"), "--all"), (("flbb79-tickets", "-N", 300, "-k", 1), "256")):
            self.refused("space", *arguments, says=(says,))


if __name__ == "__main__":
    lab.main()
