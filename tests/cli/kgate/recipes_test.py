#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every recipe of docs/recipes.md, run with the real program where it is installed."""
import os
import re
import shutil
import subprocess
import sys

from tool import KGATE, ROOT, Case, main

with open(os.path.join(ROOT, "docs", "recipes.md"), encoding="utf-8") as page:
    RECIPES = {found[1]: found[2] for found in re.finditer(r"<!-- recipe: ([\w-]+) -->\n```\w*\n(.*?)```", page.read(), re.S)}

JOB = """#!/bin/sh
# Says where it ran, and how many ran beside it.
mkdir "$LOG/inside.$$" && ls -d "$LOG"/inside.* | wc -l >> "$LOG/most"
echo "$(basename "$0") ${KGATE_SLOT-none} ${CUDA_VISIBLE_DEVICES-none} $*" >> "$LOG/ran"
sleep "${PAUSE-0.05}"
for last; do :; done
case "$last" in *.out) : > "$last";; esac
rmdir "$LOG/inside.$$"
"""


class Recipes(Case):
    done = set()

    def setUp(self):
        super().setUp()
        self.work = os.path.join(self.dir, "work")
        self.log = os.path.join(self.dir, "log")
        programs = os.path.join(self.dir, "programs")
        for folder in (self.work, self.log, programs):
            os.mkdir(folder)
        os.symlink(KGATE, os.path.join(programs, "kgate"))
        self.env.update(PATH=programs + ":" + self.env["PATH"], LOG=self.log, HOME=self.work)
        self.env.pop("MAKEFLAGS", None)

    def job(self, *names):
        for name in names:
            path = os.path.join(self.work, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(JOB)
            os.chmod(path, 0o755)

    def inputs(self, count=6):
        for i in range(count):
            open(os.path.join(self.work, f"{i}.in"), "w").close()

    def recipe(self, name):
        Recipes.done.add(name)
        return RECIPES[name]

    def sh(self, text, shell="bash", **more):
        done = subprocess.run([shell, "-ec", text], cwd=self.work, env=self.env, capture_output=True, text=True, timeout=90,
                              stdin=subprocess.DEVNULL, **more)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def ran(self):
        with open(os.path.join(self.log, "ran"), encoding="ascii") as file:
            return file.read().splitlines()

    def most(self):
        with open(os.path.join(self.log, "most"), encoding="ascii") as file:
            return max(int(line) for line in file)

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def test_script(self):
        self.assertEqual(self.sh(self.recipe("script")), "working in slot 0\n")
        self.assertEqual(self.gate("report")["holders"], [])

    def test_cron(self):
        lines = [line for line in self.recipe("cron").splitlines() if "kgate" in line]
        self.job("sync-mirror", "report")
        for line in lines:  # as cron runs them: with /bin/sh and hardly an environment
            command = line.split(None, 5)[5].replace("/usr/local/bin/", self.work + "/")
            env = {k: self.env[k] for k in ("PATH", "KGATE_DIR", "LOG", "HOME")}
            self.assertEqual(subprocess.run(["/bin/sh", "-c", command], env=env, cwd=self.work, timeout=30).returncode, 0)
        self.assertEqual([line.split()[0] for line in self.ran()], ["sync-mirror", "report"])
        self.hold("sync")
        busy = subprocess.run(["/bin/sh", "-c", lines[0].split(None, 5)[5]], env=self.env, capture_output=True, text=True, timeout=30)
        self.assertEqual((busy.returncode, busy.stderr), (0, ""))

    def test_gpus(self):
        self.job("train")
        self.sh(self.recipe("gpus"))
        self.assertEqual(self.ran(), ["train 0 0 ", "train 0 none --device cuda:0", "train 0,1 0,1 "])

    def test_xargs(self):
        self.job("convert")
        self.inputs()
        self.sh(self.recipe("xargs"))
        self.assertEqual(len(self.ran()), 6)
        self.assertLessEqual(self.most(), 2)

    def test_parallel(self):
        self.need("parallel")
        self.job("convert")
        self.inputs()
        self.sh(self.recipe("parallel"))
        self.assertEqual(len(self.ran()), 6)
        self.assertLessEqual(self.most(), 2)

    def test_make(self):
        self.need("make")
        os.mkdir(os.path.join(self.work, "other"))
        for folder in (".", "other"):
            with open(os.path.join(self.work, folder, "Makefile"), "w", encoding="ascii") as file:
                file.write("all: a b c d\na b c d:\n\t@../job$@ 2>/dev/null || ./job$@\n")
        self.job("joba", "jobb", "jobc", "jobd")
        for name in ("joba", "jobb", "jobc", "jobd"):
            shutil.copy(os.path.join(self.work, name), self.dir)
        self.sh(self.recipe("make"))
        self.assertEqual(len(self.ran()), 8)

    def test_make_step(self):
        self.need("make")
        self.job("link")
        self.inputs()
        with open(os.path.join(self.work, "Makefile"), "w", encoding="ascii") as file:
            file.write("all: $(patsubst %.in,%.out,$(wildcard *.in))\n" + self.recipe("make-step"))
        self.sh("make -s -j6")
        self.assertEqual(len(self.ran()), 6)
        self.assertLessEqual(self.most(), 2)

    def test_ci(self):
        self.job("integration-tests")
        self.sh(self.recipe("ci"))
        self.hold("integration", "2")
        self.hold("integration", "2")
        busy = subprocess.run(["sh", "-c", self.recipe("ci").replace("30m", "100ms")], cwd=self.work, env=self.env, capture_output=True,
                              timeout=30)
        self.assertEqual(busy.returncode, 75)

    def test_pytest(self):
        self.need("pytest-3")
        with open(os.path.join(self.work, "conftest.py"), "w", encoding="utf-8") as file:
            file.write(self.recipe("pytest"))
        with open(os.path.join(self.work, "test_them.py"), "w", encoding="utf-8") as file:
            file.write("import pytest, subprocess\n\n@pytest.mark.gate('database', slots=2)\n@pytest.mark.parametrize('i', range(8))\n"
                       "def test_one(i, gate):\n    assert gate in ('0', '1')\n    subprocess.run(['./job'], check=True)\n")
        self.job("job")
        done = subprocess.run(["pytest-3", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-n", "4"], cwd=self.work, env=self.env,
                              capture_output=True, text=True, timeout=90)
        if "unrecognized arguments: -n" in done.stderr:
            self.skipTest("pytest-xdist is not installed")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(self.ran()), 8)
        self.assertLessEqual(self.most(), 2)

    def test_snakemake(self):
        recipe = self.recipe("snakemake")
        self.need("snakemake")
        self.job("train")
        self.inputs(4)
        with open(os.path.join(self.work, "Snakefile"), "w", encoding="ascii") as file:
            file.write('rule all:\n    input: expand("{i}.out", i=range(4))\n' + recipe)
        self.sh("snakemake -q -j4")
        self.assertEqual(len(self.ran()), 4)
        self.assertLessEqual(self.most(), 2)
        for line in self.ran():
            self.assertRegex(line, r"train ([01]) none --device cuda:\1 ")

    def test_systemd(self):
        recipe = self.recipe("systemd")
        self.job("report")
        line = re.search(r"^ExecStart=(.*)$", recipe, re.M)[1]
        words = line.replace("/usr/bin/kgate", "kgate").replace("/usr/local/bin/", "./").replace("/run/kgate", self.dir)
        self.sh(words)
        self.assertEqual(self.ran(), ["report 0 none "])
        if not shutil.which("systemd-analyze"):
            return
        unit = os.path.join(self.dir, "report.service")
        with open(unit, "w", encoding="ascii") as file:
            file.write(recipe.replace("/usr/bin/kgate", KGATE).replace("/usr/local/bin/report", "/bin/true"))
        checked = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], env=self.env, capture_output=True, text=True, timeout=60)
        self.assertNotIn(unit + ":", checked.stderr)
        self.assertNotIn("report.service:", checked.stderr)

    def test_background(self):
        self.job("job")
        self.sh(self.recipe("background").replace("kgate wait", 'while ! kgate status -n batch >/dev/null 2>&1; do sleep 0.02; done\nkgate wait'))
        self.until(lambda: len(self.ran()) == 1)

    def test_ssh(self):
        recipe = self.recipe("ssh")
        self.job("deploy")
        with open(os.path.join(self.dir, "programs", "ssh"), "w", encoding="ascii") as file:  # what sshd does with the line
            file.write('#!/bin/sh\nshift 3\nexec sh -c "$*"\n')
        os.chmod(os.path.join(self.dir, "programs", "ssh"), 0o755)
        self.sh(recipe)
        self.assertEqual(self.ran(), ["deploy 0 none "])

    def test_maintenance(self):
        self.hold("gpu", "4", ("sleep", "0.3"))
        self.sh(self.recipe("maintenance"))
        gate = self.gate("gpu")
        self.assertEqual((gate["slots"], gate["paused"], gate["holders"]), (3, False, []))

    @classmethod
    def tearDownClass(cls):
        missing = set(RECIPES) - cls.done
        if missing and len(sys.argv) <= 4:
            raise AssertionError(f"recipes without a test: {missing}")


if __name__ == "__main__":
    main()
