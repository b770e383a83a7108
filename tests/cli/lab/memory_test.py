#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A limit on memory holds in every mode of every command: exit code 3 and a sentence, and no more memory than allowed."""
import json
import os
import subprocess
import tempfile

import lab
from lab import UNDECIDED, LabTest

LIMIT, SMALLER = 20, {"enabledness": 16}
# The program, its libraries, what is counted in whole pages, and threads' stacks.
OVERHEAD = 40
BIG = ("am97-fastpath-nested-dsm-small", "-N", 5, "-k", 2)
UNLIMITED = ("--passages", "unlimited")
# What outgrows the limit in each way of deciding.
CHECKS = {
    "states": BIG,
    "states of one thread": (*BIG, "--threads", 1),
    "orbits": ("am97-chain-cc", "-N", 7, "-k", 3, "--symmetry"),
    "contention": (*BIG, "--contention", 4),
    "safe registers": ("danek10-nonatomic", "-N", 3, "-k", 2),
    "tables of a ticket that grows": ("choi11-one-update", "-N", 3, "-k", 2, *UNLIMITED),
    "tables of few states": ("choi11-one-update", "-N", 2, "-k", 1, *UNLIMITED),
    "reduced tickets": ("choi11", "-N", 4, "-k", 2, *UNLIMITED),
    "what is not forgotten": (*BIG, "--forget-nothing", 1000),
    "graph": ("am97-chain-cc", "-N", 5, "-k", 2, "--property", "starvation-free"),
    "formula": ("am97-chain-cc", "-N", 5, "-k", 2, "--ltl", "forall p: [] (entry(p) -> <> inside(p))"),
    "enabledness": ("flbb79-tickets", "-N", 5, "-k", 2, "--property", "l-full"),
    "order": ("choi11", "-N", 4, "-k", 2, "--passages", 2, "--property", "fife"),
    "overtakings": ("flbb79-tickets", "-N", 5, "-k", 2, "--property", "bounded-waiting"),
    "table": ("am97-fastpath-nested-dsm-small", "-N", "5-5", "-k", 2),
    "table of tickets": ("choi11-one-update", "-N", "3-3", "-k", 2, *UNLIMITED),
}
OTHERS = {
    "rmr": ("rmr", *BIG),
    "rmr on distributed memory": ("rmr", *BIG, "--model", "dsm"),
    "rmr of tickets": ("rmr", "choi11", "-N", 4, "-k", 2, "--passages", 1000),
    "export": ("export", *BIG, "--as", "promela"),
    "search": ("search", "afek94-fife", "-N", 8, "-k", 3, "--walks", 1000000000, "--passages", 1000),
    "step": ("step", *BIG, "--html", "page.html"),
}


class Memory(LabTest):
    def peak(self, *arguments):
        """Exit code, stdout, stderr, and the most memory that was in use, in megabytes."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([lab.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     cwd=self.folder, env=lab.environment())
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        return child.returncode, *texts, used.ru_maxrss / 1024

    def test_every_way_of_checking(self):
        for what, arguments in CHECKS.items():
            with self.subTest(what):
                limit = SMALLER.get(what, LIMIT)
                code, out, err, peak = self.peak("check", *arguments, "--memory-max", f"{limit}M", "--json")
                self.assertEqual((code, err), (UNDECIDED, ""), out[-400:])
                result = json.loads(out)
                result = result[0] if isinstance(result, list) else result
                self.assertIn("memory limit reached", {one["why"].split(";")[0] for one in result["properties"]})
                self.assertLess(peak, limit + OVERHEAD)

    def test_every_other_command(self):
        for what, arguments in OTHERS.items():
            with self.subTest(what):
                code, out, err, peak = self.peak(*arguments, "--memory-max", f"{LIMIT}M")
                self.assertEqual(code, UNDECIDED, out[-400:] + err)
                self.assertIn("memory limit reached", out + err)
                self.assertLess(peak, LIMIT + OVERHEAD)

    def test_what_does_not_fit_is_an_estimate(self):
        code, out, err, peak = self.peak("space", "flbb79-fifo", "-N", 7, "-k", 2, "--memory-max", "4M", "--json")
        self.assertEqual((code, err), (lab.HOLDS, ""))
        self.assertFalse(json.loads(out)["exhaustive"])
        self.assertLess(peak, 4 + OVERHEAD)

    def test_mutants_that_do_not_fit_are_undecided(self):
        code, out, err, peak = self.peak("mutate", "am97-chain-cc", "-N", 3, "-k", 2, "--sample", 2, "--memory-max", "1M", "--json")
        self.assertEqual(code, lab.USAGE, out)
        self.assertIn("memory limit reached", err)
        self.assertLess(peak, 1 + OVERHEAD)

    def test_one_can_step_all_the_same(self):
        done = subprocess.run([lab.PROGRAM, "step", *map(str, BIG), "--memory-max", "4M"], input="0\nquit\n", capture_output=True,
                              text=True, env=lab.environment(), timeout=60)
        self.assertEqual((done.returncode, done.stderr), (lab.HOLDS, ""))
        self.assertIn("not known: memory limit reached", done.stdout)


if __name__ == "__main__":
    lab.main()
