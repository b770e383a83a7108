#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: help, man pages and completions agree."""
import os
import re
import shutil
import subprocess

from tool import DOCUMENTS, KGATE, ROOT, Case, main


class Documents(Case):
    def test_nothing_has_drifted(self):
        subprocess.run([DOCUMENTS, self.dir], check=True, timeout=30)
        for folder in ("man", "completions"):
            for name in os.listdir(os.path.join(self.dir, folder)):
                with open(os.path.join(self.dir, folder, name), encoding="utf-8") as made, \
                        open(os.path.join(ROOT, folder, name), encoding="utf-8") as kept:
                    self.assertEqual(made.read(), kept.read(), f"{folder}/{name}: run kgate_documents on the tree")

    def test_help_of_every_command(self):
        overview = self.run_kgate("--help").stdout
        for command in ("run", "status", "list", "top", "resize", "remove", "doctor"):
            self.assertIn(f"kgate {command}", overview)
            text = self.run_kgate(command, "--help")
            self.assertEqual(text.returncode, 0)
            self.assertIn("Examples:", text.stdout)
            self.assertLess(len(self.run_kgate(command, "-h").stdout), len(text.stdout))
            with open(os.path.join(ROOT, "man", f"kgate-{command}.1"), encoding="utf-8") as page:
                manual = page.read().replace("\\-", "-")
            for option in re.findall(r"--[a-z]+", text.stdout.split("Options:")[1].split("Examples:")[0]):
                self.assertIn(option, manual)

    def test_completions_complete(self):
        script = f"""source {ROOT}/completions/kgate.bash
COMP_WORDS=(kgate ru); COMP_CWORD=1; _kgate; echo "${{COMPREPLY[@]}}"
COMP_WORDS=(kgate run --t); COMP_CWORD=2; _kgate; echo "${{COMPREPLY[@]}}"
COMP_WORDS=({KGATE} status -n ''); COMP_CWORD=3; _kgate; echo "${{COMPREPLY[@]}}"
"""
        self.run_kgate("run", "-n", "somegate", "--", "true")
        done = subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout.split("\n")[:3], ["run", "--timeout --try", "somegate"])
        for shell, file in (("zsh", "_kgate"), ("fish", "kgate.fish")):
            if shutil.which(shell):
                self.assertEqual(subprocess.run([shell, "-n", os.path.join(ROOT, "completions", file)]).returncode, 0)


if __name__ == "__main__":
    main()
