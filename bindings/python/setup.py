# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled part with kgate's own sources inside, so that nothing else needs to be installed. With
KGATE_SYSTEM=1 it is linked with the system's libkgate instead, as distributions want it.

In a source distribution the sources are in `kgate-source`; in the tree they are two folders up and are copied there.
"""
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
KEPT = HERE / "kgate-source"
TREE = KEPT if KEPT.is_dir() else HERE.parent.parent


def gathered(room, folder):
    """One source that is all of a room: most of what a file costs are the headers it shares with the others."""
    source = folder / f"{room}.cpp"
    folder.mkdir(parents=True, exist_ok=True)
    source.write_text("".join(f'#include "{room}/{p.name}"\n' for p in sorted((TREE / "src" / room).glob("*.cpp"))))
    return str(source)


def version():
    numbers = re.findall(r"#define KGATE_VERSION_\w+ (\d+)", (TREE / "include/kgate/version.hpp").read_text())
    return ".".join(numbers)


class WithSources(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        kept = Path(base_dir, "kgate-source")
        shutil.copytree(TREE / "include", kept / "include", dirs_exist_ok=True)
        for room in ("gate", "c", "cluster"):
            shutil.copytree(TREE / "src" / room, kept / "src" / room, dirs_exist_ok=True)
        shutil.copy(TREE / "LICENSE", base_dir)


class WithLibrary(build_ext):
    """The sources of the library are C++20, the module itself is C."""

    def build_extension(self, ext):
        if ext.name == "kgate._cluster" or not os.environ.get("KGATE_SYSTEM"):
            folders = [str(TREE / "include"), str(TREE / "src")]
            ext.include_dirs += folders
            ext.language = "c++"
            rooms = ("cluster", "gate") if ext.name == "kgate._cluster" else ("gate", "c")
            made = Path(self.build_temp, ext.name).resolve()

            def compile_room(room):
                return self.compiler.compile([gathered(room, made)], output_dir=str(made), include_dirs=folders, macros=[("THREADED", None)],
                                             extra_postargs=["-std=c++20", "-O2", "-g0", "-fvisibility=hidden", "-pthread"])

            with ThreadPoolExecutor() as at_once:
                for objects in at_once.map(compile_room, rooms):
                    ext.extra_objects += objects
        super().build_extension(ext)


os.chdir(HERE)
native = Extension("kgate._native", sorted(str(p) for p in Path("src/native").glob("*.c")), extra_compile_args=["-fvisibility=hidden", "-pthread"],
                   include_dirs=["src"],
                   libraries=["kgate"] if os.environ.get("KGATE_SYSTEM") else [], extra_link_args=["-pthread"])
modules = [native]
# Gates between machines, where ZooKeeper's library is there.
if Path("/usr/include/zookeeper/zookeeper.h").exists():
    modules.append(Extension("kgate._cluster", ["src/native/cluster.cpp"], extra_compile_args=["-std=c++20", "-fvisibility=hidden", "-pthread"],
                             libraries=["zookeeper_mt"], extra_link_args=["-pthread"]))
setup(version=version(), ext_modules=modules, cmdclass={"sdist": WithSources, "build_ext": WithLibrary})
