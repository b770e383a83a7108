#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manners: interrupts, the progress line, colours, and stdout that cannot be written."""
import errno
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import lab
from lab import FAILED, HOLDS, UNDECIDED, VIOLATED, LabTest, verdicts

LONG = ("check", "am97-fastpath-nested-dsm-small", "-N", "5", "-k", "2")
SMALL = ("check", "am97-chain-cc", "-N", "2", "-k", "1")


class Interrupts(LabTest):
    def interrupted(self, sent, *more):
        process = subprocess.Popen([lab.PROGRAM, *LONG, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=lab.environment())
        self.addCleanup(process.kill)
        time.sleep(1)
        self.assertIsNone(process.poll(), "the check is too short for this test")
        process.send_signal(sent)
        begin = time.monotonic()
        out, err = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual((process.returncode, err), (UNDECIDED, ""))
        return out

    def test_says_what_was_covered(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            out = self.interrupted(sent)
            self.assertRegex(out, r"k-exclusion +undecided +interrupted")
            self.assertRegex(" ".join(out.split()), r"interrupted: what was explored until then: [\d,]+ states, [\d,]+ transitions")

    def test_json(self):
        result = json.loads(self.interrupted(signal.SIGINT, "--json"))
        self.assertEqual(set(verdicts(result).values()), {"undecided"})
        self.assertGreater(result["states"], 1)

    def test_second_one_ends_at_once(self):
        # Stopped in between, the program cannot answer the first before the second arrives.
        process = subprocess.Popen([lab.PROGRAM, *LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=lab.environment())
        self.addCleanup(process.kill)
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=30)
        self.assertIn(process.returncode, (-signal.SIGINT, -signal.SIGTERM))
        self.assertEqual(out, b"")


class Terminal(LabTest):
    def on_terminal(self, *arguments, columns=80, stdout_too=False, **surroundings):
        """(exit code, stdout unless on the terminal, what the terminal saw)."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([lab.PROGRAM, *arguments], stdin=theirs, stdout=theirs if stdout_too else subprocess.PIPE,
                                   stderr=theirs, env=lab.environment(**surroundings))
        self.addCleanup(process.kill)
        os.close(theirs)
        seen, begin = b"", time.monotonic()
        while time.monotonic() - begin < lab.SECONDS_MAX:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError as e:
                self.assertEqual(e.errno, errno.EIO)
                piece = b""
            if not piece:
                break
            seen += piece
        os.close(ours)
        out = b"" if stdout_too else process.stdout.read()
        if process.stdout:
            process.stdout.close()
        return process.wait(timeout=30), out.decode(), seen.decode()

    def test_progress_line(self):
        begin = time.monotonic()
        code, out, seen = self.on_terminal(*LONG, "--time-max", "2s", "--json")
        lasted = time.monotonic() - begin
        self.assertEqual(code, UNDECIDED)
        json.loads(out)
        shown = seen.split("\r\033[K")
        self.assertEqual(shown[0], "")
        self.assertEqual(shown[-1], "", "the line was not cleared at the end")
        lines = shown[1:-1]
        self.assertTrue(lines)
        self.assertLessEqual(len(lines), 5 * lasted + 1)
        for line in lines:
            self.assertRegex(line, r"\Aexploring: [\d.]+[kMG]? states, [\d.]+[kMG]?/s, queue [\d.]+[kMG]?, [\d.]+ [kMG]B\Z")

    def test_progress_line_fits(self):
        _, _, seen = self.on_terminal(*LONG, "--time-max", "1s", columns=20)
        lines = seen.split("\r\033[K")[1:-1]
        self.assertTrue(lines)
        for line in lines:
            self.assertLess(len(line), 20)

    def test_no_progress_line_elsewhere(self):
        done = self.run_lab(*LONG, "--time-max", "1s")
        self.assertEqual((done.returncode, done.stderr), (UNDECIDED, ""))

    def test_colours(self):
        code, _, seen = self.on_terminal(*SMALL, stdout_too=True)
        self.assertEqual(code, HOLDS)
        self.assertRegex(seen, "\033\\[32mholds *\033\\[0m")
        code, _, seen = self.on_terminal("check", "fa-semaphore", "-N", "2", "-k", "1", stdout_too=True)
        self.assertEqual(code, VIOLATED)
        self.assertRegex(seen, "\033\\[31mviolated *\033\\[0m")

    def test_no_colours(self):
        for surroundings in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            _, _, seen = self.on_terminal(*SMALL, stdout_too=True, **surroundings)
            self.assertNotIn("\033[3", seen)
        self.assertRegex(self.on_terminal(*SMALL, stdout_too=True, NO_COLOR="")[2], "\033\\[32m")

    def test_list_fits(self):
        for columns in (80, 120):
            _, _, seen = self.on_terminal("list", columns=columns, stdout_too=True)
            plain = re.sub("\033\\[\\d*m", "", seen)
            self.assertLessEqual(max(map(len, plain.splitlines())), columns)


class Output(LabTest):
    COMMANDS = (("list",), ("list", "--json"), ("explain", "mcs"), SMALL, (*SMALL, "--json"), ("--help",), ("check", "--help"),
                ("--version",), ("replay", "--algorithm", "mcs", "-N", "2", "-k", "1", "--property", "k-exclusion", "--schedule", "0"))

    def test_full_disk(self):
        for command in self.COMMANDS:
            with open("/dev/full", "w") as full:
                done = subprocess.run([lab.PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, FAILED, command)
            self.assertRegex(done.stderr, r"\Akgate-lab: cannot write to stdout: [^\n]+\n\Z")

    def test_closed_pipe(self):
        for command in self.COMMANDS:
            read, write = os.pipe()
            os.close(read)
            # Python lets its children ignore SIGPIPE or not; the program must not care.
            done = subprocess.run([lab.PROGRAM, *command], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
            os.close(write)
            self.assertEqual(done.returncode, FAILED, command)
            self.assertRegex(done.stderr, r"\Akgate-lab: cannot write to stdout: [^\n]+\n\Z")

    def test_closed_stdout(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" list >&-', lab.PROGRAM], stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, FAILED)


if __name__ == "__main__":
    lab.main()
