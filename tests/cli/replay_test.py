#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab replay: a run shows a violation, or it does not; both are said."""
import json

import lab
from lab import UNDECIDED, VIOLATED, LabTest

CHAIN = ("replay", "--algorithm", "am97-chain-cc", "-N", 2, "-k", 1)


class Replay(LabTest):
    def test_shows_it(self):
        text = self.lab(VIOLATED, *CHAIN, "--mutate", "drop:5", "--property", "k-exclusion", "--schedule", "0,1x3")
        for part in ("am97-chain-cc  N=2 k=1", "initially: X.0=1", "fetch_and_add", "entry -> critical", "k-exclusion: violated"):
            self.assertIn(part, text)

    def test_a_correct_program_does_not(self):
        text = self.lab(UNDECIDED, *CHAIN, "--property", "k-exclusion", "--schedule", "0x1,1x3")
        self.assertIn("does not show that k-exclusion is violated", text)

    def test_a_step_that_cannot_be_made(self):
        result = self.lab_json(UNDECIDED, *CHAIN, "--property", "k-exclusion", "--schedule", "0,1x9")
        self.assertFalse(result["shows"])
        self.assertIn("process 1 cannot move", result["why"])
        self.assertLess(len(result["steps"]), 10)
        self.assertEqual(result["verdict"], "undecided")

    def test_an_unfair_loop_is_seen(self):
        result = self.lab_json(UNDECIDED, "replay", "--algorithm", "fa-semaphore", "-N", 2, "-k", 1, "--property",
                               "starvation-free", "--victim", 0, "--loop", 1, "--schedule", "0,1x3")
        self.assertIn("unfair", result["why"])

    def test_empty_schedule(self):
        result = self.lab_json(UNDECIDED, *CHAIN, "--property", "deadlock-free", "--schedule", "")
        self.assertEqual(result["steps"], [])

    def test_a_changed_file(self):
        path = self.folder / "trace.json"
        self.lab(VIOLATED, "check", "am97-chain-cc", "-N", 2, "-k", 1, "--crashes", 1, "--trace", path)
        trace = json.loads(path.read_text())
        self.assertEqual(trace["format"], "kgate-trace")
        self.lab(VIOLATED, "replay", path)
        trace["crashed"] = []
        path.write_text(json.dumps(trace))
        self.lab(UNDECIDED, "replay", path)


if __name__ == "__main__":
    lab.main()
