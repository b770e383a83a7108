#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binary interface of libkgate.so.1 is the one written down: its symbols, the declarations of its functions, its codes and the
shape of its structs. The tests get every result of every call that docs/c.md names, and no other.

usage: symbols_test.py ROOT LIBRARY CC
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, LIBRARY, CC = Path(), Path(), ""


def declarations(header):
    """Each function without the names of its parameters: what a program that was compiled yesterday relies on."""
    for result, name, parameters in re.findall(r"^KGATE_(?:API|CHECKED) ([\w *]*?)(kgate_\w+)\(([^)]*)\)", header, re.M):
        types = [re.sub(r"\s*\b\w+$", "", " ".join(one.split())) if one.strip() != "void" else "void" for one in parameters.split(",")]
        yield f"{result.strip()} {name}({', '.join(types)})"


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


class Interface(unittest.TestCase):
    def setUp(self):
        self.header = (ROOT / "include/kgate/kgate.h").read_text()
        self.kept = (ROOT / "tests/c/symbols.txt").read_text().splitlines()

    def test_symbols_are_those_kept(self):
        rows = [line.split()[1:] for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        shown = {f"{name} data" if kind in "uVBDR" else name for kind, name in rows if kind != "A"}  # A: the version itself
        self.assertEqual(sorted(shown), [line for line in self.kept if line.startswith("kgate_") and "@" in line],
                         "a symbol that leaves or changes breaks programs: the SONAME must change with it; "
                         "a new one is added to tests/c/symbols.txt")

    def test_symbols_are_those_of_the_header(self):
        declared = set(re.findall(r"^KGATE_(?:API|CHECKED) [\w *]*?(kgate_\w+)\(", self.header, re.M))
        self.assertEqual(sorted(declared), sorted(self.calls()))

    def test_declarations_are_those_kept(self):
        self.assertEqual(sorted(declarations(self.header)), sorted(line for line in self.kept if line.endswith(")")),
                         "a call whose types change breaks programs that were compiled before")
        self.assertEqual(list(declarations("KGATE_CHECKED int kgate_a(const x_t* y,\n   unsigned long z);\nKGATE_API void kgate_b(void);\n")),
                         ["int kgate_a(const x_t*, unsigned long)", "void kgate_b(void)"])

    def calls(self):
        return {line.split("@")[0] for line in self.kept if line.endswith("@@KGATE_1")}

    def test_packages_know_the_symbols(self):
        lines = (ROOT / "debian/libkgate1.symbols").read_text().splitlines()
        listed = {line.split("@")[0].strip() for line in lines if line.startswith(" kgate_")} - {"kgate_waiting_room_1"}
        self.assertEqual(sorted(listed), sorted(self.calls()))

    def test_every_call_and_every_code_is_tried(self):
        texts = "".join(p.read_text() for p in sorted((ROOT / "tests/c").glob("*_test.c")))
        self.assertEqual({call for call in self.calls() if not re.search(rf"\b{call}\(", texts)}, set())
        codes = set(re.findall(r"^  (KGATE_\w+) = \d+", self.header, re.M)) - {"KGATE_OK"}
        self.assertEqual({code for code in codes if not re.search(rf"[!=]= {code}\b", texts)}, set())

    def test_every_result_of_every_call_is_got(self):
        """And what is got is in the table of docs/c.md."""
        texts = "".join(p.read_text() for p in sorted((ROOT / "tests/c").glob("*_test.c")))
        got = set(re.findall(r"\b(kgate_\w+)\((?:[^()]|\([^()]*\))*\)\s*[!=]=\s*(KGATE_\w+)", texts))
        got |= set(re.findall(r"\bGETS\((kgate_\w+), .*?, (KGATE_\w+)\);", texts))
        got |= {(call, "KGATE_NO_MEMORY") for call in re.findall(r"\brefused\((kgate_\w+)\(", texts)}
        table = re.search(r"^## What each call returns$(.*?)^## ", (ROOT / "docs/c.md").read_text(), re.M | re.S)[1]
        documented = {(call, f"KGATE_{code}") for calls, codes in re.findall(r"^\| (`kgate_.*?) \| (.*) \|$", table, re.M)
                      for call in re.findall(r"kgate_\w+", calls) for code in re.findall(r"`(\w+)`", codes)}
        self.assertGreater(len(documented), 100)
        self.assertEqual(sorted((call, code) for call, code in got if code != "KGATE_OK"), sorted(documented))

    def test_every_call_is_made_by_a_cancelled_thread(self):
        text = (ROOT / "tests/c/signals_test.c").read_text()
        body = text[text.index("every_call_while_cancelled(void*"):text.index("pthread_testcancel()")]
        self.assertEqual({call for call in self.calls() if not re.search(rf"\b{call}\(", body)}, set())

    def test_soname(self):
        self.assertIn("[libkgate.so.1]", output("readelf", "-d", LIBRARY))

    def test_codes_and_structs_keep_their_numbers(self):
        codes = re.findall(r"^  (KGATE_\w+) = \d+", self.header, re.M)
        fields = {"kgate_gate_options": "size directory mode group overtakings command",
                  "kgate_participant": "process user weight slot position since host command",
                  "kgate_status": "slots free healed holder_count holders waiter_count waiters over"}
        lines = [f'printf("{c} %d\\n", {c});' for c in codes]
        for struct, names in fields.items():
            lines.append(f'printf("{struct} %zu\\n", sizeof({struct}));')
            lines += [f'printf("{struct}.{n} %zu\\n", offsetof({struct}, {n}));' for n in names.split()]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "numbers.c")
            source.write_text('#include <stdio.h>\n#include "kgate/kgate.h"\nint main(void) {\n' + "\n".join(lines) + "\n}\n")
            program = Path(folder, "numbers")
            output(CC, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}/include", source, "-o", program)
            now = output(program).splitlines()
        if sys.maxsize > 2**32:
            self.assertEqual(now, [line for line in self.kept if re.match(r"KGATE_|kgate_\w+[. ]", line) and " " in line])


if __name__ == "__main__":
    ROOT, LIBRARY, CC = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    unittest.main(argv=[sys.argv[0], "-v"])
