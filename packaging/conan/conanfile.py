# SPDX-License-Identifier: Apache-2.0
"""A Conan 2 recipe: conan create packaging/conan -s compiler.cppstd=20. It takes the sources of the tree that it lies in."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

TREE = os.path.join("..", "..")


class KgateConan(ConanFile):
    name = "kgate"
    description = "At most k at a time: threads, processes and commands; in order, each with a slot number, surviving kill -9"
    license = "Apache-2.0"
    topics = ("semaphore", "k-exclusion", "synchronization", "interprocess")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, TREE, "include", "kgate", "version.hpp"))
        self.version = ".".join(re.findall(r"#define KGATE_VERSION_\w+ (\d+)", header))

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, TREE)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "man/*", "completions/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("kgate needs Linux")
        if self.settings.compiler.get_safe("cppstd"):
            check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TOOLS", "LAB", "TESTS", "BENCH", "PYTHON", "CLUSTER"):
            toolchain.cache_variables[f"KGATE_{part}"] = False
        toolchain.cache_variables["KGATE_INSTALL"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))  # Conan writes its own
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "kgate")
        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "kgate::kgate")
        headers.bindirs, headers.libdirs = [], []
        headers.system_libs = ["pthread"]
        gate = self.cpp_info.components["gate"]
        gate.set_property("cmake_target_name", "kgate::gate")
        gate.libs, gate.requires = ["kgate_gate"], ["headers"]
        c = self.cpp_info.components["c"]
        c.set_property("cmake_target_name", "kgate::c")
        c.set_property("pkg_config_name", "libkgate")
        c.libs = ["kgate"]
