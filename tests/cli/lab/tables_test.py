#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab check over ranges and over the catalogue, and its graph for other tools."""
import json
import shutil
import subprocess

import lab
from lab import HOLDS, UNDECIDED, VIOLATED, LabTest


class Tables(LabTest):
    def test_ranges_give_a_table_in_several_forms(self):
        arguments = ("check", "am97-chain-cc", "-N", "2-3", "-k", "1-2")
        text = self.lab(HOLDS, *arguments)
        *lines, by = text.splitlines()
        self.assertEqual([line.split()[:3] for line in lines],
                         [["algorithm", "N", "k"], ["am97-chain-cc", "2", "1"], ["am97-chain-cc", "2", "2"],
                          ["am97-chain-cc", "3", "1"], ["am97-chain-cc", "3", "2"]])
        rows = [line.split(",") for line in self.lab(HOLDS, *arguments, "--format", "csv").splitlines()]
        results = self.lab_json(HOLDS, *arguments)
        self.assertEqual([row[5] for row in rows[1:]], [str(r["states"]) for r in results])
        latex = self.lab(HOLDS, *arguments, "--format", "latex")
        self.assertRegex(latex, r"(?s)\A\\begin\{tabular\}\{lrrrrrrllll\}.*am97-chain-cc & 3 & 2 & unlimited & 1 & 543 &")
        self.assertEqual(latex.count("\\\\\n"), 5)
        self.assertRegex(latex.splitlines()[-1], r"^% by kgate-lab \S+ \(\w+\), seed 1, ")
        self.assertRegex(by, r"^by kgate-lab ")
        self.assertEqual(rows[0][-7:], ["seed", "threads", "memory_max", "time_max", "version", "commit", "machine"])
        self.refused("check", "am97-chain-cc", "-N", "3-2", "-k", "1", says=["range"])
        self.refused(*arguments, "--format", "pdf", says=["text, csv or latex"])
        self.refused("check", "--all", "mcs", "-N", "2", "-k", "1", says=["not both"])

    def test_what_holds_within_passages_is_said_so_in_every_form(self):
        arguments = ("check", "danek10-kfcfs", "-N", "2-3", "-k", "1", "--passages", "2", "--property", "k-exclusion")
        self.assertRegex(self.lab(UNDECIDED, *arguments), r"(?m)^danek10-kfcfs +2 .* holds within 2 passages$")
        self.assertIn("& holds within 2 passages \\\\\n", self.lab(UNDECIDED, *arguments, "--format", "latex"))
        self.assertIn(",holds-within-passages,", self.lab(UNDECIDED, *arguments, "--format", "csv"))
        self.assertEqual({r["verdict"] for r in self.lab_json(UNDECIDED, *arguments)}, {"holds-within-passages"})

    def test_what_a_verdict_is_about_stands_in_its_row(self):
        one = ("check", "am97-chain-cc", "-N", "2", "-k", "1", "--property", "k-exclusion")

        def columns(code, *more):
            head, row = (line.split(",") for line in self.lab(code, *one, *more, "--format", "csv").splitlines())
            return dict(zip(head, row))

        every = {"contention", "mutations", "memory", "forall", "symmetry"}
        self.assertFalse(every & set(columns(HOLDS)))
        self.assertEqual(columns(UNDECIDED, "--contention", "1")["contention"], "1")
        self.assertEqual(columns(VIOLATED, "--mutate", "drop:5", "--mutate", "force:2=1")["mutations"], "drop:5 force:2=1")
        in_any_order = ("check", "danek10-bakery", "-N", "2", "-k", "1", "--passages", "1", "--property", "k-exclusion", "--forall", "any")
        self.assertRegex(self.lab(UNDECIDED, *in_any_order, "--format", "text"), r"(?s) forall .* any ")
        self.assertEqual(columns(HOLDS, "--symmetry")["symmetry"], "yes")
        safe = ("check", "danek10-nonatomic", "-N", "2", "-k", "1", "--passages", "1", "--property", "k-exclusion")
        self.assertRegex(self.lab(UNDECIDED, *safe, "--format", "text"), r"(?s)transitions +memory +k-exclusion.* safe +holds within")
        text = self.lab(UNDECIDED, *one, "--contention", "1", "--format", "text")
        self.assertRegex(text, r"transitions +contention +k-exclusion\n.* 1 +holds with at most 1 process outside the remainder\n")
        latex = self.lab(VIOLATED, *one, "--mutate", "drop:5", "--format", "latex")
        self.assertIn("& drop:5 & violated", latex)
        self.assertRegex(latex, r"\A\\begin\{tabular\}\{lrrrrrrll\}")
        self.refused(*one, "--forget-nothing", "9", "--format", "csv", says=["--forget-nothing"])

    def test_all_algorithms_at_one_size(self):
        done = self.run_lab("check", "--all", "-N", "2", "-k", "1", "--property", "k-exclusion", "--time-max", "10s", "--format", "csv")
        listed = [row["id"] for row in self.lab_json(HOLDS, "list")]
        self.assertEqual([line.split(",")[0] for line in done.stdout.splitlines()[1:]], listed)

    def test_a_result_says_what_made_it_and_can_be_repeated(self):
        arguments = ("check", "am97-chain-dsm", "-N", "3", "-k", "2", "--threads", "1", "--time-max", "100s", "--memory-max", "1G")
        first, again = (self.lab_json(HOLDS, *arguments) for _ in range(2))
        self.assertEqual((first["made_by"]["program"], first["made_by"]["version"]), ("kgate-lab", first["version"]))
        self.assertTrue({"processor", "processors", "kernel", "compiler"} <= set(first["made_by"]["machine"]))
        self.assertRegex(first["made_by"]["commit"] or "000000000000", r"^[0-9a-f]{12}$")
        self.assertEqual((first["seed"], first["threads"], first["memory_max"], first["time_max"]), (1, 1, 1 << 30, 100))
        for result in (first, again):
            for timed in ("seconds", "explore_seconds", "audit"):
                del result[timed]
        self.assertEqual(first, again)
        self.assertRegex(" ".join(self.lab(HOLDS, *arguments).split()), r" by kgate-lab \S+ \(\w+\), seed 1, 1 thread, at most 1[.\d]* GB and 100 s; ")
        self.assertEqual(self.lab_json(HOLDS, "rmr", "mcs", "-N", "2", "-k", "1")["made_by"], first["made_by"])

    def test_every_result_says_what_made_it(self):
        """As text by a line that names version, commit, limits and machine; as JSON by its keys."""
        small = ("-N", "2", "-k", "1")
        commands = (("check", "mcs", *small, "--property", "k-exclusion"), ("check", "mcs", *small, "--format", "text"),
                    ("rmr", "mcs", *small), ("rmr", "mcs", "-N", "8", "-k", "1", "--sample", "--steps", "2000"),
                    ("space", "flbb79-count", *small), ("search", "mcs", *small, "--walks", "5"),
                    ("mutate", "fa-semaphore", *small, "--sample", "2"), ("mutate", "fa-semaphore", "--text", "--sample", "1"),
                    ("experiment", "fig10", "--simulated", "--operations", "20", "--processes", "2", "--processors", "2"))
        for command in commands:
            with self.subTest(command):
                shown = " ".join(self.run_lab(*command).stdout.split())
                self.assertRegex(shown, r"by kgate-lab \d\S* \(\w+\), seed \d+[^;]*; \S+ [\d.]+")
                if "--format" in command:
                    continue
                result = json.loads(self.run_lab(*command, "--json").stdout)
                self.assertEqual(set(result["made_by"]), {"program", "version", "commit", "machine"})
                limits = {"seed"} if command[0] == "experiment" else {"seed", "threads", "memory_max", "time_max"}
                self.assertLessEqual(limits, set(result))
        for language in ("promela", "tla"):
            self.assertRegex(self.lab(HOLDS, "export", "mcs", *small, "--as", language), r"By kgate-lab \d\S* \(\w+\), 1 thread")
        bad = json.loads(self.run_lab("replay", "--algorithm", "mcs", *small, "--property", "k-exclusion", "--schedule", "0", "--json").stdout)
        self.assertIn("made_by", bad)

    def test_traces_say_what_found_them(self):
        """Their readers go by the rest of them."""
        bad = ("mcs", "-N", "3", "-k", "1", "--property", "bounded-exit", "--seed", "7")
        self.lab(VIOLATED, "check", *bad, "--trace", "checked.json")
        self.lab(VIOLATED, "search", *bad, "--trace", "searched.json")
        for name in ("checked.json", "searched.json"):
            trace = json.loads((self.folder / name).read_text())
            self.assertEqual((set(trace["made_by"]), trace["seed"]), ({"program", "version", "commit", "machine"}, 7))
            self.assertLessEqual({"threads", "memory_max", "time_max"}, set(trace))
            self.lab(VIOLATED, "replay", name)

    def test_the_graph_has_the_states_and_steps_that_were_counted(self):
        result = self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", "3", "-k", "2", "--graph", "g.aut")
        head, *steps = (self.folder / "g.aut").read_text().splitlines()
        self.assertEqual(head, f"des (0, {result['transitions']}, {result['states']})")
        self.assertEqual(len(steps), result["transitions"])
        self.assertRegex(steps[0], r'\A\(0, "p0 2: fetch_and_add X\.0", \d+\)\Z')
        made = json.loads((self.folder / "g.aut.json").read_text())  # the format has no comments
        self.assertEqual((made["graph"], made["algorithm"], made["N"], made["k"]), ("g.aut", "am97-chain-cc", 3, 2))
        self.assertLessEqual({"made_by", "threads", "memory_max", "time_max"}, set(made))
        self.lab(HOLDS, "check", "am97-chain-cc", "-N", "2", "-k", "1", "--graph", "g.dot")
        first, second, *_ = (self.folder / "g.dot").read_text().splitlines()
        self.assertRegex(first, r"\A// am97-chain-cc, N = 2, k = 1; kgate-lab \d\S* \(\w+\), \d+ threads?, at most .*; \S+ [\d.]+")
        self.assertEqual(second, "digraph states {")
        self.assertIn("X.0=1", (self.folder / "g.dot").read_text())
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tcanon", self.folder / "g.dot"], check=True, capture_output=True)
        self.refused("check", "mcs", "-N", "2", "-k", "1", "--graph", "g.txt", says=[".aut or .dot"])


if __name__ == "__main__":
    lab.main()
