#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package installed in a virtual environment: from the tree, and from a wheel that is built without a network from a
source distribution, so that this has all it needs.

usage: install_deep_test.py ROOT
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()
TRY = "import kgate, tempfile; g = kgate.Gate('x', 2, directory=tempfile.mkdtemp()); print(int(g.enter()))"
# What type checkers look for beside the modules.
TYPED = ("import kgate, pathlib; there = pathlib.Path(kgate.__file__).parent; "
         "print([n for n in ('py.typed', '_native.pyi', '_cluster.pyi') if not (there / n).is_file()])")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


class Install(unittest.TestCase):
    def install(self, folder, what):
        run(sys.executable, "-m", "venv", "--system-site-packages", folder)
        run(folder / "bin/pip", "install", "--no-index", "--no-build-isolation", what)
        self.assertEqual(run(folder / "bin/python", "-c", TRY, cwd=folder), "0\n")
        self.assertEqual(run(folder / "bin/python", "-c", TYPED, cwd=folder), "[]\n")

    def test_from_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            self.install(Path(folder, "venv"), ROOT / "bindings/python")

    def test_source_distribution_and_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            # The wheel is built from the distribution as it is unpacked elsewhere, as pip builds one.
            run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT / "bindings/python")
            (_,), (wheel,) = Path(folder).glob("*.tar.gz"), Path(folder).glob("*.whl")
            self.install(Path(folder, "venv"), wheel)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main(argv=[sys.argv[0], "-v"])
