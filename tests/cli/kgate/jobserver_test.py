#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: make's jobserver, shared by all trees of a host."""
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from tool import Case, main

# Reads tokens as make's children do, in either style, and says what it gets.
CLIENT = r"""
import os, sys, re, select
auth = re.findall(r"--jobserver-auth=(\S+)", os.environ["MAKEFLAGS"])[-1]
if auth.startswith("fifo:"):
    fd = os.open(auth[5:], os.O_RDWR); r = w = fd
else:
    r, w = map(int, auth.split(","))
held = []
print("ready", flush=True)
for line in sys.stdin:
    word = line.strip()
    if word == "take":
        held.append(os.read(r, 1)); print("took", len(held), flush=True)
    elif word == "try":
        print("there" if select.select([r], [], [], 1)[0] else "none", flush=True)
    elif word == "put":
        os.write(w, held.pop()); print("put", flush=True)
    elif word == "leave":
        if os.fork() == 0:
            os.close(0); os.setsid(); print("child", os.getpid(), flush=True)
            import time; time.sleep(60)
        os._exit(0)
"""


class Jobserver(Case):
    def client(self, *words):
        process = self.start("jobserver", "-n", "build", *words, "--", sys.executable, "-c", CLIENT, stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def ask(self, process, word):
        process.stdin.write(word + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def inside(self):
        return len(self.holders("build"))

    def test_tokens_are_slots_in_both_styles(self):
        for style in ("pipe", "fifo"):
            client = self.client("-k", "3", "--style", style)
            self.until(lambda: self.inside() == 2)  # the command itself, and one that is offered
            self.assertEqual(self.ask(client, "take"), "took 1")
            self.assertEqual(self.ask(client, "take"), "took 2")
            self.until(lambda: self.inside() == 3)
            self.assertEqual(self.ask(client, "try"), "none")
            self.assertEqual(self.run_kgate("run", "-n", "build", "--try", "--", "true").returncode, 122)
            self.assertEqual(self.ask(client, "put"), "put")
            self.assertEqual(self.ask(client, "put"), "put")
            self.until(lambda: self.inside() == 2)
            client.stdin.close()
            self.assertEqual(client.wait(10), 0)
            self.assertEqual(self.inside(), 0)
            self.assertEqual(self.gate("build")["healed"], 0)

    def test_two_trees_share(self):
        first = self.client("-k", "3")
        second = self.client("-k", "3")
        self.until(lambda: self.inside() == 3)  # both commands, and one token for whoever is first
        self.until(lambda: len(self.gate("build")["waiters"]) <= 1)
        self.assertEqual(self.ask(first, "take"), "took 1")
        self.assertEqual(self.ask(second, "try"), "none")
        first.stdin.close()  # without putting it back
        self.assertEqual(first.wait(10), 0)
        self.assertEqual(self.ask(second, "take"), "took 1")
        self.assertEqual(self.ask(second, "take"), "took 2")

    def test_an_idle_offer_is_left_to_others(self):
        self.client("-k", "2")
        self.until(lambda: self.inside() == 2)
        self.assertEqual(self.run_kgate("run", "-n", "build", "-t", "10", "--", "true").returncode, 0)

    def test_tokens_of_a_killed_tree_come_back_when_it_has_ended(self):
        client = self.client("-k", "3")
        self.assertEqual(self.ask(client, "take"), "took 1")
        self.until(lambda: self.inside() == 3)
        child = int(self.ask(client, "leave").split()[1])  # an orphan that has the token
        self.until(lambda: self.inside() == 1)
        time.sleep(0.2)
        self.assertEqual(self.inside(), 1)
        self.assertIsNone(client.poll())
        os.kill(child, signal.SIGKILL)
        self.assertEqual(client.wait(10), 0)
        self.assertEqual(self.inside(), 0)

    def test_exit_codes_and_signals(self):
        self.assertEqual(self.run_kgate("jobserver", "-n", "build", "-k", "2", "--", "sh", "-c", "exit 6").returncode, 6)
        self.assertEqual(self.run_kgate("jobserver", "-n", "build", "--", "/no/such/command").returncode, 127)
        process = self.client()
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assertEqual(self.inside(), 0)

    def test_the_command_ends_if_kgate_is_killed(self):
        process = self.client("-k", "2")
        command = self.holders("build")[0]["command_pid"]
        process.kill()
        process.wait()
        self.until(lambda: not os.path.exists(f"/proc/{command}"))
        self.until(lambda: self.inside() == 0)

    @unittest.skipUnless(shutil.which("make"), "make is not installed")
    def test_two_makes_together_run_no_more_than_k_jobs(self):
        with open(os.path.join(self.dir, "Makefile"), "w", encoding="ascii") as file:
            file.write(textwrap.dedent("""\
                all: $(foreach i,1 2 3 4 5 6 7 8,job$(TREE)$(i))
                job%:
                \t@mkdir running/$@; ls running | wc -l >> most; sleep 0.1; rmdir running/$@
                """))
        os.mkdir(os.path.join(self.dir, "running"))
        # The -j8 of make itself would be a jobserver of its own; it is left out.
        makes = [self.start("jobserver", "-n", "build", "-k", "3", "--", "make", "-s", "-j8", f"TREE={tree}", cwd=self.dir) for tree in "ab"]
        for make in makes:
            self.assertEqual(make.wait(60), 0, make.stderr.read())
            self.assertEqual(make.stderr.read(), "")
        with open(os.path.join(self.dir, "most"), encoding="ascii") as file:
            counts = [int(line) for line in file]
        self.assertEqual(len(counts), 16)
        self.assertLessEqual(max(counts), 3)
        self.assertGreaterEqual(max(counts), 2)

    def test_flags_of_make_stay(self):
        env = {**self.env, "MAKEFLAGS": "k -j4 --jobserver-auth=3,4"}
        done = self.run_kgate("jobserver", "-n", "build", "-k", "2", "--", "sh", "-c", "echo $MAKEFLAGS", env=env)
        self.assertRegex(done.stdout, r"\Ak -j2 --jobserver-auth=\d+,\d+\n\Z")
        fifo = self.run_kgate("jobserver", "-n", "build", "--style", "fifo", "--", "sh", "-c", "echo ${MAKEFLAGS#*fifo:}").stdout.strip()
        self.assertFalse(os.path.exists(fifo))


if __name__ == "__main__":
    main()
