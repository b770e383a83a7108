#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C suite and the Python suites with AddressSanitizer and UndefinedBehaviorSanitizer in the library and in the extension.

usage: sanitized_deep_test.py ROOT TOOL
Valgrind is no way to do this: it does not know futex_waitv, by which gates wait.
"""
import os
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT, TOOL = Path(), ""
CLUSTER_HEADER = Path("/usr/include/zookeeper/zookeeper.h")
FLAGS = ["-O1", "-g", "-fPIC", "-pthread", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[:3]}: exit code {done.returncode}\n{done.stdout[-6000:]}{done.stderr[-6000:]}")
    return done


class Sanitized(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.made.name)
        include = [f"-I{ROOT}/include", f"-I{ROOT}/src"]
        cls.with_cluster = CLUSTER_HEADER.exists()
        rooms = ("gate", "c", "cluster") if cls.with_cluster else ("gate", "c")
        sources = [p for room in rooms for p in sorted((ROOT / "src" / room).glob("*.cpp"))]

        def compiled(source):
            run("g++", "-std=c++20", *FLAGS, "-DTHREADED", *include, "-c", source, "-o", cls.folder / f"{source.parent.name}_{source.stem}.o")

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compiled, sources))
        run("g++", *FLAGS, "-shared", *cls.folder.glob("gate_*.o"), *cls.folder.glob("c_*.o"), "-Wl,-soname,libkgate.so.1", "-o", cls.folder / "libkgate.so.1")
        (cls.folder / "libkgate.so").symlink_to("libkgate.so.1")
        link = [f"-L{cls.folder}", "-lkgate", f"-Wl,-rpath,{cls.folder}"]
        for name in ("interface_test", "errors_test", "results_test", "signals_test"):
            run("gcc", "-std=c11", "-D_GNU_SOURCE", *FLAGS, *include, f"-I{ROOT}/tests", ROOT / f"tests/c/{name}.c", "-o",
                cls.folder / name, *link)
        package = cls.folder / "python/kgate"
        package.mkdir(parents=True)
        python = ROOT / "bindings/python/src"
        for source in (python / "kgate").iterdir():
            if source.is_file():
                (package / source.name).write_text(source.read_text())
        run("gcc", *FLAGS, "-shared", f"-I{sysconfig.get_paths()['include']}", *include, f"-I{python}", *sorted((python / "native").glob("*.c")),
            "-o", package / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}", *link)
        if cls.with_cluster:  # with gates of its own, as the package has it
            run("g++", "-std=c++20", *FLAGS, "-DTHREADED", "-fvisibility=hidden", "-shared", f"-I{sysconfig.get_paths()['include']}", *include, f"-I{python}",
                python / "native/cluster.cpp", *cls.folder.glob("cluster_*.o"), *cls.folder.glob("gate_*.o"), "-lzookeeper_mt",
                "-o", package / f"_cluster{sysconfig.get_config_var('EXT_SUFFIX')}")

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def environment(self, **more):
        return {**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1", **more}

    def test_c(self):
        for command in (["interface_test"], ["errors_test", TOOL], ["results_test", TOOL], ["signals_test"]):
            run(self.folder / command[0], *command[1:], env=self.environment(KGATE_DIR=str(self.folder)), timeout=900)

    def python(self, suite, *arguments):
        # The runtime of C++ as well: the sanitizer looks for what it intercepts there when the interpreter, written in C, starts.
        loaded = " ".join(run("gcc", f"-print-file-name={name}").stdout.strip() for name in ("libasan.so", "libstdc++.so.6"))
        # The interpreter keeps what it has until it ends: leaks are looked for in C.
        done = run(sys.executable, "-B", ROOT / "tests/python" / suite, *arguments, timeout=1800,
                   env=self.environment(PYTHONPATH=str(self.folder / "python"), LD_PRELOAD=loaded, ASAN_OPTIONS="detect_leaks=0"))
        self.assertNotIn("Sanitizer", done.stdout + done.stderr)
        self.assertIn("OK", done.stderr)

    def test_python(self):
        self.python("package_test.py", self.folder / "interface_test", TOOL)

    def test_python_errors(self):
        self.python("errors_test.py", ROOT, self.folder / "errors_test")

    def test_python_hostile(self):
        self.python("hostile_test.py")

    def test_python_between_machines(self):
        if not self.with_cluster or not Path("/usr/share/java/zookeeper.jar").exists():
            self.skipTest("no library for ZooKeeper, or no servers to be had")
        self.python("machines_test.py", ROOT / "src/cluster/ensemble")

    def test_asyncio(self):
        self.python("asyncio_test.py", self.folder / "interface_test", TOOL)


if __name__ == "__main__":
    ROOT, TOOL = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
