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
import os
import pathlib

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

licence: kgate.ClusterGate = kgate.Gate("licence", 8, on="zk://a,b,c")
with licence.enter(timeout=1) as held:
    gone: bool = held.lost
    watched: int = held.fileno()
    ports: list[int] = [7000 + held, held * 2, 1 << held, int(held), ["a"].index("a") + held.slot]
    print(["a", "b"][held], f"{held:02d}", held < 3, licence.on, held.token)
perhaps: kgate.ClusterPermit | None = kgate.Gate("licence", on="zk://a").try_enter()
somewhere: kgate.Gate = kgate.Gate("by the environment")
if isinstance(somewhere, kgate.ClusterGate):
    print(somewhere.on, somewhere.enter().lost)

class Own(kgate.Gate):
    def twice(self) -> int:
        return 2 * self.slots

class OwnWithInit(kgate.Gate):
    def __init__(self, name: str, directory: os.PathLike[str]) -> None:
        super().__init__(name, 2, directory=directory, overtake=1)

own: Own = Own("own", 2, directory=pathlib.Path("/tmp"))

async def far() -> bool:
    async with kgate.Gate("licence", on="zk://a").enter_async(timeout=1) as inside:
        return inside.lost

async def later() -> int:
    async with kgate.Gate("gpu").enter_async(timeout=1) as inside, kgate.Semaphore(3), kgate.Semaphore(2).acquire_async(permits=2):
        number: int = inside.slot
    permit: kgate.Permit = await kgate.Gate("gpu").enter_async(weight=2)
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
            for wrong in ("enter(3)", "try_enter(3)", "enter_async(3)", "limit(3)", "limit(train)"):
                program.write_text(USER + f'kgate.Gate("gpu").{wrong}\nwith kgate.Gate("gpu"):\n    pass\n')
                self.assertRegex(self.mypy(program).stdout, r'(?s)Too many positional arguments.*has no attribute "__enter__"')
            program.write_text(USER + 'print(kgate.Gate("gpu").enter().lost)\n'
                               'kgate.Gate("gpu", 1, derectory="/tmp")\n')
            self.assertRegex(self.mypy(program).stdout, r'(?s)"Permit" has no attribute "lost".*No overload variant of "Gate" matches')


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main(argv=[sys.argv[0], "-v"])
