#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as its users meet it: every call and error, threads, fork, spawn, signals, and killed processes.

usage: package_test.py C_PROGRAM TOOL, with the package on PYTHONPATH
"""
import concurrent.futures
import gc
import multiprocessing
import os
import pickle
import re
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

FOLDER, C_PROGRAM, TOOL = "", "", ""


def gate(name, slots=0, **options):
    return kgate.Gate(name, slots, directory=FOLDER, **options)


def eventually(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not in time")
        time.sleep(0.002)


def program(text, *arguments, stdin=None):
    """Another Python process with `gate(name, slots)` at hand; its output is a pipe."""
    head = f"import kgate, sys, time, os, signal, threading\ndef gate(n, k=0): return kgate.Gate(n, k, directory={FOLDER!r})\n"
    return subprocess.Popen([sys.executable, "-u", "-c", head + textwrap.dedent(text), *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, stdin=stdin, text=True)


# For processes that are made by spawn these must be found by name.
def enter_and_report(g, queue):
    with g.enter() as slot:
        queue.put((os.getpid(), int(slot)))
        time.sleep(0.01)


def try_from_child(g, queue):
    queue.put(g.try_enter() is None)


class Special(kgate.Gate):
    pass


def count_inside(arguments):
    name, folder = arguments
    g = kgate.Gate(name, directory=folder)
    with g.enter() as slot:
        flag = Path(folder, f"inside-{int(slot)}")
        alone = not flag.exists()
        flag.touch()
        time.sleep(0.001)
        flag.unlink()
    return alone


class Gates(unittest.TestCase):
    def test_passage(self):
        g = gate("passage", 2)
        self.assertEqual((g.name, g.slots, repr(g)), ("passage", 2, "kgate.Gate('passage')"))
        with g.enter(timeout=60) as slot:
            self.assertEqual((int(slot), slot.slot, f"{slot}", slot.slots), (0, 0, "0", (0,)))
            self.assertEqual(["a", "b"][slot], "a")
            self.assertFalse(slot.released)
            with g.enter() as other:
                self.assertEqual(other.slot, 1)
                first = slot.token
                self.assertGreater(other.token, first)
                self.assertIsNone(g.try_enter())
                with self.assertRaises(TimeoutError):
                    g.enter(timeout=0.001)
        self.assertTrue(slot.released)
        slot.release()
        self.assertIn("released", repr(slot))
        for use in (lambda: slot.slot, lambda: slot.token, lambda: slot.slots, lambda: int(slot), lambda: slot.__enter__()):
            with self.assertRaises(ValueError):
                use()

    def test_a_permit_is_its_slot_where_a_number_can_stand(self):
        g = gate("number", 3)
        first = g.enter()
        self.assertEqual(first, 0)
        slot = g.enter()
        self.assertTrue(slot == 1 and 1 == slot and slot != 0 and not slot == 0 and slot == 1.0 and slot != "1" and slot is not None)
        self.assertTrue(slot < 2 and slot > 0 and 1 <= slot and slot >= 1 and not 0 > slot)
        self.assertTrue(first)  # also with slot 0: `if permit := gate.try_enter()`
        self.assertEqual((f"{slot}", f"{slot:02d}", "%d" % slot, str(slot), f"{slot:>3}"), ("1", "01", "1", "1", "  1"))
        self.assertEqual(({0: "a", 1: "b"}[slot], ["a", "b"][slot], slot in (0, 1), hash(slot)), ("b", "b", True, hash(1)))
        self.assertEqual((7000 + slot, slot + 1, 5 - slot, slot * 4, slot // 2, 3 % (slot + 1), 1 << slot, slot >> 1, slot / 2, float(slot)),
                         (7001, 2, 4, 4, 0, 1, 2, 0, 0.5, 1.0))
        self.assertEqual((slot & 3, 4 | slot, slot ^ 1, -slot, +slot, abs(slot), "ab" * slot), (1, 5, 0, -1, 1, 1, "ab"))
        self.assertEqual((divmod(7, slot), divmod(slot, 2), slot + first, list(range(4))[slot:]), ((7, 0), (0, 1), 1, [1, 2, 3]))
        for wrong in (lambda: slot + "a", lambda: slot < "a", lambda: slot < first, lambda: slot // first, lambda: pickle.dumps(slot)):
            with self.assertRaises((TypeError, ZeroDivisionError)):
                wrong()
        # Permits are equal to themselves alone, and can be kept in sets, also after their end.
        with gate("number-too", 2).enter() as other:
            self.assertTrue(other == 0 and first == 0 and other != first and first == first)
            kept = {first, other}
            self.assertEqual(len(kept), 2)
        slot.release()
        self.assertIn(first, kept)
        self.assertIn(other, kept)
        self.assertTrue(slot == 1 and hash(slot) == hash(1))
        for use in (lambda: slot < 2, lambda: slot + 1, lambda: f"{slot}", lambda: [0, 1][slot]):
            with self.assertRaisesRegex(ValueError, "released"):
                use()
        never = g.enter()
        never.release()  # its slot was never requested
        self.assertFalse(never == 0 or never == 1 or never == 2)
        self.assertIn(never, {never})

    def test_the_error_of_a_late_call_says_where_and_what_to_do(self):
        g = gate("late", 2)
        with g.enter():
            for weight, timeout, text in ((1, 0, "no slot now"), (1, 0.02, "no slot within 20 ms"), (2, 0.0015, "no 2 slots at once within 1.5 ms")):
                with g.enter(), self.assertRaises(TimeoutError) as late:
                    g.enter(weight=weight, timeout=timeout)
                self.assertEqual(str(late.exception),
                                 f"gate 'late': {text}; wait longer, or see who is inside: kgate status -n late -d {FOLDER}")
        command = str(late.exception).rpartition("kgate ")[2].split()
        self.assertIn("late", subprocess.run([TOOL, *command], check=True, capture_output=True, text=True).stdout)

    def test_an_exception_leaves(self):
        g = gate("exception", 1)
        with self.assertRaises(KeyError), g.enter():
            raise KeyError
        self.assertEqual(g.status().free, 1)

    def test_a_forgotten_permit_leaves(self):
        g = gate("forgotten", 1)
        permit = g.enter()
        self.assertEqual(g.status().free, 0)
        del permit
        gc.collect()
        self.assertEqual(g.status().free, 1)

    def test_a_permit_outlives_its_gate(self):
        permit = gate("outlives", 1).enter()
        self.assertEqual(permit.slot, 0)
        permit.release()
        g = gate("outlives")
        inside = g.enter()
        g.close()
        self.assertEqual(gate("outlives").status().free, 0)
        inside.release()
        self.assertEqual(g.status().free, 1)

    def test_weight_and_resize(self):
        g = gate("weight", 4)
        with g.enter(weight=3) as heavy:
            self.assertEqual(heavy.slots, (0, 1, 2))
            self.assertIsNone(g.try_enter(weight=2))
            self.assertIsNone(g.try_enter(weight=2, timeout=0.001))
            g.resize(5)
            with g.enter(weight=2, timeout=1.0) as two:
                self.assertEqual(two.slots, (3, 4))
        self.assertEqual(g.slots, 5)
        with self.assertRaises(kgate.BadSlots):
            g.enter(weight=6)
        with self.assertRaises(kgate.BadSlots):
            g.resize(0)
        with g.enter(weight=3):
            self.assertEqual((g.status().free, g.status().over), (2, 0))
            g.resize(1)
            self.assertEqual((g.status().free, g.status().over), (0, 2))
        self.assertEqual((g.status().free, g.status().over), (1, 0))

    def test_status(self):
        g = gate("status", 1, command="a command")
        permit = g.enter()
        waiter = program("gate('status').enter()")
        eventually(lambda: g.status().waiters)
        status = g.status()
        self.assertEqual((status.slots, status.free, len(status.holders)), (1, 0, 1))
        holder, waiting = status.holders[0], status.waiters[0]
        self.assertEqual({type(holder), type(waiting), type(status)}, {kgate.Participant, kgate.Status})
        self.assertEqual((holder.process, holder.command, holder.position), (os.getpid(), "a command", None))
        self.assertEqual((waiting.process, waiting.position, waiting.slot), (waiter.pid, 1, None))
        self.assertEqual((holder.user, holder.weight, holder.host, waiting.host), (os.getuid(), 1, os.uname().nodename, holder.host))
        self.assertLess(abs(time.time() - holder.since.timestamp()), 600)
        permit.release()
        self.assertEqual(waiter.wait(30), 0, waiter.communicate())

    def test_errors(self):
        for wrong, error in ((lambda: gate("a/b", 1), kgate.BadName), (lambda: gate("errors", 5000), kgate.BadSlots),
                             (lambda: gate("absent"), kgate.NotFound), (lambda: gate("errors", -1), kgate.Error),
                             (lambda: gate(3, 1), TypeError), (lambda: gate("errors", 1, mode="x"), TypeError),
                             (lambda: gate("errors", 1, command=3), TypeError), (lambda: kgate.Gate(), TypeError),
                             (lambda: kgate.Gate("x", 1, directory="/nowhere/at/all"), kgate.Error)):
            with self.assertRaises(error):
                wrong()
        for wrong, error, text in ((lambda: gate("errors", -1), kgate.BadSlots, "1 to 4095"), (lambda: gate("errors", "3"), TypeError, "integer"),
                                   (lambda: kgate.Semaphore(0), ValueError, "^permits must be 1 to .*, not 0$")):
            with self.assertRaisesRegex(error, text):
                wrong()
        g = gate("errors", 1)
        with self.assertRaises(kgate.WrongSlots) as wrong:
            gate("errors", 2)
        self.assertIsInstance(wrong.exception, ValueError)
        self.assertGreater(len(str(wrong.exception)), 10)
        for wrong in (lambda: g.enter(weight=0), lambda: g.enter(weight=-1), lambda: g.enter(timeout=float("nan"))):
            with self.assertRaises(ValueError):
                wrong()
        for wrong in (lambda: g.enter(weight="1"), lambda: g.enter(timeout="1"), lambda: g.enter(wait=1), lambda: g.resize("2"), lambda: kgate.Permit()):
            with self.assertRaises(TypeError):
                wrong()
        # A number alone could be meant as seconds or as slots.
        for enter, name in ((g.enter, "enter"), (g.try_enter, "try_enter"), (g.enter_async, "enter_async"), (g.limit, "limit")):
            with self.assertRaises(TypeError) as raised:
                enter(1)
            self.assertEqual(str(raised.exception), f"{name}() takes its arguments by name: timeout=SECONDS to wait no longer, weight=N for N slots at once")
        with self.assertRaisesRegex(TypeError, r"^write @gate\.limit\(\), with parentheses$"):
            g.limit(print)
        with g.enter(), self.assertRaisesRegex(kgate.InUse, rf"in use \(1 inside, 0 waiting; process {os.getpid()} is one .*kgate status -n errors"):
            g.remove()
        Path(FOLDER, "foreign.gate").write_text("something else")
        with self.assertRaises(kgate.NotAGate):
            gate("foreign", 1)
        with g.enter(timeout=float("inf")), self.assertRaises(TimeoutError):
            g.enter(timeout=-5)
        g.resize(2)
        self.assertEqual(gate("errors", 7).slots, 2)  # resized: what it was created with no longer matters

    def test_what_is_not_checked_elsewhere_is_checked_here(self):
        for name in ("nu\0other", "\ud800", "\u00fc"):
            with self.assertRaises(kgate.BadName):
                gate(name, 1)
        for options in ({"mode": -1}, {"mode": 0o4755}, {"mode": 0o200}, {"group": 2**32 + 1}, {"group": -7}, {"overtake": -1},
                        {"overtake": 2**32}, {"command": "a\0b"}):
            with self.assertRaises(ValueError, msg=str(options)):
                gate("checked", 1, **options)
        for slots in (-1, 2**31, 2**70):
            with self.assertRaises(kgate.BadSlots):
                gate("checked", slots)
        with self.assertRaises(ValueError):
            kgate.Gate("checked", 1, directory="")
        with self.assertRaises(kgate.BadSlots):
            gate("checked", 1).enter(weight=2**31)
        g = gate("checked")
        with self.assertRaises(kgate.BadName):
            g.__init__("..", 1)
        self.assertEqual((g.name, g.slots), ("checked", 1))
        with self.assertRaisesRegex(TypeError, r"with gate\.enter\(\)"):
            with g:
                pass
        self.assertEqual(g.status().free, 1)

    def test_a_gate_stays_where_it_was_made(self):
        before = os.getcwd()
        os.chdir(FOLDER)
        try:
            g = kgate.Gate("stays", 1, directory=".")
            inside = g.enter()
            os.chdir("/")
            g.close()
            self.assertIsNone(g.try_enter())
            self.assertIsNone(pickle.loads(pickle.dumps(g)).try_enter())
            inside.release()
        finally:
            os.chdir(before)

    def test_a_permit_in_a_cycle_is_found(self):
        g = gate("cycle", 1)
        g.kept = g.enter()
        del g
        gc.collect()
        self.assertEqual(gate("cycle").status().free, 1)

    def test_removed(self):
        g = gate("removed", 1)
        inside = g.enter()
        results = []

        def wait():
            try:
                g.enter()
            except kgate.Error as error:
                results.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        eventually(lambda: g.status().waiters)
        gate("removed").remove(force=True)
        thread.join(30)
        self.assertIsInstance(results[0], kgate.Removed)
        inside.release()
        g.close()
        with self.assertRaises(kgate.NotFound):
            g.enter()

    def test_a_cancelled_waiter_learns_of_it(self):
        g = gate("cancelled", 1)
        self.assertEqual(kgate.Error._of(kgate.Cancelled.code, "x").__class__, kgate.Cancelled)
        with g.enter():
            waiter = program("""
                try:
                    gate("cancelled").enter()
                except kgate.Cancelled:
                    print("cancelled")
            """)
            eventually(lambda: g.status().waiters)
            subprocess.run([TOOL, "cancel", "-n", "cancelled", "-d", FOLDER, "-p", str(waiter.pid)], check=True, timeout=60)
            self.assertEqual(waiter.communicate(timeout=60)[0], "cancelled\n")

    def test_decorators(self):
        g = gate("decorated", 1)

        @g.limit(timeout=1)
        def inside(x, *, y):
            """What it does."""
            self.assertEqual(g.status().free, 0)
            return x + y

        self.assertEqual((inside(1, y=2), inside.__name__, inside.__doc__), (3, "inside", "What it does."))

        @kgate.limit("limited", 2, directory=FOLDER)
        def other():
            return gate("limited").status().free

        self.assertEqual(other(), 1)
        gate("limited").remove(force=True)
        self.assertEqual(other(), 1)

        async def later():
            pass

        def many():
            yield 1

        for wrong in (lambda: g.limit(inside), lambda: g.limit()(later), lambda: kgate.limit("x", 1)(many),
                      lambda: kgate.limit(inside)):
            with self.assertRaises(TypeError):
                wrong()

    def test_threads(self):
        g = gate("threads", 2)
        inside, most = [0], [0]
        lock = threading.Lock()

        def work():
            for _ in range(50):
                with g.enter():
                    with lock:
                        inside[0] += 1
                        most[0] = max(most[0], inside[0])
                    with lock:
                        inside[0] -= 1

        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertLessEqual(most[0], 2)
        self.assertEqual(g.status().free, 2)


class Processes(unittest.TestCase):
    def test_every_way_to_start_a_process(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                context = multiprocessing.get_context(method)
                g, queue = gate(f"started-{method}", 1), context.Queue()
                with g.enter():
                    tries = context.Process(target=try_from_child, args=(g, queue))
                    tries.start()
                    self.assertTrue(queue.get(timeout=60))
                    tries.join(60)
                workers = [context.Process(target=enter_and_report, args=(g, queue)) for _ in range(3)]
                for w in workers:
                    w.start()
                got = [queue.get(timeout=60) for _ in workers]
                for w in workers:
                    w.join(60)
                    self.assertEqual(w.exitcode, 0)
                self.assertEqual({slot for _, slot in got}, {0})
                self.assertEqual({pid for pid, _ in got}, {w.pid for w in workers})
                self.assertEqual(g.status().free, 1)

    def test_pool(self):
        g = gate("pool", 2)
        with concurrent.futures.ProcessPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(count_inside, [("pool", FOLDER)] * 40)))
        self.assertEqual(g.status().free, 2)

    def test_pytest_xdist(self):
        """The fixture of the guide in four workers."""
        if subprocess.run([sys.executable, "-c", "import xdist"], capture_output=True).returncode != 0:
            self.skipTest("pytest-xdist is not installed")
        guide = (Path(__file__).parents[2] / "docs/guides/python.md").read_text()
        (fixture,) = (b for b in re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S) if "conftest.py" in b)
        folder = Path(FOLDER, "xdist")
        folder.mkdir()
        (folder / "conftest.py").write_text(fixture)
        (folder / "test_them.py").write_text(textwrap.dedent("""
            import pathlib, pytest, time
            @pytest.mark.parametrize("i", range(12))
            def test_alone(i, database):
                flag = pathlib.Path(database)
                flag.touch(exist_ok=False)
                time.sleep(0.01)
                flag.unlink()
                assert database in ("test_0", "test_1")
        """))
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "4"], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "KGATE_DIR": FOLDER}, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("12 passed", done.stdout)
        self.assertEqual(gate("database").status().free, 2)

    def test_a_child_cannot_leave_for_its_parent(self):
        g = gate("inherited", 1)
        permit = g.enter()
        child = os.fork()
        if child == 0:
            ok = permit.released
            try:
                ok = permit.slot and False
            except kgate.Forked:
                pass
            permit.release()
            ok = ok and g.try_enter() is None
            del permit
            gc.collect()
            os._exit(0 if ok and g.try_enter() is None else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(g.status().free, 0)
        permit.release()
        self.assertEqual(g.status().free, 1)

    def test_pickle(self):
        g = gate("pickled", 3)
        other = pickle.loads(pickle.dumps(g))
        self.assertEqual((other.slots, other.name, other.directory), (3, "pickled", FOLDER))
        special = Special("pickled", directory=FOLDER)
        special.colour = "red"
        other = pickle.loads(pickle.dumps(special))
        self.assertEqual((type(other), other.colour), (Special, "red"))

    def test_killed_holders_and_waiters(self):
        g = gate("killed", 1)
        for role in ("holder", "waiter"):
            with self.subTest(role=role):
                if role == "holder":
                    victim = program("p = gate('killed').enter(); print('in'); time.sleep(600)")
                    self.assertEqual(victim.stdout.readline(), "in\n")
                    last = program("p = gate('killed').enter(); print('in')")
                else:
                    holder = g.enter()
                    victim = program("gate('killed').enter()")
                    eventually(lambda: g.status().waiters)
                    last = program("p = gate('killed').enter(); print('in')")
                    eventually(lambda: len(g.status().waiters) == 2)
                victim.kill()
                victim.communicate()
                if role == "waiter":
                    holder.release()
                self.assertEqual(last.communicate(timeout=60)[0], "in\n")
                self.assertEqual(g.status().free, 1)
        self.assertGreaterEqual(g.status().healed, 2)

    def test_c_and_python_at_one_gate(self):
        g = gate("both", 1)

        def c_program():
            return subprocess.Popen([C_PROGRAM, "hold", "both"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    env={**os.environ, "KGATE_DIR": FOLDER})

        holder = c_program()
        self.assertEqual(holder.stdout.readline(), "0\n")
        self.assertIsNone(g.try_enter())
        waiter = program("with gate('both').enter() as slot: print(int(slot))")
        eventually(lambda: g.status().waiters)
        last = c_program()
        eventually(lambda: len(g.status().waiters) == 2)
        holder.kill()
        holder.communicate()
        self.assertEqual(waiter.communicate(timeout=60)[0], "0\n")
        self.assertEqual(last.stdout.readline(), "0\n")
        with self.assertRaises(TimeoutError):
            g.enter(timeout=0.01)
        last.communicate("")
        with g.enter(timeout=60):
            pass


    def test_killed_in_both_languages(self):
        """Holders and waiters written in C and in Python, killed at one gate: who lives gets in, in order, and nothing is lost."""
        g = gate("both-killed", 1)

        def started(language):
            if language == "C":
                return subprocess.Popen([C_PROGRAM, "hold", "both-killed"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "KGATE_DIR": FOLDER})
            return program("p = gate('both-killed').enter(); print(int(p)); sys.stdin.read()", stdin=subprocess.PIPE)

        for languages in (("C", "Python", "C", "Python"), ("Python", "C", "Python", "C"), ("C", "C", "Python", "Python")):
            with self.subTest(languages=languages):
                others = [started(languages[0])]
                self.assertEqual(others[0].stdout.readline(), "0\n")
                for i, language in enumerate(languages[1:], 1):
                    others.append(started(language))
                    eventually(lambda: len(g.status().waiters) == i)
                holder, waiter, second, third = others
                for victim in (waiter, holder):  # the first waiter, then the one inside
                    victim.kill()
                    victim.communicate()
                self.assertEqual(second.stdout.readline(), "0\n")
                second.kill()
                second.communicate()
                self.assertEqual(third.stdout.readline(), "0\n")
                third.communicate("")
                eventually(lambda: (g.status().free, g.status().waiters) == (1, ()))


class Signals(unittest.TestCase):
    def test_keyboard_interrupt_ends_a_wait(self):
        g = gate("interrupted", 1)
        text = """
            try:
                %s
            except KeyboardInterrupt:
                print("interrupted")
            print("end")
        """
        waits = {"gate": "gate('interrupted').enter()", "gate in time": "gate('interrupted').enter(timeout=600)",
                 "semaphore": "s = kgate.Semaphore(1); s.acquire(); print('waits'); s.acquire()"}
        with g.enter():
            for name, wait in waits.items():
                with self.subTest(name):
                    other = program(text % wait)
                    if name == "semaphore":
                        self.assertEqual(other.stdout.readline(), "waits\n")
                        time.sleep(0.1)
                    else:
                        eventually(lambda: g.status().waiters)
                    other.send_signal(signal.SIGINT)
                    self.assertEqual(other.communicate(timeout=60)[0], "interrupted\nend\n")
            self.assertEqual(g.status().waiters, ())

    def test_a_signal_at_any_moment_ends_a_wait(self):
        """Also one that comes between the check for signals and the sleep."""
        g, s = gate("any-moment", 1), kgate.Semaphore(1)
        s.acquire()

        def on_alarm(*_):
            raise InterruptedError

        before = signal.signal(signal.SIGALRM, on_alarm)
        try:
            with g.enter():
                for i in range(200):
                    try:
                        signal.setitimer(signal.ITIMER_REAL, 1e-6 + i * 2e-6)
                        g.enter(timeout=600) if i % 2 else s.acquire()
                        self.fail("it got in")
                    except InterruptedError:
                        pass
                self.assertEqual((g.status().waiters, s.waiters), ((), 0))
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_a_handler_that_returns_does_not_end_a_wait(self):
        g = gate("handled", 1)
        permit = g.enter()
        other = program("""
            signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
            gate("handled").enter()
            print("in")
        """)
        eventually(lambda: g.status().waiters)
        other.send_signal(signal.SIGUSR1)
        self.assertEqual(other.stdout.readline(), "handled\n")
        self.assertEqual(len(g.status().waiters), 1)
        permit.release()
        self.assertEqual(other.communicate(timeout=60)[0], "in\n")

    def test_other_threads_run_while_one_waits(self):
        g = gate("others", 1)
        permit = g.enter()
        threading.Timer(0.05, permit.release).start()
        with g.enter(timeout=60):
            pass


class Semaphores(unittest.TestCase):
    def test_like_the_library_s_own(self):
        s = kgate.Semaphore(2)
        self.assertEqual((s.permits, s.available, s.waiters), (2, 2, 0))
        self.assertTrue(s.acquire())
        with s:
            self.assertFalse(s.acquire(blocking=False))
            self.assertFalse(s.acquire(timeout=0.001))
            self.assertFalse(s.acquire(True, 0.001))
        s.release()
        for wrong in (s.release, lambda: s.release(0), lambda: s.acquire(False, 1), lambda: s.acquire(permits=0),
                      lambda: kgate.Semaphore(0), lambda: s.resize(0), lambda: s.acquire(timeout=float("nan"))):
            with self.assertRaises(ValueError):
                wrong()
        self.assertTrue(s.acquire(permits=2))
        s.release(n=2)
        with self.assertRaises(kgate.TooHeavy):
            s.acquire(permits=3)
        s.resize(3)
        self.assertTrue(s.acquire(permits=3))
        s.release(3)

    def test_order_and_close(self):
        s = kgate.Semaphore(1)
        s.acquire()
        order, refused = [], []

        def wait(i):
            try:
                s.acquire()
                order.append(i)
                s.release()
            except kgate.Closed:
                refused.append(i)

        threads = []
        for i in range(5):
            threads.append(threading.Thread(target=wait, args=(i,)))
            threads[-1].start()
            eventually(lambda: s.waiters == i + 1)
        s.release()
        for t in threads:
            t.join(30)
        self.assertEqual(order, [0, 1, 2, 3, 4])
        s.acquire()
        last = threading.Thread(target=wait, args=(9,))
        last.start()
        eventually(lambda: s.waiters == 1)
        s.close()
        last.join(30)
        self.assertEqual(refused, [9])
        s.release()

    def test_made_once_and_never_half(self):
        s = kgate.Semaphore(1)
        with self.assertRaises(TypeError):
            s.__init__(2)
        half = kgate.Semaphore.__new__(kgate.Semaphore)
        for wrong in (half.acquire, half.release, half.close, lambda: half.resize(1)):
            with self.assertRaises(ValueError):
                wrong()
        half = kgate.Gate.__new__(kgate.Gate)
        for wrong in (half.enter, half.status, half.remove, lambda: half.slots, lambda: half.resize(1), lambda: pickle.dumps(half)):
            with self.assertRaises(ValueError):
                wrong()
        half.close()
        self.assertEqual(repr(half), "<kgate.Gate, never opened>")


if __name__ == "__main__":
    C_PROGRAM, TOOL = sys.argv.pop(1), sys.argv.pop(1)
    FOLDER = tempfile.mkdtemp(prefix="kgate-python-")
    try:
        unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False, failfast=False).result.wasSuccessful() or sys.exit(1)
    finally:
        shutil.rmtree(FOLDER)
