#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the documents to their word. Every ```cpp and ```c block of README.md, CONTRIBUTING.md and docs/ is compiled, and run
if it has a main; every ```python block is run; every line of their ```sh blocks that begins with kgate or kgate-lab, with or without ./, is run and must exit with 0,
or with n if the line ends in "# exit n" or "# exit n: why". Other lines, and those that cannot be run here, are in ELSEWHERE with what runs them.
Lines may be continued with a backslash. Gates are made in a folder that is thrown away, in which examples/ is that of the tree.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", re.M | re.S)
FLAGS = ["-O1", "-pthread", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STANDARD = {"cpp": "-std=c++20", "c": "-std=c11"}
SECONDS_MAX = 120
# What a block may need that is not everywhere: blocks that include it are passed over where it is missing.
OPTIONAL = re.compile(r"^#include <(asio)/", re.M)
# Lines of shell that are not run here: how they begin, by page, and where they are run.
ELSEWHERE = {
    "README.md": {"./test": "package.clone", "cmake ": "package.readme", "export ": "package.readme", "g++ ": "package.readme", "cc ": "package.readme",
                  "/usr/bin/python3 ": "package.readme", "venv/bin/pip ": "package.readme"},
    "docs/index.md": {"cmake ": "package.readme, as in README.md", "export ": "package.readme", "g++ ": "package.readme", "cc ": "package.readme",
                      "/usr/bin/python3 ": "package.readme", "venv/bin/": "package.readme"},
    "docs/cluster.md": {"kgate ": "cluster.cli, with servers", "export KGATE_ON": "cluster.cli"},
    "docs/guides/clusters.md": {"kgate ": "cluster.cli, with servers", "export KGATE_ON": "cluster.cli"},
    "docs/experiments.md": {"kgate-lab experiment ": "docs.experiments, for it takes minutes"},
    "docs/recipes.md": {"": "cli_kgate.recipes_test"},
}


def pages(root):
    return [p for p in (root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md")),
                        *sorted((root / "bindings").glob("*/README.md"))) if p.exists()]


def blocks(page, language):
    text = page.read_text()
    for found in BLOCK.finditer(text):
        if found[2] == language:
            yield text.count("\n", 0, found.start()) + 2, textwrap.dedent(found[3])


def run(command, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS_MAX, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, "none: stopped after %d s" % SECONDS_MAX, "", "")


def fault(place, what, done):
    return f"{place}: {what}: exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-3000:]}"


def code_faults(place, language, text, compiler, include, library):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, f"snippet.{language}"), Path(folder, "snippet")
        for name in set(OPTIONAL.findall(text)):
            source.write_text(f"#include <{name}.hpp>\n")
            if run([compiler, STANDARD[language], "-E", "-o", os.devnull, source]).returncode != 0:
                return []
        source.write_text(text)
        whole = re.search(r"^int main\(", text, re.M)
        target = ["-o", program] if whole else ["-fsyntax-only"]
        if whole and library:
            target += [library, f"-Wl,-rpath,{Path(library).parent}"]
        done = run([compiler, STANDARD[language], *FLAGS, f"-I{include}", source, *target])
        if done.returncode != 0:
            return [fault(place, "does not compile", done)]
        if whole:
            done = run([program], env={**os.environ, "KGATE_DIR": folder})
            if done.returncode != 0:
                return [fault(place, "fails", done)]
    return []


def python_faults(place, text, path):
    with tempfile.TemporaryDirectory() as folder:
        done = run([sys.executable, "-c", text], env={**os.environ, "KGATE_DIR": folder, "PYTHONPATH": str(path)}, cwd=folder)
    return [] if done.returncode == 0 else [fault(place, "fails", done)]


def elsewhere(page, line):
    return any(line.startswith(begins) for begins in ELSEWHERE.get(page, ()))


def commands_of(first, text, page=""):
    """The lines that are to be run, each with its number and exit code; None as code of one that nothing runs."""
    number = first
    for line in re.sub(r"\\\n", "\\\\\0", text).split("\n"):
        whole = line.replace("\\\0", " ")
        if elsewhere(page, whole) or not whole.strip() or whole.startswith("#"):
            pass
        elif re.match(r"(\./)?kgate(-lab)?\s", whole):
            command, _, comment = whole.partition(" #")
            wanted = re.search(r"exit (\d+)(?:$|: )", comment)
            yield number, command.strip(), int(wanted[1]) if wanted else 0
        else:
            yield number, whole.strip(), None
        number += 1 + line.count("\0")


def command_faults(place, command, wanted, programs, folder):
    if wanted is None:
        return [f"{place}: {command}: neither run here, nor in ELSEWHERE of snippets.py"]
    # The shell reads the line as it would the user's, but for the launcher.
    line = re.sub(r"^(?:\./)?(kgate(-lab)?)(?=\s)", lambda found: shlex.quote(str(programs / found[1])), command)
    done = run(["bash", "-c", line], cwd=folder, env={**os.environ, "KGATE_DIR": folder})
    return [] if done.returncode == wanted else [fault(place, f"{command} (wanted {wanted})", done)]


def check(root, compiler, programs, library=None, c=("cc", None), python=None):
    """The faults, and how many snippets of each kind were tried. Lines for a program that is not there are faults."""
    found, snippets, commands = [], 0, 0
    for page in pages(root):
        name = page.relative_to(root)
        for language, by, linked in (("cpp", compiler, library), ("c", *c)):
            for line, text in blocks(page, language):
                snippets += 1
                found += code_faults(f"{name}:{line}", language, text, by, root / "include", linked)
        for line, text in blocks(page, "python") if python else ():
            snippets += 1
            found += python_faults(f"{name}:{line}", text, python)
        for first, text in blocks(page, "sh"):
            with tempfile.TemporaryDirectory() as folder:  # one for a block: its lines build on each other
                Path(folder, "examples").symlink_to(root / "examples")
                for line, command, wanted in commands_of(first, text, str(name)):
                    commands += 1
                    found += command_faults(f"{name}:{line}", command, wanted, programs, folder)
    return found, snippets, commands


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--programs", type=Path, required=True, help="where kgate and kgate-lab are")
    parser.add_argument("--library", type=Path, help="what programs are linked with")
    parser.add_argument("--c-compiler", default="cc")
    parser.add_argument("--c-library", type=Path, help="what programs in C are linked with")
    parser.add_argument("--python", type=Path, help="where the Python package is")
    options = parser.parse_args()
    found, snippets, commands = check(options.root, options.compiler, options.programs.resolve(), options.library,
                                      (options.c_compiler, options.c_library), options.python)
    print("\n".join(found))
    print(f"docs: {snippets} snippets, {commands} commands, {len(found)} faults")
    return 1 if found or snippets == 0 or commands == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
