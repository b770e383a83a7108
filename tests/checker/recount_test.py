# SPDX-License-Identifier: Apache-2.0
"""kgate-lab counts the states and steps that recount.py counts from the papers. Called as: recount_test.py PROGRAM."""
import json
import subprocess
import sys
import unittest

from recount import ALGORITHMS, count

# The algorithm, N, k, passages of each process (0: without limit).
CASES = [("am97-chain-cc", 2, 1, 0), ("am97-chain-cc", 3, 1, 0), ("am97-chain-cc", 3, 2, 0),
         ("am97-chain-dsm", 2, 1, 0), ("am97-chain-dsm", 3, 2, 0),
         ("danek10-kfcfs", 2, 1, 1), ("danek10-kfcfs", 2, 1, 2), ("danek10-kfcfs", 3, 1, 1), ("danek10-kfcfs", 3, 2, 1),
         ("danek10-fife", 2, 1, 1), ("danek10-fife", 2, 1, 2), ("danek10-fife", 3, 2, 1),
         ("peterson-k", 3, 1, 0), ("peterson-k", 3, 2, 0), ("peterson-k", 4, 2, 0),
         ("mcs", 2, 1, 0), ("mcs", 3, 1, 0), ("fa-semaphore", 3, 2, 0), ("fa-semaphore", 4, 2, 0)]


class Recount(unittest.TestCase):
    def test_states_and_steps_are_those_of_the_papers(self):
        for algorithm, N, k, passages in CASES:
            with self.subTest(algorithm=algorithm, N=N, k=k, passages=passages):
                limit = ["--passages", str(passages)] if passages else []
                # A property that no search stops early for, so that everything is explored.
                done = subprocess.run([PROGRAM, "check", algorithm, "-N", str(N), "-k", str(k), "--property", "bounded-exit",
                                       "--json", *limit], capture_output=True, text=True, timeout=120, check=False)
                result = json.loads(done.stdout)
                self.assertEqual((result["states"], result["transitions"]), count(ALGORITHMS[algorithm], N, k, passages))


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
