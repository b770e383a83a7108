#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of one uncontended acquire and release, and of one hand-over between coroutines, by callgrind:
instructions.py [--require] PATH-TO-semaphores

--require counts those of which it is known how many they may be, and ends with exit code 1 if one has more. Each program runs with two numbers of operations; the difference of the counts belongs to the operations alone.
"""

import re
import subprocess
import sys
import tempfile

PEERS = ["floor: xadd pair", "floor: xadd pair, results used", "kgate fifo", "kgate throughput", "kgate slots", "moodycamel", "std::counting_semaphore", "sem_t",
         "boost interprocess", "k robust mutexes", "mutex+condvar barging", "mutex+condvar FIFO", "absl::Mutex",
         "floor: list and spin lock", "floor: six locked instructions", "kgate coroutines", "mutex and deque"]
AT_MOST = {"kgate fifo": 13, "kgate throughput": 20}


def instructions(program, peer, operations):
    with tempfile.NamedTemporaryFile() as out:
        result = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", program, "--alone", peer,
                                 str(operations)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def main():
    required = "--require" in sys.argv
    programs = [argument for argument in sys.argv[1:] if argument != "--require"]
    if len(programs) != 1:
        sys.exit(__doc__)
    print(f"{'peer':30} instructions a pair, or a hand-over")
    missed = False
    for peer in AT_MOST if required else PEERS:
        pairs = 10000
        count = (instructions(programs[0], peer, 2 * pairs) - instructions(programs[0], peer, pairs)) / pairs
        too_many = required and count > AT_MOST[peer]
        missed = missed or too_many
        print(f"{peer:30} {count:.1f}" + (f", at most {AT_MOST[peer]}" if required else "") + ("  MISSED" if too_many else ""))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
