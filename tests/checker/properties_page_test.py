#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/properties.md says of each property what the checker's table says. usage: properties_page_test.py SOURCE"""
import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
FIELDS = ("id", "says", "source", "needs", "decided")


def table():
    text = (SOURCE / "src/lab/checker/claims/property.cpp").read_text()
    for entry in re.split(r"\{(?=\.id = )", text)[1:]:
        found = dict(re.findall(r'\.(\w+) =\s+"((?:[^"]|"\s+")*)"', entry))
        yield tuple(re.sub(r'"\s+"', "", found.get(field, "")) for field in FIELDS)


def page():
    for line in (SOURCE / "docs/properties.md").read_text().splitlines():
        if re.match(r"\| `[a-z]+-?[a-z-]*` \|.*\|.*\|.*\|", line):
            yield tuple(cell.strip().strip("`") for cell in line.strip("|").split("|"))


in_table, on_page = list(table()), list(page())
for mine, theirs in zip(in_table, on_page):
    if mine != theirs:
        sys.exit(f"the table says\n  {mine}\nbut docs/properties.md\n  {theirs}")
if len(in_table) != len(on_page) or len(in_table) < 10:
    sys.exit(f"{len(in_table)} properties in the table, {len(on_page)} on the page")
