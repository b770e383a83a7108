#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab search: finds by random schedules what no search of all states reaches at these sizes, replayable."""
import json
import shlex
import sys
import unittest

import lab
from lab import UNDECIDED, VIOLATED, LabTest

ALGORITHMS = "include/kgate/algorithms"
DEEP = "--deep" in sys.argv


class Search(LabTest):
    def search(self, code, *arguments):
        return self.lab_json(code, "search", *arguments)

    def found_in_a_copy(self, header, old, new, of, walks, seed=1):
        """An error in a copy of a text breaks FIFE at N = 4, k = 2, is found, and is not in the text itself."""
        text = (lab.SOURCE / ALGORITHMS / header).read_text()
        self.assertIn(old, text, header)
        (self.folder / header).write_text(text.replace(old, new))
        found = self.search(VIOLATED, f"{header}:kgate::{of}", "-N", 4, "-k", 2, "--property", "fife", "--walks", walks, "--seed", seed)
        self.assertEqual((found["verdict"], found["property"]), ("violated", "fife"))
        line = shlex.split(found["trace"]["replay"])[1:]
        self.assertEqual(self.run_lab(*line).returncode, VIOLATED, line)
        (self.folder / header).write_text(text)
        self.assertEqual(self.run_lab(*line).returncode, UNDECIDED, "the right text shows it too")

    def test_afek_with_everybody_in_the_set(self):
        self.found_in_a_copy("afek94_figure2.hpp", 'if (X[pid(j)].read(p["4"])) S |= only(j);',
                             'X[pid(j)].read(p["4"]), S |= only(j);', "afek94::fife", 1000)

    def test_each_property_is_found(self):
        for arguments, wanted in (
            (("am97-chain-cc", "-N", 8, "-k", 3, "--mutate", "drop:2"), "k-exclusion"),
            (("am97-chain-cc", "-N", 8, "-k", 3, "--mutate", "drop:8", "--property", "deadlock-free"), "deadlock-free"),
            (("choi11-one-update", "-N", 4, "-k", 3, "--property", "starvation-free", "--walks", 10000), "starvation-free"),
            (("am97-chain-cc+names", "-N", 5, "-k", 3, "--mutate", "force:2=0", "--property", "distinct-names"), "distinct-names"),
            (("flbb79-tickets", "-N", 5, "-k", 2, "--mutate", "force:T=0", "--property", "k-exclusion"), "k-exclusion"),
            (("danek10-kfcfs", "-N", 5, "-k", 2, "--property", "fife"), "fife"),
            (("danek10-kfcfs", "-N", 5, "-k", 2, "--property", "bounded-waiting:0"), "bounded-waiting:0"),
            (("mcs", "-N", 3, "-k", 1, "--property", "bounded-exit"), "bounded-exit"),
            (("danek10-kfcfs", "-N", 5, "-k", 2, "--mutate", "drop:15", "--property", "k-fcfs"), "k-fcfs"),
            (("flbb79-bank", "-N", 5, "-k", 2, "--property", "l-full"), "l-full"),
            (("fa-semaphore", "-N", 6, "-k", 2, "--property", "fifo-enabling"), "fifo-enabling"),
            (("fa-semaphore", "-N", 6, "-k", 2, "--property", "l-queuelike"), "l-queuelike"),
            (("flbb79-tickets", "-N", 6, "-k", 2, "--mutate", "drop:E", "--property", "kl-deadlock-free"), "kl-deadlock-free"),
            (("danek10-fife", "-N", 3, "-k", 2, "--passages-each", 1, "--property", "enabled-in-order"), "enabled-in-order"),
            (("am97-chain-cc", "-N", 8, "-k", 3, "--property", "local-waiting"), "local-waiting"),
            (("fa-semaphore", "-N", 6, "-k", 2, "--property", "fifo"), "fifo"),
            (("fa-semaphore", "-N", 6, "-k", 2, "--property", "bounded-overtaking:3"), "bounded-overtaking:3"),
        ):
            with self.subTest(arguments):
                found = self.search(VIOLATED, *arguments)
                self.assertEqual(found["property"], wanted)
                replayed = self.run_lab(*shlex.split(found["trace"]["replay"])[1:])
                self.assertEqual(replayed.returncode, VIOLATED, replayed.stdout + replayed.stderr)

    @unittest.skipUnless(DEEP, "minutes")
    def test_afek_labels_before_its_flag_falls(self):
        self.found_in_a_copy("afek94_figure2.hpp",
                             'X[p.id()].write(p["11"], false);\n    if constexpr (Exit_label) timestamps_.label(p["12"]);',
                             'timestamps_.label(p["12"]);\n    X[p.id()].write(p["11"], false);', "afek94::fife", 50000)

    @unittest.skipUnless(DEEP, "minutes")
    def test_danek_compares_captures_strictly(self):
        self.found_in_a_copy("danek10_nonatomic.hpp", "captured <= Ticket(i)", "captured < Ticket(i)", "danek10::nonatomic", 50000)

    @unittest.skipUnless(DEEP, "minutes")
    def test_choi_with_two_blocks(self):
        found = self.search(VIOLATED, "choi11-as-printed-blocks", "-N", 4, "-k", 3, "--property", "starvation-free",
                            "--walks", 10000000, "--passages", 22)
        self.assertEqual(self.run_lab(*shlex.split(found["trace"]["replay"])[1:]).returncode, VIOLATED)

    def test_the_same_seed_makes_the_same_runs(self):
        arguments = ("choi11-one-update", "-N", 4, "-k", 3, "--property", "starvation-free", "--walks", 10000, "--seed")
        first, again, other = (self.search(VIOLATED, *arguments, seed) for seed in (1, 1, 2))
        self.assertEqual(first["trace"], again["trace"])
        self.assertNotEqual((first["walks"], first["trace"]["schedule"]), (other["walks"], other["trace"]["schedule"]))

    def test_what_is_found_is_cut_down(self):
        """Without any one of its steps the run shows nothing, and one step more than it needs would be noticed."""
        found = self.search(VIOLATED, "am97-chain-cc", "-N", 6, "-k", 2, "--mutate", "drop:2", "--property", "k-exclusion", "--trace", "found.json")
        trace = json.loads((self.folder / "found.json").read_text())
        schedule = trace["schedule"]
        self.assertEqual(schedule, found["trace"]["schedule"])

        def reducible(steps):
            for i in range(len(steps)):
                (self.folder / "less.json").write_text(json.dumps({**trace, "schedule": steps[:i] + steps[i + 1:]}))
                if self.run_lab("replay", "less.json").returncode == VIOLATED:
                    return True
            return False
        self.assertFalse(reducible(schedule))
        idle = next(p for p in range(6) if p not in schedule)
        self.assertTrue(reducible([idle] + schedule))
        infinite = self.search(VIOLATED, "am97-chain-cc", "-N", 6, "-k", 2, "--mutate", "drop:8", "--property", "starvation-free")["trace"]
        self.assertLess(len(infinite["schedule"]), 40)  # the random runs are hundreds of steps long

    def test_nothing_found_is_undecided(self):
        result = self.search(UNDECIDED, "kgate", "-N", 8, "-k", 3, "--walks", 300)
        self.assertEqual((result["verdict"], result["walks"]), ("undecided", 300))
        self.assertIn("bounded-waiting:0", result["properties"])
        self.assertEqual(set(result["made_by"]), {"program", "version", "commit", "machine"})
        for right in (("flbb79-tickets", "l-queuelike"), ("flbb79-tickets", "kl-deadlock-free"), ("am97-chain-dsm", "local-waiting"), ("afek94-fife", "enabled-in-order")):
            self.lab(UNDECIDED, "search", right[0], "-N", 3, "-k", 2, "--property", right[1], "--walks", 200, "--passages-each", 2)
        self.lab(UNDECIDED, "search", "flbb79-tickets", "-N", 3, "-k", 1, "--property", "bounded-overtaking:0", "--walks", 200)
        self.assertIn("excludes none", self.lab(UNDECIDED, "search", "danek10-nonatomic", "-N", 3, "-k", 2, "--walks", 50))

    def test_the_trace_is_written(self):
        self.lab(VIOLATED, "search", "fa-semaphore", "-N", 3, "-k", 1, "--mutate", "drop:3", "--trace", "bad.json")
        self.assertEqual(json.loads((self.folder / "bad.json").read_text())["format"], "kgate-trace")
        self.assertEqual(self.run_lab("replay", "bad.json").returncode, VIOLATED)

    def test_mistakes(self):
        self.refused("search", "kgate", "-N", 3, "-k", 1, "--property", "fairness", says=["fairness", "bounded-waiting:B"])
        self.refused("search", "kgate", "-N", 3, "-k", 1, "--property", "bounded-waiting", says=["bounded-waiting:B"])
        self.refused("search", "kgate", "-N", 3, "-k", 1, "--walks", "0", says=["--walks"])
        self.refused("search", "kgate", "-N", 3, "-k", 1, "--seed", "x", says=["--seed"])


if __name__ == "__main__":
    if DEEP:
        sys.argv.remove("--deep")
        lab.SECONDS_MAX = 1200
    lab.main()
