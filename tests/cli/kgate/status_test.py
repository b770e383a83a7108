#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: status, list, top and JSON."""
import json
import os
import pty
import shutil
import subprocess

from tool import KGATE, Case, main


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


if __name__ == "__main__":
    main()
