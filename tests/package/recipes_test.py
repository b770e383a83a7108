#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes for vcpkg and Conan, as far as they run without those: their form, the version, the options they give CMake, and that
what they package is there. Their own functions are played by others here, which do the part that CMake does.

usage: recipes_test.py SOURCE BUILD
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

SOURCE, BUILD = Path(), Path()

# What vcpkg's functions do, with the installation of BUILD instead of a second build.
VCPKG = """
cmake_minimum_required(VERSION 3.25)
function(must_exist)
  foreach(path ${ARGN})
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "missing: ${path}")
    endif()
  endforeach()
endfunction()
function(vcpkg_check_features)
  cmake_parse_arguments(arg "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
  set(options)
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature variable)
    if(feature IN_LIST FEATURES)
      list(APPEND options -D${variable}=ON)
    else()
      list(APPEND options -D${variable}=OFF)
    endif()
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${CURRENT_PACKAGES_DIR}/../configured ${arg_OPTIONS}
                  OUTPUT_VARIABLE said ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  if(said MATCHES "not used by the project")
    message(FATAL_ERROR "an option that there is not: ${said}")
  endif()
endfunction()
function(vcpkg_cmake_install)
  foreach(component development libraries programs)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILT} --prefix ${CURRENT_PACKAGES_DIR} --component ${component}
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" "PACKAGE_NAME;CONFIG_PATH" "" ${ARGN})
  must_exist(${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/${arg_PACKAGE_NAME}Config.cmake)
endfunction()
function(vcpkg_fixup_pkgconfig)
  must_exist(${CURRENT_PACKAGES_DIR}/lib/pkgconfig/kgate.pc)
endfunction()
function(vcpkg_copy_tools)
  cmake_parse_arguments(arg "AUTO_CLEAN" "" "TOOL_NAMES" ${ARGN})
  foreach(tool ${arg_TOOL_NAMES})
    must_exist(${CURRENT_PACKAGES_DIR}/bin/${tool})
  endforeach()
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
  must_exist(${arg_FILE_LIST})
endfunction()
include(${PORT}/portfile.cmake)
"""


def version():
    return ".".join(re.findall(r"#define KGATE_VERSION_\w+ (\d+)", (SOURCE / "include/kgate/version.hpp").read_text()))


class Recipes(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kgate-recipes-"))

    def tearDown(self):
        shutil.rmtree(self.folder)


class Vcpkg(Recipes):
    PORT = "packaging/vcpkg/kgate"

    def test_the_manifest_has_the_form_of_one(self):
        manifest = json.loads((SOURCE / self.PORT / "vcpkg.json").read_text())
        name = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
        self.assertLessEqual(set(manifest), {"$schema", "name", "version", "description", "license", "supports", "dependencies", "features"})
        self.assertEqual((manifest["name"], manifest["version"], manifest["license"]), ("kgate", version(), "Apache-2.0"))
        dependencies = manifest["dependencies"] + [d for f in manifest["features"].values() for d in f.get("dependencies", [])]
        for one in dependencies:
            self.assertRegex(one if isinstance(one, str) else one["name"], name)
        for feature, what in manifest["features"].items():
            self.assertRegex(feature, name)
            self.assertTrue(what["description"])

    def port(self, *features):
        script = self.folder / "run.cmake"
        script.write_text(VCPKG)
        packages = self.folder / "packages"
        packages.mkdir()
        done = subprocess.run(["cmake", f"-DPORT={SOURCE / self.PORT}", f"-DBUILT={BUILD}", f"-DCURRENT_PACKAGES_DIR={packages}",
                               f"-DFEATURES={';'.join(features)}", "-P", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cache = (self.folder / "configured/CMakeCache.txt").read_text()
        return re.search(r"^KGATE_TOOLS:\w+=(\w+)$", cache, re.M)[1]

    def test_the_port_configures_and_installs(self):
        self.assertEqual(self.port(), "OFF")

    def test_the_port_with_the_tool(self):
        self.assertEqual(self.port("core", "tools"), "ON")


class Chosen(types.SimpleNamespace):
    """Settings and options as Conan gives them."""

    def get_safe(self, _):
        return None

    def rm_safe(self, name):
        self.__dict__.pop(name, None)


class Component(types.SimpleNamespace):
    def __init__(self):
        super().__init__(properties={}, libs=[], requires=[])

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Component()
        return self[name]


def conan_modules(variables):
    """As much of Conan as the recipes use."""
    def copy(_, pattern, src, dst):
        for found in Path(src).glob(pattern):
            if found.is_dir():
                shutil.copytree(found, Path(dst, found.relative_to(src)), dirs_exist_ok=True)
            else:
                Path(dst, found.relative_to(src)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, Path(dst, found.relative_to(src)))

    generator = type("Generator", (), {"__init__": lambda self, _: setattr(self, "cache_variables", variables), "generate": lambda self: None})
    invalid = type("ConanInvalidConfiguration", (Exception,), {})
    contents = {"conan": {"ConanFile": object}, "conan.errors": {"ConanInvalidConfiguration": invalid}, "conan.tools": {},
                "conan.tools.build": {"check_min_cppstd": None, "can_run": None},
                "conan.tools.cmake": {"CMake": object, "CMakeDeps": generator, "CMakeToolchain": generator, "cmake_layout": lambda _: None},
                "conan.tools.files": {"copy": copy, "load": lambda _, path: Path(path).read_text(), "rmdir": None}}
    modules = {}
    for name, names in contents.items():
        modules[name] = types.ModuleType(name)
        modules[name].__dict__.update(names)
    return modules


class Conan(Recipes):
    def recipe(self, path, variables):
        modules = conan_modules(variables)
        before = {name: sys.modules.get(name) for name in modules}
        sys.modules.update(modules)
        try:
            spec = importlib.util.spec_from_file_location("recipe", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
        finally:
            for name, kept in before.items():
                sys.modules.pop(name)
                if kept is not None:
                    sys.modules[name] = kept

    def test_the_recipe_gives_cmake_what_it_needs(self):
        variables = {}
        where = SOURCE / "packaging/conan"
        module = self.recipe(where / "conanfile.py", variables)
        made = module.KgateConan()
        made.recipe_folder, made.export_sources_folder = str(where), str(self.folder / "exported")
        made.settings, made.options = Chosen(os="Linux", compiler=Chosen()), Chosen(shared=True, fPIC=True)
        made.cpp_info = types.SimpleNamespace(components=Components(), set_property=lambda *_: None)
        made.set_version()
        self.assertEqual(made.version, version())
        made.export_sources()
        made.configure()
        made.validate()
        made.generate()
        self.assertFalse(hasattr(made.options, "fPIC"))
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", self.folder / "exported", "-B", self.folder / "b",
                               *(f"-D{k}={'ON' if v else 'OFF'}" for k, v in variables.items())], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not used by the project", done.stderr)

        made.package_info()
        for component in ("development", "libraries"):
            subprocess.run(["cmake", "--install", BUILD, "--prefix", self.folder / "p", "--component", component], check=True,
                           stdout=subprocess.DEVNULL)
        targets = (self.folder / "p/lib/cmake/kgate/kgateTargets.cmake").read_text()
        for name, component in made.cpp_info.components.items():
            self.assertIn(f"add_library({component.properties['cmake_target_name']} ", targets, name)
            for library in component.libs:
                self.assertTrue(list((self.folder / "p/lib").glob(f"lib{library}.[as]*")), library)
        made.settings.os = "Windows"
        with self.assertRaises(Exception):
            made.validate()

    def test_the_test_package_is_one(self):
        module = self.recipe(SOURCE / "packaging/conan/test_package/conanfile.py", {})
        self.assertTrue(callable(module.KgateTestConan.test) and callable(module.KgateTestConan.build))
        found = re.search(r"target_link_libraries\(user PRIVATE (\S+)\)", (SOURCE / "packaging/conan/test_package/CMakeLists.txt").read_text())
        self.assertEqual(found[1], "kgate::gate")


if __name__ == "__main__":
    SOURCE, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    os.environ.pop("KGATE_SOURCE", None)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
