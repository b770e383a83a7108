#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header alone, with strict warnings as errors: both compilers, C++20 and 23, without exceptions, without RTTI.

usage: headers_deep_test.py SOURCE
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path()
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror")


class Headers(unittest.TestCase):
    def each_alone(self, compiler, *options):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        with tempfile.TemporaryDirectory() as folder:
            for header in sorted((SOURCE / "include/kgate").glob("*.hpp")):
                with self.subTest(header=header.name, options=options):
                    user = Path(folder, "user.cpp")
                    user.write_text(f"#include <kgate/{header.name}>\n#include <kgate/{header.name}>\n")
                    done = subprocess.run([compiler, *options, *WARNINGS, f"-I{SOURCE}/include", "-fsyntax-only", user],
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def both(self, *options):
        for compiler in ("g++", "clang++"):
            self.each_alone(compiler, *options)

    def test_cxx20(self):
        self.both("-std=c++20")

    def test_cxx23(self):
        self.both("-std=c++2b")

    def test_without_exceptions(self):
        self.both("-std=c++20", "-fno-exceptions")

    def test_without_rtti(self):
        self.both("-std=c++20", "-fno-rtti")


if __name__ == "__main__":
    SOURCE = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
