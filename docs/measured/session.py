#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An algorithm of one's own from a file to verdicts and a picture, wrong first and then right, as docs/own-algorithm.md teaches it: makes
the session and writes what was typed and said, with the time each command took, to session.txt beside this file.

usage: docs/measured/session.py [KGATE-LAB [TRANSCRIPT]]
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

SEATS = """#pragma once
#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

template <class M>
class seats {  // k seats: look for a free one and take it
 public:
  using Process = typename M::Process;
  struct Private {
    int name = 0;  // the seat
  };
  static constexpr const char* promises = "k-exclusion, deadlock-free, bounded-exit, distinct-names";

  seats(typename M::Memory& memory, int /*N*/, int k)
      : taken(static_cast<std::size_t>(k), [&](std::size_t i) {
          return typename M::template Var<bool>(memory, {.name = "taken", .instance = static_cast<int>(i)}, false);
        }) {}

  void acquire(Process& p, Private& mine) {
    for (;;) {
      for (std::size_t i = 0; i < taken.size(); ++i) {
        p.live(i);
        TAKE
        mine.name = static_cast<int>(i);
        p.live(mine.name);
        return;
      }
      p.pause();
    }
  }
  void release(Process& p, Private& mine) { taken[static_cast<std::size_t>(mine.name)].write(p["3"], false); }

 private:
  kgate::fixed_array<typename M::template Var<bool>> taken;
};
"""
WRONG = """if (taken[i].read(p["1"])) continue;
        taken[i].write(p["2"], true);"""
RIGHT = """if (taken[i].test_and_set(p["1"])) continue;"""

# What is typed, and the exit code that it ends with; None: the file is written.
STEPS = (
    ("new seats.hpp", 0),
    (WRONG, None),
    ("check seats.hpp -N 3 -k 2 --trace wrong.json", 1),
    ("replay wrong.json --html wrong.html", 1),
    (RIGHT, None),
    ("check seats.hpp -N 3 -k 2 --promised", 0),
    ("check seats.hpp -N 2-4 -k 1-3 --promised --format text", 0),
    ("check seats.hpp -N 3 -k 2 --property starvation-free --trace starves.json", 1),
    ("replay starves.json --html starves.html", 1),
)


def session(program, folder):
    """Yields what is typed and said, and the seconds of each command. Stops where something else happens than should."""
    for typed, code in STEPS:
        if code is None:
            (folder / "seats.hpp").write_text(SEATS.replace("TAKE", typed))
            yield f"# seats.hpp, with\n#   {typed}\n", None
            continue
        begin = time.monotonic()
        done = subprocess.run([program, *typed.split()], capture_output=True, text=True, cwd=folder, check=False)
        seconds = time.monotonic() - begin
        if done.returncode != code:
            raise SystemExit(f"kgate-lab {typed}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        said = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
        yield f"$ kgate-lab {typed}\n{said}\n", seconds
    for picture in ("wrong.html", "starves.html"):
        if "seats" not in (folder / picture).read_text():
            raise SystemExit(f"{picture} does not show the text")


def main():
    program = str(Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent.parent / "build/release/bin/kgate-lab").resolve())
    text, total = "", 0.0
    with tempfile.TemporaryDirectory() as folder:
        for said, seconds in session(program, Path(folder)):
            text += said + (f"[{seconds:.1f} s]\n" if seconds is not None else "") + "\n"
            total += seconds or 0
    text += f"# all commands together: {total:.1f} s\n"
    Path(sys.argv[2] if len(sys.argv) > 2 else HERE / "session.txt").write_text(text)


if __name__ == "__main__":
    main()
