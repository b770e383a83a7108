#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler refuses, and in which words: each line is alone in a program that compiles without it.

usage: compile_errors_test.py ROOT COMPILER
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, COMPILER = Path(), ""
PROGRAM = """
#include <chrono>
#include <kgate/async.hpp>
#include <kgate/pool.hpp>
using namespace std::chrono_literals;
int main() {
  kgate::semaphore s(2);
  kgate::slots two(2);
  kgate::pool<int> numbers(2);
  (void)s.async_acquire(2);
  (void)two.async_acquire();
  %s
}
"""
REFUSED = (
    ("(void)s.async_acquire(2.0);", "a number of permits is an integer"),
    ("(void)two.async_acquire(2.0);", "a number of permits is an integer"),
    ("(void)numbers.async_borrow(2.0);", "a number of permits is an integer"),
    ("(void)two.async_acquire(2);", "a slot is one permit"),
    ("(void)numbers.async_borrow(1);", "a lease is one permit"),
    ("(void)s.async_acquire(1s);", "with a time limit, say where the coroutine goes on: an executor"),
    ("(void)two.async_acquire(1s);", "with a time limit, say where the coroutine goes on: an executor"),
    ("kgate::semaphore other = s;", "deleted"),
    ("kgate::slots other = two;", "deleted"),
)


class CompileErrors(unittest.TestCase):
    def compiled(self, line):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "main.cpp")
            source.write_text(PROGRAM % line)
            return subprocess.run([COMPILER, "-std=c++20", f"-I{ROOT / 'include'}", "-fsyntax-only", source], capture_output=True, text=True)

    def test_the_program_without_them(self):
        done = self.compiled("")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_is_refused_in_these_words(self):
        for line, words in REFUSED:
            with self.subTest(line):
                done = self.compiled(line)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    ROOT, COMPILER = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
