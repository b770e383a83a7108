#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate lease and run --lease beside others of the same user, who meddle with the local gate, and what leases leave behind:
lease_cli_test.py KGATE ENSEMBLE WRITE_NODE [unittest arguments]."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import cli_test


class Leases(cli_test.WithServers):
    def own_host(self):
        """The directory of the local gates, for this test alone."""
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        self.addCleanup(shutil.rmtree, self.env["KGATE_DIR"], True)

    def local(self, command, *words):
        """The same program about gates of this machine."""
        env = {k: v for k, v in self.env.items() if k != "KGATE_ON"}
        return self.kgate(command, *words, name=False, env=env)

    def local_gate(self):
        names = [name[:-5] for name in os.listdir(self.env["KGATE_DIR"]) if name.endswith(".gate")]
        self.assertEqual(len(names), 1)
        return names[0]

    def do_to_local(self, gate, slots):
        """What the tool refuses to do to a lease's gate, a program of that user may do all the same."""
        subprocess.run([cli_test.WRITE_NODE, "--gate", self.env["KGATE_DIR"], gate, str(slots)], timeout=60, check=True)

    def test_a_leases_gate_is_left_alone(self):
        self.own_host()
        lease = self.lease("-k", "1")
        mine = self.local_gate()
        for command in (("resize", "-k", "5"), ("remove",), ("remove", "--force")):
            result = self.local(*command, "-n", mine)
            self.assertEqual(result.returncode, 1)
            self.assertIn("lends slots through", result.stderr)
        self.assertEqual(self.kgate("run", "--lease", "--", "true").returncode, 0)
        lease.terminate()
        self.assertEqual(lease.wait(20), 0)

    def test_a_leases_gate_that_others_resize(self):
        self.own_host()
        self.assertEqual(self.kgate("create", "-k", "1").returncode, 0)
        lease = self.lease()
        mine = self.local_gate()
        for size in (5, 1, 7):
            self.do_to_local(mine, size)
            jobs = [self.start("run", "--lease", "--", "sh", "-c", "mkdir $KGATE_DIR/inside || exit 9; sleep 0.2; rmdir $KGATE_DIR/inside")
                    for _ in range(3)]
            open_files = 0
            while any(job.poll() is None for job in jobs):
                for job in jobs:
                    try:
                        open_files = max(open_files, len(os.listdir(f"/proc/{job.pid}/fd")))
                    except OSError:
                        pass
                self.assertIsNone(lease.poll())
                time.sleep(0.02)
            self.assertEqual([job.wait(20) for job in jobs], [0, 0, 0])
            self.assertLess(open_files, 60)
        lease.terminate()
        self.assertEqual(lease.wait(20), 0)

    def test_a_leases_gate_that_is_replaced(self):
        self.own_host()
        lease = self.lease("-k", "1")
        mine = self.local_gate()
        inside = self.start("run", "--lease", "--", "sh", "-c", "trap 'sleep 0.5; exit 0' TERM; echo up; while :; do sleep 0.05; done")
        self.assertEqual(inside.stdout.readline(), "up\n")
        self.do_to_local(mine, 0)
        self.assertEqual(self.local("create", "-n", mine, "-k", "4").returncode, 0)
        other = self.start("run", "--lease", "--", "echo", "in")
        direct = self.start("run", "--timeout", "20", "--", "sh", "-c", "echo $(date +%s.%N)")
        self.assertEqual(lease.wait(20), 1)
        self.assertIn("the local gate of the lease", lease.stderr.read())
        self.assertEqual(inside.wait(20), 119)
        left = time.time()
        self.assertIn("the lease of this host has ended", inside.stderr.read())
        self.assertIn(other.wait(20), (121, 125))
        self.assertEqual(other.stdout.read(), "")
        result = other.stderr.read()
        self.assertIn(f"the lease of gate '{self.name}' on this host has ended", result)
        self.assertNotIn("kgate create", result)
        # No other has the slot before the job that lost it has left.
        self.assertEqual(direct.wait(20), 0)
        self.assertGreater(float(direct.stdout.read()), left - 0.4)

    def test_jobs_speak_of_the_lease(self):
        self.own_host()
        lease = self.lease("-k", "1")
        mine = self.local_gate()
        busy = self.start("run", "--lease", "--", "sh", "-c", "echo up; exec sleep 60")
        self.assertEqual(busy.stdout.readline(), "up\n")
        result = self.kgate("run", "--lease", "--try", "--", "true")
        self.assertEqual(result.returncode, 122)
        self.assertIn(f"the lease of gate '{self.name}' on this host", result.stderr)
        waiting = self.start("run", "--lease", "--", "true")
        self.until(lambda: json.loads(self.local("status", "-n", mine, "--json").stdout)["gates"][0]["waiters"])
        lease.kill()
        lease.wait()
        self.assertEqual(busy.wait(20), 119)
        self.assertIn("the slot is lost: the lease of this host has ended", busy.stderr.read())
        self.assertEqual(waiting.wait(20), 121)
        self.assertIn(f"the lease of gate '{self.name}' on this host has ended", waiting.stderr.read())
        # A directory is named once.
        result = self.local("run", "-n", "nix", "--existing", "--dir", self.env["KGATE_DIR"], "--", "true")
        self.assertEqual((result.returncode, result.stderr.count("--dir")), (125, 1))

    def test_a_lease_of_a_gate_that_is_not_whole(self):
        self.own_host()
        self.assertEqual(self.kgate("create", "-k", "1").returncode, 0)
        subprocess.run([cli_test.WRITE_NODE, self.ensemble.address, "/kgate/" + self.name, "kgate gate 2\nid=1-0\nslots=1\ncreated=1\n"], check=True)
        result = self.kgate("lease")
        self.assertEqual(result.returncode, 1)
        self.assertIn("is damaged: its node", result.stderr)

    def test_what_leases_leave_behind(self):
        self.own_host()
        directory = self.env["KGATE_DIR"]
        result = self.kgate("lease", "--existing", "-n", "typo", name=False)
        self.assertEqual((result.returncode, os.listdir(directory)), (1, []))
        result = self.kgate("run", "--lease", "-n", "typo", "--", "true", name=False)
        self.assertEqual(result.returncode, 125)
        self.assertIn("no lease of gate 'typo' is on this host", result.stderr)
        lease = self.lease("-k", "2")
        self.assertEqual(self.kgate("run", "--lease", "--", "true").returncode, 0)
        self.assertIn(self.local_gate(), self.local("list").stdout)
        lease.terminate()
        self.assertEqual((lease.wait(20), os.listdir(directory)), (0, []))
        lease = self.lease("-k", "2")
        mine = self.local_gate()
        lease.kill()
        lease.wait()
        self.assertNotIn(mine, self.local("list").stdout)
        self.assertIn("removed", self.local("doctor").stdout)
        self.assertEqual(os.listdir(directory), [])
        # What keeps nothing and was not used for a day.
        kept = self.kgate("hold", "--path").stdout.strip()
        self.local("doctor")
        self.assertTrue(os.path.exists(kept))
        os.utime(kept, (1, 1))
        with open(kept, encoding="utf-8"):
            self.local("doctor")
            self.assertTrue(os.path.exists(kept))
        self.local("doctor")
        self.assertFalse(os.path.exists(kept))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
