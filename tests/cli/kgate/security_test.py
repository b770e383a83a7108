#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who can do what to whom at a gate: one test for each line of docs/security.md."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

from tool import KGATE, ROOT_USER, Case, Terminal, main

READ_LOCKS = """
import fcntl, os, struct, sys, time
F_OFD_SETLK = 37
refused = 0
for path in sys.argv[1:]:
    try:
        fd = os.open(path, os.O_RDONLY)
    except PermissionError:
        refused += 1
        continue
    fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
    fcntl.flock(fd, fcntl.LOCK_SH)
print(refused, flush=True)
time.sleep(60)
"""


def each_subcommand(name):
    """A line of every subcommand that uses the gate `name` by its name, and the code with which it refuses what is no gate."""
    named = ("-n", name)
    return [(125, ("run", *named, "--", "true")), (125, ("hold", *named, "--path")),
            (125, ("jobserver", *named, "--", "true")), (1, ("create", *named, "-k", "2")), (1, ("status", *named)), (1, ("list",)),
            (1, ("top", *named, "--once")), (1, ("stats", *named)), (1, ("wait", *named)), (1, ("cancel", *named, "-p", "1")), (1, ("pause", *named)),
            (1, ("resume", *named)), (1, ("drain", *named)), (1, ("resize", *named, "-k", "2")), (1, ("remove", *named)),
            (1, ("remove", *named, "--force")), (1, ("doctor",))]


def lock_files(directory, ending):
    return [os.path.join(directory, f) for f in os.listdir(directory) if f.startswith(".") and f.endswith(ending)]


@unittest.skipUnless(ROOT_USER and shutil.which("setpriv"), "only root can become other users, with setpriv")
class Strangers(Case):
    def as_user(self, user, *words, groups="60123"):
        return ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={groups}", *words]

    def call(self, user, *words, **more):
        return subprocess.run(self.as_user(user, KGATE, *words), env=more.pop("env", self.env), capture_output=True, text=True, timeout=30)

    def seen_by(self, user, name="g"):
        return json.loads(self.call(user, "status", "-n", name, "--json").stdout)["gates"][0]

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)

    def test_a_reader_may_look_and_nothing_else(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--mode", "0644", "--", "true")
        self.assertEqual(self.call(60001, "status", "-n", "g").returncode, 0)
        for code, words in ((125, ("run", "-n", "g", "--", "true")), (1, ("resize", "-n", "g", "-k", "2")), (1, ("remove", "-n", "g"))):
            done = self.call(60001, *words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn("Permission denied", done.stderr)

    def test_a_reader_cannot_keep_others_out(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--mode", "0644", "--", "true")
        files = [os.path.join(self.dir, f) for f in os.listdir(self.dir)]
        self.assertEqual(len(files), 4)
        reader = subprocess.Popen(self.as_user(60001, sys.executable, "-c", READ_LOCKS, *files), stdout=subprocess.PIPE, text=True)
        self.started.append(reader)
        self.assertEqual(reader.stdout.readline(), "2\n")  # both lock files are closed to it
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 0)
        killed = self.start("run", "-n", "g", "--", "sh", "-c", "kill -9 $PPID; kill -9 $$")
        killed.wait()
        self.assertEqual(self.run_kgate("run", "-n", "g", "-t", "5", "--", "true").returncode, 0)
        self.assertEqual(self.run_kgate("resize", "-n", "g", "-k", "2").returncode, 0)
        self.assertEqual(self.run_kgate("remove", "-n", "g").returncode, 0)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_removal_that_is_not_allowed_changes_nothing(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--mode", "0666", "--", "true")
        for mode in (0o755, 0o1777):  # no right to the directory; a right to one's own files only
            os.chmod(self.dir, mode)
            for forced in ((), ("--force",)):
                done = self.call(60001, "remove", "-n", "g", *forced)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "Permission denied|Operation not permitted")
                self.assertEqual(self.call(60001, "run", "-n", "g", "--try", "--existing", "--", "true").returncode, 0)

    def test_an_owner_without_rights_is_told_how_to_get_them_back(self):
        os.chmod(self.dir, 0o1777)
        self.assertEqual(self.call(60001, "run", "-n", "g", "-k", "1", "--", "true").returncode, 0)
        gate = os.path.join(self.dir, "g.gate")
        locks = lock_files(self.dir, ".lock") + lock_files(self.dir, ".run")
        every = [(125, ("run", "-n", "g", "--", "true")), (1, ("resize", "-n", "g", "-k", "2")), (1, ("remove", "-n", "g")), (1, ("doctor",))]
        for mode in (0, 0o060, 0o200, 0o400):
            for files, remedy in (([gate], f"you own it: chmod u+rw {gate}"), (locks[:1], f"you own them: chmod u+rw {locks[0]}")):
                for path in files:
                    os.chmod(path, mode)
                for code, words in every:
                    done = self.call(60001, *words)
                    self.assertEqual(done.returncode, code, words)
                    self.assertIn(remedy, done.stderr + done.stdout)
                    self.assertNotIn("SHARING", done.stderr + done.stdout)
                    self.assertIn("SHARING", self.call(60002, *words).stderr + self.call(60002, "doctor").stdout)
                self.assertEqual(subprocess.run(self.as_user(60001, *remedy[remedy.index("chmod"):].split()), check=False).returncode, 0)
                self.assertEqual(self.call(60001, "run", "-n", "g", "--", "true").returncode, 0)

    def test_an_owner_without_rights_can_remove_its_gate(self):
        os.chmod(self.dir, 0o1777)
        for closed in ((".gate",), (".lock", ".run"), (".gate", ".lock", ".run")):
            self.started.append(subprocess.Popen(self.as_user(60001, KGATE, "run", "-n", "g", "-k", "1", "--", "sleep", "60"), env=self.env))
            self.until(lambda: len(self.seen_by(60001)["holders"]) == 1)
            waiter = subprocess.Popen(self.as_user(60001, KGATE, "run", "-n", "g", "--", "true"), env=self.env, stderr=subprocess.DEVNULL)
            self.started.append(waiter)
            self.until(lambda: len(self.seen_by(60001)["waiters"]) == 1)
            for name in os.listdir(self.dir):
                if name.endswith(closed):
                    os.chmod(os.path.join(self.dir, name), 0o060)
            self.assertEqual(self.call(60002, "remove", "-n", "g", "--force").returncode, 1)
            self.assertEqual(self.call(60001, "remove", "-n", "g").returncode, 1)
            self.assertEqual({os.stat(os.path.join(self.dir, name)).st_mode & 0o777 for name in os.listdir(self.dir) if name.endswith(closed)}, {0o060})
            done = self.call(60001, "remove", "-n", "g", "--force")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "g: removed\n", ""), closed)
            self.assertEqual(waiter.wait(10), 121)
            self.assertEqual(os.listdir(self.dir), [])

    def test_a_forced_removal_opens_nothing_but_the_gate(self):
        os.chmod(self.dir, 0o1777)
        self.assertEqual(self.call(60001, "run", "-n", "g", "-k", "1", "--", "true").returncode, 0)
        treasure = os.path.join(self.dir, "treasure")
        with open(treasure, "w", encoding="ascii"):
            os.chown(treasure, 60001, 60001)
        os.chmod(treasure, 0)
        for lock in lock_files(self.dir, ".lock") + lock_files(self.dir, ".run"):
            os.unlink(lock)
            os.symlink(treasure, lock)
        os.chmod(os.path.join(self.dir, "g.gate"), 0)
        self.call(60001, "remove", "-n", "g", "--force")
        self.assertEqual(os.stat(treasure).st_mode & 0o777, 0)

    def test_a_stranger_cannot_even_look(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--", "true")
        done = self.call(60001, "status", "-n", "g")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Permission denied", done.stderr)

    def test_root_does_not_use_gates_of_strangers_where_everybody_can_write(self):
        os.chmod(self.dir, 0o1777)
        self.assertEqual(self.call(60001, "run", "-n", "g", "-k", "1", "--mode", "0666", "--", "true").returncode, 0)
        for code, words in ((125, ("run", "-n", "g", "--", "true")), (1, ("status", "-n", "g")), (1, ("resize", "-n", "g", "-k", "2")),
                            (1, ("remove", "-n", "g")), (1, ("doctor",))):
            done = self.run_kgate(*words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn("root does not use it", done.stderr + done.stdout)
        self.assertEqual(self.call(60002, "run", "-n", "g", "--", "true").returncode, 0)

    def test_the_users_own_directory_must_be_its_own(self):
        base = "/run/lock" if os.path.isdir("/run/lock") and os.stat("/run/lock").st_mode & stat.S_IWOTH else "/tmp"
        own = f"{base}/kgate-60077"
        env = {k: v for k, v in self.env.items() if k != "KGATE_DIR"}
        for make in (lambda: os.mkdir(own, 0o755), lambda: os.symlink(self.dir, own)):
            make()
            try:
                for code, words in each_subcommand("g"):
                    done = self.call(60077, *words, env=env)
                    self.assertEqual(done.returncode, code, words)
                    self.assertIn("is not a directory that only you can write to", done.stderr)
            finally:
                (os.unlink if os.path.islink(own) else os.rmdir)(own)


    def test_a_gate_of_somebody_else_is_refused(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--", "true")
        before = sorted(os.listdir(self.dir))
        for code, words in each_subcommand("g"):
            done = self.call(60001, *words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn("Permission denied", done.stderr + done.stdout, words)
        self.assertEqual(sorted(os.listdir(self.dir)), before)


class Files(Case):
    def test_symbolic_links_are_refused(self):
        self.run_kgate("run", "-n", "real", "-k", "1", "--", "true")
        os.symlink(os.path.join(self.dir, "real.gate"), os.path.join(self.dir, "link.gate"))
        for code, words in each_subcommand("link"):
            done = self.run_kgate(*words, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, words)
            self.assertRegex(done.stderr + done.stdout, "is a symbolic link, not a gate|is not a regular file", words)
        self.assertTrue(os.path.lexists(os.path.join(self.dir, "link.gate")))

    def test_fifos_and_devices_block_nobody(self):
        os.mkfifo(os.path.join(self.dir, "pipe.gate"))
        for words in (("doctor",), ("status",), ("list",), ("run", "-n", "pipe", "--", "true"), ("remove", "-n", "pipe", "--force")):
            done = subprocess.run([KGATE, *words], env=self.env, capture_output=True, text=True, timeout=5)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("is not a regular file", done.stderr + done.stdout)

    def test_an_empty_kgate_dir_is_an_error(self):
        env = dict(self.env, KGATE_DIR="")
        for code, words in ((125, ("run", "--", "true")), (1, ("list",)), (1, ("status",)), (1, ("doctor",)), (1, ("resize", "-n", "g", "-k", "1"))):
            done = self.run_kgate(*words, env=env)
            self.assertEqual(done.returncode, code, words)
            self.assertIn("KGATE_DIR is set and empty", done.stderr)

    def test_doctor_removes_what_is_provably_left_over_and_nothing_else(self):
        self.run_kgate("run", "-n", "g", "-k", "1", "--", "true")
        kept = [".bashrc.new", ".x.new", ".g.lock", ".g.0123456789abcdeX.lock", ".g.0123456789abcde.lock"]
        swept = [".gone.0123456789abcdef.lock", ".gone.0123456789abcdef.run", ".g.0123456789abcdef.lock", ".g.0123456789abcdef.new"]
        young = [".gone.00000000000000aa.lock"]
        for name in kept + swept + young:
            path = os.path.join(self.dir, name)
            open(path, "w").close()
            if name not in young:
                os.utime(path, (time.time() - 1000,) * 2)
        mine = lock_files(self.dir, ".lock") + lock_files(self.dir, ".run")
        for path in mine:
            os.utime(path, (time.time() - 1000,) * 2) if "0123" not in path and ".00" not in path else None
        self.assertIn("removed 4 left-over files", self.run_kgate("doctor").stdout)
        for name in kept + young:
            self.assertTrue(os.path.exists(os.path.join(self.dir, name)), name)
        for name in swept:
            self.assertFalse(os.path.exists(os.path.join(self.dir, name)), name)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--try", "--", "true").returncode, 0)

    def test_limits_of_the_process_have_their_names_and_leave_nothing(self):
        def limited(limit, *words):
            return subprocess.run(["bash", "-c", f"ulimit {limit}; exec \"$@\"", "x", KGATE, *words], env=self.env, capture_output=True,
                                  text=True, timeout=30)
        done = limited("-f 8", "run", "-n", "g", "-k", "1", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("File too large (the limit of this process, ulimit -f)", done.stderr)
        self.assertEqual(os.listdir(self.dir), [])
        done = limited("-n 3", "run", "-n", "g", "-k", "1", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("Too many open files (the limit of this process, ulimit -n)", done.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_creator_that_is_killed_leaves_no_gate_behind(self):
        for delay in range(40):
            creator = subprocess.Popen([KGATE, "run", "-n", "g", "-k", "1", "--", "true"], env=self.env)
            time.sleep(delay * 0.00005)
            creator.kill()
            creator.wait()
            self.assertEqual(self.run_kgate("run", "-n", "g", "-k", "1", "-t", "5", "--", "true").returncode, 0)
            self.assertEqual(self.run_kgate("remove", "-n", "g").returncode, 0)
            self.assertEqual([f for f in os.listdir(self.dir) if f.endswith((".gate", ".new"))], [])

    def test_tokens_never_go_back(self):
        last = 0
        for _ in range(3):
            token = int(self.run_kgate("run", "-n", "g", "-k", "1", "--", "sh", "-c", "echo $KGATE_TOKEN").stdout)
            self.assertGreater(token, last)
            last = token
            self.run_kgate("remove", "-n", "g")

    def test_a_gate_that_is_cut_off(self):
        go = os.path.join(self.dir, "go")
        holder = self.hold(command=("sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done; exit 7"))
        waiter = self.start("run", "--", "true")
        self.until(lambda: len(self.gate()["waiters"]) == 1)
        os.truncate(os.path.join(self.dir, "default.gate"), 4096)
        with open(go, "w", encoding="utf-8"):
            pass
        self.assertEqual(holder.wait(10), 7)
        os.remove(go)
        self.assertIn("was cut off while it was used", holder.stderr.read())
        self.assertEqual(waiter.wait(10), 121)
        self.assertIn("was cut off while it was used", waiter.stderr.read())
        for code, words in ((125, ("run", "--", "true")), (1, ("status",)), (1, ("resize", "-n", "default", "-k", "2")), (1, ("doctor",))):
            done = self.run_kgate(*words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn("4096 bytes instead of", done.stderr + done.stdout)
        self.assertEqual(self.run_kgate("remove", "-n", "default", "--force").returncode, 0)
        self.assertEqual(os.listdir(self.dir), [])

    def test_who_waits_when_a_gate_is_cut_off_says_so(self):
        hold = "exec 9<\"$(\"$0\" hold -n hold --path)\"; exec \"$0\" hold -n hold --fd 9"
        for code, name, line in ((1, "wait", (KGATE, "wait", "-n", "wait")), (1, "drain", (KGATE, "drain", "-n", "drain")),
                                 (121, "jobserver", (KGATE, "jobserver", "-n", "jobserver", "--", "true")), (121, "hold", ("bash", "-c", hold, KGATE))):
            holder = self.hold(name)
            waiter = subprocess.Popen(line, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.started.append(waiter)
            if code == 121:
                self.until(lambda name=name: len(self.gate(name)["waiters"]) == 1)
            else:  # it looks now and then, and takes no part; by then it looks at this gate
                mapped = os.path.join(self.dir, f"{name}.gate")
                self.until(lambda waiter=waiter, mapped=mapped: mapped in self.contents(f"/proc/{waiter.pid}/maps"))
            os.truncate(os.path.join(self.dir, f"{name}.gate"), 4096)
            holder.terminate()
            holder.wait(10)
            self.assertEqual(waiter.wait(10), code, name)
            self.assertIn("was cut off while it was used", waiter.stderr.read(), name)

    def test_top_says_that_a_gate_was_cut_off(self):
        self.hold("top")
        with Terminal(self, f"{KGATE} top -n top; echo ended $?; sleep 20", columns=200) as terminal:
            terminal.until("top: 1 of 1 slots taken")
            os.truncate(os.path.join(self.dir, "top.gate"), 4096)
            terminal.until("cut off while it was used|4096 bytes instead of")
            terminal.keys("q")
            terminal.until("ended 0")  # it goes on watching: a new one may take its place

    @staticmethod
    def contents(path):
        with open(path, encoding="utf-8") as file:
            return file.read()


class Commands(Case):
    def test_the_descriptor_of_a_command_can_do_nothing_but_live(self):
        script = """
for fd in /proc/$$/fd/*; do
  n=${fd##*/}
  case $(readlink "$fd") in
    *.run) echo "run $n $(grep flags /proc/$$/fdinfo/$n)";;
    *.gate|*.lock) echo "other $n";;
  esac
done"""
        done = self.run_kgate("run", "--", "bash", "-c", script)
        kind, number, _, flags = done.stdout.split()
        self.assertEqual(kind, "run")
        self.assertGreaterEqual(int(number), 300)
        self.assertEqual(int(flags, 8) & os.O_ACCMODE, os.O_RDONLY)

    def test_where_few_descriptors_are_allowed_it_is_the_last_of_them(self):
        script = "for fd in /proc/$$/fd/*; do case $(readlink \"$fd\") in *.run) echo ${fd##*/};; esac; done"
        for limit in (256, 64):
            done = subprocess.run(["bash", "-c", f"ulimit -n {limit}; exec \"$@\"", "-", KGATE, "run", "--", "bash", "-c", script],
                                  env=self.env, capture_output=True, text=True, timeout=30)
            self.assertEqual(done.stdout, f"{limit - 1}\n")

    def test_numbers_that_scripts_use_are_free(self):
        script = f"exec 200>{self.dir}/mine; flock -n 200 || exit 9; kill -9 $PPID; exec 200>&-; sleep 0.3"
        wrapper = self.start("run", "--", "bash", "-c", script)
        wrapper.wait()
        self.assertEqual(self.run_kgate("run", "--try", "--", "true").returncode, 122)

    def test_a_command_that_uses_the_gate_itself_stays_alive_in_its_slot(self):
        outer = self.start("run", "-k", "3", "--", KGATE, "run", "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(outer.stdout.readline(), "ready\n")
        outer.kill()
        outer.wait()
        time.sleep(0.05)
        self.run_kgate("run", "-t", "5", "--", "true")
        self.assertEqual(len(self.holders()), 2)
        self.assertEqual(self.gate()["healed"], 0)
        for holder in self.holders():
            os.kill(holder["pid"], signal.SIGTERM) if holder["pid"] != outer.pid else None


if __name__ == "__main__":
    main()
