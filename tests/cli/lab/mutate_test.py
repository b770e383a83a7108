#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab mutate: what survives is what is known to change nothing; a sample over the catalogue."""
import json
import os
import re
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import lab
from lab import VIOLATED, LabTest

# Mutants that no promise notices, and why.
SURVIVORS = json.loads((lab.Path(__file__).parent / "surviving_mutants.json").read_text())
TEXTS = json.loads((lab.Path(__file__).parent / "surviving_texts.json").read_text())
DEEP = "--deep" in sys.argv


def targets():
    """The algorithms and texts of which mutants are made."""
    source = (lab.SOURCE / "src/tools/kgate-lab/text_mutants/targets.cpp").read_text()
    return re.findall(r'\{"([\w+-]+)",\s*"(\w+\.hpp)"', source)


class Mutate(LabTest):
    def survivors(self, *arguments):
        done = self.run_lab("mutate", *arguments, "--json")
        self.assertIn(done.returncode, (lab.HOLDS, VIOLATED), done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["killed"] + result["survived"] + result["undecided"], result["judged"])
        self.assertEqual(result["undecided"], 0, [m for m in result["mutants"] if m["fate"] == "undecided"])
        self.assertGreater(result["killed"], result["judged"] / 3)
        return {m["mutation"] for m in result["mutants"] if m["fate"] == "survived"}

    def test_survivors_are_explained(self):
        for name, arguments in SURVIVORS.items():
            algorithm, N, k = name.split()
            explained = {m for reasons in arguments.values() for m in reasons}
            self.assertEqual(self.survivors(algorithm, "-N", N, "-k", k), explained, name)

    def explained_texts(self, *arguments):
        """Judges mutants of texts. Each survivor has its argument, and, if all are judged, each argument a survivor."""
        done = self.run_lab("mutate", "--text", *arguments, "--json")
        self.assertIn(done.returncode, (lab.HOLDS, VIOLATED), done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual([m for m in result["mutants"] if m["fate"] == "undecided"], [])
        name = lambda m: f'{m["algorithm"]} {m["header"]}'
        survived = {(name(m), m["change"]) for m in result["mutants"] if m["fate"] == "survived"}
        explained = {(text, change) for text in {name(m) for m in result["mutants"]}
                     for all in TEXTS.get(text, {}).values() for change in all}
        self.assertLessEqual(survived, explained)
        if not result["sample"]:
            self.assertEqual(survived, explained)
        self.assertEqual(set(result["made_by"]), {"program", "version", "commit", "machine"})
        return result

    def test_texts(self):
        for algorithm in ("fa-semaphore", "flbb79-count", "am97-queue", "ticket"):
            self.explained_texts(algorithm)

    def test_a_sample_of_all_texts(self):
        result = self.explained_texts("--all", "--sample", "6", "--seed", "3", "--time-max", "300s")
        self.assertGreaterEqual(result["made"], 400)

    @unittest.skipUnless(DEEP, "minutes")
    def test_all_texts(self):
        """At least 400 mutants over the catalogue, none unexplained. One algorithm is judged for each processor."""
        algorithms = list(dict.fromkeys(algorithm for algorithm, _ in targets()))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda algorithm: self.explained_texts(algorithm, "--time-max", "600s"), algorithms))
        self.assertGreaterEqual(sum(result["judged"] for result in results), 400)
        judged = {f'{m["algorithm"]} {m["header"]}' for result in results for m in result["mutants"]}
        self.assertLessEqual(set(TEXTS), judged)
        self.assertLessEqual({" ".join(target) for target in targets()}, judged)

    def test_texts_without_mutants_say_why(self):
        """Each text of the catalogue is mutated, or docs/checker.md says why not and where its mutants are."""
        page = (lab.SOURCE / "docs/checker.md").read_text()
        excused = set()
        for texts, why, tests in re.findall(r"^\| ((?:`\w+\.hpp`(?:, )?)+) \| (.+) \| (`tests/.+`) \|$", page, re.M):
            self.assertGreater(len(why.split()), 5)
            for test in re.findall(r"`(tests/[\w/]+\.cpp)`", tests):
                self.assertRegex((lab.SOURCE / test).read_text(), r"(?i)mutant", test)
            excused |= set(re.findall(r"`(\w+\.hpp)`", texts))
        texts = {header for row in self.lab_json(lab.HOLDS, "list") for header in row["headers"]}
        self.assertEqual(excused, texts - {header for _, header in targets()})

    def test_the_same_seed_gives_the_same_sample(self):
        sample = ("mutate", "am97-chain-cc", "-N", "3", "-k", "2", "--sample", "4", "--seed")
        first, again, other = (json.loads(self.run_lab(*sample, seed, "--json").stdout)["mutants"] for seed in ("1", "1", "2"))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_mistakes(self):
        self.refused("mutate", says=["--all"])
        self.refused("mutate", "mcs", "--all", says=["--all"])
        self.refused("mutate", "--text", says=["--all"])
        self.refused("mutate", "kgate-gate", "--text", says=["kgate-gate", "am97-queue"])
        self.refused("mutate", "mcs", "--text", "-N", "7", says=["N = 3"])
        self.refused("mutate", "fa-semaphore", "-N", "2", "-k", "3", says=["k <= N"])


if __name__ == "__main__":
    if DEEP:
        sys.argv.remove("--deep")
        lab.SECONDS_MAX = 7000
    lab.main()
