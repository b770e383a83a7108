#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: gates shared by users."""
import json
import os
import shutil
import subprocess
import unittest

from tool import KGATE, ROOT_USER, Case, main


@unittest.skipUnless(ROOT_USER and shutil.which("setpriv"), "only root can become other users, with setpriv")
class Users(Case):
    def as_user(self, user, *words, groups="60123"):
        return ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={groups}", KGATE, *words]

    def call(self, *words, **more):
        return subprocess.run(self.as_user(*words, **more), env=self.env, capture_output=True, text=True, timeout=30)

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o2770)
        os.chown(self.dir, 0, 60123)

    def test_two_users_share_by_group(self):
        first = subprocess.Popen(self.as_user(60001, "run", "-n", "gpu", "-k", "2", "--group", "60123", "--", "sleep", "60"), env=self.env)
        self.started.append(first)
        self.until(lambda: len(self.holders("gpu")) == 1)
        second = subprocess.Popen(self.as_user(60002, "run", "-n", "gpu", "--", "sleep", "60"), env=self.env)
        self.started.append(second)
        self.until(lambda: len(self.holders("gpu")) == 2)
        for user in (60001, 60002):
            seen = json.loads(self.call(user, "status", "-n", "gpu", "--json").stdout)["gates"][0]
            self.assertEqual({h["user"] for h in seen["holders"]}, {"60001", "60002"})
        second.terminate()
        self.assertEqual(second.wait(10), -15)

    def test_the_history_of_a_gate_for_everybody(self):
        os.chmod(self.dir, 0o1777)
        self.run_kgate("create", "-n", "all", "--mode", "0666")  # of root and its group, in which the others are not
        for user in (60001, 60002):
            self.assertEqual(self.call(user, "run", "-n", "all", "--", "true", groups=str(user)).returncode, 0)
        self.run_kgate("run", "-n", "all", "--", "true")
        self.assertEqual(json.loads(self.run_kgate("stats", "-n", "all", "--json").stdout)["gates"][0]["passages"], 3)

    def test_without_permission(self):
        self.assertEqual(self.call(60001, "run", "-n", "mine", "--", "true").returncode, 0)
        os.chmod(self.dir, 0o2777)
        other = self.call(60002, "run", "-n", "mine", "--", "true")
        self.assertEqual(other.returncode, 125)
        self.assertIn("Permission denied", other.stderr)
        self.assertIn("SHARING", other.stderr)
        self.assertEqual(self.call(60002, "status", "-n", "mine").returncode, 1)


if __name__ == "__main__":
    main()
