# SPDX-License-Identifier: Apache-2.0
"""What the tests of kgate-lab share. Each test is called as: NAME_test.py PROGRAM SOURCE."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, SOURCE = Path(), Path()
HOLDS, VIOLATED, USAGE, UNDECIDED, FAILED = range(5)
SECONDS_MAX = 120


def environment(**more):
    """Plain surroundings: what the caller prefers must not change what is tested."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    return {**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8", **more}


class LabTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kgate-lab-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_lab(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=SECONDS_MAX, cwd=self.folder, env=environment(), **options)

    def lab(self, code, *arguments):
        """stdout, having seen that the exit code is `code` and that nothing is on stderr."""
        done = self.run_lab(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertEqual(done.stderr, "", arguments)
        return done.stdout

    def lab_json(self, code, *arguments):
        return json.loads(self.lab(code, *arguments, "--json"))

    def refused(self, *arguments, says=()):
        """The command is refused in one line on stderr that contains all words of `says`."""
        done = self.run_lab(*arguments)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""), f"{arguments}\n{done.stderr}")
        self.assertRegex(done.stderr, r"\Akgate-lab: [^\n]+\n\Z", arguments)
        for word in says:
            self.assertIn(word, done.stderr, arguments)
        return done.stderr


def verdicts(result):
    return {one["name"]: one["verdict"] for one in result["properties"]}


def main():
    global PROGRAM, SOURCE
    PROGRAM, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    unittest.main(module="__main__", argv=[sys.argv[0], "-v", *sys.argv[3:]])
