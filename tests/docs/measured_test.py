#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of README.md and of the pages are those of the files that docs/measured/measure.py wrote.

usage: measured_test.py ROOT
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path()


def tables_left_out(text):
    import measure
    return measure.tables.BLOCK.sub("", text)


class Measured(unittest.TestCase):
    def test_every_figure_is_from_a_file(self):
        import measure
        least = {"README.md": 3, "docs/python.md": 4, "docs/semaphore.md": 1, "docs/async.md": 3, "docs/objects.md": 1, "docs/gates.md": 2,
                 "docs/experiments.md": 2, "docs/compared.md": 1}
        self.assertEqual(set(measure.PAGES), set(least))
        for name, number in least.items():
            text = (ROOT / name).read_text()
            self.assertGreaterEqual(len(measure.CELL.findall(text)) + len(measure.tables.BLOCK.findall(text)), number, name)
            self.assertEqual(measure.filled(text), text, f"{name}: run docs/measured/measure.py --fill")

    def test_the_page_of_gates_between_machines(self):
        told = subprocess.run([sys.executable, "-B", ROOT / "bench/cluster/run", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)

    def test_counts_are_what_tests_expect(self):
        """A count of thousands and more in what the pages say of explorations stands in a test, which fails if it is another."""
        tests = {p: re.sub(r"(?<=\d)'(?=\d)", "", p.read_text(errors="replace")) for p in (ROOT / "tests").rglob("*.cpp")}
        for name in ("docs/errata.md", "docs/gates.md", "docs/cluster.md"):
            text = tables_left_out((ROOT / name).read_text())
            unknown = [count for count in re.findall(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])", text)
                       if not any(re.search(rf"(?<!\d){count.replace(',', '')}(?!\d)", source) for source in tests.values())]
            self.assertEqual(unknown, [], name)

    def test_nothing_measured_is_typed_by_hand(self):
        """Sizes, times of nanoseconds and rates are results of a run: outside of what a command fills in they have no business."""
        import measure
        typed = re.compile(r"\b\d[\d.,]* ?(?:ns|[kKMG]B|[a-z-]+ a second)\b")
        self.assertEqual(typed.findall("907 to 911 passages a second, 2.3 GB, 57 kB, 35 ns; for 20 us, at 2 ms"),
                         ["911 passages a second", "2.3 GB", "57 kB", "35 ns"])
        for page in [*sorted((ROOT / "docs/decisions").glob("*.md")), ROOT / "docs/experiments.md", ROOT / "docs/tool.md"]:
            with self.subTest(page.name):
                self.assertEqual(typed.findall(measure.CELL.sub("", tables_left_out(page.read_text()))), [])

    def test_another_figure_would_be_noticed(self):
        import measure
        page = (ROOT / "docs/objects.md").read_text()
        other = page.replace("| got | wanted |\n|---|---|---|\n| ", "| got | wanted |\n|---|---|---|\n| x", 1)
        self.assertNotEqual(page, other)
        self.assertEqual(measure.filled(other), page)
        self.assertNotEqual(measure.filled("99 <!-- python: kgate.Gate -->"), "99 <!-- python: kgate.Gate -->")


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    sys.path.insert(0, str(ROOT / "docs/measured"))
    unittest.main(argv=[sys.argv[0], "-v"])
