#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate run beside flock and GNU sem: one command, and 200 commands through four slots. Rounds are interleaved; medians, quartiles
and ratios are printed. GNU sem is slow, so it runs fewer jobs, and its figure is for as many as the others by proportion.

usage: commands.py KGATE [ROUNDS]
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

JOBS = 200
SEM_JOBS = 10


def timed(commands):
    began = time.perf_counter()
    for process in [subprocess.Popen(c, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for c in commands]:
        process.wait()
    return (time.perf_counter() - began) * 1000


def main():
    kgate = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        os.environ["KGATE_DIR"] = folder
        locks = [os.path.join(folder, f"lock{i}") for i in range(4)]
        cases = {
            "one kgate": (40, lambda: timed([[kgate, "run", "--", "true"]])),
            "one flock": (40, lambda: timed([["flock", locks[0], "true"]])),
            "jobs kgate": (1, lambda: timed([[kgate, "run", "-n", "jobs", "-k", "4", "--", "true"]] * JOBS)),
            "jobs flock": (1, lambda: timed([["flock", locks[i % 4], "true"] for i in range(JOBS)])),
        }
        if shutil.which("sem"):
            cases["jobs sem"] = (1, lambda: timed([["sem", "--fg", "--id", "bench", "-j4", "true"]] * SEM_JOBS) * JOBS / SEM_JOBS)
        times = {name: [] for name in cases}
        for _ in range(rounds):
            for name, (repeats, measure) in cases.items():
                times[name] += [measure() for _ in range(repeats)]
    for name, values in times.items():
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"{name:12} {middle:10.2f} ms   ({low:.2f} .. {high:.2f})")
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"one command:  kgate / flock {median['one kgate'] / median['one flock']:.2f}")
    print(f"{JOBS} jobs:     kgate / flock {median['jobs kgate'] / median['jobs flock']:.2f}")
    if "jobs sem" in median:
        print(f"{JOBS} jobs:     sem / kgate {median['jobs sem'] / median['jobs kgate']:.0f}")


main()
