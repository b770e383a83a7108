#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what README.md quotes, on a machine that does nothing else, and writes the figures into its table.

usage: docs/measured/measure.py [--fill]     (build/release must be built; takes some minutes)
A cell says where its figure is from in a comment behind it: `<!-- commands: jobs kgate / jobs flock -->` is the ratio of two medians of
commands.json, `<!-- python: kgate.Gate -->` a ratio of python.json. With --fill nothing is measured; the table is written from the files.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CELL = re.compile(r"([\d.]+)( <!-- (commands|python): ([^>]*?) -->)")


def figure(source, what):
    """The figure that a comment asks for, as it is shown."""
    data = json.loads((HERE / f"{source}.json").read_text())
    if source == "python":
        value = next(row["ratio"] for row in data if row["name"] == what)
    else:
        one, other = (data["medians_ms"][name.strip()] for name in what.split("/"))
        value = one / other
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}"


def filled(text):
    return CELL.sub(lambda found: figure(found[3], found[4]) + found[2], text)


def measure():
    build = ROOT / "build/release"
    runs = {"commands": [build / "bin/bench_commands", "--json", "--rounds", "1"],
            "python": ["/usr/bin/python3", "-B", ROOT / "bench/python/uncontended.py", "--json"]}
    for name, command in runs.items():
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(build / "python")})
        (HERE / f"{name}.json").write_text(json.dumps(json.loads(done.stdout), indent=1) + "\n")


def main():
    if sys.argv[1:] not in ([], ["--fill"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if sys.argv[1:] == []:
        measure()
    for name in ("README.md", "docs/python.md"):
        (ROOT / name).write_text(filled((ROOT / name).read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
