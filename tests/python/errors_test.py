#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The errors of the Python package that it takes more than a wrong argument to get, and that no name of the package is left untried.

usage: errors_test.py ROOT C_PROGRAM [Errors | Full], with the package on PYTHONPATH
C_PROGRAM is that of tests/c/errors_test.c. Full needs a minute: as many participants as a gate can have.
"""
import ast
import importlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kgate

ROOT, FOLDER, C_PROGRAM = Path(), "", ""
NOBODY = 65534


def gate(name, slots=0, **options):
    return kgate.Gate(name, slots, directory=FOLDER, **options)


class Errors(unittest.TestCase):
    def in_child(self, expected, prepare, body):
        """body() raises exactly this in a child of its own, which prepares itself."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                prepare()
                body()
            except BaseException as error:
                code = 0 if type(error) is expected and (not isinstance(error, kgate.Error) or len(str(error)) > 10) else 2
            os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_no_permission(self):
        gate("forbidden", 1)

        def become_nobody():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            else:
                os.chmod(Path(FOLDER, "forbidden.gate"), 0)

        self.in_child(kgate.NoPermission, become_nobody, lambda: gate("forbidden"))

    def test_the_system_refuses(self):
        self.in_child(kgate.Error, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)), lambda: gate("refused", 1))

    def test_damaged(self):
        gate("whole", 1)
        Path(FOLDER, "damaged.gate").write_bytes(Path(FOLDER, "whole.gate").read_bytes() + b"x")
        with self.assertRaises(kgate.Damaged):
            gate("damaged")

    def test_a_gate_that_is_cut_off(self):
        def cut_off():
            g = gate("cut", 1)
            permit = g.enter()
            os.truncate(Path(FOLDER, "cut.gate"), 0)
            try:
                g.status()
            except kgate.Damaged:
                pass
            permit.release()
            g.resize(2)

        self.in_child(kgate.Damaged, kgate.guard_against_truncation, cut_off)

    def test_where_no_gate_can_be(self):
        with self.assertRaises(kgate.BadFilesystem):
            kgate.Gate("x", 1, directory="/proc")
        with self.assertRaises(kgate.NotFound):
            kgate.Gate("x", 1, directory="/nowhere/at/all")

    def test_no_memory(self):
        def use_up():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))

        def make_many(kept=[]):
            while True:
                kept.append(kgate.Semaphore(1))

        if "libasan" in os.environ.get("LD_PRELOAD", ""):
            self.skipTest("its own memory is beyond any limit")
        self.in_child(MemoryError, use_up, make_many)

    def test_after_fork(self):
        permit = gate("forked", 1).enter()

        for use in (lambda: permit.slot, lambda: permit.slots, lambda: permit.token, lambda: int(permit), permit.__enter__):
            self.in_child(kgate.Forked, lambda: None, use)
        permit.release()

    def test_a_subinterpreter_is_refused(self):
        interpreters = importlib.import_module("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
        other = interpreters.create()
        try:
            code = (f"import sys\nsys.path[:] = {sys.path!r}\ntry:\n    import kgate\nexcept ImportError as error:\n"
                    "    assert 'main interpreter only' in str(error)\nelse:\n    raise AssertionError('imported')\n")
            self.assertIsNone(interpreters.run_string(other, code))  # else it raises, or says what was raised
        finally:
            interpreters.destroy(other)

    def test_every_code_has_its_class(self):
        codes = dict(re.findall(r"^  KGATE_(\w+) = (\d+)", (ROOT / "include/kgate/kgate.h").read_text(), re.M))
        elsewhere = {"OK", "INVALID", "NO_MEMORY", "TIMED_OUT", "STOPPED", "SYSTEM", "WAITING"}  # ValueError, MemoryError, TimeoutError, ...
        for name in set(codes) - elsewhere:
            kind = getattr(kgate, "".join(word.capitalize() for word in name.split("_")))
            self.assertEqual((kind.code, type(kgate.Error._of(kind.code, "x"))), (int(codes[name]), kind))
        self.assertIs(type(kgate.Error._of(int(codes["SYSTEM"]), "x")), kgate.Error)
        self.assertIs(type(kgate.Error._of(int(codes["INVALID"]), "x")), ValueError)

    def test_nothing_is_left_untried(self):
        texts = "".join(p.read_text() for p in sorted((ROOT / "tests/python").glob("*_test.py")))
        names = set(kgate.__all__)
        self.assertEqual({name for name in names if not re.search(rf"\bkgate\.{name}\b", texts)}, set())
        errors = {name for name in names if isinstance(getattr(kgate, name), type) and issubclass(getattr(kgate, name), Exception)}
        raised = r"(?:assertRaises|in_child|assertIsInstance|except|[(,:])\W[^\n]*\bkgate\.%s\b"
        self.assertEqual({name for name in errors if not re.search(raised % name, texts)}, set())
        for name in names - errors - {"limit"}:
            kind = getattr(kgate, name)
            public = {part for part in [*dir(kind), *getattr(kind, "__dataclass_fields__", ())] if not part.startswith("_")}
            self.assertEqual({part for part in public if not re.search(rf"\.{part}\b", texts)}, set(), f"of kgate.{name}")

    def test_nothing_of_gates_between_machines_is_left_untried(self):
        """By the sources, for their compiled part need not be here."""
        text = (ROOT / "tests/python/machines_test.py").read_text()
        classes = [c for c in ast.parse((ROOT / "bindings/python/src/kgate/_machines.py").read_text()).body if isinstance(c, ast.ClassDef)]
        names = {f.name for c in classes for f in c.body if isinstance(f, ast.FunctionDef) and c.name.startswith("Cluster")}
        self.assertLessEqual({"enter", "lost", "fileno", "status"}, names)
        self.assertEqual({name for name in names if not name.startswith("_") and not re.search(rf"\.{name}\b", text)}, set())


class Full(unittest.TestCase):
    def test_too_many(self):
        g = gate("full", 1)
        filled = subprocess.Popen([C_PROGRAM, "fill", "full"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "KGATE_DIR": FOLDER})
        self.assertEqual(filled.stdout.readline(), "full\n")
        with self.assertRaises(kgate.TooMany):
            g.enter()
        filled.communicate("")
        with g.enter(timeout=60):
            pass


if __name__ == "__main__":
    ROOT, C_PROGRAM = Path(sys.argv.pop(1)), sys.argv.pop(1)
    FOLDER = tempfile.mkdtemp(prefix="kgate-errors-")
    try:
        unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[1:] or ["Errors"])], exit=False).result.wasSuccessful() or sys.exit(1)
    finally:
        shutil.rmtree(FOLDER)
