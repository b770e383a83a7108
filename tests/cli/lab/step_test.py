#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab step: a run made by hand, what can still break, and traces that replay accepts."""
import json
import shutil
import subprocess
import time
import unittest

import lab
from lab import HOLDS, UNDECIDED, VIOLATED, LabTest

CHAIN = ("am97-chain-cc", "-N", "3", "-k", "2")
# The slot of figure 3 is not counted: three get in.
WRONG = (*CHAIN, "--mutate", "drop:5")


class Step(LabTest):
    def step(self, arguments, *lines):
        """What is printed for these lines, split at the states shown."""
        done = subprocess.run([lab.PROGRAM, "step", *arguments], input="".join(line + "\n" for line in lines), capture_output=True,
                              text=True, timeout=lab.SECONDS_MAX, cwd=self.folder, env=lab.environment())
        self.assertEqual((done.returncode, done.stderr), (HOLDS, ""), done.stdout)
        return done.stdout

    def outlook(self, text):
        """The last state's properties."""
        last = text[text.rindex("after "):]
        return {line.split()[0]: " ".join(line.split()[1:]) for line in last.splitlines() if line.endswith(("break", "broken"))}

    def test_one_chooses_who_steps(self):
        text = self.step(CHAIN, "0", "1x1,2")
        self.assertIn("after 3 steps", text)
        self.assertIn("after 1 step\n", text)
        last = text[text.rindex("after 3"):]
        self.assertRegex(last, r"p0 +critical +7: fetch_and_add X\.0 +X\.fetch_add\(1\)")
        self.assertRegex(last, r"p2 +entry +3: write Q\.0")
        self.assertIn("X.0=-1 Q.0=p0", last)

    def test_what_cannot_be_is_said_and_nothing_changes(self):
        text = self.step(CHAIN, "7", "nonsense", "0,", "undo", "crash 9", "save", "0", "crash 0", "0")
        for sentence in ("there is no process 7", "'nonsense' is no command", "this is the initial state", "crash needs a whole number",
                         "save needs a FILE", "process 0 has crashed"):
            self.assertIn(sentence, text)
        waits = self.step(CHAIN, "0,1,2x3", "2")
        self.assertIn("process 2 cannot move", waits)
        self.assertRegex(waits, r"p2 +entry +5: await Q\.0 +waits")

    def test_long_runs_are_made_or_refused_at_once(self):
        text = self.step(("peterson-k", "-N", "2", "-k", "1"), "0,1x9", "0x50000", "0x100000", "0x10000000", "0x99999999999", "undo 50001", "run")
        self.assertIn("after 50,010 steps", text)
        self.assertEqual(text.count("a run has at most 100,000 steps here"), 2)
        self.assertIn("'0x99999999999' is no command", text)
        self.assertIn("after 9 steps", text)

    def test_undo_and_reset(self):
        text = self.step(CHAIN, "0,1", "undo", "run", "crash 2", "undo", "reset", "run")
        self.assertIn("     1  p0 2: fetch_and_add X.0: 2 -> 1", text)
        self.assertNotIn("crashed", text[text.rindex("after 0"):])
        self.assertTrue(text.endswith("  nothing yet\n"))

    def test_what_can_still_break(self):
        sound = self.outlook(self.step(CHAIN, "0"))
        self.assertEqual(set(sound.values()), {"cannot break"})
        self.assertEqual(self.outlook(self.step(WRONG))["k-exclusion"], "can break")
        self.assertEqual(self.outlook(self.step(WRONG, "0,1,2x3"))["k-exclusion"], "broken")
        # One crash inside is allowed, two stop the third for ever.
        one = self.outlook(self.step(CHAIN, "0,1", "crash 0"))
        self.assertEqual((one["deadlock-free"], one["starvation-free"]), ("cannot break", "cannot break"))
        two = self.outlook(self.step(CHAIN, "0,1", "crash 0", "crash 1"))
        self.assertEqual(two["deadlock-free"], "can break")
        stuck = self.outlook(self.step(CHAIN, "0,1", "crash 0", "crash 1", "2x3"))
        self.assertEqual((stuck["deadlock-free"], stuck["starvation-free"]), ("broken", "broken"))
        self.assertEqual(self.outlook(self.step(("fa-semaphore", "-N", "2", "-k", "1")))["starvation-free"], "can break")

    def test_the_outlook_is_the_verdict_of_check(self):
        """At the start, with nobody crashed: what check finds violated can break, what holds cannot."""
        for algorithm, N, k, *more in (CHAIN[:1] + (3, 2), ("fa-semaphore", 3, 2), ("mcs", 3, 1), ("burns-lynch", 2, 1), ("dekker", 2, 1),
                                       ("am97-chain-cc", 3, 2, "--mutate", "drop:8"), ("am97-chain-cc", 3, 2, "--mutate", "drop:7"),
                                       ("clh", 2, 1, "--mutate", "drop:6"), ("am97-chain-cc+names", 3, 2, "--mutate", "drop:3")):
            size = (algorithm, "-N", str(N), "-k", str(k), *more)
            found = json.loads(self.run_lab("check", *size, "--crashes", "0", "--json").stdout)
            judged = self.outlook(self.step(size))
            for name, verdict in lab.verdicts(found).items():
                if name in judged and verdict in ("holds", "violated"):
                    self.assertEqual(judged[name], "can break" if verdict == "violated" else "cannot break", (size, name))

    def test_what_is_saved_replays(self):
        text = self.step(WRONG, "0,1,2x3", "save run.json", "save other.json deadlock-free")
        self.assertIn("run.json is written; it shows that k-exclusion is violated", text)
        self.assertIn("other.json is written; it does not show that deadlock-free is violated", text)
        self.assertIn("violated", self.lab(VIOLATED, "replay", "run.json"))
        self.lab(UNDECIDED, "replay", "other.json")
        self.step(CHAIN, "0,1", "crash 0", "crash 1", "2x3", "save stuck.json")
        self.lab(VIOLATED, "replay", "stuck.json")

    def test_mistakes(self):
        self.refused("step", "am97-chain-cc", "-N", "6", "-k", "2", "--html", "p.html", says=["at most 5 processes"])
        self.refused("step", "am97-chain-cc", "-N", "4", "-k", "2", "--html", "p.html", says=["at most 20,000 states"])
        self.refused("step", "nobody", "-N", "2", "-k", "1", says=["unknown algorithm"])

    @unittest.skipUnless(shutil.which("tmux"), "tmux is the terminal")
    def test_in_a_terminal(self):
        name = f"kgate-step-{self.folder.name}"
        tmux = ["tmux", "-L", name, "-f", "/dev/null"]
        subprocess.run([*tmux, "new-session", "-d", "-s", name, "-x", "100", "-y", "40", str(lab.PROGRAM), "step", *CHAIN], check=True,
                       cwd=self.folder)
        self.addCleanup(subprocess.run, [*tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)

        def until(words):
            end = time.monotonic() + 30
            while time.monotonic() < end:
                screen = subprocess.run([*tmux, "capture-pane", "-t", name, "-p"], check=True, capture_output=True, text=True).stdout
                if words in screen and screen.rstrip().endswith(">"):
                    return screen
                time.sleep(0.05)
            self.fail(f"{words!r} did not appear:\n{screen}")

        until("after 0 steps")
        subprocess.run([*tmux, "send-keys", "-t", name, "2", "Enter"], check=True)
        screen = until("after 1 step\n")
        self.assertIn("cannot break", screen)
        subprocess.run([*tmux, "send-keys", "-t", name, "undo", "Enter"], check=True)
        until("after 0 steps")
        subprocess.run([*tmux, "send-keys", "-t", name, "C-d"], check=True)


if __name__ == "__main__":
    lab.main()
