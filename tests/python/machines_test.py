#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gates between machines from Python, on a throw-away ensemble; and what is said where their compiled part is missing.

usage: machines_test.py ENSEMBLE
"""
import asyncio
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path

import kgate

ENSEMBLE = ""


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come about")
        time.sleep(0.02)


class Machines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.servers = subprocess.Popen([ENSEMBLE, "1", cls.folder.name + "/servers"], stdout=subprocess.PIPE, text=True)
        cls.on = cls.servers.stdout.readline().strip() + "/python?session=4s"

    @classmethod
    def tearDownClass(cls):
        cls.servers.terminate()
        cls.servers.communicate()
        cls.folder.cleanup()

    def gate(self, name, slots=0):
        return kgate.Gate(name, slots, on=self.on)

    def test_entering_and_leaving(self):
        g = self.gate("simple", 2)
        self.assertEqual((g.name, g.slots, g.on, repr(g)), ("simple", 2, self.on, "kgate.Gate('simple')"))
        self.assertIs(type(g), kgate.ClusterGate)
        with g.enter(timeout=60) as slot:
            self.assertIs(type(slot), kgate.ClusterPermit)
            self.assertEqual((+slot, abs(slot), slot.__index__()), (0, 0, 0))
            self.assertEqual((int(slot), slot.slot, f"{slot}", ["a", "b"][slot], slot.lost, slot.released), (0, 0, "0", "a", False, False))
            with g.enter() as other:
                self.assertEqual(other.slots, (1,))
                self.assertGreater(other.token, slot.token)
                self.assertIsNone(g.try_enter())
                with self.assertRaises(TimeoutError) as late:
                    g.enter(timeout=0.05)
                self.assertEqual(str(late.exception), "gate 'simple': no slot within 50 ms; wait longer, or see who is inside: "
                                                      f"kgate status -n simple --on {self.on}")
                self.assertTrue(slot == 0 and other == 1 and slot and slot < 1 and {0: 1}[slot] and slot != other and other == other)
                self.assertEqual((7000 + other, other * 2, 1 << other, 3 - other, f"{other:02d}", float(other), -other, other & 3, divmod(5, other)),
                                 (7001, 2, 2, 2, "01", 1.0, -1, 1, (5, 0)))
                self.assertEqual([(p.process, p.slot) for p in g.status().holders], [(os.getpid(), 0), (os.getpid(), 1)])
                with self.assertRaises(kgate.InUse):
                    g.remove()
        self.assertFalse(slot.release())
        self.assertTrue(slot.released)
        with self.assertRaises(ValueError):
            slot.slot
        self.assertIsNone(g.directory)
        g.close()  # and opened anew
        g.resize(3)
        with g.enter(weight=3) as three:
            self.assertEqual(three.slots, (0, 1, 2))
        with self.assertRaises(kgate.BadSlots):
            g.enter(weight=4)
        with self.assertRaises(ValueError):
            g.enter(weight=0)
        for enter in g.enter, g.try_enter:
            with self.assertRaisesRegex(TypeError, "takes its arguments by name"):
                enter(3)
        with g.enter(weight=2):
            g.resize(1)
            self.assertEqual((g.status().free, g.status().over), (0, 1))
            g.resize(3)
        self.assertEqual(pickle.loads(pickle.dumps(g)).slots, 3)
        g.remove()
        with self.assertRaises(kgate.NotFound):
            self.gate("simple")

    def test_errors(self):
        with self.assertRaises(kgate.BadName):
            self.gate("no/name", 1)
        with self.assertRaises(kgate.Unreachable):
            kgate.Gate("x", 1, on="zk://127.0.0.1:1?session=2s").enter()
        with self.assertRaises(TypeError):
            kgate.Gate("x", 1, on=self.on, mode=0o660)
        with self.assertRaises(kgate.Error):
            kgate.Gate("x", 1, on="http://elsewhere")
        g = self.gate("numbers", 1)
        for wrong in (lambda: g.enter(weight=2**80), lambda: g.resize(2**80), lambda: g.resize(-1), lambda: self.gate("numbers", 2**80)):
            with self.assertRaises(kgate.BadSlots):
                wrong()
        with g.enter(timeout=10**400):
            self.assertIsNone(g.try_enter(timeout=-10**400))
            with self.assertRaisesRegex(kgate.InUse, r"in use \(1 inside, 0 waiting\); .*kgate status -n numbers --on"):
                g.remove()

    def test_never_opened(self):
        half = kgate.ClusterGate.__new__(kgate.ClusterGate)
        for wrong in (half.enter, half.status, half.remove, lambda: half.slots, lambda: half.name, lambda: half.resize(1), lambda: pickle.dumps(half)):
            with self.assertRaises(ValueError):
                wrong()
        half.close()
        self.assertEqual(repr(half), "<kgate.Gate, never opened>")

    def test_order_of_threads_and_decorator(self):
        g = self.gate("threads", 1)
        order, threads = [], []

        def work(i):
            with g.enter():
                order.append(i)

        with g.enter():
            for i in range(4):
                threads.append(threading.Thread(target=work, args=(i,)))
                threads[-1].start()
                until(lambda: len(g.status().waiters) == i + 1)
        for thread in threads:
            thread.join(60)
        self.assertEqual(order, [0, 1, 2, 3])
        self.assertEqual(g.limit()(lambda: g.status().free)(), 0)

    def test_asyncio(self):
        g = self.gate("tasks", 1)
        order = []

        async def work(i):
            async with g.enter_async(timeout=60):
                order.append(i)

        async def main():
            inside = await g.enter_async()
            tasks = [asyncio.create_task(work(i)) for i in range(10)]
            await asyncio.sleep(0.2)
            self.assertLessEqual(len(g.status().waiters), 1)
            for i in (0, 5):
                tasks[i].cancel()
            inside.release()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run(main())
        self.assertEqual(order, [1, 2, 3, 4, 6, 7, 8, 9])
        until(lambda: (g.status().free, g.status().waiters) == (1, ()))

    def test_by_the_environment_killed_and_interrupted(self):
        g = self.gate("others", 1)
        text = textwrap.dedent("""
            import kgate
            try:
                with kgate.Gate("others").enter() as slot:
                    print("in", flush=True)
                    input()
            except KeyboardInterrupt:
                print("interrupted")
        """)

        def other():
            return subprocess.Popen([sys.executable, "-c", text], env={**os.environ, "KGATE_ON": self.on}, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)

        holder = other()
        self.assertEqual(holder.stdout.readline(), "in\n")
        waiter = other()
        until(lambda: g.status().waiters)
        waiter.send_signal(signal.SIGINT)
        self.assertEqual(waiter.communicate(timeout=60)[0], "interrupted\n")
        holder.kill()
        holder.communicate()
        with g.enter(timeout=60):  # when the session of the dead one has expired
            self.assertEqual(len(g.status().holders), 1)

    def test_a_lost_session(self):
        """The servers stand still for longer than a session lasts."""
        g = self.gate("lost", 1)
        permit, other = g.enter(), self.gate("lost")
        ended = []

        def wait():
            try:
                ended.append(other.enter(timeout=600))
            except kgate.Error as error:
                ended.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: g.status().waiters)
        servers = [int(p) for p in Path(f"/proc/{self.servers.pid}/task/{self.servers.pid}/children").read_text().split()]
        for process in servers:
            os.kill(process, signal.SIGSTOP)
        try:
            self.assertEqual(select.select([permit], [], [], 0)[0], [])
            self.assertEqual(select.select([permit.fileno()], [], [], 60)[0], [permit.fileno()])
            self.assertTrue(permit.lost)
            until(lambda: ended)
        finally:
            for process in servers:
                os.kill(process, signal.SIGCONT)
        thread.join()
        self.assertIsInstance(ended[0], kgate.Lost)
        self.assertFalse(permit.release())
        with self.gate("lost").enter(timeout=60) as again:
            self.assertFalse(again.lost)

    def test_fork(self):
        g = self.gate("forked", 1)
        permit = g.enter()
        child = os.fork()
        if child == 0:
            ok = g.try_enter() is None and permit.release() is False
            os._exit(0 if ok and g.try_enter() is None else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(permit.release())


class Missing(unittest.TestCase):
    def test_its_classes_are_there_without_the_compiled_part(self):
        """So that a program can ask what it has; nothing but their use loads them."""
        text = ("import sys; sys.modules['kgate._cluster'] = None\nimport kgate\nassert 'kgate._machines' not in sys.modules\n"
                "assert not isinstance(kgate.Gate, kgate.ClusterGate) and issubclass(kgate.ClusterGate, kgate.Gate) and kgate.ClusterPermit\n"
                "try:\n    kgate.ClusterGates\nexcept AttributeError as error:\n    print(error)\n")
        output = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
        self.assertIn("'kgate' has no attribute 'ClusterGates'", output)

    def test_a_clear_error_without_the_compiled_part(self):
        text = ("import sys; sys.modules['kgate._cluster'] = None\nimport kgate\n"
                "try:\n    kgate.Gate('x', 1, on='zk://127.0.0.1')\nexcept kgate.Error as error:\n    print(error)\n")
        output = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
        self.assertIn("install kgate-cluster", output)

    def test_an_empty_address_is_no_gate_of_this_machine(self):
        """Each host would have one of its own."""
        with self.assertRaisesRegex(ValueError, "is empty$"):
            kgate.Gate("nowhere", 1, on="")
        os.environ["KGATE_ON"] = ""
        try:
            with self.assertRaisesRegex(ValueError, "is empty; unset KGATE_ON"):
                kgate.Gate("nowhere", 1)
        finally:
            del os.environ["KGATE_ON"]


if __name__ == "__main__":
    ENSEMBLE = sys.argv.pop(1)
    if not os.path.exists("/usr/share/java/zookeeper.jar"):
        print("no servers to be had")
        sys.exit(77)
    os.environ.pop("KGATE_ON", None)
    unittest.main(argv=[sys.argv[0], "-v"])
