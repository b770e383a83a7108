#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The compiler warns of every answer of a gate that is dropped, and of every permit.

usage: dropped_answers_test.py ROOT COMPILER
"""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT, COMPILER = Path(), ""

DROPPED = """g.enter(); g.enter(s); g.try_enter(); g.try_enter_for(t); g.try_enter_until(u); g.join(); g.slots();
m.enter(s); m.try_enter(); m.try_enter_for(t); m.try_enter_until(u); m.try_enter_for(s, t); m.inside();"""
PERMITS = """kgate::permit{a}; kgate::permit(a, 2); kgate::permit(a, std::try_to_lock); kgate::permit(a, t); kgate::permit(a, s);
kgate::permit(a, std::adopt_lock);"""
KEPT = "m.enter(); m.leave(); g.resize(2); p.release();"


def warnings_of(body):
    text = f"""#include <kgate/gate.hpp>
#include <kgate/semaphore.hpp>
void f(kgate::gate& g, kgate::gate::member& m, kgate::gate::permit& p, kgate::semaphore& a, kgate::stop_token s, std::chrono::seconds t,
       std::chrono::steady_clock::time_point u) {{
{body}
}}"""
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", f"-I{ROOT}/include", "-x", "c++", "-"], input=text, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stderr.count("warning: ignoring return value"), done.stderr


class DroppedAnswers(unittest.TestCase):
    def test_each_is_a_warning(self):
        for dropped in (DROPPED, PERMITS):
            code, warnings, text = warnings_of(dropped)
            self.assertEqual((code, warnings), (0, dropped.count(";")), text)

    def test_what_has_no_answer_is_none(self):
        code, warnings, text = warnings_of(KEPT)
        self.assertEqual((code, warnings), (0, 0), text)


if __name__ == "__main__":
    ROOT, COMPILER = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], "-v"])
