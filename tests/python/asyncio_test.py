#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate on asyncio: order, cancellation, errors, and what ten thousand waiters cost.

usage: asyncio_test.py C_PROGRAM TOOL
"""
import asyncio
import gc
import os
import pickle
import shutil
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

FOLDER = C_PROGRAM = TOOL = ""


def gate(name, slots=0, **options):
    return kgate.Gate(name, slots, directory=FOLDER, **options)


def program(text):
    """A Python process of its own."""
    text = "import asyncio, kgate, os, sys, time\ndef gate(*a): return kgate.Gate(*a, directory=%r)\n" % FOLDER + textwrap.dedent(text)
    return subprocess.Popen([sys.executable, "-u", "-c", text], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


def eventually(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come about")
        time.sleep(0.005)


async def until(condition):
    for _ in range(12000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come about")


def spent(pid):
    """Threads of a process, clock ticks it has used, and how often any of its threads was put on a processor."""
    ticks = switches = threads = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        threads += 1
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
        switches += sum(int(line.split()[1]) for line in (task / "status").read_text().split("\n") if "ctxt_switches" in line)
    return threads, ticks, switches


class Gates(unittest.IsolatedAsyncioTestCase):
    async def test_entering_and_leaving(self):
        g = gate("simple", 2)
        async with g.enter_async() as slot, g.enter_async(timeout=60) as other:
            self.assertEqual({int(slot), int(other)}, {0, 1})
            self.assertEqual(g.status().free, 0)
            for timeout, weight in ((0, 1), (0.01, 1), (0.0125, 2)):  # in the same words as without asyncio
                with self.assertRaises(TimeoutError) as late:
                    await g.enter_async(weight=weight, timeout=timeout)
                with self.assertRaises(TimeoutError) as other_way:
                    g.enter(weight=weight, timeout=timeout)
                self.assertEqual(str(late.exception), str(other_way.exception))
                self.assertIn("gate 'simple': no ", str(late.exception))
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(g.enter_async().__aenter__(), 0.01)
        permit = await g.enter_async(weight=2)
        self.assertEqual(permit.slots, (0, 1))
        permit.release()
        self.assertEqual((g.status().free, g.status().waiters), (2, ()))

    async def test_wrong_limits_and_weights_are_refused_at_once(self):
        g, s = gate("wrong", 1), kgate.Semaphore(1)
        for call, number in ((g.enter_async, "weight"), (s.acquire_async, "permits")):
            for arguments, error in (({"timeout": float("nan")}, ValueError), ({"timeout": "1"}, TypeError), ({number: 0}, ValueError),
                                     ({number: -1}, ValueError), ({number: "1"}, TypeError), ({number: 1.5}, TypeError)):
                with self.assertRaises(error, msg=f"{call} {arguments}"):
                    call(**arguments)
            with self.assertRaisesRegex(TypeError, rf"takes its arguments by name: timeout=SECONDS.* {number}=N"):
                call(1)
        with self.assertRaises(kgate.BadSlots):
            await g.enter_async(weight=2**80)
        with self.assertRaises(kgate.TooHeavy):
            await s.acquire_async(permits=2**80)
        async with g.enter_async(), s:
            with self.assertRaises(kgate.TooHeavy):
                await s.acquire_async(permits=2)
            for call in (g.enter_async, s.acquire_async):
                with self.assertRaises(TimeoutError):
                    await call(timeout=-10**400)
        for limit in (float("inf"), 1e300, 2**70, 9e9, 10**400):
            async with g.enter_async(timeout=limit), s.acquire_async(timeout=limit):
                late = asyncio.ensure_future(asyncio.wait_for(g.enter_async(timeout=limit).__aenter__(), 0.01))
                with self.assertRaises(TimeoutError):
                    await late

    async def test_order(self):
        g = gate("order", 1)
        order = []

        async def work(i):
            async with g.enter_async():
                order.append(i)
                await asyncio.sleep(0)

        async with g.enter_async():
            tasks = [asyncio.create_task(work(i)) for i in range(100)]
            await asyncio.sleep(0.05)
            self.assertEqual(len(g.status().waiters), 1)  # the first of the queue stands for all
        await asyncio.gather(*tasks)
        self.assertEqual(order, list(range(100)))

    async def test_cancelled_tasks_leave_the_queue(self):
        g = gate("cancelled-tasks", 1)
        inside = await g.enter_async()
        order = []

        async def work(i):
            async with g.enter_async():
                order.append(i)

        tasks = [asyncio.create_task(work(i)) for i in range(6)]
        await until(lambda: g.status().waiters)
        for i in (0, 3, 5):  # the first waiter, one of the middle, the last
            tasks[i].cancel()
        inside.release()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        self.assertEqual([isinstance(e, asyncio.CancelledError) for e in ended], [i in (0, 3, 5) for i in range(6)])
        self.assertEqual(order, [1, 2, 4])
        self.assertEqual((g.status().free, g.status().waiters), (1, ()))

    async def test_cancelled_at_the_moment_of_the_grant(self):
        g = gate("at-the-moment", 1)
        for _ in range(200):
            inside = await g.enter_async()
            waiter = asyncio.create_task(g.enter_async().__aenter__())
            await asyncio.sleep(0)
            inside.release()
            await asyncio.sleep(0)
            waiter.cancel()
            try:
                (await waiter).release()
            except asyncio.CancelledError:
                pass
        await until(lambda: g.status().free == 1)
        self.assertEqual(g.status().waiters, ())

    async def test_all_cancelled_at_once(self):
        g = gate("all-at-once", 1)
        async with g.enter_async():
            tasks = [asyncio.create_task(g.enter_async(timeout=600).__aenter__()) for _ in range(1000)]
            await asyncio.sleep(0.05)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.assertEqual(g.status().waiters, ())
        async with g.enter_async(timeout=60):
            pass

    async def test_a_gate_is_entered_by_its_permit(self):
        g = gate("bare", 1)
        with self.assertRaisesRegex(TypeError, r"async with gate\.enter_async\(\)"):
            async with g:
                pass
        self.assertEqual(g.status().free, 1)

    async def test_errors(self):
        g = gate("errors", 2)
        for wrong in (0, -1):
            with self.assertRaises(ValueError):
                g.enter_async(weight=wrong)
        with self.assertRaises(kgate.BadSlots):
            await g.enter_async(weight=3)
        inside = await g.enter_async(weight=2)
        waits = [asyncio.create_task(g.enter_async().__aenter__()) for _ in range(3)]
        await until(lambda: g.status().waiters)
        subprocess.run([TOOL, "cancel", "-n", "errors", "-d", FOLDER, "--all"], check=True, timeout=60, stdout=subprocess.DEVNULL)
        with self.assertRaises(kgate.Cancelled):
            await waits[0]
        gate("errors").remove(force=True)
        for ended in await asyncio.gather(*waits[1:], return_exceptions=True):
            self.assertIsInstance(ended, (kgate.Removed, kgate.NotFound))
        inside.release()

    async def test_with_threads_and_other_languages(self):
        g = gate("mixed", 1)
        order = []

        def in_thread():
            with g.enter():
                order.append("thread")

        holder = subprocess.Popen([C_PROGRAM, "hold", "mixed"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "KGATE_DIR": FOLDER})
        self.assertEqual(holder.stdout.readline(), "0\n")
        first = asyncio.create_task(g.enter_async().__aenter__())
        await until(lambda: len(g.status().waiters) == 1)
        thread = threading.Thread(target=in_thread)
        thread.start()
        await until(lambda: len(g.status().waiters) == 2)
        holder.kill()
        holder.communicate()
        order.append("task")
        (await first).release()
        await asyncio.to_thread(thread.join)
        self.assertEqual(order, ["task", "thread"])
        self.assertEqual(g.status().free, 1)

    async def test_waiters_killed(self):
        g = gate("killed-tasks", 1)
        inside = await g.enter_async()
        other = program("""
            async def main():
                await asyncio.gather(*(gate('killed-tasks').enter_async().__aenter__() for _ in range(20)))
            asyncio.run(main())
        """)
        await until(lambda: len(g.status().waiters) == 20)
        other.kill()
        other.communicate()
        inside.release()
        async with g.enter_async(timeout=60):
            self.assertEqual(g.status().waiters, ())

    async def test_watched_processes_killed_one_after_another(self):
        """With a child of this process that has its descriptors, too."""
        g = gate("killed-in-turn", 2)
        holders = [program("p = gate('killed-in-turn').enter(); print('in'); time.sleep(600)") for _ in range(2)]
        for holder in holders:
            self.assertEqual(await asyncio.to_thread(holder.stdout.readline), "in\n")
        first = asyncio.create_task(g.enter_async(weight=2).__aenter__())
        await until(lambda: len(g.status().waiters) == 1)
        await asyncio.sleep(0.1)  # until it watches
        child = os.fork()
        if child == 0:
            signal.pause()
        for i, holder in enumerate(holders):
            holder.kill()
            await asyncio.to_thread(holder.communicate)
            await until(lambda: len(g.status().holders) == 1 - i or first.done())
            before = time.process_time()
            await asyncio.sleep(0.3)
            self.assertLess(time.process_time() - before, 0.2)  # nothing is readable for ever
        self.assertEqual((await first).slots, (0, 1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        first.result().release()

    async def test_a_child_has_no_queue_of_its_parent(self):
        g = gate("forked-line", 1)
        inside = await g.enter_async()
        waiter = asyncio.create_task(g.enter_async().__aenter__())
        await until(lambda: g.status().waiters)
        child = os.fork()
        if child == 0:
            os._exit(0 if g.try_enter() is None and len(g.status().waiters) == 1 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        inside.release()
        (await waiter).release()

    async def test_pickled_with_a_queue(self):
        g = gate("pickled-line", 1)
        async with g.enter_async():
            self.assertIsNone(pickle.loads(pickle.dumps(g)).try_enter())

    def test_a_loop_that_ends_leaves_nothing_behind(self):
        g = gate("ended-loop", 1)

        async def left_waiting():
            asyncio.create_task(g.enter_async().__aenter__())
            await until(lambda: g.status().waiters)

        with g.enter():
            asyncio.run(left_waiting())
            self.assertEqual(g.status().waiters, ())
        before = len(os.listdir("/proc/self/fd"))
        with g.enter():
            for _ in range(5):
                asyncio.run(left_waiting())
        gc.collect()
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), before + 1)

    def test_keyboard_interrupt(self):
        g = gate("interrupted-loop", 1)
        with g.enter():
            other = program("""
                async def main():
                    async with gate("interrupted-loop").enter_async():
                        print("inside")
                try:
                    asyncio.run(main())
                except KeyboardInterrupt:
                    print("interrupted")
            """)
            eventually(lambda: g.status().waiters)
            other.send_signal(signal.SIGINT)
            self.assertEqual(other.communicate(timeout=60)[0], "interrupted\n")
            self.assertEqual(g.status().waiters, ())


class Semaphores(unittest.IsolatedAsyncioTestCase):
    async def test_like_asyncio_s_own(self):
        s = kgate.Semaphore(2)
        async with s, s.acquire_async():
            self.assertEqual(s.available, 0)
            with self.assertRaisesRegex(TimeoutError, r"^semaphore: 1 permit not free within 10 ms \(0 of 2 free, 0 waiting\); wait longer, "):
                await s.acquire_async(timeout=0.01)
            with self.assertRaises(TimeoutError):
                await s.acquire_async(timeout=0)
        await s.acquire_async(permits=2)
        s.release(2)
        with self.assertRaises(kgate.TooHeavy):
            await s.acquire_async(permits=3)
        with self.assertRaises(ValueError):
            s.acquire_async(permits=0)
        self.assertEqual((s.available, s.waiters), (2, 0))

    async def test_order_cancellation_and_threads(self):
        s = kgate.Semaphore(1)
        order = []

        async def work(i):
            async with s:
                order.append(i)

        s.acquire()
        tasks = [asyncio.create_task(work(i)) for i in range(10)]
        await until(lambda: s.waiters)
        for i in (0, 4, 9):
            tasks[i].cancel()
        await asyncio.sleep(0)
        threading.Timer(0.02, s.release).start()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.assertEqual(order, [1, 2, 3, 5, 6, 7, 8])
        self.assertEqual((s.available, s.waiters), (1, 0))

    async def test_closed(self):
        s = kgate.Semaphore(1)
        s.acquire()
        tasks = [asyncio.create_task(s.acquire_async().__aenter__()) for _ in range(3)]
        await until(lambda: s.waiters)
        s.close()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            self.assertIsInstance(ended, kgate.Closed)
        s.release()

    async def test_cancelled_at_the_moment_of_the_grant(self):
        s = kgate.Semaphore(1)
        for _ in range(200):
            await s.acquire_async()
            waiter = asyncio.create_task(s.acquire_async().__aenter__())
            await asyncio.sleep(0)
            s.release()
            await asyncio.sleep(0)
            waiter.cancel()
            try:
                await waiter
                s.release()
            except asyncio.CancelledError:
                pass
        await until(lambda: s.available == 1)


class TenThousand(unittest.TestCase):
    """What ten thousand tasks that wait cost, counted from outside while nothing happens."""

    COUNT = 10000
    TEXT = """
        async def main():
            {made}
            order = []
            async def work(i):
                async with enter():
                    order.append(i)
            tasks = [asyncio.create_task(work(i)) for i in range({count})]
            await asyncio.sleep(0.2)
            print("waiting")
            readable = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().add_reader(0, readable.set_result, None)
            await readable
            asyncio.get_running_loop().remove_reader(0)
            {opened}
            await asyncio.gather(*tasks)
            print("in order" if order == list(range({count})) else "out of order")
        asyncio.run(main())
    """

    def cost(self, made, opened, open_from_outside=lambda: None):
        """At most one thread besides the loop's own, and no processor time."""
        other = program(self.TEXT.format(made=made, opened=opened, count=self.COUNT))
        self.assertEqual(other.stdout.readline(), "waiting\n")
        time.sleep(0.5)  # whatever still follows from the last task's start
        threads, ticks, switches = spent(other.pid)
        time.sleep(2)
        later = spent(other.pid)
        extra = max(threads, later[0]) - 1
        self.assertLessEqual(extra, 1)
        self.assertEqual(later[1] - ticks, 0)
        self.assertLessEqual(later[2] - switches, 4)
        open_from_outside()
        self.assertEqual(other.communicate("go on\n", timeout=120)[0], "in order\n")

    def test_at_a_gate(self):
        g = gate("ten-thousand", 1)
        self.cost("g = gate('ten-thousand'); enter = g.enter_async; inside = g.enter()", "inside.release()")
        self.assertEqual((g.status().free, g.status().waiters), (1, ()))

    def test_at_a_gate_that_another_process_holds(self):
        """Which is watched, for it may die; as it does."""
        g = gate("ten-thousand-watch", 1)
        holder = subprocess.Popen([C_PROGRAM, "hold", "ten-thousand-watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "KGATE_DIR": FOLDER})
        self.assertEqual(holder.stdout.readline(), "0\n")

        def kill():
            holder.kill()
            holder.communicate()

        self.cost("g = gate('ten-thousand-watch'); enter = g.enter_async", "", kill)
        self.assertEqual((g.status().free, g.status().waiters), (1, ()))

    def test_at_a_semaphore(self):
        self.cost("s = kgate.Semaphore(1); enter = s.acquire_async; s.acquire()", "s.release()")


if __name__ == "__main__":
    C_PROGRAM, TOOL = sys.argv.pop(1), sys.argv.pop(1)
    FOLDER = tempfile.mkdtemp(prefix="kgate-asyncio-")
    try:
        unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False).result.wasSuccessful() or sys.exit(1)
    finally:
        shutil.rmtree(FOLDER)
