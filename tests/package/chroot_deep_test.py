#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages on a bare machine: a fresh system in a folder, on which they are installed, used from the shell, C, CMake
and Python, upgraded while somebody is inside, and purged. The same system without git gets a copy of the tree, and what README.md
says of each language (Readme), or its ./test (Clone). What was typed and answered is kept in OUTPUT/transcript-*.

usage: chroot_deep_test.py SOURCE OUTPUT [Packages | Readme | Clone]
Needs root, debootstrap and the machine's own package sources. Packages in OUTPUT that are newer than the tree are used again.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

SOURCE, OUTPUT = Path(), Path()
NAMES = ("kgate", "kgate-cluster", "kgate-lab", "libkgate1", "libkgate-dev", "python3-kgate")

C_PROGRAM = r"""
#include <kgate/kgate.h>
#include <stdio.h>
int main(void) {
  kgate_gate *gate;
  kgate_member *me;
  int slot;
  if (kgate_gate_open(&gate, "bare", 2, NULL) || kgate_gate_join(gate, &me) || kgate_enter(me, 1) || kgate_slot(me, &slot)) {
    fprintf(stderr, "%s\n", kgate_last_error());
    return 1;
  }
  printf("C has slot %d\n", slot);
  kgate_part(me);
  kgate_gate_close(gate);
  return 0;
}
"""
# Holds a slot of the gate until the upgrade is over, or waits for one; each in its own language.
C_MEMBER = r"""
#include <kgate/kgate.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  kgate_gate *gate;
  kgate_member *me;
  if (kgate_gate_open(&gate, "members", 3, NULL) || kgate_gate_join(gate, &me) || kgate_enter(me, 1)) {
    fprintf(stderr, "%s\n", kgate_last_error());
    return 1;
  }
  puts("C in");
  fflush(stdout);
  while (access("/upgraded", F_OK) != 0) usleep(100000);
  if (kgate_leave(me)) return 2;
  kgate_part(me);
  kgate_gate_close(gate);
  return 0;
}
"""
PYTHON_MEMBER = """
import kgate, os, time
with kgate.Gate("members", 3).enter():
    print("Python in", flush=True)
    while not os.path.exists("/upgraded"):
        time.sleep(0.1)
"""
CPP_PROGRAM = r"""
#include <cstdio>
#include <kgate/gate.hpp>
int main() {
  kgate::gate gate("bare", 2);
  kgate::gate::permit permit = gate.enter();
  std::printf("C++ has slot %d\n", permit.slot());
}
"""
# Begins a line with a throw-away server, whose address is $on; the line's end is the server's as well.
WITH_SERVER = ("rm -rf /tmp/servers /tmp/address; {}/src/cluster/ensemble 1 /tmp/servers >/tmp/address & for i in $(seq 6000); do [ -s /tmp/address ] && break; sleep 0.1; done; "
               "on=$(cat /tmp/address); ")
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(user C CXX)
find_package(kgate 1.0 REQUIRED COMPONENTS gate c)
add_executable(by_gate main.cpp)
target_link_libraries(by_gate PRIVATE kgate::gate)
add_executable(by_c main.c)
target_link_libraries(by_c PRIVATE kgate::c)
"""
PYTHON = """
import kgate
with kgate.Gate("bare", 2).enter(timeout=60) as slot:
    print("Python has slot", int(slot))
"""


def sources():
    """The lines of sources.list for this machine's Debian, by apt's own word."""
    codename = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.M)[1]
    rows = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
                          capture_output=True, text=True, check=True).stdout.split("\n")
    rows = [row.split() for row in rows if row and row.split()[1].split("-")[0] == codename]
    return codename, rows


class Bare(unittest.TestCase):
    """A fresh system in a folder."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            raise unittest.SkipTest("a fresh system needs root and debootstrap")
        OUTPUT.mkdir(parents=True, exist_ok=True)
        cls.folder = Path(tempfile.mkdtemp(prefix="kgate-bare-", dir="/var/tmp"))
        cls.root = cls.folder / "root"
        cls.transcript = open(OUTPUT / f"transcript-{cls.__name__.lower()}", "w", encoding="utf-8")
        codename, rows = sources()
        first = next(row for row in rows if row[1] == codename)
        subprocess.run(["debootstrap", "--variant=minbase", codename, cls.root, first[0]], check=True, stdout=subprocess.DEVNULL)
        (cls.root / "etc/apt/sources.list").write_text("".join(f"deb {' '.join(row)}\n" for row in rows))
        settings = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
        kept = [line for line in settings.split("\n") if line.startswith("Acquire::") and "IndexTargets" not in line]
        (cls.root / "etc/apt/apt.conf.d/90machine").write_text("\n".join(kept) + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.transcript.close()
        shutil.rmtree(cls.folder)  # what was mounted was so only for the commands

    def typed(self, line, code=0, shown=True, network=True):
        """What the shell line prints in the fresh system, in processes and mounts of its own."""
        inside = ("set -e; mount -t proc proc {0}/proc; mount --rbind /dev {0}/dev; cp /etc/resolv.conf {0}/etc/resolv.conf;"
                  " exec chroot {0} env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 bash -c \"$1\"").format(self.root)
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", *([] if network else ["--net"])]
        begun = time.monotonic()
        done = subprocess.run([*apart, "bash", "-c", inside, "bash", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = done.stdout if shown else f"({len(done.stdout.splitlines())} lines)\n"
        self.transcript.write(f"# {line}\n{printed}({time.monotonic() - begun:.1f} s)\n")
        self.transcript.flush()
        self.assertEqual(done.returncode, code, f"{line}\n{done.stdout[-4000:]}")
        return done.stdout

    def install(self, *words):
        self.typed("DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends " + " ".join(words), shown=False)


class Packages(Bare):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = sorted(OUTPUT.glob("*.deb"))
        newest = max(p.stat().st_mtime for f in ("include", "src", "debian", "bindings", "cmake") for p in (SOURCE / f).rglob("*"))
        if not made or min(p.stat().st_mtime for p in made) < newest:
            subprocess.run([SOURCE / "package", OUTPUT], check=True)
            made = sorted(OUTPUT.glob("*.deb"))
        for package in made:
            if "-dbgsym" not in package.name:
                (cls.root / "packages").mkdir(exist_ok=True)
                shutil.copy(package, cls.root / "packages")

    def use_between_machines(self):
        """By kgate-cluster and the package for Python, on a server of this machine's Debian."""
        self.install("libslf4j-java", "libzookeeper-java", "openjdk-17-jre-headless")
        for name in ("src/cluster/ensemble", "cmake/launch.sh", "packages.txt"):
            (self.root / "user/tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.root / "user/tree" / name)
        self.assertEqual(self.typed(WITH_SERVER.format("/user/tree") + (
            "kgate run --on $on -n far -k 2 -- sh -c 'echo slot $KGATE_SLOT; kgate status --on '$on' -n far | grep -o \"1 of 2\"'; "
            "export KGATE_ON=$on; python3 -c 'import kgate; print(type(kgate.Gate(\"far\").enter()).__name__)'")),
            "slot 0\n1 of 2\nClusterPermit\n")

    def newer(self):
        """The same packages as the next version."""
        old, new = self.root / "packages", self.root / "newer"
        new.mkdir()
        for package in old.iterdir():
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["dpkg-deb", "--raw-extract", package, f"{folder}/p"], check=True)
                control = Path(folder, "p/DEBIAN/control")
                control.write_text(re.sub(r"(?m)^(Version: \S+)$", r"\1+next", re.sub(r"\(= ([^)]+)\)", r"(= \1+next)", control.read_text())))
                subprocess.run(["dpkg-deb", "--root-owner-group", "--build", f"{folder}/p", new], check=True, stdout=subprocess.DEVNULL)

    def use(self):
        self.assertEqual(self.typed("kgate run -n bare -k 2 -- sh -c 'echo slot $KGATE_SLOT of $KGATE_SLOTS'"), "slot 0 of 2\n")
        self.assertEqual(self.typed("cc -Wall -Werror /user/main.c -o /user/by_flags $(pkg-config --cflags --libs libkgate) && /user/by_flags"),
                         "C has slot 0\n")
        self.typed("cmake -G Ninja -S /user -B /user/build && cmake --build /user/build", shown=False)
        self.assertEqual(self.typed("/user/build/by_gate && /user/build/by_c"), "C++ has slot 0\nC has slot 0\n")
        self.assertEqual(self.typed("python3 /user/main.py"), "Python has slot 0\n")
        self.assertIn("holds", self.typed("kgate-lab check am97-chain-cc -N 3 -k 2"))
        self.assertIn("bare", self.typed("kgate status"))
        self.assertIn("unreachable", self.typed("kgate status --on 'zk://127.0.0.1:1?session=2s' 2>&1 || echo unreachable"))

    def test_installed_used_upgraded_and_purged(self):
        for name, text in (("main.c", C_PROGRAM), ("main.cpp", CPP_PROGRAM), ("CMakeLists.txt", CMAKE), ("main.py", PYTHON),
                           ("member.c", C_MEMBER), ("member.py", PYTHON_MEMBER)):
            (self.root / "user").mkdir(exist_ok=True)
            (self.root / "user" / name).write_text(textwrap.dedent(text).lstrip())
        self.typed("apt-get update -qq", shown=False)
        packages = re.search(r"`sudo apt install ./build(/packages/\S+)`", (SOURCE / "README.md").read_text())[1]
        self.install(packages)
        self.assertEqual(self.typed("kgate run -n one -k 1 -- python3 -c 'import kgate; print(kgate.Gate(\"one\").status().free)'"), "0\n")
        self.install("/packages/*.deb")
        self.assertEqual(set(self.typed("dpkg-query -W -f '${Package}\\n' 'kgate*' 'libkgate*' 'python3-kgate'").split()), set(NAMES))
        self.install("gcc", "g++", "cmake", "ninja-build", "pkg-config")
        self.use()
        self.use_between_machines()

        # During an upgrade one of each language is inside, and one of each waits; those loaded before meet those loaded after. Likewise
        # between machines, where a command is inside with all three slots, and Python waits.
        self.newer()
        self.typed("cc -Wall -Werror /user/member.c -o /user/member $(pkg-config --cflags --libs libkgate)")
        stays = "-- sh -c 'echo tool in; while [ ! -e /upgraded ]; do sleep 0.1; done' & "
        local, far = "kgate status -n members", "kgate status --on $on -n members"
        python_far = "KGATE_ON=$on python3 /user/member.py & "

        def until(status, shown):
            return f"until {status} 2>/dev/null | grep -q '{shown}'; do sleep 0.1; done; "

        during = self.typed(WITH_SERVER.format("/user/tree") + "( "
            f"kgate run -n members -k 3 {stays} /user/member & python3 /user/member.py & kgate run --on $on -n members -k 3 -w 3 {stays}"
            + until(local, "3 of 3") + until(far, "3 of 3") +
            f"kgate run -n members -k 3 -- echo tool in & /user/member & python3 /user/member.py & {python_far}"
            + until(local, "3 waiting") + until(far, "1 waiting") + "echo upgrading; "
            "DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends /newer/*.deb >/dev/null 2>&1; echo upgraded; "
            f"for status in '{local}' \"{far}\"; do $status | grep -o '3 of 3\\|[13] waiting'; done; python3 /user/member.py & {python_far}"
            + until(local, "4 waiting") + until(far, "2 waiting") +
            f"touch /upgraded; wait; {local} --json; {far} --json; kgate --version )").split("\n")
        self.assertEqual(sorted(during[:4]), ["C in", "Python in", "tool in", "tool in"])
        self.assertEqual(during[4:10], ["upgrading", "upgraded", "3 of 3", "3 waiting", "3 of 3", "1 waiting"])
        self.assertEqual(sorted(during[10:16]), ["C in", *4 * ["Python in"], "tool in"])
        self.assertEqual(len(re.findall(r'"free": ?3\b', "\n".join(during[16:]))), 2, during[16:])
        versions = self.typed("dpkg-query -W -f '${Package} ${Version}\\n' 'kgate*' 'libkgate*' 'python3-kgate'").split("\n")
        self.assertTrue(all(row.endswith("+next") for row in versions if row), versions)
        self.use()

        files = self.typed(f"dpkg -L {' '.join(NAMES)} | sort -u | while read f; do [ -d \"$f\" ] || echo \"$f\"; done").split()
        self.assertGreater(len(files), 100)
        self.typed(f"DEBIAN_FRONTEND=noninteractive apt-get purge -qq -y {' '.join(NAMES)}", shown=False)
        self.assertEqual([f for f in files if os.path.lexists(str(self.root) + f)], [])
        self.assertEqual(self.typed("dpkg-query -W -f '${Package}\\n' 'kgate*' 'libkgate*' 'python3-kgate' 2>/dev/null || true"), "")
        self.typed("kgate --version", code=127)


def blocks(language):
    """The code of that language in README.md, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", (SOURCE / "README.md").read_text(), re.M | re.S)


class Copied(Bare):
    """With a copy of the tree, and the commands at the top of the README."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ignored = shutil.ignore_patterns("build", ".git", "__pycache__", "*.egg-info")
        shutil.copytree(SOURCE, cls.root / "root/kgate", symlinks=True, ignore=ignored)
        cls.first, cls.second, cls.third = (line.partition("  #")[0].strip() for line in blocks("sh")[0].strip().split("\n"))


class Readme(Copied):
    def test_every_language(self):
        """The first commands; then each language by the README's programs and commands, with the packages that it names."""
        self.assertIn("slot 0\n", self.typed(f"cd ~/kgate && {self.first}"))
        self.assertIn("demo", self.typed(f"cd ~/kgate && {self.second}"))
        text = (SOURCE / "README.md").read_text()
        (commands,) = (b for b in blocks("sh") if "cmake --preset library" in b)
        self.install(*re.search(r"Build and install what programs link with \(Debian:\s`([^`]+)`\)", text)[1].split())
        for name, program in (("main.cpp", blocks("cpp")[0]), ("main.c", blocks("c")[0])):
            (self.root / "root/kgate" / name).write_text(program)
        self.typed(f"set -e; cd ~/kgate\n{commands}")
        self.assertEqual(self.typed("cd ~/kgate && ./by_cpp && ./by_c"), "device 0\ndevice 0\n")

        (commands,) = (b for b in blocks("sh") if "venv" in b)
        needed = re.search(r"with Debian's (.*?):$", text, re.M | re.S)[1]
        self.install(*re.findall(r"`([^`]+)`", needed))
        (self.root / "root/kgate/main.py").write_text(blocks("python")[0])
        # Without a network, as the README says.
        self.typed(f"set -e; cd ~/kgate\n{commands}", network=False)
        self.assertEqual(self.typed("cd ~/kgate && venv/bin/python main.py"), "cuda:0\n")


    def test_gates_between_machines(self):
        """From the tree, which builds what it lacks; the servers, too, install what they need."""
        self.typed("apt-get update -qq", shown=False)
        answered = self.typed(WITH_SERVER.format("~/kgate") + "cd ~/kgate && ./kgate run --on $on -n far -k 2 -- sh -c 'echo slot $KGATE_SLOT' && "
                              "./kgate status --on $on -n far")
        self.assertRegex(answered, r"(?s)slot 0\n.*\bfar\b.*0 of 2")


# Tests that call programs of the system: compilers, Python's tools, make, shells, browsers, servers.
CALLING = "^(c|cli_kgate|cluster_cli|docs|example|gate_dropped|launch|package|pages|python|semaphore[.]compile|tidy|translation)([._]|$)"


class Clone(Copied):
    def test_the_third_command(self):
        """./test gets what it needs in a system that has nothing else: everything is built, and the tests that call other programs pass.
        Whether the other tests pass has nothing to do with the system."""
        self.assertIn("PASSED", self.typed(f"cd ~/kgate && {self.third} -R '{CALLING}'"))


if __name__ == "__main__":
    SOURCE, OUTPUT = (Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
