#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kgate-lab's checker and Spin side by side on the same algorithm, N and k, and compares their speed and memory.

Both look for a violation of k-exclusion and for deadlocks, with passages without limit. Spin searches in full and with
partial-order reduction; ours runs on one thread and on two. The rounds interleave the four, medians are compared, and
only ratios of one run mean anything. Beside the clock stands the processors' time, which a busy machine disturbs less. In the
full search the numbers of states must be equal, or the run fails: they would not be exploring the same thing.
"""
import argparse
import json
import math
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ALGORITHMS = {"figure3": "am97-chain-cc", "figure8": "am97-chain-dsm"}
MEMORY_MB = 4096
# What a comparison must show: ours over Spin's full search, bytes a state, two threads over one.
RATIO_MIN, BYTES_MAX, THREADS_MIN = 2.0, 40.0, 1.6
# Below this a run is too short for its rate to mean anything.
SECONDS_MIN = 0.2


class Failed(Exception):
    pass


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Spin:
    """pan, generated and compiled for one model; `reduce` is partial-order reduction."""

    def __init__(self, figure, n, k, reduce, folder):
        self.name = "spin, reduced" if reduce else "spin, full"
        self.folder = folder
        folder.mkdir()
        run(["spin", f"-DN={n}", f"-DK={k}", "-a", HERE / f"{figure}.pml"], cwd=folder)
        flags = ["-O2", "-DSAFETY", "-DNOBOUNDCHECK", f"-DMEMLIM={MEMORY_MB}"] + ([] if reduce else ["-DNOREDUCE"])
        run(["gcc", *flags, "-w", "-o", "pan", "pan.c"], cwd=folder)
        self.depth_max, self.table_bits = 10_000_000, 24
        first = self.sample()
        # Sized to the search, so that Spin neither grows its table nor clears room it does not use; twice as many slots as
        # states is where it ran fastest.
        self.depth_max = first["depth"] + 1000
        self.table_bits = max(16, math.ceil(math.log2(first["states"])) + 1)

    def sample(self):
        out = run(["./pan", f"-m{self.depth_max}", f"-w{self.table_bits}"], cwd=self.folder)
        if "max search depth too small" in out or "out of memory" in out or not re.search(r"errors: 0\b", out):
            raise Failed(f"{self.name} did not complete without errors:\n{out[:2000]}")

        def figure(pattern):
            found = re.search(pattern, out)
            if not found:
                raise Failed(f"{self.name}: no match for '{pattern}' in pan's report:\n{out[:2000]}")
            return float(found[1])

        states = int(figure(r"(\d+(?:\.\d+e\+\d+)?) states, stored"))
        megabytes = figure(r"([\d.]+)\s+actual memory usage for states") + figure(r"([\d.]+)\s+memory used for hash table")
        return {
            "states": states,
            # Spin counts the initial state as a transition.
            "transitions": int(figure(r"(\d+(?:\.\d+e\+\d+)?) transitions")) - 1,
            "seconds": figure(r"elapsed time ([\d.]+) seconds"),
            "bytes_per_state": megabytes * 2**20 / states,
            "depth": int(figure(r"depth reached (\d+)")),
        }


class Lab:
    """The checker, on so many threads."""

    def __init__(self, lab, figure, n, k, threads):
        self.name = f"kgate-lab, {threads} thread{'s' if threads > 1 else ''}"
        self.command = [lab, "check", ALGORITHMS[figure], "-N", str(n), "-k", str(k), "--threads", str(threads), "--json",
                        "--property", "k-exclusion", "--property", "deadlock-free",
                        "--memory-max", f"{MEMORY_MB}M"]

    def sample(self):
        report = json.loads(run(self.command))
        for checked in report["properties"]:
            if checked["verdict"] != "holds":
                raise Failed(f"{self.name}: {checked['name']} is {checked['verdict']}")
        return {key: report[key] for key in ("states", "transitions", "seconds", "bytes_per_state")}


def summary(name, samples):
    rates = [s["states"] / max(s["seconds"], 0.01) for s in samples]
    return {
        "name": name,
        "states": samples[0]["states"],
        "transitions": samples[0]["transitions"],
        "seconds": statistics.median(s["seconds"] for s in samples),
        "states_per_second": statistics.median(rates),
        "spread": [min(rates), max(rates)],
        "processor_seconds": statistics.median(s["processor_seconds"] for s in samples),
        "bytes_per_state": statistics.median(s["bytes_per_state"] for s in samples),
        "samples": samples,
    }


def compare(lab, figure, n, k, rounds, folder):
    contestants = [Spin(figure, n, k, False, folder / f"{figure}-{n}-{k}-full"),
                   Spin(figure, n, k, True, folder / f"{figure}-{n}-{k}-reduced"),
                   Lab(lab, figure, n, k, 1), Lab(lab, figure, n, k, 2)]
    samples = [[] for _ in contestants]
    for _ in range(rounds):
        for contestant, taken in zip(contestants, samples):
            before = processor_seconds()
            sample = contestant.sample()
            taken.append({**sample, "processor_seconds": processor_seconds() - before})
    rows = [summary(c.name, s) for c, s in zip(contestants, samples)]
    full, _, one, two = rows
    counts = {(s["states"], s["transitions"]) for row in (full, one, two) for s in row["samples"]}
    return {
        "figure": figure, "algorithm": ALGORITHMS[figure], "N": n, "k": k, "rows": rows,
        "same_states": len({states for states, _ in counts}) == 1,
        "same_transitions": len({transitions for _, transitions in counts}) == 1,
        "too_short": min(row["seconds"] for row in (full, one, two)) < SECONDS_MIN,
        "ratio_to_full": one["states_per_second"] / full["states_per_second"],
        "ratio_to_full_by_processor_time": full["processor_seconds"] / max(one["processor_seconds"], 0.01),
        "ratio_of_two_threads": two["states_per_second"] / one["states_per_second"],
    }


def show(case):
    print(f"\n{case['figure']}  N={case['N']} k={case['k']}  ({case['algorithm']})")
    print(f"  {'':24}{'states':>12}{'seconds':>10}{'cpu s':>8}{'states/s':>12}{'spread':>20}{'bytes/state':>13}{'to full':>9}")
    base = case["rows"][0]["states_per_second"]
    for row in case["rows"]:
        low, high = row["spread"]
        print(f"  {row['name']:24}{row['states']:>12,}{row['seconds']:>10.2f}{row['processor_seconds']:>8.2f}"
              f"{row['states_per_second']:>12,.0f}"
              f"{f'{low / 1e6:.2f}-{high / 1e6:.2f} M':>20}{row['bytes_per_state']:>13.1f}"
              f"{row['states_per_second'] / base:>8.2f}x")
    print(f"  one thread to full, by processor time: {case['ratio_to_full_by_processor_time']:.2f}x;"
          f" two threads over one: {case['ratio_of_two_threads']:.2f}x;"
          f" states {'equal' if case['same_states'] else 'DIFFER'},"
          f" transitions {'equal' if case['same_transitions'] else 'differ'}"
          f"{'; too short a run to compare speeds' if case['too_short'] else ''}")


def shortfalls(case):
    where = f"{case['figure']} N={case['N']} k={case['k']}"
    if case["ratio_to_full"] < RATIO_MIN:
        yield f"{where}: {case['ratio_to_full']:.2f}x Spin's full search, wanted {RATIO_MIN}x"
    if case["rows"][2]["bytes_per_state"] > BYTES_MAX:
        yield f"{where}: {case['rows'][2]['bytes_per_state']:.1f} bytes a state, wanted at most {BYTES_MAX:.0f}"
    if case["ratio_of_two_threads"] < THREADS_MIN:
        yield f"{where}: {case['ratio_of_two_threads']:.2f}x with two threads, wanted {THREADS_MIN}x"


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=HERE).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return "unknown"


def context():
    cpu = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return {"processor": cpu[1] if cpu else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "compiler": first_line(["gcc", "--version"]), "spin": first_line(["spin", "-V"]),
            "commit": first_line(["git", "rev-parse", "--short", "HEAD"])}


def parse_case(text):
    found = re.fullmatch(r"(figure[38]):(\d+),(\d+)", text)
    if not found or not 1 <= int(found[3]) < int(found[2]) <= 8:
        raise argparse.ArgumentTypeError(f"'{text}' is not figure3:N,K or figure8:N,K with 1 <= K < N <= 8")
    return found[1], int(found[2]), int(found[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=parse_case, metavar="figure3:N,K|figure8:N,K",
                        help="default: figure3:4,1 figure8:4,2")
    parser.add_argument("--lab", required=True, help="the kgate-lab program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="write all samples there; '-' for stdout instead of the table")
    parser.add_argument("--require", action="store_true", help="fail if a ratio is not what the project promises")
    options = parser.parse_args()
    cases = options.cases or [("figure3", 4, 1), ("figure8", 4, 2)]

    report = {"context": context(), "rounds": options.rounds, "cases": []}
    table = options.json != "-"
    if table:
        print("; ".join(f"{key} {value}" for key, value in report["context"].items()))
    failures = []
    with tempfile.TemporaryDirectory(prefix="kgate-spin-") as folder:
        for figure, n, k in cases:
            case = compare(options.lab, figure, n, k, options.rounds, Path(folder))
            report["cases"].append(case)
            if table:
                show(case)
            if not case["same_states"]:
                failures.append(f"{figure} N={n} k={k}: the numbers of states differ")
            if options.require:
                failures.extend(shortfalls(case))
    if options.json:
        text = json.dumps(report, indent=1)
        print(text) if options.json == "-" else Path(options.json).write_text(text + "\n")
    for failure in failures:
        print(f"compare: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        print(f"compare: {failed}", file=sys.stderr)
        sys.exit(1)
