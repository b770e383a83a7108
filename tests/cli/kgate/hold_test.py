#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: slots that a descriptor of a script keeps."""
import os
import signal
import subprocess

from tool import KGATE, Case, main


class Hold(Case):
    def script(self, text, **more):
        return subprocess.run(["bash", "-c", f"kgate() {{ {KGATE} \"$@\"; }}\n{text}"], env=self.env, capture_output=True, text=True,
                              timeout=30, **more)

    def start_script(self, text):
        process = subprocess.Popen(["bash", "-c", f"kgate() {{ {KGATE} \"$@\"; }}\n{text}"], env=self.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    OPEN = 'exec 9<"$(kgate hold -n g -k 2 --path)" || exit 9\n'

    def test_a_slot_for_a_part_of_a_script(self):
        done = self.script(self.OPEN + 'slot=$(kgate hold -n g --fd 9) || exit 8; echo "slot $slot"; kgate status -n g --json; '
                                       'kgate release --fd 9; kgate status -n g --json')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, inside, after = done.stdout.splitlines()
        self.assertEqual(first, "slot 0")
        self.assertIn('"command":"kgate hold"', inside)
        self.assertIn('"holders":[]', after)
        self.assertEqual(self.gate("g")["healed"], 0)

    def test_the_slot_stays_taken_while_the_descriptor_is_open_and_no_longer(self):
        script = self.start_script(self.OPEN + 'kgate hold -n g -w 2 --fd 9; read; exec 9<&-; echo closed; read')
        self.assertEqual(script.stdout.readline(), "0,1\n")
        self.assertEqual(self.gate("g")["holders"][0]["command_pid"], script.pid)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 122)
        script.stdin.write("\n")
        script.stdin.flush()
        self.assertEqual(script.stdout.readline(), "closed\n")
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 0)
        self.assertEqual(self.gate("g")["healed"], 0)

    def test_the_end_of_the_script_gives_it_back_to_who_waits(self):
        script = self.start_script(self.OPEN + 'kgate hold -n g -w 2 --fd 9; read')
        script.stdout.readline()
        waiter = self.start("run", "-n", "g", "--", "true")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        script.send_signal(signal.SIGKILL)
        self.assertEqual(waiter.wait(10), 0)

    def test_a_child_that_inherited_the_descriptor_keeps_it(self):
        script = self.start_script(self.OPEN + 'kgate hold -n g -w 2 --fd 9; sleep 61 & echo $!; exec 9<&-; read')
        script.stdout.readline()
        child = int(script.stdout.readline())
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 122)
        os.kill(child, signal.SIGKILL)
        self.until(lambda: self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode == 0)

    def test_a_script_that_runs_at_the_gate_does_not_open_its_file(self):
        # Or it would lose its own slot when it closes the descriptor that a shell opens first.
        for more in ((), ("--exec",)):
            for path in (f"{KGATE} hold -n own --path", f"kgate() {{ {KGATE} \"$@\"; }}; kgate hold -n own --path"):
                done = self.run_kgate("run", "-n", "own", "-k", "1", *more, "--", "bash", "-c", f"p=$({path}); echo \"$? $p\"; :")
                self.assertEqual(done.stdout, "125 \n")
                self.assertIn("runs at gate 'own' itself", done.stderr)
        inner = f"exec 9<\"$({KGATE} hold -n own --path)\"; {KGATE} hold -n own --fd 9 --try; :"
        done = self.run_kgate("run", "-n", "own", "-k", "1", "--", "sh", "-c", f"bash -c '{inner}'; :")
        self.assertIn("no slot", done.stderr)  # a script that it starts may hold, and here there is no room

    def test_a_holder_killed_while_it_waits_leaves_nothing(self):
        self.hold("g", "2")
        self.hold("g", "2")
        script = self.start_script(self.OPEN + 'kgate hold -n g --fd 9 & echo $!; wait; echo ended; read')
        script.stdout.readline()
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        os.kill(self.gate("g")["waiters"][0]["pid"], signal.SIGKILL)
        self.assertEqual(script.stdout.readline(), "ended\n")
        self.assertEqual(self.gate("g")["waiters"], [])
        self.assertEqual(len(self.gate("g")["holders"]), 2)

    def test_mistakes_are_explained(self):
        done = self.script('kgate hold -n g -k 1 --fd 9')
        self.assertEqual(done.returncode, 125)
        self.assertIn('descriptor 9 is not open; open it first: exec 9<"$(kgate hold -n g --path)"', done.stderr)
        done = self.script('exec 9</dev/null; kgate hold -n g --fd 9')
        self.assertEqual(done.returncode, 125)
        self.assertIn("is open on something else", done.stderr)
        for how in (">", ">>"):
            done = self.script(f'exec 9{how}"$(kgate hold -n g -k 1 --path)"; kgate hold -n g --fd 9; code=$?; kgate status -n g --json; exit $code')
            self.assertEqual(done.returncode, 125)
            self.assertIn('descriptor 9 is open for writing only; open it for reading: exec 9<"$(kgate hold -n g --path)"', done.stderr)
            self.assertIn('"holders":[]', done.stdout)
        self.assertEqual(self.script('exec 9<>"$(kgate hold -n g -k 1 --path)"; kgate hold -n g --fd 9').stdout, "0\n")
        done = self.script(self.OPEN.replace("-k 2", "-k 1") + 'kgate hold -n g --fd 9; kgate hold -n g --fd 9')
        self.assertIn("keeps a slot already", done.stderr)
        done = self.script(self.OPEN.replace("-k 2", "-k 1") + 'kgate release --fd 9')
        self.assertEqual(done.returncode, 1)
        self.assertIn("keeps no slot", done.stderr)

    def test_a_slot_that_nobody_learns_of_is_not_kept(self):
        for target in (">/dev/full", ">&-"):
            done = self.script(self.OPEN + f'kgate hold -n g --fd 9 {target}; echo "code $?"; kgate status -n g --json; '
                                           f'kgate hold -n g --path {target}; echo "code $?"; kgate hold -n g --fd 9')
            code, status, path_code, slot = done.stdout.splitlines()
            self.assertEqual((code, path_code, slot), ("code 125", "code 125", "0"), target)
            self.assertIn('"holders":[]', status)
            self.assertEqual(done.stderr.count("cannot write to standard output"), 2)

    def test_a_warning_is_given_once(self):
        begin = 'exec 9<"$(kgate hold -n g -k 1 --overtake 1 --path)" || exit 9\n'
        done = self.script(begin + "kgate hold -n g --overtake 2 --fd 9")
        self.assertEqual(done.stderr.count("--overtake 2 changes nothing, it has 1"), 1, done.stderr)

    def test_time_outs(self):
        self.hold("g", "1")
        begin = self.OPEN.replace("-k 2", "-k 1")
        self.assertEqual(self.script(begin + "kgate hold -n g --fd 9 --try -q").returncode, 122)
        self.assertEqual(self.script(begin + "kgate hold -n g --fd 9 -t 50ms -E 7").returncode, 7)


if __name__ == "__main__":
    main()
