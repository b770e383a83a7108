#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: who keeps a slot when wrapper, command or those it left behind are killed."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from tool import KGATE, ROOT_USER, Case, main


class Liveness(Case):
    def test_killing_the_wrapper_alone_keeps_the_slot(self):
        wrapper = self.start("run", "--", "sh", "-c", "echo $$; exec sleep 60")
        child = int(wrapper.stdout.readline())
        self.until(lambda: len(self.holders()) == 1)
        wrapper.kill()
        wrapper.wait()
        self.assertEqual(self.run_kgate("run", "--try", "--", "true").returncode, 122)
        self.assertEqual(len(self.gate()["holders"]), 1)
        os.kill(child, signal.SIGKILL)
        self.until(lambda: self.run_kgate("run", "--try", "--", "true").returncode == 0)
        self.assertEqual(self.gate()["healed"], 1)

    def test_a_process_left_behind_does_not_keep_the_slot(self):
        begun = self.run_kgate("run", "--", "sh", "-c", "setsid sleep 61 </dev/null >/dev/null 2>&1 & echo $!")
        self.assertEqual(self.run_kgate("run", "--try", "--", "true").returncode, 0)
        left = int(begun.stdout)
        os.kill(left, 0)
        os.kill(left, signal.SIGKILL)

    def test_nor_if_the_wrapper_was_killed(self):
        wrapper = self.start("run", "--", "sh", "-c", "setsid sleep 62 </dev/null >/dev/null 2>&1 & echo $! $$; wait")
        left, child = map(int, wrapper.stdout.readline().split())
        wrapper.kill()
        wrapper.wait()
        self.assertEqual(self.run_kgate("run", "--try", "--", "true").returncode, 122)
        os.kill(child, signal.SIGKILL)
        self.until(lambda: self.run_kgate("run", "--try", "--", "true").returncode == 0)
        os.kill(left, signal.SIGKILL)

    def test_both_killed_and_one_waits(self):
        wrapper = self.start("run", "--", "sh", "-c", "echo $$; exec sleep 60")
        child = int(wrapper.stdout.readline())
        waiter = self.start("run", "--", "echo", "inside")
        self.until(lambda: len(self.gate()["waiters"]) == 1)
        wrapper.kill()
        os.kill(child, signal.SIGKILL)
        wrapper.wait()
        self.assertEqual(waiter.wait(5), 0)

    def test_two_containers(self):
        """Other PID namespaces: process numbers mean nothing there, the kernel's locks do."""
        unshare = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
        if not ROOT_USER or subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
            self.skipTest("no permission to make PID namespaces")
        def inside(*words):
            process = subprocess.Popen([*unshare, KGATE, *words], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.started.append(process)
            return process
        first = inside("run", "-k", "1", "--", "sleep", "60")
        self.until(lambda: len(self.holders()) == 1)
        second = inside("run", "--", "echo", "in the second")
        self.until(lambda: len(self.gate()["waiters"]) == 1)
        time.sleep(0.2)
        self.assertIsNone(second.poll())
        self.assertEqual(self.gate()["healed"], 0)
        first.kill()
        self.assertEqual(second.wait(10), 0)
        self.assertEqual(second.stdout.read(), "in the second\n")
        self.assertEqual(self.gate()["healed"], 1)


class Calls(Case):
    def test_asking_who_is_alive_takes_no_more_calls_when_many_are_inside(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        count = 40
        for _ in range(count):
            self.start("run", "-n", "g", "-k", str(count + 1), "--exec", "--", "sleep", "60")
        self.until(lambda: len(self.holders("g")) == count, 30)

        def calls(*words):
            done = subprocess.run(["strace", "-f", "-e", "trace=fcntl", KGATE, *words], env=self.env, capture_output=True, text=True, timeout=60)
            return done.stderr.count("fcntl(")
        self.assertLess(calls("run", "-n", "g", "--", "true"), 25)
        self.assertLess(calls("run", "-n", "g", "--exec", "--", "true"), 25)
        self.assertLess(calls("status", "-n", "g"), 6 * count)  # a few for each, not for each pair

    def static_tool_in_memory(self):
        """The environment of a gate in memory; only if the tool is linked as it is installed."""
        with open(KGATE, "rb") as file:
            if b"ld-linux" in file.read(4096):
                self.skipTest("this kgate is not linked statically")
        in_memory = tempfile.mkdtemp(prefix="kgate-cli-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, in_memory)
        return {**self.env, "KGATE_DIR": in_memory}

    def test_becoming_a_command_takes_few_page_faults(self):
        # What it executes stands together in the program (start_order.py): 24 beside those of `true`; else some 45.
        env = self.static_tool_in_memory()

        def faults(*line):
            return min(self.page_faults(line, env) for _ in range(10))
        own = faults(KGATE, "run", "-n", "g", "--exec", "--", "/bin/true") - faults("/bin/true")
        self.assertLess(own, 33)

    @staticmethod
    def page_faults(line, env):
        return os.wait4(os.posix_spawn(line[0], line, env), 0)[2].ru_minflt

    def test_becoming_a_command_takes_few_calls(self):
        env = self.static_tool_in_memory()
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        for _ in range(3):  # the first creates the gate; each of the others heals the one before it
            done = subprocess.run(["strace", KGATE, "run", "-n", "g", "--exec", "--", "/bin/true"], env=env, capture_output=True, text=True, timeout=60)
        before = done.stderr.split('execve("/bin/true"')[0].splitlines()
        self.assertEqual([line for line in before if "/proc/" in line], [])
        self.assertLess(len(before), 46, done.stderr)

    def test_a_command_that_asks_about_its_own_gate_keeps_its_slot(self):
        # The command of `kgate run` has a record lock, which closing any descriptor of that file would drop.
        for exec_too in ((), ("--exec",)):
            self.start("run", "-n", "g", "-k", "3", *exec_too, "--", "sleep", "60")
            process = self.start("run", "-n", "g", *exec_too, "--", KGATE, "run", "-n", "g", "--exec", "--", "sleep", "60")
            self.until(lambda: len([h for h in self.holders("g") if h["slots"]]) == 3)
            time.sleep(0.1)
            self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 122)
            self.assertEqual(len(self.holders("g")), 3)
            for one in self.started:
                one.terminate()
                one.wait()
            self.until(lambda: self.holders("g") == [])
            self.assertEqual(process.returncode, -15)


if __name__ == "__main__":
    main()
