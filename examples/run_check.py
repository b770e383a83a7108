#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an example's check in a folder that is thrown away, with gates of its own and the programs of a build.

usage: run_check.py CHECK PROGRAMS PYTHON [ARGUMENT...]
"""
import os
import subprocess
import sys
import tempfile


def main() -> int:
    check, programs, python, *arguments = sys.argv[1:]
    own = {k: v for k, v in os.environ.items() if not k.startswith("KGATE_") and k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with tempfile.TemporaryDirectory(prefix="kgate-example-") as folder:
        own.update(PATH=f"{programs}:{os.environ['PATH']}", PYTHONPATH=python, PYTHONDONTWRITEBYTECODE="1", KGATE_DIR=folder)
        os.mkdir(f"{folder}/here")
        return subprocess.run([check, f"{folder}/here", *arguments], env=own, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
