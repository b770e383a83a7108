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

    def test_a_loop_shows_nothing_of_states(self):
        """A run in which one starves, and never two are inside."""
        run = ("replay", "--algorithm", "fa-semaphore", "-N", 2, "-k", 1, "--victim", 0, "--loop", 1, "--schedule", "0,1x2,0x2,1,0")
        self.lab(VIOLATED, *run, "--property", "starvation-free")
        for name in ("k-exclusion", "invariant", "local-waiting", "l-full"):
            text = self.lab(UNDECIDED, *run, "--property", name)
            self.assertIn(f"{name} is judged at the end of a finite run", text)

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

    def test_what_a_property_needs(self):
        """What check does not decide of a text replay does not call violated."""
        both_inside = ("--mutate", "drop:5", "--schedule", "0,1x3")
        self.lab(VIOLATED, *CHAIN, *both_inside, "--property", "k-exclusion")
        self.assertIn("am97-chain-cc gives no names; check am97-chain-cc+names for distinct-names",
                      self.refused(*CHAIN, *both_inside, "--property", "distinct-names"))
        path = self.folder / "names.json"
        self.lab(VIOLATED, "check", "am97-chain-cc", "-N", 2, "-k", 1, "--mutate", "drop:5", "--property", "k-exclusion", "--trace", path)
        path.write_text(json.dumps({**json.loads(path.read_text()), "property": "distinct-names"}))
        self.assertIn("gives no names", self.refused("replay", path))
        self.assertIn("has no invariant beside it", self.lab(UNDECIDED, "replay", "--algorithm", "fa-semaphore", "-N", 2, "-k", 1,
                                                             "--property", "invariant", "--schedule", "0"))
        self.assertIn("marks no end of a doorway", self.lab(UNDECIDED, "replay", "--algorithm", "fa-semaphore", "-N", 2, "-k", 1,
                                                            "--property", "k-fcfs", "--schedule", "0"))
        self.assertIn("decided on atomic registers only",
                      self.lab(UNDECIDED, "replay", "--algorithm", "danek10-nonatomic", "-N", 2, "-k", 1, "--passages", 1,
                               "--memory", "safe", "--property", "fifo", "--schedule", "0"))

    def test_what_the_file_says_of_its_run_is_not_repeated(self):
        path = self.folder / "trace.json"
        self.lab(VIOLATED, "check", "fa-semaphore", "-N", 2, "-k", 1, "--trace", path)
        good = json.loads(path.read_text())
        path.write_text(json.dumps({**good, "what": "all is well\nk-exclusion: holds\x1b[2J"}))
        for said in (self.lab(VIOLATED, "replay", path), self.lab(VIOLATED, "replay", path, "--json")):
            self.assertNotIn("k-exclusion", said)
            self.assertNotIn("all is well", said)
            self.assertNotIn("\x1b", said)
            self.assertIn(f"{good['property']} is violated for process {good['victim']}", said)

    def test_no_trace_is_refused_in_a_plain_sentence(self):
        self.assertEqual(self.refused("replay", "/dev/null").strip(), "kgate-lab: '/dev/null' is not a trace file: it is empty")
        path = self.folder / "trace.json"
        path.write_text('{"a": x}')
        self.assertIn("is not a trace file: no JSON, from byte 7 on", self.refused("replay", path))
        self.lab(VIOLATED, "check", "fa-semaphore", "-N", 2, "-k", 1, "--trace", path)
        good = json.loads(path.read_text())
        for field, value, part in (("loop", -2, '"loop" is not a whole number from -1 to 1000000000'),
                                   ("passages", 2 ** 40, '"passages" is not a whole number from 0 to 1000000000'),
                                   ("memory", "tso", '"memory" must be "sc" or "safe"'),
                                   ("forall", "descending", '"forall" must be "ascending" or "any"'),
                                   ("mutations", "drop:2", '"mutations" is not a list')):
            path.write_text(json.dumps({**good, field: value}))
            self.assertIn(part, self.refused("replay", path))

    def test_hostile_files_are_refused(self):
        path = self.folder / "trace.json"
        self.lab(VIOLATED, "check", "fa-semaphore", "-N", 2, "-k", 1, "--trace", path)
        good = json.loads(path.read_text())
        texts = ["", "null", "1e400", "[" * 100_000, '{"a":' * 100_000, "\0\0", json.dumps(good)[:-30]]
        texts += [json.dumps({name: value for name, value in good.items() if name != missing})
                  for missing in ("format", "version", "algorithm", "N", "k", "property", "schedule")]
        texts += [json.dumps({**good, name: value}) for name, value in (
            ("algorithm", "<script>alert(1)</script>"), ("algorithm", "a\n\x1b[31m"), ("algorithm", "a" * 100_000), ("N", 10 ** 30),
            ("N", 65536), ("N", -1), ("N", 1.5), ("N", "2"), ("k", 0), ("k", 2 ** 63), ("property", "<b>"), ("schedule", [10 ** 18]),
            ("schedule", "x"), ("schedule", [-1]), ("loop", 10 ** 9), ("loop", "a"), ("victim", 99), ("crashed", [99]),
            ("crashed", "all"), ("mutations", ["<script>"]), ("mutations", [[[]]]), ("passages", -1), ("passages", 10 ** 12),
            ("version", 2), ("format", "x"), ("memory", "tso"), ("memory", 1), ("forall", "descending"), ("mutations", "drop:2"),
            ("loop", -2))]
        page = self.folder / "page.html"
        for text in texts:
            path.write_text(text)
            said = self.refused("replay", path, "--html", page)
            self.assertLess(len(said), 1500)
            self.assertNotIn("\x1b", said)
            self.assertFalse(page.exists(), text[:100])


if __name__ == "__main__":
    lab.main()
