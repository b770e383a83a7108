#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures, keeps what was measured beside this file, and writes its rows into docs/compared.md.

usage: record.py BENCH_COMMANDS [RUNS]   measure (five times by default), keep, and write
       record.py --check                 fails if docs/compared.md says something else than what was kept
"""
import json
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "measured.json")
PAGE = os.path.join(HERE, "..", "..", "docs", "compared.md")
BEGIN, END = "<!-- measured: bench/commands/record.py -->\n", "<!-- end of what was measured -->\n"


def spread(values):
    def short(value):
        return f"{value:.2f}" if value < 10 else f"{value:.0f}"
    low, high = short(min(values)), short(max(values))
    return low if low == high else f"{low} - {high}"


def rows(kept):
    runs = kept["runs"]
    lines = [f"{len(runs)} runs of `bench_commands --rounds {kept['rounds']}`, one after the other, lowest and highest; {kept['processors']} processors, "
             f"Linux {kept['kernel']}.", "",
             "| | promised | whole time | processor time |", "|---|---|---|---|"]
    for i, ratio in enumerate(runs[0]["ratios"]):
        promised = ratio["promised"]
        medians = [run["ratios"][i]["median"] for run in runs]
        missed = ", **missed**" if promised and max(medians) > promised else ""
        columns = [spread(medians), spread([run["ratios"][i]["processor"] for run in runs])]
        lines.append("| " + " | ".join([ratio["says"], f"{promised:.2f}{missed}" if promised else "", *columns]) + " |")
    return "\n".join(lines) + "\n"


def page_with(kept):
    with open(PAGE, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    return before + BEGIN + rows(kept) + END + rest.split(END, 1)[1]


def main():
    if sys.argv[1:] == ["--check"]:
        with open(KEPT, encoding="utf-8") as file:
            wanted = page_with(json.load(file))
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != wanted:
                sys.exit("docs/compared.md does not say what bench/commands/measured.json has; see record.py")
        return
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rounds = 10
    runs = [json.loads(subprocess.run([sys.argv[1], "--rounds", str(rounds), "--json"], check=True, stdout=subprocess.PIPE).stdout)
            for _ in range(int(sys.argv[2]) if len(sys.argv) == 3 else 5)]
    kept = {"rounds": rounds, "processors": os.cpu_count(), "kernel": platform.release().split("-")[0], "runs": runs}
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1)
        file.write("\n")
    page = page_with(kept)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


main()
