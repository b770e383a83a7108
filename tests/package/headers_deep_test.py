#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header alone, with strict warnings as errors: both compilers, C++20 and 23, without exceptions, without RTTI,
and with LLVM's library, which has no std::stop_token in version 14; those for Asio, and the one for C.

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

LLVM_USER = """
#include <kgate/async.hpp>
#include <kgate/pool.hpp>
#include <kgate/resilient.hpp>
#include <kgate/semaphore.hpp>
#include <kgate/slots.hpp>
#include <chrono>
#include <string>
#include <thread>
int main() {
  kgate::semaphore one(1);
  one.acquire();
  std::thread other([&] { one.acquire(); one.release(); });
  if (one.try_acquire_for(std::chrono::milliseconds(1))) return 1;
  one.release();
  other.join();
  kgate::slots two(2);
  kgate::pool<std::string> strings(2, [](std::ptrdiff_t) { return std::string("made"); });
  kgate::slot mine(two, kgate::stop_token());
  return mine && *strings.borrow() == "made" ? 0 : 1;
}
"""


class Headers(unittest.TestCase):
    def each_alone(self, compiler, *options, headers="*.hpp"):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        with tempfile.TemporaryDirectory() as folder:
            for header in sorted((SOURCE / "include/kgate").glob(headers)):
                name = header.relative_to(SOURCE / "include")
                with self.subTest(header=name, compiler=compiler, options=options):
                    user = Path(folder, "user.cpp")
                    user.write_text(f"#include <{name}>\n#include <{name}>\n")
                    done = subprocess.run([compiler, *options, *WARNINGS, f"-I{SOURCE}/include", "-fsyntax-only", user],
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def both(self, *options, headers="*.hpp"):
        for compiler in ("g++", "clang++"):
            self.each_alone(compiler, *options, headers=headers)

    def test_cxx20(self):
        self.both("-std=c++20")

    def test_cxx23(self):
        self.both("-std=c++2b")

    def test_without_exceptions(self):
        self.both("-std=c++20", "-fno-exceptions")

    def test_without_rtti(self):
        self.both("-std=c++20", "-fno-rtti")

    def test_with_asio(self):
        for needed in ("asio.hpp", "boost/asio.hpp"):
            if not Path("/usr/include", needed).exists():
                self.skipTest(f"no {needed}")
        for standard in ("-std=c++20", "-std=c++2b"):
            self.both(standard, headers="asio/*.hpp")

    def test_from_c(self):
        with tempfile.TemporaryDirectory() as folder:
            user = Path(folder, "user.c")
            user.write_text("#include <kgate/kgate.h>\n#include <kgate/kgate.h>\n")
            for compiler in ("gcc", "clang"):
                for standard in ("-std=c11", "-std=c17"):
                    with self.subTest(compiler=compiler, standard=standard):
                        done = subprocess.run([compiler, standard, *WARNINGS, f"-I{SOURCE}/include", "-fsyntax-only", user],
                                              capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def test_llvm_library(self):
        self.each_alone("clang++", "-std=c++20", "-stdlib=libc++")

    def test_llvm_library_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            user, program = Path(folder, "user.cpp"), Path(folder, "user")
            user.write_text(LLVM_USER)
            subprocess.run(["clang++", "-std=c++20", "-stdlib=libc++", "-O2", "-pthread", *WARNINGS, f"-I{SOURCE}/include",
                            user, "-o", program], check=True)
            subprocess.run([program], check=True, timeout=60)


if __name__ == "__main__":
    SOURCE = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
