#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What entering and leaving costs in Python when nobody else is there: kgate beside multiprocessing.Semaphore and the lock
packages that are installed, round by round in one run. Prints medians and ratios to multiprocessing.Semaphore.

usage: PYTHONPATH=build/release/python bench/python/uncontended.py [--require] [--rounds N]
With --require the exit code is 1 if a gate costs more than three times as much as multiprocessing.Semaphore.
"""
import argparse
import contextlib
import importlib.util
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import timeit

import kgate


def peers(folder):
    gate = kgate.Gate("bench", 4, directory=folder)
    yield "kgate.Gate", lambda: gate.enter(), 20000
    yield "multiprocessing.Semaphore", lambda made=multiprocessing.Semaphore(4): made, 20000
    yield "kgate.Semaphore", lambda made=kgate.Semaphore(4): made, 20000
    yield "threading.Semaphore", lambda made=threading.Semaphore(4): made, 5000
    if importlib.util.find_spec("posix_ipc"):
        import posix_ipc
        named = posix_ipc.Semaphore(None, posix_ipc.O_CREX, initial_value=4)
        named.unlink()
        yield "posix_ipc.Semaphore", lambda: named, 20000
    if importlib.util.find_spec("filelock"):
        import filelock
        yield "filelock.FileLock", lambda made=filelock.FileLock(f"{folder}/filelock"): made, 500
    if importlib.util.find_spec("portalocker"):
        import portalocker
        yield "portalocker.BoundedSemaphore", lambda: portalocker.BoundedSemaphore(4, directory=folder, name="bench"), 200


def passage(make):
    def once():
        with make():
            pass
    return once


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_peers = [(name, passage(make), count) for name, make, count in peers(folder)]
        times = {name: [] for name, _, _ in all_peers}
        # portalocker 2.2.1, as Debian has it, prints what it tries.
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            for _ in range(options.rounds):
                for name, once, count in all_peers:
                    times[name].append(timeit.timeit(once, number=count) / count * 1e9)
    floor = times["multiprocessing.Semaphore"]
    rows = [{"name": name, "nanoseconds": round(statistics.median(t), 1),
             "ratio": round(statistics.median(a / b for a, b in zip(t, floor)), 3)} for name, t in times.items()]
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(f"{row['name']:30} {row['nanoseconds']:10.1f} ns  {row['ratio']:8.2f}")
    return 1 if options.require and rows[0]["ratio"] > 3 else 0


if __name__ == "__main__":
    sys.exit(main())
