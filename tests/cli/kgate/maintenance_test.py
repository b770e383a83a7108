#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: resize, remove and doctor."""
import json
import os
import signal
import subprocess
import time

from tool import KGATE, Case, main


class Maintenance(Case):
    def test_a_size_stays_as_it_was_set(self):
        self.run_kgate("run", "-n", "a", "-k", "4", "--", "true")
        self.assertEqual(self.run_kgate("resize", "-n", "a", "-k", "3").returncode, 0)
        self.assertEqual(self.run_kgate("run", "-n", "a", "--", "true").returncode, 0)
        self.assertEqual(self.gate("a")["slots"], 3)
        self.assertEqual(self.run_kgate("run", "-n", "a", "-w", "3", "--try", "--", "true").returncode, 0)

    def test_a_waiter_heavier_than_a_smaller_gate_is_refused(self):
        self.hold("g", "3")
        heavy = self.start("run", "-n", "g", "-w", "3", "--", "echo", "inside")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        light = self.start("run", "-n", "g", "--", "echo", "light")
        self.until(lambda: len(self.gate("g")["waiters"]) == 2)
        self.assertEqual(self.run_kgate("resize", "-n", "g", "-k", "2").returncode, 0)
        self.assertEqual(heavy.wait(10), 121)
        self.assertIn("smaller than --weight 3", heavy.stderr.read())
        self.assertEqual(light.wait(10), 0)

    def test_resize_while_in_use(self):
        self.hold("g", "1")
        waiter = self.start("run", "-n", "g", "--", "sh", "-c", "echo $KGATE_SLOT")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        done = self.run_kgate("resize", "-n", "g", "-k", "2")
        self.assertEqual((done.returncode, done.stdout), (0, "g: 2 slots (before: 1)\n"))
        self.assertEqual(waiter.wait(10), 0)
        self.assertEqual(waiter.stdout.read(), "1\n")

    def test_shrinking_lets_holders_finish(self):
        first, second = self.hold("g", "2"), self.hold("g", "2")
        self.assertEqual(self.run_kgate("resize", "-n", "g", "-k", "1").returncode, 0)
        shown = self.gate("g")
        self.assertEqual((len(shown["holders"]), shown["free"], shown["over"]), (2, 0, 1))
        self.assertIn("g: 2 of 1 slots taken (1 over), 0 waiting\n", self.run_kgate("status").stdout)
        self.assertEqual(self.run_kgate("pause", "-n", "g").returncode, 0)
        self.assertEqual((self.gate("g")["free"], self.gate("g")["over"]), (0, 1))
        self.assertEqual(self.run_kgate("resume", "-n", "g").returncode, 0)
        first.terminate()
        first.wait()
        self.assertEqual((self.gate("g")["free"], self.gate("g")["over"]), (0, 0))
        self.assertIn("g: 1 of 1 slots taken, 0 waiting\n", self.run_kgate("status").stdout)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 122)
        second.terminate()
        second.wait()
        self.assertEqual(self.run_kgate("run", "-n", "g", "-k", "1", "--try", "--", "true").returncode, 0)

    def test_remove(self):
        holder = self.hold("g")
        refused = self.run_kgate("remove", "-n", "g")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--force", refused.stderr)
        waiter = self.start("run", "-n", "g", "--", "true")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        self.assertEqual(self.run_kgate("remove", "-n", "g", "--force").returncode, 0)
        self.assertEqual(waiter.wait(10), 121)
        holder.terminate()
        self.assertEqual(holder.wait(10), -15)
        self.assertEqual(os.listdir(self.dir), [])
        self.assertEqual(self.run_kgate("run", "-n", "g", "-k", "7", "--", "true").returncode, 0)
        self.assertEqual(self.run_kgate("remove", "-n", "g").returncode, 0)

    def test_runs_and_removals_at_once(self):
        # A gate that is removed before a run has queued up is, for that run, a gate that never was.
        script = f"for i in $(seq 150); do {KGATE} $0 -n g \"$@\" || echo $?; done"
        commands = [("run", "--", "true"), ("run", "-k", "2", "--exec", "--", "true"), ("run", "--try", "-qE0", "--", "true"), ("create", "-k", "2"),
                    ("remove",), ("remove",)]
        loops = [subprocess.Popen(["sh", "-c", script, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for words in commands]
        self.started += loops
        for words, loop in zip(commands, loops):
            out, said = loop.communicate(timeout=120)
            if words[0] == "run":
                self.assertEqual((words, out, said), (words, "", ""))

    def test_a_gate_that_goes_while_the_doctor_looks_is_no_fault(self):
        script = f"for i in $(seq 200); do {KGATE} create -n g$((i % 7)) >&- 2>&-; {KGATE} remove -n g$((i % 7)) >&- 2>&-; done"
        changing = [subprocess.Popen(["sh", "-c", script], env=self.env, stderr=subprocess.DEVNULL) for _ in range(2)]
        self.started += changing
        while any(process.poll() is None for process in changing):
            done = self.run_kgate("doctor")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        missing = self.run_kgate("doctor", "-n", "missing")
        self.assertEqual(missing.returncode, 1)

    def test_one_that_was_let_in_before_a_forced_removal_runs(self):
        holder = self.hold("b")
        both = self.start("run", "-n", "a", "-n", "b", "--", "echo", "inside")  # has its slot of a, waits at b
        self.until(lambda: len(self.holders("a")) == 1 and len(self.gate("b")["waiters"]) == 1)
        self.assertEqual(self.run_kgate("remove", "-n", "a", "--force").returncode, 0)
        holder.terminate()
        self.assertEqual((both.wait(10), both.stdout.read(), both.stderr.read()), (0, "inside\n", ""))

    def test_doctor(self):
        process = self.start("run", "-n", "g", "-k", "2", "--", "sh", "-c", "kill -9 $PPID")
        process.wait()
        self.until(lambda: self.run_kgate("doctor", "-n", "g").stdout.startswith("g: "))
        with open(os.path.join(self.dir, "broken.gate"), "wb") as broken:
            broken.write(b"no gate")
        done = self.run_kgate("doctor", "--json")
        self.assertEqual(done.returncode, 1)
        findings = {f["gate"]: f for f in json.loads(done.stdout)["findings"]}
        self.assertTrue(findings["g"]["ok"])
        self.assertFalse(findings["broken"]["ok"])
        self.assertIn("is not a gate", findings["broken"]["finding"])
        self.assertEqual(self.run_kgate("remove", "-n", "broken", "--force").returncode, 0)
        self.assertEqual(self.run_kgate("doctor").returncode, 0)

    def test_doctor_leaves_what_is_not_empty(self):
        kept = os.path.join(self.dir, ".other.0123456789abcdef.lock")
        with open(kept, "w", encoding="ascii") as file:
            file.write("precious")
        os.utime(kept, (1, 1))
        self.assertEqual(self.run_kgate("doctor").returncode, 0)
        self.assertEqual(os.path.getsize(kept), 8)

    def test_a_log_is_not_written_over_when_the_gate_is_cut_off(self):
        self.hold("g", "1")
        log = os.path.join(self.dir, "log")
        with open(log, "a", encoding="ascii") as file:
            file.write("before\n" * 40)
            file.flush()
            waiter = subprocess.Popen([KGATE, "run", "-n", "g", "--", "true"], env=self.env, stderr=file)
            self.started.append(waiter)
            self.until(lambda: len(self.gate("g")["waiters"]) == 1)
            command = self.holders("g")[0]["command_pid"]
            time.sleep(0.3)  # until it watches by a thread that has no descriptors of the program
            os.truncate(os.path.join(self.dir, "g.gate"), 0)
            os.kill(command, signal.SIGKILL)  # the thread wakes
            self.assertEqual(waiter.wait(10), 121)
        with open(log, encoding="ascii") as file:
            text = file.read()
        self.assertTrue(text.startswith("before\n" * 40) and "cut off" in text, text)

    def test_a_directory_that_cannot_be_listed_is_no_empty_one(self):
        for directory, why in (("/nonexistent", "No such file or directory"), ("/etc/passwd", "Not a directory")):
            for command in (("status",), ("list",), ("stats",), ("doctor",), ("top", "--once")):
                done = self.run_kgate(*command, "--dir", directory)
                self.assertEqual((done.returncode, done.stdout), (1, ""), command)
                self.assertIn(f"cannot list {directory}: {why}", done.stderr)

    def test_doctor_leaves_the_lock_files_of_a_renamed_gate_that_is_in_use(self):
        self.hold("g", "1")
        here, there = (os.path.join(self.dir, name) for name in ("g.gate", "h.gate"))
        os.rename(here, there)
        for file in os.listdir(self.dir):
            if file.startswith(".g."):
                os.utime(os.path.join(self.dir, file), (1, 1))
        self.run_kgate("doctor")
        os.rename(there, here)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 122)

    def test_doctor_removes_what_a_renamed_gate_left(self):
        holder = self.hold("a")
        os.rename(os.path.join(self.dir, "a.gate"), os.path.join(self.dir, "b.gate"))
        holder.terminate()
        holder.wait()
        left = [name for name in os.listdir(self.dir) if name.startswith(".a.")]
        self.assertEqual(len(left), 2)
        self.assertIn("has lost its lock files", self.run_kgate("doctor").stdout)
        self.assertEqual(self.run_kgate("remove", "-n", "b", "--force").returncode, 0)
        for name in left:  # younger ones may be of a gate that is being created
            os.utime(os.path.join(self.dir, name), (time.time() - 61,) * 2)
        self.assertIn("removed 2 left-over files", self.run_kgate("doctor").stdout)
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".a.")], [])

    def test_doctor_mends_counts(self):
        self.run_kgate("run", "-n", "g", "-k", "2", "--", "true")
        with open(os.path.join(self.dir, "g.gate"), "r+b") as file:
            file.seek(194)  # W.free
            byte = file.read(1)[0]
            file.seek(194)  # W.free
            file.write(bytes([byte ^ 8]))
        done = self.run_kgate("doctor")
        self.assertEqual(done.returncode, 0)
        self.assertIn("renewed with 2 slots", done.stdout)


if __name__ == "__main__":
    main()
