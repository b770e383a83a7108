#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mypy, strictly, over the Python package and a program that uses all of it.

usage: types_test.py ROOT
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()
USER = """
import kgate

def train(device: int) -> float:
    return device / 2

with kgate.Gate("gpu", 4).enter(timeout=60) as slot:
    reveal: float = train(int(slot))
    device: str = ["a", "b", "c", "d"][slot] if slot == 0 or slot < 4 else {0: "a"}.get(slot.slot, f"{slot:02d}")
    port: int = 7000 + slot * 2 + (1 << slot)
status: kgate.Status = kgate.Gate("gpu").status()
processes: list[int] = [p.process for p in status.holders + status.waiters]
maybe: kgate.Permit | None = kgate.Gate("gpu").try_enter(weight=2)
limited: float = kgate.limit("gpu", 4)(train)(3)
same: float = kgate.Gate("gpu").limit(timeout=1)(train)(device=3)
taken: bool = kgate.Semaphore(3).acquire(timeout=1.5, permits=2)

async def later() -> int:
    async with kgate.Gate("gpu").enter_async(timeout=1) as inside, kgate.Semaphore(3), kgate.Semaphore(2).acquire_async(2):
        number: int = inside.slot
    permit: kgate.Permit = await kgate.Gate("gpu").enter_async(2)
    return number + permit.token
"""


class Types(unittest.TestCase):
    def mypy(self, *files):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null", *map(str, files)],
                              capture_output=True, text=True, env={"MYPYPATH": str(ROOT / "bindings/python/src"), "PATH": "/usr/bin:/bin"})

    def test_package(self):
        done = self.mypy(ROOT / "bindings/python/src/kgate")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_user(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "user.py")
            program.write_text(USER)
            done = self.mypy(program)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            program.write_text(USER + 'train(kgate.Gate("gpu").enter(timeout="1"))\n')
            self.assertIn("2 errors", self.mypy(program).stdout)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main(argv=[sys.argv[0], "-v"])
