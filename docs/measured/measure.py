#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the documents quote, on a machine that does nothing else, keeps it beside this file, and writes it into them.

usage: docs/measured/measure.py [PART...]    (build/release must be built; each part takes some minutes)
       docs/measured/measure.py --fill       measure nothing, write the pages from the files

Parts: commands, crowd, python, semaphores, instructions, objects, gates, gates_deaths, experiments, scale;
default: all. (experiments and scale are simulations with a seed, which come out the same on any machine.) What is kept: a file a
part, PART.json. In a page, a figure says where it is
from in a comment behind it: `<!-- commands: jobs kgate / jobs flock -->` is a ratio of commands.json, judged as bench/commands
does, or that of two medians where it judges none, `<!-- python: kgate.Gate -->`
a ratio of python.json, `<!-- semaphores: CELL: a / b -->` how many times as fast a is as b. Whole tables are made by tables.py.
"""
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build/release"
CELL = re.compile(r"([\d.]+)( <!-- (commands|python|semaphores): ([^>]*?) -->)")
PAGES = ("README.md", "docs/python.md", "docs/semaphore.md", "docs/async.md", "docs/objects.md", "docs/gates.md", "docs/experiments.md",
         "docs/compared.md")


def figure(source, what):
    """The figure that a comment asks for, as it is shown."""
    data = tables.kept(source)
    if source == "python":
        value = next(row["ratio"] for row in data if row["name"] == what)
    elif source == "semaphores":
        cell, _, ratio = what.partition(": ")
        one, other = (data["cells"][cell][name]["rate"] for name in ratio.split(" / "))
        value = one / other
    else:
        one, other = (name.strip() for name in what.split("/"))
        judged = [row["median"] for row in data["ratios"] if (row["of"], row["to"]) == (one, other)]
        value = judged[0] if judged else data["medians_ms"][one] / data["medians_ms"][other]
    return tables.short(value)


def filled(text):
    return CELL.sub(lambda found: figure(found[3], found[4]) + found[2], tables.written(text))


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(BUILD / "python")}).stdout


def measured(program, *options):
    """What a bench writes with --json."""
    with tempfile.NamedTemporaryFile() as file:
        printed(BUILD / "bin" / program, *options, "--json", file.name)
        data = json.load(file)
    return data


def where(rounds):
    compiler = subprocess.run(["gcc", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    return {"rounds": rounds, "processors": os.cpu_count(), "kernel": platform.release().split("-")[0], "compiler": compiler}


def semaphores():
    data = measured("semaphores", "--rounds", "5")
    cells = {r["cell"]: {p["peer"]: {"rate": round(p["median_ops_per_s"]), "cpu_us": round(p["median_cpu_us"], 3),
                                     "entered": p["entered_meanwhile_max"], "admitted": p["admitted_meanwhile_max"]}
                         for p in r["peers"]} for r in data["results"]}
    return {**where(5), "required": data["required"], "cells": cells}


def instructions():
    counted = printed(sys.executable, "-B", ROOT / "bench/semaphores/instructions.py", BUILD / "bin/semaphores").split("\n")[1:]
    return {name.strip(): float(number) for name, _, number in (line.rpartition(" ") for line in counted if line)}


def objects():
    data = measured("objects", "--rounds", "7")

    def median(values):
        return sorted(values)[len(values) // 2]

    cells = {c["name"]: {p["name"]: median(p["operations_per_second"]) for p in c["contenders"]} for c in data["cells"]}
    return {**where(7), "ratios": data["ratios"], "memory": {m["name"]: m["bytes"] for m in data["memory"]}, "cells": cells}


def gates():
    """Crowds of 2 to 1024 processes, each 1 us inside; two and eight of them with less inside, where nothing is required."""
    common = ("--kinds", "processes", "--rounds", "5", "--seconds", "0.2")
    data = measured("gates", *common)
    for options in (("--members", "2", "--slots", "2", "--inside", "0"), ("--members", "8", "--slots", "1", "--inside", "200")):
        data["crowds"] += measured("gates", *common, "--no-alone", *options)["crowds"]
    for crowd in data["crowds"]:
        for peer in crowd["contenders"].values():
            peer.update(rate=round(peer["rate"]), jain=round(peer["jain"], 3), cpu_us=round(peer["cpu_us"], 2))
    return {**where(data["rounds"]), **data}


def crowd():
    """What the deep test of waiting commands measures."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([sys.executable, "-B", ROOT / "tests/cli/kgate/crowd_deep_test.py", BUILD / "bin/kgate", BUILD / "bin/kgate_documents", ROOT],
                       check=True,
                       env={**os.environ, "KGATE_CROWD_JSON": file.name})
        data = json.load(file)
    return {**where(data["rounds"]), **data}


def experiments(*options):
    """Figures 10 and 11 of Anderson & Moir, simulated; without what differs from machine to machine."""
    found = {}
    for figure in ("fig10", "fig11"):
        data = json.loads(printed(BUILD / "bin/kgate-lab", "experiment", figure, "--simulated", *options, "--json"))
        found[figure] = tables.of_experiment(data)
    return found


PARTS = {"commands": lambda: json.loads(printed(BUILD / "bin/bench_commands", "--json", "--rounds", "5")),
         "python": lambda: json.loads(printed("/usr/bin/python3", "-B", ROOT / "bench/python/uncontended.py", "--json")),
         "semaphores": semaphores, "instructions": instructions, "objects": objects, "crowd": crowd,
         "gates": gates, "gates_deaths": lambda: {**where(1), **measured("gate_deaths")},
         "experiments": experiments, "scale": lambda: experiments("--scale")}


def shown(data):
    """JSON with a line for each innermost object."""
    text = json.dumps(data, indent=1)
    return re.sub(r"\{\n\s+([^{}]*?)\n\s*\}", lambda found: "{" + re.sub(r"\n\s+", " ", found[1]) + "}", text) + "\n"


def main():
    parts = sys.argv[1:]
    if parts != ["--fill"]:
        if not set(parts) <= set(PARTS):
            print(__doc__.strip(), file=sys.stderr)
            return 2
        for name in parts or PARTS:
            (HERE / f"{name}.json").write_text(shown(PARTS[name]()))
    for name in PAGES:
        (ROOT / name).write_text(filled((ROOT / name).read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
