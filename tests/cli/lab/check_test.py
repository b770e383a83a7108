#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab check: verdicts, exit codes, defaults, limits, traces."""
import json
import shlex
import time

import lab
from lab import HOLDS, UNDECIDED, VIOLATED, LabTest, verdicts

BASIC = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"}


class Verdicts(LabTest):
    def test_json_fields(self):
        result = self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", 3, "-k", 2)
        for field, kind in (("algorithm", str), ("N", int), ("k", int), ("passages", int), ("states", int),
                            ("transitions", int), ("seconds", float), ("bytes_per_state", float), ("properties", list)):
            self.assertIsInstance(result[field], kind, field)
        self.assertEqual((result["algorithm"], result["N"], result["k"], result["passages"]), ("am97-chain-cc", 3, 2, 0))
        self.assertEqual(verdicts(result), dict.fromkeys(BASIC, "holds"))
        self.assertEqual((result["crashes"], result["complete"], result["verdict"]), (1, True, "holds"))

    def test_names(self):
        result = self.lab_json(HOLDS, "check", "am97-chain-cc+names", "-N", 2, "-k", 1)
        self.assertEqual(verdicts(result)["distinct-names"], "holds")

    def violated_and_replayed(self, name, *arguments):
        """The property is violated, and the replay line and the trace file both show it."""
        path = self.folder / "trace.json"
        result = self.lab_json(VIOLATED, "check", *arguments, "--trace", path)
        self.assertEqual(verdicts(result)[name], "violated")
        one = next(p for p in result["properties"] if p["name"] == name)
        program, *line = shlex.split(one["replay"])
        self.assertEqual(program, "kgate-lab")
        replayed = self.lab_json(VIOLATED, *line)
        self.assertTrue(replayed["shows"])
        self.assertEqual(replayed["steps"], one["trace"]["steps"])
        first = next(p for p in result["properties"] if p["verdict"] == "violated")
        written = json.loads(path.read_text())
        for field in ("made_by", "seed", "threads", "memory_max", "time_max"):  # beside the trace in the result
            self.assertEqual(written.pop(field), result[field])
        self.assertEqual(written, first["trace"])
        self.assertTrue(self.lab_json(VIOLATED, "replay", path)["shows"])
        return result

    def test_fa_semaphore_starves(self):
        result = self.violated_and_replayed("starvation-free", "fa-semaphore", "-N", 2, "-k", 1)
        self.assertEqual({n for n, v in verdicts(result).items() if v == "violated"}, {"starvation-free"})
        (one,) = [p for p in result["properties"] if p["name"] == "starvation-free"]
        self.assertFalse(one["promised"])

    def test_peterson_and_one_crash(self):
        self.violated_and_replayed("starvation-free", "peterson-k", "-N", 3, "-k", 2, "--crashes", 1)
        result = self.lab_json(HOLDS, "check", "peterson-k", "-N", 3, "-k", 2, "--crashes", 0)
        self.assertEqual(verdicts(result)["starvation-free"], "holds")

    def test_k_crashes_are_one_too_many(self):
        for N, k in ((2, 1), (3, 2)):
            self.violated_and_replayed("starvation-free", "am97-chain-cc", "-N", N, "-k", k, "--crashes", k)

    def test_mutant(self):
        self.violated_and_replayed("k-exclusion", "am97-chain-cc", "-N", 3, "-k", 2, "--mutate", "drop:5", "--property", "k-exclusion")
        self.violated_and_replayed("starvation-free", "am97-chain-cc", "-N", 2, "-k", 1, "--mutate", "drop:8")

    def test_shown_to_people(self):
        text = self.lab(VIOLATED, "check", "fa-semaphore", "-N", 2, "-k", 1)
        for part in ("fa-semaphore  N=2 k=1, no crashes, passages without limit", "starvation-free  violated   not promised",
                     "k-exclusion      holds", "from here on, for ever", "\nreplay: kgate-lab replay --algorithm fa-semaphore"):
            self.assertIn(part, text)
        self.assertNotIn("\033", text)

    def test_only_what_was_asked_for(self):
        result = self.lab_json(HOLDS, "check", "fa-semaphore", "-N", 2, "-k", 1, "--property", "k-exclusion", "--property", "deadlock-free")
        self.assertEqual(set(verdicts(result)), {"k-exclusion", "deadlock-free"})


class Defaults(LabTest):
    def test_passages_of_unbounded_variables(self):
        arguments = ("check", "danek10-kfcfs", "-N", 2, "-k", 1, "--property", "k-exclusion")
        result = self.lab_json(UNDECIDED, *arguments)
        self.assertEqual((result["passages"], result["verdict"]), (1, "holds-within-passages"))
        self.assertIn("unbounded", result["notes"][0])
        self.assertIn("--passages", self.lab(UNDECIDED, *arguments))
        result = self.lab_json(UNDECIDED, *arguments, "--passages", 2)
        self.assertEqual((result["passages"], result["notes"]), (2, []))
        self.assertEqual(verdicts(self.lab_json(HOLDS, *arguments, "--passages", "unlimited")), {"k-exclusion": "holds"})

    def test_no_property_is_said_to_hold_after_so_many_passages(self):
        """A printed text that keeps k-exclusion for one passage of each process and breaks it in the second."""
        arguments = ("check", "choi11-as-printed-rounding", "-N", 3, "-k", 2, "--property", "k-exclusion")
        result = self.lab_json(UNDECIDED, *arguments)
        self.assertEqual((result["verdict"], result["properties"][0]["within_passages"]), ("holds-within-passages", 1))
        self.lab(VIOLATED, *arguments, "--passages", 2)
        every = self.lab_json(UNDECIDED, "check", "danek10-fife", "-N", 2, "-k", 1)
        self.assertEqual(set(verdicts(every).values()), {"holds-within-passages"})

    def test_who_is_enabled_only_because_passages_end_breaks_nothing(self):
        """Bakery without statement 6: within two passages the later one is enabled, for nobody is left to keep it out."""
        arguments = ("check", "bakery", "-N", 2, "-k", 1, "--mutate", "drop:6", "--property", "enabled-in-order")
        result = self.lab_json(UNDECIDED, *arguments, "--passages", 2)
        self.assertIn("not without that limit", result["properties"][0]["why"])
        self.assertEqual(verdicts(self.lab_json(HOLDS, *arguments, "--passages", "unlimited")), {"enabled-in-order": "holds"})
        self.lab(VIOLATED, "check", "danek10-fife", "-N", 3, "-k", 2, "--property", "enabled-in-order")

    def test_progress_within_a_limit_on_passages_is_not_decided(self):
        """Without limit one of the two starves; two passages each are too few to show it."""
        arguments = ("check", "fa-semaphore", "-N", 2, "-k", 1, "--property", "starvation-free")
        self.lab(VIOLATED, *arguments)
        result = self.lab_json(UNDECIDED, *arguments, "--passages", 2)
        self.assertEqual(verdicts(result), {"starvation-free": "holds-within-passages"})
        self.assertEqual((result["verdict"], result["properties"][0]["within_passages"]), ("holds-within-passages", 2))
        self.assertRegex(self.lab(UNDECIDED, *arguments, "--passages", 2), r"starvation-free +holds within 2 passages\n")

    def test_the_audit_is_stated(self):
        result = self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", 2, "-k", 1)
        audit = result["audit"]
        for field in ("walks", "steps", "passages", "share", "accesses"):
            self.assertGreater(audit[field], 0)
        for field in ("steps_again", "merged", "loops"):
            self.assertEqual(audit[field]["made"], audit[field]["all"], field)
        self.assertEqual((result["seed"], audit["seed"]), (1, 1))
        said = " ".join(self.lab(HOLDS, "check", "am97-chain-cc", "-N", 2, "-k", 1, "--seed", 7).split())
        self.assertRegex(said, r"audit: the text agrees in [\d,]+ steps run again, [\d,]+ merged histories, [\d,]+ steps of loops and "
                               r"[\d,]+ steps of [\d,]+ random runs; seed 7, [\d.]+ s \(\d+ % of the time\)")
        self.refused("check", "mcs", "-N", 2, "-k", 1, "--seed", "x", says=["--seed"])

    def test_forget_nothing(self):
        arguments = ("check", "am97-chain-cc", "-N", 2, "-k", 1)
        whole, remembering = self.lab_json(HOLDS, *arguments), self.lab_json(HOLDS, *arguments, "--forget-nothing", 20)
        self.assertEqual(verdicts(whole), verdicts(remembering))
        self.assertGreater(remembering["states"], whole["states"])
        stopped = self.lab_json(UNDECIDED, *arguments, "--forget-nothing", 2)
        self.assertIn("more than 2 accesses", stopped["properties"][0]["why"])

    def test_promised(self):
        arguments = ("check", "fa-semaphore", "-N", 2, "-k", 1)
        self.assertEqual(verdicts(self.lab_json(VIOLATED, *arguments))["starvation-free"], "violated")
        self.assertNotIn("starvation-free", verdicts(self.lab_json(HOLDS, *arguments, "--promised")))
        self.refused(*arguments, "--promised", "--property", "fife", says=("--promised", "--property"))

    def test_variables_that_grow_without_bound_are_named(self):
        result = self.lab_json(UNDECIDED, "check", "danek10-reset", "-N", 2, "-k", 1, "--passages", "unlimited", "--memory-max", "40M")
        self.assertRegex(result["why"], r"memory limit reached; variable \S+ has taken \d+ values so far")

    def test_passages_unlimited(self):
        self.assertEqual(self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", 2, "-k", 1, "--passages", "unlimited")["passages"], 0)
        result = self.lab_json(UNDECIDED, "check", "choi11-one-update", "-N", 2, "-k", 1, "--property", "k-exclusion",
                               "--passages", "unlimited", "--memory-max", "2M")
        self.assertEqual(verdicts(result), {"k-exclusion": "undecided"})

    def test_symmetry_decides_the_same_on_fewer_states(self):
        result = self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", 3, "-k", 2, "--symmetry")
        whole = self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", 3, "-k", 2)
        self.assertEqual(verdicts(result), verdicts(whole))
        self.assertLess(result["states"], whole["states"])

    def test_symmetry_leaves_out_the_order_of_entering(self):
        result = self.lab_json(UNDECIDED, "check", "choi11", "-N", 2, "-k", 1, "--symmetry")
        self.assertNotIn("fife", verdicts(result))

    def test_contention(self):
        few = self.lab_json(UNDECIDED, "check", "am97-chain-cc", "-N", 3, "-k", 1, "--contention", 1)
        self.assertLess(few["states"], self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", 3, "-k", 1)["states"])

    def test_threads_agree(self):
        counts = {(r["states"], r["transitions"], tuple(verdicts(r).items()))
                  for t in (1, 2, 3) for r in [self.lab_json(HOLDS, "check", "am97-tree-cc", "-N", 3, "-k", 1, "--threads", t)]}
        self.assertEqual(len(counts), 1)


class Limits(LabTest):
    BIG = ("check", "am97-fastpath-nested-dsm-small", "-N", 5, "-k", 2)

    def undecided(self, why, *limit):
        begin = time.monotonic()
        result = self.lab_json(UNDECIDED, *self.BIG, *limit)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(verdicts(result), dict.fromkeys(BASIC, "undecided"))
        self.assertFalse(result["complete"])
        self.assertEqual({one["why"] for one in result["properties"]}, {why})
        self.assertGreater(result["states"], 0)
        self.assertIn(why, self.lab(UNDECIDED, *self.BIG, *limit))

    def test_time(self):
        self.undecided("time limit reached", "--time-max", "300ms")

    def test_memory(self):
        self.undecided("memory limit reached", "--memory-max", "4M")

    def test_a_violation_found_in_time_stays_one(self):
        result = self.lab_json(VIOLATED, *self.BIG, "--mutate", "drop:2", "--property", "k-exclusion", "--time-max", "60s")
        self.assertEqual(verdicts(result), {"k-exclusion": "violated"})


class TraceFile(LabTest):
    def test_nothing_is_left_where_nothing_is_shown(self):
        path = self.folder / "trace.json"
        self.lab(HOLDS, "check", "am97-chain-cc", "-N", 2, "-k", 1, "--trace", path)
        self.assertFalse(path.exists())

    def test_what_was_there_stays_or_is_replaced_whole(self):
        path = self.folder / "trace.json"
        path.write_text("x" * 100_000)
        self.lab(HOLDS, "check", "am97-chain-cc", "-N", 2, "-k", 1, "--trace", path)
        self.assertEqual(path.read_text(), "x" * 100_000)
        self.lab(VIOLATED, "check", "fa-semaphore", "-N", 2, "-k", 1, "--trace", path)
        json.loads(path.read_text())

    def test_full_disk(self):
        done = self.run_lab("check", "fa-semaphore", "-N", 2, "-k", 1, "--trace", "/dev/full")
        self.assertEqual(done.returncode, lab.FAILED)
        self.assertRegex(done.stderr, r"\Akgate-lab: cannot write '/dev/full': [^\n]+\n\Z")

    def test_who_claims_few_references_on_distributed_memory_waits_locally(self):
        result = self.lab_json(HOLDS, "check", "am97-chain-dsm", "-N", "3", "-k", "2")
        self.assertEqual(verdicts(result)["local-waiting"], "holds")
        result = self.lab_json(VIOLATED, "check", "am97-chain-cc", "-N", "3", "-k", "2", "--property", "local-waiting")
        self.assertFalse(result["properties"][0]["promised"])

    def test_polling_is_shown_where_it_goes_on(self):
        """In the first state in which a process of choi11-wrapping looks at A what it waits for has come already."""
        result = self.lab_json(VIOLATED, "check", "choi11-wrapping", "-N", "2", "-k", "1", "--property", "local-waiting")
        self.lab(VIOLATED, *shlex.split(result["properties"][0]["replay"])[1:])

    def test_tickets_need_no_limit_on_passages(self):
        limited = self.lab_json(UNDECIDED, "check", "danek10-kfcfs", "-N", "2", "-k", "1", "--property", "starvation-free")
        self.assertEqual(limited["verdict"], "holds-within-passages")
        result = self.lab_json(HOLDS, "check", "danek10-kfcfs", "-N", "2", "-k", "1", "--passages", "unlimited")
        self.assertEqual(verdicts(result), dict.fromkeys((*BASIC, "k-fcfs"), "holds"))
        self.assertNotIn("cannot be decided", str(result["notes"]))
        for algorithm in ("choi11", "kgate", "bakery", "ticket"):
            self.lab(HOLDS, "check", algorithm, "-N", "2", "-k", "1", "--passages", "unlimited")
        wrong = self.lab_json(VIOLATED, "check", "danek10-kfcfs", "-N", "2", "-k", "1", "--passages", "unlimited", "--mutate", "drop:25")
        self.assertEqual(verdicts(wrong)["starvation-free"], "violated")

    def test_the_steps_of_an_exit_are_printed_without_limit_on_passages_too(self):
        arguments = ("check", "ticket", "-N", "2", "-k", "1", "--property", "bounded-exit")
        limited, unlimited = (self.lab_json(code, *arguments, "--passages", passages)["properties"][0]
                              for code, passages in ((UNDECIDED, "2"), (HOLDS, "unlimited")))
        self.assertEqual(unlimited["steps"], limited["steps"])

    def test_a_limit_on_contention_is_a_limit(self):
        """Alone no algorithm lets two inside."""
        wrong = ("check", "am97-chain-cc", "-N", "2", "-k", "1", "--mutate", "drop:5", "--property", "k-exclusion")
        self.lab(VIOLATED, *wrong)
        self.assertRegex(self.lab(UNDECIDED, *wrong, "--contention", "1"), r"k-exclusion +holds with at most 1 process outside the remainder\n")
        result = self.lab_json(UNDECIDED, *wrong, "--contention", "1")
        self.assertEqual((result["verdict"], result["properties"][0]["verdict"], result["properties"][0]["within_contention"]),
                         ("holds-within-contention", "holds-within-contention", 1))
        self.lab(VIOLATED, *wrong, "--contention", "2")
        self.assertEqual(self.lab_json(HOLDS, "check", "am97-chain-cc", "-N", "2", "-k", "1", "--contention", "2")["verdict"], "holds")
        both = self.lab_json(UNDECIDED, "check", "bakery", "-N", "2", "-k", "1", "--contention", "1", "--property", "k-exclusion")
        one = both["properties"][0]
        self.assertEqual((one["verdict"], one["within_passages"], one["within_contention"]), ("holds-within-passages", 1, 1))

    def test_what_is_not_decided_without_limit_does_not_undo_what_is(self):
        """And is no reason to search for ever."""
        ticket = ("check", "ticket", "-N", "2", "-k", "1", "--passages", "unlimited", "--time-max", "60s")
        others = ("fifo", "finite-waiting", "finite-enabling", "l-full", "l-queuelike", "fifo-enabling", "kl-deadlock-free", "local-waiting")
        result = self.lab_json(UNDECIDED, *ticket, "--property", "k-fcfs", "--property", "invariant", "--ltl", "[] (#inside <= 1)",
                               *(part for one in others for part in ("--property", one)))
        self.assertEqual(verdicts(result), {"k-fcfs": "holds", "invariant": "undecided", "ltl: [] (#inside <= 1)": "undecided",
                                            **dict.fromkeys(others, "undecided")})
        why = {one["name"]: one.get("why", "") for one in result["properties"]}
        for one in others:
            self.assertIn("not decided without a limit on passages", why[one])
        self.assertIn("no invariant beside it", why["invariant"])
        alone = self.lab_json(UNDECIDED, *ticket, "--property", "fifo")
        self.assertEqual((alone["states"], verdicts(alone)), (0, {"fifo": "undecided"}))
        self.assertIn("nothing was explored", self.lab(UNDECIDED, *ticket, "--property", "local-waiting"))
        self.refused(*ticket, "--ltl", "[] (", says=["formula"])

    def test_the_order_of_entering_needs_no_limit_on_passages(self):
        unlimited = ("-N", "2", "-k", "1", "--passages", "unlimited")
        result = self.lab_json(HOLDS, "check", "kgate", *unlimited, "--property", "bounded-waiting", "--property", "fife")
        self.assertEqual([(one["name"], one["verdict"], one.get("b")) for one in result["properties"]],
                         [("bounded-waiting", "holds", 0), ("fife", "holds", None)])
        wrong = self.lab_json(VIOLATED, "check", "danek10-kfcfs", *unlimited, "--mutate", "drop:15", "--property", "k-fcfs")
        self.lab(VIOLATED, *shlex.split(wrong["properties"][0]["replay"])[1:])

    def test_without_limit_on_passages_the_text_is_audited_by_the_seed(self):
        arguments = ("check", "bakery", "-N", "2", "-k", "1", "--passages", "unlimited", "--threads", "1")
        shown = " ".join(self.lab(HOLDS, *arguments, "--seed", "3").split())
        self.assertRegex(shown, r"audit: the text agrees in [^;]+ random runs; seed 3,")
        audits = [self.lab_json(HOLDS, *arguments, "--seed", seed)["audit"] for seed in (1, 1, 2)]
        for audit in audits:
            del audit["seconds"], audit["share"]
            self.assertGreater(audit["accesses"], 0)
        self.assertEqual(audits[0], audits[1])
        self.assertNotEqual(audits[0], audits[2])

    def test_what_only_a_search_looks_for_is_not_left_out(self):
        for name in ("bounded-waiting", "bounded-overtaking"):
            self.refused("check", "mcs", "-N", "2", "-k", "1", "--property", f"{name}:0", says=["finds the bound itself", f"--property {name},"])

    def test_one_is_not_many(self):
        shown = " ".join(self.lab(HOLDS, "check", "dekker", "-N", "1", "-k", "1").split())
        self.assertIn(", 1 merged history, ", shown)
        self.assertNotRegex(shown, r"\b1 (merged histories|steps|states|passages|labels)\b")


if __name__ == "__main__":
    lab.main()
