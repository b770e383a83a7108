#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: wait, cancel, pause, resume and drain."""
import json
import signal
import time

from tool import Case, main


class Queue(Case):
    def test_wait_until_idle(self):
        holder = self.hold("g")
        waiting = self.start("wait", "-n", "g")
        time.sleep(0.2)
        self.assertIsNone(waiting.poll())
        holder.terminate()
        self.assertEqual(waiting.wait(10), 0)
        self.assertEqual(self.run_kgate("wait", "-n", "g").returncode, 0)
        self.assertEqual(self.run_kgate("wait", "-n", "missing").returncode, 1)

    def test_wait_for_a_process(self):
        first, second = self.hold("g", "2"), self.hold("g", "2")
        waiting = self.start("wait", "-n", "g", "--pid", str(first.pid))
        time.sleep(0.2)
        self.assertIsNone(waiting.poll())
        first.terminate()
        self.assertEqual(waiting.wait(10), 0)
        self.assertIsNone(second.poll())
        command = self.gate("g")["holders"][0]["command_pid"]
        self.assertEqual(self.run_kgate("wait", "-n", "g", "--pid", str(command), "--timeout", "100ms").returncode, 124)

    def test_cancel(self):
        self.hold("g")
        waiters = []
        for i in range(3):
            waiters.append(self.start("run", "-n", "g", "--", "true"))
            self.until(lambda: len(self.gate("g")["waiters"]) == i + 1)
        done = self.run_kgate("cancel", "-n", "g", "--pid", str(waiters[1].pid), "--json")
        self.assertEqual(json.loads(done.stdout), {"schema": 1, "gate": "g", "cancelled": [waiters[1].pid]})
        self.assertEqual(waiters[1].wait(10), 121)
        self.assertIn("cancelled at gate 'g'; the command was not started", waiters[1].stderr.read())
        self.assertEqual([w["pid"] for w in self.gate("g")["waiters"]], [waiters[0].pid, waiters[2].pid])
        self.assertEqual(self.run_kgate("cancel", "-n", "g", "--all").returncode, 0)
        self.assertEqual((waiters[0].wait(10), waiters[2].wait(10)), (121, 121))
        refused = self.run_kgate("cancel", "-n", "g", "--pid", str(self.started[0].pid))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("only those who wait can be cancelled", refused.stderr)
        self.assertEqual(self.run_kgate("cancel", "-n", "g", "--pid", "1").returncode, 1)
        self.assertEqual(self.gate("g")["healed"], 0)

    def test_pause_and_resume(self):
        holder = self.hold("g", "2")
        self.assertEqual(self.run_kgate("pause", "-n", "g").stdout, "g: paused\n")
        gate = self.gate("g")
        self.assertEqual((gate["paused"], gate["slots"], len(gate["holders"])), (True, 2, 1))
        self.assertIn("g: 1 of 2 slots taken, 0 waiting, paused", self.run_kgate("status").stdout)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 122)
        waiter = self.start("run", "-n", "g", "-w", "2", "--", "true")  # as heavy as the gate: not refused by a pause
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        holder.terminate()
        holder.wait()
        time.sleep(0.1)
        self.assertIsNone(waiter.poll())
        self.assertEqual(self.run_kgate("resize", "-n", "g", "-k", "3").returncode, 0)
        self.assertTrue(self.gate("g")["paused"])
        self.assertEqual(self.run_kgate("resume", "-n", "g").returncode, 0)
        self.assertEqual(waiter.wait(10), 0)
        self.assertEqual(self.gate("g")["slots"], 3)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 0)

    def test_drain(self):
        first, second = self.hold("g", "2"), self.hold("g", "2")
        waiter = self.start("run", "-n", "g", "--", "true")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        late = self.run_kgate("drain", "-n", "g", "--timeout", "100ms")
        self.assertEqual(late.returncode, 124)
        self.assertIn("`kgate resume -n g`", late.stderr)
        draining = self.start("drain", "-n", "g")
        first.terminate()
        time.sleep(0.2)
        self.assertIsNone(draining.poll())
        second.send_signal(signal.SIGTERM)
        self.assertEqual(draining.wait(10), 0)
        self.assertIsNone(waiter.poll())
        self.assertEqual(len(self.gate("g")["waiters"]), 1)
        self.run_kgate("resume", "-n", "g")
        self.assertEqual(waiter.wait(10), 0)

    def test_a_gate_that_is_removed_meanwhile_was_not_drained(self):
        for words in (("drain",), ("wait",)):
            holder = self.hold("g")
            ending = self.start(*words, "-n", "g")
            time.sleep(0.2)
            self.assertEqual(self.run_kgate("remove", "-n", "g", "--force").returncode, 0)
            self.assertEqual(ending.wait(10), 121)
            self.assertEqual(ending.stderr.read(), "kgate: gate 'g' was removed while somebody was inside or waited\n")
            holder.terminate()
            holder.wait()
        # One that is not used any more was idle before it was removed.
        self.run_kgate("create", "-n", "g")
        self.run_kgate("wait", "-n", "g")

    def test_a_paused_gate_can_be_removed_and_mended(self):
        self.run_kgate("create", "-n", "g", "-k", "2")
        self.run_kgate("pause", "-n", "g")
        self.assertIn("in order: 0 inside, 0 waiting, 2 slots, paused", self.run_kgate("doctor").stdout)
        self.assertEqual(self.run_kgate("remove", "-n", "g").returncode, 0)


if __name__ == "__main__":
    main()
