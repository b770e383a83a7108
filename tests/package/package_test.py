#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate as its users meet it: installed and found, as a subdirectory, through pkg-config; every header on its own, and all
headers in two translation units of one program.

usage: package_test.py SOURCE BUILD COMPILER
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, COMPILER = Path(), Path(), ""

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
# One of the two asks the compiled part for something, so that its library must be found too.
MAIN = """int other();
int main() {
  try {
    kgate::gate("no/name");
  } catch (const kgate::gate_error&) {
    return other();
  }
  return 1;
}
"""
OTHER = "int other();\nint other() { return 0; }\n"


def run(*command, fails=False, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="kgate-package-"))
        cls.prefix = cls.folder / "prefix"
        for component in ("development", "libraries"):
            run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", component)
        include = cls.prefix / "include"
        cls.installed = sorted(str(h.relative_to(include)) for h in include.rglob("*.hpp"))
        # Those for Asio need it; tests/semaphore compiles them.
        cls.headers = [h for h in cls.installed if not h.startswith("kgate/asio/")]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def project(self, name, find):
        """A program of two translation units that include every header, one of them in reverse."""
        project = self.folder / name
        project.mkdir()
        lines = [f"#include <{h}>\n" for h in self.headers]
        (project / "main.cpp").write_text("".join(lines) + MAIN)
        (project / "other.cpp").write_text("".join(reversed(lines)) + OTHER)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\n" + find +
            "\nadd_executable(user main.cpp other.cpp)\ntarget_link_libraries(user PRIVATE kgate::gate)\n"
            "if(TARGET kgate-lab OR TARGET gtest)\n  message(FATAL_ERROR \"too much was built\")\nendif()\n")
        return project

    def configure(self, project, *options, fails=False):
        run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_CXX_COMPILER={COMPILER}", *options,
            fails=fails)

    def build_and_run(self, project):
        run("cmake", "--build", project / "build", "-j", "1")
        run(project / "build" / "user")

    def test_headers_are_there(self):
        ours = sorted(str(h.relative_to(SOURCE / "include")) for h in (SOURCE / "include").rglob("*.hpp"))
        self.assertEqual(self.installed, ours)
        self.assertIn("kgate/detail/machine.hpp", self.headers)

    def test_find_package(self):
        project = self.project("found", "find_package(kgate 1.0 REQUIRED CONFIG COMPONENTS headers gate)")
        self.configure(project, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.build_and_run(project)

    def test_an_algorithm_of_ones_own_is_a_test(self):
        """What docs/own-algorithm.md shows, against an installed laboratory and against one that is not there."""
        document = (SOURCE / "docs" / "own-algorithm.md").read_text()
        lines = document.split("```cmake\n", 1)[1].split("```", 1)[0]
        project = self.folder / "laboratory"
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\n" + lines)
        self.configure(project, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DKGATE_LAB_PROGRAM=", fails=True)
        if not (BUILD / "bin" / "kgate-lab").exists():
            self.skipTest("the laboratory is not built")
        prefix = self.folder / "with_laboratory"
        for component in ("development", "libraries", "programs"):
            run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
        run(prefix / "bin" / "kgate-lab", "new", "mine.hpp", cwd=project)
        shutil.rmtree(project / "build")
        self.configure(project, f"-DCMAKE_PREFIX_PATH={prefix}")
        self.assertIn("100% tests passed", run("ctest", "--test-dir", project / "build"))
        text = (project / "mine.hpp").read_text()
        (project / "mine.hpp").write_text(text.replace('free_.fetch_add(p["4"], 1)', 'free_.fetch_add(p["4"], 2)'))
        run("ctest", "--test-dir", project / "build", fails=True)

    def test_find_package_refuses_another_version(self):
        for wanted in ("99", "0.9", "1.99"):
            project = self.project(f"other_version_{wanted}", f"find_package(kgate {wanted} REQUIRED CONFIG)")
            self.configure(project, f"-DCMAKE_PREFIX_PATH={self.prefix}", fails=True)

    def test_find_package_refuses_an_unknown_component(self):
        project = self.project("other_component", "find_package(kgate REQUIRED CONFIG COMPONENTS moon)")
        self.configure(project, f"-DCMAKE_PREFIX_PATH={self.prefix}", fails=True)

    def test_find_package_cluster(self):
        """A program of gates between machines, where they were built; elsewhere the component is said to be missing."""
        project = self.folder / "cluster"
        project.mkdir()
        (project / "main.cpp").write_text('#include <kgate/cluster.hpp>\nint main() {\n  try {\n    kgate::cluster_gate("nowhere", "x", 1);\n'
                                          "  } catch (const kgate::gate_error& e) {\n    return e.code() == kgate::gate_errc::bad_name ? 0 : 1;\n"
                                          "  }\n  return 1;\n}\n")
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\nfind_package(kgate 1.0 REQUIRED CONFIG COMPONENTS cluster)\n"
            "add_executable(user main.cpp)\ntarget_link_libraries(user PRIVATE kgate::cluster)\n")
        built = any(self.prefix.rglob("libkgate_cluster.*"))
        self.configure(project, f"-DCMAKE_PREFIX_PATH={self.prefix}", fails=not built)
        if built:
            self.build_and_run(project)

    def test_what_conan_tries(self):
        """The program of the recipe's own test, as Conan would build it."""
        project = self.folder / "conan"
        shutil.copytree(SOURCE / "packaging/conan/test_package", project)
        self.configure(project, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.build_and_run(project)

    def test_programs_come_with_manual_pages_and_completions(self):
        prefix = self.folder / "programs"
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "programs")
        installed = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if p.is_file()}
        pages = {f"share/man/man{p.suffix[1:]}/{p.name}" for p in (SOURCE / "man").iterdir()}
        self.assertLessEqual(pages | {"bin/kgate", "share/bash-completion/completions/kgate",
                                      "share/zsh/vendor-completions/_kgate",
                                      "share/fish/vendor_completions.d/kgate.fish"}, installed)

    def test_add_subdirectory(self):
        project = self.project("inside", f'add_subdirectory("{SOURCE}" kgate EXCLUDE_FROM_ALL)')
        self.configure(project)
        self.build_and_run(project)

    def test_fetch_content(self):
        project = self.project("fetched", f'include(FetchContent)\nFetchContent_Declare(kgate URL "{self.archive()}")\n'
                               "FetchContent_MakeAvailable(kgate)")
        self.configure(project)
        self.build_and_run(project)

    def archive(self):
        """The tree as somebody would download it, as far as users of the libraries need it."""
        made = self.folder / "kgate.tar.gz"
        run("tar", "-C", SOURCE, "-czf", made, "--transform", "s,^,kgate/,", "CMakeLists.txt", "cmake", "include", "src")
        return made

    def test_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config")
        (folder,) = self.prefix.rglob("pkgconfig")
        project = self.project("pkg", "")
        moved = self.folder / "moved"
        shutil.copytree(self.prefix, moved)
        flags = run("env", f"PKG_CONFIG_PATH={moved / folder.relative_to(self.prefix)}", "pkg-config", "--cflags", "--libs",
                    "kgate >= 1.0").split()
        self.assertIn("-std=c++20", flags)
        run(COMPILER, project / "main.cpp", project / "other.cpp", "-o", project / "user", *flags)
        run(project / "user")
        shutil.rmtree(moved)

    def test_each_header_alone(self):
        # Header by header, so that none leans on what another happens to include first.
        for header in self.headers:
            with self.subTest(header=header):
                self.syntax(COMPILER, [header, header])

    def test_below_cxx20_each_public_header_says_so_first(self):
        for header in self.installed:
            if header.startswith(("kgate/detail/", "kgate/algorithms/")):
                continue
            source = self.folder / "old.cpp"
            source.write_text(f"#include <{header}>\n")
            done = subprocess.run([COMPILER, "-std=c++17", "-Wfatal-errors", f"-I{self.prefix / 'include'}", "-fsyntax-only", source],
                                  capture_output=True, text=True)
            with self.subTest(header=header):
                self.assertRegex(done.stderr, 'error: .?#error "kgate needs C\\+\\+20: compile with -std=c\\+\\+20')

    def test_all_headers_with_clang(self):
        if not shutil.which("clang++"):
            self.skipTest("no clang++")
        self.syntax("clang++", self.headers)

    def syntax(self, compiler, headers):
        source = self.folder / "headers.cpp"
        source.write_text("".join(f"#include <{h}>\n" for h in headers))
        run(compiler, "-std=c++20", *WARNINGS, f"-I{self.prefix / 'include'}", "-fsyntax-only", source)

    def test_c_program(self):
        """By pkg-config and by find_package: a program in C needs the shared library and no C++."""
        (pkgconfig,) = self.prefix.rglob("pkgconfig")
        project = self.folder / "c"
        project.mkdir()
        (project / "main.c").write_text("#include <kgate/kgate.h>\nint main(void) {\n  kgate_gate *gate;\n"
                                        '  return kgate_gate_open(&gate, "no/name", 1, NULL) == KGATE_BAD_NAME ? 0 : 1;\n}\n')
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(user C)\nfind_package(kgate REQUIRED CONFIG COMPONENTS c)\n"
            "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE kgate::c)\n")
        if shutil.which("pkg-config"):
            flags = run("env", f"PKG_CONFIG_PATH={pkgconfig}", "pkg-config", "--cflags", "--libs", "libkgate").split()
            run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", project / "main.c", "-o", project / "by_flags", *flags)
            run("env", f"LD_LIBRARY_PATH={pkgconfig.parent}", project / "by_flags")
        run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.build_and_run(project)


if __name__ == "__main__":
    SOURCE, BUILD, COMPILER = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
