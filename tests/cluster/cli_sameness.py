# SPDX-License-Identifier: Apache-2.0
"""Tests of cli_test.py about what a command means between machines as it does on one."""
import json
import tempfile


class SameAsOnOneMachine:
    """Mixed into the test case of cli_test.py, which has a server."""

    def both(self):
        """Environments for gates of the ensemble and of this machine."""
        local = {k: v for k, v in self.env.items() if k != "KGATE_ON"}
        return self.env, dict(local, KGATE_DIR=tempfile.mkdtemp(prefix="kgate-local-"))

    def test_the_size_of_a_gate(self):
        """That of its creation, one that was set later, and one that nobody has asked for."""
        steps = (("s", "create", 0, "created: 1 slot,", "-k", "1"), ("s", "create", 0, "exists already: 1 slot,"),
                 ("s", "run", 125, "has 1 slot", "-k", "2", "--", "true"), ("s", "create", 1, "has 1 slot", "-k", "2"),
                 ("s", "resize", 0, "3 slots", "-k", "3"), ("s", "run", 0, "", "-k", "77", "--", "true"),
                 ("s", "create", 1, "exists and was resized to 3 slots, not 4; change it: kgate resize", "-k", "4"),
                 ("s", "create", 0, "exists already: 3 slots,"),
                 ("back", "create", 0, "2 slots", "-k", "2"), ("back", "resize", 0, "2 slots", "-k", "2"), ("back", "run", 0, "", "-k", "9", "--", "true"),
                 ("default", "run", 0, "1\n", "--", "sh", "-c", "echo $KGATE_SLOTS"), ("default", "run", 0, "3\n", "-k", "3", "--", "sh", "-c", "echo $KGATE_SLOTS"),
                 ("default", "run", 0, "3\n", "-k", "5", "--", "sh", "-c", "echo $KGATE_SLOTS"), ("default", "create", 1, "was resized to 3 slots", "-k", "4"),
                 ("asked", "create", 0, "created: 1 slot,"), ("asked", "run", 125, "has 1 slot", "-k", "3", "--", "true"))
        for env in self.both():
            for name, command, code, text, *words in steps:
                with self.subTest(command=(name, command, *words), on=env.get("KGATE_ON", "this machine")):
                    result = self.kgate(command, "-n", f"{self.name}-{name}", *words, name=False, env=env)
                    self.assertEqual(result.returncode, code, result.stderr)
                    self.assertIn(text, result.stdout + result.stderr)
        for env in self.both():
            result = [json.loads(self.kgate("create", "-k", "4", "--json", env=env).stdout) for _ in range(2)]
            self.assertEqual([(one["done"], one["slots"], one["path"].split("/")[-1].split(".")[0]) for one in result],
                             [("created", 4, self.name), ("exists", 4, self.name)])

    def test_weight_after_shrinking_and_removal_under_those_who_wait(self):
        for env in self.both():
            holder = self.start("run", "-k", "3", "--", "sleep", "60", env=env)
            self.until(lambda: self.gate(env)["holders"])
            heavy = self.start("run", "-w", "3", "--", "true", env=env)
            self.until(lambda: self.gate(env)["waiters"])
            self.assertEqual(self.kgate("resize", "-k", "1", env=env).returncode, 0)
            if env is not self.env:
                holder.terminate()  # the head of the queue looks when there may be room
            self.assertEqual(heavy.wait(10), 121)
            self.assertIn("was made smaller than ", heavy.stderr.read())
            holder.terminate()
            holder.wait(10)
            self.start("run", "--", "sleep", "60", env=env)
            self.until(lambda: self.gate(env)["holders"])
            waiting = [self.start(command, env=env) for command in ("wait", "drain")]
            self.until(lambda: self.gate(env)["paused"])
            self.assertEqual(self.kgate("remove", "--force", env=env).returncode, 0)
            self.assertEqual(self.kgate("create", env=env).returncode, 0)  # another one
            for one in waiting:
                self.assertEqual(one.wait(10), 121)
                self.assertIn("was removed while somebody was inside or waited", one.stderr.read())
            for words in (("pause",), ("resume",), ("drain",), ("cancel", "--all"), ("remove",), ("resize", "-k", "3"), ("wait",), ("status",)):
                result = self.fails(1, "there is no gate ", words[0], "-n", "nobody", *words[1:], name=False, env=env)
                self.assertNotIn("create", result.stderr)
            self.fails(125, "create it: kgate create --", "run", "-n", "nobody", "--existing", "--", "true", name=False, env=self.env)

    def test_documents_have_the_same_members(self):
        seen = []
        for env in self.both():
            self.start("run", "-k", "1", "--", "sleep", "60", env=env)
            self.until(lambda: self.gate(env)["holders"])
            waiter = self.start("run", "--", "true", env=env)
            self.until(lambda: self.gate(env)["waiters"])
            gate = self.gate(env)
            seen.append([set(gate), set(gate["holders"][0]), set(gate["waiters"][0]),
                         set(json.loads(self.kgate("doctor", "--json", env=env).stdout)["findings"][-1])])
            self.fails(1, "is inside gate", "cancel", "--pid", str(gate["holders"][0]["pid"]), env=env)
            self.fails(1, "does not wait at gate", "cancel", "--pid", "1", env=env)
            result = json.loads(self.kgate("cancel", "--all", "--json", env=env).stdout)
            self.assertEqual((result["gate"], result["cancelled"]), (self.name, [waiter.pid]))
            self.assertEqual(waiter.wait(10), 121)
        for far, near, more in zip(*seen, (set(), {"token", "request"}, {"request"}, {"about"})):
            self.assertEqual(far, near | more)
        findings = json.loads(self.kgate("doctor", "--json").stdout)["findings"]
        self.assertEqual([(one["about"], one["gate"]) for one in findings[-2:]], [("clock", None), (self.name, self.name)])

    def test_settings(self):
        """What is set and empty, or no time, was meant to say something."""
        for name, values in (("KGATE_ON", ("",)), ("KGATE_ZK_AUTH", ("",)), ("KGATE_ZK_AUTH_FILE", ("",)), ("KGATE_CONNECT_TIMEOUT", ("", "abc", "-1"))):
            for value in values:
                for words in (("run", "--", "true"), ("create",), ("status",)):
                    self.fails(120, name, *words, env={**self.env, name: value})
        self.assertEqual(self.kgate("create", "--on", self.env["KGATE_ON"], env=dict(self.env, KGATE_ON="")).returncode, 0)
        self.assertEqual(self.kgate("create", "--dir", tempfile.mkdtemp(prefix="kgate-local-"), env=dict(self.env, KGATE_ON="")).returncode, 0)
        with tempfile.NamedTemporaryFile("w", newline="") as file:
            file.write("me:secret\r\n")
            file.flush()
            self.assertEqual(self.kgate("create", "-n", "crlf", name=False, env=dict(self.env, KGATE_ZK_AUTH_FILE=file.name)).returncode, 0)
        self.assertEqual(self.kgate("remove", "-n", "crlf", name=False, env=dict(self.env, KGATE_ZK_AUTH="me:secret")).returncode, 0)
