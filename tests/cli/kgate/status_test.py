#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: status, list, top and JSON."""
import json
import os
import signal
import struct
import subprocess

from tool import KGATE, ROOT_USER, Case, Terminal, main


class Status(Case):
    def test_status_json(self):
        self.hold("gpu", "1", ("sleep", "55"))
        waiter = self.start("run", "-n", "gpu", "--show-arguments", "--", "echo", 'a "quoted" \x01\u202e\x9b31m w\xf6rd')
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 1)
        gate = self.gate("gpu")
        self.assertEqual((gate["name"], gate["slots"], gate["healed"]), ("gpu", 1, 0))
        holder, waiting = gate["holders"][0], gate["waiters"][0]
        self.assertEqual((holder["slot"], holder["pid"], holder["command"]), (0, self.started[0].pid, "sleep"))
        self.assertEqual((waiting["position"], waiting["pid"]), (1, waiter.pid))
        self.assertEqual(waiting["command"], 'echo a "quoted" \ufffd\ufffd\ufffd31m w\xf6rd')
        self.assertEqual((holder["state"], waiting["state"]), ("running", "waiting"))
        with open(f"/proc/{holder['command_pid']}/cmdline", encoding="utf-8") as line:
            self.assertEqual(line.read().split("\0")[:2], ["sleep", "55"])
        for person in (holder, waiting):
            self.assertRegex(person["since"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertTrue(person["user"])

    def test_what_is_no_text_reaches_neither_a_terminal_nor_json(self):
        evil = b"a\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80\x1b[31m\x7f\xc2\x9b\xe2\x80\xae z"  # cut off, surrogates, too large, C0, C1, bidi
        self.hold("g")
        self.start("run", "-n", "g", "--show-arguments", "--", b"echo", evil)
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        self.assertRegex(self.gate("g")["waiters"][0]["command"], "^echo a\ufffd+\\(\ufffd+\\[31m\ufffd+ z$")
        for words in (("status",), ("top", "--once"), ("status", "--json")):
            done = subprocess.run([KGATE, *words], env=self.env, capture_output=True, timeout=30)
            shown = done.stdout.decode("utf-8", "strict")
            self.assertFalse(set(shown) & set("\033\x7f\x9b\u202e"), shown)
            self.assertIn("z", shown)

    def test_list_and_missing(self):
        self.assertEqual(json.loads(self.run_kgate("list", "--json").stdout), {"schema": 1, "gates": []})
        self.run_kgate("run", "-n", "a", "-k", "2", "--", "true")
        self.assertEqual(json.loads(self.run_kgate("list", "--json").stdout), {"schema": 1, "gates": [{"name": "a", "slots": 2, "inside": 0, "waiting": 0, "paused": False}]})
        missing = self.run_kgate("status", "-n", "b")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))

    def test_all_unknown_users_are_looked_up_at_once(self):
        if not ROOT_USER:
            self.skipTest("only root can be many users")
        os.chmod(self.dir, 0o777)
        self.run_kgate("create", "-n", "g", "-k", "12", "--mode", "666")
        for user in range(54301, 54307):
            self.start("run", "-n", "g", "--", "sleep", "60", user=user)
        self.until(lambda: len(self.holders("g")) == 6)
        tools = os.path.join(self.dir, "tools")
        os.mkdir(tools)
        log = os.path.join(tools, "log")
        with open(os.path.join(tools, "getent"), "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\necho "$*" >> {log}\necho known:x:54303:54303::/:/bin/sh\n')
        os.chmod(script.name, 0o755)
        seen = self.run_kgate("status", "-n", "g", env={**self.env, "PATH": tools + ":" + self.env["PATH"]})
        with open(log, encoding="utf-8") as calls:
            self.assertEqual(calls.read().splitlines(), ["passwd -- 54301 54302 54303 54304 54305 54306"])
        for user in ("54301", "known", "54306"):
            self.assertIn(user, seen.stdout)

    def test_no_colour_in_a_pipe_or_if_asked(self):
        self.hold()
        self.assertNotIn("\033", self.run_kgate("status").stdout)
        for no_color, expected in (("", True), ("1", False)):
            seen, _ = self.on_a_terminal("status", env={"NO_COLOR": no_color})
            self.assertEqual(b"\033[" in seen, expected)

    def test_waiting_shows_the_queue_on_a_terminal_only(self):
        self.hold()
        quiet = self.run_kgate("run", "-t", "700ms", "--", "true")
        self.assertNotIn("waiting", quiet.stderr)
        seen, code = self.on_a_terminal("run", "-t", "900ms", "--", "true")
        self.assertEqual(code, 124)
        self.assertIn(b"next in the queue", seen)

    def test_top_once(self):
        self.hold("gpu", "2")
        done = self.run_kgate("top", "--once")
        self.assertEqual(done.returncode, 0)
        self.assertIn("gpu: 1 of 2 slots taken, 0 waiting", done.stdout)

    def test_arguments_stay_private_unless_asked(self):
        self.hold("g", "1", ("sh", "-c", "sleep 60 # secret-token"))
        with open(os.path.join(self.dir, "g.gate"), "rb") as file:
            self.assertNotIn(b"secret", file.read())
        self.assertEqual(self.gate("g")["holders"][0]["command"], "sh")

    def test_a_long_line_is_cut_between_characters(self):
        self.hold("g")
        count = 0
        for character in "\u00fc", "\u20ac", "\U0001f600":
            for before in "", "x", "xx", "xxx":
                self.start("run", "-n", "g", "--show-arguments", "--", "echo", before + character * 200)
                count += 1
                self.until(lambda: len(self.gate("g")["waiters"]) == count)
                shown = self.gate("g")["waiters"][-1]["command"]
                self.assertRegex(shown, f"^echo {before}{character}{{25,60}}$")
                self.assertTrue(116 <= len(shown.encode()) <= 119, shown)
        for command in "status", "top":
            done = subprocess.run([KGATE, command], env=self.env, capture_output=True, timeout=30)
            self.assertNotIn("\ufffd", done.stdout.decode("utf-8", "strict"))

    def test_all_slots_of_a_weighted_holder(self):
        self.start("run", "-n", "g", "-k", "5", "-w", "3", "--", "sleep", "60")
        self.until(lambda: len(self.holders("g")) == 1 and self.holders("g")[0]["slots"] == [0, 1, 2])
        self.assertRegex(self.run_kgate("status").stdout, r"\n +0-2 +\d+ +\d+ .*\(weight 3\) sleep")

    def test_a_stopped_waiter_is_shown_as_stopped(self):
        holder = self.hold("g")
        waiter = self.start("run", "-n", "g", "--", "sleep", "60")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        waiter.send_signal(signal.SIGSTOP)
        self.until(lambda: self.gate("g")["waiters"][0]["state"] == "stopped")
        holder.terminate()
        holder.wait()
        self.until(lambda: len(self.gate("g")["holders"]) == 1)  # granted, though it cannot know yet
        granted = self.gate("g")["holders"][0]
        self.assertEqual((granted["state"], granted["slots"]), ("stopped", []))
        self.assertGreater(granted["since"], "2020")
        self.assertIn("[stopped]", self.run_kgate("status").stdout)
        waiter.send_signal(signal.SIGCONT)
        self.until(lambda: self.gate("g")["holders"][0]["state"] == "running")

    def test_healed_counts_deaths_only(self):
        holder = self.hold("g")
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            waiter = self.start("run", "-n", "g", "--", "true")
            self.until(lambda: len(self.gate("g")["waiters"]) == 1)
            waiter.send_signal(ending)
            self.assertEqual(waiter.wait(10), -ending)
        self.run_kgate("run", "-n", "g", "-t", "50ms", "--", "true")
        holder.terminate()
        holder.wait()
        self.assertEqual(self.run_kgate("run", "-n", "g", "--exec", "--", "true").returncode, 0)
        self.assertEqual(self.run_kgate("run", "-n", "g", "-t", "5", "--", "true").returncode, 0)
        self.assertEqual(self.gate("g")["healed"], 0)
        dead = self.start("run", "-n", "g", "--", "sh", "-c", "kill -9 $PPID $$")
        dead.wait()
        self.until(lambda: self.gate("g")["healed"] == 1)

    def test_top_in_a_terminal(self):
        self.hold("gpu", "1")
        self.start("run", "-n", "gpu", "--", "true")
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 1)
        with Terminal(self, f"{KGATE} top; echo ended $?; sleep 20") as terminal:
            terminal.until("gpu: 1 of 1 slots taken, 1 waiting")
            self.assertRegex(terminal.text(), r"slot +kgate +command +user +since +what")
            self.assertRegex(terminal.text(), r"position +kgate +command +user +waited +what")
            terminal.keys("t")
            terminal.until("order: time")
            terminal.keys("q")
            terminal.until("ended 0")

    def test_top_selects_cancels_and_signals(self):
        self.hold("gpu", "1")
        waiters = [self.start("run", "-n", "gpu", "--", "true") for _ in range(2)]
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 2)
        first = self.gate("gpu")["waiters"][0]["pid"]
        with Terminal(self, f"{KGATE} top; echo ended $?; sleep 20") as terminal:
            terminal.until("> +0 .*sleep")
            terminal.keys("j")
            terminal.until("> +1 ")
            terminal.keys("x")
            terminal.until(f"cancel process {first}")
            terminal.keys("y")
            terminal.until("1 waiting")
            cancelled = next(w for w in waiters if w.pid == first)
            self.assertEqual(cancelled.wait(10), 121)
            terminal.keys("k", "T")
            terminal.until("send SIGTERM")
            terminal.keys("y")
            for waiter in waiters:
                waiter.wait(10)
            terminal.until("0 of 1 slots taken, 0 waiting")
            terminal.keys("q")
            terminal.until("ended 0")

    def press_term(self, expected):
        with Terminal(self, f"{KGATE} top", columns=80) as terminal:
            terminal.until("> +0 ")
            self.assertIn("[K]ill [q]uit", terminal.text())
            terminal.keys("T")
            terminal.until("send SIGTERM")
            terminal.keys("y")
            terminal.until(expected)

    def test_top_signals_nobody_that_the_file_alone_names(self):
        holder = self.hold("gpu", "1")
        command = self.holders("gpu")[0]["command_pid"]
        victim = subprocess.Popen(["sleep", "60"])
        self.started.append(victim)
        path = os.path.join(self.dir, "gpu.gate")
        with open(path, "r+b") as file:
            data = file.read()
            old = struct.pack("<i", command)
            places = [i for i in range(0, len(data), 4) if data[i:i + 4] == old]
            self.assertTrue(places)
            for at in places:
                file.seek(at)
                file.write(struct.pack("<i", victim.pid))
        self.assertEqual(self.holders("gpu")[0]["command_pid"], victim.pid)
        self.press_term("not sent: process .* does not take part")
        self.assertIsNone(victim.poll())
        self.assertIsNone(holder.poll())

    def test_top_signals_nobody_across_pid_namespaces(self):
        unshare = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
        if not ROOT_USER or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no permission to make PID namespaces")
        inside = subprocess.Popen([*unshare, KGATE, "run", "-n", "gpu", "--", "sleep", "60"], env=self.env)
        self.started.append(inside)
        self.until(lambda: self.holders("gpu") and self.holders("gpu")[0]["command_pid"])
        self.press_term("not sent: ")
        self.assertIsNone(inside.poll())

    def test_top_signals_a_script_that_holds_and_a_program_that_execs(self):
        script = f"exec 9<\"$({KGATE} hold -n gpu --path)\"; {KGATE} hold -n gpu --fd 9; while :; do sleep 0.1; done"
        for words in (["sh", "-c", script], [KGATE, "run", "-n", "gpu", "--exec", "--", "sleep", "60"]):
            process = subprocess.Popen(words, env=self.env, stdout=subprocess.DEVNULL)
            self.started.append(process)
            self.until(lambda: len(self.holders("gpu")) == 1)
            self.press_term("SIGTERM sent")
            self.assertEqual(process.wait(10), -signal.SIGTERM)
            self.until(lambda: not self.holders("gpu"))

    def test_top_scrolls(self):
        self.hold("gpu", "1")
        for i in range(20):
            self.start("run", "-n", "gpu", "--", "true")
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 20)
        with Terminal(self, f"{KGATE} top; sleep 20", rows=12) as terminal:
            terminal.until("lines 1 to 9 of 24")
            self.assertNotRegex(terminal.text(), r"\n +20 ")
            terminal.keys("NPage", "NPage")
            terminal.until("> +20 ")
            terminal.keys("Home")
            terminal.until("> +0 ")
            terminal.keys("q")

    def test_top_on_a_tiny_terminal(self):
        self.hold("gpu", "1")
        waiter = self.start("run", "-n", "gpu", "--", "true")
        self.until(lambda: len(self.gate("gpu")["waiters"]) == 1)
        with Terminal(self, f"{KGATE} top; sleep 20", columns=20, rows=5) as terminal:
            terminal.until("> +0 ")
            terminal.keys("j", "x")
            terminal.until(r"\[y/n\] cancel")  # what is asked for can be seen
            terminal.keys("y")
            terminal.until("cancelled")
        self.assertEqual(waiter.wait(10), 121)

    def test_top_survives_being_stopped(self):
        self.hold("gpu", "1")
        with Terminal(self, "bash --norc -i") as terminal:
            terminal.keys("echo be''fore", "Enter")
            terminal.until("before")
            terminal.keys(f"{KGATE} top", "Enter")
            terminal.until("gpu: 1 of 1 slots taken")
            self.assertNotIn("before", terminal.text())
            terminal.keys("C-z")
            terminal.until("Stopped")
            self.assertIn("before", terminal.text())  # the shell's own screen is back
            self.assertNotIn("gpu: 1 of 1", terminal.text())
            terminal.keys("fg", "Enter")
            terminal.until("gpu: 1 of 1 slots taken")
            terminal.keys("q")
            terminal.until("fg")

    def test_top_on_a_dumb_terminal_and_codes(self):
        self.hold("gpu", "1")
        with Terminal(self, f"TERM=dumb {KGATE} top; echo ended $?; sleep 20") as terminal:
            terminal.until("ended 0")
            self.assertIn("gpu: 1 of 1 slots taken", terminal.text())
        for command in ("status", "top"):
            self.assertEqual(self.run_kgate(command, "-n", "missing").returncode, 1)
        with open(os.path.join(self.dir, "broken.gate"), "wb") as broken:
            broken.write(b"no gate")
        for command in ("status", "top"):
            done = self.run_kgate(command)
            self.assertEqual(done.returncode, 1)
            self.assertIn("broken.gate is not a gate", done.stderr)


if __name__ == "__main__":
    main()
