#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: signals, job control and the terminal's keys."""
import os
import pty
import signal
import sys
import time

from tool import KGATE, Case, Terminal, main


class Signals(Case):
    # Signals are waited for and not handled: a handler of Python's runs late if its signal comes just before a sleep.
    SAY = "import signal,sys\n" \
          "all={signal.SIGTERM,signal.SIGINT,signal.SIGHUP,signal.SIGQUIT,signal.SIGUSR1}\n" \
          "signal.pthread_sigmask(signal.SIG_BLOCK,all)\nprint('ready', flush=True)\nwait=30\n" \
          "while got := signal.sigtimedwait(all,wait): print(signal.Signals(got.si_signo).name, flush=True); wait=0.1\n" \
          "sys.exit(40)\n"

    def test_signals_reach_the_command_once(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            process = self.start("run", "--", sys.executable, "-c", self.SAY)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            self.assertEqual(process.wait(10), 40)
            self.assertEqual(process.stdout.read(), number.name + "\n")

    def test_interrupt_stops_a_loop_around_it(self):
        with Terminal(self, "bash --norc -i") as terminal:
            terminal.keys(f"for i in 1 2 3; do echo round $i; {KGATE} run -- sleep 30; done; echo o''ver", "Enter")
            terminal.until("round 1")
            self.until(lambda: len(self.holders()) == 1)
            terminal.keys("C-c")
            self.until(lambda: self.holders() == [])
            terminal.keys("echo ne''xt", "Enter")
            terminal.until("next")
            self.assertNotIn("round 2", terminal.text())

    def test_interrupt_of_a_waiter_stops_a_loop_around_it(self):
        self.hold()
        with Terminal(self, "bash --norc -i") as terminal:
            terminal.keys(f"for i in 1 2 3; do echo round $i; {KGATE} run -- sleep 30; done", "Enter")
            self.until(lambda: len(self.gate()["waiters"]) == 1)
            terminal.keys("C-c")
            self.until(lambda: self.gate()["waiters"] == [])
            terminal.keys("echo ne''xt", "Enter")
            terminal.until("next")
            self.assertNotIn("round 2", terminal.text())
        self.assertEqual(self.gate()["healed"], 0)

    def test_a_waiter_in_the_background_is_silent(self):
        self.hold()
        with Terminal(self, "bash --norc -i", columns=40) as terminal:
            terminal.keys("PS1=; clear", "Enter")
            terminal.keys(f"{KGATE} run -t 20 -- true &", "Enter")
            self.until(lambda: len(self.gate()["waiters"]) == 1)
            time.sleep(0.8)
            self.assertNotIn("waiting", terminal.text())
            terminal.keys("fg", "Enter")
            terminal.until("kgate: waiting at gate 'default'")
            time.sleep(0.6)
            self.assertEqual(terminal.text().count("waiting at"), 1)  # one line, however narrow
            terminal.keys("C-z")
            terminal.until("Stopped")
            self.assertNotIn("waiting at", terminal.text())
            terminal.keys("clear", "Enter", "bg", "Enter")
            time.sleep(0.8)
            self.assertNotIn("waiting at", terminal.text())

    def test_the_line_is_gone_when_the_command_starts(self):
        holder = self.hold()
        with Terminal(self, f"{KGATE} run -- echo inside; sleep 20", columns=30) as terminal:
            terminal.until("kgate: waiting")
            holder.terminate()
            terminal.until("inside")
            self.assertEqual(terminal.text().strip(), "inside")

    def test_default_action_of_the_command(self):
        process = self.start("run", "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.terminate()
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assertEqual(self.gate()["holders"], [])

    def test_stop_and_continue(self):
        # A process group of its own, as from a shell: the kernel stops nobody in a group that has no parent to continue it.
        process = self.start("run", "--", sys.executable, "-c", "import os,time\nprint(os.getpid(), flush=True)\ntime.sleep(30)",
                             process_group=0)
        child = int(process.stdout.readline())

        def state(pid):
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0]

        process.send_signal(signal.SIGTSTP)
        self.until(lambda: state(child) == "T" and state(process.pid) == "T")
        process.send_signal(signal.SIGCONT)
        self.until(lambda: state(child) == "S" and state(process.pid) == "S")
        self.assertEqual(len(self.gate()["holders"]), 1)

    def test_a_waiter_that_is_terminated_leaves_the_queue(self):
        self.hold()
        waiter = self.start("run", "--", "true")
        self.until(lambda: len(self.gate()["waiters"]) == 1)
        waiter.terminate()
        self.assertEqual(waiter.wait(10), -signal.SIGTERM)
        self.until(lambda: len(self.gate()["waiters"]) == 0)

    def test_interrupt_from_a_terminal_arrives_once(self):
        pid, master = pty.fork()
        if pid == 0:
            os.execve(KGATE, [KGATE, "run", "--", sys.executable, "-c",
                              "import signal,time\nn=0\ndef on(*_):\n  global n\n  n+=1\nsignal.signal(signal.SIGINT,on)\n"
                              "print('ready',flush=True)\nend=time.monotonic()+20\n"
                              "while n == 0 and time.monotonic()<end: time.sleep(0.05)\n"
                              "time.sleep(0.5)\ntime.sleep(0)\nprint('interrupts',n,flush=True)"], self.env)
        seen = b""
        while b"ready" not in seen:
            seen += os.read(master, 1024)
        os.write(master, b"\x03")
        try:
            while b"interrupts" not in seen or not seen.rstrip().endswith((b"0", b"1", b"2")):
                seen += os.read(master, 1024)
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(master)
        self.assertIn(b"interrupts 1", seen)


if __name__ == "__main__":
    main()
