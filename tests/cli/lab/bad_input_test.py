#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes: one line on stderr that names what is allowed, exit code 2, nothing on stdout."""
import json
import os
import unittest

import lab
from lab import LabTest

CHECK = ("check", "am97-chain-cc", "-N", "3", "-k", "2")
REPLAY = ("replay", "--algorithm", "am97-chain-cc", "-N", "3", "-k", "2")


class Commands(LabTest):
    def test_no_command(self):
        self.refused(says=("list", "explain", "check", "replay"))

    def test_unknown_command(self):
        self.refused("chekc", says=("'chekc'", "list", "explain", "check", "replay"))

    def test_unknown_options(self):
        self.refused("--nonsense", says=("'--nonsense'", "--version", "--help"))
        self.refused("list", "--nonsense", says=("'--nonsense'", "--json"))
        self.refused("explain", "mcs", "--nonsense", says=("'--nonsense'", "--json"))
        self.refused(*CHECK, "--nonsense", says=("'--nonsense'", "--crashes", "--time-max"))
        self.refused(*REPLAY, "--nonsense", says=("'--nonsense'", "--schedule"))

    def test_one_argument_too_many(self):
        self.refused(*CHECK, "mcs", says=("'mcs'",))
        self.refused("list", "mcs", says=("'mcs'",))

    def test_missing_arguments(self):
        self.refused("explain", says=("ALGO", "explain --help"))
        self.refused("check", "am97-chain-cc", "-k", "2", says=("-N", "check --help"))
        self.refused("check", "am97-chain-cc", "-N", "2", says=("-k", "check --help"))
        self.refused("check", "am97-chain-cc", "-N", "2", "-k", says=("-k",))
        self.refused("replay", says=("FILE", "--algorithm"))

    def test_messages_stay_on_one_line(self):
        self.refused("check", "am97\nchain", "-N", "2", "-k", "1")
        self.refused("a\tb\nc")


class Numbers(LabTest):
    def programs(self, N, k):
        yield "check", "am97-chain-cc", "-N", N, "-k", k
        yield "replay", "--algorithm", "am97-chain-cc", "-N", N, "-k", k, "--property", "k-exclusion", "--schedule", "0"

    def test_N_and_k(self):
        for N, k in ((3, 0), (3, 4), (0, 0), (0, 1), (-3, 1), (3, -1), (65536, 1), (70000, 2), (10**30, 1), (3, 10**30)):
            for command in self.programs(N, k):
                self.refused(*command, says=("k >= 1", "k <= N <= 65535"))

    def test_not_a_number(self):
        for N, k in (("three", 1), (3, "one"), ("", 1), (3, ""), ("3x", 1), ("3.0", 1), (3, "0x1"), (" 3", 1)):
            for command in self.programs(N, k):
                self.refused(*command, says=("whole number", "k <= N"))

    def test_more_processes_than_the_checker_takes(self):
        for command in self.programs(33, 1):
            self.refused(*command, says=("at most 32",))

    def test_limits_of_the_row(self):
        self.refused("check", "mcs", "-N", 3, "-k", 2, says=("mcs needs k = 1",))
        self.refused("check", "afek94-bounded", "-N", 5, "-k", 2, says=("k <= N <= 4",))

    def test_other_numbers(self):
        for option, bad in (("--passages", ("0", "-1", "many", "2.5")), ("--crashes", ("-1", "4", "one")),
                            ("--threads", ("0", "-2", "all", "99999")), ("--contention", ("0", "4", "c"))):
            for value in bad:
                self.refused(*CHECK, option, value, says=(option, "whole number from", f"'{value}'"))

    def test_sizes(self):
        for value in ("0", "-1G", "lots", "5X", "2GB", "1K", "1e9", "inf", "nan", ""):
            self.refused(*CHECK, "--memory-max", value, says=("--memory-max", "500M", "2G"))

    def test_durations(self):
        for value in ("0", "-1s", "soon", "5w", "0s", "inf", "nan", ""):
            self.refused(*CHECK, "--time-max", value, says=("--time-max", "30s", "5m"))


class Rmr(LabTest):
    def rmr(self, *more, says=()):
        self.refused("rmr", *more, says=says)

    def test_what_to_count(self):
        self.rmr(says=("--all",))
        self.rmr("am97-chain-cc", says=("-N", "-k"))
        self.rmr("am97-chain-cc", "--all", says=("--all",))
        self.rmr("nothing", "-N", 3, "-k", 1, says=("'nothing'", "kgate-lab list"))

    def test_memory(self):
        self.refused(*CHECK, "--memory", "tso", says=("sc or safe",))
        self.refused(*CHECK, "--memory", "safe", says=("passages",))
        self.refused(*CHECK, "--memory", "safe", "--passages", 1, says=("fetch-and-add",))

    def test_model(self):
        self.rmr("am97-chain-cc", "-N", 3, "-k", 1, "--model", "numa", says=("'numa'", "cc", "cc-writeback", "dsm"))

    def test_numbers(self):
        for N, k in ((3, 0), (3, 4), (0, 1), (-1, 1), (70000, 1), ("x", 1), (3, "x")):
            self.rmr("am97-chain-cc", "-N", N, "-k", k, says=("65535",))
        self.rmr("am97-chain-cc", "-N", 33, "-k", 1, says=("at most 32", "--sample"))
        for value in ("0", "4", "c"):
            self.rmr("am97-chain-cc", "-N", 3, "-k", 1, "--contention", value, says=("whole number from 1 to 3",))


class Names(LabTest):
    def test_algorithm(self):
        self.refused("explain", "am97-chain", says=("'am97-chain'", "am97-chain-cc", "kgate-lab list"))
        self.refused("check", "fa-semaphor", "-N", 2, "-k", 1, says=("fa-semaphore", "kgate-lab list"))
        self.refused("check", "peterson+names", "-N", 2, "-k", 1, says=("peterson-k+names", "kgate-lab list"))
        self.refused("check", "", "-N", 2, "-k", 1, says=("kgate-lab list",))
        self.refused("replay", "--algorithm", "nothing", "-N", 2, "-k", 1, "--property", "k-exclusion",
                     "--schedule", "0", says=("kgate-lab list",))

    def test_property(self):
        for command in (CHECK, (*REPLAY, "--schedule", "0")):
            self.refused(*command, "--property", "fairness", says=("'fairness'", "k-exclusion", "starvation-free"))

    def test_formulas_name_what_there_is(self):
        self.refused(*CHECK, "--ltl", "[] !at(0, 12)", says=("label '12'", "nearest is 2", "2, 3, 4"))
        self.refused(*CHECK, "--ltl", "[] Y.0 = 1", says=("not 'Y.0 = 1'", "nearest is X.0"))
        self.refused(*CHECK, "--ltl", "[] !insid(0)", says=("nearest is inside",))
        self.refused(*CHECK, "--ltl", "[] #insde <= 1", says=("remainder, entry, inside or exit", "insde"))

    def test_formulas_that_are_too_long(self):
        self.refused(*CHECK, "--ltl", "(" * 50000 + "true" + ")" * 50000, says=("at most 4000 characters",))
        self.refused(*CHECK, "--ltl", "(" * 4000, says=("character 4001",))
        self.refused(*CHECK, "--ltl", "forall p: " * 30 + "true", says=("at most 5 times forall",))

    def test_mutation(self):
        for command in (CHECK, (*REPLAY, "--property", "k-exclusion", "--schedule", "0")):
            self.refused(*command, "--mutate", "break:3", says=("drop:LABEL", "defer:LABEL", "force:LABEL=VALUE"))
            self.refused(*command, "--mutate", "force:3", says=("force:LABEL=VALUE",))
            self.refused(*command, "--mutate", "drop:99", says=("'99'", "2, 3, 4, 5, 7, 8"))


class DoesNotApply(LabTest):
    def test_names_where_there_are_none(self):
        self.refused(*CHECK, "--property", "distinct-names", says=("am97-chain-cc+names",))

    def test_order_with_symmetry(self):
        self.refused(*CHECK, "--symmetry", "--property", "k-fcfs", says=("--symmetry", "k-exclusion"))

    def test_symmetry_of_what_is_not_symmetric(self):
        self.refused("check", "am97-tree-cc", "-N", 3, "-k", 1, "--symmetry", says=("not symmetric", "am97-chain-cc"))

    def test_symmetry_of_too_many(self):
        self.refused("check", "am97-chain-cc", "-N", 9, "-k", 8, "--symmetry", says=("at most 8",))


class Files(LabTest):
    def write(self, text):
        path = self.folder / "trace.json"
        path.write_text(text)
        return path

    def good(self):
        return {"format": "kgate-trace", "version": 1, "algorithm": "am97-chain-cc", "N": 2, "k": 1, "passages": 0,
                "mutations": [], "property": "k-exclusion", "what": "x", "schedule": [0, 1], "loop": -1, "victim": -1,
                "crashed": []}

    def test_the_good_one_is_read(self):
        self.assertEqual(self.run_lab("replay", self.write(json.dumps(self.good()))).returncode, lab.UNDECIDED)

    def test_unreadable(self):
        self.refused("replay", self.folder / "missing.json", says=("missing.json", "No such file"))
        self.refused("replay", self.folder, says=(str(self.folder), "Is a directory"))

    def test_endless(self):
        self.refused("replay", "/dev/zero", says=("/dev/zero", "64 MB"))

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_forbidden(self):
        path = self.write(json.dumps(self.good()))
        path.chmod(0)
        self.refused("replay", path, says=("Permission denied",))

    def test_malformed(self):
        for text in ("", "{", "[]", "7", "null", "{}", '{"format": 3}', '{"format": "other"}', "\0\1\2", "[" * 100000,
                     '{"format": "kgate-trace"}', '{"format": "kgate-trace", "version": 2}'):
            self.refused("replay", self.write(text), says=("trace",))

    def test_each_field_missing_or_wrong(self):
        wrong = {"algorithm": ["none", 3, None], "N": [0, -1, "2", 2.5, 1e30, 10**20, 33, 70000, None], "k": [0, 3, "1", None],
                 "passages": [-1, "1", 0.5], "mutations": [3, ["x"], ["drop:99"], [3]], "property": ["fair", 3],
                 "what": [3], "schedule": ["0", [2], [-1], [0.5], ["a"], 3, [10**20]], "loop": [3, "0", 10**20],
                 "victim": [2, "0", 10**20], "crashed": [[2], [-1], ["0"], 3]}
        for field, values in wrong.items():
            trace = self.good()
            del trace[field]
            self.refused("replay", self.write(json.dumps(trace)))
            for value in values:
                self.refused("replay", self.write(json.dumps({**self.good(), field: value})))

    def test_file_and_options(self):
        self.refused("replay", self.write(json.dumps(self.good())), "-N", 2, says=("not both",))
        self.refused("replay", self.write(json.dumps(self.good())), "--mutate", "drop:3", says=("not both",))

    def test_a_page_that_cannot_be_written(self):
        trace = self.write(json.dumps(self.good()))
        for path in (self.folder, self.folder / "missing" / "page.html", "", "/dev/null"):
            self.refused("replay", trace, "--html", path, says=("--html", f"'{path}'"))
        self.assertEqual(list(self.folder.iterdir()), [trace])

    def test_no_page_for_a_malformed_trace(self):
        for text in ("{", json.dumps({**self.good(), "schedule": [7]}), json.dumps({**self.good(), "version": 2})):
            trace = self.write(text)
            self.refused("replay", trace, "--html", self.folder / "page.html")
            self.assertEqual(list(self.folder.iterdir()), [trace])

    def test_unwritable_trace(self):
        for path in (self.folder, self.folder / "missing" / "trace.json", ""):
            self.refused(*CHECK, "--trace", path, says=("--trace", f"'{path}'"))


class Replay(LabTest):
    def replay(self, *more):
        return self.refused(*REPLAY, "--property", "k-exclusion", *more)

    def test_schedule(self):
        for schedule in ("a", "0,", ",0", "0x", "x3", "0;1", "-1", "0?x", "0x99999999999", "0,,1"):
            self.assertIn("0,1x3,2?4", self.replay("--schedule", schedule))

    def test_processes_that_do_not_exist(self):
        self.assertIn("0 to 2", self.replay("--schedule", "0,3"))
        self.assertIn("0 to 2", self.replay("--schedule", "0", "--crashed", "0,3"))
        self.assertIn("0 to 2", self.replay("--schedule", "0", "--crashed", "0,,1"))
        self.assertIn("from 0 to 2", self.replay("--schedule", "0", "--victim", "3"))
        self.assertIn("from 0 to 1", self.replay("--schedule", "0", "--loop", "2"))


if __name__ == "__main__":
    lab.main()
