#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: exit codes, signals, streams, queue, JSON, users, containers, terminal.

usage: cli_test.py KGATE DOCUMENTS ROOT [unittest arguments]
"""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

KGATE, DOCUMENTS, ROOT = sys.argv[1:4]
ROOT_USER = os.geteuid() == 0


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="kgate-cli-")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KGATE_")}
        self.env["KGATE_DIR"] = self.dir
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def run_kgate(self, *words, **more):
        return subprocess.run([KGATE, *words], env=more.pop("env", self.env), capture_output=True, text=True, timeout=60, **more)

    def start(self, *words, **more):
        process = subprocess.Popen([KGATE, *words], env=more.pop("env", self.env), stdin=more.pop("stdin", subprocess.DEVNULL),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.started.append(process)
        return process

    def gate(self, name="default"):
        return json.loads(self.run_kgate("status", "-n", name, "--json").stdout)["gates"][0]

    def until(self, what, seconds=10):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if what():
                    return
            except (IndexError, ValueError):
                pass
            time.sleep(0.01)
        self.fail("it did not come to pass")

    def hold(self, name="default", k="1", command=("sleep", "60")):
        before = len(self.holders(name))
        process = self.start("run", "-n", name, "-k", k, "--", *command)
        self.until(lambda: len(self.holders(name)) > before)
        return process

    def holders(self, name="default"):
        result = json.loads(self.run_kgate("status", "-n", name, "--json").stdout)["gates"]
        return result[0]["holders"] if result else []


class Run(Case):
    def test_the_first_command_of_the_readme(self):
        done = self.run_kgate("run", "-n", "demo", "-k", "2", "--", "sh", "-c", "echo slot $KGATE_SLOT")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "slot 0\n", ""))

    def test_exit_codes_are_passed_on(self):
        for code in (0, 1, 7, 126, 255):
            self.assertEqual(self.run_kgate("run", "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_death_by_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            self.assertEqual(self.run_kgate("run", "--", "sh", "-c", f"kill -{int(number)} $$").returncode, 128 + number)

    def test_commands_that_cannot_be_run(self):
        missing = self.run_kgate("run", "--", "/no/such/command")
        self.assertEqual(missing.returncode, 127)
        self.assertIn("/no/such/command", missing.stderr)
        self.assertEqual(self.run_kgate("run", "--", "/etc/passwd").returncode, 126)
        self.assertEqual(self.gate()["holders"], [])

    def test_environment_and_slot(self):
        done = self.run_kgate("run", "-n", "e", "-k", "3", "--", "sh", "-c",
                              'echo $KGATE_NAME $KGATE_SLOT $KGATE_SLOTS $KGATE_TOKEN "$1"', "x", "cuda:{slot}/{slot}")
        name, slot, slots, token, argument = done.stdout.split()
        self.assertEqual((name, slot, slots, argument), ("e", "0", "3", "cuda:0/0"))
        self.assertEqual(int(self.run_kgate("run", "-n", "e", "--", "sh", "-c", "echo $KGATE_TOKEN").stdout), int(token) + 1)

    def test_weight_takes_several_slots(self):
        done = self.run_kgate("run", "-k", "4", "-w", "3", "--", "sh", "-c", "echo $KGATE_SLOT")
        self.assertEqual(done.stdout, "0,1,2\n")
        self.assertEqual(self.run_kgate("run", "-w", "5", "--", "true").returncode, 120)

    def test_streams_are_untouched(self):
        done = self.run_kgate("run", "--", "sh", "-c", "cat; echo to-stderr >&2", input="from stdin\n")
        self.assertEqual((done.stdout, done.stderr), ("from stdin\n", "to-stderr\n"))

    def test_try(self):
        self.hold()
        done = self.run_kgate("run", "--try", "--", "true")
        self.assertEqual(done.returncode, 122)
        self.assertIn("kgate status", done.stderr)

    def test_timeout_never_lets_in(self):
        self.hold()
        began = time.monotonic()
        done = self.run_kgate("run", "--timeout", "300ms", "--", "echo", "inside")
        self.assertEqual((done.returncode, done.stdout), (124, ""))
        self.assertGreaterEqual(time.monotonic() - began, 0.29)
        self.assertEqual(len(self.gate()["holders"]), 1)
        self.assertEqual(self.gate()["waiters"], [])

    def test_usage(self):
        for words in ([], ["nonsense"], ["run"], ["run", "-k", "0", "true"], ["run", "--bogus", "true"], ["run", "-k"], ["resize", "-n", "x"],
                      ["run", "--timeout", "soon", "true"], ["status", "operand"], ["run", "--try", "-t", "1", "true"], ["run", "-n", "a/b", "true"]):
            done = self.run_kgate(*words)
            self.assertEqual(done.returncode, 120, words)
            self.assertEqual(done.stdout, "")
            self.assertIn("kgate: ", done.stderr)

    def test_another_size_is_refused_with_what_to_do(self):
        self.run_kgate("run", "-n", "g", "-k", "2", "--", "true")
        done = self.run_kgate("run", "-n", "g", "-k", "3", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("has 2 slots, not 3", done.stderr)
        self.assertIn("kgate resize -n g -k 3", done.stderr)

    def test_places_that_will_not_do(self):
        done = self.run_kgate("run", "--dir", "/proc", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("proc", done.stderr)
        done = self.run_kgate("run", "--dir", "/no/such/dir", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("no directory", done.stderr)

    def test_closed_standard_streams(self):
        done = subprocess.run(["sh", "-c", f'exec "{KGATE}" run -- sh -c "exit 3" <&- >&- 2>&-'], env=self.env, timeout=30)
        self.assertEqual(done.returncode, 3)


class Order(Case):
    def test_fifty_waiters_are_served_in_order(self):
        log = os.path.join(self.dir, "log")
        go = os.path.join(self.dir, "go")
        os.mkfifo(go)
        holder = self.start("run", "--", "sh", "-c", f"read line < {go}")
        self.until(lambda: len(self.holders()) == 1)
        for i in range(50):
            self.start("run", "--", "sh", "-c", f"echo {i} >> {log}")
            self.until(lambda: len(self.gate()["waiters"]) == i + 1)
        with open(go, "w", encoding="ascii") as out:
            out.write("go\n")
        for process in self.started:
            self.assertEqual(process.wait(60), 0)
        with open(log, encoding="ascii") as lines:
            self.assertEqual([int(line) for line in lines], list(range(50)))
        self.assertEqual(holder.returncode, 0)


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

    def test_default_action_of_the_command(self):
        process = self.start("run", "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.terminate()
        self.assertEqual(process.wait(10), 128 + signal.SIGTERM)
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


class Status(Case):
    def test_status_json(self):
        self.hold("gpu", "1", ("sleep", "55"))
        waiter = self.start("run", "-n", "gpu", "--", "echo", 'a "quoted" \x01\xff word')
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 1)
        gate = self.gate("gpu")
        self.assertEqual((gate["name"], gate["slots"], gate["healed"]), ("gpu", 1, 0))
        holder, waiting = gate["holders"][0], gate["waiters"][0]
        self.assertEqual((holder["slot"], holder["pid"], holder["command"]), (0, self.started[0].pid, "sleep 55"))
        self.assertEqual((waiting["position"], waiting["pid"]), (1, waiter.pid))
        self.assertIn('a "quoted"', waiting["command"])
        for person in (holder, waiting):
            self.assertRegex(person["since"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertTrue(person["user"])

    def test_list_and_missing(self):
        self.assertEqual(json.loads(self.run_kgate("list", "--json").stdout), {"gates": []})
        self.run_kgate("run", "-n", "a", "-k", "2", "--", "true")
        self.assertEqual(json.loads(self.run_kgate("list", "--json").stdout), {"gates": [{"name": "a", "slots": 2, "inside": 0, "waiting": 0}]})
        missing = self.run_kgate("status", "-n", "b")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))

    def test_no_colour_in_a_pipe_or_if_asked(self):
        self.hold()
        self.assertNotIn("\033", self.run_kgate("status").stdout)
        for no_color, expected in (("", True), ("1", False)):
            pid, master = pty.fork()
            if pid == 0:
                os.execve(KGATE, [KGATE, "status"], {**self.env, "NO_COLOR": no_color})
            seen = b""
            try:
                while chunk := os.read(master, 4096):
                    seen += chunk
            except OSError:
                pass
            os.waitpid(pid, 0)
            os.close(master)
            self.assertEqual(b"\033[" in seen, expected)

    def test_waiting_shows_the_queue_on_a_terminal_only(self):
        self.hold()
        quiet = self.run_kgate("run", "-t", "700ms", "--", "true")
        self.assertNotIn("waiting", quiet.stderr)
        pid, master = pty.fork()
        if pid == 0:
            os.execve(KGATE, [KGATE, "run", "-t", "900ms", "--", "true"], self.env)
        seen = b""
        try:
            while chunk := os.read(master, 4096):
                seen += chunk
        except OSError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 124)
        os.close(master)
        self.assertIn(b"next in line", seen)

    def test_top_once(self):
        self.hold("gpu", "2")
        done = self.run_kgate("top", "--once")
        self.assertEqual(done.returncode, 0)
        self.assertIn("gpu: 1 of 2 slots taken, 0 waiting", done.stdout)

    def test_top_in_a_terminal(self):
        if not shutil.which("tmux"):
            self.skipTest("tmux is not installed")
        self.hold("gpu", "1")
        self.start("run", "-n", "gpu", "--", "true")
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 1)
        socket = os.path.join(self.dir, "tmux")
        tmux = lambda *words: subprocess.run(["tmux", "-S", socket, *words], env=self.env, capture_output=True, text=True, timeout=20).stdout
        tmux("new-session", "-d", "-s", "t", "-x", "100", "-y", "20", f"{KGATE} top; echo ended $?; sleep 20")
        try:
            self.until(lambda: "gpu: 1 of 1 slots taken, 1 waiting" in tmux("capture-pane", "-p", "-t", "t"))
            screen = tmux("capture-pane", "-p", "-t", "t")
            self.assertRegex(screen, r"slot +pid +user +since +command")
            self.assertRegex(screen, r"place +pid +user +waited +command")
            tmux("send-keys", "-t", "t", "t")
            self.until(lambda: "order: time" in tmux("capture-pane", "-p", "-t", "t"))
            tmux("send-keys", "-t", "t", "q")
            self.until(lambda: "ended 0" in tmux("capture-pane", "-p", "-t", "t"))
        finally:
            tmux("kill-server")


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
        self.assertEqual(len(self.gate("g")["holders"]), 2)
        first.terminate()
        first.wait()
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
        self.assertEqual(holder.wait(10), 143)
        self.assertEqual(os.listdir(self.dir), [])
        self.assertEqual(self.run_kgate("run", "-n", "g", "-k", "7", "--", "true").returncode, 0)
        self.assertEqual(self.run_kgate("remove", "-n", "g").returncode, 0)

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

    def test_doctor_mends_counts(self):
        self.run_kgate("run", "-n", "g", "-k", "2", "--", "true")
        with open(os.path.join(self.dir, "g.gate"), "r+b") as file:
            file.seek(130)
            byte = file.read(1)[0]
            file.seek(130)
            file.write(bytes([byte ^ 1]))
        done = self.run_kgate("doctor")
        self.assertEqual(done.returncode, 0)
        self.assertIn("renewed with 2 slots", done.stdout)


@unittest.skipUnless(ROOT_USER and shutil.which("setpriv"), "only root can become other users, with setpriv")
class Users(Case):
    def as_user(self, user, *words, groups="60123"):
        return ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={groups}", KGATE, *words]

    def call(self, *words, **more):
        return subprocess.run(self.as_user(*words, **more), env=self.env, capture_output=True, text=True, timeout=30)

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o2770)
        os.chown(self.dir, 0, 60123)

    def test_two_users_share_by_group(self):
        first = subprocess.Popen(self.as_user(60001, "run", "-n", "gpu", "-k", "2", "--group", "60123", "--", "sleep", "60"), env=self.env)
        self.started.append(first)
        self.until(lambda: len(self.holders("gpu")) == 1)
        second = subprocess.Popen(self.as_user(60002, "run", "-n", "gpu", "--", "sleep", "60"), env=self.env)
        self.started.append(second)
        self.until(lambda: len(self.holders("gpu")) == 2)
        for user in (60001, 60002):
            seen = json.loads(self.call(user, "status", "-n", "gpu", "--json").stdout)["gates"][0]
            self.assertEqual({h["user"] for h in seen["holders"]}, {"60001", "60002"})
        second.terminate()
        self.assertEqual(second.wait(10), 143)

    def test_without_permission(self):
        self.assertEqual(self.call(60001, "run", "-n", "mine", "--", "true").returncode, 0)
        os.chmod(self.dir, 0o2777)
        other = self.call(60002, "run", "-n", "mine", "--", "true")
        self.assertEqual(other.returncode, 125)
        self.assertIn("Permission denied", other.stderr)
        self.assertIn("SHARING", other.stderr)
        self.assertEqual(self.call(60002, "status", "-n", "mine").returncode, 1)


class Documents(Case):
    def test_nothing_has_drifted(self):
        subprocess.run([DOCUMENTS, self.dir], check=True, timeout=30)
        for folder in ("man", "completions"):
            for name in os.listdir(os.path.join(self.dir, folder)):
                with open(os.path.join(self.dir, folder, name), encoding="utf-8") as made, \
                        open(os.path.join(ROOT, folder, name), encoding="utf-8") as kept:
                    self.assertEqual(made.read(), kept.read(), f"{folder}/{name}: run kgate_documents on the tree")

    def test_help_of_every_command(self):
        overview = self.run_kgate("--help").stdout
        for command in ("run", "status", "list", "top", "resize", "remove", "doctor"):
            self.assertIn(f"kgate {command}", overview)
            text = self.run_kgate(command, "--help")
            self.assertEqual(text.returncode, 0)
            self.assertIn("Examples:", text.stdout)
            self.assertLess(len(self.run_kgate(command, "-h").stdout), len(text.stdout))
            with open(os.path.join(ROOT, "man", f"kgate-{command}.1"), encoding="utf-8") as page:
                manual = page.read().replace("\\-", "-")
            for option in re.findall(r"--[a-z]+", text.stdout.split("Options:")[1].split("Examples:")[0]):
                self.assertIn(option, manual)

    def test_completions_complete(self):
        script = f"""source {ROOT}/completions/kgate.bash
COMP_WORDS=(kgate ru); COMP_CWORD=1; _kgate; echo "${{COMPREPLY[@]}}"
COMP_WORDS=(kgate run --t); COMP_CWORD=2; _kgate; echo "${{COMPREPLY[@]}}"
COMP_WORDS=({KGATE} status -n ''); COMP_CWORD=3; _kgate; echo "${{COMPREPLY[@]}}"
"""
        self.run_kgate("run", "-n", "somegate", "--", "true")
        done = subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout.split("\n")[:3], ["run", "--timeout --try", "somegate"])
        for shell, file in (("zsh", "_kgate"), ("fish", "kgate.fish")):
            if shutil.which(shell):
                self.assertEqual(subprocess.run([shell, "-n", os.path.join(ROOT, "completions", file)]).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
