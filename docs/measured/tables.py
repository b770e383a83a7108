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


# ---- bench/gates ----

def gates(data):
    """Crowds: a row for each number of members and slots, with 1 us inside; then the cells of other lengths."""
    lines = [f"`bench/gates`, {machine(data)}, medians of {data['rounds']} rounds:", ""]
    lines += table(["alone", "time / that of `sem_t`", "/ that of `kgate::semaphore`"],
                   [[f"k = {a['k']}", short(a["gate_ns"] / a["sem_t_ns"]), short(a["gate_ns"] / a["semaphore_ns"])] for a in data["alone"]]) + [""]
    head = ["processes, 1 us inside", "default / `semop`", "Jain's index", "strict / `semop`", "bare futexes / `semop`", "with a time limit / `semop`",
            "processor time of a passage, us: default", "bare futexes"]
    rows, others = [], []
    for crowd in data["crowds"]:
        of, what = crowd["contenders"], f"{crowd['members']}, k = {crowd['k']}"
        if crowd["inside_ns"] == 1000:
            semop = of["semop"]["rate"]
            rows.append([what, short(of["default"]["rate"] / semop), f"{of['default']['jain']:.2f}", short(of["strict"]["rate"] / semop),
                         short(of["bare"]["rate"] / semop), short(of["bare-timed"]["rate"] / semop), f"{of['default']['cpu_us']:.1f}",
                         f"{of['bare']['cpu_us']:.1f}"])
        else:
            others.append([f"{what}, {crowd['inside_ns']:.0f} ns inside", short(of["default"]["rate"] / of["sem_t"]["rate"]),
                           short(of["strict"]["rate"] / of["sem_t"]["rate"])])
    lines += table(head, rows) + [""]
    lines += table(["processes", "default / `sem_t`", "strict / `sem_t`"], others) + [""]
    missed = [r for r in data["required"] if not r["holds"]]
    lines += [f"Of {len(data['required'])} figures that `--require` wants {len(data['required']) - len(missed)} are reached" + (", **not**:" if missed else ".")]
    if missed:
        lines += ["", *table(["", "got", "wanted"], [[r["what"], short(r["got"]), short(r["wanted"])] for r in missed])]
    return lines


def deaths(data):
    def written(what, value):
        return f"{value:.0f}" if "wake-ups" in what else f"{value / 1000:.2f} ms"

    rows = [[re.sub(r": us(?: until|, )", lambda f: ": until" if "until" in f[0] else ", ", f["what"]), written(f["what"], f["got"]),
             "" if "wanted" not in f else written(f["what"], f["wanted"]) + ("" if f["holds"] else ", **missed**")] for f in data["figures"]]
    return [f"`gate_deaths`, {machine(data)}:", "", *table(["", "got", "wanted, at most"], rows)]


# ---- waiting commands ----

def crowd(data):
    def spread(values):
        return f"{values[0]:.2f} to {values[-1]:.2f} (median {values[len(values) // 2]:.2f})"

    return table([f"{machine(data)}", "`kgate run`", "`flock`"],
                 [[f"memory of each of {data['waiters']} that wait (PSS, median)", f"{data['pss_kb']} kB", ""],
                  [f"processor time of all {data['waiters']} in five seconds", f"{data['idle_cpu_s']} s", ""],
                  [f"10,000 through `xargs -P200`, times as long as 2500, {data['rounds']} rounds", spread(data["kgate"]), spread(data["flock"])]])


# ---- kgate-lab experiment ----

def of_experiment(data):
    """What the pages quote of a run with --json."""
    if "scale" in data:
        return [{**p, "microseconds": round(p["microseconds"]), "remote": round(p["remote"])} for p in data["scale"]]
    return [{name: o[name] for name in ("id", "claim", "holds", "evidence")} for o in data["observations"]]


def experiments(data):
    other = {o["id"]: o for o in data["fig11"]}
    return table(["observation", "figure 10", "figure 11"],
                 [[o["claim"], *(f"{one['holds']}: {one['evidence']}" for one in (o, other[o["id"]]))] for o in data["fig10"]])


CURVES = {"mcs": "MCS", "herlihy": "Herlihy, N = all", "k-1": "nested, k = 1", "k-4": "nested, k = 4", "k-16": "nested, k = 16", "tree-16": "tree, k = 16"}


def scale(data):
    sizes = sorted({p["processors"] for p in data["fig10"]})
    rows = []
    for figure in ("fig10", "fig11"):
        cells = {(p["id"], p["processors"]): f"{p['microseconds']} ({p['remote']})" for p in data[figure]}
        for number, (name, words) in enumerate(CURVES.items()):
            rows.append([(f"figure {figure[3:]}: " if number == 0 else "") + words, *(cells.get((name, size), "") for size in sizes)])
    return table(["", f"{sizes[0]} processors", *map(str, sizes[1:])], rows)


TABLES = {"semaphores": semaphores, "coroutines": coroutines, "objects": objects, "gates": gates,
          "gates_deaths": deaths, "crowd": crowd, "experiments": experiments, "scale": scale}


def written(text):
    """The page with its tables as the files have them."""
    def block(found):
        return found[1] + "\n" + "\n".join(TABLES[found[3] or found[2]](kept(found[2]))) + "\n\n" + found[5]

    return BLOCK.sub(block, text)
