#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: make's jobserver, shared by all trees of a host."""
import os
import re
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
        self.until(lambda: self.inside() == 3)  # both commands, and one token for the first to take it
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

    def test_an_idle_offer_is_shown_and_refuses_nobody_who_tries(self):
        client = self.client("-k", "2")
        for _ in range(3):
            self.until(lambda: sorted(h["state"] for h in self.holders("build")) == ["idle", "running"])
            self.assertEqual(self.run_kgate("run", "-n", "build", "--try", "--", "true").returncode, 0)
        self.until(lambda: self.inside() == 2)
        self.assertIn("[idle]", self.run_kgate("status").stdout)
        self.assertEqual(self.ask(client, "take"), "took 1")
        self.until(lambda: [h["state"] for h in self.holders("build")] == ["running", "running"])
        began = time.monotonic()
        self.assertEqual(self.run_kgate("run", "-n", "build", "--try", "--", "true").returncode, 122)
        self.assertLess(time.monotonic() - began, 0.15)  # nothing is idle: it does not wait
        self.assertEqual(self.run_kgate("run", "-n", "build", "-w", "2", "--try", "--", "true").returncode, 122)

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

    def test_slots_stay_taken_while_the_tree_of_a_killed_jobserver_lives(self):
        process = self.client("-k", "3")
        self.assertEqual(self.ask(process, "take"), "took 1")
        self.assertEqual(self.ask(process, "take"), "took 2")
        self.until(lambda: self.inside() == 3)
        process.kill()
        process.wait()
        time.sleep(0.1)
        self.assertEqual(self.inside(), 3)
        self.assertEqual(self.run_kgate("run", "-n", "build", "--try", "--", "true").returncode, 122)
        self.assertEqual(self.ask(process, "put"), "put")  # the command lives on, as that of `kgate run` does
        child = int(self.ask(process, "leave").split()[1])  # and then something that it started
        time.sleep(0.1)
        self.assertEqual(self.inside(), 3)
        os.kill(child, signal.SIGKILL)
        self.until(lambda: self.inside() == 0)
        self.assertEqual(self.run_kgate("run", "-n", "build", "-w", "3", "--try", "--", "true").returncode, 0)

    def test_the_slot_of_a_killed_command_stays_taken_while_its_jobs_run(self):
        for ending in (None, signal.SIGTERM):
            process = self.start("jobserver", "-n", "build", "-k", "2", "--", "sh", "-c", "sleep 60 & echo $!; wait", start_new_session=True)
            job = int(process.stdout.readline())
            self.until(lambda: [h for h in self.holders("build") if h["command_pid"]])
            command = [h for h in self.holders("build") if h["command_pid"]][0]["command_pid"]
            os.kill(command, signal.SIGKILL)
            self.until(lambda: self.inside() == 1)
            time.sleep(0.1)
            self.assertEqual(self.inside(), 1)
            if ending:  # kgate shall not wait for them: the slot is left to them
                process.send_signal(ending)
                process.wait(10)
                self.assertEqual(self.inside(), 1)
            os.kill(job, signal.SIGKILL)
            self.until(lambda: self.inside() == 0)
            self.assertEqual(process.wait(10), -signal.SIGKILL)

    def test_the_fifo_is_removed_however_the_command_ends(self):
        env = {**self.env, "TMPDIR": self.dir}
        left = lambda: [f for f in os.listdir(self.dir) if f.startswith("kgate-jobserver-")]
        words = ("jobserver", "-n", "build", "-k", "2", "--style", "fifo", "--")
        self.assertEqual(self.run_kgate(*words, "sh", "-c", "kill -KILL $$", env=env).returncode, -signal.SIGKILL)
        self.assertEqual(left(), [])
        process = self.start(*words, "sleep", "60", env=env)
        self.until(lambda: [h for h in self.holders("build") if h["command_pid"]])
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assertEqual(left(), [])

    def test_doctor_removes_the_fifos_of_dead_trees(self):
        env = {**self.env, "TMPDIR": self.dir}
        process = self.start("jobserver", "-n", "build", "--style", "fifo", "--", "sh", "-c", "exec 8<>${MAKEFLAGS##*fifo:}; echo $$; sleep 60; :", env=env)
        command = int(process.stdout.readline())
        process.kill()
        process.wait()
        folder = [os.path.join(self.dir, f) for f in os.listdir(self.dir) if f.startswith("kgate-jobserver-")][0]
        os.utime(folder, (1, 1))
        self.run_kgate("doctor", env=env)
        self.assertTrue(os.path.exists(folder + "/fifo"))  # the tree has it open
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(command)], capture_output=True, text=True, check=False).stdout.split()
        for pid in (command, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        self.until(lambda: self.inside() == 0)
        self.assertIn("removed 1", self.run_kgate("doctor", env=env).stdout)
        self.assertFalse(os.path.exists(folder))

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

    def test_variables_of_make_and_its_flags_are_told_apart(self):
        for flags, wanted in (
            ("k -- FOO=1", r"k -j2 AUTH -- FOO=1"),
            (r" -j4 --jobserver-auth=3,4 -- FOO=test\ -j4\ x", r" -j2 AUTH -- FOO=test\ -j4\ x"),
            ("kj4", r"k -j2 AUTH"),
            ("-kj4 --jobs=3", r" -k -j2 AUTH"),
            ("FOO=-j4 -k", r"FOO=-j4 -k -j2 AUTH"),
            (r" --jobserver-style=pipe --no-print-directory", r" --no-print-directory -j2 AUTH"),
        ):
            env = {**self.env, "MAKEFLAGS": flags}
            done = self.run_kgate("jobserver", "-n", "build", "-k", "2", "--", "sh", "-c", "printf '%s\\n' \"$MAKEFLAGS\"", env=env)
            self.assertEqual(re.sub(r"--jobserver-auth=\d+,\d+", "AUTH", done.stdout), wanted + "\n")

    def test_the_jobs_option_of_make_is_left_out_wherever_it_stands(self):
        make = os.path.join(self.dir, "make")
        with open(make, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho \"$@\"\n")
        os.chmod(make, 0o755)
        for given, wanted in (
            (["-kj4", "all"], "-k all"),
            (["-kj", "4", "all"], "-k all"),
            (["-j", "all"], "all"),
            (["-C", "-j4", "-sfj4"], "-C -j4 -sfj4"),
            (["--jobs", "3", "FOO=test -j4 x"], "FOO=test -j4 x"),
            (["-l", "2", "-j2", "--", "-j4"], "-l 2 -- -j4"),
        ):
            done = self.run_kgate("jobserver", "-n", "build", "-k", "2", "--", make, *given)
            self.assertEqual(done.stdout, wanted + "\n")


if __name__ == "__main__":
    main()
