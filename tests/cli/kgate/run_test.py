#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: the command of `kgate run`: exit codes, environment, streams, time limits, order."""
import os
import signal
import subprocess
import sys
import time

from tool import KGATE, Case, main


class Run(Case):
    def test_the_first_command_of_the_readme(self):
        done = self.run_kgate("run", "-n", "demo", "-k", "2", "--", "sh", "-c", "echo slot $KGATE_SLOT")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "slot 0\n", ""))

    def test_exit_codes_are_passed_on(self):
        for code in (0, 1, 7, 126, 255):
            self.assertEqual(self.run_kgate("run", "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_death_by_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            self.assertEqual(self.run_kgate("run", "--", "sh", "-c", f"kill -{int(number)} $$").returncode, -number)

    def test_commands_that_cannot_be_run(self):
        missing = self.run_kgate("run", "--", "/no/such/command")
        self.assertEqual(missing.returncode, 127)
        self.assertTrue(missing.stderr.endswith("cannot run '/no/such/command': No such file or directory\n"), missing.stderr)
        for words in (("no-such",), ("no-such", "--", "true"), ("--exec", "no-such")):  # meant as the gate's name
            self.assertEqual(self.run_kgate("run", *words).stderr, "kgate: cannot run 'no-such': No such file or directory; for a gate of that "
                                                                   "name: kgate run -n no-such -- COMMAND\n")
        self.assertNotIn("-n", self.run_kgate("run", "-n", "default", "--", "no-such").stderr)
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
        quiet = self.run_kgate("run", "--try", "-q", "--", "true")
        self.assertEqual((quiet.returncode, quiet.stderr), (122, ""))

    def test_timeout_code(self):
        self.hold()
        self.assertEqual(self.run_kgate("run", "--try", "-E", "75", "--", "true").returncode, 75)
        self.assertEqual(self.run_kgate("run", "-t", "20ms", "--timeout-code", "0", "--", "true").returncode, 0)

    def test_time_limit(self):
        began = time.monotonic()
        done = self.run_kgate("run", "--time-limit", "200ms", "--", "sleep", "60")
        self.assertEqual(done.returncode, 123)
        self.assertIn("'sleep' ran longer than --time-limit", done.stderr)
        stubborn = "import signal,time\nsignal.signal(signal.SIGTERM,signal.SIG_IGN)\ntime.sleep(60)"
        done = self.run_kgate("run", "--time-limit", "500ms", "--grace", "200ms", "--", sys.executable, "-c", stubborn)
        self.assertEqual(done.returncode, 123)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(self.run_kgate("run", "--time-limit", "20", "--", "sh", "-c", "exit 3").returncode, 3)
        self.assertEqual(self.gate()["holders"], [])

    def test_exec_leaves_no_wrapper(self):
        process = self.start("run", "-n", "e", "--exec", "--", "sh", "-c", "echo $$ $KGATE_SLOT; read line; exit 5", stdin=subprocess.PIPE)
        pid, slot = process.stdout.readline().split()
        self.assertEqual((int(pid), slot), (process.pid, "0"))
        self.assertEqual(self.gate("e")["holders"][0]["command_pid"], process.pid)
        self.assertEqual(self.run_kgate("run", "-n", "e", "--try", "--", "true").returncode, 122)
        waiter = self.start("run", "-n", "e", "--", "true")
        self.until(lambda: len(self.gate("e")["waiters"]) == 1)
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertEqual(process.wait(10), 5)
        self.assertEqual(waiter.wait(10), 0)
        self.assertEqual(self.gate("e")["healed"], 0)
        self.assertEqual(self.run_kgate("run", "-n", "e", "--exec", "--", "/no/such/command").returncode, 127)
        self.assertEqual(self.run_kgate("run", "-n", "e", "--try", "--", "true").returncode, 0)

    def test_the_slot_of_a_nested_kgate_is_its_own(self):
        self.hold("inner", "2")
        done = self.run_kgate("run", "-n", "outer", "--", "echo", "{slot}", "{{slot}}", "{other}", "{slot:outer}", "a{slot}b{")
        self.assertEqual(done.stdout, "0 {slot} {other} 0 a0b{\n")
        done = self.run_kgate("run", "-n", "outer", "--", KGATE, "run", "-n", "inner", "--", "echo", "{slot}")
        self.assertEqual(done.stdout, "1\n")

    def test_several_gates_all_or_none(self):
        done = self.run_kgate("run", "-n", "gpu", "-k", "2", "-w", "2", "-n", "app.license", "-k", "3", "--", "sh", "-c",
                              'echo "$KGATE_NAME $KGATE_SLOT $KGATE_SLOTS $KGATE_SLOT_GPU $KGATE_SLOT_APP_LICENSE $0"', "{slot:app.license}")
        self.assertEqual(done.stdout, "gpu 0,1 2 0,1 0 0\n")
        self.hold("license")
        done = self.run_kgate("run", "-n", "license", "-n", "gpu", "--try", "--", "true")
        self.assertEqual(done.returncode, 122)
        self.assertEqual(self.holders("gpu"), [])
        waiter = self.start("run", "-n", "license", "-n", "gpu", "--", "true")
        self.until(lambda: len(self.gate("license")["waiters"]) == 1)
        self.assertEqual(len(self.holders("gpu")), 1)
        self.assertEqual(self.run_kgate("run", "-n", "gpu", "-w", "2", "--try", "--", "true").returncode, 122)
        waiter.terminate()
        self.assertEqual(waiter.wait(10), -15)
        self.assertEqual(self.run_kgate("run", "-n", "gpu", "-w", "2", "--try", "--", "true").returncode, 0)

    def test_two_gates_named_in_any_order_never_deadlock(self):
        runs = [self.start("run", "-n", a, "-n", b, "--", "true") for a, b in [("a", "b"), ("b", "a")] * 10]
        for process in runs:
            self.assertEqual(process.wait(30), 0)

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
        self.served_in_order(50)

    def test_waiters_that_become_their_commands_are_served_in_order(self):
        # Each learns of the end of the one before it by the kernel's event alone.
        self.served_in_order(30, "--exec")

    def served_in_order(self, count, *options):
        log = os.path.join(self.dir, "log")
        go = os.path.join(self.dir, "go")
        os.mkfifo(go)
        holder = self.start("run", *options, "--", "sh", "-c", f"read line < {go}")
        self.until(lambda: len(self.holders()) == 1)
        for i in range(count):
            self.start("run", *options, "--", "sh", "-c", f"echo {i} >> {log}")
            self.until(lambda: len(self.gate()["waiters"]) == i + 1)
        with open(go, "w", encoding="ascii") as out:
            out.write("go\n")
        for process in self.started:
            self.assertEqual(process.wait(60), 0)
        with open(log, encoding="ascii") as lines:
            self.assertEqual([int(line) for line in lines], list(range(count)))
        self.assertEqual(holder.returncode, 0)
        self.assertEqual(self.gate()["healed"], 0)


if __name__ == "__main__":
    main()
