#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every label of every algorithm is reached by a search that takes seconds, but for those that say why not here."""
import sys
import unittest

import lab
from lab import HOLDS, LabTest

DEEP = "--deep" in sys.argv

SIZES = ((2, 1), (3, 2), (3, 1))
SECONDS_EACH = "15s"
FLAGS = ("2", "5", "7", "12")  # calls of label and scan, whose accesses have labels of their own, and a live
NOT_REACHED = {
    "danek10-kfcfs": ("22", "23", "15c", "25t"),  # shaded in figure 2: of the variant with capture; of danek10-reset
    "danek10-fife": ("15c", "25t"),  # of danek10-reset, which reaches them
    "flbb79-bank-buffer": ("1", "3"), "flbb79-bank-numbers": ("1", "3"),  # calls of the lock, whose accesses have labels
    "danek10-nonatomic": ("F1", "F2"),  # fences: no access
    "afek94-fife": FLAGS, "afek94-bounded": FLAGS, "afek94-as-printed": FLAGS,
    "flbb79-bounded-printed-order": ("E",),  # no process gets as far as its exit: that is the error
}
# Texts with more operations than to enter and to leave, and the tests that explore the others.
ELSEWHERE = {
    # giving up, resizing, waiting on several, suspending; the room of the process
    "kgate": ("tests/semaphore/model_test.cpp", "tests/semaphore/suspended_model_test.cpp", "tests/semaphore/room_model_test.cpp"),
    # names, capacity, deaths and healing; sleeping
    "kgate-gate": ("tests/gate/lab/scripts_test.cpp", "tests/gate/lab/all_scripts_deep_test.cpp", "tests/gate/lab/doze_test.cpp"),
}


class Coverage(LabTest):
    def reached(self, algorithm, N, k):
        """The labels that a search reached, and those that it did not."""
        done = self.run_lab("check", algorithm, "-N", N, "-k", k, "--property", "k-exclusion", "--time-max", SECONDS_EACH, "--json")
        result = lab.json.loads(done.stdout)
        return set(result["coverage"]["labels"]), set(result["coverage"]["labels_not_reached"])

    @unittest.skipUnless(DEEP, "takes minutes")
    def test_every_label_is_reached(self):
        missing = {}
        for row in self.lab_json(HOLDS, "list"):
            seen, open_labels = set(), None
            for N, k in SIZES:
                if N > row["limits"]["N_max"] or k > row["limits"]["k_max"]:
                    continue
                more, missed = self.reached(row["id"], N, k)
                seen |= more
                open_labels = missed - seen if open_labels is None else open_labels - seen
                if not open_labels:
                    break
            if row["id"] not in ELSEWHERE and open_labels != set(NOT_REACHED.get(row["id"], ())):
                missing[row["id"]] = sorted(open_labels)  # or it is reached by now
        self.assertEqual(missing, {})

    def test_the_tests_that_explore_the_rest_are_there(self):
        for algorithm, tests in ELSEWHERE.items():
            for test in tests:
                source = lab.SOURCE / test
                self.assertIn("namespace kgate", source.read_text(), test)
                self.assertIn(source.stem, (source.parent / "CMakeLists.txt").read_text())
                self.assertNotIn(algorithm, NOT_REACHED)

    def test_text_and_json_say_what_was_reached(self):
        result = self.lab_json(HOLDS, "check", "mcs", "-N", "2", "-k", "1", "--crashes", "0", "--property", "k-exclusion")
        swap = [at for at in result["coverage"]["labels"].values() if at["operation"] == "compare_and_swap"]
        self.assertTrue(swap and all(at["writes"] and at["only_reads"] for at in swap), swap)
        alone = self.lab(HOLDS, "check", "mcs", "-N", "1", "-k", "1", "--property", "k-exclusion")
        self.assertRegex(alone, r"(?s)coverage: .* not reached: .*never fails")
        self.assertIn("false", result["coverage"]["values"]["locked[0]"])
        self.assertEqual(result["coverage"]["values_missed"], ["next[0] is never p0", "next[1] is never p1"])  # no process comes after itself
        self.assertRegex(alone, r"locked\[0\] is\s+never true")
        counted = self.lab_json(HOLDS, "rmr", "am97-chain-cc", "-N", "3", "-k", "2")
        self.assertIn("2", counted["coverage"]["labels"])

    def test_modes_of_a_variable(self):
        """Where the supervisor's state of lemma 4.3 is: with k = l = 2 it takes five processes to distribute it."""
        kept = ("check", "flbb79-bounded", "-N", "3", "-k", "2", "--property", "k-exclusion")
        modes = self.lab_json(HOLDS, *kept)["coverage"]["modes"]["V"]
        self.assertEqual(modes["DIST"], 0)
        self.assertGreater(modes["SHARE"], 100)
        self.assertRegex(self.lab(HOLDS, *kept), r"\nmodes of V: SHARE [0-9,]+ values, DIST never\n")
        distributed = ("check", "flbb79-bounded", "-N", "2", "-k", "1", "--property", "k-exclusion")
        result = self.lab_json(HOLDS, *distributed)["coverage"]
        self.assertGreater(result["modes"]["V"]["DIST"], 100)
        self.assertEqual(sum(result["modes"]["V"].values()), result["variables"]["V"])
        self.assertNotIn("modes", self.lab_json(HOLDS, "check", "mcs", "-N", "1", "-k", "1", "--property", "k-exclusion")["coverage"])


if __name__ == "__main__":
    if DEEP:
        sys.argv.remove("--deep")
    lab.main()
