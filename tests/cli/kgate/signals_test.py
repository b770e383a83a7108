#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: signals, job control and the terminal's keys."""
import ctypes
import os
import pty
import shutil
import signal
import subprocess
import sys
import time

from tool import KGATE, Case, Terminal, main

# Of those that end a process: all but SIGKILL and SIGBUS are passed on, as kgate(7) says.
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGALRM,
          signal.SIGPROF, signal.SIGVTALRM, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGIO, signal.SIGPWR)
PASSED_ON = (*ENDING, signal.SIGWINCH, signal.SIGURG, signal.SIGABRT, signal.SIGSEGV, signal.SIGTRAP)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().strip()


def names_of_children(pid):
    return [name_of(child) for child in children_of(pid)]


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def pending_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith("ShdPnd:")).split()[1], 16)


class Signals(Case):
    # Signals are waited for and not handled: a handler of Python's runs late if its signal comes just before a sleep.
    SAY = "import signal,sys\n" \
          "all=set(signal.Signals)-{signal.SIGCHLD}\n" \
          "signal.pthread_sigmask(signal.SIG_BLOCK,all)\nprint('ready', flush=True)\nwait=30\n" \
          "while got := signal.sigtimedwait(all,wait): print(signal.Signals(got.si_signo).name, flush=True); wait=0.1\n" \
          "sys.exit(40)\n"

    def start_listener(self, *runner, patience=0.3, **more):
        """A command that says which signals it gets, until none comes for a while, with the witness of its kgate in place."""
        process = self.start(*runner, "--", sys.executable, "-c", self.SAY.replace("wait=0.1", f"wait={patience}"), **more)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.until(lambda: "signal-witness" in names_of_children(process.pid))
        return process

    def test_signals_reach_the_command_once(self):
        for number in PASSED_ON:
            process = self.start_listener("run")
            process.send_signal(number)
            self.assertEqual(process.wait(10), 40)
            self.assertEqual(process.stdout.read(), number.name + "\n")
        self.assertEqual(self.gate()["holders"], [])

    def test_signals_to_the_process_group_reach_the_command_once(self):
        for runner in ("run",), ("jobserver",):
            for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGCONT:
                process = self.start_listener(*runner, process_group=0)
                os.killpg(process.pid, number)
                self.assertEqual(process.wait(10), 40)
                self.assertEqual(process.stdout.read(), number.name + "\n", runner)

    def test_a_signal_to_the_group_in_the_first_moments_is_never_lost(self):
        # Before there is a witness a command may get it twice (docs/tool.md), and never more or less often than that. It is
        # blocked and queued from the start, so that none is missed or taken for another.
        count = "import signal\nn=0\nwait=20\n" \
                "while signal.sigtimedwait({signal.SIGRTMIN},wait): n+=1; wait=0.3\nprint(n)\n"
        for _ in range(8):
            process = self.start("run", "--", sys.executable, "-c", count, process_group=0,
                                 preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN}))
            while not children_of(process.pid):
                pass
            os.killpg(process.pid, signal.SIGRTMIN)
            self.assertEqual(process.wait(30), 0, process.stderr.read())
            self.assertIn(process.stdout.read(), ("1\n", "2\n"))

    def test_each_of_two_signals_is_judged_by_itself(self):
        # Each to the group, then to kgate alone, and the other way round: never lost, never twice.
        for group_first in True, False:
            process = self.start_listener("run", patience=2, process_group=0)
            for to_group in group_first, not group_first:
                (os.killpg if to_group else os.kill)(process.pid, signal.SIGTERM)
                self.assertEqual(process.stdout.readline(), "SIGTERM\n")
                time.sleep(0.3)  # two that come together are one to kgate, as to any process
            self.assertEqual(process.wait(10), 40)
            self.assertEqual(process.stdout.read(), "")

    def test_one_who_chooses_by_name_does_not_hit_the_witness(self):
        if not shutil.which("pkill"):
            self.skipTest("pkill is not installed")
        process = self.start_listener("run", "-n", "by-name")
        subprocess.run(["pkill", "-TERM", "-f", "run -n by-name"], check=True, timeout=10)
        self.assertEqual(process.wait(10), 40)
        self.assertEqual(process.stdout.read(), "SIGTERM\n")

    def test_one_who_signals_all_one_by_one_reaches_the_command_once(self):
        for order in (0, 1, 2), (2, 1, 0), (0, 2, 1):  # as systemd does, and killers of trees
            process = self.start_listener("run")
            witness = next(pid for pid in children_of(process.pid) if name_of(pid) == "signal-witness")
            all_three = process.pid, self.gate()["holders"][0]["command_pid"], witness
            for which in order:
                os.kill(all_three[which], signal.SIGTERM)
            self.assertEqual(process.wait(10), 40)
            self.assertEqual(process.stdout.read(), "SIGTERM\n", order)

    def test_what_the_witness_got_before_does_not_count(self):
        process = self.start_listener("run")
        witness = next(pid for pid in children_of(process.pid) if name_of(pid) == "signal-witness")
        os.kill(witness, signal.SIGTERM)
        self.until(lambda: not pending_of(witness))  # it notes when it takes a signal, which may be long after that was sent
        time.sleep(0.6)
        process.terminate()
        self.assertEqual(process.wait(10), 40)
        self.assertEqual(process.stdout.read(), "SIGTERM\n")

    def test_a_command_that_left_the_group_gets_its_signals_from_kgate(self):
        process = self.start_listener("run", "--", "setsid", process_group=0)
        os.killpg(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(10), 40)
        self.assertEqual(process.stdout.read(), "SIGTERM\n")

    def test_a_witness_that_is_killed_or_stopped_harms_nobody(self):
        for number in signal.SIGKILL, signal.SIGSTOP:
            process = self.start_listener("run")
            witness = next(pid for pid in children_of(process.pid) if name_of(pid) == "signal-witness")
            os.kill(witness, number)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(10), 40)
            self.assertEqual(process.stdout.read(), "SIGTERM\n")
            self.until(lambda: not os.path.exists(f"/proc/{witness}"))

    def test_a_killed_kgate_leaves_no_witness(self):
        process = self.start_listener("run")
        witness = next(pid for pid in children_of(process.pid) if name_of(pid) == "signal-witness")
        targets = [os.readlink(f"/proc/{witness}/fd/{fd}") for fd in os.listdir(f"/proc/{witness}/fd")]
        self.assertEqual(sorted(target.split("[")[0] for target in targets), ["anon_inode:", "socket:"])  # it keeps no pipe open
        process.kill()
        self.until(lambda: not os.path.exists(f"/proc/{witness}"))
        os.kill(self.gate()["holders"][0]["command_pid"], signal.SIGKILL)

    def test_nothing_is_left_for_an_init_that_waits_for_nobody(self):
        # As PID 1 of a container may be: orphans of this process's tree become its children, and it does not wait for them.
        script = "import ctypes,subprocess,sys\nctypes.CDLL(None).prctl(36,1)\n" \
                 "for words in sys.argv[2:]:\n  subprocess.run([sys.argv[1],*words.split()],check=False)\n" \
                 "print(open('/proc/self/task/%d/children'%__import__('os').getpid()).read())"
        done = subprocess.run([sys.executable, "-c", script, KGATE, "run -- sleep 0.1", "run --time-limit 0.1 -- sleep 5", "jobserver -- sleep 0.1"],
                              env=self.env, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout.strip(), "", done.stderr)

    def test_an_alarm_set_before_is_for_the_command(self):
        done = subprocess.run([sys.executable, "-c", "import os,signal,sys\nsignal.setitimer(signal.ITIMER_REAL, 0.3)\n"
                               "os.execv(sys.argv[1], sys.argv[1:])", KGATE, "run", "--", "sleep", "60"], env=self.env, timeout=30)
        self.assertEqual(done.returncode, -signal.SIGALRM)
        self.assertEqual(self.gate()["holders"], [])

    def test_a_queued_value_is_passed_on(self):
        listener = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK,{signal.SIGRTMIN})\nprint('ready',flush=True)\n" \
                   "import ctypes,struct\nlibc=ctypes.CDLL(None)\nbuf=ctypes.create_string_buffer(128)\n" \
                   "mask=(ctypes.c_ulong*16)()\nlibc.sigemptyset(mask)\nlibc.sigaddset(mask,int(signal.SIGRTMIN))\n" \
                   "libc.sigwaitinfo(mask,buf)\nprint(struct.unpack_from('i',buf,24)[0])\n"
        process = self.start("run", "--", sys.executable, "-c", listener)
        self.assertEqual(process.stdout.readline(), "ready\n")
        ctypes.CDLL(None).sigqueue(process.pid, int(signal.SIGRTMIN), ctypes.c_void_p(4711))
        self.assertEqual(process.wait(10), 0)
        self.assertEqual(process.stdout.read(), "4711\n")

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
        # A process group of its own, as from a shell: the kernel stops no process in a group that has no parent to
        # continue it.
        process = self.start("run", "--", sys.executable, "-c", "import os,time\nprint(os.getpid(), flush=True)\ntime.sleep(30)",
                             process_group=0)
        child = int(process.stdout.readline())

        process.send_signal(signal.SIGTSTP)
        self.until(lambda: state_of(child) == "T" and state_of(process.pid) == "T")
        process.send_signal(signal.SIGCONT)
        self.until(lambda: state_of(child) == "S" and state_of(process.pid) == "S")
        self.assertEqual(len(self.gate()["holders"]), 1)

    def test_who_is_continued_at_once_goes_on(self):
        # All are continued when kgate is about to tell the command to stop, and when that has stopped and kgate is about to.
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        for slow in "kill:delay_enter=300000", "wait4:delay_exit=300000":
            process = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", f"inject={slow}", KGATE, "run", "--", "sleep", "60"],
                                       env=self.env, process_group=0)
            self.started.append(process)
            self.until(lambda: len(self.holders()) == 1 and self.holders()[0]["command_pid"])
            kgate, command = self.holders()[0]["pid"], self.holders()[0]["command_pid"]
            self.until(lambda: "signal-witness" in names_of_children(kgate))
            os.kill(kgate, signal.SIGTSTP)
            if slow.startswith("wait4"):
                self.until(lambda: state_of(command) == "T")
            time.sleep(0.1)
            os.killpg(process.pid, signal.SIGCONT)
            time.sleep(0.8)
            os.kill(kgate, signal.SIGTERM)
            self.assertEqual(process.wait(10), -signal.SIGTERM, slow)

    def test_a_waiter_that_is_ended_by_a_signal_leaves_the_queue(self):
        self.hold()
        for number in ENDING:
            waiter = self.start("run", "--", "true")
            self.until(lambda: len(self.gate()["waiters"]) == 1)
            waiter.send_signal(number)
            self.assertEqual(waiter.wait(10), -number)
            self.assertEqual(self.gate()["waiters"], [])
        self.assertEqual(self.gate()["healed"], 0)  # none died in the queue

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
