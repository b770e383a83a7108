# SPDX-License-Identifier: Apache-2.0
"""Tables of the documents, from the files beside this one. A page has its table between two lines: a comment that names the table
(BEGIN), and END; docs/measured/measure.py writes what is between them, and tests/docs/measured_test.py compares it."""
import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- measured: docs/measured/(\w+)\.json(?:, (\w+))? -->\n)(.*?)(<!-- end of what was measured -->\n)", re.S)


def kept(name):
    return json.loads((HERE / f"{name}.json").read_text())


def short(value):
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def machine(data):
    return "{processors} processors, Linux {kernel}, gcc {compiler}".format(**data)


# ---- bench/semaphores ----

def cell_in_words(cell):
    cell = re.sub(r"^alone k=", "one thread, k = ", cell)
    cell = re.sub(r"^pair k=(\d) (.*)$", lambda f: f"two threads, k = {f[1]}, {f[2].replace('empty', 'nothing')} inside", cell)
    return re.sub(r"^crowd (\d+) threads k=", r"\1 threads, 1 us inside, k = ", cell)


def is_peer(name):
    return not name.startswith(("kgate", "floor"))


OURS = {"kgate fifo": "`fifo`", "kgate throughput": "`bounded_overtaking<>`"}
BESIDE = {"floor: xadd pair": "two bare additions", "std::counting_semaphore": "`std::counting_semaphore`", "sem_t": "`sem_t`", "semop": "`semop`",
          "mutex+condvar FIFO": "mutex and condition variables, FIFO"}


def semaphores(data):
    cells = data["cells"]
    rated = {c: peers for c, peers in cells.items() if re.match("alone|pair|crowd", c)}
    lines = [f"`bench/semaphores --rounds {data['rounds']}`, {machine(data)}. How many times as fast as others in the same run:", ""]
    for ours, word in OURS.items():
        rows = []
        for cell, peers in rated.items():
            rate = peers[ours]["rate"]
            best = max((p for p in peers if is_peer(p)), key=lambda p: peers[p]["rate"])
            row = [short(rate / peers[p]["rate"]) if p in peers else "" for p in BESIDE]
            rows.append([cell_in_words(cell), *row, f"{short(rate / peers[best]['rate'])} ({best})"])
        lines += table([word, *BESIDE.values(), "the fastest other"], rows) + [""]
    lines += table(["what the bench wants", "got", "wanted"],
                   [[f"{r['ours']} to {r['peer']}, {cell_in_words(r['cell'])}", f"{r['got']:.3g}",
                     f"{r['wanted']:.3g}" + ("" if r["got"] >= r["wanted"] else ", **missed**")] for r in data["required"] if r["peer"]]) + [""]
    waits = cells["long waits: 4 threads k=1 2 ms"]
    crowds = {c: peers for c, peers in cells.items() if c.startswith("overtaking")}
    most = {"kgate fifo": "admitted", "kgate throughput": "admitted", "sem_t": "entered"}
    count = kept("instructions")
    lines += table(["", "`fifo`", "`bounded_overtaking<>`", "`sem_t`"],
                   [["instructions, one thread", *(f"{count[p]:.0f}" for p in most)],
                    ["processor time of a wait of 2 ms, us", *(f"{waits[p]['cpu_us']:.1f}" for p in most)],
                    *([f"most others let in meanwhile, {c.removeprefix('overtaking ').replace('k=', 'k = ')}",
                       *(f"{peers[p][which]:.0f}" for p, which in most.items())] for c, peers in crowds.items())])
    return lines


def coroutines(data):
    peers = data["cells"]["hand-over 100 coroutines"]
    words = {"kgate coroutines": "`kgate::semaphore`", "mutex and deque": "a semaphore of a mutex and a deque, written in twenty lines",
             "floor: six locked instructions": "floor: a list and a word, with as many locked instructions as ours",
             "floor: list and spin lock": "floor: a list under a spin lock"}
    count = kept("instructions")
    rows = [[word, f"{1e9 / peers[p]['rate']:.1f}", f"{count[p]:.0f}"] for p, word in words.items()]
    return [f"{machine(data)}, medians of {data['rounds']} rounds:", "", *table(["", "ns a hand-over", "instructions"], rows)]


# ---- bench/objects ----

def objects(data):
    rows = [[r["what"], short(r["ratio"]), short(r["promised"]) + ("" if r["ratio"] >= r["promised"] else ", **missed**")]
            for r in data["ratios"]]
    lines = [f"`bench/objects --rounds {data['rounds']}`, {machine(data)}, medians:", "",
             *table(["how many times as fast", "got", "wanted"], rows), ""]
    alone = data["cells"]["8 bytes, 1 threads, 0 % reading"]
    lines += table(["a counter, one thread", "ns an operation"], [[name, f"{1e9 / rate:.1f}"] for name, rate in alone.items()]) + [""]
    return lines + table(["memory of the whole queue", "bytes"], [[name, str(size)] for name, size in data["memory"].items()])


TABLES = {"semaphores": semaphores, "coroutines": coroutines, "objects": objects}


def written(text):
    """The page with its tables as the files have them."""
    def block(found):
        return found[1] + "\n" + "\n".join(TABLES[found[3] or found[2]](kept(found[2]))) + "\n\n" + found[5]

    return BLOCK.sub(block, text)
