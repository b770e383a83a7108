#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the book together that mkdocs builds: the documents, the reference from headers, stubs and manual pages, the examples'
READMEs and the changes.

usage: docs/book/assemble.py [OUTPUT]     (default: build/book; what is there is replaced)
"""
import os
import re
import shutil
import sys
from pathlib import Path

import manual
import reference

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s#:]+)(#[^)\s]*)?\)")
# Where files of the tree stand in the book.
MOVED = {"README.md": "index.md", "CHANGELOG.md": "changes.md", "SECURITY.md": "reporting.md", "CONTRIBUTING.md": "contributing.md",
         "bindings/python/README.md": "python.md"}


def target_of(path):
    """Where a file of the tree is in the book, or nothing."""
    if path in MOVED:
        return MOVED[path]
    if path.startswith("docs/") and path.endswith((".md", ".svg", ".css", ".js")):
        return path[len("docs/"):]
    if path.startswith("examples/") and path.endswith(".md"):
        return path
    return None


def with_links(text, source, target):
    """Links lead to where things are in the book; what is not in it is named only."""
    def moved(found):
        label, path, anchor = found[1], found[2], found[3] or ""
        inside = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if (ROOT / inside).is_dir():
            inside += "/README.md"
        where = target_of(inside)
        if where is None or not (ROOT / inside).exists():
            return label[1:-1] if not label.startswith("!") else ""
        return f"{label}({os.path.relpath(where, os.path.dirname(target) or '.')}{anchor})"

    parts = re.split(r"(^ *```.*?^ *```)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else LINK.sub(moved, part) for i, part in enumerate(parts))


def documents(output):
    sources = [p for p in (ROOT / "docs").rglob("*") if p.suffix in (".md", ".svg", ".css", ".js") and p.is_file()]
    sources += [ROOT / name for name in ("CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md")] + sorted((ROOT / "examples").rglob("README.md"))
    for path in sources:
        name = str(path.relative_to(ROOT))
        target = output / target_of(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(with_links(path.read_text(), name, target_of(name)))
        else:
            shutil.copy(path, target)


def references(output):
    folder = output / "reference"
    folder.mkdir()
    index = ["# Reference", "", "Every public name, from the sources themselves.", "", "## C++ and C", "", "| header | |", "|---|---|"]
    for name, text in reference.Headers(ROOT).pages():
        page = re.sub(r"[./]", "_", name) + ".md"
        (folder / page).write_text(text)
        first = re.search(r"^(?!#)\S.*?(?=[.;\n](?:\s|$))", text, re.M)
        index.append(f"| [`kgate/{name}`]({page}) | {first[0] if first else ''} |")
    (folder / "python.md").write_text(reference.python_page(ROOT))
    index += ["", "## Python", "", "[The package `kgate`](python.md)", "", "## The tools", "", "| manual page | |", "|---|---|"]
    manuals = {p.name: p for p in sorted((ROOT / "man").iterdir())}
    for name, path in manuals.items():
        (folder / f"{name}.md").write_text(manual.page(path.read_text(), lambda n, s: f"{n}.{s}.md" if f"{n}.{s}" in manuals else None))
        what = re.search(r"^\.SH NAME\n\S+ \\- (.*)$", path.read_text(), re.M)
        index.append(f"| [{path.stem}({path.suffix[1:]})]({name}.md) | {manual.plain(what[1]) if what else ''} |")
    (folder / "index.md").write_text("\n".join(index) + "\n")


def main():
    if len(sys.argv) > 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    output = Path(sys.argv[1] if len(sys.argv) == 2 else ROOT / "build/book")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    documents(output)
    references(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
