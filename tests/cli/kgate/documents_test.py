#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: help, man pages and completions agree."""
import os
import re
import shutil
import subprocess

from tool import DOCUMENTS, KGATE, ROOT, Case, main


COMMANDS = ("run", "hold", "release", "jobserver", "create", "status", "list", "top", "stats", "wait", "cancel", "pause", "resume", "drain",
            "resize", "remove", "doctor")


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
        for command in COMMANDS:
            self.assertIn(f"kgate {command}", overview)
            text = self.run_kgate(command, "--help")
            self.assertEqual(text.returncode, 0)
            self.assertIn("Examples:", text.stdout)
            self.assertLess(len(self.run_kgate(command, "-h").stdout), len(text.stdout))
            with open(os.path.join(ROOT, "man", f"kgate-{command}.1"), encoding="utf-8") as page:
                manual = page.read().replace("\\-", "-")
            for option in re.findall(r"^  .*(--[a-z-]+)", text.stdout.split("Options:")[1].split("Examples:")[0], re.M):
                self.assertIn(option, manual)
            self.assertEqual(self.run_kgate("help", command).stdout, text.stdout)
            self.assertLessEqual(max(map(len, text.stdout.split("Examples:")[0].splitlines())), 100, command)
        self.assertRegex(self.run_kgate("--version").stdout, r"\Akgate \d+\.\d+\.\d+\n\Z")

    def test_what_cannot_be_written_is_a_failure(self):
        self.run_kgate("create", "-n", "g")
        for words in ("--help", "--version", "help run", "run --help", "status", "list --json", "stats", "top", "doctor", "pause -n g"):
            for target in (">/dev/full", ">&-"):
                done = subprocess.run(["sh", "-c", f"exec {KGATE} {words} {target}"], env=self.env, stderr=subprocess.PIPE, text=True, timeout=30)
                self.assertEqual((done.returncode, done.stderr), (1, "kgate: cannot write to standard output\n"), (words, target))

    def test_closed_descriptors_do_not_become_those_of_a_gate(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
            for words in ("status", "run -n h -w 2 -- true", "run -n g -- true", "run -n g -- /no/such/command"):
                subprocess.run(["sh", "-c", f"exec {KGATE} {words} {closed}"], env=self.env, capture_output=True, timeout=30)
        for name in os.listdir(self.dir):
            if name.endswith((".lock", ".run")):
                self.assertEqual(os.path.getsize(os.path.join(self.dir, name)), 0, name)
        inherited = subprocess.run(["sh", "-c", f"exec {KGATE} run -- ls /proc/self/fd 2>&- <&- | tr '\\n' ' '"], env=self.env,
                                   capture_output=True, text=True, timeout=30)
        self.assertNotIn("2 ", inherited.stdout.split("1 ")[1][:2])

    def test_defaults_are_those_of_the_command(self):
        self.assertIn('default: "default"', self.run_kgate("run", "-h").stdout)
        self.assertIn("default: all gates", self.run_kgate("status", "-h").stdout)
        self.assertIn("must be given", self.run_kgate("resize", "-h").stdout)

    def test_completions_complete(self):
        script = f"""source {ROOT}/completions/kgate.bash
COMP_WORDS=(kgate ru); COMP_CWORD=1; _kgate; echo "${{COMPREPLY[@]}}"
COMP_WORDS=(kgate run --t); COMP_CWORD=2; _kgate; echo "${{COMPREPLY[@]}}"
COMP_WORDS=({KGATE} status -n ''); COMP_CWORD=3; _kgate; echo "${{COMPREPLY[@]}}"
"""
        self.run_kgate("run", "-n", "somegate", "--", "true")
        done = subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout.split("\n")[:3], ["run", "--timeout --try --timeout-code --time-limit", "somegate"])

    def test_completions_of_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        self.run_kgate("run", "-n", "somegate", "--", "true")
        # What _arguments and _describe would offer is caught where they hand it to the line editor, of which there is none here.
        folder = os.path.join(self.dir, "zsh")
        os.mkdir(folder)
        os.symlink(KGATE, os.path.join(folder, "kgate"))
        script = f"""
zmodload zsh/zpty
zpty z "PATH={folder}:$PATH HOME={folder} TERM=dumb zsh -f -i"
expect() {{ local got=; repeat 200; do zpty -r -t z chunk && got+=$chunk; [[ $got == *$1* ]] && break; sleep 0.05; done; print -r -- $got; }}
zpty -w z 'PROMPT=; unsetopt beep; fpath=({ROOT}/completions $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000; print -n rea""dy'
expect ready >/dev/null
zpty -w -n z $'kgate stat\t\t'; expect status
zpty -w -n z $'\x15kgate status --js\t'; expect json
zpty -w -n z $'\x15kgate status -n some\t'; expect somegate
zpty -d z
"""
        done = subprocess.run(["zsh", "-f", "-c", script], env=self.env, capture_output=True, text=True, timeout=60)
        for word in ("status", "--json", "somegate"):
            self.assertIn(word, done.stdout, done.stderr)

    def test_completions_of_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        self.run_kgate("run", "-n", "somegate", "--", "true")
        folder = os.path.join(self.dir, "fish")
        os.mkdir(folder)
        os.symlink(KGATE, os.path.join(folder, "kgate"))
        env = {**self.env, "PATH": folder + ":" + self.env["PATH"], "HOME": folder}

        def offered(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {ROOT}/completions/kgate.fish; complete -C '{line}'"], env=env,
                                  capture_output=True, text=True, timeout=30)
            return [word.split("\t")[0] for word in done.stdout.splitlines()]
        self.assertEqual(offered("kgate stat"), ["stats", "status"])
        self.assertIn("--json", offered("kgate status --j"))
        self.assertIn("somegate", offered("kgate status -n "))
        self.assertEqual(offered("kgate jobserver --style "), ["fifo", "pipe"])


if __name__ == "__main__":
    main()
