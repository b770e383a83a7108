#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: a thousand that wait at once, ten thousand that come and go."""
import json
import os
import statistics
import subprocess
import time

from tool import KGATE, Case, main

WAITERS = int(os.environ.get("KGATE_CROWD", "1000"))
ROUNDS = int(os.environ.get("KGATE_CROWD_ROUNDS", "5"))
JSON = os.environ.get("KGATE_CROWD_JSON")  # a file for the figures (docs/measured/measure.py crowd)
FIGURES = {"waiters": WAITERS, "rounds": ROUNDS}
TICKS = os.sysconf("SC_CLK_TCK")


def proportional_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("Pss:")).split()[1])


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Crowd(Case):
    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if JSON:
            with open(JSON, "w", encoding="ascii") as file:
                json.dump(FIGURES, file)

    def test_a_thousand_waiting_cost_little_and_are_served_in_order(self):
        log = os.path.join(self.dir, "log")
        holder = self.hold()
        waiters = []
        for i in range(WAITERS):
            waiters.append(self.start("run", "--", "sh", "-c", f"echo {i} >> {log}"))
            if i % 50 == 49:  # in this order: each fifty in the queue before the next come; within, as the kernel runs them
                self.until(lambda: len(self.gate()["waiters"]) == i + 1, 60)
        order = [who["pid"] for who in self.gate()["waiters"]]
        shares = sorted(proportional_kb(process.pid) for process in waiters)
        print(f"PSS of {WAITERS} waiters: median {shares[len(shares) // 2]} kB, most {shares[-1]} kB")
        FIGURES["pss_kb"] = shares[len(shares) // 2]
        self.assertLessEqual(sum(shares) / len(shares), 100)
        time.sleep(2)
        before = sum(processor_seconds(process.pid) for process in waiters)
        time.sleep(5)
        used = sum(processor_seconds(process.pid) for process in waiters) - before
        print(f"processor time of all in five idle seconds: {used:.2f} s")
        FIGURES["idle_cpu_s"] = round(used, 2)
        self.assertLess(used, 0.5)
        holder.terminate()
        for process in waiters:
            self.assertEqual(process.wait(120), 0)
        with open(log, encoding="ascii") as lines:
            served = [waiters[int(line)].pid for line in lines]
        self.assertEqual(served, order)

    def test_ten_thousand_take_time_in_proportion(self):
        # Beside flock, in turns: where the machine itself takes longer for more, flock shows it.
        lines = {"kgate": f"seq {{count}} | xargs -P200 -I@ {KGATE} run -n many -k 4 -- true",
                 "flock": f"seq {{count}} | awk '{{{{print $1 % 4}}}}' | xargs -P200 -I@ flock {self.dir}/lock@ true"}

        def seconds(runner, count):
            began = time.monotonic()
            subprocess.run(lines[runner].format(count=count), shell=True, env=self.env, check=True, timeout=600)
            return time.monotonic() - began
        for runner in lines:
            seconds(runner, 500)
        ratios = {runner: [] for runner in lines}
        for _ in range(ROUNDS):
            for runner in lines:
                small, large = seconds(runner, 2500), seconds(runner, 10000)
                ratios[runner].append(large / small)
                print(f"{runner}: 2500: {small:.1f} s, 10000: {large:.1f} s, {large / small:.2f} times", flush=True)
        kgate, flock = statistics.median(ratios["kgate"]), statistics.median(ratios["flock"])
        print(f"10000 / 2500, medians of {ROUNDS}: kgate {kgate:.2f}, flock {flock:.2f}")
        FIGURES.update({name: [round(r, 3) for r in sorted(of)] for name, of in ratios.items()})
        self.assertLess(kgate, 4 * 1.15)
        self.assertLess(kgate, flock * 1.15)
        self.assertEqual(self.gate("many")["healed"], 0)


if __name__ == "__main__":
    main()
