# SPDX-License-Identifier: Apache-2.0
"""What the tests of kgate share. Each test is called as: NAME_test.py KGATE DOCUMENTS ROOT [unittest arguments]."""
import json
import os
import pty
import re
import shutil
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

    def on_a_terminal(self, *words, env=()):
        """All that kgate writes to a terminal of its own, and its exit code."""
        pid, master = pty.fork()
        if pid == 0:
            os.execve(KGATE, [KGATE, *words], {**self.env, **dict(env)})
        seen = b""
        try:
            while chunk := os.read(master, 4096):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(master)
        return seen, code

    def gate(self, name="default"):
        return json.loads(self.run_kgate("status", "-n", name, "--json").stdout)["gates"][0]

    def until(self, what, seconds=10):
        for _ in tries(seconds):
            try:
                if what():
                    return
            except (IndexError, ValueError):
                pass
        self.fail("it did not come to pass")

    def hold(self, name="default", k="1", command=("sleep", "60")):
        def commands():
            return len([one for one in self.holders(name) if one["command_pid"]])
        before = commands()
        process = self.start("run", "-n", name, "-k", k, "--", *command)
        self.until(lambda: commands() > before)
        return process

    def holders(self, name="default"):
        result = json.loads(self.run_kgate("status", "-n", name, "--json").stdout)["gates"]
        return result[0]["holders"] if result else []


def tries(seconds):
    """As many as there is time for, and never few: a machine that stands still meanwhile proves nothing."""
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end or count < 100:
        count += 1
        yield count
        time.sleep(0.01)


class Terminal:
    """A real terminal in which a line of shell runs."""

    def __init__(self, case, line, columns=100, rows=20):
        if not shutil.which("tmux"):
            case.skipTest("tmux is not installed")
        self.case = case
        self.socket = os.path.join(tempfile.mkdtemp(dir=case.dir), "tmux")  # one that was asked to end may still listen at its own
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", str(columns), "-y", str(rows), line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], env=self.case.env, capture_output=True, text=True, timeout=20).stdout

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "t")

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", "-t", "t", key)

    def until(self, pattern, seconds=10):
        for _ in tries(seconds):
            if re.search(pattern, self.text()):
                return
        self.case.fail(f"no {pattern!r} in\n{self.text()}")


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], "-v", *sys.argv[4:]])
