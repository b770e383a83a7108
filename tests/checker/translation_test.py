#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kgate-lab export writes is the algorithm that check explores: Spin and an evaluator of TLA+ find the same states and steps.

Called as: translation_test.py PROGRAM.
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tla_module

LAB = Path(sys.argv[1]).resolve()
# Algorithm, N, k, passages (0: without limit), more options.
SIZES = [("am97-chain-cc", 3, 2, 0), ("am97-chain-dsm", 2, 1, 0), ("am97-chain-cc+names", 3, 2, 0), ("fa-semaphore", 3, 2, 0), ("mcs", 3, 1, 0),
         ("peterson-k", 3, 1, 0), ("flbb79-tickets", 3, 2, 0), ("choi11", 2, 1, 1), ("kgate", 2, 1, 2), ("dekker", 2, 1, 0),
         ("bakery", 2, 1, 1, "--memory", "safe"), ("clh", 3, 1, 0), ("ticket", 3, 1, 2)]
TLA_STATES_MAX = 3_000  # the evaluator makes some ten thousand steps a second


def run(*command, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, timeout=300)
    return done.returncode, done.stdout, done.stderr


def export(language, algorithm, N, k, passages, *more):
    limit = ["--passages", passages] if passages else []
    return run(LAB, "export", algorithm, "-N", N, "-k", k, *limit, "--as", language, *more)


def counted(algorithm, N, k, passages, *more):
    limit = ["--passages", passages] if passages else []
    _, out, _ = run(LAB, "check", algorithm, "-N", N, "-k", k, *limit, "--property", "k-exclusion", "--json", *more)
    result = json.loads(out)
    return result["states"], result["transitions"]


class Spin(unittest.TestCase):
    def pan(self, text, *options):
        with tempfile.TemporaryDirectory(prefix="kgate-spin-") as folder:
            Path(folder, "model.pml").write_text(text)
            code, out, errors = run("spin", "-a", "model.pml", cwd=folder)
            self.assertEqual((code, out + errors), (0, ""), text[:600])
            code, out, errors = run("gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c", cwd=folder)
            self.assertEqual(code, 0, errors)
            return run("./pan", "-m1000000", *options, cwd=folder)[1]

    def test_the_same_states_and_transitions(self):
        for size in SIZES:
            with self.subTest(size=size):
                code, text, errors = export("promela", *size)
                self.assertEqual(code, 0, errors)
                report = self.pan(text)
                self.assertRegex(report, r"errors: 0\b")
                states = int(float(re.search(r"([\d.e+]+) states, stored", report)[1]))
                transitions = int(float(re.search(r"([\d.e+]+) transitions", report)[1]))
                self.assertEqual((states, transitions - 1), counted(*size))
                self.assertIn(f"Spin stores {states} states and counts {transitions} transitions", text)

    def test_an_error_is_found_there_too(self):
        _, text, _ = export("promela", "am97-chain-cc", 3, 2, 0, "--mutate", "drop:5")
        self.assertIn("assertion violated (inside<=2)", self.pan(text))
        _, text, _ = export("promela", "am97-chain-cc", 3, 2, 0, "--mutate", "drop:8")
        self.assertIn("invalid end state", self.pan(text))


class Tla(unittest.TestCase):
    def test_the_same_states_and_steps(self):
        judged = 0
        for size in SIZES:
            states, transitions = counted(*size)
            if states > TLA_STATES_MAX:
                continue
            with self.subTest(size=size):
                code, text, errors = export("tla", *size)
                self.assertEqual(code, 0, errors)
                self.assertEqual(tla_module.Module(text).explore(), (states, transitions, True))
                judged += 1
        self.assertGreaterEqual(judged, 8)

    def test_an_error_is_found_there_too(self):
        _, text, _ = export("tla", "am97-chain-cc", 3, 2, 0, "--mutate", "drop:5")
        self.assertFalse(tla_module.Module(text).explore()[2])


class Readable(unittest.TestCase):
    def test_equal_processes_share_a_type_and_labels_are_the_papers(self):
        _, text, _ = export("promela", "am97-chain-cc", 3, 2, 0)
        self.assertEqual(text.count("proctype"), 1)
        self.assertRegex(text, r"at_2: /\* 2: fetch_and_add X\.0; remainder \*/")
        _, text, _ = export("promela", "burns-lynch", 3, 1, 0)
        self.assertEqual(text.count("proctype"), 3)  # each reads the flags of others than the next one does

    def test_what_cannot_be_exported_is_refused_with_the_reason(self):
        code, out, errors = run(LAB, "export", "ticket", "-N", 2, "-k", 1, "--as", "promela")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(errors, r"unbounded.*--passages")
        code, out, errors = run(LAB, "export", "am97-chain-cc", "-N", 2, "-k", 1, "--as", "murphi")
        self.assertEqual(code, 2)
        self.assertIn("promela or tla", errors)
        code, out, errors = run(LAB, "export", "am97-chain-cc", "-N", 6, "-k", 2, "--as", "tla", "--time-max", "200ms")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("another algorithm", errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
