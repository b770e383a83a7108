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
TYPED = re.compile(r"\b\d[\d.,]* ?(?:[num]s|[kKMG]B|%|percent|[a-z-]+ a second)(?!\w)|\b\d[\d.,]* times (?:as|its|the|faster|slower|less|more)\b")
# Whole pages that a command writes and a test compares with what it kept.
MADE = {"docs/cluster-figures.md": "bench/cluster/run --check", "docs/compared.md": "docs.compared"}
# What programs are set to, or examples ask for: constants, not results.
SETTINGS = {
    "CHANGELOG.md": {"20 us": "how long a gate looks on", "25 ms": "held by tests/gate/doze_clock_test.cpp"},
    "docs/async.md": {"2 ms": "how often is looked where the kernel has no futex_waitv"},
    "docs/cluster.md": {"500 ms": "the shortest session", "100 ms": "a turn", "0.2 ms": "a turn, for each that waits",
                        "20 ms": "required by bench/cluster"},
    "docs/decisions/0014-looking-first.md": {"2 ms": "how long was looked on", "50 us": "without movement"},
    "docs/decisions/0017-gates-wait-by-events.md": {"2 ms": "how long was looked on before", "20 us": "and is now", "25 ms": "the longest doze",
                                                    "10 ms": "how often a coarse clock moves, asked of the kernel"},
    "docs/decisions/0021-host-leases.md": {"0.2 ms": "a turn, for each that waits"},
    "docs/gates.md": {"20 us": "how long a gate looks on", "2 ms": "when a waiter begins to watch", "8 ms": "or then", "24 ms": "or then",
                      "250 ms": "or then", "15 ms": "the slowest tick of the clock", "25 ms": "held by tests/gate/doze_clock_test.cpp",
                      "256 times as": "the members for which there is a clock", "16 kB": "held by tests/gate/gate_test.cpp"},
    "docs/objects.md": {"20 ms": "how often who waits looks"},
    "docs/tool.md": {"10 ms": "after which a command has its witness", "20 ms": "for the witness to get a signal", "100 ms": "the longest idle token",
                     "200 ms": "the longest --try"},
    "examples/bulkhead/README.md": {"20 ms": "the limit in its source"},
    "examples/connection_pool/README.md": {"8 ms": "the limit in its source"},
    "examples/event_loop/README.md": {"2 ms": "the limit in its source"},
}


def prose(text):
    """A page without what a command fills in, and without code."""
    import measure
    text = re.sub(r"^( *)```.*?^\1```", "", measure.CELL.sub("", tables_left_out(text)), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


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
        result = subprocess.run([sys.executable, "-B", ROOT / "bench/cluster/run", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_counts_are_what_tests_expect(self):
        """A count of thousands and more in what the pages say of explorations stands in a test, which fails if it is another."""
        tests = {p: re.sub(r"(?<=\d)'(?=\d)", "", p.read_text(errors="replace")) for p in (ROOT / "tests").rglob("*.cpp")}
        for name in ("docs/errata.md", "docs/gates.md", "docs/cluster.md"):
            text = tables_left_out((ROOT / name).read_text())
            unknown = [count for count in re.findall(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])", text)
                       if not any(re.search(rf"(?<!\d){count.replace(',', '')}(?!\d)", source) for source in tests.values())]
            self.assertEqual(unknown, [], name)

    def test_nothing_measured_is_typed_by_hand(self):
        """Sizes, short times, shares, rates and how many times as fast are results of a run: outside of what a command fills in they have no
        business, on any page, but for what SETTINGS names."""
        found = TYPED.findall("907 to 911 passages a second, 2.3 GB, 57 kB, 35 ns; for 20 us, at 2 ms, 3.5 %; 2.5 times as fast, 1.2 times its time, "
                              "run 50 times, in 3 MBit")
        self.assertEqual(found, ["911 passages a second", "2.3 GB", "57 kB", "35 ns", "20 us", "2 ms", "3.5 %", "2.5 times as", "1.2 times its"])
        pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
        for folder in ("docs", "examples", "bindings"):
            pages += sorted((ROOT / folder).rglob("*.md"))
        unused = {(page, text) for page, texts in SETTINGS.items() for text in texts}
        for path in pages:
            page = str(path.relative_to(ROOT))
            if page in MADE:
                continue
            kept = SETTINGS.get(page, {})
            typed = TYPED.findall(prose(path.read_text()))
            unused -= {(page, text) for text in typed}
            with self.subTest(page):
                self.assertEqual([text for text in typed if text not in kept], [])
        self.assertEqual(unused, set(), "exceptions that nothing needs")

    def test_a_passage_in_python_costs_what_was_promised(self):
        """At most three times multiprocessing.Semaphore, by the figures that are kept."""
        import measure
        ratios = {row["name"]: row["ratio"] for row in measure.tables.kept("python")}
        self.assertEqual(ratios["multiprocessing.Semaphore"], 1)
        for name in ("kgate.Gate", "kgate.Semaphore"):
            self.assertLessEqual(ratios[name], 3, name)

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
