#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The builds that packagers and users make, one each: it configures, builds and does the main job. Where a compiler or its
optimiser is the point, tests of what users link with are built and run as well.

usage: variants_deep_test.py SOURCE Variants.test_NAME
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path()
PROGRAMS = ("-DKGATE_LAB=ON", "-DKGATE_TESTS=OFF", "-DKGATE_BENCH=OFF", "-DKGATE_FEW_UNITS=ON")
LIBRARIES = ("-DKGATE_LAB=OFF", "-DKGATE_TESTS=OFF", "-DKGATE_BENCH=OFF", "-DKGATE_FEW_UNITS=ON")
TESTED = ("-DKGATE_LAB=ON", "-DKGATE_TESTS=ON", "-DKGATE_BENCH=OFF", "-DKGATE_FEW_UNITS=ON")
TESTS = ("c_interface_test", "semaphore_test", "semaphore_slots_test", "gate_library", "objects_test")


class Variants(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kgate-variant-"))
        self.programs = self.folder / "b/bin"

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_in(self, *command):
        done = subprocess.run([str(c) for c in command], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "KGATE_DIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    def build(self, *options, targets=()):
        self.run_in("cmake", "-G", "Ninja", "-S", SOURCE, "-B", self.folder / "b", *options)
        self.run_in("cmake", "--build", self.folder / "b", *(["--target", *targets] if targets else []))
        self.assertEqual(self.run_in(self.programs / "kgate", "run", "-n", "v", "-k", "2", "--", "sh", "-c", "echo slot $KGATE_SLOT"), "slot 0\n")
        if "-DKGATE_LAB=ON" in options:
            self.assertIn("holds", self.run_in(self.programs / "kgate-lab", "check", "am97-chain-cc", "-N", "2", "-k", "1"))

    def build_and_test(self, *options):
        self.build(*options, *TESTED, targets=("kgate_tool", "kgate-lab", "kgate_c", *TESTS))
        for name in TESTS:
            self.run_in(self.programs / name)

    def test_release_at_o3_without_our_presets(self):
        self.build_and_test("-DCMAKE_BUILD_TYPE=Release")
        self.assertIn("-O3", (self.folder / "b/compile_commands.json").read_text())

    def test_clang(self):
        if not shutil.which("clang++"):
            self.skipTest("no clang++")
        self.build_and_test("--preset", "clang")
        self.assertIn("clang++", (self.folder / "b/compile_commands.json").read_text())

    def test_shared_library(self):
        self.build("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", *LIBRARIES)
        prefix, user = self.folder / "prefix", self.folder / "user"
        self.run_in("cmake", "--install", self.folder / "b", "--prefix", prefix)
        user.mkdir()
        (user / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\nfind_package(kgate 1.0 REQUIRED)\n"
                                             "add_executable(user main.cpp)\ntarget_link_libraries(user PRIVATE kgate::gate)\n")
        (user / "main.cpp").write_text('#include <kgate/gate.hpp>\nint main() { return kgate::gate("v", 2).enter().slot(); }\n')
        self.run_in("cmake", "-G", "Ninja", "-S", user, "-B", user / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.run_in("cmake", "--build", user / "b")
        self.run_in(user / "b/user")
        self.assertIn("libkgate_gate.so.1", self.run_in("readelf", "-d", user / "b/user"))

    def test_link_time_optimisation(self):
        self.build("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", *LIBRARIES)
        self.assertIn("-flto", (self.folder / "b/compile_commands.json").read_text())

    def test_unity(self):
        self.build("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON", *PROGRAMS)


if __name__ == "__main__":
    SOURCE = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
