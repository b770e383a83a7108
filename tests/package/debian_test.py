#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages without building them: what an installation brings belongs to exactly one of them, what they list exists,
their symbols are those of the library; unpacked into an empty root they work from the shell, from C by pkg-config and by CMake, and from
Python. ./package builds them, and chroot_deep_test.py installs them on a bare system.

usage: debian_test.py SOURCE BUILD
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD = Path(), Path()


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def packages():
    return re.findall(r"^Package: (\S+)$", (SOURCE / "debian/control").read_text(), re.M)


def patterns(package):
    """What debian/PACKAGE.install takes, as it lies below the prefix of a plain installation."""
    lines = (SOURCE / f"debian/{package}.install").read_text().split()
    return [line.removeprefix("usr/").replace("lib/*/", "lib*/") for line in lines]


def taken(package, files):
    return {f for f in files for p in patterns(package) if fnmatch.fnmatch(f, p) or fnmatch.fnmatch(f, p + "/*")}


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="kgate-debian-"))
        cls.root = cls.folder / "root"
        run("cmake", "--install", BUILD, "--prefix", cls.root / "usr")
        cls.files = {str(p.relative_to(cls.root / "usr")) for p in (cls.root / "usr").rglob("*") if not p.is_dir()}
        cls.cluster = "bin/kgate-cluster" in cls.files

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_everything_installed_belongs_to_one_package(self):
        owners = {f: [p for p in packages() if f in taken(p, self.files)] for f in self.files}
        self.assertEqual({f: o for f, o in owners.items() if len(o) != 1}, {})

    def test_everything_listed_exists(self):
        for package in packages():
            for pattern in patterns(package):
                if "python3" in pattern or not self.cluster and "cluster" in pattern:
                    continue  # installed only where they are asked for
                with self.subTest(package=package, pattern=pattern):
                    self.assertTrue(any(fnmatch.fnmatch(f, pattern) or fnmatch.fnmatch(f, pattern + "/*") for f in self.files))

    def test_the_list_of_packages_is_what_package_tells(self):
        usage = run(SOURCE / "package", "--help")
        for package in packages():
            self.assertIn(package, usage)
            self.assertTrue((SOURCE / f"debian/{package}.install").exists())

    def test_build_dependencies_are_those_of_packages_txt(self):
        sections = re.split(r"^\[(\w+)\]$", (SOURCE / "packages.txt").read_text(), flags=re.M)
        listed = {name: set(text.split()) for name, text in zip(sections[1::2], sections[2::2])}
        needed = re.search(r"^Build-Depends: (.*?)^\S", (SOURCE / "debian/control").read_text(), re.M | re.S)[1]
        needed = {re.sub(r"[\s(].*", "", word.strip(), flags=re.S) for word in needed.split(",")}
        virtual = {"debhelper-compat": "debhelper", "dh-sequence-python3": "dh-python"}
        self.assertLessEqual({virtual.get(n, n) for n in needed}, listed["build"] | listed["lab"] | listed["cluster"] | listed["package"])

    def test_symbols_are_those_of_the_library(self):
        shown = {line.split()[0] for line in (SOURCE / "debian/libkgate1.symbols").read_text().split("\n") if line.startswith(" ")}
        (library,) = (self.root / "usr").glob("lib*/libkgate.so.1")
        defined = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library)
        self.assertEqual({name.replace("@@", "@") for name in re.findall(r" [A-Za-z] (kgate\w+@+KGATE\w+)", defined)} | {"KGATE_1@KGATE_1"}, shown)

    def test_unpacked_they_work(self):
        """Each package by its list alone, as dpkg would put it down."""
        root = self.folder / "unpacked"
        for package in ("kgate", "libkgate1", "libkgate-dev"):
            made = self.folder / package
            (made / "DEBIAN").mkdir(parents=True)
            (made / "DEBIAN/control").write_text(f"Package: {package}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x.invalid>\n"
                                                 "Description: x\n")
            for name in taken(package, self.files):
                (made / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.root / "usr" / name, made / "usr" / name, follow_symlinks=False)
            run("dpkg-deb", "-Znone", "--build", made, self.folder / f"{package}.deb")
            run("dpkg-deb", "--extract", self.folder / f"{package}.deb", root)
        own = {**os.environ, "KGATE_DIR": str(self.folder)}
        self.assertEqual(run(root / "usr/bin/kgate", "run", "-n", "u", "-k", "2", "--", "sh", "-c", "echo $KGATE_SLOT", env=own), "0\n")
        source = self.folder / "main.c"
        source.write_text('#include <kgate/kgate.h>\n#include <stdio.h>\nint main(void) {\n  kgate_gate *gate;\n'
                          '  if (kgate_gate_open(&gate, "u", 2, NULL)) return 1;\n  puts(kgate_version());\n  return 0;\n}\n')
        (pkgconfig,) = root.rglob("pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "libkgate", env={**os.environ, "PKG_CONFIG_PATH": str(pkgconfig)}).split()
        run("cc", source, "-o", self.folder / "main", *flags)
        version = ".".join(re.findall(r"#define KGATE_VERSION_\w+ (\d+)", (SOURCE / "include/kgate/version.hpp").read_text()))
        linked = {**own, "LD_LIBRARY_PATH": str(pkgconfig.parent)}
        self.assertEqual(run(self.folder / "main", env=linked), version + "\n")
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user C)\nfind_package(kgate 1.0 REQUIRED COMPONENTS c)\n"
                                                    "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE kgate::c)\n")
        run("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "b", f"-DCMAKE_PREFIX_PATH={root}/usr")
        run("cmake", "--build", self.folder / "b")
        self.assertEqual(run(self.folder / "b/user", env=own), version + "\n")
        # python3-kgate is put together by dh; its files are those of the build.
        listed = [line.rpartition("/")[2] for line in (SOURCE / "debian/python3-kgate.install").read_text().split()]
        for pattern in listed:
            self.assertTrue(list((BUILD / "python/kgate").glob(pattern)) or not (BUILD / "python").exists(), pattern)
        if (BUILD / "python").exists():
            script = "import kgate\nwith kgate.Gate('u', 2).enter(timeout=60) as slot: print(int(slot))\n"
            self.assertEqual(run("/usr/bin/python3", "-c", script, env={**linked, "PYTHONPATH": str(BUILD / "python")}), "0\n")


if __name__ == "__main__":
    SOURCE, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
