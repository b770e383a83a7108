#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of one uncontended acquire and release, and of one hand-over between coroutines, by callgrind:
instructions.py PATH-TO-semaphores

Each program runs with two numbers of operations; the difference of the counts belongs to the operations alone.
"""

import re
import subprocess
import sys
import tempfile

PEERS = ["floor: xadd pair", "kgate fifo", "kgate throughput", "kgate slots", "moodycamel", "std::counting_semaphore", "sem_t",
         "boost interprocess", "k robust mutexes", "mutex+condvar barging", "mutex+condvar FIFO", "absl::Mutex",
         "floor: list and spin lock", "floor: six locked instructions", "kgate coroutines", "mutex and deque"]


def instructions(program, peer, operations):
    with tempfile.NamedTemporaryFile() as out:
        told = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", program, "--alone", peer,
                               str(operations)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", told.stderr).group(1))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"{'peer':30} instructions a pair, or a hand-over")
    for peer in PEERS:
        pairs = 10000
        count = instructions(sys.argv[1], peer, 2 * pairs) - instructions(sys.argv[1], peer, pairs)
        print(f"{peer:30} {count / pairs:.1f}")


if __name__ == "__main__":
    main()
