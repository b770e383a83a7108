#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The launchers at the root, on a small tree that builds in a second: what they print, build, install and refuse.

usage: launch_test.py SOURCE
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path()
COPIED = ["kgate", "kgate-lab", "test", ".ci/run", "cmake/launch.sh", "packages.txt", "CMakePresets.json"]

LISTS = """cmake_minimum_required(VERSION 3.25)
project(small C)
option(KGATE_LAB "" ON)
option(KGATE_TESTS "" ON)
option(KGATE_BENCH "" ON)
option(KGATE_FEW_UNITS "" OFF)
option(KGATE_DEEP_TESTS "" OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(kgate src/kgate.c)
if(KGATE_LAB)
  add_executable(kgate-lab src/lab.c)
endif()
if(KGATE_CLUSTER)
  add_executable(kgate-cluster src/lab.c)
endif()
if(KGATE_TESTS)
  enable_testing()
  add_test(NAME quick_one COMMAND kgate)
  add_test(NAME deep_one COMMAND kgate)
  set_tests_properties(quick_one PROPERTIES LABELS quick)
  set_tests_properties(deep_one PROPERTIES LABELS deep)
endif()
"""
TOOL = """#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char** words) {
  char folder[4096];
  printf("NAME %s", getcwd(folder, sizeof folder));
  for (int i = 1; i < count; ++i) printf(" [%s]", words[i]);
  printf("\\n");
  return count > 1 ? atoi(words[1]) : 0;
}
"""
# Stands in for dpkg-query: everything is installed, or what $LACKING names is not.
DPKG = """#!/bin/bash
shift 3
status=0
for package; do
  if [[ " $LACKING " == *" $package "* ]]; then status=1; else echo "$package installed"; fi
done
exit $status
"""
RECORD = '#!/bin/bash\necho "$(basename "$0") $*" >>"$RECORD"\nexit ${REFUSE:-0}\n'
NOBODY = 65534


class Launch(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kgate launch "))  # a blank in the path, for the quoting
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "tree"
        for name in COPIED:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.root / name)
        (self.root / "include").mkdir()
        (self.root / "src").mkdir()
        (self.root / "CMakeLists.txt").write_text(LISTS)
        self.tool("kgate", "tool")
        self.tool("lab", "lab")
        self.fakes = self.folder / "fakes"
        self.fakes.mkdir()
        self.record = self.folder / "record"
        self.fake("dpkg-query", DPKG)

    def tool(self, file, name):
        (self.root / "src" / f"{file}.c").write_text(TOOL.replace("NAME", name))

    def fake(self, name, text):
        (self.fakes / name).write_text(text)
        (self.fakes / name).chmod(0o755)

    def recorded(self):
        return self.record.read_text().splitlines() if self.record.exists() else []

    def start(self, *command, cwd=None, as_nobody=False, **environment):
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if as_nobody else []
        return subprocess.Popen([*become, *map(str, command)], cwd=cwd or self.folder, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "PATH": f"{self.fakes}:{os.environ['PATH']}", "RECORD": str(self.record),
                                     **environment})

    def finish(self, process):
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def run_it(self, *command, **options):
        return self.finish(self.start(*command, **options))

    def without_ninja(self):
        self.fake("ninja", "#!/bin/sh\nexit 99\n")

    def test_builds_once_and_keeps_out_of_the_way(self):
        code, out, err = self.run_it(self.root / "kgate", "7", "two words")
        self.assertEqual((code, out), (7, f"tool {self.folder} [7] [two words]\n"))
        self.assertIn("building kgate", err)
        self.without_ninja()
        self.assertEqual(self.run_it(self.root / "kgate"), (0, f"tool {self.folder}\n", ""))

    def test_through_a_symlink_from_another_folder(self):
        link = self.folder / "bin" / "k"
        link.parent.mkdir()
        link.symlink_to(self.root / "kgate")
        code, out, _ = self.run_it("./k", cwd=link.parent)
        self.assertEqual((code, out), (0, f"tool {link.parent}\n"))

    def test_builds_again_what_changed(self):
        self.run_it(self.root / "kgate")
        self.tool("kgate", "changed")
        self.assertEqual(self.run_it(self.root / "kgate"), (0, f"changed {self.folder}\n", ""))

    def test_notices_files_added_and_removed(self):
        self.run_it(self.root / "kgate")
        self.without_ninja()
        (self.root / "include" / "new.h").touch()
        self.assertEqual(self.run_it(self.root / "kgate")[0], 1)
        (self.fakes / "ninja").unlink()
        self.assertEqual(self.run_it(self.root / "kgate")[0], 0)
        (self.root / "include" / "new.h").unlink()
        self.without_ninja()
        self.assertEqual(self.run_it(self.root / "kgate")[0], 1)

    def test_concurrent_first_uses(self):
        started = [self.start(self.root / launcher) for launcher in ("kgate", "kgate-lab") * 3]
        results = [self.finish(process) for process in started]
        self.assertEqual([(code, out) for code, out, _ in results],
                         [(0, f"{name} {self.folder}\n") for name in ("tool", "lab") * 3], results)

    def test_configures_only_what_is_needed(self):
        self.run_it(self.root / "kgate")
        cache = self.root / "build" / "release" / "CMakeCache.txt"
        self.assertIn("KGATE_LAB:BOOL=OFF", cache.read_text())
        code, out, _ = self.run_it(self.root / "kgate-lab")
        self.assertEqual((code, out), (0, f"lab {self.folder}\n"))
        self.assertIn("KGATE_LAB:BOOL=ON", cache.read_text())
        self.assertIn("KGATE_TESTS:BOOL=OFF", cache.read_text())

    def test_programs_come_from_few_units_and_tests_from_all(self):
        """Who wants the tool does not wait for each file; what is tested are the files by themselves; by hand it is as the preset says."""
        def units():
            cache = (self.root / "build/release/CMakeCache.txt").read_text()
            return [line.partition("=")[2] for line in cache.split("\n") if line.startswith("KGATE_FEW_UNITS:BOOL")]

        self.run_it(self.root / "kgate")
        self.assertEqual(units(), ["ON"])
        self.run_it(self.root / "kgate-lab")
        self.assertEqual(units(), ["ON"])
        self.assertEqual(self.run_it(self.root / "test")[0], 0)
        self.assertEqual(units(), ["OFF"])
        self.tool("kgate", "tool")
        self.run_it(self.root / "kgate")
        self.assertEqual(units(), ["OFF"])
        shutil.rmtree(self.root / "build")
        self.assertEqual(self.run_it("cmake", "--preset", "release", "-S", self.root)[0], 0)
        self.assertEqual(units(), ["OFF"])

    def test_a_copied_tree_builds_for_itself(self):
        self.run_it(self.root / "kgate")
        shutil.copytree(self.root, self.folder / "copy", symlinks=True)
        shutil.rmtree(self.root)
        self.root = self.folder / "copy"
        self.tool("kgate", "copied")
        self.assertEqual(self.run_it(self.root / "kgate")[:2], (0, f"copied {self.folder}\n"))

    def test_a_build_that_fails(self):
        (self.root / "src" / "kgate.c").write_text("int main(void) { return wrong; }\n")
        code, out, err = self.run_it(self.root / "kgate")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("wrong", err)
        self.assertRegex(err, r"kgate: the build of kgate failed \(log: .*\)\n$")
        self.tool("kgate", "mended")
        self.assertEqual(self.run_it(self.root / "kgate")[:2], (0, f"mended {self.folder}\n"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_installs_what_is_missing_and_no_more(self):
        self.fake("apt-get", RECORD)
        code, _, err = self.run_it(self.root / "kgate", LACKING="ninja-build libfmt-dev libgtest-dev")
        self.assertEqual(code, 0)
        self.assertIn("kgate: installing ninja-build\n", err)
        lines = self.recorded()
        self.assertEqual(len(lines), 2, lines)
        self.assertTrue(lines[0].endswith(" update"), lines)
        self.assertTrue(lines[1].endswith(" install ninja-build"), lines)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_gates_between_machines_are_built_when_they_are_asked_for(self):
        self.fake("apt-get", RECORD)
        program = self.root / "build" / "release" / "bin" / "kgate-cluster"
        words = (self.root / "kgate", "0", "run")
        self.run_it(*words, "--", "echo", "--on", "zk://a", LACKING="libzookeeper-mt-dev")
        self.assertFalse(program.exists())
        self.assertEqual(self.recorded(), [])
        code, out, err = self.run_it(*words, "--on", "zk://a", "--", "true", LACKING="libzookeeper-mt-dev")
        self.assertEqual((code, out), (0, f"tool {self.folder} [0] [run] [--on] [zk://a] [--] [true]\n"), err)
        self.assertTrue(program.exists())
        self.assertTrue(self.recorded()[1].endswith(" install libzookeeper-mt-dev"), self.recorded())
        self.without_ninja()
        self.assertEqual(self.run_it(*words, KGATE_ON="zk://a")[0], 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_an_installation_that_fails(self):
        self.fake("apt-get", RECORD)
        code, out, err = self.run_it(self.root / "kgate-lab", LACKING="libfmt-dev", REFUSE="100")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("kgate: could not install libfmt-dev", err)

    def test_names_what_is_missing_to_those_who_may_not_install(self):
        self.fake("sudo", "#!/bin/sh\nexit 1\n")
        as_nobody = os.geteuid() == 0
        if as_nobody:
            for folder, _, _ in os.walk(self.folder):
                os.chown(folder, NOBODY, NOBODY)
        code, out, err = self.run_it(self.root / "kgate-lab", LACKING="g++ libfmt-dev spin", as_nobody=as_nobody)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("please run: sudo apt-get install g++ libfmt-dev\n", err)

    def test_the_tests(self):
        cache = self.root / "build/release/CMakeCache.txt"
        code, out, _ = self.run_it(self.root / ".ci" / "run")
        self.assertEqual(code, 0)
        self.assertIn("KGATE_DEEP_TESTS:BOOL=OFF", cache.read_text())
        self.assertRegex(out, r"\nPASSED: 1 tests, 0 failed \(quick tier, release, \d+ s\)\n$")
        code, out, _ = self.run_it(self.root / "test", "--deep")
        self.assertEqual(code, 0)
        self.assertIn("PASSED: 2 tests, 0 failed (deep tier", out)
        self.assertIn("KGATE_DEEP_TESTS:BOOL=ON", cache.read_text())
        (self.root / "src" / "kgate.c").write_text("int main(void) { return 1; }\n")
        code, out, _ = self.run_it(self.root / "test")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: 1 tests, 1 failed (quick tier", out)
        code, out, _ = self.run_it(self.root / "test", "-R", "no such test")
        self.assertEqual(code, 1)

    def test_arguments_of_the_tests(self):
        for arguments in (["--wrong"], ["--asan", "--tsan"], ["-R"], ["quick"]):
            code, out, err = self.run_it(self.root / "test", *arguments)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), arguments)
        code, out, err = self.run_it(self.root / "test", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("--deep", out)

    def test_shellcheck(self):
        if not shutil.which("shellcheck"):
            self.skipTest("no shellcheck")
        scripts = [n for n in COPIED if not n.endswith((".txt", ".json"))] + ["bench/checker/run"]
        code, out, _ = self.run_it("shellcheck", "-x", *scripts, cwd=SOURCE)
        self.assertEqual(code, 0, out)


if __name__ == "__main__":
    SOURCE = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
