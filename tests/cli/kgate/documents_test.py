#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: help, man pages and completions agree."""
import os
import re
import shutil
import subprocess

from tool import DOCUMENTS, KGATE, ROOT, Case, Terminal, main


COMMANDS = ("run", "hold", "release", "jobserver", "create", "status", "list", "top", "stats", "wait", "cancel", "pause", "resume", "drain",
            "resize", "remove", "doctor", "lease")


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


class Completions(Case):
    """In each shell, what is offered at the end of a line."""

    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.dir, "bin")
        os.mkdir(self.folder)
        os.symlink(KGATE, os.path.join(self.folder, "kgate"))
        self.env["PATH"] = self.folder + ":" + self.env["PATH"]
        self.env["HOME"] = self.folder
        self.run_kgate("create", "-n", "somegate")
        self.elsewhere = os.path.join(self.dir, "elsewhere")
        os.mkdir(self.elsewhere)
        self.run_kgate("create", "-n", "othergate", "--dir", self.elsewhere)
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)
        with open(os.path.join(self.work, "kgate-input"), "w", encoding="ascii"):
            pass

    def check(self, offered):
        """The same of every shell; `offered` gives the words for a line."""
        self.assertEqual(offered("kgate stat"), ["stats", "status"])
        self.assertEqual(offered("kgate help dr"), ["drain"])
        self.assertEqual(offered("kgate run --time"), ["--time-limit", "--timeout", "--timeout-code"])
        self.assertEqual(offered("kgate status --j"), ["--json"])
        self.assertEqual(offered("kgate status -n some"), ["somegate"])
        self.assertEqual(offered("kgate status --name some"), ["somegate"])
        self.assertEqual(offered(f"kgate status -d {self.elsewhere} -n other"), ["othergate"])
        self.assertEqual(offered("kgate run -n x -q -n some"), ["somegate"])
        self.assertEqual(offered("kgate jobserver --style "), ["fifo", "pipe"])
        self.assertEqual(offered("kgate top --sort u"), ["user"])
        self.assertEqual(offered("kgate pause -n somegate --ti"), [])  # not an option of pause
        self.assertEqual(offered("kgate run -k "), [])  # a number, not a file
        # A command behind the options, with and without --: as if it stood alone.
        for line in ("kgate run -- kgate-inp", "kgate run kgate-inp", "kgate jobserver -n x --style pipe -- kgate-inp"):
            self.assertEqual(offered(line), [], line)  # not a program
        self.assertIn("sleep", offered("kgate run -n status -- slee"))
        self.assertIn("sleep", offered("kgate run -qn run slee"))
        for line in ("kgate run -- cat kgate-inp", "kgate run -n somegate cat kgate-inp", "kgate run -- cat --  kgate-inp"):
            self.assertEqual([word.strip() for word in offered(line)], ["kgate-input"], line)
        self.assertEqual(offered("kgate run -- kgate drain --ti"), ["--timeout"])
        self.assertEqual(offered("kgate run -n somegate -- kgate resi"), ["resize"])
        # A process that can be cancelled or waited for.
        holder = self.hold("somegate")
        self.assertIn(str(holder.pid), offered("kgate wait -n somegate --pid "))

    def test_bash(self):
        def offered(line):
            # bash splits words at = too; the quotes of a word are not used here
            words = line.split(" ")
            words = [word for word in words[:-1] if word] + [words[-1]]
            quoted = " ".join(f"'{word}'" for word in words)
            script = f"source {ROOT}/completions/kgate.bash; cd {self.work}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; " \
                     "compopt() { :; }; _kgate; printf '%s\\n' \"${COMPREPLY[@]}\""
            if line.startswith(("kgate run -- kgate ", "kgate run -n somegate -- kgate ")):
                # What bash-completion does for a command behind another one, where it is installed.
                script = script.replace("compopt()", "_command_offset() { COMP_WORDS=(\"${COMP_WORDS[@]:$1}\"); ((COMP_CWORD -= $1)); _kgate; }; compopt()")
            done = subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, timeout=30)
            self.assertEqual(done.stderr, "", line)
            return sorted(set(done.stdout.split()))
        self.check(offered)
        # --name=x is three words to bash.
        script = f"source {ROOT}/completions/kgate.bash; COMP_WORDS=(kgate status --name = so); COMP_CWORD=4; _kgate; echo $COMPREPLY; " \
                 "COMP_WORDS=(kgate status --name =); COMP_CWORD=3; _kgate; echo $COMPREPLY"
        self.assertEqual(subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, timeout=30).stdout, "somegate\nsomegate\n")

    def test_bash_on_a_terminal(self):
        with Terminal(self, "bash --norc -i") as terminal:
            terminal.keys(f"PATH={self.folder}:$PATH; cd {self.work}; source {ROOT}/completions/kgate.bash; clear", "Enter")
            terminal.keys("kgate statu", "Tab", " -n some", "Tab", " --js", "Tab")
            terminal.until("kgate status +-n somegate +--json")
            terminal.keys("C-u", "kgate run -n so", "Tab", " -- cat kgate-i", "Tab")
            terminal.until("kgate run -n somegate +-- cat kgate-input")

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        # compadd is where what is offered is handed to the line editor, of which there is none here.
        driver = f"""
zmodload zsh/zpty
cd {self.work}
zpty z "TERM=dumb zsh -f -i"
expect() {{ local got= chunk; repeat 400; do zpty -r -t z chunk && got+=$chunk; [[ $got == *$1* ]] && break; sleep 0.02; done; print -rn -- $got; }}
zpty -w z 'PROMPT=; unsetopt beep zle_bracketed_paste; stty -echo 2>/dev/null; fpath=({ROOT}/completions $fpath); autoload -Uz compinit; compinit -u -D; print -n rea""dy'
expect ready >/dev/null
zpty -w z 'compadd() {{ local -a hits; builtin compadd -O hits "$@"; (( $#hits )) && print -rl -- "<<"$^hits">>"; builtin compadd "$@"; }}; zstyle ":completion:*" verbose no; print -n pre""pared'
expect prepared >/dev/null
while IFS= read -r line; do
  zpty -w -n z $'\x15'"$line"$'\t\x15'
  zpty -w z "print -n en''ded"
  expect ended
  print -r -- "=== $line"
done
zpty -d z
"""
        path = os.path.join(self.dir, "driver.zsh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(driver)

        def offered(line):
            done = subprocess.run(["zsh", "-f", path], input=line + "\n", env=self.env, capture_output=True, text=True, timeout=60)
            return sorted(set(re.findall(r"<<([^<>\r\n]+)>>", done.stdout)))
        self.check(offered)

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")

        def offered(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {ROOT}/completions/kgate.fish; cd {self.work}; complete -C '{line}'"],
                                  env=self.env, capture_output=True, text=True, timeout=30)
            self.assertEqual(done.stderr, "", line)
            return sorted(word.split("\t")[0] for word in done.stdout.splitlines())
        self.check(offered)


if __name__ == "__main__":
    main()
