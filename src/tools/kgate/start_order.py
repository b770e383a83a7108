#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes start_order.*.ld: what `kgate run` executes from its start to the command's, for the linker to put together.

A start costs as many page faults as there are groups of 16 pages in which something is executed; scattered over the
whole program those cost more than everything else that kgate does. The program is run instruction by instruction, and
the linker's map tells which sections they are in. x86-64 and GNU ld; what another linker or C library does not have is
passed over. tests/cli/kgate/liveness_test.py counts the page faults.

usage: start_order.py KGATE MAP   KGATE: with its symbols; MAP: the linker's, of the same link
"""
import bisect
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEME, PEEKUSER, SINGLESTEP, SETOPTIONS, DETACH, OPTION_EXEC, RIP = 0, 3, 9, 0x4200, 17, 0x10, 16 * 8
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def executed(line, environment):
    """The addresses of the instructions that a program executes, up to the program that it becomes."""
    process = os.fork()
    if process == 0:
        libc.ptrace(TRACEME, 0, None, None)
        os.execve(line[0], line, environment)
    os.waitpid(process, 0)
    libc.ptrace(SETOPTIONS, process, None, OPTION_EXEC)
    seen, passed_on = set(), 0
    while True:
        seen.add(libc.ptrace(PEEKUSER, process, RIP, None))
        libc.ptrace(SINGLESTEP, process, None, passed_on)
        _, status = os.waitpid(process, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return seen
        if status >> 16 != 0:  # it has become its command
            libc.ptrace(DETACH, process, None, None)
            os.waitpid(process, 0)
            return seen
        passed_on = 0 if os.WSTOPSIG(status) == signal.SIGTRAP else os.WSTOPSIG(status)


def sections(path):
    """(address, size, archive:member or object, section), by address."""
    found = []
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\n( \.[^\s]+)\n +", r"\n\1 ", file.read())
    for name, address, size, origin in re.findall(r"^ (\.[^\s]+) +0x([0-9a-f]+) +0x([0-9a-f]+) (\S+)$", text, re.M):
        if int(size, 16) > 0 and int(address, 16) > 0:
            found.append((int(address, 16), int(size, 16), origin, name))
    return sorted(found)


def directory_of(origin):
    """What the linker's script calls an object of an archive, or one of ours."""
    archive = re.fullmatch(r"(?:.*/)?([^/]+\.a)\((.+)\)", origin)
    return f"*{archive[1]}:{archive[2]}" if archive else "*/" + os.path.basename(origin)


def pattern(origin, section):
    if section.startswith(".text.") and "_Z" in section:
        return f"*({section})"  # in any of the objects that have it
    return f"{directory_of(origin)}({section})"


def others(kind, largest):
    """All others but the largest, which is not used at the start, or only read."""
    return f"*(EXCLUDE_FILE(*{largest}) .{kind} EXCLUDE_FILE(*{largest}) .{kind}.*)"


def write(kind, lines):
    with open(os.path.join(HERE, f"start_order.{kind}.ld"), "w", encoding="utf-8") as file:
        file.write("/* SPDX-License-Identifier: Apache-2.0 */\n/* Written by start_order.py, which says what for. */\n")
        file.writelines(line + "\n" for line in dict.fromkeys(lines))


def count(runs, addresses):
    for address in addresses:
        runs[address] = runs.get(address, 0) + 1


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, table = os.path.abspath(sys.argv[1]), sections(sys.argv[2])
    starts = [one[0] for one in table]
    hot = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        environment = {"KGATE_DIR": folder, "PATH": "/usr/bin:/bin", "HOME": "/"}
        lines = [["--exec", "--", "true"], ["--", "true"], ["-n", "some", "-k", "2", "--exec", "--", "true"],
                 ["-n", "some", "-k", "2", "--timeout", "9s", "--", "true"]]
        for line in lines * 2:
            count(hot, executed([tool, "run", *line], environment))
        for last in (["--exec", "--", "true"], ["--", "true"]):  # one that has to wait
            with subprocess.Popen([tool, "run", "-n", "one", "--exec", "--", "sleep", "0.3"], env=environment):
                time.sleep(0.1)
                count(hot, executed([tool, "run", "-n", "one", *last], environment))
        del environment["KGATE_DIR"]  # where gates are by default
        for last in (["--exec", "--", "true"], ["--", "true"]) * 2:
            count(hot, executed([tool, "run", "-n", "start-order", *last], environment))
        subprocess.run([tool, "remove", "-n", "start-order"], env=environment, check=True)
    chosen = {}
    for address, runs in hot.items():
        i = bisect.bisect_right(starts, address) - 1
        if i >= 0 and address < table[i][0] + table[i][1]:
            chosen[table[i]] = max(chosen.get(table[i], 0), runs)
    # What every run needs first, and of that the small ones.
    order = sorted(chosen, key=lambda one: (-chosen[one], one[1], one[2:]))
    origins = [directory_of(origin) for _, _, origin, _ in order]
    write("text", [pattern(origin, section) for _, _, origin, section in order] +
          [f"{one}(.rodata .rodata.*)" for one in origins])
    of_libraries = [one for one in origins if one.startswith("*lib") and not one.startswith("*libkgate")]
    write("data", [f"{one}(.data .data.*)" for one in of_libraries] + [others("data", "table.cpp.o")])
    write("bss", [f"{one}(.bss .bss.*)" for one in of_libraries] + [others("bss", "pthread_keys.o")])
    print(f"{len(chosen)} sections, {sum(one[1] for one in chosen)} bytes")


main()
