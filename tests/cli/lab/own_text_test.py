#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab on algorithms of one's own: from the text to start from to verdicts, traces and what is said of mistakes."""
import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import lab
from lab import HOLDS, USAGE, UNDECIDED, VIOLATED, LabTest, verdicts

SMALL = ("-N", "2", "-k", "1")


def watched(supervisor):
    """Whether the text that the child of this process works on is compiled, and watched."""
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    return children and len(os.listdir(f"/proc/{children[0]}/task")) > 1


# Each process begins with another value; a label is not plain.
BEGINS = """#pragma once
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"
template <class M>
class begins {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion";
  static constexpr bool symmetric = true;
  begins(typename M::Memory& memory, int N, int)
      : turn(N,
             [&](std::size_t i) {
               return typename M::template Var<int>(memory, {.name = "turn", .home = kgate::pid(static_cast<int>(i))},
                                                    static_cast<int>(i));
             }),
        other(memory, {.name = "other"}, 0) {}
  void acquire(Process& p, Private&) {
    p.live();
    other.await(p["1"], [](int v) { return v == 0; });
  }
  void release(Process& p, Private&) { turn[p.id()].write(p["a\\"b\\nc"], 0); }

 private:
  kgate::fixed_array<typename M::template Var<int>> turn;
  typename M::template Var<int> other;
};
"""

# Of k-bakery: the ticket is forgotten before the tickets of others are compared with it.
FORGETS = """#pragma once
#include <algorithm>
#include <utility>
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"
template <class M>
class forgets {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr bool unbounded_variables = true;
  forgets(typename M::Memory& memory, int N, int k)
      : N_(N), k_(k),
        number(N, [&](std::size_t) { return typename M::template Var<int>(memory, {.name = "number"}, 0); }),
        choosing(N, [&](std::size_t) { return typename M::template Var<bool>(memory, {.name = "choosing"}, false); }) {}
  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const int me = p.id().value;
    choosing[me].write(p["0"], true);
    int m = 0;
    for (int i = 0; i < N_; ++i) {
      p.live(i, m);
      m = std::max(m, number[i].read(p["1"]));
    }
    p.live(++m);
    number[me].write(p["2"], m);
    choosing[me].write(p["2c"], false);
    for (;;) {
      int before = 0;
      for (int i = 0; i < N_; ++i) {
        p.live(i, before);
        if (i == me) continue;
        if (choosing[i].read(p["3c"])) {
          ++before;
          continue;
        }
        const int t = number[i].read(p["3"]);
        if (t != 0 && std::pair(t, i) < std::pair(m, me)) ++before;
      }
      if (before < k_) return;
      p.pause();
    }
  }
  void release(Process& p, Private&) { number[p.id().value].write(p["4"], 0); }

 private:
  int N_, k_;
  kgate::fixed_array<typename M::template Var<int>> number;
  kgate::fixed_array<typename M::template Var<bool>> choosing;
};
"""


class OwnText(LabTest):
    def new(self, name="mine.hpp", **changes):
        """The text to start from, with parts of it replaced."""
        self.lab(HOLDS, "new", name)
        path = self.folder / name
        text = path.read_text()
        for old, new in changes.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        path.write_text(text)
        return name

    def complaint(self, *arguments, **environment):
        """What is said of a text of which nothing can be made; the last line is the tool's."""
        done = subprocess.run([lab.PROGRAM, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=lab.SECONDS_MAX,
                              env=lab.environment(**environment))
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"\Akgate-lab: ")
        return done.stderr

    def test_the_text_to_start_from_is_explored_like_any_other(self):
        self.new()
        self.lab(HOLDS, "check", "mine.hpp", "-N", "3", "-k", "2", "--promised")
        result = self.lab_json(VIOLATED, "check", "--file", "mine.hpp", "-N", "3", "-k", "2")
        self.assertEqual(verdicts(result), {"k-exclusion": "holds", "deadlock-free": "holds", "starvation-free": "violated",
                                            "bounded-exit": "holds", "invariant": "holds"})
        starved = result["properties"][2]
        self.assertFalse(starved["promised"])
        self.assertIn("--algorithm mine.hpp", starved["replay"])
        shown = self.lab(VIOLATED, *shlex.split(starved["replay"])[1:])
        self.assertIn("free", shown)
        (self.folder / "trace.json").write_text(json.dumps(starved["trace"]))
        self.lab(VIOLATED, "replay", "trace.json", "--html", "trace.html")
        self.assertIn("free", (self.folder / "trace.html").read_text())
        self.assertIn("p[\"3\"]", self.lab(HOLDS, "explain", "mine.hpp"))
        self.assertNotIn("Primitives", self.lab(HOLDS, "explain", "mine.hpp"))
        self.assertIsNone(self.lab_json(HOLDS, "explain", "mine.hpp")["primitives"])
        self.assertEqual(self.lab_json(HOLDS, "explain", "mine.hpp")["sources"][0]["labels"][0]["label"], "1")
        self.assertIn("unbounded", self.lab(HOLDS, "rmr", "mine.hpp", *SMALL))
        self.lab(HOLDS, "check", "mine.hpp+names", *SMALL, "--property", "distinct-names")
        self.lab(HOLDS, "check", "mine.hpp", "-N", "3", "-k", "2", "--symmetry", "--property", "k-exclusion")
        swept = self.lab(VIOLATED, "check", "mine.hpp", "-N", "2-3", "-k", "1-2", "--format", "csv").splitlines()
        self.assertEqual(swept[0], "algorithm,N,k,passages,crashes,states,transitions,k-exclusion,deadlock-free,"
                                   "starvation-free,bounded-exit,invariant,seed,threads,memory_max,time_max,version,commit,machine")
        self.assertEqual([line.split(",")[:3] for line in swept[1:]],
                         [["mine.hpp", N, k] for N, k in (("2", "1"), ("2", "2"), ("3", "1"), ("3", "2"))])
        self.assertIn("mine.hpp exists already", self.complaint("new", "mine.hpp"))

    def test_a_broken_invariant_is_shown(self):
        self.new(wrong=('free_.fetch_add(p["4"], 1)', 'free_.fetch_add(p["4"], 2)'))
        shown = self.lab(VIOLATED, "check", "mine.hpp", *SMALL, "--property", "invariant")
        self.assertIn("I1: free + inside = k", shown)
        self.assertIn("free: 0 -> 2", shown)
        both = self.lab_json(VIOLATED, "check", "mine.hpp", *SMALL, "--property", "k-exclusion")
        self.assertEqual(verdicts(both), {"k-exclusion": "violated"})

    def test_formulas(self):
        self.new()
        arrives = "forall p: [] (entry(p) -> <> inside(p))"
        result = self.lab_json(VIOLATED, "check", "mine.hpp", *SMALL, "--ltl", arrives)
        self.assertEqual(verdicts(result), {"ltl: " + arrives: "violated"})
        self.lab(VIOLATED, *shlex.split(result["properties"][0]["replay"])[1:])
        leaves = "[] (inside(0) -> <> !inside(0))"
        self.lab(HOLDS, "check", "mine.hpp", *SMALL, "--ltl", leaves)
        self.lab(VIOLATED, "check", "mine.hpp", *SMALL, "--ltl", leaves, "--fairness", "none")
        self.lab(HOLDS, "check", "mine.hpp", *SMALL, "--property", "ltl: [] (free = 0 -> #inside = 1)")
        self.refused("check", "mine.hpp", *SMALL, "--ltl", "[] full", says=["character 4", "(free)"])
        self.refused("check", "mine.hpp", *SMALL, "--ltl", "true", "--fairness", "some", says=["weak, strong or none"])
        self.refused("check", "mine.hpp", *SMALL, "--fairness", "strong", says=["needs --ltl"])
        self.refused("check", "mcs", *SMALL, "--ltl", "[] tail = 7", says=["a process number from 0 to 1 is expected, not '7'"])
        self.lab(VIOLATED, "check", "mcs", *SMALL, "--ltl", "[] tail = 1")
        limited = self.lab_json(UNDECIDED, "check", "mine.hpp", *SMALL, "--passages", "1", "--ltl", "<> [] free = 1")
        self.assertEqual(limited["verdict"], "holds-within-passages")

    def test_what_is_forgotten_and_used_is_noticed(self):
        self.new(wrong=('const int seen = free_.read(p["2"]);', 'const int seen = free_.read(p["2"]);\n      p.live();'))
        result = self.lab_json(UNDECIDED, "check", "mine.hpp", "-N", "3", "-k", "2")
        self.assertIn("forgets what it uses", result["properties"][0]["why"])

    def test_a_text_that_forgets_does_not_crash_the_tool(self):
        """What it is shown of another place in it may be no value of its variable."""
        (self.folder / "forgets.hpp").write_text(FORGETS)
        for given in ((), ("--threads", 1), ("--threads", 3)):
            result = self.lab_json(UNDECIDED, "check", "forgets.hpp", "-N", 3, "-k", 2, *given)
            self.assertIn("forgets what it uses", result["why"])
            self.assertIn("forgets what it uses", self.lab(UNDECIDED, "check", "forgets.hpp", "-N", 3, "-k", 2, *given))

    def test_a_doorway_that_waits_gives_no_order(self):
        old = "if (seen > 0 && free_.compare_and_swap(p[\"3\"], seen, seen - 1)) return;"
        self.new("late.hpp", wrong=(old, old.replace("return;", "break;")), ends=("      p.pause();  // once a round of every loop that polls\n    }\n",
                 "      p.pause();\n    }\n    p.doorway_end();\n"))
        for name in ("fife", "k-fcfs", "enabled-in-order", "bounded-waiting"):
            result = self.lab_json(UNDECIDED, "check", "late.hpp", *SMALL, "--property", name)
            self.assertRegex(result["properties"][0]["why"], "the doorway can wait: process 0 is blocked at label 1")
        self.new("first.hpp", wrong=("for (;;) {\n", "p.doorway_end();\n    for (;;) {\n"))
        self.assertNotIn("the doorway", self.run_lab("check", "first.hpp", *SMALL, "--property", "k-fcfs").stdout)

    def test_what_an_invariant_asks_about_exists(self):
        asks = "const int inside = s.count(kgate::region::critical);"
        self.new("label.hpp", wrong=(asks, asks + ' if (s.at(0, "33")) return "never";'))
        self.refused("check", "label.hpp", *SMALL, says=["the invariant names label '33', and the text has none such (nearest is 3)"])
        self.new("process.hpp", wrong=(asks, asks + ' if (s.at(99, "3")) return "never";'))
        self.assertEqual(self.lab_json(UNDECIDED, "check", "process.hpp", *SMALL)["why"],
                         "the invariant asks about process 99: they are numbered from 0 to 1")

    def test_an_interrupted_group_gets_its_result(self):
        """The terminal, or a shell, sends the signal to the tool and to the child that does the work."""
        self.new()
        scratch = self.folder / "scratch"
        scratch.mkdir()
        surroundings = lab.environment(TMPDIR=str(scratch))

        def start():
            return subprocess.Popen([lab.PROGRAM, "check", "mine.hpp", "-N", "9", "-k", "4", "--json"], cwd=self.folder, env=surroundings,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        process = start()
        while process.poll() is None and not watched(process.pid):
            time.sleep(0.01)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=lab.SECONDS_MAX)
        self.assertEqual((process.returncode, errors), (UNDECIDED, ""))
        self.assertEqual(json.loads(said)["why"], "interrupted")
        process = start()
        while process.poll() is None and not list(scratch.glob("*/unit.cpp")):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=lab.SECONDS_MAX)[1]
        self.assertEqual((process.returncode, list(scratch.iterdir())), (UNDECIDED, []), errors)

    def test_polling_that_never_forgets_is_named(self):
        self.new(wrong=('free_.await(p["1"], [](int f) { return f > 0; });', 'while (free_.read(p["1"]) <= 0) p.pause();'))
        result = self.lab_json(UNDECIDED, "check", "mine.hpp", *SMALL, "--memory-max", "32M")
        self.assertRegex(result["why"], "label 1.* lack live|loop at label 1 lack live")

    def test_a_loop_before_the_first_access_is_named(self):
        self.new(wrong=("    for (;;) {\n", "    for (volatile bool on = true; on;) {\n    }\n    for (;;) {\n"))
        done = self.run_lab("check", "mine.hpp", *SMALL, "--time-max", "1s")
        self.assertEqual(done.returncode, UNDECIDED)
        self.assertIn("loops for ever without an access, before its first access", done.stderr)

    def test_ctrl_c_ends_a_loop_without_an_access(self):
        self.new(wrong=("if (seen > 0 &&", "for (volatile bool on = true; on;) {\n      }\n      if (seen > 0 &&"))
        process = subprocess.Popen([lab.PROGRAM, "check", "mine.hpp", *SMALL], cwd=self.folder, env=lab.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not watched(process.pid):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=lab.SECONDS_MAX)[1]
        self.assertEqual(process.returncode, UNDECIDED, said)
        self.assertIn("loops for ever without an access, after label 2", said)

    def test_a_crash_is_named(self):
        """Whatever part of the text it is in, and however the text ends the program."""
        read = 'const int seen = free_.read(p["2"]);'
        constructor, invariant = "{ (void)N; }", "const int inside = s.count(kgate::region::critical);"
        for name, part, wrong, code, said in (
                ("null.hpp", read, "if (seen >= 0) *static_cast<volatile int*>(nullptr) = 1;", UNDECIDED, "the text crashes, after label 2"),
                ("ends.hpp", read, "if (seen >= 0) std::exit(0);", USAGE, "the text ends the program, after label 2"),
                ("leaves.hpp", read, "if (seen >= 0) _exit(0);", USAGE, "the text ends the program, after label 2"),
                ("gone.hpp", read, "if (seen >= 0) syscall(SYS_exit_group, 0);", USAGE, "the text ends the program, with exit code 0"),
                ("made.hpp", constructor, "_exit(1);", USAGE, "the text ends the program, in its constructor"),
                ("aborts.hpp", constructor, "std::abort();", UNDECIDED, "the text crashes, in its constructor"),
                ("asserts.hpp", invariant, "if (inside > 0) std::abort();", UNDECIDED, "the text crashes, in its invariant")):
            made = "{ " + wrong + " }" if part == constructor else part + "\n" + wrong
            self.new(name, include=("#include <string>", "#include <sys/syscall.h>\n#include <unistd.h>\n#include <cstdlib>\n#include <string>"),
                     wrong=(part, made))
            done = self.run_lab("check", name, *SMALL)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", f"kgate-lab: {said}: nothing is decided\n"))
            done = self.run_lab("check", name, *SMALL, "--json")
            self.assertEqual(json.loads(done.stdout), {"error": f"{said}: nothing is decided"})

    def test_exceptions_and_loops_are_named(self):
        read, constructor = 'const int seen = free_.read(p["2"]);', "{ (void)N; }"
        self.new("throws.hpp", wrong=(read, read + " if (seen >= 0) throw 1;"))
        self.assertEqual(self.lab_json(UNDECIDED, "check", "throws.hpp", *SMALL)["why"], "process 0 throws something, after label 2")
        self.new("made.hpp", wrong=(constructor, '{ if (N > 0) throw std::string("no"); }'))
        self.assertIn("the text's constructor throws something", self.complaint("check", "made.hpp", *SMALL))
        loop = "for (volatile bool on = true; on;) {\n}\n"
        self.new("endless.hpp", wrong=("const int inside = s.count", loop + "const int inside = s.count"))
        done = self.run_lab("check", "endless.hpp", *SMALL, "--time-max", "200ms")
        self.assertEqual((done.returncode, done.stderr), (UNDECIDED, "kgate-lab: the text's invariant loops for ever\n"))

    def test_hidden_state_is_found(self):
        """What a text keeps on the heap or in a static variable, and a count of a loop's rounds that live(...) does not name."""
        release = 'free_.fetch_add(p["4"], 1);'
        self.new("heap.hpp", include=("#include <string>", "#include <string>\n#include <vector>"),
                 member=("  int k_;", "  int k_;\n  std::vector<int> counts_ = std::vector<int>(8, 0);"),
                 wrong=(release, release + " ++counts_[p.id().value];"))
        self.assertIn("process 0 changes memory that the algorithm's object has", self.lab_json(UNDECIDED, "check", "heap.hpp", *SMALL)["why"])
        self.new("kept.hpp", wrong=(release, release + " static int calls = 0; ++calls;"))
        self.assertIn("changes a static variable", self.lab_json(UNDECIDED, "check", "kept.hpp", *SMALL)["why"])
        self.new("rounds.hpp", wrong=("for (;;) {", "for (int round = 0; round < 400; ++round) {"))
        result = self.lab_json(UNDECIDED, "check", "rounds.hpp", "-N", 3, "-k", 2, "--property", "k-exclusion")
        self.assertIn("the text forgets what it uses", result["properties"][0]["why"])

    def test_what_no_run_shows_is_refused(self):
        """State and answers that the checker cannot see, and what runs before there is a text."""
        read, include = 'const int seen = free_.read(p["2"]);', "#include <string>"
        headers = include + "\n#include <unistd.h>\n#include <chrono>\n#include <cstdlib>\n#include <ctime>"
        for name, wrong, said in (
                ("locals.hpp", "static thread_local int n = 0; if (++n > 1000000) return;", "locals.hpp has thread-local variables: "),
                ("chance.hpp", "if (std::rand() == 7) return;", "chance.hpp calls rand: "),
                ("late.hpp", "if (std::clock() == 7) return;", "late.hpp calls clock: "),
                ("forks.hpp", "if (seen > 7) ::fork();", "forks.hpp calls fork: "),
                ("now.hpp", "if (std::chrono::steady_clock::now().time_since_epoch().count() == 7) return;", "calls std::chrono::steady_clock::now: "),
                ("heap.hpp", "static int* n = static_cast<int*>(std::malloc(4)); if (++*n > 1000000) return;", "heap.hpp calls malloc: ")):
            self.new(name, include=(include, headers), wrong=(read, read + " " + wrong))
            self.assertIn(said, self.complaint("check", name, *SMALL))
        begin = "inline int made = [] { %s return 1; }();\n"
        for name, wrong, code, said in (
                ("endless.hpp", "for (volatile bool on = true; on;) { }", UNDECIDED, "the text's static initialisation loops for ever"),
                ("gone.hpp", "std::exit(0);", USAGE, "the text ends the program, in its static initialisation: nothing is decided"),
                ("broken.hpp", "std::abort();", UNDECIDED, "the text crashes, in its static initialisation: nothing is decided")):
            self.new(name, include=(include, headers), wrong=("template <class M>", begin % wrong + "template <class M>"))
            done = self.run_lab("check", name, *SMALL)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", f"kgate-lab: {said}\n"))

    def test_what_ends_a_run_is_not_caught(self):
        self.new(wrong=('free_.fetch_add(p["4"], 1);', 'try {\n      free_.fetch_add(p["4"], 1);\n    } catch (...) {\n    }'))
        result = self.lab_json(UNDECIDED, "check", "mine.hpp", *SMALL)
        self.assertIn("process 0 catches what ends its runs", result["why"])

    def test_an_index_out_of_range_is_named(self):
        self.new(include=('#include "kgate/detail/machine.hpp"', '#include "kgate/detail/fixed_array.hpp"\n#include "kgate/detail/machine.hpp"'),
                 member=("  typename M::template Var<int> free_;", "  typename M::template Var<int> free_;\n  kgate::fixed_array<typename M::template Var<int>> slot;"),
                 made=('free_(memory, {.name = "free"}, k) { (void)N; }',
                       'free_(memory, {.name = "free"}, k), slot(static_cast<std::size_t>(N), [&](std::size_t) {\n'
                       '      return typename M::template Var<int>(memory, {.name = "slot"}, 0); }) { (void)N; }'),
                 wrong=('free_.fetch_add(p["4"], 1);', 'free_.fetch_add(p["4"], 1);\n    slot[9].write(p["5"], 1);'))
        result = self.lab_json(UNDECIDED, "check", "mine.hpp", *SMALL)
        self.assertRegex(result["why"], "element 9 of an array of 2 variables, at or after label [45]")

    def test_a_variable_that_grows_is_named(self):
        self.new(member=("  typename M::template Var<int> free_;", "  typename M::template Var<int> free_, count_;"),
                 made=('free_(memory, {.name = "free"}, k)', 'free_(memory, {.name = "free"}, k), count_(memory, {.name = "count"}, 0)'),
                 wrong=('free_.fetch_add(p["4"], 1);', 'free_.fetch_add(p["4"], 1);\n    count_.fetch_add(p["5"], 1);'))
        result = self.lab_json(UNDECIDED, "check", "mine.hpp", *SMALL, "--memory-max", "24M")
        self.assertIn("variable count has taken", result["why"])

    def test_a_wrong_home_is_found(self):
        text = (lab.SOURCE / "include/kgate/algorithms/mcs_lock.hpp").read_text()
        old = '{.name = "locked", .home = pid(static_cast<int>(i))}'
        self.assertIn(old, text)
        (self.folder / "mcs_lock.hpp").write_text(text.replace(old, old.replace("int>(i)", "int>(i ^ 1)")))
        result = self.lab_json(VIOLATED, "check", "mcs_lock.hpp:kgate::mcs_lock", *SMALL, "--property", "local-waiting")
        self.assertIn("not at home with it", result["properties"][0]["trace"]["what"])
        self.assertEqual(self.run_lab(*shlex.split(result["properties"][0]["replay"])[1:]).returncode, VIOLATED)

    def test_a_wrong_claim_of_symmetry_is_named(self):
        self.new(wrong=("const int seen =", "if (p.id().value == 1) free_.read(p[\"2a\"]);\n      const int seen ="))
        result = self.lab_json(UNDECIDED, "check", "mine.hpp", "-N", "3", "-k", "2", "--symmetry")
        self.assertIn("not symmetric in its processes", result["properties"][0]["why"])

    def test_labels_may_be_anything_in_a_graph(self):
        (self.folder / "begins.hpp").write_text(BEGINS)
        self.run_lab("check", "begins.hpp", *SMALL, "--property", "bounded-exit", "--graph", "g.dot")
        self.run_lab("check", "begins.hpp", *SMALL, "--property", "bounded-exit", "--graph", "g.aut")
        for name in ("g.dot", "g.aut"):
            graph = (self.folder / name).read_text()
            self.assertIn(r'"p0 a\"b\nc: write turn[0]"', graph)
            self.assertFalse(any(line.startswith("c:") for line in graph.splitlines()))

    def test_how_often_a_predicate_is_called_is_not_to_be_counted(self):
        (self.folder / "begins.hpp").write_text(BEGINS.replace("p.live();", "int n = 0;\n    other.await(p[\"0\"], [&](int v) { ++n; return v == 0; });"
                                                               "\n    if (n == 1) return;"))
        result = self.lab_json(UNDECIDED, "check", "begins.hpp", *SMALL, "--promised")
        self.assertIn("the predicate given at label 0 is not pure: what process 0 does after it depends on how often it is called",
                      result["properties"][0]["why"])

    def test_what_does_not_compile_is_explained(self):
        self.new(wrong=("void release(Process& p, Private&)", "void leave(Process& p, Private&)"))
        said = self.complaint("check", "mine.hpp", *SMALL)
        self.assertIn("the class needs void release(typename M::Process& p, Private& mine)", said)
        self.assertIn("mine.hpp does not compile", said.splitlines()[-1])
        self.new("other.hpp", wrong=("return;", "return 1"))
        self.assertIn("other.hpp:", self.complaint("check", "other.hpp", *SMALL))

    def test_a_missing_compiler_or_file_is_explained(self):
        self.new()
        for surroundings in ({"CXX": "/nowhere/c++"}, {"PATH": "/nowhere", "CXX": ""}):
            self.assertIn("needs a C++20 compiler", self.complaint("check", "mine.hpp", *SMALL, **surroundings))
        self.assertIn("cannot read absent.hpp", self.complaint("check", "absent.hpp", *SMALL))
        os.mkfifo(self.folder / "pipe.hpp")
        self.assertIn("cannot read pipe.hpp", self.complaint("check", "pipe.hpp", *SMALL))
        self.assertIn("--file needs a header", self.complaint("check", "--file", "kgate", *SMALL))
        self.assertIn("and not both", self.complaint("check", "kgate", "--file", "mine.hpp", *SMALL))
        self.assertIn("names no C++ class", self.complaint("new", "1.hpp"))
        self.assertIn("promises 'fast'", self.complaint("check", self.new("fast.hpp", wrong=("bounded-exit", "fast")), *SMALL))

    def test_what_a_compiler_leaves_behind_goes(self):
        """As one does that a signal ends at the wrong moment."""
        self.new()
        scratch = self.folder / "scratch"
        scratch.mkdir()
        careless = self.folder / "careless"
        careless.write_text('#!/bin/sh\n: >"$TMPDIR/left"\nexit 1\n')
        careless.chmod(0o700)
        self.assertIn("does not compile", self.complaint("check", "mine.hpp", *SMALL, CXX=str(careless), TMPDIR=str(scratch)))
        self.assertEqual(list(scratch.iterdir()), [])

    def test_a_class_is_not_called_what_cannot_be(self):
        """Of a file of such a name the class gets another, which is said; one that was asked for is refused."""
        for name, made in (("static", "static_text"), ("and_eq", "and_eq_text"), ("Process", "Process_text"), ("acquire", "acquire_text"),
                           ("M", "M_text"), ("free_", "free_text"), ("div", "div_text"), ("NULL", "NULL_text"), ("_x", "x_text"), ("a__b", "a_b_text"),
                           ("size_t", "size_t_text"), ("main", "main_text"), ("kgate", "kgate_text")):
            said = self.lab(HOLDS, "new", f"{name}.hpp")
            self.assertIn(f"its class is {made}, for {name} ", said)
            self.assertIn(f"class {made} {{", (self.folder / f"{name}.hpp").read_text())
            self.refused("new", "other.hpp", "--class", name, says=["the class cannot be called " + name])
        for path in ("a\nb.hpp", 'a".hpp', "a\tb.hpp"):
            self.refused("new", path, says=["cannot be the name of a header"])
        self.assertFalse((self.folder / "other.hpp").exists())

    def test_a_class_may_be_called_like_one_of_ours(self):
        """Names that namespace kgate has, and local ones of the text: what the file declares comes first."""
        for name in ("region", "variable", "pid", "lab", "memory", "seen", "p", "s"):
            self.lab(HOLDS, "new", f"{name}.hpp")
            self.assertIn(f"class {name} {{", (self.folder / f"{name}.hpp").read_text())
            self.lab(HOLDS, "check", f"{name}.hpp", *SMALL, "--property", "k-exclusion")
        self.lab(HOLDS, "new", "static.hpp")
        self.lab(HOLDS, "check", "static.hpp", *SMALL, "--property", "k-exclusion")

    def test_no_header_of_ours_declares_a_name_that_new_accepts(self):
        """What standard headers declare at global scope, as the compiler sees it."""
        source = "\n".join(f'#include "{name}"' for name in ("kgate/algorithms/am97_names.hpp", "lab/models/text_plugin.hpp", "lab/schedules/machine.hpp"))
        flags = ["-std=c++20", f"-I{lab.SOURCE / 'include'}", f"-I{lab.SOURCE / 'src'}", "-x", "c++", "-"]
        def preprocessed(*how):
            return subprocess.run(["c++", "-E", *how, *flags], input=source, capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r"(?m)^#define ([A-Za-z]\w*)", preprocessed("-dM")))
        c_part, of_c = [], False
        for line in preprocessed().splitlines():
            if line.startswith("# "):
                of_c = "/include/" in line and "c++" not in line and str(lab.SOURCE) not in line
            elif of_c:
                c_part.append(line)
        text = "\n".join(c_part)
        names |= set(re.findall(r"(?m)^\s*extern [^;{]*?\b([a-z]\w*) \(", text))
        names |= set(re.findall(r"(?m)^\s*(?:struct|union|enum) ([a-z]\w*)\s*$", text))
        accepted = []
        for name in sorted(name for name in names if "__" not in name):
            done = self.run_lab("new", f"{name}.hpp", "--class", name)
            if done.returncode != USAGE:
                accepted.append(name)
        self.assertGreater(len(names), 300)
        self.assertEqual(" ".join(accepted), "")

    def test_every_property_can_be_promised(self):
        page = (lab.SOURCE / "docs/properties.md").read_text().split("\n## ")[0]
        ids = [row.split("`")[1] for row in page.splitlines() if row.startswith("| `")]
        self.assertIn("local-waiting", ids)
        promises = '"k-exclusion, deadlock-free, bounded-exit"'
        possible = [one for one in ids if one != "distinct-names"]
        self.new("all.hpp", wrong=(promises, '"%s"' % ", ".join(possible)))
        result = self.lab_json(VIOLATED, "check", "all.hpp", *SMALL, "--promised")
        self.assertEqual(sorted(verdicts(result)), sorted(possible))
        self.assertTrue(all(one["promised"] for one in result["properties"]))
        self.assertEqual(verdicts(result)["local-waiting"], "violated")
        self.assertIn("needs 'int name' in Private", self.complaint("check", self.new("named.hpp", wrong=(promises, '"distinct-names"')), *SMALL))
        self.assertIn("broken_invariant", self.complaint("check", self.new("bare.hpp", wrong=(promises, '"invariant"'),
                                                                          renamed=("broken_invariant(", "other_invariant(")), *SMALL))
        self.lab(HOLDS, "check", self.new("inside.hpp", wrong=(promises, '"k-exclusion, invariant"')) + "+names", *SMALL, "--promised")

    def test_for_all_in_any_order(self):
        """Everybody takes both locks, without deadlock only if all take them in the same order."""
        lock = "typename M::template Var<bool>"
        (self.folder / "both.hpp").write_text(f"""#include "kgate/detail/forall.hpp"
#include "kgate/detail/machine.hpp"
template <class M>
class both {{
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion, deadlock-free";
  both(typename M::Memory& memory, int, int) : a(memory, {{.name = "a"}}, false), b(memory, {{.name = "b"}}, false), order(memory, 2) {{}}
  void acquire(Process& p, Private&) {{
    [[maybe_unused]] auto frame = p.frame();
    for (auto turn = order.first(p, 3); turn.more(); turn = order.next(p, turn)) {{
      {lock}& lock = turn.member() == 0 ? a : b;
      do {{
        p.live(turn);
        lock.await(p["1"], [](bool is) {{ return !is; }});
      }} while (lock.test_and_set(p["2"]));
    }}
  }}
  void release(Process& p, Private&) {{ a.write(p["3"], false), b.write(p["4"], false); }}
 private:
  {lock} a, b;
  kgate::forall<kgate::order_of<M>> order;
}};
""")
        self.lab(HOLDS, "check", "both.hpp", *SMALL, "--promised")
        result = self.lab_json(VIOLATED, "check", "both.hpp", *SMALL, "--promised", "--forall", "any", "--trace", "t.json")
        self.assertEqual((verdicts(result), result["forall"]), ({"k-exclusion": "holds", "deadlock-free": "violated"}, "any"))
        line = shlex.split(result["properties"][1]["replay"])[1:]
        self.assertIn("--forall", line)
        self.lab(VIOLATED, *line)
        self.lab(VIOLATED, "replay", "t.json")
        self.lab(VIOLATED, "search", "both.hpp", *SMALL, "--property", "deadlock-free", "--forall", "any")
        self.refused("check", "mcs", *SMALL, "--forall", "any", says=["mcs does nothing 'for all'"])
        self.refused("check", "danek10-fife", *SMALL, "--forall", "down", says=["any or ascending"])

    def test_every_command_takes_a_file(self):
        self.new()
        result = self.lab_json(HOLDS, "space", "mine.hpp", "-N", "3", "-k", "2")
        self.assertEqual((result["algorithm"], result["values"], result["exhaustive"]), ("mine.hpp", 3, True))
        sampled = self.lab_json(HOLDS, "rmr", "mine.hpp", "-N", "8", "-k", "2", "--sample", "--steps", "40000")
        self.assertEqual((sampled["algorithm"], sampled["exhaustive"]), ("mine.hpp", False))
        self.assertGreater(sampled["worst"], 3)
        text = (lab.SOURCE / "include/kgate/algorithms/mcs_lock.hpp").read_text()
        (self.folder / "mcs_lock.hpp").write_text(text)
        copy = self.lab_json(HOLDS, "rmr", "mcs_lock.hpp:kgate::mcs_lock", "-N", "8", "-k", "1", "--sample", "--steps", "40000")
        self.assertEqual(copy["worst"], self.lab_json(HOLDS, "rmr", "mcs", "-N", "8", "-k", "1", "--sample", "--steps", "40000")["worst"])
        mutants = self.lab_json(VIOLATED, "mutate", "mine.hpp", "--text", *SMALL)
        self.assertGreater(mutants["killed"], 4)
        self.assertEqual({one["algorithm"] for one in mutants["mutants"]}, {"mine.hpp"})
        changes = " ".join(one["change"] for one in mutants["mutants"])
        self.assertNotIn("inside", changes)  # errors in the invariant are none in the algorithm
        (self.folder / "dekker.hpp").write_text((lab.SOURCE / "include/kgate/algorithms/dekker.hpp").read_text())
        ours = json.loads(self.run_lab("mutate", "dekker.hpp:kgate::dekker", "--text", *SMALL, "--sample", "5", "--json").stdout)
        self.assertGreater(ours["killed"], 0)  # in the namespace of the text
        self.refused("mutate", "mine.hpp", "--text", says=["needs -N and -k"])
        self.refused("space", self.new("grows.hpp", wrong=("static constexpr bool symmetric", "static constexpr bool unbounded_variables = true;\n  static constexpr bool symmetric")),
                     *SMALL, says=["unbounded"])

    def test_the_class_can_be_named(self):
        self.new("two.hpp", wrong=("template <class M>", "template <class M> class other {};\ntemplate <class M>"),
                 renamed=("class two", "class third"), again=("two(typename", "third(typename"))
        self.assertIn("as in two.hpp:third", self.complaint("check", "two.hpp", *SMALL))
        result = self.lab_json(HOLDS, "check", "two.hpp:third", *SMALL, "--promised")
        self.assertEqual(result["algorithm"], "two.hpp:third")
        self.assertEqual(os.listdir(self.folder), ["two.hpp"])


if __name__ == "__main__":
    lab.main()
