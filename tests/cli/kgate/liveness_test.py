#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: who keeps a slot when wrapper, command or those it left behind are killed."""
import os
import signal
import subprocess
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


if __name__ == "__main__":
    main()
