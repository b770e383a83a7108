#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool in a storm: everything it offers at once, and everything that can be done to its processes, at one gate.

The seed is printed; KGATE_STORM_SEED and KGATE_STORM_SECONDS repeat or lengthen it. No slot is ever had by two, nobody waits beside a
free slot, and when all is over the gate is in order.
"""
import json
import os
import random
import signal
import subprocess
import threading
import time

from tool import KGATE, Case, main

SECONDS = float(os.environ.get("KGATE_STORM_SECONDS", "90"))
SEED = int(os.environ.get("KGATE_STORM_SEED", str(random.SystemRandom().randrange(10**6))))
ACTORS = 8


class Storm(Case):
    maxDiff = None
    # The command, one process, has a lock for each slot that ends with it, whatever ends it: one of another command
    # there is one too many.
    JOB = 'my @f; for my $s (split /,/, $ENV{KGATE_SLOT}) { open my $f, ">", "$ENV{D}/slot.$s"; push @f, $f; ' \
          'next if flock $f, 6; open my $t, ">>", "$ENV{D}/twice"; print $t "$s\\n"; close $t } select undef, undef, undef, $ARGV[0]'

    def setUp(self):
        super().setUp()
        self.env["D"] = self.dir
        self.over = time.monotonic() + SECONDS
        self.wrong = []
        self.count = 0

    def job(self, random_):
        """A line of kgate run at the gate."""
        words = [KGATE, "run", "-q", "-n", "g"]
        if random_.random() < 0.4:
            words += ["--exec"]
        elif random_.random() < 0.2:
            words += ["--time-limit", random_.choice(("5ms", "20ms")), "--grace", "10ms"]
        words += random_.choice(([], [], [], ["-w", "2"], ["-t", random_.choice(("0", "3ms", "30ms"))], ["--try"], ["-n", "h", "-k", "2"]))
        return [*words, "--", "perl", "-e", self.JOB, random_.choice(("0", "0.001", "0.01", "0.05"))]

    def harm(self, random_, process):
        """What may be done to a process."""
        time.sleep(random_.random() * random_.choice((0.001, 0.01, 0.1)))
        number = random_.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGTSTP, signal.SIGSTOP, None, None, None))
        if number is None:
            return
        to_all = random_.random() < 0.5
        try:
            (os.killpg if to_all else os.kill)(process.pid, number)
            if number in (signal.SIGTSTP, signal.SIGSTOP):
                time.sleep(random_.random() * 0.05)
                os.killpg(process.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def administer(self, random_):
        words = random_.choice((["pause", "-n", "g"], ["resume", "-n", "g"], ["resize", "-n", "g", "-k", str(random_.randint(2, 6))], ["status", "--json"],
                                ["cancel", "-n", "g", "--all"], ["doctor"], ["stats", "-n", "g"], ["list"], ["wait", "-n", "g", "-t", "5ms"]))
        done = self.run_kgate(*words)
        if words[0] == "pause":
            self.run_kgate("resume", "-n", "g")
        if done.returncode not in (0, 1, 124) or (words[0] in ("resize", "pause", "status", "doctor") and done.returncode != 0):
            self.wrong.append((words, done.returncode, done.stdout, done.stderr))

    def hold_one(self, random_):
        script = f'exec 9<"$({KGATE} hold -n g --path)"; {KGATE} hold -q -n g --fd 9 -t 50ms >/dev/null && sleep 0.01; ' + \
                 random_.choice((f"{KGATE} release --fd 9", "true", "kill -9 $$"))
        return ["bash", "-c", script]

    def jobserver(self, random_):
        return [KGATE, "jobserver", "-q", "-n", "g", "--", "sleep", random_.choice(("0.01", "0.05"))]

    def act(self, number):
        random_ = random.Random(SEED * 100 + number)
        while time.monotonic() < self.over:
            what = random_.random()
            if what < 0.1:
                self.administer(random_)
                continue
            line = self.job(random_) if what < 0.85 else self.hold_one(random_) if what < 0.95 else self.jobserver(random_)
            process = subprocess.Popen(line, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0)
            self.harm(random_, process)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                self.wrong.append((line, "did not end", self.run_kgate("status", "--json").stdout))
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stderr.close()
            self.count += 1

    def test_a_storm(self):
        print(f"seed {SEED}, {SECONDS:g} s", flush=True)
        self.run_kgate("create", "-n", "g", "-k", "4")
        self.run_kgate("create", "-n", "h", "-k", "2")
        actors = [threading.Thread(target=self.act, args=(i,)) for i in range(ACTORS)]
        for actor in actors:
            actor.start()
        for actor in actors:
            actor.join()
        print(f"{self.count} runs, healed: {self.gate('g')['healed']}", flush=True)
        self.assertEqual(self.wrong, [])
        self.assertFalse(os.path.exists(os.path.join(self.dir, "twice")), "two had the same slot")
        self.run_kgate("resume", "-n", "g")
        self.run_kgate("resize", "-n", "g", "-k", "4")
        for name, slots in (("g", 4), ("h", 2)):
            self.until(lambda one=name: self.gate(one)["holders"] == [] and self.gate(one)["waiters"] == [], 30)
            done = self.run_kgate("run", "-n", name, "-w", str(slots), "-t", "10", "--", "true")  # all of them are there
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        findings = json.loads(self.run_kgate("doctor", "--json").stdout)["findings"]
        self.assertTrue(all(one["ok"] for one in findings), findings)


if __name__ == "__main__":
    main()
