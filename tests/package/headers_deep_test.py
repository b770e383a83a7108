#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header alone, with strict warnings as errors: both compilers, C++20 and 23, without exceptions, without RTTI,
and with LLVM's library, which has no std::stop_token in version 14; those for Asio, and the one for C. A program that uses the
templates of each, so that their members are compiled, the same ways.

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

# Every member of the templates that programs name, and the members that are templates themselves, used.
USER = """
#include <kgate/async.hpp>
#include <kgate/pool.hpp>
#include <kgate/resilient.hpp>
#include <kgate/semaphore.hpp>
#include <kgate/slots.hpp>
#include <kgate/statistics.hpp>
#include <chrono>
using namespace std::chrono_literals;
using bounded = kgate::basic_semaphore<kgate::bounded_overtaking<8>, kgate::spin_park, kgate::statistics>;
using counted_slots = kgate::basic_slots<kgate::bounded_overtaking<8>, kgate::spin_park, kgate::statistics>;
template class kgate::basic_semaphore<>;
template class kgate::basic_semaphore<kgate::bounded_overtaking<8>, kgate::spin_park, kgate::statistics>;
template class kgate::basic_permit<kgate::semaphore>;
template class kgate::basic_slots<>;
template class kgate::basic_slots<kgate::bounded_overtaking<8>, kgate::spin_park, kgate::statistics>;
template class kgate::basic_slot<>;
template class kgate::pool<int>;
template class kgate::pool<int, counted_slots>;
template class kgate::fifo_queue<>;
template class kgate::fifo_queue<int, 3>;
template class kgate::priority_queue<>;
template class kgate::priority_queue<long, 3>;
template class kgate::small_map<>;
template class kgate::small_map<int, char, 3>;
template class kgate::resilient<kgate::counter, 1>;
template class kgate::resilient<kgate::fifo_queue<>, 4>;
template class kgate::resilient<kgate::fifo_queue<>, 4, kgate::slots>;
template class kgate::resilient<kgate::small_map<>, 4, kgate::healing>;
template <class Semaphore>
bool uses(Semaphore& s, kgate::stop_token stop) {
  const auto when = std::chrono::steady_clock::now();
  const bool acquired = s.acquire(stop) && s.try_acquire_for(1ms) && s.try_acquire_until(when) && s.try_acquire_for(stop, 1ms) &&
                        s.try_acquire_until(stop, when);
  return acquired;
}
template bool uses(kgate::semaphore&, kgate::stop_token);
template bool uses(bounded&, kgate::stop_token);
template bool uses(kgate::slots&, kgate::stop_token);
template bool uses(counted_slots&, kgate::stop_token);
bool holds(kgate::semaphore& s, kgate::slots& slots, kgate::pool<int>& pool, kgate::stop_token stop) {
  const kgate::permit one(s), two(s, 2), limited(s, 1ms), stopped(s, stop);
  const kgate::slot first(slots), second(slots, 1ms), third(slots, stop);
  const auto lent = pool.borrow();
  const auto soon = pool.try_borrow_for(1ms);
  return one && two && limited && stopped && first && second && third && *lent == 0 && soon;
}
template <class Awaited>
bool awaits(Awaited&& what) {
  return what.await_ready();
}
bool suspends(kgate::semaphore& s, bounded& b, kgate::slots& slots, kgate::pool<int>& pool, kgate::stop_token stop) {
  const kgate::inline_executor here;
  return awaits(s.async_acquire()) && awaits(b.async_acquire(2, 1ms, stop, here)) &&
         awaits(slots.async_acquire(1ms, here)) && awaits(pool.async_borrow(stop));
}
long applies() {
  kgate::resilient<kgate::counter, 4> counted;
  kgate::resilient<kgate::small_map<>, 4> names;
  return counted.apply(kgate::counter::add(3)) + static_cast<long>(names.apply(kgate::small_map<>::put(1, 2)).value);
}
"""

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
    def each_alone(self, compiler, *options, headers=("*.hpp", "objects/**/*.hpp")):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        with tempfile.TemporaryDirectory() as folder:
            for header in sorted(p for pattern in headers for p in (SOURCE / "include/kgate").glob(pattern)):
                name = header.relative_to(SOURCE / "include")
                with self.subTest(header=name, compiler=compiler, options=options):
                    user = Path(folder, "user.cpp")
                    user.write_text(f"#include <{name}>\n#include <{name}>\n")
                    done = subprocess.run([compiler, *options, *WARNINGS, f"-I{SOURCE}/include", "-fsyntax-only", user],
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def both(self, *options, headers=("*.hpp", "objects/**/*.hpp")):
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
            self.both(standard, headers=("asio/*.hpp",))

    def test_what_programs_use_of_the_templates(self):
        with tempfile.TemporaryDirectory() as folder:
            user = Path(folder, "user.cpp")
            user.write_text(USER)
            for compiler in ("g++", "clang++"):
                for more in ((), ("-fno-exceptions",), ("-fno-rtti",), ("-O2",)):
                    with self.subTest(compiler=compiler, options=more):
                        if not shutil.which(compiler):
                            self.skipTest(f"no {compiler}")
                        done = subprocess.run([compiler, "-std=c++20", *more, *WARNINGS, f"-I{SOURCE}/include", "-c", user, "-o", "/dev/null"],
                                              capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

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
