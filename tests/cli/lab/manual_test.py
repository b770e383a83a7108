#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page, the help and the program speak of the same commands, options and exit codes."""
import re
import shlex
import shutil
import subprocess

import lab
from lab import HOLDS, LabTest

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z])(?![\w-])")


def option_lines(help_text):
    """The options that a help text introduces: those at the beginning of its indented lines."""
    found = set()
    for line in help_text.splitlines():
        if line.startswith("  -"):
            found |= set(OPTION.findall(re.split(r" {2,}", line.strip())[0]))
    return found


class Manual(LabTest):
    def setUp(self):
        super().setUp()
        self.page = (lab.SOURCE / "man/kgate-lab.1").read_text()
        self.plain = self.page.replace("\\-", "-")

    def commands(self):
        listed = self.lab(HOLDS, "--help").split("Subcommands:\n")[1].split("\n\n")[0]
        return [line.split()[0] for line in listed.splitlines()]

    def options_in_manual(self, text):
        """The options that are introduced by a tagged paragraph."""
        found = set()
        for tag in re.findall(r"^\.TP\n(.*)$", text, re.M):
            found |= set(OPTION.findall(tag))
        return found

    def test_commands(self):
        in_manual = re.findall(r"^\.SS (\w+)", self.plain, re.M)
        self.assertEqual(self.commands(), in_manual)

    def test_options_of_each_command(self):
        sections = dict(re.findall(r"^\.SS (\w+)[^\n]*\n(.*?)(?=^\.S[SH] )", self.plain, re.M | re.S))
        for command in self.commands():
            in_help = option_lines(self.lab(HOLDS, command, "--help")) - {"-h", "--help"}
            self.assertTrue(in_help, command)
            self.assertEqual(self.options_in_manual(sections[command]), in_help, command)

    def test_options_of_the_tool(self):
        (section,) = re.findall(r"^\.SH OPTIONS\n(.*?)(?=^\.SH )", self.plain, re.M | re.S)
        self.assertEqual(self.options_in_manual(section), option_lines(self.lab(HOLDS, "--help")))

    def test_exit_codes(self):
        enum = (lab.SOURCE / "src/tools/kgate-lab/exit_code.hpp").read_text()
        (section,) = re.findall(r"^\.SH EXIT STATUS\n(.*?)(?=^\.SH )", self.plain, re.M | re.S)
        self.assertEqual(re.findall(r"^\.B (\d+)$", section, re.M), re.findall(r"^  \w+ = (\d+),", enum, re.M))

    def test_version(self):
        header = (lab.SOURCE / "include" / "kgate" / "version.hpp").read_text()
        version = ".".join(re.findall(r"#define KGATE_VERSION_\w+ (\d+)", header))
        self.assertEqual(self.lab(HOLDS, "--version"), f"kgate-lab {version}\n")

    def test_help_fits_a_terminal(self):
        for command in ([], *([c] for c in self.commands())):
            for line in self.lab(HOLDS, *command, "--help").splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_examples_are_accepted(self):
        """The examples of every help text run, one after the other and in one folder."""
        for command in ([], *([c] for c in self.commands())):
            examples = self.lab(HOLDS, *command, "--help").split("Examples:\n")[1].split("\n\n")[0].replace("\\\n", " ")
            self.assertIn("kgate-lab", examples)
            for example in examples.splitlines():
                program, *arguments = shlex.split(example.split("#")[0].split("|")[0])
                self.assertEqual(program, "kgate-lab")
                if "--all" in arguments:
                    continue  # takes minutes; tests/lab/rmr_test holds its figures
                limit = ["--time-max", "2s"] if arguments[0] == "check" and "--time-max" not in arguments else []
                done = self.run_lab(*["5s" if a == "30s" else a for a in arguments], *limit)
                self.assertIn(done.returncode, (lab.HOLDS, lab.VIOLATED, lab.UNDECIDED), f"{example}\n{done.stderr}")
                self.assertEqual(done.stderr, "", example)

    def test_page_is_well_formed(self):
        if not shutil.which("man"):
            self.skipTest("no man")
        done = subprocess.run(["man", "--warnings", "-l", lab.SOURCE / "man/kgate-lab.1"], capture_output=True, text=True,
                              env=lab.environment(MANWIDTH="80"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    lab.main()
