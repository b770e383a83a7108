#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants of texts that survive in the laboratory, and of which surviving_texts.json says that another test notices them: that test
is compiled with the changed header, run, and fails.

Called as: found_by_tests_test.py SOURCE BUILD.
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
HERE = Path(__file__).parent
FOUND = json.loads((HERE / "found_by_tests.json").read_text())
SURVIVING = json.loads((HERE / "surviving_texts.json").read_text())
SECONDS_MAX = 600


def changed(header, change):
    """The text of the header with a change as kgate-lab mutate writes it, "old -> new #2"."""
    lines = (SOURCE / "include/kgate/algorithms" / header).read_text().splitlines()
    nth = int(found[1]) if (found := re.search(r" #(\d+)$", change)) else 1
    change = re.sub(r" #\d+$", "", change)
    for split in re.finditer(" -> ", change):
        old, new = change[: split.start()], change[split.end() :]
        rows = [i for i, line in enumerate(lines) if line.split("//")[0].strip() == old]
        if len(rows) >= nth:
            lines[rows[nth - 1]] = new
            return "\n".join(lines) + "\n"
    raise AssertionError(f"{header} has no line for {change}")


def compiled(target, overlay):
    """The test program of a target, its sources compiled with the headers of `overlay` before all others; none if that fails."""
    objects = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        output = words.index("-o") + 1
        if f"/{target}.dir/" not in words[output]:
            continue
        objects[words[output]] = str(overlay / (str(len(objects)) + ".o"))
        words[output] = objects[words[output]]
        first = next(i for i, word in enumerate(words) if word.startswith("-"))
        words[first:first] = [f"-I{overlay}/include"]
        if subprocess.run(words, cwd=entry["directory"], capture_output=True, check=False).returncode != 0:
            return None
    link = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", target], capture_output=True, text=True, check=True)
    line = link.stdout.splitlines()[-1]
    assert objects, target
    for old, new in objects.items():
        assert old in line, (old, line)
        line = line.replace(old, new)
    program = str(overlay / "test")
    line = re.sub(r" -o \S+", f" -o {program}", line, count=1)
    subprocess.run(line.split(" && cd ")[0], shell=True, cwd=BUILD, check=True)
    return program


class FoundByTests(unittest.TestCase):
    def test_who_points_to_a_test_is_listed(self):
        pointing = {(text.split()[1], change) for text, reasons in SURVIVING.items() for reason, changes in reasons.items()
                    if "tests/" in reason for change in changes}
        self.assertEqual(pointing, {(header, change) for texts in FOUND.values() for header, changes in texts.items() for change in changes})

    def test_each_is_found(self):
        for test, texts in FOUND.items():
            target, tests = test.split()
            for header, change in [("", "")] + [(h, c) for h, changes in texts.items() for c in changes]:
                with self.subTest(test=test, change=change), tempfile.TemporaryDirectory(prefix="kgate-found-") as folder:
                    overlay = Path(folder)
                    (overlay / "include/kgate/algorithms").mkdir(parents=True)
                    if header:
                        (overlay / "include/kgate/algorithms" / header).write_text(changed(header, change))
                    program = compiled(target, overlay)
                    if program is None:
                        self.assertTrue(header, "the unchanged text compiles")
                        continue  # noticed by the compiler
                    done = subprocess.run([program, f"--gtest_filter={tests}"], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
                    self.assertRegex(done.stdout, r"\[==========\] Running [1-9]")
                    (self.assertNotEqual if header else self.assertEqual)(done.returncode, 0, done.stdout[-2000:])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
