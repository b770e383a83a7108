#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Use that nobody meant: numbers beyond every register, objects closed under others, handlers of signals that use the gate one waits at,
fork in the middle of everything, programs that end while their threads wait.

usage: hostile_test.py, with the package on PYTHONPATH
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import kgate

FOLDER = ""


def gate(name, slots=0, **options):
    return kgate.Gate(name, slots, directory=FOLDER, **options)


def eventually(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not in time")
        time.sleep(0.002)


class Arguments(unittest.TestCase):
    def test_numbers_beyond_every_register(self):
        """Are refused by the documented errors, or are for ever; never by what the conversion happens to raise."""
        g, s, huge = gate("huge", 1), kgate.Semaphore(1), 2**80
        for wrong in (lambda: g.enter(weight=huge), lambda: g.try_enter(weight=huge), lambda: g.enter(weight=2**31), lambda: g.resize(huge), lambda: g.resize(-huge),
                      lambda: gate("huge", huge), lambda: gate("huge", 10**5000)):
            with self.assertRaises(kgate.BadSlots):
                wrong()
        for wrong in (lambda: g.enter(weight=-huge), lambda: kgate.Semaphore(huge), lambda: kgate.Semaphore(-huge), lambda: s.resize(huge), lambda: s.resize(-huge),
                      lambda: s.release(huge), lambda: s.release(-huge), lambda: s.acquire(permits=-huge), lambda: gate("huge", 1, mode=huge),
                      lambda: gate("huge", 1, group=huge), lambda: gate("huge", 1, overtake=huge)):
            with self.assertRaises(ValueError):
                wrong()
        for permits in (2, 2**31 - 1, 2**31, huge):
            with self.assertRaises(kgate.TooHeavy):
                s.acquire(permits=permits)
        self.assertEqual((g.slots, s.permits, s.available), (1, 1, 1))
        for limit in (huge, 10**400):
            with g.enter(timeout=limit), s:
                self.assertFalse(s.acquire(timeout=-limit))
                self.assertIsNone(g.try_enter(timeout=-limit))
            self.assertTrue(s.acquire(timeout=limit))
            s.release()

    def test_objects_that_act_when_they_are_looked_at(self):
        g, s = gate("acts", 1), kgate.Semaphore(1)

        class Closes:
            def __index__(self):
                g.close()
                return 1

            def __float__(self):
                g.close()
                return 1.0

        class Refuses:
            def __index__(self):
                raise LookupError("no number")

            __float__ = __index__

        for enter in (g.enter, g.try_enter):
            with enter(weight=Closes(), timeout=Closes()) as slot:
                self.assertEqual(slot, 0)
            for arguments in ({"weight": Refuses()}, {"timeout": Refuses()}):
                with self.assertRaises(LookupError):
                    enter(**arguments)
        g.resize(Closes())
        for wrong in (lambda: g.resize(Refuses()), lambda: gate("acts", Refuses()), lambda: s.acquire(permits=Refuses()), lambda: s.acquire(timeout=Refuses()),
                      lambda: s.release(Refuses()), lambda: s.resize(Refuses()), lambda: kgate.Semaphore(Refuses()), lambda: g.enter_async(weight=Refuses()),
                      lambda: g.enter_async(timeout=Refuses())):
            with self.assertRaises(LookupError):
                wrong()

        class MakesItFirst:
            def __index__(self):
                half.__init__(2)
                return 1

        half = kgate.Semaphore.__new__(kgate.Semaphore)
        with self.assertRaises(TypeError):
            half.__init__(MakesItFirst())
        self.assertEqual(half.permits, 2)

    def test_nothing_else_is_taken_for_a_number(self):
        g, s = gate("types", 1), kgate.Semaphore(1)
        for thing in (1.5, "1", b"1", None, [], {}, object(), 1j, float("nan"), float("inf")):
            for wrong in (lambda: g.enter(weight=thing), lambda: g.try_enter(weight=thing), lambda: g.resize(thing), lambda: gate("types", thing), lambda: s.resize(thing),
                          lambda: s.acquire(permits=thing), lambda: s.release(thing), lambda: kgate.Semaphore(thing), lambda: g.enter_async(weight=thing)):
                with self.assertRaises(TypeError, msg=repr(thing)):
                    wrong()
        for thing in ("1", b"1", [], {}, object(), 1j):
            for wrong in (lambda: g.enter(timeout=thing), lambda: g.try_enter(timeout=thing), lambda: s.acquire(timeout=thing),
                          lambda: g.enter_async(timeout=thing), lambda: s.acquire_async(timeout=thing)):
                with self.assertRaises(TypeError, msg=repr(thing)):
                    wrong()


class Threads(unittest.TestCase):
    def test_closed_while_another_thread_uses_it(self):
        """status() runs without the interpreter lock: what it looks at stays until it is done."""
        g, over, wrong = gate("closing", 1), threading.Event(), []

        def look():
            while not over.is_set():
                try:
                    g.status()
                except BaseException as error:
                    wrong.append(error)
                    return

        threads = [threading.Thread(target=look) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(3000):
            g.close()
        over.set()
        for t in threads:
            t.join(30)
        self.assertEqual(wrong, [])

    def test_a_permit_released_by_all_at_once_is_released_once(self):
        g = gate("once", 1)
        for _ in range(200):
            permit, start = g.enter(), threading.Barrier(3)

            def release():
                start.wait()
                permit.release()

            threads = [threading.Thread(target=release) for _ in range(3)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(30)
            self.assertEqual(g.status().free, 1)

    def test_a_gate_that_everybody_forgets_while_one_waits(self):
        permit = gate("forgotten", 1).enter()
        got = []

        def wait():
            with gate("forgotten").enter(timeout=60) as slot:  # no other name refers to this object
                got.append(int(slot))

        waiter = threading.Thread(target=wait)
        waiter.start()
        eventually(lambda: len(gate("forgotten").status().waiters) == 1)
        permit.release()
        waiter.join(30)
        self.assertEqual(got, [0])

    def test_a_program_ends_while_its_threads_wait(self):
        """Daemon threads that wait are no reason to stay, or to crash: at a gate, at a semaphore, on asyncio."""
        text = """
            import asyncio, sys, threading, time, kgate
            g, s = kgate.Gate("ends", 1, directory=sys.argv[1]), kgate.Semaphore(1)
            permit, _ = g.enter(), s.acquire()
            async def task():
                await g.enter_async()
            waits = [g.enter, s.acquire, lambda: g.enter(timeout=1000), lambda: s.acquire(timeout=1000), lambda: asyncio.run(task())]
            for wait in waits:
                threading.Thread(target=wait, daemon=True).start()
            while len(g.status().waiters) < 3 or s.waiters < 2:
                time.sleep(0.01)
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text), FOLDER], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(gate("ends").status().free, 1)


class Handlers(unittest.TestCase):
    """Handlers of signals run while the main thread waits, and may use what it waits for."""

    def during_a_wait(self, handler, wait):
        before = signal.signal(signal.SIGUSR1, lambda *_: handler())
        timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        try:
            return wait()
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, before)

    def test_that_lets_the_waiter_in(self):
        g, s = gate("handler", 1), kgate.Semaphore(1)
        permit = g.enter()
        with self.during_a_wait(permit.release, lambda: g.enter(timeout=60)) as slot:
            self.assertEqual(slot, 0)
        s.acquire()
        self.assertTrue(self.during_a_wait(s.release, lambda: s.acquire(timeout=60)))

    def test_that_uses_the_same_gate(self):
        g, seen = gate("uses", 2), []
        first, second = g.enter(), g.enter()
        self.assertEqual((first.slot, second.slot), (0, 1))

        def use():
            seen.append(g.try_enter())
            seen.append(len(g.status().waiters))
            try:
                g.enter(timeout=0.01)
            except TimeoutError:
                seen.append("late")
            g.close()
            g.resize(3)

        with self.during_a_wait(use, lambda: g.enter(timeout=60)) as slot:
            self.assertEqual(slot, 2)
        self.assertEqual(seen, [None, 1, "late"])
        first.release()
        second.release()

    def test_that_removes_the_gate(self):
        g = gate("removes", 1)
        permit = g.enter()
        with self.assertRaises(kgate.Removed):
            self.during_a_wait(lambda: g.remove(force=True), lambda: g.enter(timeout=60))
        permit.release()

    def test_that_closes_the_semaphore(self):
        s = kgate.Semaphore(1)
        s.acquire()
        with self.assertRaises(kgate.Closed):
            self.during_a_wait(s.close, lambda: s.acquire(timeout=60))

    def test_that_forks(self):
        """The child is in the middle of its parent's wait: it ends it by an exception, and uses the gate for itself."""
        g = gate("forks", 1)
        permit, children = g.enter(), []

        def fork():
            child = os.fork()
            if child == 0:
                os._exit(0 if gate("forks").try_enter() is None and g.try_enter() is None else 1)
            children.append(child)
            permit.release()

        with self.during_a_wait(fork, lambda: g.enter(timeout=60)):
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]), 0)


class Forks(unittest.TestCase):
    def test_while_threads_do_everything(self):
        """Children of a process whose threads enter, wait, look and close all the time can use the gate, and end."""
        g, s, over, wrong = gate("busy", 2), kgate.Semaphore(1), threading.Event(), []

        def pass_through():
            while not over.is_set():
                try:
                    with g.enter(timeout=60), s:
                        pass
                    if (permit := g.try_enter()) is not None:
                        permit.release()
                    g.status()
                except BaseException as error:
                    wrong.append(error)
                    return

        def close():
            while not over.is_set():
                g.close()
                time.sleep(0.001)

        threads = [threading.Thread(target=pass_through) for _ in range(4)] + [threading.Thread(target=close)]
        for t in threads:
            t.start()
        try:
            for _ in range(60):
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        signal.alarm(60)
                        with g.enter(timeout=50) as slot:
                            code = 0 if 0 <= slot < 2 and g.status().slots == 2 else 2
                        with kgate.Semaphore(1), gate("busy").enter(timeout=50):
                            pass
                        g.close()
                    except BaseException:
                        code = 3
                    os._exit(code)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        finally:
            over.set()
            for t in threads:
                t.join(60)
        self.assertEqual(wrong, [])
        self.assertEqual(g.status().free, 2)


if __name__ == "__main__":
    FOLDER = tempfile.mkdtemp(prefix="kgate-hostile-")
    try:
        unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False, failfast=False).result.wasSuccessful() or sys.exit(1)
    finally:
        shutil.rmtree(FOLDER)
