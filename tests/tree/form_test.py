#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Form that checks itself: clang-format, shellcheck and pyflakes over the tree; clang-tidy over what a build compiles.

usage: form_test.py ROOT [--clang-tidy BUILD]
"""
import json
import os
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tidy

ROOT, BUILD = Path(), None


def run(*command):
    return subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True)


class Form(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = tidy.Tree(ROOT).files

    def check(self, files, *command):
        self.assertTrue(files)
        self.assertTrue(shutil.which(command[0]), f"{command[0]} is not installed")
        done = run(*command, *files)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])

    def test_code_is_formatted(self):
        self.check([n for n in self.files if n.endswith((".hpp", ".cpp", ".h", ".c"))], "clang-format", "--dry-run", "-Werror")

    def test_code_is_no_wider_than_its_limit(self):
        wide = [f"{name}:{number}" for name, text in self.files.items() if name.endswith((".hpp", ".cpp", ".h", ".c"))
                for number, line in enumerate(text.splitlines(), 1) if len(line) > 120]
        self.assertEqual(wide, [])

    def test_shell_scripts(self):
        self.check([n for n, t in self.files.items() if n.endswith(".sh") or t.startswith(("#!/bin/sh", "#!/usr/bin/env bash"))],
                   "shellcheck", "-x")

    def test_python_scripts(self):
        self.check([n for n in self.files if n.endswith(".py")], sys.executable, "-m", "pyflakes")


class ClangTidy(unittest.TestCase):
    def test_finds_nothing(self):
        if BUILD is None:
            self.skipTest("needs --clang-tidy BUILD")
        units = [entry["file"] for entry in json.loads((BUILD / "compile_commands.json").read_text())]
        units = sorted({u for u in units if Path(u).is_relative_to(ROOT / "src")})
        self.assertTrue(units)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda unit: run("clang-tidy", "--quiet", "-p", BUILD, unit), units))
        wrong = [done.stdout for done in found if done.returncode != 0]
        self.assertEqual(wrong, [], "\n".join(wrong)[-8000:])


if __name__ == "__main__":
    ROOT, *rest = sys.argv[1:]
    ROOT = Path(ROOT).resolve()
    if rest[:1] == ["--clang-tidy"]:
        BUILD = Path(rest[1]).resolve()
        del rest[:2]
        rest = ["ClangTidy", *rest]
    else:
        rest = ["Form", *rest]
    unittest.main(argv=[sys.argv[0], "-v", *rest])
