# SPDX-License-Identifier: Apache-2.0
"""Tests of cli_test.py about the nodes of gates: those of others, damaged gates, and who may do what to them."""
import json
import re
import subprocess
import time


class NodesOfGates:
    """Mixed into the test case of cli_test.py, which has a server."""

    def write(self, path, data, check=True, env=None):
        """Writes a node; without data, removes it."""
        words = ["--remove", path] if data is None else [path, data]
        return subprocess.run([self.write_node, self.ensemble.address, *words], check=check, timeout=30, env=env)

    def below(self, gate, which):
        """The node of the gate that the waiters (q) or the holders (s) are below."""
        said = subprocess.run([self.write_node, self.ensemble.address, gate], check=True, timeout=30, stdout=subprocess.PIPE, text=True)
        return f"{gate}/{which}-" + re.search("^id=(.*)$", said.stdout, re.MULTILINE)[1]

    def test_nodes_of_others(self):
        gate = f"/kgate/{self.name}"
        self.assertEqual(self.kgate("create", "-k", "1").returncode, 0)
        self.assertIn("in order", self.kgate("doctor").stdout)
        # A slot that no session owns: it blocks the gate, and the doctor names it.
        q, held = (self.below(gate, which) for which in "qs")
        self.write(held + "/0", "request=w-1-2\n")
        self.assertEqual(self.kgate("run", "--timeout", "0.3", "--", "true").returncode, 124)
        result = self.kgate("doctor")
        self.assertEqual(result.returncode, 1)
        self.assertIn(held + "/0 belongs to no session", result.stdout)
        self.write(q + "/foreign", "")
        for words, code in ((("run", "--", "true"), 125), (("status",), 1), (("remove", "--force"), 1)):
            result = self.kgate(*words)
            self.assertEqual(result.returncode, code)
            self.assertIn(q + "/foreign", result.stderr)
        self.write(gate, "kgate gate 7\nslots=1\n")
        result = self.kgate("run", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("another version", result.stderr)
        self.write(gate, "\x1b[2J")
        result = self.kgate("run", "-k", "1", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("no gate of kgate", result.stderr)
        self.assertNotIn("\x1b", result.stderr)
        result = self.kgate("doctor", "--json", name=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn({"about": self.name, "ok": False}, [{k: f[k] for k in ("about", "ok")} for f in json.loads(result.stdout)["findings"]])
        self.assertEqual(self.kgate("status", name=False).returncode, 0)  # what is no gate is left out

    def at(self, path, **env):
        """An environment for gates below that path."""
        return dict(self.env, KGATE_ON=f"{self.ensemble.address}{path}?session=2s", **env)

    def fails(self, code, text, *words, **more):
        result = self.kgate(*words, **more)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)
        return result

    def test_damaged_gates(self):
        """Gates that lack a node: no command goes on for ever, and what is left of them can be removed."""
        env = self.at("/damaged")
        self.assertEqual(self.kgate("create", env=env).returncode, 0)
        for number, parts in enumerate(("", "q", "s")):
            gate = f"/damaged/{self.name}-{number}"
            missing = f"{gate}/{'s' if parts == 'q' else 'q'}-1-1"
            self.write(gate, "kgate gate 2\nid=1-1\nslots=1\ncreated=1\n")
            for part in parts:
                self.write(f"{gate}/{part}-1-1", "")
            for words in (("resize", "-k", "2"), ("resize", "-k", "1"), ("pause",), ("resume",), ("drain", "-t", "1"), ("create", "-k", "1"), ("status",),
                          ("wait",), ("remove",), ("cancel", "--all"), ("run", "--", "true")):
                began = time.monotonic()
                command, *rest = words
                result = self.fails(125 if command == "run" else 1, f"the gate at {gate} is damaged: its node ", command, "-n", gate[9:], *rest,
                                  name=False, env=env)
                self.assertIn((missing if parts else "") + " is not there", result.stderr)
                self.assertLess(time.monotonic() - began, 5)
            result = self.kgate("list", name=False, env=env)
            self.assertEqual(result.returncode, 1)
            self.assertIn(self.name + "\n", result.stdout)  # the others are listed all the same
            self.assertIn("is damaged", result.stderr)
            result = self.kgate("doctor", name=False, env=env)
            self.assertEqual(result.returncode, 1)
            self.assertIn("is not there", result.stdout)
            self.assertEqual(self.kgate("remove", "--force", "-n", gate[9:], name=False, env=env).returncode, 0)
        self.assertEqual(self.kgate("list", name=False, env=env).returncode, 0)

    def test_what_is_not_of_a_gate(self):
        """A node below a gate that is not the gate's: nothing is removed, and the doctor finds it."""
        gate = f"/kgate/{self.name}"
        self.assertEqual(self.kgate("create", "-k", "1").returncode, 0)
        q, held = (self.below(gate, which) for which in "qs")
        self.write(held + "/0", "request=w-1-2\n")
        for foreign in (gate + "/lic", q + "/mine", held + "/0/below"):
            self.write(foreign, "")
            self.fails(1, foreign, "remove", "--force")
            if not foreign.endswith("below"):
                self.fails(1, foreign, "remove")
            result = self.kgate("doctor")
            self.assertEqual(result.returncode, 1)
            if not foreign.endswith("below"):
                self.assertIn(foreign, result.stdout)
            self.write(foreign, None)
            self.assertTrue(self.below(gate, "q"))
        self.write(held + "/0", None)
        self.assertEqual(self.kgate("doctor").returncode, 0)
        # A path that leads into a gate: nothing is made there.
        inside = self.at(gate)
        self.fails(120, f"leads into the gate at {gate}", "create", "-n", "lic", name=False, env=inside)
        self.fails(120, "leads into the gate", "run", "-n", "lic", "-k", "1", "--", "true", name=False, env=self.at(gate + "/deep"))
        result = self.kgate("doctor", name=False, env=inside)
        self.assertEqual(result.returncode, 1)
        self.assertIn("leads into the gate", result.stdout)
        self.assertEqual(self.kgate("remove").returncode, 0)

    def test_users_who_share_a_path(self):
        """Each can remove gates of its own only, and sees them beside those that it may not see."""
        alice, bob = (self.at("/shared", KGATE_ZK_AUTH=f"{user}:secret") for user in ("alice", "bob"))
        self.assertEqual(self.kgate("create", "-n", "a", "-k", "1", name=False, env=alice).returncode, 0)
        self.assertEqual(self.kgate("create", "-n", "b", "-k", "1", name=False, env=bob).returncode, 0)
        for words in (("list",), ("status",), ("status", "--json"), ("stats",), ("top", "--once")):
            result = self.fails(1, "gate 'a': ", *words, name=False, env=bob)
            self.assertIn("does not permit this at /shared/a", result.stderr)
            self.assertRegex(result.stdout, r"\bb\b")
        result = self.kgate("doctor", name=False, env=bob)
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not permit this at /shared/a", result.stdout)
        self.assertIn("b: in order", result.stdout)
        self.assertRegex(result.stdout, "clock: the servers' clock is")
        self.fails(1, "does not permit", "remove", "--force", "-n", "a", name=False, env=bob)
        self.assertEqual(self.kgate("status", "-n", "a", name=False, env=alice).returncode, 0)
        self.assertEqual(self.kgate("remove", "-n", "b", name=False, env=bob).returncode, 0)
        for env in (self.at("/shared"), self.at("/shared", KGATE_ZK_AUTH="carol:secret")):  # nor can a stranger, by other means
            self.assertNotEqual(self.write("/shared/a", None, env=env, check=False).returncode, 0)
        self.assertEqual(self.kgate("run", "-n", "a", "--", "true", name=False, env=alice).returncode, 0)

    def test_secrets(self):
        mine = dict(self.env, KGATE_ZK_AUTH="me:secret")
        self.assertEqual(self.kgate("run", "-k", "1", "--", "true", env=mine).returncode, 0)
        for env in (self.env, dict(self.env, KGATE_ZK_AUTH="you:secret")):
            for words in (("run", "--", "true"), ("status",), ("remove", "--force"), ("resize", "-k", "2")):
                result = self.kgate(*words, env=env)
                self.assertIn(result.returncode, (1, 125))
                self.assertIn("does not permit", result.stderr)
                self.assertNotIn("secret:", result.stderr)
        self.assertNotIn("me:secret", self.kgate("status", env=mine).stdout)
        result = self.kgate("doctor", env=mine)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("everybody", result.stdout)
        result = self.kgate("doctor")
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not permit", result.stdout)
        self.assertEqual(self.kgate("remove", env=mine).returncode, 0)
