#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of semaphores, slots, pools, objects and of waiting without a thread, built for other processors and run by qemu.

usage: foreign_deep_test.py SOURCE
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path()
GTEST = Path("/usr/src/googletest/googletest")
TESTS = ("semaphore/semaphore_test.cpp", "semaphore/stress_test.cpp", "semaphore/slots_test.cpp", "semaphore/async_stress_test.cpp",
         "semaphore/acquire_event_test.cpp", "semaphore/edges_test.cpp", "objects/stress_test.cpp")
# What the emulator makes of a thread's own processor time and of signals to threads is not what these ask for; and where it knows no
# robust locks (riscv64) nothing that heals by them can be made.
LEFT_OUT = "-*DeathTest*:*ProcessorTime*:*NamesThatHeal*"


class Foreign(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kgate-foreign-"))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_in(self, *command, limit=1800):
        done = subprocess.run([str(c) for c in command], cwd=self.folder, capture_output=True, text=True, timeout=limit)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    def build_and_run(self, triplet, machine, *options, tests=TESTS):
        compiler, emulator = f"{triplet}-g++", f"qemu-{machine}-static"
        for needed in (compiler, emulator):
            if not shutil.which(needed):
                self.skipTest(f"no {needed}")
        if not GTEST.is_dir():
            self.skipTest(f"no {GTEST}")
        common = (compiler, "-std=c++20", "-O1", "-static", "-pthread", f"-I{SOURCE}/include", f"-I{SOURCE}/src", f"-I{SOURCE}/tests",
                  f"-I{GTEST}", f"-I{GTEST}/include", "-DGTEST_HAS_PTHREAD=1", *options)
        for part in ("gtest-all", "gtest_main"):
            self.run_in(*common, "-c", GTEST / "src" / f"{part}.cc", "-o", f"{part}.o")
        for test in tests:
            with self.subTest(test=test):
                program = test.replace("/", "_").removesuffix(".cpp")
                self.run_in(*common, SOURCE / "tests" / test, "gtest-all.o", "gtest_main.o", "-o", program)
                output = self.run_in(emulator, f"./{program}", f"--gtest_filter={LEFT_OUT}")
                self.assertIn("[  PASSED  ]", output)
                self.assertNotIn("[==========] Running 0 tests", output)

    def test_aarch64(self):
        self.build_and_run("aarch64-linux-gnu", "aarch64")

    def test_riscv64(self):
        self.build_and_run("riscv64-linux-gnu", "riscv64")

    def test_32_bits(self):
        tests = ("semaphore/semaphore_test.cpp", "semaphore/edges_test.cpp", "semaphore/slots_test.cpp")
        for time in ((), ("-D_FILE_OFFSET_BITS=64", "-D_TIME_BITS=64")):
            self.build_and_run("arm-linux-gnueabihf", "arm", *time, tests=tests)


if __name__ == "__main__":
    SOURCE = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
