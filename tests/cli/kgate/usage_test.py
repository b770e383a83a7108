#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: what is said of command lines, sizes and gates that do not fit."""
import json
import os

from tool import Case, main


class Usage(Case):
    def refused(self, *words, says, code=120):
        done = self.run_kgate(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), f"{words} {done.stderr}")
        self.assertIn(says, done.stderr, words)

    def test_the_hint_without_gates_keeps_the_directory(self):
        empty = os.path.join(self.dir, "empty")
        os.mkdir(empty)
        done = self.run_kgate("status", "--dir", empty)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn(f"`kgate run -n NAME --dir {empty} -k K -- COMMAND` creates one", done.stderr)

    def test_nothing_is_passed_over(self):
        self.refused("run", "-n", "", "--", "true", says="--name wants 1 to 64 of")
        self.refused("run", "--dir", "", "--", "true", says="--dir wants a directory")
        self.refused("run", "-t", "1", "-t", "2", "--", "true", says="--timeout is given twice")
        self.refused("run", "-k", "1", "-k", "2", "--", "true", says="--slots is given twice")
        self.refused("run", "-k", "1", "-n", "a", "-k", "2", "--", "true", says="--slots is given twice")
        self.refused("run", "-q", "--quiet", "--", "true", says="--quiet is given twice")
        self.refused("status", "-n", "a", "-n", "b", says="--name is given twice")
        self.refused("run", "-n", "a", "-n", "a", "--", "true", says="gate 'a' is named twice")
        self.refused("run", "-k", "2", "-n", "a", "-n", "b", "--", "true", says="stands before several gates")
        self.refused("run", "--exec", "--time-limit", "1", "--", "true", says="contradict each other")
        self.refused("run", "--grace", "1", "--", "true", says="--grace is for --time-limit and --on only")
        for word in ("help", "--help", "-h"):
            self.refused(word, "run", "foo", says=f"kgate {word} run takes no operand 'foo'")

    def test_gates_whose_variables_would_be_the_same(self):
        for a, b, variable in (("a.b", "a-b", "KGATE_SLOT_A_B"), ("GPU", "gpu", "KGATE_SLOT_GPU")):
            self.refused("run", "-n", a, "-n", "other", "-n", b, "--", "true", says=f"gates '{a}' and '{b}' would both have {variable}")
        self.assertEqual(os.listdir(self.dir), [])

    def test_suggestions(self):
        self.refused("staus", says="did you mean 'kgate status'?")
        self.refused("rnu", "--", "true", says="did you mean 'kgate run'?")
        self.refused("run", "--timout", "3", "true", says="did you mean '--timeout'?")
        self.refused("run", "--slot", "3", "true", says="did you mean '--slots'?")
        self.refused("cancel", "-n", "g", "4711", says="takes no operand '4711'; name a process with -p")
        self.refused("cancel", "g", says="takes no operand 'g'; name a gate with -n")
        self.refused("status", "4711", says="takes no operand '4711'; name a gate with -n")
        self.assertNotIn("did you mean", self.run_kgate("xyzzy").stderr)
        self.run_kgate("create", "-n", "g")
        self.assertNotIn("did you mean", self.run_kgate("status", "-n", "s").stderr)  # nothing in common

    def test_modes_that_no_gate_can_have(self):
        for mode in ("0", "044", "0060", "100", "200", "400", "440", "0577", "1600", "07777", "-1", "0x180", "+660", " 660", "0680", ""):
            for words in (("run", "-n", "g", "--", "true"), ("create", "-n", "g"), ("hold", "-n", "g", "--path")):
                self.refused(*words[:3], f"--mode={mode}", *words[3:], says="lets the owner read and write, such as 0660")
        self.assertEqual(os.listdir(self.dir), [])
        for name, mode in (("least", "600"), ("most", "0777")):
            self.assertEqual(self.run_kgate("run", "-n", name, "--mode", mode, "--", "true").returncode, 0)
            self.assertEqual(os.stat(os.path.join(self.dir, f"{name}.gate")).st_mode & 0o7777, int(mode, 8))

    def test_numbers_that_no_group_can_have(self):
        for group in ("4294967295", "4294967296", "4294967297", "8589934592", "18446744073709551615", "18446744073709551616", "9" * 40):
            for words in (("run", "-n", "g", "--", "true"), ("create", "-n", "g"), ("hold", "-n", "g", "--path")):
                self.refused(*words[:3], f"--group={group}", *words[3:], says="--group wants a group, by its name or by its number from 0 to 4294967294")
        for group in (" 5", " +5", "+5", "5 ", "-1", "-0", "0x5", "5a", "\t5", "1e1"):
            self.refused("create", "-n", "g", f"--group={group}", says="there is no group '")
        self.assertEqual(os.listdir(self.dir), [])

    def test_durations(self):
        self.run_kgate("run", "-n", "g", "-t", "1h30m", "--", "true")
        self.refused("run", "-t", "30m1h", "--", "true", says="a time such as")

    def test_a_size_that_was_set_later_stands(self):
        self.run_kgate("run", "-n", "g", "-k", "4", "--", "true")
        self.refused("run", "-n", "g", "-k", "3", "--", "true", says="has 4 slots, not 3", code=125)
        self.run_kgate("resize", "-n", "g", "-k", "3")
        for k in ("4", "3", "7"):
            self.assertEqual(self.run_kgate("run", "-n", "g", "-k", k, "--", "true").returncode, 0)
        self.assertEqual(self.gate("g")["slots"], 3)

    def test_a_size_that_was_asked_for_replaces_one_that_was_not(self):
        self.run_kgate("run", "-n", "g", "--", "true")
        self.assertEqual(self.gate("g")["slots"], 1)
        self.assertEqual(self.run_kgate("run", "-n", "g", "-k", "4", "--", "true").returncode, 0)
        self.assertEqual(self.gate("g")["slots"], 4)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--", "true").returncode, 0)
        self.assertEqual(self.gate("g")["slots"], 4)

    def test_the_first_who_asks_for_a_size_sets_it(self):
        self.run_kgate("run", "-n", "one", "--", "true")
        for k in ("1", "3"):
            self.assertEqual(self.run_kgate("run", "-n", "one", "-k", k, "--", "true").returncode, 0)
            self.assertEqual(self.gate("one")["slots"], 1)

    def test_create_and_existing(self):
        self.refused("run", "-n", "g", "--existing", "--", "true", says=f"no gate 'g' in {self.dir}; create it: kgate create -n g -k K", code=125)
        self.assertEqual(self.run_kgate("create", "-n", "g", "-k", "2").returncode, 0)
        self.assertEqual(self.run_kgate("create", "-n", "g", "-k", "2").returncode, 0)
        self.refused("create", "-n", "g", "-k", "3", says="has 2 slots, not 3; leave the number out to use it as it is, or change it: kgate resize -n g -k 3", code=1)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--existing", "--", "true").returncode, 0)
        self.assertEqual(self.run_kgate("create", "-n", "g").stdout, f"g: exists already: 2 slots, {self.dir}/g.gate\n")
        self.run_kgate("resize", "-n", "g", "-k", "5")
        self.refused("create", "-n", "g", "-k", "2", says="was resized to 5 slots, not 2; change it: kgate resize -n g -k 2", code=1)

    def test_what_an_existing_gate_cannot_take_over_is_said(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--overtake", "3", "--", "true")
        done = self.run_kgate("create", "-n", "g", "--overtake", "4", "--mode", "0644")
        self.assertEqual((done.returncode, done.stdout), (0, f"g: exists already: 1 slot, {self.dir}/g.gate\n"))
        self.assertIn("--overtake 4 changes nothing, it has 3", done.stderr)
        self.assertIn("mode 0644 changes nothing, it has 0600", done.stderr)
        done = self.run_kgate("run", "-n", "g", "--overtake", "4", "--", "echo", "inside")
        self.assertEqual((done.returncode, done.stdout), (0, "inside\n"))
        self.assertIn("--overtake 4 changes nothing, it has 3", done.stderr)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--overtake", "3", "--", "true").stderr, "")
        self.assertIn("mode 0644 changes nothing, it has 0600", self.run_kgate("run", "-n", "g", "--mode", "0644", "--", "true").stderr)

    def test_what_is_said_of_a_missing_gate_fits_the_command(self):
        for words in (("status",), ("top",), ("stats",), ("wait",), ("cancel", "--all"), ("pause",), ("resume",), ("drain",), ("remove",),
                      ("resize", "-k", "2"), ("doctor",)):
            done = self.run_kgate(words[0], "-n", "g", *words[1:])
            self.assertEqual((done.returncode, done.stderr), (1, f"kgate: there is no gate 'g' in {self.dir}\n"), words)
            self.assertEqual(done.stdout, "", words)
        done = self.run_kgate("doctor", "-n", "g", "--json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(json.loads(done.stdout)["findings"], [{"gate": "g", "ok": False, "finding": f"there is no gate 'g' in {self.dir}"}])

    def test_a_gate_of_a_similar_name_is_suggested(self):
        self.run_kgate("create", "-n", "license")
        for words in (("status",), ("drain",), ("remove",), ("doctor",)):
            done = self.run_kgate(*words, "-n", "licence")
            self.assertIn(f"there is no gate 'licence' in {self.dir}; did you mean 'license'?", done.stderr + done.stdout, words)
        self.assertIn("did you mean 'license'?", self.run_kgate("run", "-n", "licence", "--existing", "--", "true").stderr)

    def test_create_says_what_it_did(self):
        self.assertEqual(self.run_kgate("create", "-n", "g", "-k", "2").stdout, f"g: created: 2 slots, {self.dir}/g.gate\n")
        for name, done in (("g", "exists"), ("h", "created")):
            self.assertEqual(json.loads(self.run_kgate("create", "-n", name, "-k", "2", "--json").stdout),
                             {"schema": 1, "gate": name, "done": done, "slots": 2, "path": f"{self.dir}/{name}.gate"})
        self.run_kgate("run", "-n", "small", "--", "true")  # of a size that was not asked for
        self.assertIn("exists already: 4 slots", self.run_kgate("create", "-n", "small", "-k", "4").stdout)

    def test_a_weight_that_cannot_fit_creates_nothing(self):
        self.refused("run", "-n", "x", "-w", "3", "-k", "2", "--", "true", says="--weight 3 is more than the --slots 2 of gate 'x'")
        self.refused("run", "-n", "x", "-w", "3", "--", "true", says="say how many it shall have: -k K")
        self.assertEqual(os.listdir(self.dir), [])

    def test_bad_names_are_refused_by_every_command(self):
        for name in ("", "a/b", ".hidden", "-x", "a b", "n" * 65, "\033[31m"):
            for command in (("run", "true"), ("status",), ("wait",), ("remove",), ("doctor",), ("create",), ("pause",)):
                done = self.run_kgate(command[0], f"--name={name}", *command[1:])
                self.assertEqual((done.returncode, done.stdout), (120, ""), (command, name, done.stderr))
                self.assertIn("--name wants 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit", done.stderr)

    def test_nothing_that_steers_a_terminal_is_echoed(self):
        evil = "x\033]0;title\007\x9b31m\u202e"
        self.run_kgate("create", "-n", "g")
        for words in ((evil,), ("run", "--" + evil), ("run", "-n", evil, "true"), ("run", "-t", evil, "true"), ("run", "--", "./" + evil),
                      ("status", evil), ("run", "--dir", "/no/" + evil, "true"), ("status", "--dir", "/no/" + evil), ("run", "--group", evil, "true"),
                      ("doctor", "--dir", "/no/" + evil), ("create", "-n", "g", "--dir", self.dir + "/../" + evil)):
            done = self.run_kgate(*words)
            for character in "\033\007\x9b\u202e":
                self.assertNotIn(character, done.stdout + done.stderr, words)

    def test_hints_keep_the_directory_and_name_the_gate(self):
        env = {k: v for k, v in self.env.items() if k != "KGATE_DIR"}
        self.run_kgate("run", "-n", "g", "--dir", self.dir, "-k", "2", "--", "true", env=env)
        done = self.run_kgate("run", "-n", "g", "--dir", self.dir, "-k", "3", "--", "true", env=env)
        self.assertIn(f"kgate resize -n g --dir {self.dir} -k 3", done.stderr)
        with open(os.path.join(self.dir, "g.gate"), "r+b") as file:
            file.seek(8)
            file.write(b"\x63\0\0\0")
        done = self.run_kgate("run", "-n", "g", "--dir", self.dir, "--", "true", env=env)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"`kgate remove -n g --dir {self.dir} --force`", done.stderr)
        self.assertIn("is a gate of version 99", done.stderr)


if __name__ == "__main__":
    main()
